//! Estimates from bottom-k sketches: similarity, containment and cardinality.

use super::interval::{Estimate, wilson};
use crate::error::Result;
use crate::params::Confidence;
use crate::sketch::BottomK;

/// An estimated number of elements, with its interval at some confidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cardinality {
    /// The estimate; a whole number if it is exact.
    pub count: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

/// A random sample of the union of two sets.
#[derive(Default)]
struct Sample {
    /// The number of elements in the sample.
    union: u32,
    /// Those in the first set.
    a: u32,
    /// Those in both sets.
    shared: u32,
    /// Whether the sample gives exact answers: it is the whole union, or one set is empty.
    exact: bool,
}

impl BottomK {
    /// Returns the estimated Jaccard similarity of both sets with its 95 % interval.
    pub fn similarity(&self, other: &BottomK) -> Estimate {
        self.similarity_with(other, Confidence::DEFAULT)
    }

    /// Returns the estimated Jaccard similarity of both sets, with its interval at a confidence
    /// above 0 and below 1.
    ///
    /// The estimate is the share of the k smallest hashes of the union that both sets have (Broder
    /// 1997, theorem 1), where k is the smaller of the two sizes. It is unbiased. The cost is about
    /// 2k steps.
    ///
    /// The estimate is exact, with `low` = `high`, if both sketches are [whole](Self::is_whole). It
    /// is exactly 0 if one set is empty. Otherwise the interval is Wilson's, which assumes that the
    /// k hashes are drawn with replacement. They are not, so the interval covers the truth at its
    /// confidence if the union is many times k, and more often if the union is smaller. A
    /// correction would need the size of the union, which is itself an estimate.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`](crate::Error::InvalidSetting) for any other confidence.
    pub fn similarity_at(&self, other: &BottomK, confidence: f64) -> Result<Estimate> {
        Ok(self.similarity_with(other, Confidence::new(confidence)?))
    }

    fn similarity_with(&self, other: &BottomK, confidence: Confidence) -> Estimate {
        let sample = sample(self, other);
        share(sample.shared, sample.union, sample.exact, confidence)
    }

    /// Returns the estimated share of this set that is in the other, |A ∩ B| / |A|, with its 95 %
    /// interval.
    pub fn containment(&self, other: &BottomK) -> Estimate {
        self.containment_with(other, Confidence::DEFAULT)
    }

    /// Returns the estimated share of this set that is in the other, with its interval at a
    /// confidence above 0 and below 1.
    ///
    /// The estimate is taken over this set's hashes among the k smallest of the union: the share of
    /// them that the other set has too. If this set is the smaller one, they are fewer than k and
    /// the interval is wider. If there are none, the interval is from 0 to 1.
    ///
    /// The estimate is exact if both sketches are [whole](Self::is_whole), and exactly 0 if a set
    /// is empty.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`](crate::Error::InvalidSetting) for any other confidence.
    pub fn containment_at(&self, other: &BottomK, confidence: f64) -> Result<Estimate> {
        Ok(self.containment_with(other, Confidence::new(confidence)?))
    }

    fn containment_with(&self, other: &BottomK, confidence: Confidence) -> Estimate {
        let sample = sample(self, other);
        share(sample.shared, sample.a, sample.exact, confidence)
    }

    /// Returns the estimated number of distinct elements with its 95 % interval.
    pub fn cardinality(&self) -> Cardinality {
        self.cardinality_with(Confidence::DEFAULT)
    }

    /// Returns the estimated number of distinct elements, with its interval at a confidence above 0
    /// and below 1.
    ///
    /// If the sketch is [whole](Self::is_whole), the number is exact, with `low` = `high`.
    /// Otherwise it is (k - 1) / u, where u is the k-th smallest hash as a share of the range of
    /// hashes. This is unbiased, with a standard error of at most 1/√(k - 2) of the number (Beyer
    /// and others 2007, "On synopses for distinct-value estimation under multiset operations",
    /// section 4).
    ///
    /// If the true number n is many times k, n u follows a gamma law of shape k. The interval uses
    /// the approximation of its quantiles by Wilson and Hilferty (1931). If n is only a few times
    /// k, the interval covers the truth more often than its confidence.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`](crate::Error::InvalidSetting) for any other confidence.
    pub fn cardinality_at(&self, confidence: f64) -> Result<Cardinality> {
        Ok(self.cardinality_with(Confidence::new(confidence)?))
    }

    fn cardinality_with(&self, confidence: Confidence) -> Cardinality {
        let sketch = self.settled();
        let hashes = sketch.hashes();
        let kept = hashes.len() as f64;
        let greatest = match hashes.last() {
            Some(greatest) if !sketch.is_whole() => (*greatest as f64 + 1.0) / 2.0_f64.powi(64),
            _ => return Cardinality { count: kept, low: kept, high: kept },
        };
        let z = confidence.z();
        let at = |z: f64| {
            let root = 1.0 - 1.0 / (9.0 * kept) + z / (3.0 * kept.sqrt());
            // The set has at least one element more than the sketch.
            (kept * root.max(0.0).powi(3) / greatest).max(kept + 1.0)
        };
        let count = ((kept - 1.0) / greatest).max(kept + 1.0);
        Cardinality { count, low: at(-z).min(count), high: at(z).max(count) }
    }
}

