//! The margin below the threshold within which candidates are verified, so that exact answers keep
//! the promised recall.

use super::probe::Probe;
use crate::estimate::{EqualLanes, equal_lane_probability, least_equal_lanes};
use crate::params::{Lanes, Recall, Threshold};

/// The candidates that are verified exactly, and the recall that results.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Margin {
    /// The least number of equal lanes with which a candidate is verified.
    pub(crate) least: usize,
    /// The probability that a document at the threshold becomes a candidate and is verified.
    pub(crate) recall: f64,
}

/// If the probe does not reach the recall, verification may lose this share of the tolerated misses
/// (1 - recall), relative to what the probe finds.
const SHARE: f64 = 0.1;

/// If the probe finds a document with less than this probability, all candidates are verified:
/// rounding errors would dominate any margin.
const NEGLIGIBLE: f64 = 1e-9;

impl Margin {
    /// The margin for the candidates of a probe: the greatest `least` with which probing and
    /// verifying together reach the recall.
    ///
    /// Lanes are taken as independent and equal with the same probability. The probability that a
    /// document becomes a candidate and has at least m equal lanes is then that of at least m equal
    /// lanes, minus that of at least m equal lanes with a difference in every word. The lanes of
    /// the sketch vary less than independent ones, so the law is on the safe side.
    pub(crate) fn of_probe(
        probe: Probe,
        lanes: Lanes,
        threshold: Threshold,
        recall: Recall,
    ) -> Self {
        let (all, missed) = laws(probe, lanes, threshold.get());
        Self::greatest(lanes, (threshold, recall), |least| {
            all.at_least(least) - missed.at_least(least)
        })
    }

    /// The probability that a document of this similarity is a candidate of the probe and has at
    /// least `least` equal lanes.
    pub(crate) fn keeps(probe: Probe, lanes: Lanes, similarity: f64, least: usize) -> f64 {
        let (all, missed) = laws(probe, lanes, similarity);
        (all.at_least(least) - missed.at_least(least)).max(0.0)
    }

    /// The margin if every document is compared.
    pub(crate) fn of_scan(lanes: Lanes, threshold: Threshold, recall: Recall) -> Self {
        let equal = equal_lane_probability(threshold.get());
        let all = EqualLanes::none().and_lanes(lanes.get(), equal);
        Self::greatest(lanes, (threshold, recall), |least| all.at_least(least))
    }

    /// The greatest number of equal lanes that keeps the recall. `verified` gives the probability
    /// of being verified for such a number, and falls as it rises. However low the recall is,
    /// documents whose estimate reaches the threshold are always verified.
    fn greatest(
        lanes: Lanes,
        (threshold, recall): (Threshold, Recall),
        verified: impl Fn(usize) -> f64,
    ) -> Self {
        let most = verified(0).max(0.0);
        let wanted = if most >= recall.get() {
            recall.get()
        } else if most < NEGLIGIBLE {
            return Self { least: 0, recall: most };
        } else {
            most * (1.0 - SHARE * (1.0 - recall.get()))
        };
        let similar = least_equal_lanes(threshold.get(), lanes.get());
        let (mut least, mut above) = (0, similar + 1);
        while above - least > 1 {
            let middle = usize::midpoint(least, above);
            if verified(middle) >= wanted {
                least = middle;
            } else {
                above = middle;
            }
        }
        Self { least, recall: verified(least) }
    }
}

/// The law of equal lanes at a similarity, and its part for documents that the probe misses because
/// they differ in every word.
fn laws(probe: Probe, lanes: Lanes, similarity: f64) -> (EqualLanes, EqualLanes) {
    let equal = equal_lane_probability(similarity);
    let (bands, depth) = (probe.bands(), probe.depth());
    let others = lanes.get() - bands * depth as usize;
    let missed = EqualLanes::none().and_unequal_words(bands, depth, equal);
    (EqualLanes::none().and_lanes(lanes.get(), equal), missed.and_lanes(others, equal))
}

#[cfg(test)]
mod tests {
    use super::super::bands::BandPlan;
    use super::*;
    use crate::error::{Error, Result};
    use crate::estimate::{Agreement, equal_lanes};
    use crate::hash::SplitMix;
    use crate::lsh::word;

    fn settings(threshold: f64, recall: f64, lanes: usize) -> Result<(Threshold, Recall, Lanes)> {
        Ok((Threshold::new(threshold)?, Recall::new(recall)?, Lanes::new(lanes)?))
    }

    fn of_probe(threshold: f64, recall: f64, lanes: usize) -> Result<(Probe, Margin)> {
        let (threshold, recall, lanes) = settings(threshold, recall, lanes)?;
        let probe = Probe::of(BandPlan::of(threshold, recall, lanes)?, threshold, recall);
        Ok((probe, Margin::of_probe(probe, lanes, threshold, recall)))
    }

