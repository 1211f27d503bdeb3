//! The number of equal lanes of two signatures, and the similarity that it estimates.

use super::interval::{Estimate, wilson};
use crate::error::Result;
use crate::params::Confidence;
use crate::sketch::Signature;
use multiversion::multiversion;

/// The probability that two one-byte lanes are equal by chance.
pub(super) const CHANCE: f64 = 1.0 / 256.0;

/// Returns the number of positions at which both slices hold the same byte. If one slice is longer,
/// its rest is ignored.
///
/// Takes about 10 ns for 256 lanes.
///
/// ```
/// assert_eq!(twindex::equal_lanes(&[1, 2, 3, 4], &[1, 2, 9]), 2);
/// ```
#[multiversion(targets("x86_64+avx2", "x86_64+sse4.2", "aarch64+neon"))]
pub fn equal_lanes(a: &[u8], b: &[u8]) -> usize {
    // Counting the equal bytes of a row in one byte lets the compiler compare and sum whole vector
    // registers. It cannot do so with one count a column.
    const WIDTH: usize = 64;
    let length = a.len().min(b.len());
    let (rows_a, rest_a) = a[..length].as_chunks::<WIDTH>();
    let (rows_b, rest_b) = b[..length].as_chunks::<WIDTH>();
    let mut total = 0;
    for (row_a, row_b) in rows_a.iter().zip(rows_b) {
        let mut equal = 0_u8;
        for at in 0..WIDTH {
            equal += u8::from(row_a[at] == row_b[at]);
        }
        total += usize::from(equal);
    }
    for (x, y) in rest_a.iter().zip(rest_b) {
        total += usize::from(x == y);
    }
    total
}

/// Returns the number of equal lanes if it is at least `least`. Looks at one half of the lanes
/// first: for most pairs that are not similar, the other half cannot make up for it.
pub(crate) fn equal_lanes_from(a: &[u8], b: &[u8], least: usize) -> Option<usize> {
    let length = a.len().min(b.len());
    let ((a, rest_a), (b, rest_b)) = (a.split_at(length / 2), b.split_at(length / 2));
    let half = equal_lanes(a, b);
    if half + (length - length / 2) < least {
        return None;
    }
    let equal = half + equal_lanes(rest_a, rest_b);
    (equal >= least).then_some(equal)
}

/// The number of equal lanes of two signatures, out of all their lanes.
///
/// ```
/// let agreement = twindex::Agreement::new(205, 256);
/// assert!((agreement.similarity() - 0.8).abs() < 0.001);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agreement {
    equal: u32,
    lanes: u32,
}

impl Agreement {
    /// Returns an agreement in `equal` out of `lanes` lanes.
    ///
    /// # Panics
    ///
    /// If `lanes` is 0, or `equal` is greater than `lanes`.
    pub fn new(equal: usize, lanes: usize) -> Self {
        assert!(lanes > 0 && equal <= lanes, "{equal} of {lanes} lanes");
        Self { equal: equal as u32, lanes: lanes as u32 }
    }

    /// Returns the number of equal lanes.
    pub fn equal(self) -> usize {
        self.equal as usize
    }

    /// Returns the number of lanes.
    pub fn lanes(self) -> usize {
        self.lanes as usize
    }

    /// Returns the estimated Jaccard similarity, from 0 to 1.
    ///
    /// It is (p - C)/(1 - C) limited to 0 and 1, where p is the share of equal lanes and C = 1/256
    /// the probability that two bytes are equal by chance (Li, König 2010, "b-bit minwise hashing",
    /// section 2). The estimate is unbiased except for the limit.
    pub fn similarity(self) -> f64 {
        corrected(f64::from(self.equal) / f64::from(self.lanes))
    }

    /// Returns the similarity with its interval at the
    /// [default confidence](crate::DEFAULT_CONFIDENCE), 95 %.
    pub fn estimate(self) -> Estimate {
        self.estimate_with(Confidence::DEFAULT)
    }

