//! What an open index may use of memory, and how it goes about its work.

/// The performance options of an open index, which are not stored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tuning {
    /// The size of the page cache in bytes.
    pub(crate) cache_bytes: usize,
    /// The number of documents at which the tail is flushed to a run.
    pub(crate) flush_documents: usize,
    /// The number of runs of one tier that are merged into one of the next.
    pub(crate) merge_runs: usize,
    /// The minimum number of entries in a merge step.
    pub(crate) merge_step: u64,
    /// The number of changes from which on a commit also saves the data for a quick recovery. This
    /// would triple the latency of a small commit.
    pub(crate) quick_repair_from: u64,
}

impl Tuning {
    /// The memory for the filters of lane bands, in bytes: as much as for cached pages, and at
    /// least enough for some 13 million documents in 16 bands. Filters of the id band come on top,
    /// at 16 bits a document.
    pub(crate) fn filter_bytes(&self) -> u64 {
        const LEAST: u64 = 256 << 20;
        LEAST.max(self.cache_bytes as u64)
    }
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            cache_bytes: 64 << 20,
            flush_documents: 1 << 16,
            merge_runs: 8,
            merge_step: 1 << 16,
            quick_repair_from: 64,
        }
    }
}
