//! The public face of the database: open an index, write to it, query it.

mod ask;
mod doc_map;
mod document;
mod group;
mod handle;
mod options;
mod patience;
mod snapshot;
mod track;
#[cfg(any(test, fuzzing))]
pub(crate) mod trials;
mod write;

pub use ask::bucket_sizes::{BucketSizes, SizeClass};
pub use ask::known::{KnownPassage, KnownPassages};
pub use ask::matches::{Match, Matches, SizesSearched};
pub use ask::passages::{PassageMatch, PassageMatches, PassageQuery, SharedPassage};
pub use ask::query::Query;
pub use document::{Document, DocumentInfo};
pub use group::clusters::{Cluster, Clustering, Clusters, Linkage};
pub use group::order::Keep;
pub use group::pairs::{Pair, Pairs};
pub use group::repeats::{RepeatedPassage, RepeatingDocument, Repeats};
pub use handle::{Index, ReadOnlyIndex};
pub use options::IndexOptions;
pub use snapshot::{Ids, Snapshot};
pub use track::changes::{ClusterChange, ClusterPlace};
pub use track::cluster_ids::ClusterEvent;
pub use track::tracked::{TrackedCluster, TrackedClusters};
pub use write::copies::{Documents, Merged};
pub use write::dedup_run::{DedupInput, DedupOutcome, DedupRun};
pub use write::insertion::{DEFAULT_MAX_CANDIDATES, Insertion};
pub use write::outcome::{Inserted, OnConflict, Outcome};
pub use write::rebuild::Rebuilt;
pub use write::sync::{SyncRun, Synced};
pub use write::transaction::WriteTxn;
