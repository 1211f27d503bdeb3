//! Shingles a text that arrives as bytes, piece by piece, in bounded memory. The result is the same
//! multiset of hashes as that of the whole text.
//!
//! Bytes are decoded to characters, these are normalised up to the last place where the text can be
//! cut, and the normalised text is shingled up to the last complete shingle. Each of these stages
//! keeps its unfinished rest for the next piece.

use super::chunked::ChunkNormalizer;
use super::kind::Shingle;
use super::kmer::Letters;
use super::normalize::Normalization;
use super::shingle::{PADDING, Scratch, Shingler};
use super::units::{ELEMENT_END, line_normalization, words};
use crate::error::{Error, Result};
use std::fmt;
use std::str;
use unicode_segmentation::UnicodeSegmentation;

/// Shingles a text that arrives in pieces. The text is never in memory as a whole.
///
/// The hashes are those of [`Shingler::hashes`] on the whole text, repetitions included.
/// Repetitions are never ranked, even if the shingler is one of multisets.
///
/// ```
/// use twindex::{Normalization, Shingle, ShingleStream, Shingler};
/// let shingler = Shingler::new(Shingle::words(2), Normalization::default(), false, 0)?;
/// let mut stream = ShingleStream::new(&shingler, 1 << 20);
/// let mut hashes = Vec::new();
/// for piece in [&b"the quick br"[..], b"own fox"] {
///     stream.take(piece, &mut |block| hashes.extend_from_slice(block))?;
/// }
/// stream.end(&mut |block| hashes.extend_from_slice(block))?;
/// assert_eq!(hashes, shingler.hashes("the quick brown fox"));
/// # Ok::<(), twindex::Error>(())
/// ```
pub struct ShingleStream {
    shingler: Shingler,
    /// The greatest length in bytes of a word, a line, or anything else that must be in memory as a
    /// whole.
    limit: usize,
    /// Bytes that arrived and were not used yet.
    bytes: Vec<u8>,
    /// The number of bytes that were used.
    used: u64,
    /// The number of buffered bytes from which on they are processed again.
    process_from: usize,
    stage: Stage,
    /// The unfinished rest (text, units or letters) and buffers.
    scratch: Scratch,
    /// Whether there was any shingle.
    any: bool,
}

impl fmt::Debug for ShingleStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShingleStream")
            .field("shingler", &self.shingler)
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}

/// The stage from raw text to the units of shingles, with its state.
enum Stage {
    Characters(ChunkNormalizer),
    Words(ChunkNormalizer, WordCutter),
    Lines(Normalization),
    /// No byte has shown yet whether elements end in [`ELEMENT_END`] or in white space.
    Undecided,
    Tokens(ChunkNormalizer),
    Elements,
    Letters(Letters),
}

/// Cuts a text into words. A text without any word is one shingle, so it is kept until the first
/// word.
#[derive(Default)]
struct WordCutter {
    any_word: bool,
    text: String,
    too_long: bool,
}

impl ShingleStream {
    /// Bytes are processed in pieces of the limit divided by this number.
    const PIECES: usize = 8;

    /// Returns a stream for a text in which no word, line, token or stretch without white space is
    /// longer than `limit` bytes.
    ///
    /// The stream takes about ten times `limit` bytes of memory at most, and mostly less than
    /// twice.
    pub fn new(shingler: &Shingler, limit: usize) -> Self {
        let shingler = Shingler { multiset: false, ..shingler.clone() };
        let normalizer = ChunkNormalizer::new(shingler.normalization);
        let stage = match shingler.shingle {
            Shingle::Chars(_) => Stage::Characters(normalizer),
            Shingle::Words(_) => Stage::Words(normalizer, WordCutter::default()),
            Shingle::Lines(_) => Stage::Lines(line_normalization(&shingler.normalization)),
            Shingle::Tokens => Stage::Undecided,
            Shingle::Kmers(_) => Stage::Letters(Letters::default()),
        };
        Self {
            shingler,
            limit,
            bytes: Vec::new(),
            used: 0,
            process_from: limit / Self::PIECES,
            stage,
            scratch: Scratch::default(),
            any: false,
        }
    }

