//! The byte range of each shingle in the raw text.

use super::align::align;
use super::kind::Shingle;
use super::shingle::Shingler;
use super::sourced::{SourcedChar, text_of};
use super::units::{ELEMENT_END, Units, line_normalization};
use crate::error::{Error, Result};
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

/// The byte ranges of the units of a text (characters, words, lines or tokens) in the raw text.
pub(crate) struct UnitPlaces(Vec<(u32, u32)>);

impl UnitPlaces {
    /// The number of units.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The bytes of the raw text from the first unit of a range to the last.
    pub(crate) fn bytes(&self, units: Range<usize>) -> Range<usize> {
        let (first, last) = (self.0[units.start], self.0[units.end - 1]);
        first.0 as usize..last.1 as usize
    }

    /// The byte with which a unit begins; `None` behind the last.
    pub(crate) fn start(&self, unit: usize) -> Option<usize> {
        self.0.get(unit).map(|place| place.0 as usize)
    }
}

/// The shingles of a text with the byte ranges of their units.
pub(crate) struct Located {
    /// The hash of each shingle, in order of appearance, without the ranks of a multiset.
    pub(crate) hashes: Vec<u64>,
    places: UnitPlaces,
    /// The number of units in a shingle. It is below the setting if the text has fewer units.
    width: usize,
}

impl Located {
    /// The number of units.
    #[cfg(test)]
    pub(crate) fn unit_count(&self) -> usize {
        self.places.len()
    }

    /// The units of a range of shingles.
    pub(crate) fn units(&self, shingles: Range<usize>) -> Range<usize> {
        shingles.start..shingles.end + self.width - 1
    }

    /// The bytes of the raw text from the first unit of a range to the last.
    pub(crate) fn bytes(&self, units: Range<usize>) -> Range<usize> {
        self.places.bytes(units)
    }
}

impl Shingler {
    /// Returns the byte range of each shingle in the text as given, before normalisation. The
    /// ranges are in the order of [`hashes`](Self::hashes).
    ///
    /// Ranges begin and end on character boundaries. A range includes all of a run of white space
    /// that was folded, and all letters and accents that were composed. It includes text that was
    /// removed between two of its units, but not text that was removed before the first or after
    /// the last.
    ///
    /// The result takes 16 bytes a shingle. While it works, the method takes about 40 bytes a
    /// character more. It takes several times as long as [`hashes`](Self::hashes).
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
    /// [`Error::InvalidSetting`] for a text of 4 GiB or more, and for k-mers, as a k-mer stands for
    /// both strands.
    pub fn places(&self, text: &str) -> Result<Vec<Range<usize>>> {
        let located = self.locate(text)?;
        let place = |at| located.bytes(located.units(at..at + 1));
        Ok((0..located.hashes.len()).map(place).collect())
    }

    /// The byte ranges of the units of a text.
    ///
    /// # Errors
    ///
    /// Those of [`places`](Self::places).
    pub(crate) fn unit_places(&self, text: &str) -> Result<UnitPlaces> {
        Ok(match self.located_units(text)? {
            CutText::Characters(letters) => UnitPlaces(places_of(&letters)),
            CutText::Units(cut) => UnitPlaces(cut.places),
        })
    }

    /// The shingles of a text with their byte ranges.
    ///
    /// # Errors
    ///
    /// Those of [`places`](Self::places).
    pub(crate) fn locate(&self, text: &str) -> Result<Located> {
        let width = match self.shingle {
            Shingle::Chars(width) | Shingle::Words(width) | Shingle::Lines(width) => width.into(),
            Shingle::Tokens | Shingle::Kmers(_) => 1,
        };
        let cut = match self.located_units(text)? {
            CutText::Characters(letters) => return Ok(self.characters(&letters, width)),
            CutText::Units(cut) => cut,
        };
        let mut hashes = Vec::with_capacity(cut.places.len());
        cut.units.windows(width, |window| hashes.push(self.hasher.hash(window)));
        let width = width.min(cut.places.len());
        Ok(Located { hashes, places: UnitPlaces(cut.places), width })
    }

