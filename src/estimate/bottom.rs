//! What bottom-k sketches say of two sets and of one.

use super::interval::{Estimate, wilson};
use crate::error::Result;
use crate::params::Confidence;
use crate::sketch::BottomK;

/// A number of elements with its interval at some confidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cardinality {
    /// The number; a whole one where it is exact.
    pub count: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

/// What is known of two sets: of how many elements of their union, how many are in which.
#[derive(Default)]
struct Sample {
    union: u32,
    a: u32,
    shared: u32,
    /// Whether what they say is exact: they are all there are, or all that could be shared.
    whole: bool,
}

impl BottomK {
    /// The estimated Jaccard similarity of both sets with its 95 % interval.
    pub fn similarity(&self, other: &BottomK) -> Estimate {
        self.similarity_with(other, Confidence::DEFAULT)
    }

    /// The estimated Jaccard similarity of both sets: of the k smallest hashes of their union, the share
    /// of those that both have (Broder 1997, theorem 1), with k the smaller one of both. Unbiased.
    ///
    /// Exact, with `low` = `high`, where both sketches are [whole](Self::is_whole), or one set is empty: then 0. Else the
    /// interval is Wilson's. It takes the k for drawn with replacement, which they are not: it holds the truth as often
    /// as it says where the union is many times k, and more often where it is not. A correction would need
    /// the size of the union, which is an estimate too. Takes some 2k steps.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`](crate::Error::InvalidSetting) for a confidence that is not above 0
    /// and below 1.
    pub fn similarity_at(&self, other: &BottomK, confidence: f64) -> Result<Estimate> {
        Ok(self.similarity_with(other, Confidence::new(confidence)?))
    }

    fn similarity_with(&self, other: &BottomK, confidence: Confidence) -> Estimate {
        let sample = sample(self, other);
        share(sample.shared, sample.union, sample.whole, confidence)
    }

    /// How much of this set is in the other, |A ∩ B| / |A|, with its 95 % interval.
    pub fn containment(&self, other: &BottomK) -> Estimate {
        self.containment_with(other, Confidence::DEFAULT)
    }

    /// How much of this set is in the other: of this set's hashes among the k smallest of the union, the share
    /// of those that the other has too. They are fewer than k where this set is the smaller one, and
    /// the interval is wider, as their number tells: from 0 to 1 where there is none.
    ///
    /// Exact where both sketches are whole, and 0 for certain where a set is empty.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`](crate::Error::InvalidSetting) for a confidence that is not above 0
    /// and below 1.
    pub fn containment_at(&self, other: &BottomK, confidence: f64) -> Result<Estimate> {
        Ok(self.containment_with(other, Confidence::new(confidence)?))
    }

    fn containment_with(&self, other: &BottomK, confidence: Confidence) -> Estimate {
        let sample = sample(self, other);
        share(sample.shared, sample.a, sample.whole, confidence)
    }

    /// The number of distinct elements with its 95 % interval.
    pub fn cardinality(&self) -> Cardinality {
        self.cardinality_with(Confidence::DEFAULT)
    }

    /// The number of distinct elements: exact, with `low` = `high`, where the sketch is
    /// [whole](Self::is_whole); else (k - 1) / u, with u the k-th smallest hash as a share of all hashes,
    /// which is unbiased with a standard error of at most 1/√(k - 2) of the number (Beyer and others 2007, "On
    /// synopses for distinct-value estimation under multiset operations", section 4).
    ///
    /// n u follows a gamma law of shape k where the number n is many times k; the interval is that of
    /// the approximation of its quantiles by Wilson and Hilferty (1931). It holds the truth more often
    /// where n is but a few times k.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`](crate::Error::InvalidSetting) for a confidence that is not above 0
    /// and below 1.
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
            // At least one element more than were kept is there.
            (kept * root.max(0.0).powi(3) / greatest).max(kept + 1.0)
        };
        let count = ((kept - 1.0) / greatest).max(kept + 1.0);
        Cardinality { count, low: at(-z).min(count), high: at(z).max(count) }
    }
}

/// The elements of the union up to the k-th smallest; all of them if no sketch has left out any.
/// An empty set shares nothing, however much is left out of the other.
fn sample(a: &BottomK, b: &BottomK) -> Sample {
    let (a, b) = (a.settled(), b.settled());
    // A whole set is known beyond its sketch: only what was cut limits the sample.
    let cut = [&a, &b].into_iter().filter(|sketch| !sketch.is_whole());
    let most = cut.map(|sketch| sketch.size()).min();
    let (of_a, of_b) = (a.hashes(), b.hashes());
    let (mut rest_a, mut rest_b) = (of_a.iter().peekable(), of_b.iter().peekable());
    let whole = most.is_none() || of_a.is_empty() || of_b.is_empty();
    let mut sample = Sample { whole, ..Sample::default() };
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

fn share(part: u32, all: u32, whole: bool, confidence: Confidence) -> Estimate {
    if all == 0 {
        return Estimate { similarity: 0.0, low: 0.0, high: if whole { 0.0 } else { 1.0 } };
    }
    let similarity = f64::from(part) / f64::from(all);
    let (low, high) = match whole {
        true => (similarity, similarity),
        false => wilson(part, all, confidence.z()),
    };
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
                prop_assert_eq!((got.low, got.similarity, got.high), (expected, expected, expected));
            }
            let size = x.len() as f64;
            let exact = Cardinality { count: size, low: size, high: size };
            prop_assert_eq!(a.cardinality(), exact);
        }

        #[test]
        fn cut_sets_are_compared_by_the_smallest_of_the_union(
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
        // Of the smallest three, none is in the first set.
        let (a, b) = (sketch(3, &[100]), sketch(3, &[1, 2, 3, 4]));
        let got = a.containment(&b);
        assert_eq!((got.similarity, got.low, got.high), (0.0, 0.0, 1.0));
        assert_eq!(b.containment(&a).similarity, 0.0);
    }

    #[test]
    fn an_empty_set_shares_nothing_for_certain() {
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
    fn a_count_is_never_below_what_was_seen() {
        let full = u64::MAX - 1;
        let got = sketch(3, &[full - 3, full - 2, full - 1, full]).cardinality();
        assert_eq!((got.count, got.low), (4.0, 4.0));
        assert!(got.high > 4.0 && got.high < 20.0, "{got:?}");
    }
}
