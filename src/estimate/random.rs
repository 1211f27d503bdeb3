//! The similarity of two random sets, and the probability that they share as much as two given
//! ones.
//!
//! Two subsets of a and b elements, drawn at random from a universe of n elements, share j elements
//! with the hypergeometric probability C(a, j) C(n-a, b-j) / C(n, b) (Dembele, Lo 2017, "The exact
//! probability law for the approximated similarity from the minhashing method", equation 10).

use super::Overlap;
use crate::error::{Error, Result};
use std::f64::consts::{LN_10, TAU};

/// Two random subsets of a universe, of given sizes: the similarity that chance alone produces.
///
/// Two subsets of half the universe each have an average similarity of about 1/3. Sets of long
/// shingles come from a large universe and share little by chance; sets of short shingles come from
/// a small universe and share much.
///
/// ```
/// use twindex::{Overlap, RandomSubsets};
/// let chance = RandomSubsets::new(100, 100, 200)?;
/// assert!((chance.expected_similarity() - 1.0 / 3.0).abs() < 0.001);
/// // Two sets of 100 out of 200 elements share 70 less than once in 10,000,000 by chance.
/// assert!(chance.tail_log10(70) < -7.0);
///
/// let seen = Overlap { a: 2, b: 1, shared: 1 };
/// let chance = RandomSubsets::with_sizes_of(seen, 4)?;
/// assert!((10_f64.powf(chance.tail_log10(seen.shared)) - 0.5).abs() < 1e-12);
/// # Ok::<(), twindex::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RandomSubsets {
    a: u64,
    b: u64,
    universe: u64,
}

/// The numbers of elements in both subsets, in only one of them, and in neither. They sum to the
/// size of the universe.
#[derive(Clone, Copy)]
struct Split {
    both: u64,
    only_a: u64,
    only_b: u64,
    neither: u64,
}

impl RandomSubsets {
    /// Returns random subsets of `a` and `b` elements out of `universe` elements.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`] if the universe is smaller than one of the subsets.
    pub fn new(a: u64, b: u64, universe: u64) -> Result<Self> {
        let expected = "at least the size of the greater set";
        Self::checked(Self { a, b, universe }, a.max(b).into(), expected)
    }

    /// Returns random subsets of the same sizes as two given sets.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`] if the universe is smaller than the union of the given sets.
    pub fn with_sizes_of(seen: Overlap, universe: u64) -> Result<Self> {
        let union = u128::from(seen.a) + u128::from(seen.b) - u128::from(seen.shared);
        let expected = "at least the number of different elements of both sets";
        Self::checked(Self { a: seen.a, b: seen.b, universe }, union, expected)
    }

    fn checked(self, least: u128, expected: &'static str) -> Result<Self> {
        if u128::from(self.universe) >= least {
            return Ok(self);
        }
        Err(Error::InvalidSetting { setting: "universe", got: self.universe.to_string(), expected })
    }

    /// Returns the number of elements of the universe.
    pub fn universe(self) -> u64 {
        self.universe
    }

    /// Returns the mean Jaccard similarity: the sum over j of j/(a+b-j) times the probability of
    /// sharing j elements; 0 if a set is empty.
    ///
    /// The relative error is at most 1e-11. Takes at most a millisecond.
    pub fn expected_similarity(self) -> f64 {
        // From this size on, j/(a+b-j) is so flat that the first two terms of its series leave out
        // less than 4 / LARGE² of the mean.
        const LARGE: u64 = 10_000_000;
        if self.a == 0 || self.b == 0 {
            return 0.0;
        }
        if self.a.max(self.b) < LARGE { self.summed() } else { self.by_moments() }
    }

