//! Whether two texts are more similar than random ones of their sizes (Dembele, Lo 2015, section
//! 6.3.3).

use super::method_row::SetKind;
use twindex::Result;
use twindex::{Overlap, RandomSubsets};

/// A comparison of two texts with random texts of their sizes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChanceComparison {
    pub(crate) of: SetKind,
    pub(crate) overlap: Overlap,
    pub(crate) universe: u64,
    /// The mean similarity of random sets of these sizes.
    pub(crate) expected: f64,
    /// log10 of the probability that random sets are at least as similar.
    pub(crate) log10: f64,
}

/// log10 of the probability below which a similarity is beyond chance: once in a thousand times.
const BEYOND: f64 = -3.0;

impl ChanceComparison {
    /// Compares an overlap with random subsets of a universe. By default the universe has as many
    /// elements as both texts together, as in the paper.
    ///
    /// # Errors
    ///
    /// [`InvalidSetting`](twindex::Error::InvalidSetting) if the universe is smaller than the
    /// union.
    pub(crate) fn new(of: SetKind, overlap: Overlap, universe: Option<u64>) -> Result<Self> {
        let subsets =
            RandomSubsets::with_sizes_of(overlap, universe.unwrap_or(overlap.a + overlap.b))?;
        Ok(Self {
            of,
            overlap,
            universe: subsets.universe(),
            expected: subsets.expected_similarity(),
            log10: subsets.tail_log10(overlap.shared),
        })
    }

    /// Whether the similarity is beyond chance.
    pub(crate) fn is_beyond(&self) -> bool {
        self.log10 < BEYOND
    }

    /// The verdict in words.
    pub(crate) fn verdict(&self) -> &'static str {
        if self.overlap.a == 0 || self.overlap.b == 0 {
            return "nothing to compare";
        }
        if self.is_beyond() { "beyond chance" } else { "not beyond chance" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(a: u64, b: u64, shared: u64) -> &'static str {
        let chance = ChanceComparison::new(SetKind::Sets, Overlap { a, b, shared }, None);
        chance.expect("the universe is large enough").verdict()
    }

    #[test]
    fn the_overlap_of_random_sets_is_not_beyond_chance() {
        assert_eq!(verdict(100, 100, 50), "not beyond chance");
        assert_eq!(verdict(100, 100, 55), "not beyond chance");
        assert_eq!(verdict(100, 100, 70), "beyond chance");
        assert_eq!(verdict(3, 3, 3), "not beyond chance");
        assert_eq!(verdict(0, 0, 0), "nothing to compare");
        assert_eq!(verdict(0, 9, 0), "nothing to compare");
    }
}
