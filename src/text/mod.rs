//! What is a document made of? Its text is normalised and cut into shingles, and each shingle is
//! hashed.

mod align;
mod ascii;
mod ascii_wide;
mod chunked;
mod compose;
mod content;
mod cuts;
mod fold;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzz;
mod kind;
mod kmer;
mod normalize;
mod positions;
mod ranks;
mod sequence;
mod shingle;
mod stream;
mod stretches;
mod tokens;
mod units;
mod weights;
mod width;

pub use content::Content;
pub use kind::Shingle;
pub use normalize::{Form, Normalization, Whitespace};
pub use shingle::Shingler;
pub use stream::ShingleStream;
pub use tokens::Tokens;
pub use weights::Weights;

pub(crate) use positions::{CharOffsets, Located, UnitPlaces};
pub(crate) use sequence::UnitNumbers;
pub(crate) use shingle::Scratch;
pub(crate) use units::ELEMENT_END;
pub(crate) use weights::add_equal;

use std::fmt;

/// The versions of the Unicode tables that normalisation and segmentation depend on, each as major,
/// minor and update number.
///
/// An index stores the versions it was created with. A build with newer tables may cut a text
/// differently if the text holds characters that Unicode added in between.
///
/// ```
/// let versions = twindex::UnicodeVersions::current();
/// assert!(versions.case.0 >= 15);
/// assert!(versions.to_string().starts_with("case "));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnicodeVersions {
    /// The version of lower case and white space (the standard library).
    pub case: (u8, u8, u8),
    /// The version of the normalisation forms.
    pub normalization: (u8, u8, u8),
    /// The version of the word boundaries.
    pub segmentation: (u8, u8, u8),
}

impl UnicodeVersions {
    /// Returns the versions that this build uses.
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
