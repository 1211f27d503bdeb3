//! The kinds of shingles, and their text form.

use super::normalize::Normalization;
use crate::error::{Error, Result};
use std::fmt;
use std::str::FromStr;

/// The kind and the width of a shingle.
///
/// The text form is `char:9`, `word:3`, `line:2`, `token` or `kmer:21`.
///
/// ```
/// use twindex::Shingle;
/// assert_eq!("word:3".parse::<Shingle>()?, Shingle::words(3));
/// assert_eq!(Shingle::default().to_string(), "char:9");
/// assert!("char:0".parse::<Shingle>().is_err());
/// # Ok::<(), twindex::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Shingle {
    /// A number of consecutive characters (Unicode scalar values), from 1 to 1000.
    Chars(u16),
    /// A number of consecutive words, in order, from 1 to 1000. Word boundaries are those of
    /// UAX #29, so Chinese and Japanese are split too.
    Words(u16),
    /// A number of consecutive non-empty lines, from 1 to 1000, with white space folded within
    /// each. Suits source code.
    Lines(u16),
    /// The text is already a set, and its elements are separated by white space. If the text holds
    /// the character U+001F, each element ends in U+001F instead, and may then be empty or hold
    /// white space.
    Tokens,
    /// A number of consecutive letters of DNA, from 1 to 32, equal to their reverse complement: the
    /// canonical k-mers of Mash (Ondov et al. 2016, Methods).
    ///
    /// The letters are A, C, G and T in either case, and U, which is read as T. The text is a bare
    /// sequence or FASTA: a line that begins with `>` separates sequences, and a line that begins
    /// with `;` is skipped, as are line breaks, spaces, tabs and form feeds. Any other character
    /// (N, a gap) interrupts the sequence, and no k-mer holds it. A text without a k-mer is empty:
    /// unlike other shingles, a sequence shorter than k letters is not a shingle by itself.
    Kmers(u16),
}

impl Default for Shingle {
    /// Returns shingles of 9 characters.
    fn default() -> Self {
        Self::Chars(9)
    }
}

impl Shingle {
    /// The greatest number of characters, words or lines in a shingle.
    pub const MAX_WIDTH: u16 = 1000;

    /// The greatest number of letters in a k-mer: 32 letters of two bits fill 64 bits.
    pub const MAX_KMER: u16 = 32;

    /// Returns shingles of `n` characters.
    pub const fn chars(n: u16) -> Self {
        Self::Chars(n)
    }

    /// Returns shingles of `n` words.
    pub const fn words(n: u16) -> Self {
        Self::Words(n)
    }

    /// Returns shingles of `n` lines.
    pub const fn lines(n: u16) -> Self {
        Self::Lines(n)
    }

    /// Returns canonical k-mers of `k` letters. 21 letters distinguish bacterial genomes (Ondov et
    /// al. 2016).
    pub const fn kmers(k: u16) -> Self {
        Self::Kmers(k)
    }

    /// Returns the default normalisation for this kind of shingle: `none` for tokens, which are
    /// exact names, and for k-mers; `lower,nfc,space` for all others.
    pub fn default_normalization(self) -> Normalization {
        match self {
            Self::Tokens | Self::Kmers(_) => Normalization::NONE,
            _ => Normalization::default(),
        }
    }

    /// Returns the number of letters of a k-mer; `None` for other shingles.
    pub fn kmer_width(self) -> Option<u16> {
        match self {
            Self::Kmers(k) => Some(k),
            _ => None,
        }
    }

    /// The number of units (characters, words, lines, tokens or letters) in a shingle.
    pub(crate) const fn units(self) -> usize {
        match self {
            Self::Chars(n) | Self::Words(n) | Self::Lines(n) | Self::Kmers(n) => n as usize,
            Self::Tokens => 1,
        }
    }

    /// Checks the width, and that k-mers are not normalised: normalisation would join or drop
    /// lines.
    pub(crate) fn validate_with(self, normalization: &Normalization) -> Result<Self> {
        let shingle = self.validate()?;
        match shingle {
            Self::Kmers(_) if *normalization != Normalization::NONE => Err(Error::InvalidSetting {
                setting: "normalization",
                got: format!("{normalization} with {shingle}"),
                expected: "none, as k-mers are letters of DNA, which are not normalised",
            }),
            _ => Ok(shingle),
        }
    }

    pub(crate) fn validate(self) -> Result<Self> {
        match self {
            Self::Tokens => Ok(self),
            Self::Chars(n) | Self::Words(n) | Self::Lines(n)
                if (1..=Self::MAX_WIDTH).contains(&n) =>
            {
                Ok(self)
            }
            Self::Kmers(k) if (1..=Self::MAX_KMER).contains(&k) => Ok(self),
            _ => Err(invalid(&self.to_string())),
        }
    }
}

fn invalid(got: &str) -> Error {
    Error::InvalidSetting {
        setting: "shingle",
        got: got.to_owned(),
        expected: "char:N, word:N or line:N with N from 1 to 1000, token, \
                   or kmer:N with N from 1 to 32",
    }
}

impl fmt::Display for Shingle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Chars(n) => write!(f, "char:{n}"),
            Self::Words(n) => write!(f, "word:{n}"),
            Self::Lines(n) => write!(f, "line:{n}"),
            Self::Tokens => f.write_str("token"),
            Self::Kmers(k) => write!(f, "kmer:{k}"),
        }
    }
}

impl FromStr for Shingle {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let bad = || invalid(text);
        if text == "token" {
            return Ok(Self::Tokens);
        }
        let (kind, width) = text.split_once(':').ok_or_else(bad)?;
        let width = width.parse().map_err(|_| bad())?;
        match kind {
            "char" => Self::Chars(width).validate(),
            "word" => Self::Words(width).validate(),
            "line" => Self::Lines(width).validate(),
            "kmer" => Self::Kmers(width).validate(),
            _ => Err(bad()),
        }
    }
}
