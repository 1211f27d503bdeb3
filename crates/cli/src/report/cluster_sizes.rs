//! The sizes of clusters: each kept document with the records that were removed for it.

use super::removed::Removed;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

/// Counts the records that were removed for each kept document: some 16 bytes for each.
#[derive(Default)]
pub(super) struct ClusterSizes {
    duplicates: HashMap<u64, u32>,
}

impl ClusterSizes {
    /// Counts a record.
    pub(super) fn add(&mut self, removed: &Removed) {
        *self.duplicates.entry(removed.kept_hash()).or_default() += 1;
    }

    /// How many clusters have each size. The kept document counts.
    pub(super) fn by_size(&self) -> BTreeMap<u64, u64> {
        let mut sizes = BTreeMap::new();
        for duplicates in self.duplicates.values() {
            *sizes.entry(u64::from(*duplicates) + 1).or_default() += 1;
        }
        sizes
    }

    /// The hashes of the kept documents of the largest clusters with their sizes, largest first.
    pub(super) fn largest(&self, most: usize) -> Vec<(u64, u64)> {
        let mut all: Vec<_> = self.duplicates.iter().map(|(of, count)| (*of, *count)).collect();
        all.sort_unstable_by_key(|(of, duplicates)| (Reverse(*duplicates), *of));
        all.truncate(most);
        all.into_iter().map(|(of, duplicates)| (of, u64::from(duplicates) + 1)).collect()
    }
}
