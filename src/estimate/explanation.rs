//! Explanations of a similarity: the passages that two texts share, with their positions.

use super::exact::Overlap;
use super::shared::covered;
use super::suffixes::longest_matches;
use crate::error::{Error, Result};
use crate::text::{CharOffsets, Located, Shingler};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// A range of a text, in bytes of UTF-8 and in characters (Unicode scalar values), both counted
/// from
/// 0. It is never empty and begins and ends on character boundaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    /// The position of the first byte.
    pub start: usize,
    /// The position after the last byte.
    pub end: usize,
    /// The position of the first character.
    pub char_start: usize,
    /// The position after the last character.
    pub char_end: usize,
}

impl Span {
    /// Returns the range of bytes, to slice the text with.
    pub const fn bytes(self) -> Range<usize> {
        self.start..self.end
    }

    /// The span of a range of bytes.
    pub(crate) fn of(offsets: &CharOffsets<'_>, bytes: Range<usize>) -> Self {
        Self {
            start: bytes.start,
            end: bytes.end,
            char_start: offsets.at(bytes.start),
            char_end: offsets.at(bytes.end),
        }
    }
}

/// A stretch of one text that occurs in the other, after normalisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Passage {
    /// Its range in the first text.
    pub a: Span,
    /// Its range in the second text.
    pub b: Span,
    /// The number of consecutive shingles that it is made of, at least 1.
    pub shingles: usize,
}

/// An explanation of why two texts are similar: their shared passages, and the share of each text
/// that lies in passages.
///
/// A passage is a longest run of consecutive shingles of the first text that occurs in the second.
/// The search goes through the first text from its beginning. At the first shingle that no passage
/// covers yet and that occurs in the second text, the longest run from there on is the next
/// passage. Of several places in the second text, the first is taken.
///
/// So every shared shingle of the first text lies in passages. Passages of the first text do not
/// overlap: neighbouring shingles share characters, so the later of two such passages is cut, in
/// both texts, to begin after the earlier one. In the second text, passages may come in any order,
/// and overlap if the first text repeats itself.
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
    /// The exact sizes of both sets of shingles and of their intersection; of multisets if the
    /// shingler is one of multisets.
    pub overlap: Overlap,
    /// The number of characters of the first text that lie in passages.
    pub covered_a: usize,
    /// The number of characters of the second text that lie in passages.
    pub covered_b: usize,
    /// The number of all characters of the first text.
    pub chars_a: usize,
    /// The number of all characters of the second text.
    pub chars_b: usize,
    /// The first text, without the white space at its ends if that is no part of any shingle.
    whole_a: Span,
    /// The same of the second text.
    whole_b: Span,
    /// What lies between the same passages of both texts and is equal, such as a full stop between
    /// words: the number of passages before it, and its ranges.
    equal_between: Vec<(usize, Span, Span)>,
}

