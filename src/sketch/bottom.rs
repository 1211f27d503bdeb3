//! Bottom-k sketches: the k smallest hashes of a set under one hash function.
//!
//! The k smallest hashes are a random sample of the set. The samples of two sets are coordinated:
//! an element that both sets have is in both samples if it is in that of their union (Broder 1997,
//! "On the resemblance and containment of documents", theorem 1; Cohen, Kaplan 2007, "Summarizing
//! data using bottom-k sketches").

use crate::error::{Error, Result};
use crate::text::{Scratch, Shingler};
use std::borrow::Cow;

/// The k smallest distinct hashes of a set: a sample that merges exactly and estimates similarity,
/// containment and the number of elements.
///
/// A set of at most k elements is kept whole, and all estimates for two such sets are exact. Unlike
/// a [`Signature`](crate::Signature), a bottom-k sketch has no bands: it can be compared, but an
/// index cannot look it up. It takes 8 bytes a hash, and up to as much again while it grows.
///
/// Two sketches can be compared only if [`Shingler`]s of the same settings made their hashes.
///
/// ```
/// use twindex::{BottomK, Normalization, Shingle, Shingler};
/// let shingler = Shingler::new(Shingle::chars(5), Normalization::default(), false, 0)?;
/// let a = BottomK::of_text(256, &shingler, "The quick brown fox jumps over the lazy dog.")?;
/// let b = BottomK::of_text(256, &shingler, "The quick brown fox jumps over the lazy dogs.")?;
/// // Both sketches are whole, so the estimate is exact.
/// let estimate = a.similarity(&b);
/// assert_eq!((estimate.low, estimate.similarity), (39.0 / 42.0, 39.0 / 42.0));
/// assert_eq!(a.cardinality().count, 40.0);
///
/// let mut all = a.clone();
/// all.merge(&b);
/// assert_eq!(all.cardinality().count, 42.0);
/// # Ok::<(), twindex::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct BottomK {
    size: usize,
    /// The smallest hashes at the last merge with `pending`: distinct, ascending, at most `size`.
    least: Vec<u64>,
    /// Hashes added since that may belong to `least`, in any order, with repetitions.
    pending: Vec<u64>,
    /// No hash above this one belongs to `least`.
    bound: u64,
    /// Whether the set has more elements than the sketch keeps.
    cut: bool,
}

impl BottomK {
    /// The least k. With fewer hashes, the standard error of a count is infinite.
    pub const MIN_SIZE: usize = 3;

    /// The greatest k, with 128 MiB of hashes.
    pub const MAX_SIZE: usize = 1 << 24;

