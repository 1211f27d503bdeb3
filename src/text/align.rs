//! Normalisation that knows of each character from where in the raw text it comes.
//!
//! The steps are those of [`Normalization::apply`], one character at a time and beside the fast
//! path, and must give the same characters.

use super::compose::compose;
use super::normalize::{Form, Normalization, Whitespace, is_in_word};

/// A character of the normalised text and the bytes of the raw text that became it, from the first
/// to the last. Neither beginnings nor ends ever go back from letter to letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Letter {
    pub(super) character: char,
    pub(super) start: u32,
    pub(super) end: u32,
}

/// The normalised text of a raw one that begins at `offset`. All of it must lie below 4 GiB.
pub(super) fn align(raw: &str, offset: usize, normalization: &Normalization) -> Vec<Letter> {
    let letters = raw.char_indices().map(|(at, character)| {
        let start = offset + at;
        Letter { character, start: start as u32, end: (start + character.len_utf8()) as u32 }
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

/// The characters alone.
pub(super) fn text_of(letters: &[Letter]) -> String {
    characters(letters).collect()
}

pub(super) fn characters(letters: &[Letter]) -> impl Iterator<Item = char> + Clone {
    letters.iter().map(|letter| letter.character)
}

fn pass(mut letters: Vec<Letter>, normalization: &Normalization) -> Vec<Letter> {
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

/// Each character's lower case. Which of its two a sigma gets depends on the text around it, so the
/// text is lowered as a whole and shared out.
fn lower(mut letters: Vec<Letter>) -> Vec<Letter> {
    if letters.iter().all(|letter| letter.character.is_ascii()) {
        letters.iter_mut().for_each(|letter| letter.character.make_ascii_lowercase());
        return letters;
    }
    let lowered = text_of(&letters).to_lowercase();
    let mut lowered = lowered.chars();
    let mut out = Vec::with_capacity(letters.len());
    for letter in letters {
        let own = letter.character.to_lowercase().count();
        out.extend(lowered.by_ref().take(own).map(|character| Letter { character, ..letter }));
    }
    out
}

/// The words of at least `least` characters, joined by one space, which stands for all that lies
/// between them.
fn long_words(letters: &[Letter], least: usize) -> Vec<Letter> {
    let mut out = Vec::with_capacity(letters.len());
    // Where the last word that was kept ends, and where this stretch begins.
    let (mut kept, mut at) = (0, 0);
    for run in letters.chunk_by(|x, y| is_in_word(x.character) == is_in_word(y.character)) {
        let is_word = run.first().is_some_and(|letter| is_in_word(letter.character));
        if is_word && run.len() >= least {
            if !out.is_empty() {
                out.extend(joined(&letters[kept..at]));
            }
            out.extend_from_slice(run);
            kept = at + run.len();
        }
        at += run.len();
    }
    out
}

/// Each run of white space as one space, trimmed at both ends.
fn fold_spaces(letters: &[Letter]) -> Vec<Letter> {
    let mut out = Vec::with_capacity(letters.len());
    let mut space = None;
    let is_space = |letter: &Letter| letter.character.is_whitespace();
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

/// One space for all of these.
fn joined(letters: &[Letter]) -> Option<Letter> {
    let (first, last) = letters.first().zip(letters.last())?;
    Some(Letter { character: ' ', start: first.start, end: last.end })
}

#[cfg(test)]
#[path = "align_tests.rs"]
pub(super) mod tests;
