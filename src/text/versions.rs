//! The versions of the Unicode tables.

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
