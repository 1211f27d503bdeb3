//! Which documents could be similar? Bands of lanes, and how many bands a threshold and a recall
//! need.

mod bands;
mod containment;
mod lane_groups;
mod margin;
mod planner;
mod probe;

pub use bands::{BandPlan, candidate_probability};
pub use planner::{Chances, Forecast, Textbook};
pub use probe::Probe;

pub use bands::{needed_bands, word};
pub(crate) use containment::{ClassSearch, ContainmentPlan, size_class};
pub(crate) use lane_groups::{LaneGroups, group_key};
pub(crate) use margin::Margin;
pub(crate) use probe::WordRange;
