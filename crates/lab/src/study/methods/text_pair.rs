//! Two texts in the forms that methods need: as sets, as multisets, and as ranked occurrences.

use crate::study::ranked_occurrences::ranked;
use twindex::Overlap;

/// The hashes of the shingles of two texts.
pub(crate) struct TextPair {
    /// Ascending, each as often as it occurs.
    pub(super) occurrences: [Vec<u64>; 2],
    /// Ascending, each once.
    pub(super) sets: [Vec<u64>; 2],
    /// Ascending, with every occurrence as a separate element.
    pub(super) ranked: [Vec<u64>; 2],
}

impl TextPair {
    /// Creates a pair from the hashes of the shingles, each as often as it occurs.
    pub(crate) fn new(mut occurrences: [Vec<u64>; 2]) -> Self {
        occurrences.iter_mut().for_each(|hashes| hashes.sort_unstable());
        let sets = occurrences.each_ref().map(|hashes| {
            let mut set = hashes.clone();
            set.dedup();
            set
        });
        let ranked = occurrences.each_ref().map(|hashes| {
            let mut ranked = ranked(hashes);
            ranked.sort_unstable();
            ranked
        });
        Self { occurrences, sets, ranked }
    }

    /// The overlap of the sets.
    pub(crate) fn overlap(&self) -> Overlap {
        Overlap::of_sets(&self.sets[0], &self.sets[1])
    }

    /// The overlap of the multisets.
    pub(crate) fn multiset_overlap(&self) -> Overlap {
        Overlap::of_multisets(&self.occurrences[0], &self.occurrences[1])
    }

    /// Each shingle with its number of occurrences, ascending.
    pub(super) fn counts(&self) -> [Vec<(u64, f64)>; 2] {
        self.occurrences.each_ref().map(|hashes| {
            let runs = hashes.chunk_by(|x, y| x == y);
            runs.map(|run| (run[0], run.len() as f64)).collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranked_elements_share_what_the_multisets_share() {
        let pair = TextPair::new([vec![9, 1, 9, 9, 4], vec![9, 9, 4, 4, 7]]);
        assert_eq!(pair.multiset_overlap(), Overlap { a: 5, b: 5, shared: 3 });
        assert_eq!(Overlap::of_sets(&pair.ranked[0], &pair.ranked[1]), pair.multiset_overlap());
        assert_eq!(pair.overlap(), Overlap { a: 3, b: 3, shared: 2 });
        assert_eq!(pair.counts()[0], [(1, 1.0), (4, 1.0), (9, 3.0)]);
    }
}
