//! The probability law of the estimate from k independent hash functions: Binomial(k, J)/k.
//!
//! Dembele, Lo 2017, "The exact probability law for the approximated similarity from the minhashing
//! method", section 3 IV C. The computation follows Loader 2000, "Fast and accurate computation of
//! binomial probabilities".

use twindex::internals::{deviance, stirling_rest};
use twindex::{Error, Result};

/// The law of the estimate of a known similarity J from k independent permutations: t equal minima,
/// and so the estimate t/k, have the probability C(k, t) Jᵗ (1 - J)ᵏ⁻ᵗ (Dembele, Lo 2017, section 3
/// IV C).
///
/// [`AffineMaps::units`](crate::methods::AffineMaps::units) on the rows of two sets follow this
/// law; hash functions of 64 bits follow it very nearly. The lanes of a
/// [`Signature`](twindex::Signature) vary less, and their bytes can agree by chance: see
/// [`estimate_probability`](twindex::estimate_probability).
///
/// The maximum has the same law as the minimum (remark E of the paper): reversing a permutation
/// gives another one with the same probability.
///
/// ```
/// use twindex_lab::methods::EstimateLaw;
/// let law = EstimateLaw::new(128, 0.8)?;
/// assert!((law.variance() - 0.8 * 0.2 / 128.0).abs() < 1e-18);
/// // From 0.74 to 0.86: at least 0.65 by Chebyshev, 0.91 by the normal law, and in truth 0.92.
/// assert!((law.chebyshev(0.06) - 0.347).abs() < 0.001);
/// assert!((law.within(0.06) - 0.924).abs() < 0.001);
/// assert!((law.normal_within(0.06) - 0.910).abs() < 0.001);
/// # Ok::<(), twindex::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EstimateLaw {
    maps: u32,
    similarity: f64,
}

impl EstimateLaw {
    /// The law for a number of hash functions and a similarity from 0 to 1.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`] if there is no hash function, or the similarity is not a number
    /// from 0 to 1.
    pub fn new(functions: u32, similarity: f64) -> Result<Self> {
        if functions == 0 {
            return Err(Error::InvalidSetting {
                setting: "number of hash functions",
                got: functions.to_string(),
                expected: "at least 1",
            });
        }
        if !(0.0..=1.0).contains(&similarity) {
            return Err(Error::InvalidSetting {
                setting: "similarity",
                got: similarity.to_string(),
                expected: "a number from 0 to 1",
            });
        }
        Ok(Self { maps: functions, similarity })
    }

    /// The mean of the estimate, which is J: there is no bias.
    pub fn mean(self) -> f64 {
        self.similarity
    }

    /// The variance of the estimate, J(1 - J)/k.
    pub fn variance(self) -> f64 {
        self.similarity * (1.0 - self.similarity) / f64::from(self.maps)
    }

    /// The probability of exactly `equal` equal minima, that is, of the estimate `equal`/k; 0
    /// beyond k. The relative error is below 2e-12 for k up to 100,000. The time does not depend on
    /// k.
    pub fn probability(self, equal: u32) -> f64 {
        if equal > self.maps {
            return 0.0;
        }
        let (k, rest) = (f64::from(self.maps), 1.0 - self.similarity);
        // The difference of the number and its mean, rounded once.
        let excess = k.mul_add(-self.similarity, f64::from(equal));
        let others = self.maps - equal;
        let [all, these, those] = [self.maps, equal, others].map(|x| stirling_rest(x.into()));
        // The factors Jᵗ and (1 - J)ᵏ⁻ᵗ turn Stirling's powers into deviances, as in
        // `RandomSubsets`.
        let deviance = deviance(equal.into(), k * self.similarity, excess)
            + deviance(others.into(), k * rest, -excess);
        (all - these - those - deviance).exp()
    }

    /// The probabilities of 0, 1, 2, ... k equal minima. They sum to 1.
    pub fn probabilities(self) -> Vec<f64> {
        (0..=self.maps).map(|equal| self.probability(equal)).collect()
    }

    /// The probability of at least `equal` equal minima, summed from the largest term on. The
    /// relative error is below 2e-12 on the rarer side.
    pub fn at_least(self, equal: u32) -> f64 {
        match equal {
            0 => 1.0,
            _ if equal > self.maps => 0.0,
            _ if self.is_above_mean(equal) => self.tail_up(equal),
            _ => 1.0 - self.tail_down(equal - 1),
        }
    }

    /// The probability of at most `equal` equal minima, as exact as [`at_least`](Self::at_least).
    pub fn at_most(self, equal: u32) -> f64 {
        match equal {
            _ if equal >= self.maps => 1.0,
            _ if self.is_above_mean(equal + 1) => 1.0 - self.tail_up(equal + 1),
            _ => self.tail_down(equal),
        }
    }

