//! The law of lanes of a few bits, and of signatures that mix lanes of two widths.
//!
//! Li, König 2010, "b-bit minwise hashing", section 2, theorem 1. For sets that are small beside
//! the universe, both of its constants are 2^-b, the probability that b random bits are equal.

use crate::estimate::EstimateLaw;
use std::fmt;
use twindex::Result;

/// An estimate this close below the threshold is taken to reach it: the rest is rounding.
const ROUNDING: f64 = 1e-12;

/// Lanes of one width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lanes {
    pub(super) count: u32,
    /// The bits that are kept of each lane, from 1 to 64.
    pub(super) bits: u32,
}

impl Lanes {
    pub(super) const fn new(count: u32, bits: u32) -> Self {
        Self { count, bits }
    }

    /// The odds that two unequal lanes have equal bits: C / (1 - C) = 1 / (2^b - 1).
    pub(super) fn noise(self) -> f64 {
        1.0 / (f64::from(self.bits).exp2() - 1.0)
    }

    /// The probability that a lane is equal in two sets of similarity J: C + (1 - C) J.
    pub(super) fn equal(self, similarity: f64) -> f64 {
        let chance = (-f64::from(self.bits)).exp2();
        chance + (1.0 - chance) * similarity
    }

    /// The variance of the estimate from a single lane.
    ///
    /// With P = C + (1 - C) J, it is P (1 - P) / (1 - C)^2. As 1 - P = (1 - C)(1 - J), this equals
    /// (1 - J)(J + C / (1 - C)): the variance of a whole lane, and that of the bits of unequal
    /// ones.
    pub(super) fn variance_of_one(self, similarity: f64) -> f64 {
        (1.0 - similarity) * (similarity + self.noise())
    }

    /// What the lanes tell of J (Fisher's information): the reciprocal of their variance.
    fn information(self, similarity: f64) -> f64 {
        f64::from(self.count) / self.variance_of_one(similarity)
    }

    /// The probabilities of 0, 1, 2, ... equal lanes.
    fn probabilities(self, similarity: f64) -> Result<Vec<f64>> {
        match self.count {
            0 => Ok(vec![1.0]),
            count => Ok(EstimateLaw::new(count, self.equal(similarity))?.probabilities()),
        }
    }
}

/// The storage factor of Li and König, section 2: the bits of a lane times its variance. The bits
/// that a given error costs are in proportion to it.
pub(super) fn storage_factor(bits: u32, similarity: f64) -> f64 {
    f64::from(bits) * Lanes::new(1, bits).variance_of_one(similarity)
}

/// The width with the least storage factor.
pub(super) fn best_bits(similarity: f64) -> u32 {
    let factor = |bits: &u32| storage_factor(*bits, similarity);
    (1..=32).min_by(|a, b| factor(a).total_cmp(&factor(b))).unwrap_or(1)
}

/// The lanes of a signature: some of one width and, perhaps, others of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) first: Lanes,
    pub(super) others: Lanes,
}

/// The signature of an index with default settings.
pub(super) const TODAY: Layout = Layout::of(Lanes::new(twindex::DEFAULT_LANES as u32, 8));

impl Layout {
    /// Lanes of a single width.
    pub(super) const fn of(first: Lanes) -> Self {
        Self { first, others: Lanes::new(0, first.bits) }
    }

    pub(super) const fn mixed(first: Lanes, others: Lanes) -> Self {
        Self { first, others }
    }

    /// As many lanes as fit into this many bytes.
    pub(super) const fn of_bytes(bytes: u32, bits: u32) -> Self {
        Self::of(Lanes::new(8 * bytes / bits, bits))
    }

    /// The fewest lanes that, beside `first`, reach the error of another layout.
    pub(super) fn reaching(first: Lanes, bits: u32, other: Self, similarity: f64) -> Self {
        let lacking = other.information(similarity) - first.information(similarity);
        // Rounding must not ask for one more.
        let count = (lacking * Lanes::new(1, bits).variance_of_one(similarity) - 1e-9).ceil();
        Self::mixed(first, Lanes::new(count.max(0.0) as u32, bits))
    }

    pub(super) const fn lanes(self) -> u32 {
        self.first.count + self.others.count
    }

    pub(super) const fn bytes(self) -> u32 {
        (self.first.count * self.first.bits + self.others.count * self.others.bits).div_ceil(8)
    }

    fn information(self, similarity: f64) -> f64 {
        self.first.information(similarity) + self.others.information(similarity)
    }

    /// The standard error of the estimate by the law of independent lanes. J must be below 1.
    pub(super) fn error(self, similarity: f64) -> f64 {
        self.information(similarity).recip().sqrt()
    }

    /// The standard error for two sets of `elements` in all, which have at least as many elements
    /// as lanes, over this many sketches of equal weight.
    ///
    /// The lanes of one sketch hold different elements, so they draw without replacement: the
    /// variance of a whole lane shrinks as for a hypergeometric law. Equal bits of unequal lanes
    /// are independent of each other, so their part of the variance stays.
    pub(super) fn error_among(self, similarity: f64, elements: u32, sketches: u32) -> f64 {
        let all = self.information(similarity);
        let whole = similarity * (1.0 - similarity);
        // The squares of the weights of all lanes, summed.
        let squares: f64 = [self.first, self.others]
            .into_iter()
            .filter(|lanes| lanes.count > 0)
            .map(|lanes| (lanes.information(similarity) / all).powi(2) / f64::from(lanes.count))
            .sum();
        let saved = whole * (1.0 / f64::from(sketches) - squares) / f64::from(elements - 1);
        (1.0 / all - saved).max(0.0).sqrt()
    }

    /// The most probable J for these numbers of equal lanes of the two widths. It can be below 0.
    ///
    /// With E equal lanes of a width, noise c, and R unequal lanes in all, the likelihood is
    /// greatest where the sum of E / (J + c) is R / (1 - J): a quadratic equation, whose lesser
    /// root is beyond the range. For a single width, this is (P - C) / (1 - C).
    pub(super) fn estimate(self, equal: [u32; 2]) -> f64 {
        let [first, others] = equal.map(f64::from);
        let (c, d) = (self.first.noise(), self.others.noise());
        let all = f64::from(self.lanes());
        let (same, crossed) = (first + others, first * d + others * c);
        let unequal = all - same;
        let linear = unequal * (c + d) - same + crossed;
        let constant = unequal * c * d - crossed;
        let root = (linear * linear - 4.0 * all * constant).max(0.0).sqrt();
        (root - linear) / (2.0 * all)
    }

    /// The probability that the estimate reaches a threshold above 0, summed over both binomial
    /// laws.
    pub(super) fn reported(self, similarity: f64, threshold: f64) -> Result<f64> {
        let first = self.first.probabilities(similarity)?;
        let others = self.others.probabilities(similarity)?;
        let mut sum = 0.0;
        for (x, chance) in (0..).zip(&first) {
            let reaches = |y: &u32| self.estimate([x, *y]) >= threshold - ROUNDING;
            // The estimate rises with every equal lane.
            let least = (0..=self.others.count).find(reaches);
            let tail = least.map_or(0.0, |y| others[y as usize..].iter().rev().sum::<f64>());
            sum += chance * tail;
        }
        Ok(sum)
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first, others } = self;
        write!(f, "{} x {}", first.count, first.bits)?;
        match others.count {
            0 => Ok(()),
            count => write!(f, " + {count} x {}", others.bits),
        }
    }
}