impl Explanation {
    /// Explains what two texts share under the settings of a shingler.
    ///
    /// Passages do not depend on whether the shingler is one of multisets; `overlap` does. Time and
    /// memory are linear in the length of both texts, even if they are highly repetitive. The
    /// memory is about 60 bytes a shingle.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`] if a text has 4 GiB or more, if both together have more than four
    /// billion shingles, or if the shingles are k-mers.
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
                a: Span::of(&offsets_a, a),
                b: Span::of(&offsets_b, b),
                shingles,
            })
            .collect();
        let whole_a = Span::of(&offsets_a, compared(shingler, a));
        let whole_b = Span::of(&offsets_b, compared(shingler, b));
        let mut equal_between = between(&passages, whole_a, whole_b);
        equal_between.retain(|(_, of_a, of_b)| a[of_a.bytes()] == b[of_b.bytes()]);
        Ok(Self {
            overlap: overlap(shingler, a, b),
            covered_a: covered_chars(passages.iter().map(|passage| passage.a)),
            covered_b: covered_chars(passages.iter().map(|passage| passage.b)),
            chars_a: offsets_a.at(a.len()),
            chars_b: offsets_b.at(b.len()),
            whole_a,
            whole_b,
            equal_between,
            passages,
        })
    }

    /// Leaves out passages with fewer characters in either text, which may be coincidences. The
    /// shares count only those that stay; the similarity does not change.
    ///
    /// ```
    /// use twindex::{Explanation, Normalization, Shingle, Shingler};
    /// let words = Shingler::new(Shingle::words(2), Normalization::default(), false, 0)?;
    /// let a = "of the best of times, of the worst of times";
    /// let explanation = Explanation::new(&words, a, "the best of times and of the rest")?;
    /// let long = explanation.clone().without_shorter(10);
    /// assert_eq!((explanation.passages.len(), long.passages.len()), (4, 1));
    /// assert_eq!(&a[long.passages[0].a.bytes()], "best of times");
    /// # Ok::<(), twindex::Error>(())
    /// ```
    pub fn without_shorter(mut self, chars: usize) -> Self {
        let length = |span: Span| span.char_end - span.char_start;
        let stays = |found: &Passage| length(found.a).min(length(found.b)) >= chars;
        // What lies beside a passage that goes is not between the same passages any more.
        let goes = |at: Option<usize>| {
            at.and_then(|at| self.passages.get(at)).is_some_and(|found| !stays(found))
        };
        self.equal_between.retain_mut(|(before, ..)| {
            let kept = !goes(before.checked_sub(1)) && !goes(Some(*before));
            *before = self.passages[..*before].iter().filter(|found| stays(found)).count();
            kept
        });
        self.passages.retain(stays);
        self.covered_a = covered_chars(self.passages.iter().map(|passage| passage.a));
        self.covered_b = covered_chars(self.passages.iter().map(|passage| passage.b));
        self
    }

    /// The parts of the first text that lie in no passage, in order. What is equal between the same
    /// passages of both texts, such as a full stop between words, is no difference. White space at
    /// its ends is left out, unless it is part of shingles.
    ///
    /// ```
    /// use twindex::{Explanation, Normalization, Shingle, Shingler};
    /// let words = Shingler::new(Shingle::words(2), Normalization::default(), false, 0)?;
    /// let (a, b) = ("it was the best of times", "it was the worst of times");
    /// let explanation = Explanation::new(&words, a, b)?;
    /// let [differs] = explanation.differences_in_a()[..] else { panic!("one part") };
    /// assert_eq!(&a[differs.bytes()], " best ");
    /// let [differs] = explanation.differences_in_b()[..] else { panic!("one part") };
    /// assert_eq!(&b[differs.bytes()], " worst ");
    /// # Ok::<(), twindex::Error>(())
    /// ```
    pub fn differences_in_a(&self) -> Vec<Span> {
        let shared = self.passages.iter().map(|passage| passage.a);
        let equal = self.equal_between.iter().map(|(_, of_a, _)| *of_a);
        outside(shared.chain(equal).collect(), self.whole_a)
    }

    /// The parts of the second text that lie in no passage, as of the first.
    pub fn differences_in_b(&self) -> Vec<Span> {
        let shared = self.passages.iter().map(|passage| passage.b);
        let equal = self.equal_between.iter().map(|(.., of_b)| *of_b);
        outside(shared.chain(equal).collect(), self.whole_b)
    }

    /// Returns the share of the first text's characters that lie in passages; 0 if it is empty.
    pub fn share_of_a(&self) -> f64 {
        share(self.covered_a, self.chars_a)
    }

    /// Returns the share of the second text's characters that lie in passages; 0 if it is empty.
    pub fn share_of_b(&self) -> f64 {
        share(self.covered_b, self.chars_b)
    }
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

fn overlap(shingler: &Shingler, a: &str, b: &str) -> Overlap {
    Overlap::of_sets(&shingler.set(a), &shingler.set(b))
}

