//! The probability Jaccard similarity, which takes weighted sets as probability distributions.

use crate::sketch::ProbabilityMinHash;
use twindex::{DEFAULT_CONFIDENCE, Estimate, Result, normal_quantile, wilson};

impl ProbabilityMinHash {
    /// Estimates the probability Jaccard similarity with its 95 % interval. `None` if a set is
    /// empty or the numbers of functions differ.
    pub fn similarity(&self, other: &ProbabilityMinHash) -> Option<Estimate> {
        self.similarity_at(other, DEFAULT_CONFIDENCE).ok().flatten()
    }

    /// Estimates [`probability_jaccard`] without bias by the share of functions that took the same
    /// token in both sets, with Wilson's interval.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`](twindex::Error::InvalidSetting) for a confidence out of range.
    pub fn similarity_at(
        &self,
        other: &ProbabilityMinHash,
        confidence: f64,
    ) -> Result<Option<Estimate>> {
        let z = normal_quantile(confidence)?;
        let (a, b) = (self.tokens(), other.tokens());
        if a.is_empty() || a.len() != b.len() {
            return Ok(None);
        }
        let equal = a.iter().zip(b).filter(|(x, y)| x == y).count() as u32;
        let functions = a.len() as u32;
        let (low, high) = wilson(equal, functions, z);
        let similarity = f64::from(equal) / f64::from(functions);
        Ok(Some(Estimate { similarity, low, high }))
    }
}

/// The exact probability Jaccard similarity J_P of two weighted sets (Moulton, Jiang 2018,
/// "Maximally consistent sampling and the Jaccard index of probability distributions", definition
/// 1): the sum of 1 / Σ_j max(x_j/x_i, y_j/y_i) over the tokens i of both sets, with weights x and
/// y. It is 0 if a set is empty.
///
/// Only proportions count: it is 1 for sets that differ only by a common factor of all weights,
/// while [`weighted_jaccard`](twindex::weighted_jaccard) of a text and the same text twice is 1/2.
/// If all weights of each set are equal, it is the Jaccard similarity.
///
/// The elements must be in strictly ascending order, with finite weights of at least 0, as
/// [`Shingler::weights`](twindex::Shingler::weights) returns them. The n tokens are sorted by x/y,
/// which decides every maximum, in n log n steps.
///
/// # Panics
///
/// If a set is not in strictly ascending order.
pub fn probability_jaccard(a: &[(u64, f64)], b: &[(u64, f64)]) -> f64 {
    let ascends = |set: &[(u64, f64)]| set.is_sorted_by(|x, y| x.0 < y.0);
    assert!(ascends(a) && ascends(b), "weighted sets in strictly ascending order");
    let mut pairs = side_by_side(a, b);
    // The sort is stable, so the order of summation depends on the sets alone.
    pairs.sort_by(|first, second| (second.0 / second.1).total_cmp(&(first.0 / first.1)));
    let mut after: f64 = pairs.iter().rev().map(|pair| pair.1).sum();
    let (mut before, mut sum) = (0.0, 0.0);
    for (x, y) in pairs {
        // Up to this token the first ratio is the greater one, after it the second.
        before += x;
        after = (after - y).max(0.0);
        if x > 0.0 && y > 0.0 {
            sum += 1.0 / (before / x + after / y);
        }
    }
    f64::min(sum, 1.0)
}

