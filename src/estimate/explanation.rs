//! What two texts have in common: the passages that their shared shingles make, with their places.

use super::exact::Overlap;
use super::suffixes::longest_matches;
use crate::error::{Error, Result};
use crate::text::{CharOffsets, Located, Shingler};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// A stretch of a text, in bytes of its UTF-8 and in characters (Unicode scalar values), both from 0.
/// Its ends are on boundaries of characters, and it is never empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
    /// The first character.
    pub char_start: usize,
    /// The character after the last.
    pub char_end: usize,
}

impl Span {
    /// The bytes, to take the stretch out of its text.
    pub const fn bytes(self) -> Range<usize> {
        self.start..self.end
    }
}

/// A stretch of one text that is, but for normalisation, a stretch of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Passage {
    /// Where it is in the first text.
    pub a: Span,
    /// Where it is in the second.
    pub b: Span,
    /// How many consecutive shingles of both it is made of, at least 1.
    pub shingles: usize,
}

/// Why two texts are similar: their shared passages, and how much of each these are.
///
/// A passage is a longest run of consecutive shingles of the first text that occurs in the second.
/// The first text is gone through from its beginning. Where a shingle that no passage has covered so far
/// occurs in the second, the longest run from there on is the next passage; of equally long ones, the
/// first in the second text. So every shared shingle of the first text lies in passages, and
/// passages of the first text do not overlap: where consecutive ones share characters (neighbouring
/// shingles do), the later one begins after what the earlier has, in both texts. In the second text they may
/// come in any order, and overlap where the first text repeats itself.
///
/// ```
/// use twindex::{Explanation, Normalization, Shingle, Shingler};
/// let words = Shingler::new(Shingle::words(3), Normalization::default(), false, 0)?;
/// let a = "He wrote: it was the best of times, and so on.";
/// let b = "It was  the BEST of times, it was the worst of times.";
/// let explanation = Explanation::new(&words, a, b)?;
/// let [passage] = explanation.passages[..] else { panic!("one passage") };
/// assert_eq!(&a[passage.a.bytes()], "it was the best of times");
/// assert_eq!(&b[passage.b.bytes()], "It was  the BEST of times");
/// assert_eq!(passage.shingles, 4);
/// assert_eq!(explanation.overlap.shared, 4);
/// assert_eq!(explanation.share_of_a(), 24.0 / 46.0);
/// # Ok::<(), twindex::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The shared passages, in the order of the first text.
    pub passages: Vec<Passage>,
    /// The exact sizes of both sets of shingles and of what they share; of multisets where the
    /// shingler counts repetitions.
    pub overlap: Overlap,
    /// Characters of the first text that lie in passages.
    pub covered_a: usize,
    /// Characters of the second text that lie in passages.
    pub covered_b: usize,
    /// All characters of the first text.
    pub chars_a: usize,
    /// All characters of the second text.
    pub chars_b: usize,
}

impl Explanation {
    /// Explains what two texts share under the settings of a shingler. Repetitions are no shingles of
    /// their own here, also where it counts them: only `overlap` is then that of multisets.
    ///
    /// Time and memory are linear in the length of both texts, however often they repeat themselves;
    /// some 60 bytes a shingle.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`] where a text has 4 GiB or more, or both together more than four
    /// billion shingles.
    pub fn new(shingler: &Shingler, a: &str, b: &str) -> Result<Self> {
        let (of_a, of_b) = (shingler.locate(a)?, shingler.locate(b)?);
        let shingles = of_a.hashes.len() + of_b.hashes.len();
        if shingles >= u32::MAX as usize - 2 {
            return Err(Error::InvalidSetting {
                setting: "texts",
                got: format!("of {shingles} shingles"),
                expected: "fewer than 2^32 to find shared passages; explain parts of them",
            });
        }
        let (offsets_a, offsets_b) = (CharOffsets::new(a), CharOffsets::new(b));
        let passages: Vec<Passage> = runs(&of_a, &of_b)
            .map(|(a, b, shingles)| Passage {
                a: span(&offsets_a, a),
                b: span(&offsets_b, b),
                shingles,
            })
            .collect();
        Ok(Self {
            overlap: overlap(shingler, a, b),
            covered_a: covered(passages.iter().map(|passage| passage.a).collect()),
            covered_b: covered(passages.iter().map(|passage| passage.b).collect()),
            chars_a: offsets_a.at(a.len()),
            chars_b: offsets_b.at(b.len()),
            passages,
        })
    }

