//! Compares the similarity of random sets with the law.

use crate::estimate::random_sample;
use crate::study::{Finding, StudyContext};
use std::ops::Range;
use twindex::Result;
use twindex::internals::SplitMix;
use twindex::{Overlap, RandomSubsets};

/// Sizes in the proportion of 50,000 to 110,000 and equal sizes, in a universe of a + b and ten
/// times as large.
const DRAWN: [(u64, u64, u64); 3] = [(500, 1100, 1600), (800, 800, 1600), (500, 1100, 16_000)];

/// The number of pairs of each kind.
const PAIRS: u32 = 400;

/// The number of standard errors that a mean may deviate. Chance exceeds it once in 16,000 times.
const FAR: f64 = 4.0;

pub(super) fn run(context: &StudyContext<'_>) -> Result<Finding> {
    let mut random = SplitMix::new(context.seed);
    let mut worst: f64 = 0.0;
    let mut seen = Vec::new();
    for (a, b, universe) in DRAWN {
        let expected = RandomSubsets::new(a, b, universe)?.expected_similarity();
        let (mean, error) = mean_of_pairs((a, b), 0..universe, &mut random);
        worst = worst.max((mean - expected).abs() / error);
        seen.push(format!("{mean:.4} instead of {expected:.4}"));
    }
    Ok(Finding::new(
        "random sets are as similar as the law predicts, within 4 standard errors",
        worst <= FAR,
        format!("{}; {PAIRS} pairs each, at most {worst:.1} errors off", seen.join(", ")),
    ))
}

/// The mean similarity of pairs of random subsets, and its standard error.
fn mean_of_pairs((a, b): (u64, u64), universe: Range<u64>, random: &mut SplitMix) -> (f64, f64) {
    let elements: Vec<u64> = universe.collect();
    let mut draw = |size: u64| random_sample(&elements, size as usize, random.next());
    let similarities: Vec<f64> =
        (0..PAIRS).map(|_| Overlap::of_sets(&draw(a), &draw(b)).similarity()).collect();
    let pairs = f64::from(PAIRS);
    let mean = similarities.iter().sum::<f64>() / pairs;
    let squares: f64 = similarities.iter().map(|similarity| (similarity - mean).powi(2)).sum();
    (mean, (squares / (pairs - 1.0) / pairs).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_that_share_more_than_by_chance_are_detected() {
        // The sets are drawn from 15/16 of the universe, but the law is that of the whole universe.
        let mut random = SplitMix::new(1);
        let (mean, error) = mean_of_pairs((500, 1100), 0..1500, &mut random);
        let law = RandomSubsets::new(500, 1100, 1600).expect("sizes").expected_similarity();
        assert!((mean - law) / error > FAR, "{mean} beside {law} ± {error}");
    }

    #[test]
    fn the_law_holds_under_several_seeds() {
        for seed in 0..3 {
            let finding = run(&StudyContext::unwatched(seed)).expect("sizes");
            assert!(finding.holds, "{seed}: {}", finding.seen);
        }
    }
}
