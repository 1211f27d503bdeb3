//! twindex

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
mod error;
mod estimate;
mod hash;
mod index;
#[cfg(feature = "cli")]
mod input;
mod lsh;
mod params;
mod sketch;
mod store;
mod text;

pub use error::{Error, Result};
pub use estimate::{Agreement, Estimate, equal_lanes, wilson};
pub use index::{
    Document, DocumentInfo, Ids, Index, IndexOptions, Inserted, Match, Matches, OnConflict,
    Outcome, Pair, Pairs, Query, ReadOnlyIndex, Snapshot, WriteTxn,
};
pub use lsh::{BandPlan, Probe, candidate_probability};
pub use params::{Lanes, Recall, Threshold};
pub use sketch::{DistinctCounter, SetSize, Signature, Sketch, Sketcher};
pub use store::{CheckReport, Invariant, Settings, Usage, Violation};
pub use text::{Form, Normalization, Shingle, Shingler, UnicodeVersions, Whitespace};

/// The longest id of a document, in bytes of UTF-8.
pub const MAX_ID_BYTES: usize = 4096;
