//! The literature's methods of comparing texts, which the studies compare with twindex.
//!
//! An index needs none of them. Use them from a program, or try them on any texts with `twindex-lab
//! compare --method` and `twindex-lab study`. `docs/methods.md` has a section for each method, with
//! its source and the errors in print. The methods that an index also uses are in the library:
//! [`Overlap`](twindex::Overlap), [`BottomK`](twindex::BottomK),
//! [`RandomSubsets`](twindex::RandomSubsets), [`weighted_jaccard`](twindex::weighted_jaccard),
//! [`mash_distance`](twindex::mash_distance), [`wilson`](twindex::wilson),
//! [`Sketcher`](twindex::Sketcher).

pub use crate::estimate::{
    AffineFamily, EstimateLaw, FileOverlap, FileProgress, FileSimilarity, RowCounts, RowEstimate,
    RowMatrix, Sampled, Sampling, SortedShingles, StackedEstimate, UniformMaps, clopper_pearson,
    probability_jaccard, random_sample, wald,
};
pub use crate::sketch::{
    AffineMaps, Family, HammingTables, HashFunction, Independence, Jenkins, MinHash, Modular,
    Multiplicative, Murmur3, Polynomial, Prime, PrintedModular, ProbabilityHasher,
    ProbabilityMinHash, RowModular, SimHash, SimHasher, Tabulation, Xxh3, jenkins_mix, minima,
    murmur3_32, shift_xor_hash,
};
