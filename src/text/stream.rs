//! Shingling a text that comes as bytes, piece by piece, in bounded memory: the same hashes, each as often,
//! as shingling the text as a whole.
//!
//! Bytes become characters, those a normalised text up to the last place where it can be cut, and that text
//! shingles up to the last that is whole. What is unfinished on each of these ways is carried over.

use super::joining::Joining;
use super::kmer::Letters;
use super::normalize::Normalization;
use super::shingle::{PADDING, Scratch, Shingle, Shingler};
use super::units::{ELEMENT_END, line_normalization};
use crate::error::{Error, Result};
use std::fmt;
use std::str;
use unicode_segmentation::UnicodeSegmentation;

/// Takes a text as it comes and hands over the hashes of its shingles, repetitions included.
pub struct ShingleStream {
    shingler: Shingler,
    /// The most bytes of a word, a line, or anything else that must be there as a whole.
    most: usize,
    /// Bytes that came and are not taken, and how many were before them.
    bytes: Vec<u8>,
    before: u64,
    /// So many bytes are looked at again.
    want: usize,
    way: Way,
    /// What is unfinished: text, units or letters; and buffers.
    scratch: Scratch,
    /// Whether there was any shingle.
    any: bool,
}

impl fmt::Debug for ShingleStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShingleStream")
            .field("shingler", &self.shingler)
            .field("most", &self.most)
            .finish_non_exhaustive()
    }
}

/// From raw text to what shingles are made of.
enum Way {
    Characters(Joining),
    Words(Joining, Signs),
    Lines(Normalization),
    /// It is open whether [`ELEMENT_END`] ends the elements of a set, or white space does.
    Unknown,
    Tokens(Joining),
    Elements,
    Letters(Letters),
}

/// A text without any word is one shingle.
#[derive(Default)]
struct Signs {
    any_word: bool,
    text: String,
    too_long: bool,
}

impl ShingleStream {
    /// So many parts of the longest word are looked at together.
    const PIECES: usize = 8;

    /// A stream of a text of which no word, line, token or stretch without white space has more bytes
    /// than `most`. Takes some ten times as much memory at the most, mostly less than twice.
    pub fn new(shingler: &Shingler, most: usize) -> Self {
        let shingler = Shingler { multiset: false, ..shingler.clone() };
        let joining = Joining::new(shingler.normalization);
        let way = match shingler.shingle {
            Shingle::Chars(_) => Way::Characters(joining),
            Shingle::Words(_) => Way::Words(joining, Signs::default()),
            Shingle::Lines(_) => Way::Lines(line_normalization(&shingler.normalization)),
            Shingle::Tokens => Way::Unknown,
            Shingle::Kmers(_) => Way::Letters(Letters::default()),
        };
        Self {
            shingler,
            most,
            bytes: Vec::new(),
            before: 0,
            want: most / Self::PIECES,
            way,
            scratch: Scratch::default(),
            any: false,
        }
    }

    /// Takes the next bytes of the text, as many as there are.
    ///
    /// # Errors
    ///
    /// [`Error::NotUtf8`], and [`Error::NoRoom`] for what is longer than it may be. Nothing more can be
    /// taken afterwards.
    pub fn take(&mut self, bytes: &[u8], sink: &mut dyn FnMut(&[u64])) -> Result<()> {
        for some in bytes.chunks((self.most / Self::PIECES).max(1)) {
            self.bytes.extend_from_slice(some);
            if self.bytes.len() >= self.want {
                self.go_on(false, sink)?;
            }
        }
        Ok(())
    }

    /// Bytes of its buffers.
    pub fn memory(&self) -> usize {
        let joined = match &self.way {
            Way::Characters(joining) | Way::Words(joining, _) | Way::Tokens(joining) => {
                joining.memory()
            }
            _ => 0,
        };
        let Scratch { text, units, letters, .. } = &self.scratch;
        self.bytes.capacity() + joined + text.capacity() + units.len().1 + letters.capacity()
    }

    /// Ends the text. Nothing more can be taken afterwards.
    ///
    /// # Errors
    ///
    /// As those of [`ShingleStream::take`].
    pub fn end(&mut self, sink: &mut dyn FnMut(&[u64])) -> Result<()> {
        if matches!(self.way, Way::Unknown) {
            self.go_on(false, sink)?;
        }
        self.go_on(true, sink)
    }

    fn go_on(&mut self, ended: bool, sink: &mut dyn FnMut(&[u64])) -> Result<()> {
        let bytes = std::mem::take(&mut self.bytes);
        let text = self.valid(&bytes, ended)?;
        let taken = match &mut self.way {
            Way::Characters(joining) | Way::Words(joining, _) | Way::Tokens(joining) => {
                let taken = joining.take(text, ended, &mut self.scratch.text);
                fits(text.len() - taken, self.most, "a stretch without white space")?;
                fits(joining.waiting(), self.most, "a stretch of words without a plain letter")?;
                taken
            }
            Way::Lines(normalization) => {
                let end = text.rfind('\n').map_or(0, |at| at + 1);
                let end = if ended { text.len() } else { end };
                fits(text.len() - end, self.most, "a line")?;
                self.scratch.units.more_lines(&text[..end], normalization);
                end
            }
            Way::Unknown => {
                self.way = if text.contains(ELEMENT_END) {
                    Way::Elements
                } else {
                    Way::Tokens(Joining::new(self.shingler.normalization))
                };
                0
            }
            Way::Elements => {
                let end = text.rfind(ELEMENT_END).map_or(0, |at| at + 1);
                let end = if ended { text.len() } else { end };
                fits(text.len() - end, self.most, "an element")?;
                self.scratch.units.more_elements(&text[..end], &self.shingler.normalization);
                end
            }
            Way::Letters(letters) => {
                letters.take(text, &mut self.scratch.letters);
                text.len()
            }
        };
        if matches!(self.way, Way::Tokens(_)) && text[..taken].contains(ELEMENT_END) {
            return Err(Error::NoRoom { what: "an element", most: self.most });
        }
        self.before += taken as u64;
        self.bytes = bytes;
        self.bytes.drain(..taken);
        self.want = self.bytes.len() + (self.most / Self::PIECES).max(1);
        if taken > 0 || ended {
            self.shingle(ended, sink)?;
        }
        Ok(())
    }

