//! How much of one set lies in another, from their similarity and their sizes.
//!
//! With q and x the sizes of sets Q and X, c = |Q ∩ X| / |Q| the share of Q that is in X and J their
//! Jaccard similarity, |Q ∪ X| = q + x - cq, so that J = c / (1 + x/q - c) and c = J (q + x) / (q (1 + J))
//! (Broder 1997, "On the resemblance and containment of documents", has both measures; Zhu, Nargesian, Pu,
//! Miller 2016, "LSH Ensemble", section 5.1, the map between them).

use super::agreement::Agreement;
use super::interval::Estimate;

/// How much of one set lies in another, by estimate, with its 95 % interval: shares from 0 to 1.
///
/// The interval is that of the similarity, taken through the same map, which rises with it. Sizes are
/// taken as they are: their standard error, below 0.4 %, comes on top, and moves a share by no more.
///
/// An estimate is **coarse where the other set is much larger**, as it stretches a small similarity to a
/// large share. With 256 lanes, the standard error where 0.9 of the first set is in the other:
///
/// | sizes, other to first | 1 | 2 | 4 | 8 | 16 | 64 |
/// |---|---|---|---|---|---|---|
/// | similarity | 0.82 | 0.43 | 0.22 | 0.11 | 0.056 | 0.014 |
/// | error of the share | 0.015 | 0.046 | 0.088 | 0.15 | 0.23 | 0.53 |
///
/// ```
/// use twindex::{Agreement, Containment};
/// // 128 of 256 lanes are equal, of sets of 1,000 and 2,000 elements.
/// let contained = Containment::estimate(Agreement::new(128, 256).estimate(), 1000.0, 2000.0);
/// assert!((contained.share - 0.997).abs() < 0.001);
/// assert!(contained.low > 0.89 && contained.high == 1.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Containment {
    /// The share of the first set that is in the other.
    pub share: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

impl Containment {
    /// The share of a set of `size` elements that is in one of `other` elements, from the similarity of
    /// the two. No share is above what the other set has room for, `other / size`.
    pub fn estimate(similarity: Estimate, size: f64, other: f64) -> Self {
        let share = |similarity| Self::of_similarity(similarity, size, other);
        let Estimate { similarity, low, high } = similarity;
        Self { share: share(similarity), low: share(low), high: share(high) }
    }

    /// The share c = J (q + x) / (q (1 + J)) that similarity J means for a set of q = `size` elements and
    /// another of x = `other`, at most 1 and x/q; 0 where either is empty.
    pub fn of_similarity(similarity: f64, size: f64, other: f64) -> f64 {
        if size <= 0.0 || other <= 0.0 {
            return 0.0;
        }
        let share = similarity * (size + other) / (size * (1.0 + similarity));
        share.clamp(0.0, (other / size).min(1.0))
    }

    /// The similarity J = c / (1 + x/q - c) of a set of q = `size` elements, above 0, with one of
    /// x = `other`, where the share c of the first is in the other. c must be at most 1 and x/q.
    ///
    /// ```
    /// use twindex::Containment;
    /// // Half of 100 elements among 200: 50 of the 250 that there are.
    /// assert_eq!(Containment::to_similarity(0.5, 100.0, 200.0), 0.2);
    /// ```
    pub fn to_similarity(share: f64, size: f64, other: f64) -> f64 {
        share / (1.0 + other / size - share)
    }

