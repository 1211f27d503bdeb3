//! Characters that know which bytes of the raw text they come from.

/// A character of the normalised text and the range of raw bytes it was made from.
///
/// In a normalised text, neither the starts nor the ends decrease from one character to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SourcedChar {
    pub(super) character: char,
    pub(super) start: u32,
    pub(super) end: u32,
}

/// Joins the characters, without their source ranges.
pub(super) fn text_of(letters: &[SourcedChar]) -> String {
    characters(letters).collect()
}

pub(super) fn characters(letters: &[SourcedChar]) -> impl Iterator<Item = char> + Clone {
    letters.iter().map(|letter| letter.character)
}
