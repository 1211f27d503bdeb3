//! Located shingles have the hashes of the fast path and the right byte ranges.

use super::super::align::tests::{all_settings, tricky};
use super::*;
use crate::text::{Normalization, Whitespace};
use proptest::prelude::*;
use proptest::sample::select;

const KINDS: [Shingle; 10] = [
    Shingle::Chars(1),
    Shingle::Chars(3),
    Shingle::Chars(9),
    Shingle::Words(1),
    Shingle::Words(2),
    Shingle::Lines(1),
    Shingle::Lines(2),
    Shingle::Lines(40),
    Shingle::Words(50),
    Shingle::Tokens,
];

fn shingler(shingle: Shingle, list: &str) -> Shingler {
    Shingler::new(shingle, list.parse().expect("a list"), false, 0).expect("valid")
}

/// The part of the text that each shingle comes from.
fn shown<'t>(shingle: Shingle, list: &str, text: &'t str) -> Vec<&'t str> {
    let places = shingler(shingle, list).places(text).expect("short");
    places.into_iter().map(|place| &text[place]).collect()
}

#[test]
fn shingles_of_characters_have_ranges_of_the_original_text() {
    let text = " A\u{3000}\n e\u{301}漢";
    assert_eq!(
        shown(Shingle::Chars(3), "lower,nfc,space", text),
        ["A\u{3000}\n e\u{301}", "\u{3000}\n e\u{301}漢"]
    );
    assert_eq!(
        shown(Shingle::Chars(2), "nospace,nfc", text),
        ["A\u{3000}\n e\u{301}", "e\u{301}漢"]
    );
    assert_eq!(shown(Shingle::Chars(9), "space", text), ["A\u{3000}\n e\u{301}漢"]);
}

#[test]
fn ranges_of_words_and_lines_leave_out_surrounding_text() {
    assert_eq!(
        shown(Shingle::Words(2), "lower", "« One,  two; three! »"),
        ["One,  two", "two; three"]
    );
    assert_eq!(shown(Shingle::Words(1), "lower,nfc,space", "敏捷的"), ["敏", "捷", "的"]);
    assert_eq!(shown(Shingle::Words(2), "space", " ?! \u{2026} "), ["?! \u{2026}"]);
    assert_eq!(
        shown(Shingle::Lines(2), "none", "\u{feff}\na\r\n\r\n\tb  c \nd"),
        ["\u{feff}\na", "a\r\n\r\n\tb  c", "b  c \nd"]
    );
}

#[test]
fn ranges_of_tokens_and_elements_leave_out_separators() {
    assert_eq!(shown(Shingle::Tokens, "none", " b  aa\n"), ["b", "aa"]);
    assert_eq!(shown(Shingle::Tokens, "none", "a b\u{1f}\u{1f}c\u{1f}"), ["a b", "\u{1f}", "c"]);
    assert_eq!(shown(Shingle::Tokens, "space", " a \u{1f} \u{1f}c"), ["a", "c"]);
}

#[test]
fn an_empty_text_has_no_positions() {
    for shingle in KINDS {
        for text in ["", " \n\u{3000}"] {
            assert_eq!(shown(shingle, "lower,nfc,space", text), [""; 0], "{shingle}");
        }
    }
}

#[test]
fn byte_offsets_convert_at_every_character_boundary() {
    let text = "aé漢👩\u{301}".repeat(200);
    let offsets = CharOffsets::new(&text);
    for (count, (byte, _)) in text.char_indices().enumerate() {
        assert_eq!(offsets.at(byte), count);
    }
    assert_eq!(offsets.at(text.len()), 1000);
    assert_eq!(CharOffsets::new("").at(0), 0);
}

proptest! {
    #[test]
    fn hashes_are_those_of_the_fast_path(text in tricky(), shingle in select(&KINDS[..])) {
        for normalization in all_settings() {
            let shingler = Shingler::new(shingle, normalization, false, 5).expect("valid");
            let located = shingler.locate(&text).expect("short");
            let expected = shingler.hashes(&text);
            prop_assert_eq!(located.hashes, expected, "{} {}", shingle, normalization);
        }
    }

    #[test]
    fn every_range_is_not_empty_and_on_character_boundaries(
        text in tricky(), shingle in select(&KINDS[..]),
    ) {
        for normalization in all_settings() {
            let multiset = Shingler::new(shingle, normalization, true, 5).expect("valid");
            let places = multiset.places(&text).expect("short");
            prop_assert_eq!(places.len(), multiset.hashes(&text).len());
            prop_assert!(places.iter().all(|place| !text[place.clone()].is_empty()));
        }
    }

    #[test]
    fn without_normalisation_a_shingle_is_the_text_of_its_range(
        text in any::<String>(), width in 1_u16..12,
    ) {
        let shingle = Shingle::Chars(width);
        let keep = Normalization { whitespace: Whitespace::Keep, ..Normalization::NONE };
        let shingler = Shingler::new(shingle, keep, false, 0).expect("valid");
        let places = shingler.places(&text).expect("short");
        let hashes: Vec<u64> =
            places.iter().flat_map(|place| shingler.hashes(&text[place.clone()])).collect();
        prop_assert_eq!(hashes, shingler.hashes(&text));
    }
}
