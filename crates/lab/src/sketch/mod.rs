//! The sketches of documents that the literature's methods use.

mod affine;
mod families;
mod hamming_tables;
mod minhash;
mod probability;
mod simhash;

pub use affine::AffineMaps;
pub use families::{
    Family, HashFunction, Independence, Jenkins, Modular, Multiplicative, Murmur3, Polynomial,
    Prime, PrintedModular, RowModular, Tabulation, Xxh3, jenkins_mix, murmur3_32, shift_xor_hash,
};
pub use hamming_tables::HammingTables;
pub use minhash::{MinHash, minima};
pub use probability::{ProbabilityHasher, ProbabilityMinHash};
pub use simhash::{SimHash, SimHasher};

pub(crate) use affine::greatest_divisor;
