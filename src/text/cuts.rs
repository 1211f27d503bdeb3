//! Where a raw text can be cut so that its parts normalise apart: what makes normalising a stream exact.
//!
//! Lower case looks around for the sigma at the end of a word, composition (UAX #15) joins a character with
//! marks that follow, and dropped white space brings neighbours together. None of these reaches over the
//! two kinds of cut that are used here:
//!
//! - *after white space*, where the normalised text keeps something of it, or where one pass settles all;
//! - *between plain characters*: before a plain character that another one follows, and after a third.
//!   A plain character is not composed with anything before it, is not taken apart, begins a new word for
//!   marks (its combining class is 0), and ends the search for the neighbours of a sigma. So the second
//!   stays what it is, whatever comes later, and keeps what is behind it from what is before it. As plain
//!   characters become plain characters, this holds for every further pass as well.

use super::normalize::{Form, Normalization, Whitespace};
use std::ops::RangeInclusive;

/// The letters and digits that are taken to be plain: the scripts that are written in long stretches without
/// marks, each range without gaps. A test holds every character to what is asked of it.
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
    /// The first part ends before this byte.
    pub(super) end: usize,
    /// Whether white space lies there.
    pub(super) after_space: bool,
}

/// The last place at which this text, which goes on, can be cut; `None` if there is none. Looks at each
/// character once.
pub(super) fn last_cut(text: &str, normalization: &Normalization) -> Option<Cut> {
    let Normalization { form, whitespace, min_word, .. } = *normalization;
    // Where white space is dropped and a second pass may be needed, it meets the neighbours.
    let by_space = whitespace != Whitespace::Drop || form == Form::Unchanged || min_word > 0;
    let by_space = by_space.then(|| last_space(text)).flatten();
    match by_space {
        Some(cut) if cut.end >= text.len() / 2 => Some(cut),
        // A cut within a word would make two words of it, of which one could be too short.
        _ if min_word > 0 => by_space,
        _ => by_space.into_iter().chain(last_plain(text)).max_by_key(|cut| cut.end),
    }
}

fn last_space(text: &str) -> Option<Cut> {
    let (at, space) = text.char_indices().rfind(|(_, c)| c.is_whitespace())?;
    Some(Cut { end: at + space.len_utf8(), after_space: true })
}

/// The last place between plain characters, of which one comes before and two come after.
pub(super) fn last_plain(text: &str) -> Option<Cut> {
    let mut row = 0;
    let mut later = 0;
    for (at, c) in text.char_indices().rev() {
        row = if is_plain(c) { row + 1 } else { 0 };
        if row == 3 {
            return Some(Cut { end: later, after_space: false });
        }
        later = at;
    }
    None
}

#[cfg(test)]
#[path = "cuts_tests.rs"]
mod tests;
