//! How similar two random sets are, and how unlikely it is that they are as similar as two that were seen.
//!
//! Dembele, Lo 2017, "The exact probability law for the approximated similarity from the minhashing method",
//! equation 10: two subsets of a and b elements, drawn at random from a universe of n,
//! share j with the hypergeometric probability C(a, j) C(n-a, b-j) / C(n, b).

use super::Overlap;
use crate::error::{Error, Result};
use std::f64::consts::{LN_10, TAU};

/// Two random subsets of given sizes of a universe: what similarity chance alone makes.
///
/// Subsets of half the universe each have, on average, a similarity of about 1/3; large texts share little
/// by chance, small ones of few letters a lot.
///
/// ```
/// use twindex::{Overlap, RandomSubsets};
/// let chance = RandomSubsets::new(100, 100, 200)?;
/// assert!((chance.expected_similarity() - 1.0 / 3.0).abs() < 0.001);
/// // 70 shared elements of two hundreds: less than once in 10,000,000 by chance.
/// assert!(chance.tail_log10(70) < -7.0);
///
/// let seen = Overlap { a: 2, b: 1, shared: 1 };
/// let chance = RandomSubsets::like(seen, 4)?;
/// assert!((10_f64.powf(chance.tail_log10(seen.shared)) - 0.5).abs() < 1e-12);
/// # Ok::<(), twindex::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RandomSubsets {
    a: u64,
    b: u64,
    universe: u64,
}

/// What both share, what only the one or the other has, and what neither: four numbers that sum to
/// the universe.
#[derive(Clone, Copy)]
struct Split {
    both: u64,
    only_a: u64,
    only_b: u64,
    neither: u64,
}

impl RandomSubsets {
    /// Subsets of `a` and of `b` elements of a universe of so many.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`] where the universe is smaller than one of them.
    pub fn new(a: u64, b: u64, universe: u64) -> Result<Self> {
        let expected = "at least the size of the greater set";
        Self::checked(Self { a, b, universe }, a.max(b).into(), expected)
    }

    /// Subsets of the sizes of two sets that were seen.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`] where the universe is smaller than the union of these.
    pub fn like(seen: Overlap, universe: u64) -> Result<Self> {
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

    /// The size of the universe.
    pub fn universe(self) -> u64 {
        self.universe
    }

    /// The mean of Jaccard's similarity: the sum over j of j/(a+b-j) times the probability to share j.
    /// 0 where a set is empty. Within 1e-11, relatively; at most a millisecond.
    pub fn expected_similarity(self) -> f64 {
        // From here on the curvature of j/(a+b-j) is so small that two terms of its series leave out less
        // than 4 / LARGE² of the mean.
        const LARGE: u64 = 10_000_000;
        if self.a == 0 || self.b == 0 {
            return 0.0;
        }
        match self.a.max(self.b) < LARGE {
            true => self.summed(),
            false => self.by_moments(),
        }
    }

    /// The sum, from about the most probable number outwards. Probabilities are in proportion to that
    /// of where it starts, and their own sum makes up for it: no factorial is ever needed.
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

    /// By the mean μ of the shared number and its variance: f(μ) + f''(μ)/2 variance, f(j) = j/(a+b-j).
    fn by_moments(self) -> f64 {
        let (a, b, n) = (self.a as f64, self.b as f64, self.universe as f64);
        let mean = a * (b / n);
        let (rest_a, rest_b) = ((self.universe - self.a) as f64, (self.universe - self.b) as f64);
        let variance = mean * (rest_a / n) * (rest_b / (n - 1.0));
        let union = a + b - mean;
        mean / union + variance / union * ((a + b) / union / union)
    }

    /// The decimal logarithm of the probability that they share `shared` elements or more: 0 where
    /// that is certain, minus infinity where it is impossible. So it is also that of a similarity as
    /// high as of sets that share so many.
    ///
    /// The probability is within 1e-9 of the true one, relatively, as far as its logarithm has digits
    /// to tell. Time grows with the square root of the sizes: some 20 ms for 10^12 elements.
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
        // A negative zero would be a lie of the sign.
        ((-below.min(1.0)).ln_1p() / LN_10).min(0.0)
    }

    /// About the most probable number of shared elements: the mean.
    fn likely(self) -> u64 {
        let product = u128::from(self.a) * u128::from(self.b);
        product.checked_div(self.universe.into()).unwrap_or(0) as u64
    }

