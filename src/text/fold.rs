//! Lower case, NFC and folded white space in one pass: what most texts go through.
//!
//! ASCII goes eight bytes at a time. The words of a text that are not ASCII are normalised apart,
//! from one ASCII white space to the next: nothing in lower case or NFC reaches over one.

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// Writes a text with every run of white space as one space, trimmed, after what `out` holds.
pub(super) fn fold(text: &str, lower: bool, nfc: bool, out: &mut Vec<u8>) {
    let mut folding = Folding { lower, nfc, length: out.len(), after_space: true, out };
    let start = folding.length;
    folding.text(text);
    // What ends in a space is trimmed there; a leading one was never kept.
    let end = folding.length - usize::from(folding.after_space && folding.length > start);
    out.truncate(end);
}

struct Folding<'o> {
    lower: bool,
    nfc: bool,
    /// Longer than what is written, so that words can be written whole.
    out: &'o mut Vec<u8>,
    length: usize,
    after_space: bool,
}

/// ASCII bytes in a row, from white space on, that end a stretch of other words: with fewer, going
/// back and forth costs more than it saves.
const ASCII_AGAIN: usize = 8;

impl Folding<'_> {
    fn text(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut start = 0;
        while start < bytes.len() {
            let ascii_end = start + ascii_prefix(&bytes[start..]);
            let island = match bytes[start..ascii_end].iter().rposition(|b| is_ascii_space(*b)) {
                _ if ascii_end == bytes.len() => ascii_end,
                Some(space) => start + space + 1,
                None => start,
            };
            self.ascii(&bytes[start..island]);
            let end = island + island_length(&bytes[island..], ascii_end - island);
            self.unicode(&text[island..end]);
            start = end;
        }
    }

    fn make_room(&mut self, bytes: usize) {
        // A word is written whole, so there is room for one more.
        let needed = self.length + bytes + 8;
        if self.out.len() < needed {
            self.out.resize(needed, 0);
        }
    }

    fn ascii(&mut self, text: &[u8]) {
        self.make_room(text.len());
        let (words, rest) = text.as_chunks::<8>();
        for word in words {
            self.word(u64::from_le_bytes(*word));
        }
        for &byte in rest {
            let space = is_ascii_space(byte);
            self.out[self.length] = match (space, self.lower) {
                (true, _) => b' ',
                (false, true) => byte.to_ascii_lowercase(),
                (false, false) => byte,
            };
            // A space after a space is overwritten by what comes next.
            self.length += usize::from(!(space && self.after_space));
            self.after_space = space;
        }
    }

    /// Folds eight ASCII bytes.
    #[inline(always)]
    fn word(&mut self, word: u64) {
        let spaces = space_bytes(word);
        let filled = (spaces >> 7) * 0xFF;
        let word = (word & !filled) | (filled & (ONES * b' ' as u64));
        let mut word = if self.lower { lower_bytes(word) } else { word };
        let mut doubled = spaces & (spaces << 8 | u64::from(self.after_space) << 7);
        self.after_space = spaces >> 63 != 0;
        let mut kept = 8;
        // Mostly one run of spaces, as where a line is indented.
        while doubled != 0 {
            let first = doubled.trailing_zeros() & !7;
            let run = (!(doubled >> (first + 7)) & ONES).trailing_zeros();
            let before = (1 << first) - 1;
            // In two steps, as all eight bytes may go.
            let cut = |bytes: u64| (bytes >> (run - 8) >> 8) & !before;
            word = (word & before) | cut(word);
            doubled = cut(doubled);
            kept -= run as usize / 8;
        }
        self.out[self.length..self.length + 8].copy_from_slice(&word.to_le_bytes());
        self.length += kept;
    }

    /// Folds words of which some are not ASCII.
    fn unicode(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let lowered = self.lower.then(|| text.to_lowercase());
        let text = lowered.as_deref().unwrap_or(text);
        // Composing costs the most, so each word is looked at by itself.
        for word in text.split_inclusive(|c| u8::try_from(c).is_ok_and(is_ascii_space)) {
            let composed =
                !self.nfc || word.is_ascii() || is_nfc_quick(word.chars()) == IsNormalized::Yes;
            match composed {
                true => self.spaces(word),
                false => self.spaces(&word.nfc().collect::<String>()),
            }
        }
    }

    /// Folds white space, of Unicode too, in a text that is normalised but for that.
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

/// The length of the stretch of words that are not ASCII, of which `ascii` bytes at the front are:
/// up to a white space from which on there is ASCII for a while.
fn island_length(bytes: &[u8], ascii: usize) -> usize {
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

/// The ASCII characters with the Unicode property `White_Space` (it has the vertical tab, which
/// `u8::is_ascii_whitespace` has not).
pub(super) const fn is_ascii_space(byte: u8) -> bool {
    matches!(byte, b'\t'..=b'\r' | b' ')
}

/// The length of the ASCII stretch at the front, looked at a word at a time.
pub(super) fn ascii_prefix(text: &[u8]) -> usize {
    let (words, _) = text.as_chunks::<8>();
    let whole = words.iter().take_while(|word| word.is_ascii()).count() * 8;
    whole + text[whole..].iter().take_while(|byte| byte.is_ascii()).count()
}

// Eight bytes at once; all of them must be ASCII, so that no sum carries into the next byte.

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x80 * ONES;

/// The high bit of each byte that is at least `byte`.
const fn bytes_from(word: u64, byte: u8) -> u64 {
    word + (0x80 - byte as u64) * ONES
}

/// The high bit of each byte that is white space, as of [`is_ascii_space`].
const fn space_bytes(word: u64) -> u64 {
    let controls = bytes_from(word, b'\t') & !bytes_from(word, b'\r' + 1);
    let blanks = bytes_from(word, b' ') & !bytes_from(word, b' ' + 1);
    (controls | blanks) & HIGH
}

/// Lowers the letters from A to Z.
const fn lower_bytes(word: u64) -> u64 {
    let letters = bytes_from(word, b'A') & !bytes_from(word, b'Z' + 1) & HIGH;
    word | letters >> 2
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

    /// The same by the whole text, one step after the other.
    fn expected(text: &str, lower: bool, nfc: bool) -> String {
        let text = if lower { text.to_lowercase() } else { text.to_owned() };
        let text: String = if nfc { text.nfc().collect() } else { text };
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn every_byte_is_folded_as_its_character() {
        for byte in 0..0x80_u8 {
            for text in [[byte, b'x'], [b' ', byte], [byte, byte]] {
                let text = String::from_utf8(text.repeat(9)).expect("ASCII");
                assert_eq!(folded(&text, true, true), expected(&text, true, true), "{text:?}");
            }
        }
    }

    #[test]
    fn folding_never_reaches_over_a_space() {
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
        fn in_parts_or_as_a_whole_is_the_same(
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
