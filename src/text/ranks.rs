//! Multisets: each occurrence of a shingle becomes an element of its own, numbered by its rank.

use crate::hash::ShingleHasher;
use rustc_hash::FxHashMap;

/// Texts with more hashes than this are ranked by sorting. With fewer, a hash table fits the cache
/// and is up to twice as fast. With more, sorting is faster and takes 8 bytes a hash, where a table
/// takes up to 51.
const MOST_COUNTED: usize = 1 << 18;

/// Ranks the occurrences of each hash, by counting or by sorting.
#[derive(Default)]
pub(super) struct Ranks {
    counts: FxHashMap<u64, u32>,
    /// All ranked hashes of a text that is ranked by sorting.
    sorted: Vec<u64>,
}

impl Ranks {
    /// Whether a text with at most `most` hashes is ranked by sorting.
    pub(super) const fn are_sorted(most: usize) -> bool {
        most > MOST_COUNTED
    }

    pub(super) fn clear(&mut self) {
        self.counts.clear();
        self.sorted.clear();
    }

    /// Frees buffers of more than `kept` bytes.
    pub(super) fn shrink(&mut self, kept: usize) {
        if self.counts.capacity() > kept / 16 {
            self.counts = FxHashMap::default();
        }
        if self.sorted.capacity() > kept / 8 {
            self.sorted = Vec::new();
        }
    }

    /// Ranks the next hashes of a text by counting, in place.
    pub(super) fn count(&mut self, hasher: &ShingleHasher, hashes: &mut [u64]) {
        for hash in hashes {
            let rank = self.counts.entry(*hash).or_insert(0);
            *hash = hasher.ranked(*hash, *rank);
            *rank += 1;
        }
    }

    /// Takes the next hashes of a text that is ranked by sorting.
    pub(super) fn gather(&mut self, hashes: &[u64]) {
        self.sorted.extend_from_slice(hashes);
    }

    /// Ranks the gathered hashes. Their order afterwards has no meaning.
    pub(super) fn sort(&mut self, hasher: &ShingleHasher) {
        self.sorted.sort_unstable();
        for equals in self.sorted.chunk_by_mut(|a, b| a == b) {
            for (rank, hash) in (0..).zip(equals) {
                *hash = hasher.ranked(*hash, rank);
            }
        }
    }

    /// The ranked hashes, after [`sort`](Self::sort).
    pub(super) fn sorted(&self) -> &[u64] {
        &self.sorted
    }
}