    /// The characters that are whole.
    fn valid<'b>(&self, bytes: &'b [u8], ended: bool) -> Result<&'b str> {
        match str::from_utf8(bytes) {
            Ok(text) => Ok(text),
            Err(error) if error.error_len().is_some() || ended => {
                Err(Error::NotUtf8 { at: self.before + error.valid_up_to() as u64 + 1 })
            }
            Err(error) => Ok(str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default()),
        }
    }

    /// Hands over the hashes of the shingles that are whole.
    fn shingle(&mut self, ended: bool, sink: &mut dyn FnMut(&[u64])) -> Result<()> {
        let width = match self.shingler.shingle {
            Shingle::Chars(width) => return self.characters(width.into(), ended, sink),
            Shingle::Kmers(width) => {
                self.visit(sink);
                let letters = &mut self.scratch.letters;
                letters.drain(..letters.len().saturating_sub(usize::from(width) - 1));
                return Ok(());
            }
            Shingle::Words(width) => usize::from(width),
            Shingle::Lines(width) => usize::from(width),
            Shingle::Tokens => 1,
        };
        match &mut self.way {
            Way::Words(_, signs) => signs.words(&mut self.scratch, self.most, ended)?,
            Way::Tokens(_) => tokens(&mut self.scratch, self.most, ended)?,
            _ => {}
        }
        let (count, bytes) = self.scratch.units.len();
        if count >= width || (ended && !self.any && count > 0) {
            self.visit(sink);
            self.scratch.units.keep_last(width - 1);
        } else {
            fits(bytes, Self::PIECES * self.most, "a shingle")?;
        }
        Ok(())
    }

    fn characters(
        &mut self,
        width: usize,
        ended: bool,
        sink: &mut dyn FnMut(&[u64]),
    ) -> Result<()> {
        let length = self.scratch.text.len();
        let whole = self.scratch.text.chars().nth(width - 1).is_some();
        if whole || (ended && !self.any && length > 0) {
            self.scratch.text.push_str(PADDING);
            self.visit(sink);
            let text = &mut self.scratch.text;
            text.truncate(length);
            let kept = match width {
                1 => length,
                _ => text.char_indices().rev().nth(width - 2).map_or(0, |(at, _)| at),
            };
            text.drain(..kept);
        }
        Ok(())
    }

    fn visit(&mut self, sink: &mut dyn FnMut(&[u64])) {
        self.any = true;
        self.shingler.visit(&mut self.scratch, sink);
    }
}

impl Signs {
    /// Makes units of the words of a normalised text that are whole.
    fn words(&mut self, scratch: &mut Scratch, most: usize, ended: bool) -> Result<()> {
        let text = &mut scratch.text;
        let end = match ended {
            true => text.len(),
            false => last_boundary(text),
        };
        fits(text.len() - end, most, "a word")?;
        for word in text[..end].unicode_words() {
            self.any_word = true;
            scratch.units.push(word, ' ');
        }
        if self.any_word {
            self.text = String::new();
        } else {
            self.too_long |= self.text.len() + end > most;
            let room = if self.too_long { 0 } else { end };
            self.text.push_str(&text[..room]);
        }
        text.drain(..end);
        if ended && !self.any_word {
            if self.too_long {
                return Err(Error::NoRoom { what: "a text without any word", most });
            }
            let signs = self.text.trim();
            if !signs.is_empty() {
                scratch.units.push(signs, ' ');
            }
        }
        Ok(())
    }
}

/// The last place of a text that goes on where words end for certain, 0 if there is none.
///
/// That is between ASCII white space and a letter or digit. Else boundaries of words (UAX #29) are found from
/// the left, each from the one before alone. What decides is what follows up to the first character
/// of the segment after the next (rules WB6, WB7b, WB12), so all but the last segments are final; one more
/// is left out, to be safe.
fn last_boundary(text: &str) -> usize {
    let bytes = text.as_bytes();
    let easy = bytes
        .windows(2)
        .rposition(|two| two[0].is_ascii_whitespace() && two[1].is_ascii_alphanumeric());
    if let Some(at) = easy.filter(|at| *at >= text.len() / 2) {
        return at + 1;
    }
    let mut starts = [0; 4];
    for (start, _) in text.split_word_bound_indices() {
        starts.rotate_left(1);
        starts[3] = start;
    }
    starts[0].max(easy.map_or(0, |at| at + 1))
}

fn tokens(scratch: &mut Scratch, most: usize, ended: bool) -> Result<()> {
    let text = &mut scratch.text;
    let last = text.char_indices().rfind(|(_, c)| c.is_whitespace());
    let end = match ended {
        true => text.len(),
        false => last.map_or(0, |(at, space)| at + space.len_utf8()),
    };
    fits(text.len() - end, most, "a token")?;
    text[..end].split_whitespace().for_each(|token| scratch.units.push(token, ' '));
    text.drain(..end);
    Ok(())
}

fn fits(bytes: usize, most: usize, what: &'static str) -> Result<()> {
    match bytes <= most {
        true => Ok(()),
        false => Err(Error::NoRoom { what, most }),
    }
}

#[cfg(test)]
#[path = "stream_tests.rs"]
mod tests;
