//! How similar, and how sure? Counting equal lanes, and what the count says.

mod agreement;
mod chance;
mod containment;
mod exact;
mod interval;
mod normal;
mod random;

pub use agreement::{Agreement, equal_lanes};
pub use chance::estimate_probability;
pub use containment::Containment;
pub use exact::Overlap;
pub use interval::{Estimate, wilson};
pub use random::RandomSubsets;

pub(crate) use agreement::least_equal_lanes;
pub(crate) use chance::{EqualLanes, equal_lane_probability};