    /// Takes the next bytes of the text, and passes the hashes of the shingles that are complete to
    /// `sink`. A piece may have any length and may end within a character.
    ///
    /// # Errors
    ///
    /// [`Error::NotUtf8`] for bytes that are not UTF-8, and [`Error::PieceTooLong`] if something is
    /// longer than the limit. The stream cannot be used after an error.
    pub fn take(&mut self, bytes: &[u8], sink: &mut dyn FnMut(&[u64])) -> Result<()> {
        for piece in bytes.chunks(self.piece()) {
            self.bytes.extend_from_slice(piece);
            if self.bytes.len() < self.process_from {
                continue;
            }
            match self.stage {
                Stage::Undecided => self.decide(false, sink)?,
                _ => self.process(false, sink)?,
            }
        }
        Ok(())
    }

    /// Returns the size of the stream's buffers in bytes.
    pub fn memory(&self) -> usize {
        let normalizer = match &self.stage {
            Stage::Characters(normalizer)
            | Stage::Words(normalizer, _)
            | Stage::Tokens(normalizer) => normalizer.memory(),
            _ => 0,
        };
        let Scratch { text, units, letters, .. } = &self.scratch;
        self.bytes.capacity() + normalizer + text.capacity() + units.len().1 + letters.capacity()
    }

    /// Ends the text, and passes the remaining hashes to `sink`. The stream cannot be used
    /// afterwards.
    ///
    /// # Errors
    ///
    /// Those of [`take`](Self::take).
    pub fn end(&mut self, sink: &mut dyn FnMut(&[u64])) -> Result<()> {
        if matches!(self.stage, Stage::Undecided) {
            self.decide(true, sink)?;
        }
        self.process(true, sink)
    }

    fn process(&mut self, ended: bool, sink: &mut dyn FnMut(&[u64])) -> Result<()> {
        let bytes = std::mem::take(&mut self.bytes);
        let text = self.valid(&bytes, ended)?;
        let used = match &mut self.stage {
            Stage::Characters(normalizer)
            | Stage::Words(normalizer, _)
            | Stage::Tokens(normalizer) => {
                let used = normalizer.take(text, ended, &mut self.scratch.text);
                check_fits(text.len() - used, self.limit, "a stretch without white space")?;
                check_fits(
                    normalizer.uncut(),
                    self.limit,
                    "a stretch of words without a plain letter",
                )?;
                used
            }
            Stage::Lines(normalization) => {
                let end = text.rfind('\n').map_or(0, |at| at + 1);
                let end = if ended { text.len() } else { end };
                check_fits(text.len() - end, self.limit, "a line")?;
                self.scratch.units.more_lines(&text[..end], normalization);
                end
            }
            // A stream that is undecided does not come here.
            Stage::Undecided => 0,
            Stage::Elements => {
                let end = text.rfind(ELEMENT_END).map_or(0, |at| at + 1);
                let end = if ended { text.len() } else { end };
                check_fits(text.len() - end, self.limit, "an element")?;
                self.scratch.units.more_elements(&text[..end], &self.shingler.normalization);
                end
            }
            Stage::Letters(letters) => {
                letters.take(text, &mut self.scratch.letters);
                text.len()
            }
        };
        if matches!(self.stage, Stage::Tokens(_)) && text[..used].contains(ELEMENT_END) {
            // The first element is longer than the text that showed no end of an element.
            return Err(Error::PieceTooLong { what: "an element", most: self.limit });
        }
        self.used += used as u64;
        self.bytes = bytes;
        self.bytes.drain(..used);
        self.process_from = self.bytes.len() + self.piece();
        if used > 0 || ended {
            self.shingle(ended, sink)?;
        }
        Ok(())
    }

    /// Finds out how elements end, unless the first one may go on, and then takes what has arrived.
    fn decide(&mut self, ended: bool, sink: &mut dyn FnMut(&[u64])) -> Result<()> {
        let has_end = self.bytes.contains(&(ELEMENT_END as u8));
        // The first element may be as long as the limit.
        if !has_end && !ended && self.bytes.len() <= self.limit {
            self.process_from = self.bytes.len() + self.piece();
            return Ok(());
        }
        self.stage = if has_end {
            Stage::Elements
        } else {
            Stage::Tokens(ChunkNormalizer::new(self.shingler.normalization))
        };
        self.process_from = self.piece();
        let bytes = std::mem::take(&mut self.bytes);
        self.take(&bytes, sink)
    }

