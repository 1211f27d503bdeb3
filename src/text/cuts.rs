//! Places where a raw text can be cut so that its parts can be normalised separately. They make the
//! normalisation of a stream exact.
//!
//! Three steps of normalisation look at neighbouring characters: the lower case of a sigma depends
//! on whether it ends a word, composition (UAX #15) joins a character with the marks after it, and
//! dropping white space makes distant characters neighbours. None of them crosses the two kinds of
//! cut that this module uses:
//!
//! - *After white space*, if the normalised text keeps a space there or if one pass is enough.
//! - *Between plain characters*: of three plain characters in a row, the cut is after the first. A
//!   plain character does not compose with anything before it, does not decompose, has combining
//!   class 0 and therefore stops the reordering of marks, and ends the search for the neighbours of
//!   a sigma. So no later text changes the second of the three, and it separates the text on its
//!   two sides. Normalisation maps plain characters to plain characters, so the argument holds for
//!   every further pass.

use super::normalize::{Form, Normalization, Whitespace};
use std::ops::RangeInclusive;

/// The plain characters: letters and digits of scripts that are written in long runs without marks,
/// as ranges without gaps. A test checks the required properties of every character.
const PLAIN: [RangeInclusive<char>; 11] = [
    '0'..='9',
    'A'..='Z',
    'a'..='z',
    // Cyrillic, Hebrew, Arabic.
    '\u{410}'..='\u{44F}',
    '\u{5D0}'..='\u{5EA}',
    '\u{627}'..='\u{63A}',
    '\u{641}'..='\u{64A}',
    // Hiragana, katakana, ideographs, Hangul.
    '\u{3041}'..='\u{3096}',
    '\u{30A1}'..='\u{30FA}',
    '\u{4E00}'..='\u{9FFF}',
    '\u{AC00}'..='\u{D7A3}',
];

fn is_plain(c: char) -> bool {
    PLAIN.iter().any(|range| range.contains(&c))
}

/// A place to cut a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    /// The length in bytes of the first part.
    pub(super) end: usize,
    /// Whether the first part ends in white space.
    pub(super) after_space: bool,
}

/// The last place at which a text can be cut if more text may follow; `None` if there is none. The
/// cost is linear in the length of the text.
pub(super) fn last_cut(text: &str, normalization: &Normalization) -> Option<Cut> {
    let Normalization { form, whitespace, min_word, .. } = *normalization;
    // If white space is dropped, its neighbours can interact in a second pass.
    let by_space = whitespace != Whitespace::Drop || form == Form::Unchanged || min_word > 0;
    let by_space = by_space.then(|| last_space(text)).flatten();
    match by_space {
        Some(cut) if cut.end >= text.len() / 2 => Some(cut),
        // A cut within a word would make two words, and one of them could be too short.
        _ if min_word > 0 => by_space,
        _ => by_space.into_iter().chain(last_plain(text)).max_by_key(|cut| cut.end),
    }
}

fn last_space(text: &str) -> Option<Cut> {
    let (at, space) = text.char_indices().rfind(|(_, c)| c.is_whitespace())?;
    Some(Cut { end: at + space.len_utf8(), after_space: true })
}

/// The last place with one plain character before it and two plain characters after it.
pub(super) fn last_plain(text: &str) -> Option<Cut> {
    let mut run = 0;
    let mut next = 0;
    for (at, c) in text.char_indices().rev() {
        run = if is_plain(c) { run + 1 } else { 0 };
        if run == 3 {
            return Some(Cut { end: next, after_space: false });
        }
        next = at;
    }
    None
}

#[cfg(test)]
#[path = "cuts_tests.rs"]
mod tests;