/// The weights of each token with a weight above 0, relative to the greatest weight of its set.
fn side_by_side(a: &[(u64, f64)], b: &[(u64, f64)]) -> Vec<(f64, f64)> {
    let greatest = |set: &[(u64, f64)]| set.iter().fold(0.0, |most: f64, x| most.max(x.1));
    let (most_a, most_b) = (greatest(a), greatest(b));
    if most_a == 0.0 || most_b == 0.0 {
        return Vec::new();
    }
    let (mut rest_a, mut rest_b) = (a.iter().peekable(), b.iter().peekable());
    let mut pairs = Vec::with_capacity(a.len().max(b.len()));
    while let Some(next) = rest_a.peek().into_iter().chain(rest_b.peek()).map(|x| x.0).min() {
        let x = rest_a.next_if(|x| x.0 == next).map_or(0.0, |x| x.1 / most_a);
        let y = rest_b.next_if(|y| y.0 == next).map_or(0.0, |y| y.1 / most_b);
        if x > 0.0 || y > 0.0 {
            pairs.push((x, y));
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketch::ProbabilityHasher;
    use proptest::prelude::*;
    use twindex::weighted_jaccard;

    /// The formula, evaluated directly.
    fn brute_force(a: &[(u64, f64)], b: &[(u64, f64)]) -> f64 {
        let tokens: std::collections::BTreeSet<u64> = a.iter().chain(b).map(|x| x.0).collect();
        let of =
            |set: &[(u64, f64)], token: u64| set.iter().find(|x| x.0 == token).map_or(0.0, |x| x.1);
        let both = |token: &u64| (of(a, *token), of(b, *token));
        let shared = tokens.iter().map(both).filter(|(x, y)| *x > 0.0 && *y > 0.0);
        let of_one = |(x, y): (f64, f64)| {
            1.0 / tokens.iter().map(both).map(|(u, v)| (u / x).max(v / y)).sum::<f64>()
        };
        shared.map(of_one).sum()
    }

    fn set(weights: Vec<u32>) -> Vec<(u64, f64)> {
        let weighted = |(token, weight): (u64, u32)| (token, f64::from(weight) / 4.0);
        (0..).zip(weights).map(weighted).collect()
    }

    proptest! {
        #[test]
        fn it_agrees_with_the_formula(
            a in proptest::collection::vec(0_u32..6, 0..30),
            b in proptest::collection::vec(0_u32..6, 0..30),
            scale in 1e-3..1e3_f64,
        ) {
            let (a, b) = (set(a), set(b));
            let scaled: Vec<(u64, f64)> = b.iter().map(|(x, w)| (*x, w * scale)).collect();
            let got = probability_jaccard(&a, &b);
            prop_assert!((got - brute_force(&a, &b)).abs() < 1e-12, "{got}");
            prop_assert!((got - probability_jaccard(&a, &scaled)).abs() < 1e-12);
            prop_assert!((got - probability_jaccard(&b, &a)).abs() < 1e-12);
        }
    }

    #[test]
    fn only_proportions_count() {
        let a = [(1, 3.0), (2, 1.0)];
        let twice = a.map(|(token, weight)| (token, 2.0 * weight));
        assert!((probability_jaccard(&a, &twice) - 1.0).abs() < 1e-15);
        assert_eq!(weighted_jaccard(&a, &twice), 0.5);
        for scale in [1e-300, 1e300] {
            let other = a.map(|(token, weight)| (token, weight * scale));
            assert!((probability_jaccard(&a, &other) - 1.0).abs() < 1e-15, "{scale}");
        }
    }

    #[test]
    fn with_equal_weights_it_is_the_jaccard_similarity() {
        let run = |from: u64| -> Vec<(u64, f64)> { (from..from + 100).map(|x| (x, 1.0)).collect() };
        for by in [0, 20, 99, 100] {
            let expected = (100 - by) as f64 / (100 + by) as f64;
            assert!((probability_jaccard(&run(0), &run(by)) - expected).abs() < 1e-14);
        }
        // 30 tokens of weight 5 against 70 of weight 1, sharing 20.
        let few: Vec<(u64, f64)> = (0..30).map(|x| (x, 5.0)).collect();
        let many: Vec<(u64, f64)> = (10..80).map(|x| (x, 1.0)).collect();
        assert!((probability_jaccard(&few, &many) - 20.0 / 80.0).abs() < 1e-14);
    }

    #[test]
    fn the_empty_set_is_similar_to_nothing() {
        let (one, none) = ([(1, 1.0)], [(1, 0.0)]);
        for (a, b) in [(&one[..], &[][..]), (&[], &one), (&[], &[]), (&one, &none), (&none, &none)]
        {
            assert_eq!(probability_jaccard(a, b), 0.0);
        }
        let hasher = ProbabilityHasher::new(8, 0).expect("valid");
        let (some, empty) = (hasher.of_weights(&one), hasher.of_weights(&none));
        let fewer = ProbabilityHasher::new(7, 0).expect("valid").of_weights(&one);
        assert_eq!((some.similarity(&empty), empty.similarity(&empty)), (None, None));
        assert_eq!(some.similarity(&fewer), None);
    }

    #[test]
    fn estimates_have_the_bias_and_the_variance_of_theory() {
        let a = set(vec![5, 0, 1, 9, 2, 2, 7, 0, 1, 1, 3, 8]);
        let b = set(vec![1, 4, 1, 8, 2, 5, 7, 1, 0, 1, 3, 2]);
        let expected = probability_jaccard(&a, &b);
        let estimates: Vec<f64> = (0..200)
            .map(|seed| {
                let hasher = ProbabilityHasher::new(64, seed).expect("valid");
                let (a, b) = (hasher.of_weights(&a), hasher.of_weights(&b));
                a.similarity(&b).expect("neither is empty").similarity
            })
            .collect();
        let mean = estimates.iter().sum::<f64>() / 200.0;
        let variance = estimates.iter().map(|x| (x - expected).powi(2)).sum::<f64>() / 200.0;
        let law = expected * (1.0 - expected) / 64.0;
        assert!((mean - expected).abs() < 4.0 * (law / 200.0).sqrt(), "{mean}, not {expected}");
        // The mean of 200 squares of a nearly normal variable has a standard error of 1/10.
        assert!((0.6..1.4).contains(&(variance / law)), "{variance}, not {law}");
    }
}
