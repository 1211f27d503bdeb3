//! Forecasts for a threshold and a recall, before an index exists: bands and depth, and the
//! probability that a pair of any similarity is found or missed.

use super::bands::{BandPlan, candidate_probability};
use crate::error::Result;
use crate::estimate::{EqualLanes, equal_lane_probability, estimated_at_least, least_equal_lanes};
use crate::params::{Lanes, Recall, Threshold};

/// A forecast of what an index with these settings finds and misses.
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

/// The probabilities that a pair of some similarity passes each step of a search.
///
/// [`Forecast::at`] computes them.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Chances {
    /// The probability that the pair shares a bucket and so becomes a candidate. Like the others,
    /// it counts lanes that are equal by chance, so it is a little more than
    /// [`Forecast::recall`] for a pair at the threshold.
    pub candidate: f64,
    /// The probability that the estimate of the pair reaches the threshold.
    pub estimated: f64,
    /// The probability that the pair is reported, which requires both. The lanes that put a pair in
    /// one bucket also raise its estimate, so this is more than the product of the two.
    pub reported: f64,
}

/// The bands that the textbook rule gives: of all splits k = b r of the lanes into b bands of r
/// lanes, the one whose (1/b)^(1/r) is nearest to the threshold (Leskovec, Rajaraman, Ullman,
/// "Mining of Massive Datasets", section 3.4.3).
///
/// At (1/b)^(1/r), the candidate probability is 1 - (1 - 1/b)^b: about 1 - 1/e with many bands. Its
/// curve is steepest a little below, at ((r - 1)/(b r - 1))^(1/r). A pair at the threshold has a
/// higher probability if the threshold is above (1/b)^(1/r), and a lower one if it is below. The
/// rule does not take a recall. [`Forecast::textbook`] computes it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Textbook {
    /// The number of bands, b.
    pub bands: usize,
    /// The number of lanes in each band, r.
    pub depth: u32,
    /// The similarity that the rule takes for the threshold of these bands, (1/b)^(1/r).
    pub middle: f64,
    /// The probability that a pair at the threshold becomes a candidate, without lanes that are
    /// equal by chance.
    pub recall: f64,
}

impl Textbook {
    /// Returns a lower bound of the probability that a pair of this similarity, from 0 to 1,
    /// becomes a candidate. Lanes that are equal by chance add a little, which
    /// [`Forecast::textbook_at`] counts.
    pub fn candidate(self, similarity: f64) -> f64 {
        candidate_probability(similarity, self.depth, self.bands)
    }
}

impl Forecast {
    /// Returns the forecast for an index with this threshold, recall and number of lanes.
    ///
    /// # Errors
    ///
    /// [`Error::UnreachableRecall`](crate::Error::UnreachableRecall) if no bands reach the recall
    /// at the threshold with that many lanes;
    /// [`Error::InvalidSetting`](crate::Error::InvalidSetting) for a number out of range.
    pub fn new(threshold: f64, recall: f64, lanes: usize) -> Result<Self> {
        let (threshold, recall) = (Threshold::new(threshold)?, Recall::new(recall)?);
        let lanes = Lanes::new(lanes)?;
        Ok(Self { threshold, lanes, plan: BandPlan::of(threshold, recall, lanes)? })
    }

    /// Returns the bands of the index.
    pub fn plan(&self) -> BandPlan {
        self.plan
    }

    /// Returns the probability that a pair at the threshold becomes a candidate. It is at least the
    /// recall asked for, and usually a little more, as the number of bands is whole. Lanes that are
    /// equal by chance are not counted.
    pub fn recall(&self) -> f64 {
        candidate_probability(self.threshold.get(), self.plan.depth(), self.plan.bands())
    }

    /// Returns the chances of a pair of this true similarity, from 0 to 1. Takes less than a
    /// millisecond.
    ///
    /// The probability of being reported is that of an estimate at or above the threshold, minus
    /// that of such an estimate with a difference in the words of all bands. Both follow from the
    /// binomial law of equal lanes ([`estimate_probability`](crate::estimate_probability)).
    pub fn at(&self, similarity: f64) -> Chances {
        self.in_bands(self.plan.bands(), self.plan.depth(), similarity)
    }

    /// Returns the chances of a pair of this true similarity in the bands of the
    /// [`textbook`](Self::textbook), with the same estimate.
    pub fn textbook_at(&self, similarity: f64) -> Chances {
        let textbook = self.textbook();
        self.in_bands(textbook.bands, textbook.depth, similarity)
    }

    fn in_bands(&self, bands: usize, depth: u32, similarity: f64) -> Chances {
        let equal = equal_lane_probability(similarity);
        let others = self.lanes.get() - bands * depth as usize;
        let missed =
            EqualLanes::none().and_unequal_words(bands, depth, equal).and_lanes(others, equal);
        let least = least_equal_lanes(self.threshold.get(), self.lanes.get());
        let estimated = estimated_at_least(similarity, self.threshold, self.lanes);
        Chances {
            candidate: candidate_probability(equal, depth, bands),
            estimated,
            reported: (estimated - missed.at_least(least)).max(0.0),
        }
    }

    /// Returns the expected number of candidates of a query among `documents` documents that all
    /// have this similarity to it. For a low similarity, it is the number of comparisons in vain.
    pub fn candidates_among(&self, documents: u64, similarity: f64) -> f64 {
        let equal = equal_lane_probability(similarity);
        documents as f64 * candidate_probability(equal, self.plan.depth(), self.plan.bands())
    }