    /// The share of the first text's characters that lie in passages; 0 of an empty one.
    pub fn share_of_a(&self) -> f64 {
        share(self.covered_a, self.chars_a)
    }

    /// The share of the second text's characters that lie in passages; 0 of an empty one.
    pub fn share_of_b(&self) -> f64 {
        share(self.covered_b, self.chars_b)
    }
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

fn overlap(shingler: &Shingler, a: &str, b: &str) -> Overlap {
    let elements = |text| {
        let mut hashes = shingler.hashes(text);
        hashes.sort_unstable();
        // Of a multiset every occurrence is another element.
        hashes.dedup();
        hashes
    };
    Overlap::of_sets(&elements(a), &elements(b))
}

fn span(offsets: &CharOffsets<'_>, bytes: Range<usize>) -> Span {
    Span {
        start: bytes.start,
        end: bytes.end,
        char_start: offsets.at(bytes.start),
        char_end: offsets.at(bytes.end),
    }
}

/// The bytes of both texts and the shingles of each passage.
fn runs<'l>(
    a: &'l Located,
    b: &'l Located,
) -> impl Iterator<Item = (Range<usize>, Range<usize>, usize)> + 'l {
    let (names_a, names_b, most) = numbered(&a.hashes, &b.hashes);
    let matches = longest_matches(&names_a, &names_b, most);
    let mut at = 0;
    let starts = std::iter::from_fn(move || {
        at += matches.get(at..)?.iter().position(|(length, _)| *length > 0)?;
        let (length, place) = (matches[at].0 as usize, matches[at].1 as usize);
        at += length;
        Some((at - length..at, place..place + length))
    });
    // Units and bytes of the first text that are covered so far.
    let (mut units, mut bytes) = (0_usize, 0_usize);
    starts.filter_map(move |(in_a, in_b)| {
        let shingles = in_a.len();
        let (mut of_a, mut of_b) = (a.units(in_a), b.units(in_b));
        let again = units.saturating_sub(of_a.start).min(of_a.len().min(of_b.len()) - 1);
        of_a.start += again;
        of_b.start += again;
        units = of_a.end;
        let (mut of_a, of_b) = (a.bytes(of_a), b.bytes(of_b));
        // Two units can come from one character, as those of a ligature do.
        of_a.start = of_a.start.max(bytes);
        bytes = of_a.end;
        (!of_a.is_empty()).then_some((of_a, of_b, shingles))
    })
}

/// Small numbers for hashes: one each for those that both have, and for the others one that only this
/// side has; with the greatest.
fn numbered(a: &[u64], b: &[u64]) -> (Vec<u32>, Vec<u32>, u32) {
    const ONLY_A: u32 = 1;
    const ONLY_B: u32 = 2;
    let mut most = ONLY_B;
    let mut of_b: FxHashMap<u64, u32> = b.iter().map(|hash| (*hash, ONLY_B)).collect();
    let names_a = a.iter().map(|hash| {
        let Some(name) = of_b.get_mut(hash) else { return ONLY_A };
        if *name == ONLY_B {
            most += 1;
            *name = most;
        }
        *name
    });
    let names_a = names_a.collect();
    let names_b = b.iter().map(|hash| of_b.get(hash).copied().unwrap_or(ONLY_B)).collect();
    (names_a, names_b, most)
}

/// How many characters lie in at least one of these.
fn covered(mut spans: Vec<Span>) -> usize {
    spans.sort_unstable_by_key(|span| span.char_start);
    let mut end = 0;
    let new = spans.iter().map(|span| {
        let start = span.char_start.max(end);
        end = end.max(span.char_end);
        end - start.min(end)
    });
    new.sum()
}

#[cfg(test)]
#[path = "explanation_tests.rs"]
mod tests;
