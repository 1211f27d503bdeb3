//! Multiplicative hashing: the fractional part of the key times a constant.

use super::HashFunction;
use twindex::internals::{GOLDEN, SplitMix};

/// floor(m frac(x A)) with m = 2^64 and A = s / 2^64 for an odd s: the low word of the product s x
/// (Knuth, "Sorting and searching", section 6.4; Bergillos, Rambla, Cabeza 2018, section 6.2, with
/// w = p = 64).
///
/// Since s is odd, it is a permutation of all words, but not a random order: without an addend, the
/// key 0 has the least value under every function, so any two sets that hold 0 agree in all
/// components. Number rows from 1. Even then it is biased on neighbouring rows.
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
    /// The function of A = (sqrt 5 - 1) / 2, which Knuth proposes. It spreads neighbouring keys as
    /// far apart as possible.
    pub const GOLDEN: Multiplicative = Multiplicative { multiplier: GOLDEN };

    /// The function of a seed. Its multiplier is odd.
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

    /// floor(2^64 frac(k A)), computed separately with 80 digits. The multiplier is A 2^64 rounded
    /// down, so a product can be too small by up to k.
    #[test]
    fn the_golden_function_multiplies_by_the_golden_ratio() {
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

    /// The three distances theorem (Sós 1958): the multiples of a number divide the circle into
    /// gaps of at most three sizes.
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
