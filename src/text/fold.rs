//! Lower case, NFC and white space folding in one pass: the fast path for most texts.
//!
//! Stretches that are not ASCII are normalised separately: neither lower case nor NFC looks across
//! ASCII white space.

use super::ascii::{SLACK, fold_ascii, is_ascii_space};
use super::stretches::stretches;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// Appends a text to `out`, with each run of white space as one space and both ends trimmed.
pub(super) fn fold(text: &str, lower: bool, nfc: bool, out: &mut Vec<u8>) {
    let mut folding = Folding { lower, nfc, length: out.len(), after_space: true, out };
    let start = folding.length;
    for (pair, middle) in stretches(text) {
        let (ascii, other) = pair.split_at(middle);
        folding.ascii(ascii.as_bytes());
        folding.unicode(other);
    }
    // Only a trailing space is left to trim: a leading one was never kept.
    let end = folding.length - usize::from(folding.after_space && folding.length > start);
    out.truncate(end);
}

struct Folding<'o> {
    lower: bool,
    nfc: bool,
    /// Longer than the text written so far, so that eight bytes can be written at once.
    out: &'o mut Vec<u8>,
    /// The length of the text written so far.
    length: usize,
    after_space: bool,
}

impl Folding<'_> {
    fn make_room(&mut self, bytes: usize) {
        let needed = self.length + bytes + SLACK;
        if self.out.len() < needed {
            self.out.resize(needed, 0);
        }
    }

    fn ascii(&mut self, text: &[u8]) {
        self.make_room(text.len());
        let out = &mut self.out[self.length..];
        self.length += fold_ascii(text, self.lower, &mut self.after_space, out);
    }

    /// Folds a stretch of text that is not all ASCII.
    fn unicode(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let lowered = self.lower.then(|| text.to_lowercase());
        let text = lowered.as_deref().unwrap_or(text);
        // Composition is the most expensive step, so only the words that need it are composed.
        for word in text.split_inclusive(|c| u8::try_from(c).is_ok_and(is_ascii_space)) {
            let composed =
                !self.nfc || word.is_ascii() || is_nfc_quick(word.chars()) == IsNormalized::Yes;
            if composed { self.spaces(word) } else { self.spaces(&word.nfc().collect::<String>()) }
        }
    }

    /// Folds white space, including that beyond ASCII, in a text that is otherwise normalised.
    fn spaces(&mut self, text: &str) {
        self.make_room(text.len());
        for piece in text.split_inclusive(char::is_whitespace) {
            let word = piece.trim_end();
            self.out[self.length..self.length + word.len()].copy_from_slice(word.as_bytes());
            self.length += word.len();
            self.after_space &= word.is_empty();
            if word.len() < piece.len() && !self.after_space {
                self.out[self.length] = b' ';
                self.length += 1;
                self.after_space = true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn folded(text: &str, lower: bool, nfc: bool) -> String {
        let mut out = b"before ".to_vec();
        fold(text, lower, nfc, &mut out);
        let text = out.strip_prefix(b"before ").expect("what was there stays");
        String::from_utf8(text.to_vec()).expect("still UTF-8")
    }

    /// The definition: one step after the other, each over the whole text.
    fn expected(text: &str, lower: bool, nfc: bool) -> String {
        let text = if lower { text.to_lowercase() } else { text.to_owned() };
        let text: String = if nfc { text.nfc().collect() } else { text };
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn every_ascii_byte_is_folded_like_its_character() {
        for byte in 0..0x80_u8 {
            for text in [[byte, b'x'], [b' ', byte], [byte, byte]] {
                let text = String::from_utf8(text.repeat(40)).expect("ASCII");
                assert_eq!(folded(&text, true, true), expected(&text, true, true), "{text:?}");
            }
        }
    }

    #[test]
    fn words_beyond_ascii_fold_the_same_between_ascii_stretches() {
        let far = "plain words that go on for quite a while, so that the stretch ends ";
        for text in [
            "ΑΣ ΑΣ",
            "ΑΣ\u{301} b",
            "Σ",
            "x \u{301}\u{327}y",
            "e \u{301}",
            "\u{a0}\u{a0} a\u{2028}",
            "\u{1F88} Ç",
            "é",
            " é ",
            "\u{3000}",
            &" ".repeat(200),
        ] {
            for text in
                [text.to_owned(), format!("{far}{text} {far}"), format!("{text}{far}{text}")]
            {
                assert_eq!(folded(&text, true, true), expected(&text, true, true), "{text:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn the_fast_path_agrees_with_the_definition(
            parts in proptest::collection::vec(
                prop_oneof![
                    "[a-zA-Z;(){}]{0,12}",
                    "[ \\t\\n\\r\\x0b\\x0c\\x00\\x1f]{1,5}",
                    "[a-z ]{30,70}",
                    "[ΑΣςσ\u{301}\u{327}\u{a0}\u{2003}\u{3000}éÉİ敏 ]{1,6}",
                    "\\PC{0,4}",
                ],
                0..12,
            ),
            lower in any::<bool>(),
            nfc in any::<bool>(),
        ) {
            let text = parts.concat();
            prop_assert_eq!(folded(&text, lower, nfc), expected(&text, lower, nfc));
        }
    }
}
