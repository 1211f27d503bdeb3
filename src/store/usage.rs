//! The space that an index takes.

use redb::TableStats;
use std::time::SystemTime;

/// The space that an index takes, in bytes by table, and the state of its documents and runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// The size of the file in bytes.
    pub file_bytes: u64,
    /// The size of the pages with signatures, in bytes.
    pub signature_bytes: u64,
    /// The size of the pages with document records (ids, hashes, lengths, times), in bytes.
    pub document_bytes: u64,
    /// The size of the pages with band entries, in bytes.
    pub posting_bytes: u64,
    /// The size of the pages with texts, in bytes.
    pub text_bytes: u64,
    /// The size of the pages with fingerprints of passages, in bytes. Their entries are among
    /// those of bands.
    pub fingerprint_bytes: u64,
    /// The size of the pages with tracked clusters and their changes, in bytes.
    pub cluster_bytes: u64,
    /// The number of live documents.
    pub documents: u64,
    /// The number of removed documents whose band entries are not purged yet.
    pub dead: u64,
    /// The number of documents in the memtable, whose band entries are in no run yet.
    pub tail: u64,
    /// The number of runs, including those of unfinished merges.
    pub runs: u64,
    /// The number of commits so far.
    pub commits: u64,
    /// The size of the pages that no commit needs any more, but a snapshot of an earlier commit
    /// does, in bytes: of all processes. They are used again when the snapshot is dropped, and a
    /// compaction returns them to the file system. Pages of a commit that is under way are not
    /// counted.
    pub held_bytes: u64,
    /// The time at which the oldest of those snapshots was taken, in whole seconds. `None` if
    /// nothing is held.
    pub held_since: Option<SystemTime>,
}

/// The size of the pages of a table, in bytes.
pub(crate) fn pages(stats: &TableStats) -> u64 {
    stats.stored_bytes() + stats.metadata_bytes() + stats.fragmented_bytes()
}
