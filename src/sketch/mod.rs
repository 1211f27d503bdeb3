//! What do we remember of a document? A signature of fixed size, made in one pass.

mod affine;
mod bottom;
mod count;
mod darts;
mod families;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzz;
mod lanes;
mod minhash;
mod probability;
mod signature;
mod simhash;
mod sketcher;

pub use affine::AffineMaps;
pub use bottom::BottomK;
pub use count::DistinctCounter;
pub use families::{
    Family, HashFunction, Jenkins, Modular, Multiplicative, Murmur3, Prime, PrintedModular,
    RowModular, Tabulation, Xxh3, jenkins_mix, murmur3_32, shift_xor_hash,
};
pub use lanes::Sketch;
pub use minhash::{MinHash, minima};
pub use probability::{ProbabilityHasher, ProbabilityMinHash};
pub use signature::{SetSize, Signature};
pub use simhash::{SimHash, SimHasher};
pub use sketcher::Sketcher;

pub(crate) use affine::greatest_divisor;
