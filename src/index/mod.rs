//! What can a caller do? Open an index, write to it, ask it.

mod document;
mod handle;
mod loaded;
mod options;
mod pairs;
mod query;
mod search;
mod snapshot;
mod write;

pub use document::{Document, DocumentInfo};
pub use handle::{Index, ReadOnlyIndex};
pub use options::IndexOptions;
pub use pairs::{Pair, Pairs};
pub use query::{Match, Matches, Query};
pub use snapshot::{Ids, Snapshot};
pub use write::{Inserted, OnConflict, Outcome, WriteTxn};
