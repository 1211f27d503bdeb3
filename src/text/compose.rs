//! Composition (UAX #15) that knows of each character from where in the raw text it comes.

use super::align::{Letter, characters};
use super::normalize::Form;
use unicode_normalization::char::{
    canonical_combining_class, compose as composite, decompose_canonical, decompose_compatible,
};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick, is_nfkc_quick};

/// A character that nothing can be taken from, and its canonical combining class.
struct Part {
    class: u8,
    letter: Letter,
}

/// The text in a form. A character comes from all that was composed to it. What lies between these
/// belongs to its place too, also marks that are characters of their own; where marks changed places,
/// theirs reach over each other.
pub(super) fn compose(letters: Vec<Letter>, form: Form) -> Vec<Letter> {
    let is_composed = match form {
        Form::Unchanged => IsNormalized::Yes,
        Form::Nfc => is_nfc_quick(characters(&letters)),
        Form::Nfkc => is_nfkc_quick(characters(&letters)),
    };
    if is_composed == IsNormalized::Yes {
        return letters;
    }
    let whole = composed(characters(&letters), form);
    let traced = traced(&letters, form);
    // It never differed. But rather vague than wrong, should the library do it another way one day.
    match characters(&traced).eq(whole.chars()) {
        true => traced,
        false => all_from_all(&letters, &whole),
    }
}

fn composed(characters: impl Iterator<Item = char>, form: Form) -> String {
    match form {
        Form::Unchanged => characters.collect(),
        Form::Nfc => characters.nfc().collect(),
        Form::Nfkc => characters.nfkc().collect(),
    }
}

/// These characters, each from anywhere in the text.
fn all_from_all(letters: &[Letter], whole: &str) -> Vec<Letter> {
    let ends = letters.first().zip(letters.last());
    let (start, end) = ends.map_or((0, 0), |(first, last)| (first.start, last.end));
    whole.chars().map(|character| Letter { character, start, end }).collect()
}

fn traced(letters: &[Letter], form: Form) -> Vec<Letter> {
    let mut parts = decomposed(letters, form);
    for marks in parts.split_mut(|part| part.class == 0) {
        // Of one class the first stays the first.
        marks.sort_by_key(|part| part.class);
    }
    let mut out = recomposed(&parts);
    widen(&mut out);
    out
}

fn decomposed(letters: &[Letter], form: Form) -> Vec<Part> {
    let mut parts = Vec::with_capacity(letters.len());
    for letter in letters {
        let character = letter.character;
        if character.is_ascii() {
            parts.push(Part { class: 0, letter: *letter });
            continue;
        }
        let push = |character| {
            let class = canonical_combining_class(character);
            parts.push(Part { class, letter: Letter { character, ..*letter } });
        };
        match form {
            Form::Nfkc => decompose_compatible(character, push),
            Form::Nfc | Form::Unchanged => decompose_canonical(character, push),
        }
    }
    parts
}

/// The canonical composition algorithm (Unicode, section 3.11, D117).
fn recomposed(parts: &[Part]) -> Vec<Letter> {
    let mut out: Vec<Letter> = Vec::with_capacity(parts.len());
    // Where the last starter stands, and the class of the last mark after it; 0 if none was left.
    let (mut starter, mut before) = (None, 0);
    for Part { class, letter } in parts {
        let is_blocked = before != 0 && before >= *class;
        // Nothing is composed with an ASCII character that comes second.
        if !is_blocked
            && !letter.character.is_ascii()
            && let Some(first) = starter.and_then(|at: usize| out.get_mut(at))
            && let Some(character) = composite(first.character, letter.character)
        {
            let (start, end) = (first.start.min(letter.start), first.end.max(letter.end));
            *first = Letter { character, start, end };
            continue;
        }
        if *class == 0 {
            starter = Some(out.len());
        }
        before = *class;
        out.push(*letter);
    }
    out
}

/// Widens places until neither beginnings nor ends go back, as they do where marks changed places.
fn widen(letters: &mut [Letter]) {
    let mut end = 0;
    for letter in letters.iter_mut() {
        end = letter.end.max(end);
        letter.end = end;
    }
    let mut start = u32::MAX;
    for letter in letters.iter_mut().rev() {
        start = letter.start.min(start);
        letter.start = start;
    }
}

#[cfg(test)]
#[path = "compose_tests.rs"]
mod tests;
