//! Whether two texts are more similar than random ones of their sizes (Dembele, Lo 2015, section
//! 6.3.3).

use super::method_row::SetKind;
use twindex::Result;
use twindex::{Overlap, RandomSubsets};

/// What chance would make of two texts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChanceComparison {
    pub(crate) of: SetKind,
    pub(crate) overlap: Overlap,
    pub(crate) universe: u64,
    /// The mean similarity of random sets of these sizes.
    pub(crate) expected: f64,
    /// The decimal logarithm of the probability that they are as similar or more.
    pub(crate) log10: f64,
}

/// A similarity that random texts have less often than once in a thousand times is not theirs.
const BEYOND: f64 = -3.0;

impl ChanceComparison {
    /// Of what two texts share, and of how many elements there are in all: by default as many as
    /// both have, which is the universe of the paper.
    ///
    /// # Errors
    ///
    /// [`InvalidSetting`](twindex::Error::InvalidSetting) where the universe is smaller than their
    /// union.
    pub(crate) fn new(of: SetKind, overlap: Overlap, universe: Option<u64>) -> Result<Self> {
        let subsets = RandomSubsets::like(overlap, universe.unwrap_or(overlap.a + overlap.b))?;
        Ok(Self {
            of,
            overlap,
            universe: subsets.universe(),
            expected: subsets.expected_similarity(),
            log10: subsets.tail_log10(overlap.shared),
        })
    }

    /// Whether chance is no explanation.
    pub(crate) fn is_beyond(&self) -> bool {
        self.log10 < BEYOND
    }

    /// What that comes to, in words.
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
    fn what_random_sets_share_is_not_beyond_chance() {
        assert_eq!(verdict(100, 100, 50), "not beyond chance");
        assert_eq!(verdict(100, 100, 55), "not beyond chance");
        assert_eq!(verdict(100, 100, 70), "beyond chance");
        assert_eq!(verdict(3, 3, 3), "not beyond chance");
        assert_eq!(verdict(0, 0, 0), "nothing to compare");
        assert_eq!(verdict(0, 9, 0), "nothing to compare");
    }
}