    /// Cuts a text into units with their byte ranges.
    fn located_units(&self, text: &str) -> Result<CutText> {
        if u32::try_from(text.len()).is_err() {
            return Err(Error::InvalidSetting {
                setting: "text",
                got: format!("of {} bytes", text.len()),
                expected: "less than 4 GiB, to tell where its shingles lie",
            });
        }
        let mut cut = LocatedUnits::default();
        match self.shingle {
            Shingle::Kmers(_) => return Err(no_place(self.shingle)),
            Shingle::Chars(_) => {
                return Ok(CutText::Characters(align(text, 0, &self.normalization)));
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
                        // The range of an empty element is the character that ends it.
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
        Ok(CutText::Units(cut))
    }

    fn characters(&self, letters: &[SourcedChar], width: usize) -> Located {
        let width = width.min(letters.len());
        let text = text_of(letters);
        let bytes = |letter: &SourcedChar| letter.character.len_utf8();
        let mut hashes = Vec::with_capacity(letters.len());
        let (mut start, mut end) = (0, letters[..width].iter().map(bytes).sum::<usize>());
        let next = letters[width..].iter().map(Some).chain([None]);
        for (first, next) in letters.iter().zip(next) {
            hashes.push(self.hasher.hash(&text.as_bytes()[start..end]));
            start += bytes(first);
            end += next.map_or(0, bytes);
        }
        Located { hashes, places: UnitPlaces(places_of(letters)), width }
    }
}

/// A text in units.
enum CutText {
    Characters(Vec<SourcedChar>),
    Units(LocatedUnits),
}

fn places_of(letters: &[SourcedChar]) -> Vec<(u32, u32)> {
    letters.iter().map(|letter| (letter.start, letter.end)).collect()
}

/// A shared k-mer can lie on the other strand and run backwards there, so k-mers have no places.
fn no_place(shingle: Shingle) -> Error {
    Error::InvalidSetting {
        setting: "shingle",
        got: shingle.to_string(),
        expected: "char:N, word:N, line:N or token, to tell where shingles lie",
    }
}

/// The parts of a text, each with its offset. Every `end` ends a part; the last part needs none.
fn parts(text: &str, end: char) -> impl Iterator<Item = (&str, usize)> {
    let mut offset = 0;
    text.split_terminator(end).map(move |part| {
        let start = offset;
        offset += part.len() + end.len_utf8();
        (part, start)
    })
}

/// The units of a text and their byte ranges in the raw text.
#[derive(Default)]
struct LocatedUnits {
    units: Units,
    places: Vec<(u32, u32)>,
}

impl LocatedUnits {
    /// Adds a unit of these characters, unless there are none.
    fn push(&mut self, letters: &[SourcedChar], separator: char) {
        if let (Some(first), Some(last)) = (letters.first(), letters.last()) {
            self.units.push(&text_of(letters), separator);
            self.places.push((first.start, last.end));
        }
    }

    /// Adds an empty element, whose end is at `offset`.
    fn push_empty(&mut self, offset: usize) {
        self.units.push("", ' ');
        self.places.push((offset as u32, offset as u32 + 1));
    }

    /// Adds the words (UAX #29). If there are none, adds all that is not white space as one unit.
    fn words(&mut self, letters: &[SourcedChar]) {
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
            let is_space = |letter: &SourcedChar| letter.character.is_whitespace();
            let first = letters.iter().position(|letter| !is_space(letter));
            let last = letters.iter().rposition(|letter| !is_space(letter));
            if let Some((first, last)) = first.zip(last) {
                self.push(&letters[first..=last], ' ');
            }
        }
    }
}

/// Converts byte offsets of a text to character offsets.
pub(crate) struct CharOffsets<'t> {
    text: &'t str,
    /// The number of characters that begin before each multiple of [`STEP`] bytes.
    before: Vec<usize>,
}

/// The distance between the stored offsets, in bytes. A conversion examines fewer bytes than this,
/// which costs little more than finding the stored offset.
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

/// The number of bytes with which a character begins.
fn first_bytes(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| !matches!(byte, 0x80..0xC0)).count()
}

#[cfg(test)]
#[path = "positions_tests.rs"]
mod tests;
