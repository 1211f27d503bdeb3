//! twindex
#![forbid(unsafe_code)]

mod error;
mod estimate;
mod hash;
mod lsh;
mod params;
mod sketch;
mod text;

pub use error::{Error, Result};
pub use estimate::{Agreement, Estimate, equal_lanes, wilson};
pub use lsh::{BandPlan, Probe, candidate_probability};
pub use params::{Lanes, Recall, Threshold};
pub use sketch::{DistinctCounter, SetSize, Signature, Sketch, Sketcher};
pub use text::{Form, Normalization, Shingle, Shingler, UnicodeVersions, Whitespace};

/// The longest id of a document, in bytes of UTF-8.
pub const MAX_ID_BYTES: usize = 4096;