    /// Returns the similarity with its interval at a confidence above 0 and below 1.
    ///
    /// The interval is the [Wilson interval](crate::wilson) of the share of equal lanes, with the
    /// same correction as [`similarity`](Self::similarity).
    ///
    /// At 95 %, it holds a true similarity from 0.05 to 0.99 with a probability between 93 and
    /// 98.1 %, on average 95 %. In some narrow gaps (0.2 % of the range with 64 lanes, 0.02 % with
    /// 128), the probability is lower, at least 91.6 and 92.5 %. These figures follow from the
    /// binomial law, which holds for sets of many more elements than lanes. The sketch of a smaller
    /// set has less error, and its interval holds the true similarity more often.
    ///
    /// ```
    /// let agreement = twindex::Agreement::new(205, 256);
    /// let (usual, sure) = (agreement.estimate(), agreement.estimate_at(0.999)?);
    /// assert!(sure.low < usual.low && usual.high < sure.high);
    /// assert_eq!(usual.similarity, sure.similarity);
    /// # Ok::<(), twindex::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`](crate::Error::InvalidSetting) for any other confidence.
    pub fn estimate_at(self, confidence: f64) -> Result<Estimate> {
        Ok(self.estimate_with(Confidence::new(confidence)?))
    }

    /// Like [`estimate_at`](Self::estimate_at), for a validated confidence.
    pub(crate) fn estimate_with(self, confidence: Confidence) -> Estimate {
        let (low, high) = wilson(self.equal, self.lanes, confidence.z());
        Estimate { similarity: self.similarity(), low: corrected(low), high: corrected(high) }
    }

    /// Returns the variance of the estimate for a true similarity J: (1-J)(C + (1-C)J) / (k(1-C)),
    /// where k is the number of lanes and C = 1/256.
    ///
    /// At J = 0.8, one-byte lanes raise the standard error by 0.25 %.
    pub fn variance(similarity: f64, lanes: usize) -> f64 {
        let rest = 1.0 - CHANCE;
        (1.0 - similarity) * (CHANCE + rest * similarity) / (lanes as f64 * rest)
    }
}

impl Signature {
    /// Returns the estimated Jaccard similarity of two documents with its 95 % interval; `None` if
    /// a document is empty, if the numbers of lanes differ, or if there are no lanes.
    ///
    /// Both signatures must be made under the same settings.
    pub fn similarity(&self, other: &Signature) -> Option<Estimate> {
        self.similarity_with(other, Confidence::DEFAULT)
    }

    /// Like [`similarity`](Self::similarity), with an interval at another confidence, above 0 and
    /// below 1.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`](crate::Error::InvalidSetting) for any other confidence.
    pub fn similarity_at(&self, other: &Signature, confidence: f64) -> Result<Option<Estimate>> {
        Ok(self.similarity_with(other, Confidence::new(confidence)?))
    }

    fn similarity_with(&self, other: &Signature, confidence: Confidence) -> Option<Estimate> {
        let lanes = self.lanes().len();
        let comparable =
            !self.is_empty() && !other.is_empty() && lanes > 0 && lanes == other.lanes().len();
        comparable.then(|| {
            let equal = equal_lanes(self.lanes(), other.lanes());
            Agreement::new(equal, lanes).estimate_with(confidence)
        })
    }
}

fn corrected(share: f64) -> f64 {
    ((share - CHANCE) / (1.0 - CHANCE)).clamp(0.0, 1.0)
}

