//! The methods of the literature that twindex is measured against, each on its own.
//!
//! An index needs none of them. They are here to be tried on any texts, by `twindex compare --method`
//! and `twindex study` or from a program; `docs/methods.md` has a section for each, with its source and
//! with what is wrong in print. Those that an index uses as well are at the root of the crate:
//! [`Overlap`](crate::Overlap), [`BottomK`](crate::BottomK), [`RandomSubsets`](crate::RandomSubsets),
//! [`weighted_jaccard`](crate::weighted_jaccard), [`mash_distance`](crate::mash_distance),
//! [`wilson`](crate::wilson), [`Sketcher`](crate::Sketcher).

pub use crate::estimate::{FileOverlap, FileProgress, FileSimilarity, SortedShingles};
pub use crate::estimate::{RowEstimate, RowMatrix, StackedEstimate};
pub use crate::estimate::{Sampled, Sampling, random_sample};
pub use crate::sketch::AffineMaps;
pub use crate::sketch::{
    Family, HashFunction, Jenkins, MinHash, Modular, Multiplicative, Murmur3, Prime,
    PrintedModular, RowModular, Tabulation, Xxh3, jenkins_mix, minima, murmur3_32, shift_xor_hash,
};
