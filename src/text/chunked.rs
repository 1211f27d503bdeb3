//! Normalises a text that arrives in chunks. The result is that of normalising the whole text.

use super::cuts::{Cut, last_cut, last_plain};
use super::normalize::{Form, Normalization, Whitespace};

/// Normalises chunk after chunk. Cuts the text where both sides can be normalised separately.
pub(super) struct ChunkNormalizer {
    normalization: Normalization,
    /// A buffer for one normalised chunk.
    chunk: String,
    /// Whether white space between two chunks becomes one space.
    spaced: bool,
    /// Whether any text was written, and whether white space follows it.
    any: bool,
    after_space: bool,
    /// Present if short words and white space are both dropped and more than one pass is needed.
    joined_words: Option<JoinedWords>,
}

/// The result of one pass that drops short words and white space: one long word. Letters and
/// accents that met when the white space was dropped may compose in further passes.
#[derive(Default)]
struct JoinedWords {
    text: String,
    /// Whether a part of the word was written already.
    begun: bool,
}

impl JoinedWords {
    /// The number of bytes from which on the word has at least `min_word` characters after any
    /// further pass. A pass composes at most four characters into one, and a character has at most
    /// four bytes.
    const fn enough(min_word: u16) -> usize {
        16 * min_word as usize
    }
}

impl ChunkNormalizer {
    pub(super) fn new(normalization: Normalization) -> Self {
        let Normalization { form, whitespace, min_word, .. } = normalization;
        let drops = whitespace == Whitespace::Drop;
        Self {
            normalization,
            chunk: String::new(),
            spaced: whitespace == Whitespace::Fold || (min_word > 0 && !drops),
            any: false,
            after_space: false,
            joined_words: (drops && min_word > 0 && form != Form::Unchanged)
                .then(JoinedWords::default),
        }
    }

    /// Normalises the part of a raw text before its last cut, or all of it if the text has ended,
    /// and appends the result to `out`. Returns the number of bytes of the raw text that were used.
    pub(super) fn take(&mut self, raw: &str, ended: bool, out: &mut String) -> usize {
        let whole = Cut { end: raw.len(), after_space: false };
        let cut = if ended { Some(whole) } else { last_cut(raw, &self.normalization) };
        let Some(Cut { end, after_space }) = cut else { return 0 };
        let raw = &raw[..end];
        match self.joined_words {
            Some(_) => self.take_joined_words(raw, ended, out),
            None => self.take_chunk(raw, after_space, out),
        }
        end
    }

    /// The number of bytes that are buffered because no cut was found in them.
    pub(super) fn uncut(&self) -> usize {
        let joined = self.joined_words.as_ref().map_or(0, |joined| joined.text.len());
        joined.saturating_sub(JoinedWords::enough(self.normalization.min_word))
    }

    /// The capacity of the buffers in bytes.
    pub(super) fn memory(&self) -> usize {
        let joined = self.joined_words.as_ref().map_or(0, |joined| joined.text.capacity());
        self.chunk.capacity() + joined
    }

    fn take_chunk(&mut self, raw: &str, after_space: bool, out: &mut String) {
        self.normalization.apply_into(raw, &mut self.chunk);
        if self.chunk.is_empty() {
            // The chunk was white space, or short words and the white space after them.
            self.after_space = true;
            return;
        }
        if self.any && self.spaced && self.after_space {
            out.push(' ');
        }
        out.push_str(&self.chunk);
        (self.any, self.after_space) = (true, after_space);
    }

    fn take_joined_words(&mut self, raw: &str, ended: bool, out: &mut String) {
        let Some(joined) = &mut self.joined_words else { return };
        self.chunk.clear();
        self.normalization.unicode(raw, &mut self.chunk);
        joined.text.push_str(&self.chunk);
        // Parts of the long word must not be dropped for being short.
        let further = Normalization { min_word: 0, ..self.normalization };
        if ended {
            let rest = if joined.begun { further } else { self.normalization };
            rest.apply_into(&joined.text, &mut self.chunk);
            out.push_str(&self.chunk);
            joined.text = String::new();
        } else if joined.text.len() > JoinedWords::enough(self.normalization.min_word)
            && let Some(cut) = last_plain(&joined.text)
        {
            further.apply_into(&joined.text[..cut.end], &mut self.chunk);
            out.push_str(&self.chunk);
            joined.text.drain(..cut.end);
            joined.begun = true;
        }
    }
}
