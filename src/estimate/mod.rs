//! How similar, and how sure? Counting equal lanes, and what the count says.

mod agreement;
mod interval;

pub use agreement::{Agreement, equal_lanes};
pub use interval::{Estimate, wilson};

pub(crate) use agreement::least_equal_lanes;