/// Samples the k smallest elements of the union, or all of them if both sketches are whole. If one
/// set is empty, the answers are exact even if the other sketch is not whole.
fn sample(a: &BottomK, b: &BottomK) -> Sample {
    let (a, b) = (a.settled(), b.settled());
    // A whole sketch knows all larger elements too, so only the other sketches limit the sample.
    let cut = [&a, &b].into_iter().filter(|sketch| !sketch.is_whole());
    let most = cut.map(|sketch| sketch.size()).min();
    let (of_a, of_b) = (a.hashes(), b.hashes());
    let (mut rest_a, mut rest_b) = (of_a.iter().peekable(), of_b.iter().peekable());
    let exact = most.is_none() || of_a.is_empty() || of_b.is_empty();
    let mut sample = Sample { exact, ..Sample::default() };
    while most.is_none_or(|most| (sample.union as usize) < most) {
        let next = match (rest_a.peek(), rest_b.peek()) {
            (Some(x), Some(y)) => **x.min(y),
            (Some(x), None) | (None, Some(x)) => **x,
            (None, None) => break,
        };
        let in_a = rest_a.next_if_eq(&&next).is_some();
        let in_b = rest_b.next_if_eq(&&next).is_some();
        sample.union += 1;
        sample.a += u32::from(in_a);
        sample.shared += u32::from(in_a && in_b);
    }
    sample
}

fn share(part: u32, all: u32, exact: bool, confidence: Confidence) -> Estimate {
    if all == 0 {
        return Estimate { similarity: 0.0, low: 0.0, high: if exact { 0.0 } else { 1.0 } };
    }
    let similarity = f64::from(part) / f64::from(all);
    let (low, high) =
        if exact { (similarity, similarity) } else { wilson(part, all, confidence.z()) };
    Estimate { similarity, low, high }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn sketch(size: usize, hashes: &[u64]) -> BottomK {
        BottomK::from_hashes(size, hashes.iter().copied()).expect("a valid size")
    }

    fn ratio(part: usize, all: usize) -> f64 {
        if all == 0 { 0.0 } else { part as f64 / all as f64 }
    }

    proptest! {
        #[test]
        fn whole_sets_are_compared_exactly(
            a in proptest::collection::vec(0_u64..100, 0..90),
            b in proptest::collection::vec(0_u64..100, 0..90),
        ) {
            let set = |hashes: &[u64]| hashes.iter().copied().collect::<BTreeSet<u64>>();
            let (x, y) = (set(&a), set(&b));
            let (both, all) = (x.intersection(&y).count(), x.union(&y).count());
            let (a, b) = (sketch(100, &a), sketch(100, &b));
            for (got, expected) in [
                (a.similarity(&b), ratio(both, all)),
                (a.containment(&b), ratio(both, x.len())),
                (b.containment(&a), ratio(both, y.len())),
            ] {
                let got = [got.low, got.similarity, got.high];
                prop_assert_eq!(got, [expected; 3]);
            }
            let size = x.len() as f64;
            let exact = Cardinality { count: size, low: size, high: size };
            prop_assert_eq!(a.cardinality(), exact);
        }

        #[test]
        fn other_sets_are_compared_by_the_smallest_hashes_of_the_union(
            a in proptest::collection::vec(0_u64..400, 0..300),
            b in proptest::collection::vec(0_u64..400, 0..300),
            (of_a, of_b) in (3_usize..50, 3_usize..50),
        ) {
            let set = |hashes: &[u64]| hashes.iter().copied().collect::<BTreeSet<u64>>();
            let (x, y) = (set(&a), set(&b));
            let limits = [(x.len(), of_a), (y.len(), of_b)];
            let limit = limits.iter().filter(|(all, kept)| all > kept).map(|(_, kept)| *kept).min();
            let smallest: Vec<u64> = x.union(&y).copied().take(limit.unwrap_or(400)).collect();
            let both = smallest.iter().filter(|h| x.contains(h) && y.contains(h)).count();
            let in_a = smallest.iter().filter(|h| x.contains(h)).count();
            let (a, b) = (sketch(of_a, &a), sketch(of_b, &b));
            let got = a.similarity(&b);
            prop_assert_eq!(got.similarity, ratio(both, smallest.len()));
            prop_assert_eq!(got, b.similarity(&a));
            prop_assert!(got.low <= got.similarity && got.similarity <= got.high);
            prop_assert_eq!(a.containment(&b).similarity, ratio(both, in_a));
        }
    }

    #[test]
    fn an_unknown_containment_has_the_interval_from_0_to_1() {
        // None of the three smallest is in the first set.
        let (a, b) = (sketch(3, &[100]), sketch(3, &[1, 2, 3, 4]));
        let got = a.containment(&b);
        assert_eq!((got.similarity, got.low, got.high), (0.0, 0.0, 1.0));
        assert_eq!(b.containment(&a).similarity, 0.0);
    }

    #[test]
    fn an_empty_set_shares_exactly_nothing() {
        let (cut, empty) = (sketch(3, &[1, 2, 3, 4]), sketch(3, &[]));
        for got in [
            cut.similarity(&empty),
            empty.similarity(&cut),
            cut.containment(&empty),
            empty.containment(&cut),
        ] {
            assert_eq!((got.similarity, got.low, got.high), (0.0, 0.0, 0.0));
        }
    }

    #[test]
    fn a_count_is_above_the_number_of_hashes_kept() {
        let full = u64::MAX - 1;
        let got = sketch(3, &[full - 3, full - 2, full - 1, full]).cardinality();
        assert_eq!((got.count, got.low), (4.0, 4.0));
        assert!(got.high > 4.0 && got.high < 20.0, "{got:?}");
    }
}
