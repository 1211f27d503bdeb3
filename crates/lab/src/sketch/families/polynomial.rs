//! Random polynomials over a prime field: the values of any K keys are independent.

use super::{HashFunction, Modular};
use twindex::internals::SplitMix;
use twindex::{Error, Result};

/// K: how many keys have independent values under the functions of a family. From 2 to 64.
///
/// ```
/// use twindex_lab::methods::Independence;
/// assert_eq!(Independence::new(5)?.get(), 5);
/// assert!(Independence::new(1).is_err());
/// # Ok::<(), twindex::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Independence(u8);

impl Independence {
    /// The greatest.
    pub const MAX: Independence = Independence(64);

    /// That of listings: 4.
    pub const DEFAULT: Independence = Independence(4);

    /// Checks the number.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`] unless it is between 2 and 64. With K = 1 all keys would have the
    /// same value.
    pub fn new(keys: u64) -> Result<Self> {
        let fits = |keys: &u8| (2..=Self::MAX.0).contains(keys);
        u8::try_from(keys).ok().filter(fits).map(Self).ok_or_else(|| Error::InvalidSetting {
            setting: "degree of independence",
            got: keys.to_string(),
            expected: "a whole number from 2 to 64",
        })
    }

    /// The number itself.
    pub const fn get(self) -> usize {
        self.0 as usize
    }
}

/// A polynomial of degree K - 1 or less over the field of 2^61 - 1 elements, each of its K
/// coefficients drawn from the whole field (Carter, Wegman 1979; Indyk 2001).
///
/// The values of any K keys below p are independent and uniform, because exactly one such
/// polynomial takes K given values at K given keys. So among K keys or fewer each is the least
/// equally often, but for the few functions under which keys share a value. In larger sets the bias
/// falls with K. For K = 2 it is [`Modular`], except that the factor may be 0. Greater keys are
/// first reduced modulo p. A value takes K - 1 multiplications.
///
/// ```
/// use twindex_lab::methods::{HashFunction, Polynomial};
/// // 2 x^2 + 3 x + 4
/// let function = Polynomial::of_coefficients(&[4, 3, 2]);
/// assert_eq!(function.hash(5), 69);
/// ```
#[derive(Clone, Debug)]
pub struct Polynomial {
    /// All below p; that of the highest power first, as Horner's rule takes them.
    coefficients: Box<[u64]>,
}

impl Polynomial {
    /// The function of a seed.
    pub fn new(independence: Independence, seed: u64) -> Self {
        let mut words = SplitMix::new(seed);
        let coefficients = (0..independence.get()).map(|_| words.below(Modular::PRIME)).collect();
        Self { coefficients }
    }

    /// The polynomial with these coefficients, that of the lowest power first, reduced modulo p.
    pub fn of_coefficients(coefficients: &[u64]) -> Self {
        let reduced = coefficients.iter().rev().map(|number| number % Modular::PRIME);
        Self { coefficients: reduced.collect() }
    }
}

impl HashFunction for Polynomial {
    #[inline(always)]
    fn hash(&self, key: u64) -> u64 {
        let key = Modular::reduced(key);
        let step = |sum, coefficient: &u64| Modular::value(sum, key, *coefficient);
        self.coefficients.iter().fold(0, step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketch::{Family, MinHash};
    use proptest::prelude::*;

    proptest! {
        /// Powers and sums in 128 bits, reduced after every step.
        #[test]
        fn values_are_those_of_the_formula(
            coefficients in proptest::collection::vec(any::<u64>(), 1..8),
            key: u64,
        ) {
            let p = u128::from(Modular::PRIME);
            let (mut power, mut expected) = (1, 0);
            for number in &coefficients {
                expected = (expected + u128::from(*number) % p * power) % p;
                power = power * (u128::from(key) % p) % p;
            }
            let got = Polynomial::of_coefficients(&coefficients).hash(key);
            prop_assert_eq!(u128::from(got), expected);
        }

        /// Lagrange: K values determine the polynomial, so its values are independent.
        #[test]
        fn one_polynomial_takes_given_values_at_given_keys(
            values in proptest::array::uniform3(0..Modular::PRIME),
        ) {
            // Through (0, u), (1, v), (2, w): c0 = u, c2 = (w - 2 v + u) / 2, c1 = v - u - c2.
            let p = Modular::PRIME;
            let [u, v, w] = values;
            let twice = (u128::from(w) + 2 * u128::from(p - v) + u128::from(u)) % u128::from(p);
            let half = u128::from(p).midpoint(1);
            let c2 = (twice * half % u128::from(p)) as u64;
            let c1 = (v + (p - u) + (p - c2)) % p;
            let function = Polynomial::of_coefficients(&[u, c1, c2]);
            prop_assert_eq!([0, 1, 2].map(|key| function.hash(key)), values);
        }
    }

    #[test]
    fn degrees_out_of_range_are_refused() {
        for keys in [0, 1, 65, 256 + 4, u64::MAX] {
            assert!(Independence::new(keys).is_err(), "{keys}");
        }
        assert_eq!(Independence::new(64).ok(), Some(Independence::MAX));
    }

    /// Two sets of 80 neighbouring rows with 60 common ones. Affine maps estimate about .53; with
    /// each further degree the bias falls.
    #[test]
    fn the_bias_on_neighbouring_rows_falls_with_the_degree() {
        let sets: [Vec<u64>; 2] = [(0..80).collect(), (20..100).collect()];
        let mean = |keys: u64| {
            let family = Family::Polynomial(Independence::new(keys).expect("valid"));
            let mean_of = |seed: u64| {
                let functions = MinHash::new(family, 500, seed).expect("valid");
                let [a, b] = sets.each_ref().map(|set| functions.signature(set).expect("keys"));
                MinHash::similarity(&a, &b)
            };
            (0..20).map(mean_of).sum::<f64>() / 20.0
        };
        // Four standard errors of a mean of 10,000 components are .0196.
        assert!(mean(2) < 0.56, "{}", mean(2));
        assert!((mean(5) - 0.6).abs() < 0.0196, "{}", mean(5));
    }
}
