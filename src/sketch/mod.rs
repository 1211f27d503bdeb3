//! What do we remember of a document? A signature of fixed size, computed in one pass.

mod bottom;
mod count;
mod darts;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzz;
mod lanes;
mod signature;
mod sketcher;

pub use bottom::BottomK;
pub use count::DistinctCounter;
pub use lanes::{LaneHasher, LaneTable, Sketch};
pub use signature::{SetSize, Signature};
pub use sketcher::Sketcher;
