//! What a threshold and a recall mean before there is an index: bands and depth, and who will be met,
//! reported and missed at every similarity.

use super::bands::{BandPlan, candidate_probability};
use crate::error::Result;
use crate::estimate::{EqualLanes, equal_lane_probability, estimated_at_least, least_equal_lanes};
use crate::params::{Lanes, Recall, Threshold};

/// What a new index with these settings will do.
///
/// ```
/// let forecast = twindex::Forecast::new(0.8, 0.99, 256)?;
/// assert_eq!((forecast.plan().bands(), forecast.plan().depth()), (16, 6));
/// let (below, above) = (forecast.at(0.7), forecast.at(0.9));
/// assert!(below.reported < 0.001 && above.reported > 0.998);
/// assert!(forecast.textbook().recall < 0.4);
/// # Ok::<(), twindex::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Forecast {
    threshold: Threshold,
    lanes: Lanes,
    plan: BandPlan,
}

/// What becomes of a pair of some similarity; probabilities.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Chances {
    /// That the pair meets in a bucket and so becomes a candidate, at least: lanes that are equal by
    /// chance alone add a little and are not counted.
    pub candidate: f64,
    /// That its estimate reaches the threshold.
    pub estimated: f64,
    /// That it is reported: both together. Lanes that make a pair meet also raise its estimate, so
    /// this is more than their product.
    pub reported: f64,
}

/// The bands that textbooks advise: k = b r lanes with the (1/b)^(1/r) that is nearest to the
/// threshold (Leskovec, Rajaraman, Ullman, "Mining of Massive Datasets", section 3.4.3).
///
/// There the curve is steepest, and a pair has a probability of about 1 - 1/e to meet; with
/// the threshold above that point more, below it less. It takes no recall.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Textbook {
    /// The number of bands, b.
    pub bands: usize,
    /// Lanes in each, r.
    pub depth: u32,
    /// Where its curve is steepest: (1/b)^(1/r).
    pub middle: f64,
    /// The probability that a pair at the threshold becomes a candidate.
    pub recall: f64,
}

impl Textbook {
    /// The probability that a pair of this similarity becomes a candidate.
    pub fn candidate(self, similarity: f64) -> f64 {
        candidate_probability(similarity, self.depth, self.bands)
    }
}

impl Forecast {
    /// Plans an index.
    ///
    /// # Errors
    ///
    /// [`Error::UnreachableRecall`](crate::Error::UnreachableRecall) where no bands reach the recall
    /// at the threshold with so many lanes;
    /// [`Error::InvalidSetting`](crate::Error::InvalidSetting) for a number out of range.
    pub fn new(threshold: f64, recall: f64, lanes: usize) -> Result<Self> {
        let (threshold, recall) = (Threshold::new(threshold)?, Recall::new(recall)?);
        let lanes = Lanes::new(lanes)?;
        Ok(Self { threshold, lanes, plan: BandPlan::of(threshold, recall, lanes)? })
    }

    /// The bands of the index.
    pub fn plan(&self) -> BandPlan {
        self.plan
    }

    /// The probability that a pair at the threshold becomes a candidate: the recall asked for, or
    /// somewhat more, as bands are whole.
    pub fn recall(&self) -> f64 {
        candidate_probability(self.threshold.get(), self.plan.depth(), self.plan.bands())
    }

    /// What becomes of a pair of this true similarity, from 0 to 1. Less than a millisecond.
    ///
    /// A pair is reported if its estimate reaches the threshold, but for those that meet nowhere: of
    /// all lanes, those of the bands' words are then restricted to words that differ somewhere
    /// (`estimate/chance.rs` has the law).
    pub fn at(&self, similarity: f64) -> Chances {
        self.in_bands(self.plan.bands(), self.plan.depth(), similarity)
    }

    /// What would become of it in the bands of the [`textbook`](Self::textbook), with the same estimate:
    /// its false negatives are those not reported at the threshold or above, its false positives those
    /// reported below it.
    pub fn textbook_at(&self, similarity: f64) -> Chances {
        let textbook = self.textbook();
        self.in_bands(textbook.bands, textbook.depth, similarity)
    }

    fn in_bands(&self, bands: usize, depth: u32, similarity: f64) -> Chances {
        let equal = equal_lane_probability(similarity);
        let others = self.lanes.get() - bands * depth as usize;
        let unmet =
            EqualLanes::none().and_unequal_words(bands, depth, equal).and_lanes(others, equal);
        let least = least_equal_lanes(self.threshold.get(), self.lanes.get());
        let estimated = estimated_at_least(similarity, self.threshold, self.lanes);
        Chances {
            candidate: candidate_probability(similarity, depth, bands),
            estimated,
            reported: (estimated - unmet.at_least(least)).max(0.0),
        }
    }

    /// The candidates that a query can expect among so many documents that all have this similarity
    /// to it, equal bytes by chance included: what it compares in vain.
    pub fn candidates_among(&self, documents: u64, similarity: f64) -> f64 {
        let equal = equal_lane_probability(similarity);
        documents as f64 * candidate_probability(equal, self.plan.depth(), self.plan.bands())
    }

