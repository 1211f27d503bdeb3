//! Estimates of similarity, with their intervals, by the methods of the literature.

mod affine_law;
mod estimate_law;
mod external_sort;
mod file_similarity;
mod intervals;
mod probability;
mod row_matrix;
mod run_merger;
mod sampling;
mod simhash;
mod uniform_maps;

pub use affine_law::AffineFamily;
pub use estimate_law::EstimateLaw;
pub use file_similarity::{FileOverlap, FileProgress, FileSimilarity, SortedShingles};
pub use intervals::{clopper_pearson, wald};
pub use probability::probability_jaccard;
pub use row_matrix::{RowEstimate, RowMatrix, StackedEstimate};
pub use sampling::{Sampled, Sampling, random_sample};
pub use uniform_maps::{RowCounts, UniformMaps};
