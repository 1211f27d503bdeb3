//! Normalisation that records which bytes of the raw text each normalised character comes from.
//!
//! The steps are those of [`Normalization::apply`], without its fast paths and one character at a
//! time. Both must produce the same characters; the tests compare them.

use super::compose::compose;
use super::normalize::{Form, Normalization, Whitespace, is_in_word};
use super::sourced::{SourcedChar, characters, text_of};

/// Normalises a raw text. Its first byte has the position `offset`; all positions must be below
/// 4 GiB.
pub(super) fn align(raw: &str, offset: usize, normalization: &Normalization) -> Vec<SourcedChar> {
    let letters = raw.char_indices().map(|(at, character)| {
        let start = offset + at;
        SourcedChar { character, start: start as u32, end: (start + character.len_utf8()) as u32 }
    });
    let mut letters = pass(letters.collect(), normalization);
    while !normalization.settles_at_once() {
        let again = pass(letters.clone(), normalization);
        if characters(&again).eq(characters(&letters)) {
            break;
        }
        letters = again;
    }
    letters
}

fn pass(mut letters: Vec<SourcedChar>, normalization: &Normalization) -> Vec<SourcedChar> {
    if normalization.lower {
        letters = lower(letters);
    }
    if normalization.form != Form::Unchanged {
        letters = compose(letters, normalization.form);
    }
    if normalization.min_word > 0 {
        letters = long_words(&letters, usize::from(normalization.min_word));
    }
    match normalization.whitespace {
        Whitespace::Keep => {}
        Whitespace::Fold => letters = fold_spaces(&letters),
        Whitespace::Drop => letters.retain(|letter| !letter.character.is_whitespace()),
    }
    letters
}

/// Lowers each character. The lower case of a sigma depends on the text around it, so the text is
/// lowered as a whole and the result is distributed over the characters.
fn lower(mut letters: Vec<SourcedChar>) -> Vec<SourcedChar> {
    if letters.iter().all(|letter| letter.character.is_ascii()) {
        letters.iter_mut().for_each(|letter| letter.character.make_ascii_lowercase());
        return letters;
    }
    let lowered = text_of(&letters).to_lowercase();
    let mut lowered = lowered.chars();
    let mut out = Vec::with_capacity(letters.len());
    for letter in letters {
        let own = letter.character.to_lowercase().count();
        out.extend(lowered.by_ref().take(own).map(|character| SourcedChar { character, ..letter }));
    }
    out
}

/// Keeps the words of at least `least` characters and joins them by one space. The source of that
/// space is everything between the two words.
fn long_words(letters: &[SourcedChar], least: usize) -> Vec<SourcedChar> {
    let mut out = Vec::with_capacity(letters.len());
    // The end of the last word that was kept, and the start of the current run.
    let (mut kept_end, mut at) = (0, 0);
    for run in letters.chunk_by(|x, y| is_in_word(x.character) == is_in_word(y.character)) {
        let is_word = run.first().is_some_and(|letter| is_in_word(letter.character));
        if is_word && run.len() >= least {
            if !out.is_empty() {
                out.extend(joined(&letters[kept_end..at]));
            }
            out.extend_from_slice(run);
            kept_end = at + run.len();
        }
        at += run.len();
    }
    out
}

/// Replaces each run of white space by one space and trims both ends.
fn fold_spaces(letters: &[SourcedChar]) -> Vec<SourcedChar> {
    let mut out = Vec::with_capacity(letters.len());
    let mut space = None;
    let is_space = |letter: &SourcedChar| letter.character.is_whitespace();
    for run in letters.chunk_by(|x, y| is_space(x) == is_space(y)) {
        if run.first().is_some_and(is_space) {
            space = joined(run).filter(|_| !out.is_empty());
        } else {
            out.extend(space.take());
            out.extend_from_slice(run);
        }
    }
    out
}

/// One space whose source is all of these characters.
fn joined(letters: &[SourcedChar]) -> Option<SourcedChar> {
    let (first, last) = letters.first().zip(letters.last())?;
    Some(SourcedChar { character: ' ', start: first.start, end: last.end })
}

#[cfg(test)]
#[path = "align_tests.rs"]
pub(super) mod tests;
