//! The law of the number of equal lanes: what an estimate will say of a similarity that is known.
//!
//! A stored lane of two documents of similarity J is equal with probability q = C + (1-C) J, where
//! C = 1/256 is the chance of equal bytes (Li, König 2010, "b-bit minwise hashing", section 2). Lanes
//! taken as independent, k of them are a binomial law with the generating function (1-q + qx)^k. The
//! lanes of the sketch vary less than independent ones (Dahlgaard, Knudsen, Thorup 2017), so the law
//! is on the safe side.

use super::agreement::{CHANCE, least_equal_lanes};
use crate::error::Result;
use crate::params::{Lanes, Threshold};

/// The probability that a stored lane of two documents of this similarity is equal.
pub(crate) fn equal_lane_probability(similarity: f64) -> f64 {
    CHANCE + (1.0 - CHANCE) * similarity
}

/// The probability that two documents of true similarity `similarity` are estimated to be at least
/// `threshold`, from so many lanes, by the binomial law: about a half where both are equal.
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

/// The same for numbers that are validated.
pub(crate) fn estimated_at_least(similarity: f64, threshold: Threshold, lanes: Lanes) -> f64 {
    let law = EqualLanes::none().and_lanes(lanes.get(), equal_lane_probability(similarity));
    law.at_least(least_equal_lanes(threshold.get(), lanes.get()))
}

/// The probabilities of 0, 1, 2, ... equal lanes: the coefficients of a generating function.
///
/// They are made by products of sums without a negative term, so that nothing cancels out; for 512
/// lanes that takes some 130,000 multiplications.
#[derive(Clone, Debug)]
pub(crate) struct EqualLanes(Vec<f64>);

impl EqualLanes {
    /// Of no lane at all.
    pub(crate) fn none() -> Self {
        Self(vec![1.0])
    }

    /// With so many more lanes, each equal with this probability.
    pub(crate) fn and_lanes(self, count: usize, equal: f64) -> Self {
        (0..count).fold(self, |law, _| law.times(&[1.0 - equal, equal]))
    }

    /// With so many more words of `depth` lanes each, of which none may be equal as a whole. The
    /// probabilities no longer sum to 1, but to that of this condition.
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

    /// The probability of so many equal lanes or more.
    pub(crate) fn at_least(&self, equal: usize) -> f64 {
        let tail = self.0.iter().skip(equal);
        // From the smallest terms on, which lie at the end.
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
    fn equal_texts_are_always_reported_and_texts_with_nothing_in_common_never() {
        for lanes in [64, 128, 256, 512] {
            let reported = |similarity, threshold| {
                estimate_probability(similarity, threshold, lanes).expect("in range")
            };
            assert_eq!(reported(1.0, 1.0), 1.0);
            assert!(reported(0.0, 0.5) < 1e-20);
        }
    }

    #[test]
    fn words_without_an_equal_one_have_the_probability_of_missing() {
        for (words, depth, share) in [(16, 6, 0.8_f64), (3, 2, 0.5), (1, 1, 0.3)] {
            let law = EqualLanes::none().and_unequal_words(words, depth, share).and_lanes(9, share);
            let missed = (1.0 - share.powi(depth as i32)).powi(words as i32);
            assert!((law.at_least(0) - missed).abs() < 1e-12);
        }
    }
}