    /// Sums from about the most probable number outwards. Probabilities are relative to that of the
    /// starting number and are divided by their sum at the end, so no factorial is needed.
    fn summed(self) -> f64 {
        let (mut mass, mut mean) = (0.0, 0.0);
        let mut add = |weight: f64, at: Split| {
            let part = weight * at.both as f64 / (at.both + at.only_a + at.only_b) as f64;
            (mass, mean) = (mass + weight, mean + part);
            weight > mass * f64::EPSILON / 16.0 || part > mean * f64::EPSILON / 16.0 || mean == 0.0
        };
        let start = self.sharing(self.likely());
        let (mut at, mut weight) = (start, 1.0);
        while add(weight, at) && at.only_a > 0 && at.only_b > 0 {
            weight *= at.ratio_up();
            at = at.up();
        }
        (at, weight) = (start, 1.0);
        while at.both > 0 && at.neither > 0 {
            weight *= at.ratio_down();
            at = at.down();
            if !add(weight, at) {
                break;
            }
        }
        mean / mass
    }

    /// Approximates the mean of f(j) = j/(a+b-j) by f(μ) + f''(μ)/2 · variance, where μ and the
    /// variance are those of the number j of shared elements.
    fn by_moments(self) -> f64 {
        let (a, b, n) = (self.a as f64, self.b as f64, self.universe as f64);
        let mean = a * (b / n);
        let (rest_a, rest_b) = ((self.universe - self.a) as f64, (self.universe - self.b) as f64);
        let variance = mean * (rest_a / n) * (rest_b / (n - 1.0));
        let union = a + b - mean;
        mean / union + variance / union * ((a + b) / union / union)
    }

    /// Returns the decimal logarithm of the probability that the subsets share `shared` elements or
    /// more: 0 if that is certain, minus infinity if it is impossible.
    ///
    /// The same probability applies to the similarity: for subsets of fixed sizes, it rises with
    /// the number of shared elements.
    ///
    /// The relative error of the probability is at most 1e-9, as far as the digits of its logarithm
    /// allow. The time grows with the square root of the sizes: about 20 ms for 10^12 elements.
    pub fn tail_log10(self, shared: u64) -> f64 {
        let least = (u128::from(self.a) + u128::from(self.b)).saturating_sub(self.universe.into());
        if u128::from(shared) <= least {
            return 0.0;
        }
        if shared > self.a.min(self.b) {
            return f64::NEG_INFINITY;
        }
        if shared > self.likely() {
            let at = self.sharing(shared);
            let rest = series((at.only_a, at.only_b), (at.both, at.neither));
            return ((self.ln_probability(at) + rest.ln()) / LN_10).min(0.0);
        }
        let at = self.sharing(shared - 1);
        let below =
            self.ln_probability(at).exp() * series((at.both, at.neither), (at.only_a, at.only_b));
        // The minimum also turns a negative zero into 0.
        ((-below.min(1.0)).ln_1p() / LN_10).min(0.0)
    }

    /// The mean number of shared elements, rounded down. It is about the most probable number.
    fn likely(self) -> u64 {
        let product = u128::from(self.a) * u128::from(self.b);
        product.checked_div(self.universe.into()).unwrap_or(0) as u64
    }

    /// The split in which the subsets share `both` elements, which must be possible.
    fn sharing(self, both: u64) -> Split {
        let (only_a, only_b) = (self.a - both, self.b - both);
        Split { both, only_a, only_b, neither: self.universe - self.a - only_b }
    }

    /// The natural logarithm of the probability of a split.
    ///
    /// The probability is a! (n-a)! b! (n-b)! / n! divided by the factorials of the four numbers of
    /// the split. The logarithms of factorials of 10^12 cancel in all but their last digits. So
    /// each factorial is written as Stirling's x^x e^-x times a small remainder. The powers combine
    /// to the deviance of the split from its mean, which is a sum of positive terms (Loader 2000,
    /// "Fast and accurate computation of binomial probabilities", here applied to this law).
    fn ln_probability(self, at: Split) -> f64 {
        let (a, b, n) = (self.a, self.b, self.universe);
        let whole = f64::max(n as f64, 1.0);
        let (got, mean) = (u128::from(at.both) * u128::from(n), u128::from(a) * u128::from(b));
        // The difference of the shared number from its mean. The other three numbers of the split
        // differ from theirs by as much.
        let excess =
            if got >= mean { (got - mean) as f64 / whole } else { -((mean - got) as f64 / whole) };
        let of = |rows: u64, columns: u64| rows as f64 * (columns as f64 / whole);
        let deviance = deviance(at.both, of(a, b), excess)
            + deviance(at.only_a, of(a, n - b), -excess)
            + deviance(at.only_b, of(n - a, b), -excess)
            + deviance(at.neither, of(n - a, n - b), excess);
        let margins: f64 = [a, n - a, b, n - b].map(stirling_rest).iter().sum();
        let cells = [at.both, at.only_a, at.only_b, at.neither, n].map(stirling_rest);
        margins - cells.iter().sum::<f64>() - deviance
    }
}

