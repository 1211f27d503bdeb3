//! Containment: the share of one set that is in another, from their similarity and sizes.
//!
//! Let q and x be the sizes of two sets Q and X, c = |Q ∩ X| / |Q| the share of Q that is in X, and
//! J their Jaccard similarity. Because |Q ∪ X| = q + x - cq, the two are related by
//! `J = c / (1 + x/q - c)` and `c = J (q + x) / (q (1 + J))`. Broder 1997, "On the resemblance and
//! containment of documents", defines both measures. Zhu, Nargesian, Pu, Miller 2016, "LSH
//! Ensemble", section 5.1, relates them in this way.

use super::agreement::Agreement;

/// An estimated share of one set that is in another, with its interval. All are from 0 to 1.
///
/// The interval is the shortest one that holds the share with the wanted probability, if before the
/// comparison all possible shares are equally probable. It never leaves the range of possible
/// shares, which ends at the most that the other set has room for. It takes the sizes as exact:
/// their standard error, below 0.4 %, is not part of the interval, and moves a share by no more
/// than that.
///
/// The interval of **one** comparison is wrong for the best of many. Among 10,000 sets that share
/// nothing with the first, some agree with it in as many lanes as one that contains it. A
/// [query](crate::Query::containment) takes this into account: the shares of all documents that it
/// compares are the prior for each of them.
///
/// The estimate is **coarse if the other set is much larger**, as a small similarity then stands
/// for a large share. This is the standard error with 256 lanes if 0.9 of the first set is in the
/// other:
///
/// | sizes, other to first | 1 | 2 | 4 | 8 | 16 | 64 |
/// |---|---|---|---|---|---|---|
/// | similarity | 0.82 | 0.43 | 0.22 | 0.11 | 0.056 | 0.014 |
/// | error of the share | 0.015 | 0.046 | 0.088 | 0.15 | 0.23 | 0.53 |
///
/// ```
/// use twindex::{Agreement, Containment};
/// // Two sets of 1,000 and 2,000 elements agree in 128 of 256 lanes.
/// let contained = Containment::estimate(Agreement::new(128, 256), 1000.0, 2000.0);
/// assert!((contained.share - 0.997).abs() < 0.001);
/// assert!(contained.low > 0.85 && contained.high > 0.99, "{contained:?}");
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
    /// Converts a similarity J to the share c = J (q + x) / (q (1 + J)) of a set of q = `size`
    /// elements that is in a set of x = `other` elements. The share is at most 1 and x/q, and 0 if
    /// a set is empty.
    pub fn of_similarity(similarity: f64, size: f64, other: f64) -> f64 {
        if size <= 0.0 || other <= 0.0 {
            return 0.0;
        }
        let share = similarity * (size + other) / (size * (1.0 + similarity));
        share.clamp(0.0, (other / size).min(1.0))
    }

    /// Converts the share c of a set of q = `size` elements that is in a set of x = `other`
    /// elements to the similarity J = c / (1 + x/q - c) of the two sets. q must be above 0, and c
    /// at most 1 and x/q.
    ///
    /// ```
    /// use twindex::Containment;
    /// // Half of 100 elements are among 200 others: 50 of the 250 elements of both.
    /// assert_eq!(Containment::to_similarity(0.5, 100.0, 200.0), 0.2);
    /// ```
    pub fn to_similarity(share: f64, size: f64, other: f64) -> f64 {
        share / (1.0 + other / size - share)
    }

    /// Returns the variance of the estimate of a true share from signatures of `lanes` lanes.
    ///
    /// By the delta method, it is the variance of the similarity ([`Agreement::variance`]) times
    /// (dc/dJ)², where dc/dJ = (q + x) / (q (1 + J)²). It is within 10 % of the exact variance if
    /// the possible range of shares extends at least two standard errors to either side.
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
    fn shares_and_similarities_agree_with_those_of_explicit_sets() {
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
    fn no_share_is_above_the_most_that_the_other_set_has_room_for() {
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
                let agreement = Agreement::new(equal, 256);
                let Containment { share, low, high } =
                    Containment::estimate(agreement, 100.0, 100.0 * ratio);
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
    fn the_variance_agrees_with_the_law_of_equal_lanes() {
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
