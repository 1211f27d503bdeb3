//! Lower case, NFC and white space folding in one pass: the fast path for most texts.
//!
//! Stretches that are not ASCII are normalised separately, from one ASCII white space to the next.
//! Neither lower case nor NFC looks across white space.

use super::ascii::{SLACK, ascii_prefix, fold_ascii, is_ascii_space};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// Appends a text to `out`, with each run of white space as one space and both ends trimmed.
pub(super) fn fold(text: &str, lower: bool, nfc: bool, out: &mut Vec<u8>) {
    let mut folding = Folding { lower, nfc, length: out.len(), after_space: true, out };
    let start = folding.length;
    folding.text(text);
    // Only a trailing space is left to trim: a leading one was never kept.
    let end = folding.length - usize::from(folding.after_space && folding.length > start);
    out.truncate(end);
}

struct Folding<'o> {
    lower: bool,
    nfc: bool,
    /// Longer than the text written so far, so that whole words can be written.
    out: &'o mut Vec<u8>,
    /// The length of the text written so far.
    length: usize,
    after_space: bool,
}

/// The number of consecutive ASCII bytes, starting with white space, that end a stretch of other
/// text. With fewer, switching between the two paths costs more than it saves.
const ASCII_AGAIN: usize = 8;

impl Folding<'_> {
    fn text(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut start = 0;
        while start < bytes.len() {
            let ascii_end = start + ascii_prefix(&bytes[start..]);
            let unicode_start =
                match bytes[start..ascii_end].iter().rposition(|b| is_ascii_space(*b)) {
                    _ if ascii_end == bytes.len() => ascii_end,
                    Some(space) => start + space + 1,
                    None => start,
                };
            self.ascii(&bytes[start..unicode_start]);
            let end =
                unicode_start + unicode_stretch(&bytes[unicode_start..], ascii_end - unicode_start);
            self.unicode(&text[unicode_start..end]);
            start = end;
        }
    }

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
            match composed {
                true => self.spaces(word),
                false => self.spaces(&word.nfc().collect::<String>()),
            }
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

/// The length of the stretch at the front that takes the Unicode path. It ends before a white space
/// that begins [`ASCII_AGAIN`] ASCII bytes. The first `ascii` bytes are known to be ASCII.
fn unicode_stretch(bytes: &[u8], ascii: usize) -> usize {
    let mut end = ascii;
    while let Some(space) = bytes[end..].iter().position(|byte| is_ascii_space(*byte)) {
        let from = end + space;
        let again = ascii_prefix(&bytes[from..bytes.len().min(from + ASCII_AGAIN)]);
        end = from + again;
        if end == bytes.len() || again == ASCII_AGAIN {
            return from;
        }
    }
    bytes.len()
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
                let text = String::from_utf8(text.repeat(9)).expect("ASCII");
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