impl Split {
    /// The split with one more shared element.
    fn up(self) -> Self {
        Self {
            both: self.both + 1,
            only_a: self.only_a - 1,
            only_b: self.only_b - 1,
            neither: self.neither + 1,
        }
    }

    /// The split with one fewer shared element.
    fn down(self) -> Self {
        Self {
            both: self.both - 1,
            only_a: self.only_a + 1,
            only_b: self.only_b + 1,
            neither: self.neither - 1,
        }
    }

    /// The probability of [`up`](Self::up) divided by that of this split.
    fn ratio_up(self) -> f64 {
        ratio((self.only_a, self.only_b), (self.both, self.neither))
    }

    /// The probability of [`down`](Self::down) divided by that of this split.
    fn ratio_down(self) -> f64 {
        ratio((self.both, self.neither), (self.only_a, self.only_b))
    }
}

/// The factor by which the probability changes if each number of `from` falls by 1 and each number
/// of `to` rises by 1.
fn ratio(from: (u64, u64), to: (u64, u64)) -> f64 {
    (from.0 as f64 / (to.0 as f64 + 1.0)) * (from.1 as f64 / (to.1 as f64 + 1.0))
}

/// The sum of the probabilities from a split on, relative to the first: 1 plus the products of
/// successive ratios, until a product no longer changes the sum. The first split must be beyond the
/// most probable one, where the ratios are below 1 and fall. The numbers cannot overflow: all four
/// sum to at most 2^64 - 1, and those of `from` fall as those of `to` rise.
fn series(mut from: (u64, u64), mut to: (u64, u64)) -> f64 {
    let (mut sum, mut term) = (1.0, 1.0);
    while from.0 > 0 && from.1 > 0 && term > sum * f64::EPSILON / 16.0 {
        term *= ratio(from, to);
        sum += term;
        (from, to) = ((from.0 - 1, from.1 - 1), (to.0 + 1, to.1 + 1));
    }
    sum
}

/// Returns x ln(x/m) + m - x for x = `number` and m = `mean`. The result is never negative.
/// `excess` is x - m, which the caller knows to more digits than a subtraction would give.
pub fn deviance(number: u64, mean: f64, excess: f64) -> f64 {
    let x = number as f64;
    if number == 0 {
        return mean;
    }
    if excess.abs() >= 0.1 * (x + mean) {
        return x * (x / mean).ln() - excess;
    }
    // ln(x/m) is 2 artanh(v). The first terms of its series cancel against m - x exactly.
    let v = excess / (x + mean);
    let mut sum = excess * v;
    let mut power = 2.0 * x * v;
    for odd in (3..).step_by(2) {
        power *= v * v;
        let more = sum + power / f64::from(odd);
        if more == sum {
            break;
        }
        sum = more;
    }
    sum
}

/// Returns ln x! - (x ln x - x), the logarithm of Stirling's remainder.
pub fn stirling_rest(x: u64) -> f64 {
    if x == 0 {
        return 0.0;
    }
    let number = x as f64;
    if x < 16 {
        let factorial: u64 = (1..=x).product();
        return (factorial as f64).ln() - (number * number.ln() - number);
    }
    // Stirling's series (Abramowitz, Stegun, 6.1.41), with an error of at most 1e-16 from x = 16
    // on.
    let square = number * number;
    let tail =
        [-691.0 / 360_360.0, 1.0 / 1188.0, -1.0 / 1680.0, 1.0 / 1260.0, -1.0 / 360.0, 1.0 / 12.0];
    tail.iter().fold(0.0, |sum, c| sum / square + c) / number + 0.5 * (TAU * number).ln()
}

#[cfg(test)]
#[path = "random_tests.rs"]
mod random_tests;
