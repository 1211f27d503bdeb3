//! How similar, and how sure? Estimates from equal lanes and bottom-k samples with their intervals,
//! exact similarities, and explanations.

mod agreement;
mod bottom;
mod chance;
mod containment;
mod distance;
mod exact;
mod explanation;
mod intersection;
mod interval;
mod normal;
mod random;
mod shared;
mod shares;
mod suffixes;

pub use agreement::{Agreement, equal_lanes};
pub use bottom::Cardinality;
pub use chance::estimate_probability;
pub use containment::Containment;
pub use distance::mash_distance;
pub(crate) use exact::WeightedOverlap;
pub use exact::{Overlap, weighted_jaccard};
pub use explanation::{Explanation, Passage, Span};
pub use interval::{Estimate, wilson};
pub use normal::normal_quantile;
pub use random::{RandomSubsets, deviance, stirling_rest};

pub(crate) use agreement::{equal_lanes_from, least_equal_lanes};
pub(crate) use chance::{EqualLanes, equal_lane_probability, estimated_at_least};
pub(crate) use shared::{
    SharedStretch, around_seeds, by_suffixes, covered, earlier_by_suffixes, further,
    repeated_around_seeds, repeated_by_suffixes, stretches_to_report,
};
pub(crate) use shares::{SharePrior, SizeCount};