/// The least number of equal lanes whose estimate is at least `similarity`.
pub(crate) fn least_equal_lanes(similarity: f64, lanes: usize) -> usize {
    (0..lanes)
        .find(|&equal| Agreement::new(equal, lanes).similarity() >= similarity)
        .unwrap_or(lanes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::SplitMix;
    use statrs::distribution::{Binomial, Discrete};

    #[test]
    fn too_few_equal_lanes_are_none() {
        let a: Vec<u8> = (0..=255).collect();
        for changed in [0, 1, 100, 128, 200, 256] {
            for from in [0, 56, 128] {
                let mut b = a.clone();
                b.iter_mut().skip(from).take(changed).for_each(|lane| *lane ^= 1);
                let equal = equal_lanes(&a, &b);
                for least in [0, 1, equal.saturating_sub(1), equal, equal + 1, 256, 257] {
                    let expected = (equal >= least).then_some(equal);
                    assert_eq!(equal_lanes_from(&a, &b, least), expected, "{changed} {from}");
                }
            }
        }
    }

    #[test]
    fn equal_lanes_agrees_with_a_simple_count() {
        let mut words = SplitMix::new(1);
        for length in [0, 1, 31, 32, 33, 64, 128, 256, 511, 512, 9000] {
            let a: Vec<u8> = (0..length).map(|_| (words.next() % 3) as u8).collect();
            let b: Vec<u8> = (0..length).map(|_| (words.next() % 3) as u8).collect();
            let expected = a.iter().zip(&b).filter(|(x, y)| x == y).count();
            assert_eq!(equal_lanes(&a, &b), expected, "{length} lanes");
        }
    }

    #[test]
    fn all_lanes_equal_is_similarity_1_and_one_in_256_is_0() {
        let all = Agreement::new(256, 256).estimate();
        assert_eq!((all.similarity, all.high), (1.0, 1.0));
        assert_eq!(Agreement::new(1, 256).similarity(), 0.0);
        assert_eq!(Agreement::new(0, 256).estimate().low, 0.0);
    }

    #[test]
    fn signatures_without_lanes_are_not_compared() {
        let none = Signature::from_lanes([], 100);
        assert_eq!(none.similarity(&none), None);
        assert_eq!(none.similarity(&Signature::from_lanes([7; 64], 100)), None);
    }

    /// The probability that the interval holds a similarity, by the law of equal lanes.
    fn coverage(similarity: f64, lanes: usize, confidence: Confidence) -> f64 {
        let equal = CHANCE + (1.0 - CHANCE) * similarity;
        let law = Binomial::new(equal, lanes as u64).expect("a probability");
        let holds = |equal: &usize| {
            let estimate = Agreement::new(*equal, lanes).estimate_with(confidence);
            estimate.low <= similarity && similarity <= estimate.high
        };
        (0..=lanes).filter(holds).map(|equal| law.pmf(equal as u64)).sum()
    }

    #[test]
    fn the_default_interval_covers_similarities_from_005_to_099_at_its_confidence() {
        let similarities = || (0..=1880).map(|step| 0.05 + f64::from(step) / 2000.0);
        for lanes in [64, 128, 256, 512] {
            let all: Vec<f64> =
                similarities().map(|j| coverage(j, lanes, Confidence::DEFAULT)).collect();
            let mean = all.iter().sum::<f64>() / all.len() as f64;
            assert!((0.949..=0.952).contains(&mean), "{lanes} lanes: {mean} on average");
            // With 64 lanes, one equal lane more is a large step, so some gaps remain.
            let least = if lanes == 64 { 0.917 } else { 0.93 };
            for (j, held) in similarities().zip(&all) {
                assert!((least..=0.985).contains(held), "{lanes} lanes, J = {j}: {held}");
            }
            let low = all.iter().filter(|held| **held < 0.93).count();
            assert!(low * 200 < all.len(), "{lanes} lanes: {low} similarities below 93 %");
        }
    }

    #[test]
    fn intervals_at_other_confidences_cover_at_their_confidence() {
        for (confidence, range) in [
            (0.5, 0.45..=0.56),
            (0.8, 0.77..=0.83),
            (0.9, 0.88..=0.92),
            (0.99, 0.983..=0.994),
            (0.999, 0.996..=0.9996),
        ] {
            let at = Confidence::new(confidence).expect("valid");
            for lanes in [256, 512] {
                for j in [0.1, 0.3, 0.5, 0.7, 0.8, 0.9] {
                    let held = coverage(j, lanes, at);
                    assert!(range.contains(&held), "{confidence}, {lanes} lanes, J = {j}: {held}");
                }
            }
        }
    }

    #[test]
    fn least_equal_lanes_is_the_least_number_that_reaches_the_similarity() {
        for lanes in [64, 128, 256, 512] {
            for similarity in [0.0, 0.3, 0.5, 0.8, 0.95, 1.0] {
                let least = least_equal_lanes(similarity, lanes);
                assert!(Agreement::new(least, lanes).similarity() >= similarity);
                if least > 0 {
                    assert!(Agreement::new(least - 1, lanes).similarity() < similarity);
                }
            }
        }
    }
}
