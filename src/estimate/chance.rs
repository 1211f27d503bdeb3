//! The probability law of the number of equal lanes for a known similarity.
//!
//! A stored lane is equal in two documents of similarity J with probability q = C + (1-C) J, where
//! C = 1/256 is the probability that two bytes are equal by chance (Li, König 2010, "b-bit minwise
//! hashing", section 2). If lanes are independent, the number of equal ones among k follows a
//! binomial law with the generating function (1-q + qx)^k. The lanes of the sketch vary less than
//! independent ones (Dahlgaard, Knudsen, Thorup 2017), so the law is on the safe side.

use super::agreement::{CHANCE, least_equal_lanes};
use crate::error::Result;
use crate::params::{Lanes, Threshold};

/// The probability that a stored lane is equal in two documents of this similarity.
pub(crate) fn equal_lane_probability(similarity: f64) -> f64 {
    CHANCE + (1.0 - CHANCE) * similarity
}

/// Returns the probability that the estimated similarity of two documents reaches `threshold`, for
/// a true similarity `similarity` from 0 to 1 and signatures of `lanes` lanes.
///
/// The probability follows from the binomial law of equal lanes. It is about 1/2 if the similarity
/// equals the threshold.
///
/// ```
/// let reported = |j| twindex::estimate_probability(j, 0.8, 256);
/// assert!(reported(0.7)? < 0.001 && reported(0.9)? > 0.999);
/// assert!((reported(0.8)? - 0.5).abs() < 0.05);
/// # Ok::<(), twindex::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::InvalidSetting`](crate::Error::InvalidSetting) for a threshold or a number of lanes out
/// of range.
pub fn estimate_probability(similarity: f64, threshold: f64, lanes: usize) -> Result<f64> {
    Ok(estimated_at_least(similarity, Threshold::new(threshold)?, Lanes::new(lanes)?))
}

/// Like [`estimate_probability`], for validated numbers.
pub(crate) fn estimated_at_least(similarity: f64, threshold: Threshold, lanes: Lanes) -> f64 {
    let law = EqualLanes::none().and_lanes(lanes.get(), equal_lane_probability(similarity));
    law.at_least(least_equal_lanes(threshold.get(), lanes.get()))
}

/// The probabilities of 0, 1, 2, ... equal lanes, as the coefficients of a generating function.
///
/// They are computed by products and sums of non-negative terms, so no digits cancel. For 512 lanes
/// this takes about 130,000 multiplications.
#[derive(Clone, Debug)]
pub(crate) struct EqualLanes(Vec<f64>);

impl EqualLanes {
    /// The law of no lanes.
    pub(crate) fn none() -> Self {
        Self(vec![1.0])
    }

    /// Adds `count` lanes, each equal with probability `equal`.
    pub(crate) fn and_lanes(self, count: usize, equal: f64) -> Self {
        (0..count).fold(self, |law, _| law.times(&[1.0 - equal, equal]))
    }

    /// Adds `count` words of `depth` lanes each, under the condition that no word is equal in all
    /// its lanes. The probabilities then sum to the probability of this condition.
    pub(crate) fn and_unequal_words(self, count: usize, depth: u32, equal: f64) -> Self {
        let mut word = Self::none().and_lanes(depth as usize, equal).0;
        word.pop();
        (0..count).fold(self, |law, _| law.times(&word))
    }

    fn times(&self, factor: &[f64]) -> Self {
        let mut product = vec![0.0; self.0.len() + factor.len() - 1];
        for (i, x) in self.0.iter().enumerate() {
            for (j, y) in factor.iter().enumerate() {
                product[i + j] += x * y;
            }
        }
        Self(product)
    }

    /// The probability of at least `equal` equal lanes.
    pub(crate) fn at_least(&self, equal: usize) -> f64 {
        let tail = self.0.iter().skip(equal);
        // Adding the smallest terms first, which are at the end, loses the fewest digits.
        tail.rev().sum::<f64>().clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use statrs::distribution::{Binomial, DiscreteCDF};

    #[test]
    fn the_tail_is_that_of_the_binomial_law() {
        for lanes in [64, 128, 256, 512] {
            for share in [0.05, 0.5, 0.8, 0.99] {
                let law = EqualLanes::none().and_lanes(lanes, share);
                let known = Binomial::new(share, lanes as u64).expect("a probability");
                for least in [1, lanes / 4, lanes / 2, lanes * 4 / 5, lanes] {
                    let (got, expected) = (law.at_least(least), known.sf(least as u64 - 1));
                    assert!((got - expected).abs() < 1e-9, "{least} of {lanes} at {share}: {got}");
                }
            }
        }
    }

    #[test]
    fn equal_texts_are_always_reported_and_unrelated_texts_never() {
        for lanes in [64, 128, 256, 512] {
            let reported = |similarity, threshold| {
                estimate_probability(similarity, threshold, lanes).expect("in range")
            };
            assert_eq!(reported(1.0, 1.0), 1.0);
            assert!(reported(0.0, 0.5) < 1e-20);
        }
    }

    #[test]
    fn the_law_of_unequal_words_sums_to_the_probability_of_missing() {
        for (words, depth, share) in [(16, 6, 0.8_f64), (3, 2, 0.5), (1, 1, 0.3)] {
            let law = EqualLanes::none().and_unequal_words(words, depth, share).and_lanes(9, share);
            let missed = (1.0 - share.powi(depth as i32)).powi(words as i32);
            assert!((law.at_least(0) - missed).abs() < 1e-12);
        }
    }
}
