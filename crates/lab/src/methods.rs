//! The methods of the literature that twindex is measured against, each on its own.
//!
//! An index needs none of them. They are here to be tried on any texts, by `twindex-lab compare --method`
//! and `twindex-lab study` or from a program; `docs/methods.md` has a section for each, with its source and
//! with what is wrong in print. Those that an index uses as well are at the root of the crate:
//! [`Overlap`](twindex::Overlap), [`BottomK`](twindex::BottomK), [`RandomSubsets`](twindex::RandomSubsets),
//! [`weighted_jaccard`](twindex::weighted_jaccard), [`mash_distance`](twindex::mash_distance),
//! [`wilson`](twindex::wilson), [`Sketcher`](twindex::Sketcher).

pub use crate::estimate::{
    AffineFamily, EstimateLaw, FileOverlap, FileProgress, FileSimilarity, RowEstimate, RowMatrix,
    Sampled, Sampling, SortedShingles, StackedEstimate, clopper_pearson, probability_jaccard,
    random_sample, wald,
};
pub use crate::sketch::{
    AffineMaps, Family, HashFunction, Jenkins, MinHash, Modular, Multiplicative, Murmur3, Prime,
    PrintedModular, ProbabilityHasher, ProbabilityMinHash, RowModular, SimHash, SimHasher,
    Tabulation, Xxh3, jenkins_mix, minima, murmur3_32, shift_xor_hash,
};
