//! Where in the raw text each shingle lies.

use super::align::{Letter, align, text_of};
use super::shingle::{Shingle, Shingler};
use super::units::{ELEMENT_END, Units, line_normalization};
use crate::error::{Error, Result};
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

/// The shingles of a text with the places of their units in the raw text.
pub(crate) struct Located {
    /// Of each shingle, in order of appearance; ranks of a multiset are left out.
    pub(crate) hashes: Vec<u64>,
    /// From which byte to which each character, word, line or token goes.
    units: Vec<(u32, u32)>,
    /// The units of a shingle; fewer than the setting says where the text has fewer.
    width: usize,
}

impl Located {
    /// The units that consecutive shingles are made of.
    pub(crate) fn units(&self, shingles: Range<usize>) -> Range<usize> {
        shingles.start..shingles.end + self.width - 1
    }

    /// The bytes of the raw text from the first of some units to the last.
    pub(crate) fn bytes(&self, units: Range<usize>) -> Range<usize> {
        let (first, last) = (self.units[units.start], self.units[units.end - 1]);
        first.0 as usize..last.1 as usize
    }
}

impl Shingler {
    /// The places of the shingles of a text, in the order of [`hashes`](Self::hashes): from which byte
    /// to which of the text as it was given, before normalisation.
    ///
    /// They are on boundaries of characters. White space that was folded belongs to the shingle as a
    /// whole, and so do the letter and the accents that were composed; what was dropped between two
    /// units lies within, what was dropped around the shingle outside. Takes 16 bytes a shingle, and
    /// some 40 a character meanwhile; several times as long as the hashes alone.
    ///
    /// ```
    /// use twindex::{Normalization, Shingle, Shingler};
    /// let words = Shingler::new(Shingle::words(2), Normalization::default(), false, 0)?;
    /// let text = "Un  CAFE\u{301}, noir";
    /// let shown: Vec<&str> = words.places(text)?.into_iter().map(|place| &text[place]).collect();
    /// assert_eq!(shown, ["Un  CAFE\u{301}", "CAFE\u{301}, noir"]);
    /// assert_eq!(words.hashes(text), words.hashes("un café noir"));
    /// # Ok::<(), twindex::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`] for a text of 4 GiB or more, and for k-mers, which are those of both
    /// strands at once.
    pub fn places(&self, text: &str) -> Result<Vec<Range<usize>>> {
        let located = self.locate(text)?;
        let place = |at| located.bytes(located.units(at..at + 1));
        Ok((0..located.hashes.len()).map(place).collect())
    }

    /// The shingles of a text with their places.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`] for a text of 4 GiB or more, and for k-mers, which are those of both
    /// strands at once.
    pub(crate) fn locate(&self, text: &str) -> Result<Located> {
        if u32::try_from(text.len()).is_err() {
            return Err(Error::InvalidSetting {
                setting: "text",
                got: format!("of {} bytes", text.len()),
                expected: "less than 4 GiB, to tell where its shingles lie",
            });
        }
        let mut cut = Cut::default();
        match self.shingle {
            Shingle::Kmers(_) => return Err(no_place(self.shingle)),
            Shingle::Chars(width) => {
                let letters = align(text, 0, &self.normalization);
                return Ok(self.characters(&letters, width.into()));
            }
            Shingle::Words(_) => cut.words(&align(text, 0, &self.normalization)),
            Shingle::Lines(_) => {
                let normalization = line_normalization(&self.normalization);
                for (line, offset) in parts(text, '\n') {
                    cut.push(&align(line, offset, &normalization), '\n');
                }
            }
            Shingle::Tokens if text.contains(ELEMENT_END) => {
                for (element, offset) in parts(text, ELEMENT_END) {
                    match element {
                        // The end after it is all that there is of it.
                        "" => cut.push_empty(offset),
                        _ => cut.push(&align(element, offset, &self.normalization), ' '),
                    }
                }
            }
            Shingle::Tokens => {
                let letters = align(text, 0, &self.normalization);
                for token in letters.split(|letter| letter.character.is_whitespace()) {
                    cut.push(token, ' ');
                }
            }
        }
        let width = match self.shingle {
            Shingle::Chars(width) | Shingle::Words(width) | Shingle::Lines(width) => width.into(),
            Shingle::Tokens | Shingle::Kmers(_) => 1,
        };
        let mut hashes = Vec::with_capacity(cut.places.len());
        cut.units.windows(width, |window| hashes.push(self.hasher.hash(window)));
        let width = width.min(cut.places.len());
        Ok(Located { hashes, units: cut.places, width })
    }