    /// What is where if they share so many, which must be possible.
    fn sharing(self, both: u64) -> Split {
        let (only_a, only_b) = (self.a - both, self.b - both);
        Split { both, only_a, only_b, neither: self.universe - self.a - only_b }
    }

    /// The logarithm of the probability of a split.
    ///
    /// That is a! (n-a)! b! (n-b)! / n! over the four factorials of the split. Factorials of 10^12 cancel each other
    /// but for their last digits; so each is taken as Stirling's x^x e^-x times a rest, which is small, and
    /// the powers are put together to the deviance of the split from its mean, which is a sum of
    /// positive terms (Loader 2000, "Fast and accurate computation of binomial probabilities", for this law).
    fn ln_probability(self, at: Split) -> f64 {
        let (a, b, n) = (self.a, self.b, self.universe);
        let whole = f64::max(n as f64, 1.0);
        let (got, mean) = (u128::from(at.both) * u128::from(n), u128::from(a) * u128::from(b));
        // By how much the shared ones exceed their mean; the other three numbers differ by as much.
        let excess = match got >= mean {
            true => (got - mean) as f64 / whole,
            false => -((mean - got) as f64 / whole),
        };
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
    /// With one more in both.
    fn up(self) -> Self {
        Self {
            both: self.both + 1,
            only_a: self.only_a - 1,
            only_b: self.only_b - 1,
            neither: self.neither + 1,
        }
    }

    /// With one fewer in both.
    fn down(self) -> Self {
        Self {
            both: self.both - 1,
            only_a: self.only_a + 1,
            only_b: self.only_b + 1,
            neither: self.neither - 1,
        }
    }

    /// How much more probable the next one up is than this.
    fn ratio_up(self) -> f64 {
        ratio((self.only_a, self.only_b), (self.both, self.neither))
    }

    /// How much more probable the next one down is than this.
    fn ratio_down(self) -> f64 {
        ratio((self.both, self.neither), (self.only_a, self.only_b))
    }
}

/// How much more probable it is that one element more has left the first two parts for the others.
fn ratio(from: (u64, u64), to: (u64, u64)) -> f64 {
    // The sum of all four is at most 2^64 - 1, so 1 can be added wherever the other two have any.
    (from.0 as f64 / (to.0 as f64 + 1.0)) * (from.1 as f64 / (to.1 as f64 + 1.0))
}

/// 1 plus all the products of successive ratios from here on, until they no longer count. To be begun
/// beyond the most probable split, where ratios are below 1 and fall.
fn series(mut from: (u64, u64), mut to: (u64, u64)) -> f64 {
    let (mut sum, mut term) = (1.0, 1.0);
    while from.0 > 0 && from.1 > 0 && term > sum * f64::EPSILON / 16.0 {
        term *= ratio(from, to);
        sum += term;
        (from, to) = ((from.0 - 1, from.1 - 1), (to.0 + 1, to.1 + 1));
    }
    sum
}

/// x ln(x/m) + m - x for x = `number` and m = `mean`, which is never negative; `excess` is x - m, known
/// better than both could tell.
pub fn deviance(number: u64, mean: f64, excess: f64) -> f64 {
    let x = number as f64;
    if number == 0 {
        return mean;
    }
    if excess.abs() >= 0.1 * (x + mean) {
        return x * (x / mean).ln() - excess;
    }
    // ln(x/m) is twice the inverse hyperbolic tangent of v; the first terms cancel exactly.
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

/// ln x! less x ln x - x.
pub fn stirling_rest(x: u64) -> f64 {
    if x == 0 {
        return 0.0;
    }
    let number = x as f64;
    if x < 16 {
        let factorial: u64 = (1..=x).product();
        return (factorial as f64).ln() - (number * number.ln() - number);
    }
    // Stirling's series (Abramowitz, Stegun, 6.1.41), to 1e-16 from 16 on.
    let square = number * number;
    let tail =
        [-691.0 / 360_360.0, 1.0 / 1188.0, -1.0 / 1680.0, 1.0 / 1260.0, -1.0 / 360.0, 1.0 / 12.0];
    tail.iter().fold(0.0, |sum, c| sum / square + c) / number + 0.5 * (TAU * number).ln()
}

#[cfg(test)]
#[path = "random_tests.rs"]
mod random_tests;
