//! What can a caller do? Open an index, write to it, ask it.

mod block;
mod bucket_sizes;
mod buckets;
mod by_number;
mod clusters;
mod containment;
mod copies;
#[cfg(test)]
mod crash_tests;
#[cfg(test)]
mod damage_tests;
mod dedup;
mod document;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzz;
mod groups;
mod handle;
#[cfg(test)]
mod hostile_tests;
mod linkage;
mod loaded;
mod matches;
mod options;
mod order;
mod pairs;
mod query;
mod rebuild;
mod search;
mod set_sizes;
mod snapshot;
mod top;
#[cfg(test)]
mod trouble_tests;
mod verify;
#[cfg(test)]
mod workload;
mod write;

pub use bucket_sizes::{BucketSizes, SizeClass};
pub use clusters::{Cluster, Clustering, Clusters, Keep, Linkage};
pub use containment::SizesSearched;
pub use copies::{Documents, Merged};
pub use dedup::Verdict;
pub use document::{Document, DocumentInfo};
pub use handle::{Index, ReadOnlyIndex};
pub use matches::{Match, Matches};
pub use options::IndexOptions;
pub use pairs::{Pair, Pairs};
pub use query::Query;
pub use rebuild::Rebuilt;
pub use snapshot::{Ids, Snapshot};
pub use write::{Inserted, OnConflict, Outcome, WriteTxn};