    /// Returns the bands that the textbook rule gives for the same lanes and threshold.
    pub fn textbook(&self) -> Textbook {
        let (lanes, threshold) = (self.lanes.get(), self.threshold.get());
        let rule = |depth: usize| {
            let bands = lanes / depth;
            let middle = (1.0 / bands as f64).powf(1.0 / depth as f64);
            let recall = candidate_probability(threshold, depth as u32, bands);
            Textbook { bands, depth: depth as u32, middle, recall }
        };
        let off = |rule: Textbook| (rule.middle - threshold).abs();
        // The number of lanes is a power of two, and so are its divisors.
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

    /// At the point (1/b)^(1/r), the probability is 1 - (1 - 1/b)^b. It is 0.75 for two bands and
    /// falls to 1 - 1/e with many bands, so it is never one half.
    #[test]
    fn the_probability_at_the_textbooks_point_is_above_one_half() {
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

    /// The curve is steepest at ((r - 1)/(b r - 1))^(1/r), which is below (1/b)^(1/r).
    #[test]
    fn the_curve_is_steepest_a_little_below_the_textbooks_point() {
        for (bands, depth) in [(2, 2), (20, 10), (16, 16), (1000, 5)] {
            let (b, r) = (bands as f64, f64::from(depth));
            let slope = |at: f64| {
                let met = |at| candidate_probability(at, depth, bands);
                (met(at + 1e-6) - met(at - 1e-6)) / 2e-6
            };
            let (steepest, point) =
                (((r - 1.0) / (b * r - 1.0)).powf(1.0 / r), (1.0 / b).powf(1.0 / r));
            assert!(steepest < point, "{bands} bands of {depth}");
            for other in [point, steepest - 0.01, steepest + 0.01] {
                assert!(slope(steepest) > slope(other), "{bands} bands of {depth}: {other}");
            }
        }
    }

    #[test]
    fn the_textbooks_chances_use_the_same_estimate() -> Result<()> {
        let forecast = Forecast::new(0.8, 0.99, 256)?;
        for similarity in [0.5, 0.75, 0.8, 0.9, 1.0] {
            let (ours, textbook) = (forecast.at(similarity), forecast.textbook_at(similarity));
            let without_chance = forecast.textbook().candidate(similarity);
            assert!(textbook.candidate >= without_chance && without_chance > 0.0);
            assert_eq!(textbook.estimated, ours.estimated);
            assert!(textbook.reported <= ours.reported, "at {similarity}");
            assert!(textbook.reported >= textbook.candidate * textbook.estimated - 1e-12);
            assert!(textbook.reported <= textbook.candidate + 1e-12);
        }
        // At the threshold, most pairs share none of the textbook's buckets.
        let (ours, textbook) = (forecast.at(0.8), forecast.textbook_at(0.8));
        assert!(textbook.reported < 0.3 && ours.reported > 0.5, "{textbook:?}");
        Ok(())
    }

    #[test]
    fn the_probability_of_a_report_rises_with_similarity_and_needs_bucket_and_estimate()
    -> Result<()> {
        for (threshold, recall, lanes) in [(0.8, 0.99, 256), (0.5, 0.9, 128), (0.9, 0.999, 512)] {
            let forecast = Forecast::new(threshold, recall, lanes)?;
            let mut last = 0.0;
            for similarity in (0..=20).map(|i| f64::from(i) / 20.0) {
                let chances = forecast.at(similarity);
                assert!(chances.reported + 1e-12 >= last, "at {similarity}");
                assert!(chances.reported <= chances.estimated);
                assert!(chances.reported <= chances.candidate + 1e-12, "at {similarity}");
                assert!(chances.reported + 1e-12 >= chances.candidate * chances.estimated);
                last = chances.reported;
            }
            assert!((last - 1.0).abs() < 1e-12, "equal texts: {last}");
            assert!(forecast.recall() >= recall);
        }
        Ok(())
    }

    /// Simulates lanes that are equal with the probability of a similarity, and applies bands and
    /// estimate as an index does.
    #[test]
    fn the_law_agrees_with_simulated_lanes() -> Result<()> {
        const PAIRS: u32 = 20_000;
        let mut words = SplitMix::new(11);
        // With few lanes and a low recall, both the bands and the estimate matter.
        for similarity in [0.5, 0.6, 0.7] {
            let forecast = Forecast::new(0.6, 0.8, 64)?;
            let (bands, depth) = (forecast.plan.bands(), forecast.plan.depth());
            let least = least_equal_lanes(0.6, 64);
            let (mut met, mut reported) = (0, 0);
            for _ in 0..PAIRS {
                let a: Vec<u8> = (0..64).map(|_| words.next() as u8).collect();
                let uniform = |word: u64| (word >> 11) as f64 / (1_u64 << 53) as f64;
                let other = |lane: &u8| {
                    if uniform(words.next()) < similarity { *lane } else { words.next() as u8 }
                };
                let b: Vec<u8> = a.iter().map(other).collect();
                let meets = (0..bands).any(|i| word(&a, i, depth) == word(&b, i, depth));
                let equal = crate::estimate::equal_lanes(&a, &b);
                met += u32::from(meets);
                reported += u32::from(meets && equal >= least);
            }
            let expected = forecast.at(similarity);
            let share = |count: u32| f64::from(count) / f64::from(PAIRS);
            // Four standard errors of a share.
            let error = 4.0 * (0.25 / f64::from(PAIRS)).sqrt();
            assert!((share(reported) - expected.reported).abs() < error, "{expected:?}");
            let off = (share(met) - expected.candidate).abs();
            assert!(off < error, "{expected:?} but {}", share(met));
        }
        Ok(())
    }

    #[test]
    fn unrelated_documents_are_rarely_candidates() -> Result<()> {
        let at_a_million = Forecast::new(0.8, 0.99, 256)?.candidates_among(1_000_000, 0.05);
        assert!(at_a_million > 0.25 && at_a_million < 0.5, "{at_a_million}");
        Ok(())
    }
}