    /// The probability that the estimate is within `distance` of J, by exact summation (equation 17
    /// and corollary 1 of Dembele, Lo 2017).
    ///
    /// An estimate at exactly that distance counts, even if rounding puts it 1e-12 beyond. If the
    /// distance is not a number, neither is the result.
    pub fn within(self, distance: f64) -> f64 {
        if distance.is_nan() {
            return f64::NAN;
        }
        let k = f64::from(self.maps);
        let reach = k * distance + 1e-12 * k;
        let mean = k * self.similarity;
        if distance < 0.0 {
            return 0.0;
        }
        // Casts saturate.
        let (least, most) = ((mean - reach).ceil() as u32, (mean + reach).floor() as u32);
        if least > most {
            return 0.0;
        }
        let below = if least == 0 { 0.0 } else { self.at_most(least - 1) };
        let above = most.checked_add(1).map_or(0.0, |next| self.at_least(next));
        (1.0 - below - above).clamp(0.0, 1.0)
    }

    /// Chebyshev's bound on the probability that the estimate is at least `distance` from J: the
    /// variance over the square of the distance, at most 1. It holds for every law with this
    /// variance, so it is far above the truth. If the distance is not a number, neither is the
    /// result.
    pub fn chebyshev(self, distance: f64) -> f64 {
        match () {
            _ if distance.is_nan() => f64::NAN,
            _ if distance > 0.0 => (self.variance() / (distance * distance)).min(1.0),
            _ => 1.0,
        }
    }

    /// The normal approximation of [`within`](Self::within). Its error is about 1/√(k J (1 - J)).
    /// If J is 0 or 1, the variance is 0 and the result is 1. If the distance is not a number,
    /// neither is the result.
    pub fn normal_within(self, distance: f64) -> f64 {
        let deviation = self.variance().sqrt();
        match () {
            _ if distance.is_nan() => f64::NAN,
            _ if distance < 0.0 => 0.0,
            _ if deviation == 0.0 => 1.0,
            _ => normal_within(distance / deviation),
        }
    }

    /// The coverage of an interval: the probability that it holds J, summed over all numbers of
    /// equal minima whose interval holds it.
    pub fn coverage(self, mut interval: impl FnMut(u32) -> (f64, f64)) -> f64 {
        let mut holds = |equal| {
            let (low, high) = interval(equal);
            low <= self.similarity && self.similarity <= high
        };
        let held = (0..=self.maps).filter(|equal| holds(*equal));
        // Adding 0 turns the empty sum, which is -0, into 0.
        held.map(|equal| self.probability(equal)).sum::<f64>().clamp(0.0, 1.0) + 0.0
    }

    /// The least number of equal minima that is not exceeded with at least this probability.
    pub fn quantile(self, probability: f64) -> u32 {
        let (mut low, mut high) = (0, self.maps);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.at_most(middle) >= probability {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low
    }

    fn is_above_mean(self, equal: u32) -> bool {
        f64::from(equal) > f64::from(self.maps) * self.similarity
    }

    /// The upper tail, from a number above the mean on.
    fn tail_up(self, equal: u32) -> f64 {
        let odds = self.similarity / (1.0 - self.similarity);
        self.probability(equal) * series(self.maps - equal, equal, odds)
    }

    /// The lower tail, from a number not above the mean down.
    fn tail_down(self, equal: u32) -> f64 {
        let odds = (1.0 - self.similarity) / self.similarity;
        self.probability(equal) * series(equal, self.maps - equal, odds)
    }
}

/// 1 plus the products of successive ratios of terms, until they are negligible. Each step moves
/// one from `from` to `to`. Beyond the mean the ratios are below 1 and fall.
fn series(from: u32, to: u32, odds: f64) -> f64 {
    let (mut sum, mut term) = (1.0, 1.0);
    for step in 0..from {
        term *= f64::from(from - step) / (f64::from(to) + f64::from(step) + 1.0) * odds;
        sum += term;
        // Also where `odds` is infinite or not a number, which it is where the law is a single
        // point.
        if !(term > sum * f64::EPSILON / 16.0 && sum.is_finite()) {
            break;
        }
    }
    if sum.is_finite() { sum } else { 1.0 }
}

/// The probability that a normal variable is within z standard deviations of its mean: the error
/// function at z/√2.
///
/// It is computed by the series of Abramowitz, Stegun, 26.2.11, whose terms are all positive:
/// 2 φ(z) (z + z³/3 + z⁵/15 + ...). The result is within 1e-15 of the true value. It is 0 for z
/// below 0, and not a number if z is not.
pub(crate) fn normal_within(z: f64) -> f64 {
    if z.is_nan() {
        // The series would never end.
        return z;
    }
    if z <= 0.0 {
        return 0.0;
    }
    // Beyond this the result rounds to 1.
    if z >= 8.3 {
        return 1.0;
    }
    let (mut sum, mut term) = (z, z);
    for odd in (3..).step_by(2) {
        term *= z * z / f64::from(odd);
        let more = sum + term;
        if more == sum {
            break;
        }
        sum = more;
    }
    let density = (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt();
    (2.0 * density * sum).min(1.0)
}

#[cfg(test)]
#[path = "estimate_law_tests.rs"]
mod law_tests;
