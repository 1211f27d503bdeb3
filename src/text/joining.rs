//! Normalising a text that comes in parts: the same characters as normalising all of it at once.

use super::cuts::{Cut, last_cut, last_plain};
use super::normalize::{Form, Normalization, Whitespace};

/// Normalises part after part, cutting where both sides are independent.
pub(super) struct Joining {
    normalization: Normalization,
    part: String,
    /// Whether white space between two parts leaves one space.
    spaced: bool,
    /// Whether there is any text before, and whether white space follows it.
    any: bool,
    after_space: bool,
    /// Words without the space between them, where more passes follow.
    glued: Option<Glued>,
}

/// What one pass leaves where short words and white space are dropped: words that are glued to one,
/// letters meeting accents, which further passes may compose.
#[derive(Default)]
struct Glued {
    text: String,
    /// Whether some of it is gone on already.
    begun: bool,
}

impl Glued {
    /// Bytes from which on the word is long enough for certain, whatever is composed: a pass makes one
    /// character of four at the most, of up to four bytes each.
    const fn enough(least: u16) -> usize {
        16 * least as usize
    }
}

impl Joining {
    pub(super) fn new(normalization: Normalization) -> Self {
        let Normalization { form, whitespace, min_word, .. } = normalization;
        let drops = whitespace == Whitespace::Drop;
        Self {
            normalization,
            part: String::new(),
            spaced: whitespace == Whitespace::Fold || (min_word > 0 && !drops),
            any: false,
            after_space: false,
            glued: (drops && min_word > 0 && form != Form::Unchanged).then(Glued::default),
        }
    }

    /// Normalises what of a raw text comes before its last cut, or all of it if it has ended, and appends
    /// that to `out`; returns how many bytes of the raw text that was.
    pub(super) fn take(&mut self, raw: &str, ended: bool, out: &mut String) -> usize {
        let whole = Cut { end: raw.len(), after_space: false };
        let cut = if ended { Some(whole) } else { last_cut(raw, &self.normalization) };
        let Some(Cut { end, after_space }) = cut else { return 0 };
        let raw = &raw[..end];
        match self.glued {
            Some(_) => self.glue(raw, ended, out),
            None => self.join(raw, after_space, out),
        }
        end
    }

    /// Bytes that wait for a cut.
    pub(super) fn waiting(&self) -> usize {
        let glued = self.glued.as_ref().map_or(0, |glued| glued.text.len());
        glued.saturating_sub(Glued::enough(self.normalization.min_word))
    }

    /// Bytes of its buffers.
    pub(super) fn memory(&self) -> usize {
        self.part.capacity() + self.glued.as_ref().map_or(0, |glued| glued.text.capacity())
    }

    fn join(&mut self, raw: &str, after_space: bool, out: &mut String) {
        self.normalization.apply_into(raw, &mut self.part);
        if self.part.is_empty() {
            // Nothing but white space, or words that are dropped with the white space behind them.
            self.after_space = true;
            return;
        }
        if self.any && self.spaced && self.after_space {
            out.push(' ');
        }
        out.push_str(&self.part);
        (self.any, self.after_space) = (true, after_space);
    }

    fn glue(&mut self, raw: &str, ended: bool, out: &mut String) {
        let Some(glued) = &mut self.glued else { return };
        self.part.clear();
        self.normalization.unicode(raw, &mut self.part);
        glued.text.push_str(&self.part);
        // It is one word, and long enough.
        let further = Normalization { min_word: 0, ..self.normalization };
        if ended {
            let all = if glued.begun { further } else { self.normalization };
            all.apply_into(&glued.text, &mut self.part);
            out.push_str(&self.part);
            glued.text = String::new();
        } else if glued.text.len() > Glued::enough(self.normalization.min_word)
            && let Some(cut) = last_plain(&glued.text)
        {
            further.apply_into(&glued.text[..cut.end], &mut self.part);
            out.push_str(&self.part);
            glued.text.drain(..cut.end);
            glued.begun = true;
        }
    }
}
