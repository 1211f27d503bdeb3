//! What do we remember of a document? A signature of fixed size, made in one pass.

mod affine;
mod bottom;
mod count;
mod darts;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzz;
mod lanes;
mod probability;
mod signature;
mod simhash;
mod sketcher;

pub use affine::AffineMaps;
pub use bottom::BottomK;
pub use count::DistinctCounter;
pub use lanes::Sketch;
pub use probability::{ProbabilityHasher, ProbabilityMinHash};
pub use signature::{SetSize, Signature};
pub use simhash::{SimHash, SimHasher};
pub use sketcher::Sketcher;

#[cfg(test)]
pub(crate) use affine::greatest_divisor;
