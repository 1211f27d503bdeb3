//! The hash of a document's text, by which equal texts are recognised.

use crate::error::{Error, Result};
use crate::hash::mixing::xxh3;
use std::fmt;
use std::str::FromStr;

/// The hash of a document's text, by which an index recognises equal texts.
///
/// Nobody can make two texts with the same BLAKE3 hash. Indexes of format 1 have XXH3, which is not
/// safe against someone who tries. The two are never equal, so a document that was inserted into an
/// index of format 1 is replaced when it is inserted again.
///
/// It is printed and read as hexadecimal digits: 32 of BLAKE3, the first that `b3sum` prints, or 16
/// of XXH3.
///
/// ```
/// let hash = twindex::Content::from("abc").text_hash();
/// assert_eq!(hash.to_string(), "6437b3ac38465133ffb63b75273a8db5");
/// assert_eq!("6437b3ac38465133ffb63b75273a8db5".parse::<twindex::TextHash>()?, hash);
/// # Ok::<(), twindex::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TextHash {
    /// The first 16 bytes of BLAKE3.
    Blake3([u8; 16]),
    /// XXH3 of 64 bits, with seed 0.
    Xxh3(u64),
}

/// By what equal texts are recognised. [`TextHash`] says how far that is safe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TextKey {
    pub(crate) hash: TextHash,
    /// The length in bytes.
    pub(crate) length: u64,
}

impl TextKey {
    /// The key of a new document's text.
    pub(crate) fn of(text: &str) -> Self {
        Self { hash: TextHash::of(text.as_bytes()), length: text.len() as u64 }
    }
}

impl TextHash {
    /// The hash of a new document's text.
    pub(crate) fn of(text: &[u8]) -> Self {
        let mut first = [0; 16];
        first.copy_from_slice(&blake3::hash(text).as_bytes()[..16]);
        Self::Blake3(first)
    }

    /// Whether it is the hash of this text.
    pub(crate) fn is_of(self, text: &[u8]) -> bool {
        match self {
            Self::Blake3(_) => self == Self::of(text),
            Self::Xxh3(hash) => hash == xxh3(text),
        }
    }

    /// The hash as a number, to sort by.
    pub(crate) fn number(self) -> u128 {
        match self {
            Self::Blake3(bytes) => u128::from_le_bytes(bytes),
            Self::Xxh3(hash) => u128::from(hash),
        }
    }

    /// The first 8 bytes of BLAKE3 as a number, or XXH3.
    pub(crate) fn word(self) -> u64 {
        match self {
            Self::Blake3([a, b, c, d, e, f, g, h, ..]) => {
                u64::from_le_bytes([a, b, c, d, e, f, g, h])
            }
            Self::Xxh3(hash) => hash,
        }
    }
}

impl fmt::Display for TextHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blake3(bytes) => write!(f, "{:032x}", u128::from_be_bytes(*bytes)),
            Self::Xxh3(hash) => write!(f, "{hash:016x}"),
        }
    }
}

impl FromStr for TextHash {
    type Err = Error;

    fn from_str(digits: &str) -> Result<Self> {
        let fault = || Error::InvalidSetting {
            setting: "text hash",
            got: digits.to_owned(),
            expected: "32 or 16 hexadecimal digits",
        };
        // Only digits: `from_str_radix` also takes a sign.
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(fault());
        }
        match digits.len() {
            32 => u128::from_str_radix(digits, 16)
                .map(|number| Self::Blake3(number.to_be_bytes()))
                .map_err(|_| fault()),
            16 => u64::from_str_radix(digits, 16).map(Self::Xxh3).map_err(|_| fault()),
            _ => Err(fault()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_read_as_it_was_printed() {
        for hash in [TextHash::of(b"a text"), TextHash::Xxh3(0xF0_0000_0000_0001)] {
            assert_eq!(hash.to_string().parse::<TextHash>().expect("digits"), hash);
        }
        for digits in ["", "+1", "12345678901234567", "+0123456789abcde", "0123456789abcdeg"] {
            let error = digits.parse::<TextHash>().expect_err(digits);
            assert!(error.to_string().contains("hexadecimal digits"), "{error}");
        }
    }

    /// The empty input and the bytes 0, 1, 2 of the test vectors that BLAKE3 publishes.
    #[test]
    fn the_hash_of_a_text_is_blake3() {
        let of = |text: &[u8]| TextHash::of(text).to_string();
        assert_eq!(of(b""), "af1349b9f5f9a1a6a0404dea36dcc949");
        assert_eq!(of(&[0, 1, 2]), "e1be4d7a8ab5560aa4199eea339849ba");
    }

    #[test]
    fn a_text_is_told_by_either_hash() {
        let text = b"The quick brown fox jumps.";
        assert!(TextHash::of(text).is_of(text) && TextHash::Xxh3(xxh3(text)).is_of(text));
        assert!(!TextHash::of(text).is_of(b"") && !TextHash::Xxh3(xxh3(text)).is_of(b""));
    }
}