    /// Returns the sketch of the empty set, which keeps at most k = `size` hashes.
    ///
    /// The standard error of a similarity J is at most √(J (1 - J) / k). The relative standard
    /// error of a count is at most 1/√(k - 2).
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`] unless `size` is from [`MIN_SIZE`](Self::MIN_SIZE) to
    /// [`MAX_SIZE`](Self::MAX_SIZE).
    pub fn new(size: usize) -> Result<Self> {
        if !(Self::MIN_SIZE..=Self::MAX_SIZE).contains(&size) {
            return Err(Error::InvalidSetting {
                setting: "bottom-k size",
                got: size.to_string(),
                expected: "a whole number from 3 to 16777216",
            });
        }
        Ok(Self { size, least: Vec::new(), pending: Vec::new(), bound: u64::MAX, cut: false })
    }

    /// Returns the sketch of a set that is given by well-mixed 64-bit hashes of its elements. The
    /// hashes may be in any order and repeat.
    ///
    /// # Errors
    ///
    /// Those of [`new`](Self::new).
    pub fn from_hashes(size: usize, hashes: impl IntoIterator<Item = u64>) -> Result<Self> {
        let mut sketch = Self::new(size)?;
        hashes.into_iter().for_each(|hash| sketch.insert(hash));
        sketch.settle();
        Ok(sketch)
    }

    /// Returns the sketch of a text's shingles. The hashes are never all in memory at once.
    ///
    /// # Errors
    ///
    /// Those of [`new`](Self::new).
    pub fn of_text(size: usize, shingler: &Shingler, text: &str) -> Result<Self> {
        let mut sketch = Self::new(size)?;
        let mut scratch = Scratch::default();
        shingler.prepare(text, &mut scratch);
        shingler.visit(&mut scratch, |hashes| hashes.iter().for_each(|hash| sketch.insert(*hash)));
        sketch.settle();
        Ok(sketch)
    }

    /// Adds an element by its hash.
    ///
    /// Most hashes of a large set are above all hashes kept and cost one comparison. The others are
    /// sorted in, k at a time.
    pub fn insert(&mut self, hash: u64) {
        if hash > self.bound {
            self.cut = true;
            return;
        }
        self.pending.push(hash);
        // For small sketches, sorting fewer hashes at a time would cost more.
        if self.pending.len() >= self.size.max(64) {
            self.settle();
        }
    }

    /// Makes this the sketch of the union of both sets. The result is exactly what
    /// [`from_hashes`](Self::from_hashes) returns for all their elements, with the smaller of the
    /// two sizes.
    pub fn merge(&mut self, other: &BottomK) {
        self.size = self.size.min(other.size);
        self.pending.extend(other.least.iter().chain(&other.pending));
        self.cut |= other.cut;
        self.settle();
    }

    /// Returns k, the greatest number of hashes that the sketch keeps.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Returns the k smallest hashes in ascending order, or all hashes if there are fewer.
    pub fn hashes(&self) -> Cow<'_, [u64]> {
        match self.settled() {
            Cow::Borrowed(sketch) => Cow::Borrowed(&sketch.least),
            Cow::Owned(sketch) => Cow::Owned(sketch.least),
        }
    }

    /// Returns whether the sketch holds the whole set, so that estimates are exact.
    pub fn is_whole(&self) -> bool {
        !self.settled().cut
    }

    /// This sketch with all pending hashes sorted in.
    pub(crate) fn settled(&self) -> Cow<'_, BottomK> {
        if self.pending.is_empty() {
            return Cow::Borrowed(self);
        }
        let mut settled = self.clone();
        settled.settle();
        Cow::Owned(settled)
    }

    fn settle(&mut self) {
        self.least.append(&mut self.pending);
        self.least.sort_unstable();
        self.least.dedup();
        self.cut |= self.least.len() > self.size;
        self.least.truncate(self.size);
        if self.least.len() == self.size
            && let Some(last) = self.least.last()
        {
            self.bound = *last;
        }
    }
}

/// Two sketches are equal if they have the same size and keep the same hashes, in whatever order
/// the hashes were added.
impl PartialEq for BottomK {
    fn eq(&self, other: &Self) -> bool {
        let (a, b) = (self.settled(), other.settled());
        (a.size, a.cut, &a.least) == (b.size, b.cut, &b.least)
    }
}

impl Eq for BottomK {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn sketch(size: usize, hashes: &[u64]) -> BottomK {
        BottomK::from_hashes(size, hashes.iter().copied()).expect("a valid size")
    }

    proptest! {
        #[test]
        fn the_sketch_keeps_the_smallest_hashes(
            hashes in proptest::collection::vec(0_u64..500, 0..400),
            size in 3_usize..80,
        ) {
            let set: BTreeSet<u64> = hashes.iter().copied().collect();
            let expected: Vec<u64> = set.iter().copied().take(size).collect();
            let mut grown = BottomK::new(size).expect("a valid size");
            for hash in &hashes {
                grown.insert(*hash);
            }
            prop_assert_eq!(&*grown.hashes(), &expected[..]);
            prop_assert_eq!(grown.is_whole(), set.len() <= size);
            prop_assert_eq!(grown, sketch(size, &set.into_iter().rev().collect::<Vec<_>>()));
        }

        #[test]
        fn the_merged_sketch_is_that_of_the_union(
            a in proptest::collection::vec(0_u64..300, 0..200),
            b in proptest::collection::vec(0_u64..300, 0..200),
            (of_a, of_b) in (3_usize..60, 3_usize..60),
        ) {
            let mut merged = sketch(of_a, &a);
            merged.merge(&sketch(of_b, &b));
            prop_assert_eq!(merged, sketch(of_a.min(of_b), &[a, b].concat()));
        }
    }

    #[test]
    fn merging_includes_the_pending_hashes_of_both_sides() {
        let (mut a, mut b) = (BottomK::new(4).expect("valid"), BottomK::new(4).expect("valid"));
        [5, 1, 9].iter().for_each(|hash| a.insert(*hash));
        [7, 1, 3].iter().for_each(|hash| b.insert(*hash));
        a.merge(&b);
        assert_eq!((&*a.hashes(), a.is_whole()), (&[1, 3, 5, 7][..], false));
        a.insert(u64::MAX);
        a.insert(0);
        assert_eq!(*a.hashes(), [0, 1, 3, 5]);
    }

    #[test]
    fn sizes_out_of_range_are_refused() {
        for bad in [0, 2, BottomK::MAX_SIZE + 1, usize::MAX] {
            assert!(BottomK::new(bad).is_err(), "{bad}");
        }
    }
}
