//! The source of a composed character holds what was composed into it, and nothing else unless
//! marks were reordered.

use super::super::align::align;
use super::super::align::tests::{sources, tricky};
use super::super::normalize::{Normalization, Whitespace};
use super::super::sourced::text_of;
use super::*;
use proptest::prelude::*;

fn places(text: &str, form: Form) -> Vec<SourcedChar> {
    let whitespace = Whitespace::Keep;
    align(text, 0, &Normalization { lower: false, form, whitespace, min_word: 0 })
}

#[test]
fn composed_characters_come_from_letter_and_marks() {
    assert_eq!(sources("Cafe\u{301}s", "nfc")[3..], [('é', "e\u{301}"), ('s', "s")]);
    assert_eq!(
        sources("x\u{1100}\u{1161}\u{11a8}y", "nfc")[1..],
        [('각', "\u{1100}\u{1161}\u{11a8}"), ('y', "y")]
    );
    // A character excluded from composition becomes two with the same source.
    assert_eq!(sources("\u{958}", "nfc"), [('क', "\u{958}"), ('\u{93c}', "\u{958}")]);
    assert_eq!(sources("aÅ", "nfc"), [('a', "a"), ('Å', "Å")]);
}

#[test]
fn a_mark_that_stays_uncomposed_has_its_own_source() {
    assert_eq!(sources("a\u{301}\u{301}", "nfc"), [('á', "a\u{301}"), ('\u{301}', "\u{301}")]);
    assert_eq!(
        sources("\u{212b}\u{1161}\u{11ab}", "nfc"),
        [('Å', "\u{212b}"), ('\u{1161}', "\u{1161}"), ('\u{11ab}', "\u{11ab}")]
    );
    // A mark that was composed only in part is in both sources.
    assert_eq!(sources("a\u{344}", "nfc"), [('ä', "a\u{344}"), ('\u{301}', "\u{344}")]);
}

#[test]
fn reordered_marks_have_overlapping_sources() {
    assert_eq!(
        sources("b\u{301}\u{323}", "nfkc"),
        [('ḅ', "b\u{301}\u{323}"), ('\u{301}', "\u{301}\u{323}")]
    );
    assert_eq!(
        sources("a\u{301}\u{327}x", "nfc"),
        [('á', "a\u{301}"), ('\u{327}', "\u{327}"), ('x', "x")]
    );
    assert_eq!(
        sources("x\u{301}\u{327}\u{327}", "nfc"),
        [
            ('x', "x"),
            ('\u{327}', "\u{301}\u{327}"),
            ('\u{327}', "\u{301}\u{327}\u{327}"),
            ('\u{301}', "\u{301}\u{327}\u{327}")
        ]
    );
}

#[test]
fn the_fallback_gives_every_character_the_whole_text_as_source() {
    let letters = align("ae\u{301} b", 0, &Normalization::NONE);
    let coarse = with_common_source(&letters, "aé b");
    assert_eq!(text_of(&coarse), "aé b");
    assert!(coarse.iter().all(|letter| (letter.start, letter.end) == (0, 6)), "{coarse:?}");
}

/// Each character follows characters of several kinds: Latin, Bengali, Hangul, marks, Malayalam.
#[test]
fn every_pair_composes_as_the_unicode_library_composes_it() {
    let before = "a\u{9c7}\u{1100}가e\u{301}\u{308}\u{d4a}\u{1133}";
    // Most ideographs and Hangul syllables are left out, as they all behave alike.
    let some =
        ('\u{80}'..='\u{3400}').chain('\u{a000}'..='\u{ac1c}').chain('\u{f900}'..='\u{1ffff}');
    for second in some.chain('\u{2f800}'..='\u{2fa1f}') {
        for form in [Form::Nfc, Form::Nfkc] {
            let text: String = before.chars().flat_map(|first| [first, second]).collect();
            let letters = align(&text, 0, &Normalization::NONE);
            let found = text_of(&traced(&letters, form));
            assert_eq!(found, composed(text.chars(), form), "{second:?}");
        }
    }
}

/// The fully decomposed characters of a text, sorted.
fn parts(text: &str, form: Form) -> Vec<char> {
    let mut parts: Vec<char> = match form {
        Form::Nfkc => text.nfkd().collect(),
        Form::Nfc | Form::Unchanged => text.nfd().collect(),
    };
    parts.sort_unstable();
    parts
}

proptest! {
    #[test]
    fn any_sequence_of_marks_composes_as_the_unicode_library_composes_it(
        text in "[aeńﬁ\u{1100}\u{1161}\u{11ab}\u{301}\u{308}\u{344}\u{327}\
            \u{323}\u{345}\u{1d165}]{0,40}",
    ) {
        for form in [Form::Nfc, Form::Nfkc] {
            let letters = align(&text, 0, &Normalization::NONE);
            prop_assert_eq!(text_of(&traced(&letters, form)), composed(text.chars(), form));
        }
    }

    /// Without reordered marks, every byte is in the source of exactly one character.
    #[test]
    fn sources_are_exact_where_nothing_is_reordered(
        text in "[abe áế\u{212b}\u{301}\u{302}\u{1100}\u{1161}\u{11ab}가각漢]{0,30}",
    ) {
        let mut at = 0;
        for letter in places(&text, Form::Nfc) {
            prop_assert_eq!(letter.start, at);
            let source = &text[letter.start as usize..letter.end as usize];
            prop_assert_eq!(composed(source.chars(), Form::Nfc), letter.character.to_string());
            at = letter.end;
        }
        prop_assert_eq!(at as usize, text.len());
    }

    /// The source of a run of characters holds every letter and mark that was composed into them.
    #[test]
    fn the_source_of_characters_holds_everything_composed_into_them(
        text in prop_oneof![tricky(), "[ae\u{301}\u{327}\u{323}\u{344}ếç\u{345}]{0,12}"],
        first in 0_usize..24, more in 1_usize..6,
    ) {
        for form in [Form::Nfc, Form::Nfkc] {
            let letters = places(&text, form);
            let some = letters.get(first..letters.len().min(first + more)).unwrap_or_default();
            let Some((start, end)) = some.first().zip(some.last()) else { continue };
            let mut found = parts(&text[start.start as usize..end.end as usize], form).into_iter();
            let wanted = parts(&text_of(some), form);
            let holds_all = wanted.iter().all(|part| found.any(|here| here == *part));
            prop_assert!(holds_all, "{:?}: {:?}", text, some);
        }
    }
}