    #[test]
    fn the_margin_keeps_the_recall_and_all_documents_estimated_to_be_similar() -> Result<()> {
        let (mut kept, mut out_of_reach) = (0, 0);
        for threshold in [0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0] {
            for recall in [0.5, 0.9, 0.99, 0.999] {
                for lanes in [64, 128, 256, 512] {
                    let margin = match of_probe(threshold, recall, lanes) {
                        Ok((_, margin)) => margin,
                        Err(error) => {
                            assert!(matches!(error, Error::UnreachableRecall { .. }), "{error}");
                            out_of_reach += 1;
                            continue;
                        }
                    };
                    kept += 1;
                    assert!(margin.recall >= recall, "{threshold} {recall} {lanes}: {margin:?}");
                    let similar = least_equal_lanes(threshold, lanes);
                    assert!(margin.least <= similar, "{threshold} {recall} {lanes}: {margin:?}");
                }
            }
        }
        assert!(kept > 5 * out_of_reach, "{kept} kept, {out_of_reach} out of reach");
        Ok(())
    }

    #[test]
    fn the_margin_of_the_default_settings_is_about_three_standard_errors() -> Result<()> {
        let (_, margin) = of_probe(0.8, 0.99, 256)?;
        let estimate = Agreement::new(margin.least, 256).similarity();
        assert!((0.70..0.74).contains(&estimate), "{margin:?} {estimate}");
        Ok(())
    }

    #[test]
    fn with_a_probe_below_the_recall_verification_loses_little_more() -> Result<()> {
        let (threshold, recall, lanes) = settings(0.8, 0.99, 256)?;
        let plan = BandPlan::of(threshold, recall, lanes)?;
        let low = Threshold::new(0.3)?;
        let probe = Probe::of(plan, low, recall);
        let margin = Margin::of_probe(probe, lanes, low, recall);
        assert!(probe.recall() < 0.9 && margin.least > 0);
        assert!(margin.recall > probe.recall() - 0.002, "{margin:?} {}", probe.recall());
        Ok(())
    }

    #[test]
    fn a_lower_threshold_leaves_out_few_more_candidates_at_most() -> Result<()> {
        for (built, recall) in [(0.8, 0.99), (0.8, 0.5), (0.95, 0.5), (0.95, 0.9), (0.5, 0.999)] {
            let (threshold, recall, lanes) = settings(built, recall, 256)?;
            let plan = BandPlan::of(threshold, recall, lanes)?;
            let mut last = 0;
            for step in 1..=200 {
                let threshold = Threshold::new(f64::from(step) / 200.0)?;
                let probe = Probe::of(plan, threshold, recall);
                let margin = Margin::of_probe(probe, lanes, threshold, recall);
                let most = Margin::keeps(probe, lanes, threshold.get(), 0);
                let least = recall.get().min(most * 0.95);
                assert!(margin.recall >= least, "{built} {recall:?} {threshold}: {margin:?}");
                let similar = least_equal_lanes(threshold.get(), 256);
                assert!(margin.least <= similar, "{built} {recall:?} {threshold}: {margin:?}");
                // The probe changes with the threshold, which changes the margin a little.
                assert!(margin.least + 24 >= last, "{built} {recall:?} {threshold}: {margin:?}");
                last = margin.least;
            }
        }
        Ok(())
    }

    #[test]
    fn the_margin_of_a_scan_uses_all_misses_that_the_recall_tolerates() -> Result<()> {
        use statrs::distribution::{Binomial, DiscreteCDF};
        let (threshold, recall, lanes) = settings(0.6, 0.99, 128)?;
        let margin = Margin::of_scan(lanes, threshold, recall);
        let law = Binomial::new(equal_lane_probability(0.6), 128).expect("a law");
        let missed = |least: usize| law.cdf(least as u64 - 1);
        assert!(missed(margin.least) <= 0.01 && missed(margin.least + 1) > 0.01);
        Ok(())
    }

    /// Simulates lanes that are equal with the probability of the threshold, and probes and counts
    /// them as an index does.
    #[test]
    fn the_law_agrees_with_simulated_lanes() -> Result<()> {
        const PAIRS: u32 = 20_000;
        let mut words = SplitMix::new(5);
        let uniform = |word: u64| (word >> 11) as f64 / (1_u64 << 53) as f64;
        for threshold in [0.5, 0.8] {
            let (probe, margin) = of_probe(threshold, 0.8, 64)?;
            let mut verified = 0;
            for _ in 0..PAIRS {
                let a: Vec<u8> = (0..64).map(|_| words.next() as u8).collect();
                let other = |lane: &u8| {
                    if uniform(words.next()) < threshold { *lane } else { words.next() as u8 }
                };
                let b: Vec<u8> = a.iter().map(other).collect();
                let depth = probe.depth();
                let meets = (0..probe.bands()).any(|i| word(&a, i, depth) == word(&b, i, depth));
                verified += u32::from(meets && equal_lanes(&a, &b) >= margin.least);
            }
            let share = f64::from(verified) / f64::from(PAIRS);
            let error = 4.0 * (0.25 / f64::from(PAIRS)).sqrt();
            assert!((share - margin.recall).abs() < error, "{share} {margin:?}");
        }
        Ok(())
    }
}
