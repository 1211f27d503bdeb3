//! Probes: the bands and the depth that a query searches. They depend only on the settings of the
//! index, the threshold and the recall.

use super::bands::{BandPlan, DEPTHS, candidate_probability, needed_bands};
use crate::error::Result;
use crate::params::{Recall, Threshold};

/// The bands and the depth that a query searches for candidates: the first [`bands`](Self::bands)
/// bands, each at depth [`depth`](Self::depth).
///
/// ```
/// use twindex::{BandPlan, Probe};
/// let plan = BandPlan::new(0.8, 0.99, 256)?;
/// let probe = Probe::new(plan, 0.9, 0.99)?;
/// assert_eq!((probe.bands(), probe.depth()), (7, 6));
/// assert!(probe.recall() >= 0.99);
/// // A threshold below that of the index can be out of reach.
/// assert!(Probe::new(plan, 0.3, 0.99)?.recall() < 0.99);
/// # Ok::<(), twindex::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Probe {
    bands: u8,
    depth: u8,
    recall: f64,
}

impl Probe {
    /// Returns the deepest probe that reaches the recall at the threshold with the bands of an
    /// index. If none does, returns the probe of all bands at depth 2, whose recall is the greatest
    /// possible.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`](crate::Error::InvalidSetting) for a number out of range.
    pub fn new(plan: BandPlan, threshold: f64, recall: f64) -> Result<Self> {
        Ok(Self::of(plan, Threshold::new(threshold)?, Recall::new(recall)?))
    }

    /// Like [`new`](Self::new), for validated numbers.
    pub(crate) fn of(plan: BandPlan, threshold: Threshold, recall: Recall) -> Self {
        let (least, wanted) = (threshold.get(), recall.get());
        let probe = |bands: usize, depth: u32| Self {
            bands: bands as u8,
            depth: depth as u8,
            recall: candidate_probability(least, depth, bands),
        };
        for depth in (*DEPTHS.start()..=plan.depth()).rev() {
            let bands = needed_bands(least, wanted, depth, plan.bands());
            if bands <= plan.bands() {
                return probe(bands, depth);
            }
        }
        probe(plan.bands(), *DEPTHS.start())
    }

    /// The probes of a search for the most similar documents: all bands at each depth, from that of
    /// the index down, and last the probe that [`of`](Self::of) returns for the least similarity.
    /// This is the descent of an LSH forest (Bawa, Condie, Ganesan 2005, section 3).
    pub(crate) fn deepening(plan: BandPlan, threshold: Threshold, recall: Recall) -> Vec<Self> {
        let last = Self::of(plan, threshold, recall);
        let bands = plan.bands();
        let above = (last.depth() + 1..=plan.depth()).rev().map(|depth| Self {
            bands: bands as u8,
            depth: depth as u8,
            recall: candidate_probability(threshold.get(), depth, bands),
        });
        above.chain([last]).collect()
    }

    /// The probability that a pair of this similarity becomes a candidate.
    pub(crate) fn finds(self, similarity: f64) -> f64 {
        candidate_probability(similarity, self.depth(), self.bands())
    }

    /// Returns the number of bands that are searched.
    pub const fn bands(self) -> usize {
        self.bands as usize
    }

    /// Returns the number of lanes that must agree in a band.
    pub const fn depth(self) -> u32 {
        self.depth as u32
    }

    /// Returns the probability that a pair at the threshold becomes a candidate. It is at least the
    /// recall asked for, unless the threshold is too low for the bands of the index.
    pub const fn recall(self) -> f64 {
        self.recall
    }

    /// The words of the bucket that holds `word`. Words have `plan.depth()` lanes.
    pub(crate) const fn bucket(self, word: u64, plan: BandPlan) -> WordRange {
        let free = 8 * (plan.depth() - self.depth());
        let first = word >> free << free;
        WordRange { first, last: first | ((1 << free) - 1) }
    }
}

/// A range of words, including both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WordRange {
    pub(crate) first: u64,
    pub(crate) last: u64,
}

impl WordRange {
    pub(crate) const fn contains(self, word: u64) -> bool {
        self.first <= word && word <= self.last
    }

    pub(crate) const fn only(word: u64) -> Self {
        Self { first: word, last: word }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Result;
    use crate::params::Lanes;

    #[test]
    fn higher_thresholds_probe_fewer_bands_and_lower_ones_probe_shallower() -> Result<()> {
        let plan = BandPlan::of(Threshold::DEFAULT, Recall::DEFAULT, Lanes::DEFAULT)?;
        let probe = |t| Threshold::new(t).map(|t| Probe::of(plan, t, Recall::DEFAULT));
        let at = |t| probe(t).map(|p| (p.bands(), p.depth()));
        assert_eq!(at(0.8)?, (16, 6));
        assert_eq!(at(0.9)?, (7, 6));
        assert_eq!(at(1.0)?, (1, 6));
        assert_eq!(at(0.7)?, (11, 3));
        assert_eq!(at(0.3)?, (16, 2));
        assert!(probe(0.3)?.recall() < 0.99);
        assert!(probe(0.7)?.recall() >= 0.99);
        Ok(())
    }

    #[test]
    fn deepening_ends_with_the_probe_of_the_least_similarity() -> Result<()> {
        let plan = BandPlan::of(Threshold::DEFAULT, Recall::DEFAULT, Lanes::DEFAULT)?;
        let at = |t| {
            let probes = Probe::deepening(plan, Threshold::new(t)?, Recall::DEFAULT);
            Ok(probes.into_iter().map(|p| (p.bands(), p.depth())).collect::<Vec<_>>())
        };
        assert_eq!(at(0.9)?, [(7, 6)]);
        assert_eq!(at(0.7)?, [(16, 6), (16, 5), (16, 4), (11, 3)]);
        assert_eq!(at(0.1)?, [(16, 6), (16, 5), (16, 4), (16, 3), (16, 2)]);
        Ok(())
    }

    #[test]
    fn a_bucket_is_the_range_of_words_with_a_common_prefix() -> Result<()> {
        let plan = BandPlan::of(Threshold::DEFAULT, Recall::DEFAULT, Lanes::DEFAULT)?;
        let shallow = Probe { bands: 1, depth: 2, recall: 0.0 };
        let range = shallow.bucket(0x0102_0304_0506, plan);
        assert_eq!(range, WordRange { first: 0x0102_0000_0000, last: 0x0102_FFFF_FFFF });
        let deep = Probe { bands: 1, depth: 6, recall: 0.0 };
        assert_eq!(deep.bucket(0x0102, plan), WordRange::only(0x0102));
        Ok(())
    }
}
