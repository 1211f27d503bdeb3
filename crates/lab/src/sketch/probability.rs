//! P-MinHash: for each of k hash functions, the token whose exponential clock rings first.
//!
//! Moulton, Jiang 2018, "Maximally consistent sampling and the Jaccard index of probability
//! distributions" (arXiv 1809.04052), section III: a token of weight w gets the time -ln(u)/w with
//! u a hash of the token from 0 to 1. The token of least time is a sample of the weights as
//! probabilities; both of two sets take the same one as often as any two samplers of theirs can
//! that do not know each other.

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

/// The tokens that a weighted set was sampled at, one for each hash function, by their hashes; none
/// for the empty set (Moulton, Jiang 2018, section III). 8 bytes each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbabilityMinHash(Box<[u64]>);

impl ProbabilityHasher {
    /// The most hash functions there can be.
    pub const MAX_FUNCTIONS: usize = 1 << 16;

    /// A hasher with so many functions under a seed. Only sketches of the same compare. The
    /// standard error of a similarity J_P is the root of J_P (1 - J_P) / k.
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
        // Apart from the keys of other methods under this seed.
        let mut random = SplitMix::new(fmix64(seed ^ GOLDEN.rotate_left(16)));
        Ok(Self { keys: (0..functions).map(|_| random.next()).collect() })
    }

    /// The sketch of a weighted set, given by distinct hashes of its tokens with finite weights
    /// from 0 on, as [`Shingler::weights`](twindex::Shingler::weights) gives them. Some 20 ns a
    /// token and function.
    ///
    /// What all weights have in common as a factor changes nothing. Times of two tokens that are
    /// equal to the last digit of the platform's logarithm would be decided by it; nothing of this
    /// is ever stored.
    pub fn of_weights(&self, weights: &[(u64, f64)]) -> ProbabilityMinHash {
        let greatest = weights.iter().fold(0.0, |greatest: f64, x| greatest.max(x.1));
        if greatest == 0.0 {
            return ProbabilityMinHash(Box::default());
        }
        let first = |key: &u64| {
            let times = weights
                .iter()
                .map(|&(token, weight)| (time(fmix64(token ^ key)) / (weight / greatest), token));
            // A weight of 0 rings never: its time is infinite, that of the greatest is not.
            times.min_by(|x, y| x.0.total_cmp(&y.0).then(x.1.cmp(&y.1))).map_or(0, |x| x.1)
        };
        ProbabilityMinHash(self.keys.iter().map(first).collect())
    }
}

impl ProbabilityMinHash {
    /// The token that each function took, by its hash.
    pub fn tokens(&self) -> &[u64] {
        &self.0
    }

    /// Whether it is that of the empty set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// An exponential variable of mean 1 from a hash: -ln of what lies between 0 and 1, neither of
/// them.
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
        // Next to the greatest a weight can be too small for a number: it rings never.
        assert_eq!(hasher(3).of_weights(&[(1, 1e-320), (2, 1e300)]).tokens(), [2; 3]);
    }

    #[test]
    fn numbers_of_functions_out_of_range_are_refused() {
        for bad in [0, ProbabilityHasher::MAX_FUNCTIONS + 1] {
            assert!(ProbabilityHasher::new(bad, 0).is_err(), "{bad}");
        }
    }
}
