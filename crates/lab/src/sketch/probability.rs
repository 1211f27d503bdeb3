//! P-MinHash: for each of k hash functions, the token whose exponential clock rings first.
//!
//! Moulton, Jiang 2018, "Maximally consistent sampling and the Jaccard index of probability
//! distributions" (arXiv 1809.04052), section III: a token of weight w gets the time -ln(u)/w,
//! where u is a hash of the token between 0 and 1. The token with the least time is sampled with a
//! probability in proportion to its weight. No sampling that treats the two sets independently
//! picks the same token of both more often.

use twindex::internals::{GOLDEN, SplitMix, fmix64};
use twindex::{Error, Result};

/// Makes [`ProbabilityMinHash`]es with k hash functions (P-MinHash: Moulton, Jiang 2018, section
/// III).
///
/// ```
/// use twindex_lab::methods::{ProbabilityHasher, probability_jaccard};
/// let a = [(1, 3.0), (2, 1.0)];
/// let b = [(1, 20.0), (7, 10.0)];
/// let exact = probability_jaccard(&a, &b);
/// assert!((exact - 1.0 / (1.0 + 1.0 / 3.0 + 1.0 / 2.0)).abs() < 1e-15);
///
/// let hasher = ProbabilityHasher::new(512, 0)?;
/// let (a, b) = (hasher.of_weights(&a), hasher.of_weights(&b));
/// let estimate = a.similarity(&b).expect("neither is empty");
/// assert!(estimate.low < exact && exact < estimate.high);
/// # Ok::<(), twindex::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbabilityHasher {
    keys: Box<[u64]>,
}

/// The hashes of the tokens sampled from a weighted set, one for each hash function, 8 bytes each
/// (Moulton, Jiang 2018, section III). The empty set has none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbabilityMinHash(Box<[u64]>);

impl ProbabilityHasher {
    /// The most hash functions.
    pub const MAX_FUNCTIONS: usize = 1 << 16;

    /// Creates a hasher with `functions` functions from a seed. Only sketches with the same number
    /// of functions and the same seed can be compared. The standard error of the estimate of J_P is
    /// the root of J_P (1 - J_P) / k.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`] unless the number is from 1 to 65,536.
    pub fn new(functions: usize, seed: u64) -> Result<Self> {
        if !(1..=Self::MAX_FUNCTIONS).contains(&functions) {
            return Err(Error::InvalidSetting {
                setting: "hashes",
                got: functions.to_string(),
                expected: "a whole number from 1 to 65536",
            });
        }
        // The mixing separates these keys from those of other methods under the same seed.
        let mut random = SplitMix::new(fmix64(seed ^ GOLDEN.rotate_left(16)));
        Ok(Self { keys: (0..functions).map(|_| random.next()).collect() })
    }

    /// The sketch of a weighted set, given by distinct hashes of its tokens with finite weights of
    /// at least 0, as [`Shingler::weights`](twindex::Shingler::weights) returns them. Takes some 20
    /// ns for each token and function.
    ///
    /// A common factor of all weights changes nothing. If the times of two tokens differ only in
    /// the last digit, the platform's logarithm decides between them; sketches are never stored.
    pub fn of_weights(&self, weights: &[(u64, f64)]) -> ProbabilityMinHash {
        let greatest = weights.iter().fold(0.0, |greatest: f64, x| greatest.max(x.1));
        if greatest == 0.0 {
            return ProbabilityMinHash(Box::default());
        }
        let first = |key: &u64| {
            let times = weights
                .iter()
                .map(|&(token, weight)| (time(fmix64(token ^ key)) / (weight / greatest), token));
            // The clock of weight 0 never rings: its time is infinite. The time of the greatest
            // weight is finite.
            times.min_by(|x, y| x.0.total_cmp(&y.0).then(x.1.cmp(&y.1))).map_or(0, |x| x.1)
        };
        ProbabilityMinHash(self.keys.iter().map(first).collect())
    }
}

impl ProbabilityMinHash {
    /// The hash of the token that each function took.
    pub fn tokens(&self) -> &[u64] {
        &self.0
    }

    /// Whether this is the sketch of the empty set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// An exponential variable with mean 1 from a hash: -ln of a number strictly between 0 and 1.
fn time(hash: u64) -> f64 {
    -(((hash >> 11) as f64 + 0.5) * 2.0_f64.powi(-53)).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hasher(functions: usize) -> ProbabilityHasher {
        ProbabilityHasher::new(functions, 5).expect("a valid number")
    }

    #[test]
    fn tokens_are_sampled_in_proportion_to_their_weights() {
        let weights = [(11, 1.0), (12, 2.0), (13, 0.0), (14, 5.0)];
        let sketch = hasher(4000).of_weights(&weights);
        for (token, weight) in weights {
            let share = weight / 8.0;
            let seen = sketch.tokens().iter().filter(|x| **x == token).count() as f64 / 4000.0;
            let error = 4.0 * (share * (1.0 - share) / 4000.0_f64).sqrt();
            assert!((seen - share).abs() <= error, "{token}: {seen}, not {share}");
        }
    }

    #[test]
    fn a_common_factor_changes_nothing() {
        let weights: Vec<(u64, f64)> = (0..50).map(|x| (x, 1.0 + (x * x % 17) as f64)).collect();
        let expected = hasher(200).of_weights(&weights);
        for factor in [1e-300, 0.3, 7.0, 1e300] {
            let other: Vec<(u64, f64)> = weights.iter().map(|(x, w)| (*x, w * factor)).collect();
            assert_eq!(hasher(200).of_weights(&other), expected, "{factor}");
        }
    }

    #[test]
    fn a_set_without_weight_is_empty() {
        assert!(hasher(3).of_weights(&[]).is_empty());
        assert!(hasher(3).of_weights(&[(1, 0.0)]).is_empty());
        // A weight can be so small relative to the greatest that it underflows to 0. Its clock
        // never rings.
        assert_eq!(hasher(3).of_weights(&[(1, 1e-320), (2, 1e300)]).tokens(), [2; 3]);
    }

    #[test]
    fn numbers_of_functions_out_of_range_are_refused() {
        for bad in [0, ProbabilityHasher::MAX_FUNCTIONS + 1] {
            assert!(ProbabilityHasher::new(bad, 0).is_err(), "{bad}");
        }
    }
}
