//! How similar, and how sure? Counting equal lanes, and what the count says.

mod affine_law;
mod agreement;
mod bottom;
mod chance;
mod containment;
mod distance;
mod exact;
mod explanation;
mod external;
mod file;
mod interval;
mod law;
mod merging;
mod normal;
mod probability;
mod random;
mod rows;
mod sample;
mod simhash;
mod suffixes;

pub use affine_law::AffineFamily;
pub use agreement::{Agreement, equal_lanes};
pub use bottom::Cardinality;
pub use chance::estimate_probability;
pub use containment::Containment;
pub use distance::mash_distance;
pub use exact::{Overlap, weighted_jaccard};
pub use explanation::{Explanation, Passage, Span};
pub use file::{FileOverlap, FileProgress, FileSimilarity, SortedShingles};
pub use interval::{Estimate, clopper_pearson, wald, wilson};
pub use law::EstimateLaw;
pub use probability::probability_jaccard;
pub use random::RandomSubsets;
pub use rows::{RowEstimate, RowMatrix, StackedEstimate};
pub use sample::{Sampled, Sampling, random_sample};

pub(crate) use agreement::least_equal_lanes;
pub(crate) use chance::{EqualLanes, equal_lane_probability};