    /// The number of bytes that are processed together.
    fn piece(&self) -> usize {
        (self.limit / Self::PIECES).max(1)
    }

    /// Decodes the complete characters.
    fn valid<'b>(&self, bytes: &'b [u8], ended: bool) -> Result<&'b str> {
        match str::from_utf8(bytes) {
            Ok(text) => Ok(text),
            Err(error) if error.error_len().is_some() || ended => {
                Err(Error::NotUtf8 { at: self.used + error.valid_up_to() as u64 + 1 })
            }
            Err(error) => Ok(str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default()),
        }
    }

    /// Passes the hashes of the complete shingles to `sink`.
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
        match &mut self.stage {
            Stage::Words(_, cutter) => cutter.cut(&mut self.scratch, self.limit, ended)?,
            Stage::Tokens(_) => cut_tokens(&mut self.scratch, self.limit, ended)?,
            _ => {}
        }
        let (count, bytes) = self.scratch.units.len();
        if count >= width || (ended && !self.any && count > 0) {
            self.visit(sink);
            self.scratch.units.keep_last(width - 1);
        } else {
            check_fits(bytes, self.limit.saturating_mul(Self::PIECES), "a shingle")?;
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

impl WordCutter {
    /// Cuts the complete words off a normalised text and makes them units.
    fn cut(&mut self, scratch: &mut Scratch, limit: usize, ended: bool) -> Result<()> {
        let text = &mut scratch.text;
        let end = if ended { text.len() } else { last_boundary(text) };
        check_fits(text.len() - end, limit, "a word")?;
        for word in words(&text[..end]) {
            self.any_word = true;
            scratch.units.push(word, ' ');
        }
        if self.any_word {
            self.text = String::new();
        } else {
            self.too_long |= self.text.len() + end > limit;
            let room = if self.too_long { 0 } else { end };
            self.text.push_str(&text[..room]);
        }
        text.drain(..end);
        if ended && !self.any_word {
            if self.too_long {
                return Err(Error::PieceTooLong { what: "a text without any word", most: limit });
            }
            let signs = self.text.trim();
            if !signs.is_empty() {
                scratch.units.push(signs, ' ');
            }
        }
        Ok(())
    }
}

/// The last word boundary of a text that no further text can change; 0 if there is none.
///
/// There is always such a boundary between ASCII white space and an ASCII letter or digit. The
/// other boundaries (UAX #29) are found from the left, each from the one before it. A boundary
/// depends on the text after it up to the first character of the segment after the next (rules WB6,
/// WB7b, WB12), so all segments but the last few are final. One segment more than necessary is left
/// out, to be safe.
fn last_boundary(text: &str) -> usize {
    let bytes = text.as_bytes();
    let after_space = bytes
        .windows(2)
        .rposition(|two| two[0].is_ascii_whitespace() && two[1].is_ascii_alphanumeric());
    if let Some(at) = after_space.filter(|at| *at >= text.len() / 2) {
        return at + 1;
    }
    let mut starts = [0; 4];
    for (start, _) in text.split_word_bound_indices() {
        starts.rotate_left(1);
        starts[3] = start;
    }
    starts[0].max(after_space.map_or(0, |at| at + 1))
}

/// Cuts the complete tokens off a normalised text and makes them units.
fn cut_tokens(scratch: &mut Scratch, limit: usize, ended: bool) -> Result<()> {
    let text = &mut scratch.text;
    let last = text.char_indices().rfind(|(_, c)| c.is_whitespace());
    let end = if ended { text.len() } else { last.map_or(0, |(at, space)| at + space.len_utf8()) };
    check_fits(text.len() - end, limit, "a token")?;
    text[..end].split_whitespace().for_each(|token| scratch.units.push(token, ' '));
    text.drain(..end);
    Ok(())
}

fn check_fits(bytes: usize, limit: usize, what: &'static str) -> Result<()> {
    if bytes <= limit { Ok(()) } else { Err(Error::PieceTooLong { what, most: limit }) }
}

#[cfg(test)]
#[path = "stream_tests.rs"]
mod tests;
