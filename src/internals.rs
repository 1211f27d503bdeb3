//! Functions that the laboratory (`crates/lab`) shares with the index, so that both mix and sketch
//! in the same way. They are not part of the public API and may change without notice.

pub use crate::estimate::{deviance, stirling_rest};
pub use crate::hash::{GOLDEN, ShingleHasher, SplitMix, fmix64, xxh3};
pub use crate::lsh::{needed_bands, word};
pub use crate::sketch::{LaneHasher, LaneTable};
