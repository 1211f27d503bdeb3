//! Texts as a row of units (words, lines, tokens) with one separating byte between them.

use super::normalize::{Normalization, Whitespace};
use unicode_segmentation::UnicodeSegmentation;

/// Follows each element of a set that a text stands for, where white space cannot separate them.
/// It is no white space, no letter, and no normalisation form touches it.
pub(super) const ELEMENT_END: char = '\u{1F}';

/// The beginning of a token, as an error shows it.
pub(super) fn shown(token: &str) -> String {
    const SHOWN: usize = 80;
    let end = token.char_indices().nth(SHOWN).map_or(token.len(), |(end, _)| end);
    let more = if end < token.len() { "..." } else { "" };
    format!("{}{more}", &token[..end])
}

/// The units of a text, joined by one byte, with the place where each starts.
#[derive(Default)]
pub(super) struct Units {
    joined: String,
    starts: Vec<usize>,
}

impl Units {
    /// Takes the words (UAX #29) of a normalised text, and returns how many there are.
    pub(super) fn words(&mut self, normalised: &str) -> usize {
        self.clear();
        for word in normalised.unicode_words() {
            self.push(word, ' ');
        }
        if self.starts.is_empty() && !normalised.trim().is_empty() {
            // Signs only: shorter than any shingle of words, so it is one shingle by itself.
            self.push(normalised.trim(), ' ');
        }
        self.starts.len()
    }

    /// Takes the non-empty lines of a raw text, each normalised, white space folded; returns how
    /// many there are.
    pub(super) fn lines(&mut self, text: &str, normalization: &Normalization) -> usize {
        self.clear();
        self.more_lines(text, &line_normalization(normalization));
        self.starts.len()
    }

    /// Takes the lines of more of a text, normalised as lines are.
    pub(super) fn more_lines(&mut self, text: &str, normalization: &Normalization) {
        let mut line = String::new();
        for raw in text.split('\n') {
            normalization.apply_into(raw, &mut line);
            if !line.is_empty() {
                self.push(&line, '\n');
            }
        }
    }

    /// Takes the tokens of a normalised text, what white space separates; returns how many there
    /// are.
    pub(super) fn tokens(&mut self, normalised: &str) -> usize {
        self.clear();
        for token in normalised.split_whitespace() {
            self.push(token, ' ');
        }
        self.starts.len()
    }

    /// Takes the elements of a set, each of which [`ELEMENT_END`] follows, normalised one by one;
    /// returns how many there are. One of which normalisation leaves nothing is dropped.
    pub(super) fn elements(&mut self, text: &str, normalization: &Normalization) -> usize {
        self.clear();
        self.more_elements(text, normalization);
        self.starts.len()
    }

    /// Takes more elements of a set.
    pub(super) fn more_elements(&mut self, text: &str, normalization: &Normalization) {
        let mut element = String::new();
        for raw in text.split_terminator(ELEMENT_END) {
            normalization.apply_into(raw, &mut element);
            if raw.is_empty() || !element.is_empty() {
                self.push(&element, ' ');
            }
        }
    }

    /// Gives back buffers of more than so many bytes.
    pub(super) fn shrink(&mut self, kept: usize) {
        if self.joined.capacity() + 8 * self.starts.capacity() > kept {
            *self = Self::default();
        }
    }

    /// How many units there are, and their bytes.
    pub(super) fn len(&self) -> (usize, usize) {
        (self.starts.len(), self.joined.len())
    }

    /// Drops all but the last units.
    pub(super) fn keep_last(&mut self, count: usize) {
        let gone = self.starts.len().saturating_sub(count);
        let start = self.starts.get(gone).copied().unwrap_or(self.joined.len());
        self.joined.drain(..start);
        self.starts.drain(..gone);
        self.starts.iter_mut().for_each(|at| *at -= start);
    }

    pub(super) fn clear(&mut self) {
        self.joined.clear();
        self.starts.clear();
    }

    pub(super) fn push(&mut self, unit: &str, separator: char) {
        if !self.starts.is_empty() {
            self.joined.push(separator);
        }
        self.starts.push(self.joined.len());
        self.joined.push_str(unit);
    }

    /// Calls back with every `width` consecutive units and the separators between them; with all
    /// of them once where there are fewer; not at all where there are none.
    pub(super) fn windows(&self, width: usize, mut visit: impl FnMut(&[u8])) {
        let bytes = self.joined.as_bytes();
        if self.starts.len() <= width {
            if !self.starts.is_empty() {
                visit(bytes);
            }
            return;
        }
        let ends = self.starts[width..].iter().map(|next| next - 1).chain([bytes.len()]);
        for (&start, end) in self.starts.iter().zip(ends) {
            visit(&bytes[start..end]);
        }
    }
}

/// How each line of a text is normalised: white space goes in any case, or a line that was indented
/// would be another.
pub(super) fn line_normalization(normalization: &Normalization) -> Normalization {
    let whitespace = match normalization.whitespace {
        Whitespace::Keep => Whitespace::Fold,
        other => other,
    };
    Normalization { whitespace, ..*normalization }
}
