//! The units of a text (words, lines or tokens), joined by one separating byte.

use super::normalize::{Normalization, Whitespace};
use super::stretches::stretches;
use unicode_segmentation::UnicodeSegmentation;

/// The character that ends each element of a set if white space cannot separate the elements. It is
/// neither white space nor a letter, and no normalisation form changes it.
pub(crate) const ELEMENT_END: char = '\u{1F}';

/// The first 80 characters of a token, for an error message.
pub(super) fn excerpt(token: &str) -> String {
    const CHARACTERS: usize = 80;
    let end = token.char_indices().nth(CHARACTERS).map_or(token.len(), |(end, _)| end);
    let more = if end < token.len() { "..." } else { "" };
    format!("{}{more}", &token[..end])
}

/// The words (UAX #29) of a text. Stretches of ASCII are cut by the rules for ASCII, which is
/// several times as fast.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    stretches(text).flat_map(|(pair, middle)| {
        // White space ends a word, but some characters are joined to the white space before them,
        // so it goes with these.
        let middle = if middle == pair.len() {
            middle
        } else {
            pair[..middle].trim_end_matches(char::is_whitespace).len()
        };
        let (ascii, other) = pair.split_at(middle);
        ascii.unicode_words().chain(other.unicode_words())
    })
}

/// The units of a text, joined by one byte, and the position at which each starts.
#[derive(Default)]
pub(super) struct Units {
    joined: String,
    starts: Vec<usize>,
}

impl Units {
    /// Takes the words (UAX #29) of a normalised text. Returns their number.
    pub(super) fn words(&mut self, normalised: &str) -> usize {
        self.clear();
        words(normalised).for_each(|word| self.push(word, ' '));
        if self.starts.is_empty() && !normalised.trim().is_empty() {
            // A text without any word is one unit, and so one shingle.
            self.push(normalised.trim(), ' ');
        }
        self.starts.len()
    }

    /// Takes the non-empty lines of a raw text, each normalised and with white space folded.
    /// Returns their number.
    pub(super) fn lines(&mut self, text: &str, normalization: &Normalization) -> usize {
        self.clear();
        self.more_lines(text, &line_normalization(normalization));
        self.starts.len()
    }

    /// Adds the lines of a further part of a text. `normalization` is that of a line.
    pub(super) fn more_lines(&mut self, text: &str, normalization: &Normalization) {
        let mut line = String::new();
        for raw in text.split('\n') {
            normalization.apply_into(raw, &mut line);
            if !line.is_empty() {
                self.push(&line, '\n');
            }
        }
    }

    /// Takes the tokens of a normalised text, which white space separates. Returns their number.
    pub(super) fn tokens(&mut self, normalised: &str) -> usize {
        self.clear();
        for token in normalised.split_whitespace() {
            self.push(token, ' ');
        }
        self.starts.len()
    }

    /// Takes the elements of a set, each ended by [`ELEMENT_END`] and normalised separately. Drops
    /// an element that normalisation makes empty. Returns the number of elements.
    pub(super) fn elements(&mut self, text: &str, normalization: &Normalization) -> usize {
        self.clear();
        self.more_elements(text, normalization);
        self.starts.len()
    }

    /// Adds the elements of a further part of a set.
    pub(super) fn more_elements(&mut self, text: &str, normalization: &Normalization) {
        let mut element = String::new();
        for raw in text.split_terminator(ELEMENT_END) {
            normalization.apply_into(raw, &mut element);
            if raw.is_empty() || !element.is_empty() {
                self.push(&element, ' ');
            }
        }
    }

    /// Frees buffers of more than `kept` bytes.
    pub(super) fn shrink(&mut self, kept: usize) {
        if self.joined.capacity() + 8 * self.starts.capacity() > kept {
            *self = Self::default();
        }
    }

    /// The number of units, and the number of their bytes.
    pub(super) fn len(&self) -> (usize, usize) {
        (self.starts.len(), self.joined.len())
    }

    /// Drops all but the last `count` units.
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

    /// The units in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        let ends = self.starts.iter().skip(1).map(|next| next - 1).chain([self.joined.len()]);
        self.starts.iter().zip(ends).map(|(start, end)| &self.joined[*start..end])
    }

    /// Calls `visit` with every run of `width` consecutive units, including the separators between
    /// them. If there are fewer units, calls it once with all of them; if there are none, not at
    /// all.
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

/// The normalisation of a line. White space is folded even if the text keeps it, so that
/// indentation does not distinguish lines.
pub(super) fn line_normalization(normalization: &Normalization) -> Normalization {
    let whitespace = match normalization.whitespace {
        Whitespace::Keep => Whitespace::Fold,
        other => other,
    };
    Normalization { whitespace, ..*normalization }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Whether the words of a text are those that are cut without regard to stretches.
    fn agrees(text: &str) -> bool {
        words(text).eq(text.unicode_words())
    }

    #[test]
    fn every_character_ends_and_joins_words_as_in_the_whole_text() {
        for c in ('\u{80}'..='\u{33FFF}').chain('\u{E0000}'..='\u{E0FFF}') {
            let text =
                format!("ascii words {c}b {c} b{c} 1{c}2 a'{c}\t{c}{c}b and ascii again {c}");
            assert!(agrees(&text), "{text:?}");
            // White space of other scripts is joined to spaces, and these to what extends them.
            for extends in ['\u{345}', '\u{FF9E}'] {
                let text = format!("é\u{3000}         {extends}b {c}         {extends}b");
                assert!(agrees(&text), "{text:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn words_are_cut_as_in_the_whole_text(
            text in concat!(
                "([a-c1.,:'_]{1,4}|[éא\"カ敏\u{301}\u{200d}\u{ad}\u{2019}]{1,3}",
                "|[🇦👩\u{345}\u{ff9e}]|[ \t\n\u{a0}\u{2003}\u{3000}]| {7,9}){0,40}",
            ),
        ) {
            prop_assert!(agrees(&text));
        }
    }
}
