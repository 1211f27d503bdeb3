//! The occurrences of a shingle become elements of their own: what a multiset is made of.

use crate::hash::ShingleHasher;
use rustc_hash::FxHashMap;

/// Hashes from which on they are sorted to be ranked. Below, a table in the cache is up to twice as
/// fast; above, sorting is, and takes 8 bytes a hash where a table takes up to 51.
const MANY: usize = 1 << 18;

/// How often each hash has come.
#[derive(Default)]
pub(super) struct Ranks {
    counts: FxHashMap<u64, u32>,
    /// All hashes of a long text, ranked.
    sorted: Vec<u64>,
}

impl Ranks {
    /// Whether at most so many hashes are better sorted than counted.
    pub(super) const fn are_sorted(most: usize) -> bool {
        most > MANY
    }

    pub(super) fn clear(&mut self) {
        self.counts.clear();
        self.sorted.clear();
    }

    /// Gives back tables of more than so many bytes.
    pub(super) fn shrink(&mut self, kept: usize) {
        if self.counts.capacity() > kept / 16 {
            self.counts = FxHashMap::default();
        }
        if self.sorted.capacity() > kept / 8 {
            self.sorted = Vec::new();
        }
    }

    /// Ranks some hashes of a text in the order in which they come.
    pub(super) fn count(&mut self, hasher: &ShingleHasher, hashes: &mut [u64]) {
        for hash in hashes {
            let rank = self.counts.entry(*hash).or_insert(0);
            *hash = hasher.ranked(*hash, *rank);
            *rank += 1;
        }
    }

    /// Takes some hashes of a text that is ranked by sorting.
    pub(super) fn gather(&mut self, hashes: &[u64]) {
        self.sorted.extend_from_slice(hashes);
    }

    /// Ranks all that were gathered, in no order that matters.
    pub(super) fn sort(&mut self, hasher: &ShingleHasher) {
        self.sorted.sort_unstable();
        for equals in self.sorted.chunk_by_mut(|a, b| a == b) {
            for (rank, hash) in (0..).zip(equals) {
                *hash = hasher.ranked(*hash, rank);
            }
        }
    }

    /// The hashes that were gathered, ranked.
    pub(super) fn sorted(&self) -> &[u64] {
        &self.sorted
    }
}
