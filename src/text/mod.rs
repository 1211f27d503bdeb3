//! What is a document made of? Text is normalised and cut into shingles, and each shingle hashed.

mod align;
mod compose;
mod content;
mod cuts;
mod fold;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzz;
mod joining;
mod kmer;
mod normalize;
mod positions;
mod ranks;
mod shingle;
mod stream;
mod tokens;
mod units;
mod weights;
mod width;

pub use content::Content;
pub use normalize::{Form, Normalization, Whitespace};
pub use shingle::{Shingle, Shingler};
pub use stream::ShingleStream;
pub use tokens::Tokens;
pub use weights::Weights;

pub(crate) use positions::{CharOffsets, Located};
pub(crate) use shingle::Scratch;
pub(crate) use weights::add_equal;

use std::fmt;

/// Versions of the Unicode tables that normalising and cutting depend on.
///
/// They are stored in an index; a text with characters that are new in a later version could be
/// cut differently there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnicodeVersions {
    /// Of the standard library: lower case and white space.
    pub case: (u8, u8, u8),
    /// Of the normalisation forms.
    pub normalization: (u8, u8, u8),
    /// Of word boundaries.
    pub segmentation: (u8, u8, u8),
}

impl UnicodeVersions {
    /// The versions this build uses.
    pub fn current() -> Self {
        let small = |(a, b, c): (u64, u64, u64)| (a as u8, b as u8, c as u8);
        let (a, b, c) = unicode_normalization::UNICODE_VERSION;
        Self {
            case: char::UNICODE_VERSION,
            normalization: (a, b, c),
            segmentation: small(unicode_segmentation::UNICODE_VERSION),
        }
    }
}

impl fmt::Display for UnicodeVersions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = |(a, b, c): (u8, u8, u8)| format!("{a}.{b}.{c}");
        write!(
            f,
            "case {}, normalization {}, segmentation {}",
            show(self.case),
            show(self.normalization),
            show(self.segmentation)
        )
    }
}
