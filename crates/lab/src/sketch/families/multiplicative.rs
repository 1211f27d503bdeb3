//! Multiplicative hashing: the fractional part of the key times a constant.

use super::HashFunction;
use twindex::internals::{GOLDEN, SplitMix};

/// floor(m frac(x A)) with m = 2^64 and A = s / 2^64 for an odd s: the low word of the product s x
/// (Knuth, "Sorting and searching", section 6.4; Bergillos, Rambla, Cabeza 2018, section 6.2, with
/// w = p = 64).
///
/// An odd s makes it a permutation of all words. It is no random order, though: there is no addend,
/// so that 0 is the least key under every function, and a set that holds 0 agrees in all components
/// with every other that does. Where the keys are row numbers, count from 1; even so it is biased
/// on neighbouring rows.
///
/// ```
/// use twindex_lab::methods::{HashFunction, Multiplicative};
/// // 2^64 times 0.618033...
/// assert_eq!(Multiplicative::GOLDEN.hash(1) as f64 / 2_f64.powi(64), (5_f64.sqrt() - 1.0) / 2.0);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Multiplicative {
    multiplier: u64,
}

impl Multiplicative {
    /// The function of A = (sqrt 5 - 1) / 2, which Knuth proposes: neighbouring keys fall as far
    /// apart as can be.
    pub const GOLDEN: Multiplicative = Multiplicative { multiplier: GOLDEN };

    /// The function of a seed, its multiplier odd.
    pub fn new(seed: u64) -> Self {
        Self { multiplier: SplitMix::new(seed).next() | 1 }
    }
}

impl HashFunction for Multiplicative {
    #[inline(always)]
    fn hash(&self, key: u64) -> u64 {
        self.multiplier.wrapping_mul(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// floor(2^64 frac(k A)), computed apart with 80 digits. The multiplier is A 2^64 without its
    /// fraction, so a product falls behind by up to k.
    #[test]
    fn the_golden_function_is_the_fraction_of_the_golden_ratio() {
        for (key, exact) in [
            (1, 0x9e37_79b9_7f4a_7c15_u64),
            (2, 0x3c6e_f372_fe94_f82b),
            (3, 0xdaa6_6d2c_7ddf_7441),
            (10, 0x2e2a_c13e_f8e8_d8db),
            (1_000, 0x08b3_7c99_3af4_b5bf),
        ] {
            let behind = exact.wrapping_sub(Multiplicative::GOLDEN.hash(key));
            assert!(behind <= key, "{key}: {behind}");
        }
    }

    #[test]
    fn the_key_0_is_least_under_every_function() {
        for seed in 0..100 {
            assert_eq!(Multiplicative::new(seed).hash(0), 0);
        }
    }

    /// The three distances theorem (Sós 1958): so many multiples cut the circle into gaps of at
    /// most three sizes.
    #[test]
    fn the_multiples_of_a_key_leave_three_gaps() {
        for count in [10_u64, 34, 100] {
            let mut points: Vec<u64> = (0..count).map(|k| Multiplicative::GOLDEN.hash(k)).collect();
            points.sort_unstable();
            let mut gaps: Vec<u64> = points.windows(2).map(|pair| pair[1] - pair[0]).collect();
            gaps.push(points[0].wrapping_sub(points[points.len() - 1]));
            gaps.sort_unstable();
            gaps.dedup();
            assert!(gaps.len() <= 3, "{gaps:?}");
        }
    }
}
