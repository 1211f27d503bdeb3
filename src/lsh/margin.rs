//! How far below the threshold an estimate may lie, so that exact answers miss no more than was promised.

use super::probe::Probe;
use crate::estimate::{EqualLanes, equal_lane_probability, least_equal_lanes};
use crate::params::{Lanes, Recall, Threshold};

/// Which candidates are verified exactly, and the share of similar documents that are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Margin {
    /// Candidates with at least so many equal lanes are verified.
    pub(crate) least: usize,
    /// The probability that a document at the threshold is met and verified.
    pub(crate) recall: f64,
}

/// Where no probe reaches the recall, estimates may miss this share of what is tolerated, of what it
/// meets.
const SHARE: f64 = 0.1;

/// What is met less often than this, as far as rounding lets it be known, is all verified.
const HARDLY: f64 = 1e-9;

impl Margin {
    /// The margin of what a probe meets: the greatest one with which meeting and verifying together
    /// reach the recall.
    ///
    /// A lane is equal with the same probability as any other and apart from them, so a document meets and
    /// has at least m equal lanes with the probability that it has them, less that it has them and
    /// every word differs somewhere. The lanes of the sketch vary less than that law.
    pub(crate) fn of_probe(
        probe: Probe,
        lanes: Lanes,
        threshold: Threshold,
        recall: Recall,
    ) -> Self {
        let (all, unmet) = laws(probe, lanes, threshold.get());
        Self::greatest(lanes, (threshold, recall), |least| {
            all.at_least(least) - unmet.at_least(least)
        })
    }

    /// The probability that a document of this similarity is met by the probe with at least so many
    /// equal lanes.
    pub(crate) fn keeps(probe: Probe, lanes: Lanes, similarity: f64, least: usize) -> f64 {
        let (all, unmet) = laws(probe, lanes, similarity);
        (all.at_least(least) - unmet.at_least(least)).max(0.0)
    }

    /// The margin where every document is compared.
    pub(crate) fn of_scan(lanes: Lanes, threshold: Threshold, recall: Recall) -> Self {
        let equal = equal_lane_probability(threshold.get());
        let all = EqualLanes::none().and_lanes(lanes.get(), equal);
        Self::greatest(lanes, (threshold, recall), |least| all.at_least(least))
    }

    /// The greatest number of lanes that keeps the recall, where `verified` falls as it grows.
    /// But none that leaves out what is estimated to be similar, however low the recall.
    fn greatest(
        lanes: Lanes,
        (threshold, recall): (Threshold, Recall),
        verified: impl Fn(usize) -> f64,
    ) -> Self {
        let most = verified(0).max(0.0);
        let wanted = match most >= recall.get() {
            true => recall.get(),
            false if most < HARDLY => return Self { least: 0, recall: most },
            false => most * (1.0 - SHARE * (1.0 - recall.get())),
        };
        let similar = least_equal_lanes(threshold.get(), lanes.get());
        let (mut least, mut above) = (0, similar + 1);
        while above - least > 1 {
            let middle = usize::midpoint(least, above);
            match verified(middle) >= wanted {
                true => least = middle,
                false => above = middle,
            }
        }
        Self { least, recall: verified(least) }
    }
}

/// The law of equal lanes at a similarity, and its part where no band of the probe meets.
fn laws(probe: Probe, lanes: Lanes, similarity: f64) -> (EqualLanes, EqualLanes) {
    let equal = equal_lane_probability(similarity);
    let (bands, depth) = (probe.bands(), probe.depth());
    let others = lanes.get() - bands * depth as usize;
    let unmet = EqualLanes::none().and_unequal_words(bands, depth, equal);
    (EqualLanes::none().and_lanes(lanes.get(), equal), unmet.and_lanes(others, equal))
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
    fn the_recall_is_kept_and_nothing_more_could_be_left_out() -> Result<()> {
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
    fn the_margin_of_the_default_is_some_three_standard_errors() -> Result<()> {
        let (_, margin) = of_probe(0.8, 0.99, 256)?;
        let estimate = Agreement::new(margin.least, 256).similarity();
        assert!((0.70..0.74).contains(&estimate), "{margin:?} {estimate}");
        Ok(())
    }

    #[test]
    fn a_probe_that_cannot_reach_the_recall_loses_little_more_to_estimates() -> Result<()> {
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
    fn a_lower_threshold_never_leaves_more_candidates_out() -> Result<()> {
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
                // Another probe may leave more or less for estimates, but not much.
                assert!(margin.least + 24 >= last, "{built} {recall:?} {threshold}: {margin:?}");
                last = margin.least;
            }
        }
        Ok(())
    }

    #[test]
    fn a_scan_leaves_out_what_the_estimate_alone_may_miss() -> Result<()> {
        use statrs::distribution::{Binomial, DiscreteCDF};
        let (threshold, recall, lanes) = settings(0.6, 0.99, 128)?;
        let margin = Margin::of_scan(lanes, threshold, recall);
        let law = Binomial::new(equal_lane_probability(0.6), 128).expect("a law");
        let missed = |least: usize| law.cdf(least as u64 - 1);
        assert!(missed(margin.least) <= 0.01 && missed(margin.least + 1) > 0.01);
        Ok(())
    }

    /// Lanes that are equal with the probability of the threshold, met and counted as an index does.
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
                let other = |lane: &u8| match uniform(words.next()) < threshold {
                    true => *lane,
                    false => words.next() as u8,
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
