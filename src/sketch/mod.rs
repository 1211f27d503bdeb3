//! What do we remember of a document? A signature of fixed size, computed in one pass.

mod bottom;
mod count;
mod darts;
mod fingerprints;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzz;
mod lane_value;
mod lanes;
mod sift;
mod signature;
mod sketcher;
mod winnow;

pub use bottom::BottomK;
pub use count::DistinctCounter;
pub use lanes::{LaneHasher, LaneTable, Sketch};
pub use signature::{SetSize, Signature};
pub use sketcher::Sketcher;
pub use winnow::Winnowing;

pub(crate) use fingerprints::{Fingerprints, PrintRun, push_varint};
pub(crate) use sketcher::{SketchSettings, Sketched};
pub(crate) use winnow::Winnower;