    /// What the textbook would choose for the same lanes and threshold.
    pub fn textbook(&self) -> Textbook {
        let (lanes, threshold) = (self.lanes.get(), self.threshold.get());
        let rule = |depth: usize| {
            let bands = lanes / depth;
            let middle = (1.0 / bands as f64).powf(1.0 / depth as f64);
            let recall = candidate_probability(threshold, depth as u32, bands);
            Textbook { bands, depth: depth as u32, middle, recall }
        };
        let off = |rule: Textbook| (rule.middle - threshold).abs();
        // Lanes are a power of two, and so are their divisors.
        let depths = (1..=self.lanes.log2()).map(|power| 1 << power);
        depths.map(rule).fold(rule(1), |best, next| if off(next) < off(best) { next } else { best })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::SplitMix;
    use crate::lsh::word;

    #[test]
    fn the_textbook_misses_most_pairs_at_the_threshold() -> Result<()> {
        let textbook = Forecast::new(0.8, 0.99, 256)?.textbook();
        assert_eq!((textbook.bands, textbook.depth), (16, 16));
        assert!((textbook.middle - 0.8409).abs() < 1e-4);
        assert!((textbook.recall - 0.3667).abs() < 1e-3);
        Ok(())
    }

    /// The point (1/b)^(1/r) is that of 1 - (1 - 1/b)^b, which falls to 1 - 1/e with many bands: one
    /// half at no number of bands above one (0.75 of two).
    #[test]
    fn the_textbooks_point_is_that_of_more_than_one_half() {
        let limit = 1.0 - (-1.0_f64).exp();
        let mut last = 1.0;
        for bands in [2, 4, 16, 20, 64, 1000] {
            let middle = (1.0 / bands as f64).powf(0.1);
            let met = candidate_probability(middle, 10, bands);
            let closed = 1.0 - (1.0 - 1.0 / bands as f64).powi(bands as i32);
            assert!((met - closed).abs() < 1e-12, "{bands} bands: {met}");
            assert!(limit < met && met < last, "{bands} bands: {met}");
            last = met;
        }
        assert!(last - limit < 2e-4);
    }

    #[test]
    fn the_textbooks_bands_are_judged_by_the_same_estimate() -> Result<()> {
        let forecast = Forecast::new(0.8, 0.99, 256)?;
        for similarity in [0.5, 0.75, 0.8, 0.9, 1.0] {
            let (ours, textbook) = (forecast.at(similarity), forecast.textbook_at(similarity));
            assert_eq!(textbook.candidate, forecast.textbook().candidate(similarity));
            assert_eq!(textbook.estimated, ours.estimated);
            assert!(textbook.reported <= ours.reported, "at {similarity}");
            assert!(textbook.reported >= textbook.candidate * textbook.estimated - 1e-12);
            assert!(textbook.reported <= textbook.candidate + 0.01);
        }
        // At the threshold four of ten pairs that ought to be found have no bucket in common.
        let (ours, textbook) = (forecast.at(0.8), forecast.textbook_at(0.8));
        assert!(textbook.reported < 0.3 && ours.reported > 0.5, "{textbook:?}");
        Ok(())
    }

    #[test]
    fn reports_rise_with_similarity_and_need_both_a_bucket_and_an_estimate() -> Result<()> {
        for (threshold, recall, lanes) in [(0.8, 0.99, 256), (0.5, 0.9, 128), (0.9, 0.999, 512)] {
            let forecast = Forecast::new(threshold, recall, lanes)?;
            let mut last = 0.0;
            for similarity in (0..=20).map(|i| f64::from(i) / 20.0) {
                let chances = forecast.at(similarity);
                assert!(chances.reported + 1e-12 >= last, "at {similarity}");
                assert!(chances.reported <= chances.estimated);
                assert!(chances.reported + 1e-12 >= chances.candidate * chances.estimated);
                last = chances.reported;
            }
            assert!((last - 1.0).abs() < 1e-12, "equal texts: {last}");
            assert!(forecast.recall() >= recall);
        }
        Ok(())
    }

    /// Pairs of lanes that are equal with the probability of a similarity, put through the bands and
    /// the estimate as the index does.
    #[test]
    fn the_law_agrees_with_simulated_lanes() -> Result<()> {
        const PAIRS: u32 = 20_000;
        let mut words = SplitMix::new(11);
        // Few lanes and a low recall, so that meeting and estimating both matter.
        for similarity in [0.5, 0.6, 0.7] {
            let forecast = Forecast::new(0.6, 0.8, 64)?;
            let (bands, depth) = (forecast.plan.bands(), forecast.plan.depth());
            let least = least_equal_lanes(0.6, 64);
            let (mut met, mut reported) = (0, 0);
            for _ in 0..PAIRS {
                let a: Vec<u8> = (0..64).map(|_| words.next() as u8).collect();
                let uniform = |word: u64| (word >> 11) as f64 / (1_u64 << 53) as f64;
                let other = |lane: &u8| match uniform(words.next()) < similarity {
                    true => *lane,
                    false => words.next() as u8,
                };
                let b: Vec<u8> = a.iter().map(other).collect();
                let meets = (0..bands).any(|i| word(&a, i, depth) == word(&b, i, depth));
                let equal = crate::estimate::equal_lanes(&a, &b);
                met += u32::from(meets);
                reported += u32::from(meets && equal >= least);
            }
            let expected = forecast.at(similarity);
            let share = |count: u32| f64::from(count) / f64::from(PAIRS);
            // Four standard errors of a share, and what chance equality adds to meeting.
            let error = 4.0 * (0.25 / f64::from(PAIRS)).sqrt();
            assert!((share(reported) - expected.reported).abs() < error, "{expected:?}");
            let more = share(met) - expected.candidate;
            assert!(-error < more && more < error + 0.02, "{expected:?} but {}", share(met));
        }
        Ok(())
    }

    #[test]
    fn background_candidates_are_few() -> Result<()> {
        let at_a_million = Forecast::new(0.8, 0.99, 256)?.candidates_among(1_000_000, 0.05);
        assert!(at_a_million > 0.25 && at_a_million < 0.5, "{at_a_million}");
        Ok(())
    }
}