/// The byte ranges in both texts and the number of shingles of each passage.
fn runs<'l>(
    a: &'l Located,
    b: &'l Located,
) -> impl Iterator<Item = (Range<usize>, Range<usize>, usize)> + 'l {
    let (names_a, names_b, most) = numbered(&a.hashes, &b.hashes);
    // The length and the place in the second text of the longest run at each shingle of the first.
    let matches = longest_matches(&names_a, &names_b, most);
    let mut at = 0;
    let starts = std::iter::from_fn(move || {
        at += matches.get(at..)?.iter().position(|(length, _)| *length > 0)?;
        let (length, place) = (matches[at].0 as usize, matches[at].1 as usize);
        at += length;
        Some((at - length..at, place..place + length))
    });
    // The numbers of units and bytes of the first text that passages cover so far.
    let (mut units, mut bytes) = (0_usize, 0_usize);
    starts.filter_map(move |(in_a, in_b)| {
        let shingles = in_a.len();
        let (mut of_a, mut of_b) = (a.units(in_a), b.units(in_b));
        let covered = units.saturating_sub(of_a.start).min(of_a.len().min(of_b.len()) - 1);
        of_a.start += covered;
        of_b.start += covered;
        units = of_a.end;
        let (mut of_a, of_b) = (a.bytes(of_a), b.bytes(of_b));
        // Two units can come from one character, such as a ligature.
        of_a.start = of_a.start.max(bytes);
        bytes = of_a.end;
        (!of_a.is_empty()).then_some((of_a, of_b, shingles))
    })
}

/// Maps hashes to small numbers, and returns the greatest number. Each hash that both sides have
/// gets a number of its own. The hashes that only one side has share one number per side.
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

/// What is compared of a text: all but white space at its ends, unless that is part of shingles.
fn compared(shingler: &Shingler, text: &str) -> Range<usize> {
    if shingler.has_ends() {
        return 0..text.len();
    }
    let start = text.len() - text.trim_start().len();
    start..text.trim_end().len().max(start)
}

/// What lies before, between and behind the passages in both texts, where these follow each other
/// in the second text too: the number of passages before it, and its ranges.
fn between(passages: &[Passage], whole_a: Span, whole_b: Span) -> Vec<(usize, Span, Span)> {
    let gap = |from: Span, to: Span| {
        let (start, char_start) = (from.end, from.char_end);
        let (end, char_end) = (to.start, to.char_start);
        (start <= end).then_some(Span { start, end, char_start, char_end })
    };
    // The ends of both texts, as passages without a length.
    let before = |span: Span| Span { end: span.start, char_end: span.char_start, ..span };
    let behind = |span: Span| Span { start: span.end, char_start: span.char_end, ..span };
    let first = [(before(whole_a), before(whole_b))].into_iter();
    let last = [(behind(whole_a), behind(whole_b))];
    let all = passages.iter().map(|passage| (passage.a, passage.b));
    let all: Vec<(Span, Span)> = first.chain(all).chain(last).collect();
    let gaps = all.windows(2).enumerate().filter_map(|(before, two)| {
        let [(from_a, from_b), (to_a, to_b)] = *two else { return None };
        Some((before, gap(from_a, to_a)?, gap(from_b, to_b)?))
    });
    gaps.collect()
}

/// The parts of a text that lie in none of the spans, in order.
fn outside(mut spans: Vec<Span>, whole: Span) -> Vec<Span> {
    spans.sort_unstable_by_key(|span| span.start);
    let last = Span { start: whole.end, char_start: whole.char_end, ..whole };
    let (mut start, mut char_start) = (whole.start, whole.char_start);
    let mut found = Vec::new();
    for span in spans.into_iter().chain([last]) {
        if start < span.start {
            let (end, char_end) = (span.start, span.char_start);
            found.push(Span { start, end, char_start, char_end });
        }
        // Spans of the second text may overlap.
        (start, char_start) = (start.max(span.end), char_start.max(span.char_end));
    }
    found
}

/// The number of characters that lie in at least one span.
fn covered_chars(spans: impl Iterator<Item = Span>) -> usize {
    covered(spans.map(|span| span.char_start..span.char_end).collect())
}

#[cfg(test)]
#[path = "explanation_tests.rs"]
mod tests;
