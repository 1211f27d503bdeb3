//! Composition (UAX #15) that records which bytes of the raw text each character comes from.

use super::normalize::Form;
use super::sourced::{SourcedChar, characters};
use unicode_normalization::char::{
    canonical_combining_class, compose as composite, decompose_canonical, decompose_compatible,
};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick, is_nfkc_quick};

/// A fully decomposed character and its canonical combining class.
struct Part {
    class: u8,
    letter: SourcedChar,
}

/// Converts a text to a normalisation form.
///
/// The source of a composed character is the range from the first to the last character that was
/// composed into it. The range can include marks in between that stayed separate characters. If
/// composition reordered marks, their sources overlap.
pub(super) fn compose(letters: Vec<SourcedChar>, form: Form) -> Vec<SourcedChar> {
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
    // The two have never differed. If a later version of the library composes differently, the
    // characters stay right and only the sources become coarse.
    if characters(&traced).eq(whole.chars()) {
        traced
    } else {
        with_common_source(&letters, &whole)
    }
}

fn composed(characters: impl Iterator<Item = char>, form: Form) -> String {
    match form {
        Form::Unchanged => characters.collect(),
        Form::Nfc => characters.nfc().collect(),
        Form::Nfkc => characters.nfkc().collect(),
    }
}

/// Gives every character the whole text as its source.
fn with_common_source(letters: &[SourcedChar], whole: &str) -> Vec<SourcedChar> {
    let ends = letters.first().zip(letters.last());
    let (start, end) = ends.map_or((0, 0), |(first, last)| (first.start, last.end));
    whole.chars().map(|character| SourcedChar { character, start, end }).collect()
}

fn traced(letters: &[SourcedChar], form: Form) -> Vec<SourcedChar> {
    let mut parts = decomposed(letters, form);
    for marks in parts.split_mut(|part| part.class == 0) {
        // The sort must be stable: marks of the same class keep their order.
        marks.sort_by_key(|part| part.class);
    }
    let mut out = recomposed(&parts);
    widen(&mut out);
    out
}

fn decomposed(letters: &[SourcedChar], form: Form) -> Vec<Part> {
    let mut parts = Vec::with_capacity(letters.len());
    for letter in letters {
        let character = letter.character;
        if character.is_ascii() {
            parts.push(Part { class: 0, letter: *letter });
            continue;
        }
        let push = |character| {
            let class = canonical_combining_class(character);
            parts.push(Part { class, letter: SourcedChar { character, ..*letter } });
        };
        match form {
            Form::Nfkc => decompose_compatible(character, push),
            Form::Nfc | Form::Unchanged => decompose_canonical(character, push),
        }
    }
    parts
}

/// The canonical composition algorithm (Unicode, section 3.11, D117).
fn recomposed(parts: &[Part]) -> Vec<SourcedChar> {
    let mut out: Vec<SourcedChar> = Vec::with_capacity(parts.len());
    // The position of the last starter, and the class of the last uncomposed mark after it (0 if
    // there is none).
    let (mut starter, mut last_class) = (None, 0);
    for Part { class, letter } in parts {
        let is_blocked = last_class != 0 && last_class >= *class;
        // No ASCII character is the second of a composed pair.
        if !is_blocked
            && !letter.character.is_ascii()
            && let Some(first) = starter.and_then(|at: usize| out.get_mut(at))
            && let Some(character) = composite(first.character, letter.character)
        {
            let (start, end) = (first.start.min(letter.start), first.end.max(letter.end));
            *first = SourcedChar { character, start, end };
            continue;
        }
        if *class == 0 {
            starter = Some(out.len());
        }
        last_class = *class;
        out.push(*letter);
    }
    out
}

/// Widens source ranges until neither starts nor ends decrease. They decrease where marks were
/// reordered.
fn widen(letters: &mut [SourcedChar]) {
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