    /// The variance of the estimate of a true share, from so many lanes, by the delta method: that of
    /// the similarity ([`Agreement::variance`]) times (dc/dJ)², with dc/dJ = (q + x) / (q (1 + J)²).
    /// Within a tenth of the exact one as long as two standard errors fit on either side of the share.
    pub fn variance(share: f64, size: f64, other: f64, lanes: usize) -> f64 {
        let similarity = Self::to_similarity(share, size, other);
        let slope = (size + other) / (size * (1.0 + similarity).powi(2));
        slope * slope * Agreement::variance(similarity, lanes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::{Overlap, equal_lane_probability};
    use statrs::distribution::{Binomial, Discrete};

    #[test]
    fn shares_and_similarities_are_those_of_sets_at_hand() {
        let a: Vec<u64> = (0..120).collect();
        for (first, last) in [(0, 120), (60, 90), (30, 500), (119, 2000), (100, 121)] {
            let b: Vec<u64> = (first..last).collect();
            let overlap = Overlap::of_sets(&a, &b);
            let (size, other) = (overlap.a as f64, overlap.b as f64);
            let share = Containment::of_similarity(overlap.similarity(), size, other);
            assert!((share - overlap.a_in_b()).abs() < 1e-12, "{first} to {last}");
            let similarity = Containment::to_similarity(overlap.a_in_b(), size, other);
            assert!((similarity - overlap.similarity()).abs() < 1e-12, "{first} to {last}");
        }
    }

    #[test]
    fn no_share_is_above_what_the_other_set_has_room_for() {
        assert_eq!(Containment::of_similarity(0.9, 100.0, 50.0), 0.5);
        assert_eq!(Containment::of_similarity(0.9, 50.0, 100.0), 1.0);
        assert_eq!(Containment::of_similarity(0.0, 50.0, 100.0), 0.0);
        assert_eq!(Containment::of_similarity(0.5, 0.0, 100.0), 0.0);
        assert_eq!(Containment::of_similarity(0.5, 100.0, 0.0), 0.0);
    }

    #[test]
    fn the_interval_holds_the_share() {
        for equal in 0..=256 {
            for ratio in [0.3, 1.0, 3.0, 30.0] {
                let estimate = Agreement::new(equal, 256).estimate();
                let Containment { share, low, high } =
                    Containment::estimate(estimate, 100.0, 100.0 * ratio);
                assert!(0.0 <= low && low <= share && share <= high, "{equal}, {ratio}");
                assert!(high <= ratio.min(1.0), "{equal}, {ratio}");
            }
        }
    }

    /// The variance of the share over the binomial law of equal lanes, summed term by term.
    fn summed(similarity: f64, size: f64, other: f64, lanes: usize) -> f64 {
        let law = Binomial::new(equal_lane_probability(similarity), lanes as u64);
        let law = law.expect("a probability");
        let shares: Vec<(f64, f64)> = (0..=lanes)
            .map(|equal| {
                let estimate = Agreement::new(equal, lanes).similarity();
                (law.pmf(equal as u64), Containment::of_similarity(estimate, size, other))
            })
            .collect();
        let mean: f64 = shares.iter().map(|(p, share)| p * share).sum();
        shares.iter().map(|(p, share)| p * (share - mean).powi(2)).sum()
    }

    #[test]
    fn the_variance_is_that_of_the_law_of_equal_lanes() {
        let mut tried = 0;
        for lanes in [128, 256, 512] {
            for ratio in [0.7, 1.0, 2.0, 5.0, 10.0] {
                for share in [0.2, 0.4, 0.6] {
                    let got = Containment::variance(share, 1000.0, 1000.0 * ratio, lanes);
                    if share - 2.0 * got.sqrt() < 0.0 || share + 2.0 * got.sqrt() > ratio.min(1.0) {
                        continue;
                    }
                    tried += 1;
                    let similarity = Containment::to_similarity(share, 1000.0, 1000.0 * ratio);
                    let exact = summed(similarity, 1000.0, 1000.0 * ratio, lanes);
                    assert!(
                        (got / exact - 1.0).abs() < 0.1,
                        "{share}, {ratio}: {got}, not {exact}"
                    );
                }
            }
        }
        assert!(tried > 20, "only {tried} cases are within the range of a share");
    }

    #[test]
    fn the_errors_in_the_documentation_are_those_of_the_formula() {
        for (ratio, similarity, error) in [
            (1.0, 0.82, 0.015),
            (2.0, 0.43, 0.046),
            (4.0, 0.22, 0.088),
            (8.0, 0.11, 0.15),
            (16.0, 0.056, 0.23),
            (64.0, 0.014, 0.53),
        ] {
            let got = Containment::to_similarity(0.9, 1.0, ratio);
            assert!((got / similarity - 1.0).abs() < 0.02, "{ratio}: {got}");
            let got = Containment::variance(0.9, 1.0, ratio, 256).sqrt();
            assert!((got / error - 1.0).abs() < 0.04, "{ratio}: {got}");
        }
    }
}
