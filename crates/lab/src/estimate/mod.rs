//! How similar, and how sure, by the methods of the literature.

mod affine_law;
mod external;
mod file;
mod interval;
mod law;
mod merging;
mod probability;
mod rows;
mod sample;
mod simhash;

pub use affine_law::AffineFamily;
pub use file::{FileOverlap, FileProgress, FileSimilarity, SortedShingles};
pub use interval::{clopper_pearson, wald};
pub use law::EstimateLaw;
pub use probability::probability_jaccard;
pub use rows::{RowEstimate, RowMatrix, StackedEstimate};
pub use sample::{Sampled, Sampling, random_sample};