    fn characters(&self, letters: &[Letter], width: usize) -> Located {
        let units: Vec<(u32, u32)> =
            letters.iter().map(|letter| (letter.start, letter.end)).collect();
        let width = width.min(letters.len());
        let text = text_of(letters);
        let bytes = |letter: &Letter| letter.character.len_utf8();
        let mut hashes = Vec::with_capacity(letters.len());
        let (mut start, mut end) = (0, letters[..width].iter().map(bytes).sum::<usize>());
        let next = letters[width..].iter().map(Some).chain([None]);
        for (first, next) in letters.iter().zip(next) {
            hashes.push(self.hasher.hash(&text.as_bytes()[start..end]));
            start += bytes(first);
            end += next.map_or(0, bytes);
        }
        Located { hashes, units, width }
    }
}

/// K-mers that are shared may lie on the other strand and run backwards there.
fn no_place(shingle: Shingle) -> Error {
    Error::InvalidSetting {
        setting: "shingle",
        got: shingle.to_string(),
        expected: "char:N, word:N, line:N or token, to tell where shingles lie",
    }
}

/// What lies between the ends, each with where it begins; nothing after the last end.
fn parts(text: &str, end: char) -> impl Iterator<Item = (&str, usize)> {
    let mut offset = 0;
    text.split_terminator(end).map(move |part| {
        let start = offset;
        offset += part.len() + end.len_utf8();
        (part, start)
    })
}

/// The units of a text and their places.
#[derive(Default)]
struct Cut {
    units: Units,
    places: Vec<(u32, u32)>,
}

impl Cut {
    /// A unit of these letters, unless there are none.
    fn push(&mut self, letters: &[Letter], separator: char) {
        if let (Some(first), Some(last)) = (letters.first(), letters.last()) {
            self.units.push(&text_of(letters), separator);
            self.places.push((first.start, last.end));
        }
    }

    /// An element that is empty but for its end.
    fn push_empty(&mut self, offset: usize) {
        self.units.push("", ' ');
        self.places.push((offset as u32, offset as u32 + 1));
    }

    /// The words (UAX #29); where there are only signs, all of them as one.
    fn words(&mut self, letters: &[Letter]) {
        let text = text_of(letters);
        let (mut at, mut byte) = (0, 0);
        let mut letter_at = |target: usize| {
            while byte < target {
                byte += letters[at].character.len_utf8();
                at += 1;
            }
            at
        };
        for (start, word) in text.unicode_word_indices() {
            let first = letter_at(start);
            let end = letter_at(start + word.len());
            self.push(&letters[first..end], ' ');
        }
        if self.places.is_empty() {
            let is_space = |letter: &Letter| letter.character.is_whitespace();
            let first = letters.iter().position(|letter| !is_space(letter));
            let last = letters.iter().rposition(|letter| !is_space(letter));
            if let Some((first, last)) = first.zip(last) {
                self.push(&letters[first..=last], ' ');
            }
        }
    }
}

/// From places in bytes to places in characters.
pub(crate) struct CharOffsets<'t> {
    text: &'t str,
    /// The characters that begin before every so many bytes.
    before: Vec<usize>,
}

/// So few bytes are counted for a place that it costs little more than finding them.
const STEP: usize = 256;

impl<'t> CharOffsets<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        let mut count = 0;
        let before = text.as_bytes().chunks(STEP).map(|chunk| {
            let here = count;
            count += first_bytes(chunk);
            here
        });
        Self { text, before: before.collect() }
    }

    /// The number of characters (Unicode scalar values) that begin before a byte.
    pub(crate) fn at(&self, byte: usize) -> usize {
        let step = (byte / STEP).min(self.before.len().saturating_sub(1));
        let before = self.before.get(step).copied().unwrap_or(0);
        before + first_bytes(&self.text.as_bytes()[step * STEP..byte])
    }
}

/// The bytes with which a character begins.
fn first_bytes(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| !matches!(byte, 0x80..0xC0)).count()
}

#[cfg(test)]
#[path = "positions_tests.rs"]
mod tests;
