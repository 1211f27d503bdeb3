//! The properties that cuts rely on, checked for every Unicode character.

use super::*;
use crate::text::normalize::is_in_word;
use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick, is_nfkc_quick};

fn plain() -> impl Iterator<Item = char> {
    PLAIN.into_iter().flatten()
}

fn lowered_sigma(before: &str, after: &str) -> char {
    let text = format!("{before}\u{3A3}{after}").to_lowercase();
    text.chars().find(|c| matches!(c, 'σ' | 'ς')).expect("a sigma")
}

#[test]
fn no_normalisation_form_changes_plain_characters() {
    for c in plain() {
        assert_eq!(canonical_combining_class(c), 0, "{c:?}");
        // `Yes` also means that the character cannot compose with anything before it.
        for c in std::iter::once(c).chain(c.to_lowercase()) {
            assert_eq!(is_nfc_quick(std::iter::once(c)), IsNormalized::Yes, "{c:?}");
            assert_eq!(is_nfkc_quick(std::iter::once(c)), IsNormalized::Yes, "{c:?}");
        }
    }
}

#[test]
fn the_lower_case_of_a_plain_character_is_plain() {
    for c in plain() {
        let lower: Vec<char> = c.to_lowercase().collect();
        assert!(lower.len() == 1 && is_plain(lower[0]), "{c:?} becomes {lower:?}");
        assert_ne!(c, '\u{3A3}');
    }
}

#[test]
fn a_plain_character_ends_the_search_for_the_neighbours_of_a_sigma() {
    for c in plain() {
        for far in ["", "1", "a", ".", "\u{301}"] {
            let before = [format!("{far}{c}"), format!("a{far}{c}")];
            assert_eq!(lowered_sigma(&before[0], ""), lowered_sigma(&before[1], ""), "{c:?}");
            let after = [format!("{c}{far}"), format!("{c}{far}a")];
            assert_eq!(lowered_sigma("a", &after[0]), lowered_sigma("a", &after[1]), "{c:?}");
        }
    }
}

#[test]
fn composition_and_lower_case_never_cross_white_space() {
    for c in (0..=u32::from(char::MAX)).filter_map(char::from_u32).filter(|c| c.is_whitespace()) {
        for space in [c.to_string(), c.nfc().collect(), c.nfkc().collect::<String>()] {
            assert!(space.chars().all(char::is_whitespace), "{c:?}");
            assert!(space.chars().all(|c| canonical_combining_class(c) == 0), "{c:?}");
            assert_eq!(is_nfkc_quick(" ".chars()), IsNormalized::Yes);
            for mark in ["\u{301}", "\u{338}", "\u{3099}", "\u{1161}"] {
                let apart = [space.nfkc().collect::<String>(), mark.nfkc().collect()].concat();
                assert_eq!(format!("{space}{mark}").nfkc().collect::<String>(), apart, "{c:?}");
            }
            assert_eq!(lowered_sigma(&format!("a{space}"), ""), lowered_sigma(&space, ""), "{c:?}");
            assert_eq!(lowered_sigma("a", &format!("{space}a")), lowered_sigma("a", &space));
        }
    }
}

/// If white space and short words are both dropped, the first pass joins the remaining words to one
/// long word. Further passes must not drop anything from it.
#[test]
fn word_characters_stay_word_characters_in_later_passes() {
    for c in (0..=u32::from(char::MAX)).filter_map(char::from_u32).filter(|c| is_in_word(*c)) {
        for form in [Form::Nfc, Form::Nfkc] {
            let of = |text: &str| -> String {
                match form {
                    Form::Nfkc => text.nfkc().collect(),
                    _ => text.nfc().collect(),
                }
            };
            // The result of one pass, and what the next pass makes of it.
            let once = of(c.encode_utf8(&mut [0; 4]));
            for c in once.chars().filter(|c| is_in_word(*c)) {
                let later = of(&c.to_lowercase().to_string());
                assert!(later.chars().all(is_in_word), "{c:?} becomes {later:?}");
            }
        }
    }
    // A character composed of word characters is a word character.
    for c in (0..=u32::from(char::MAX)).filter_map(char::from_u32) {
        let apart = std::iter::once(c).nfd();
        assert!(is_in_word(c) || !apart.into_iter().all(is_in_word), "{c:?}");
    }
}

#[test]
fn the_last_possible_cut_is_found() {
    let cut = |text: &str, list: &str| {
        let normalization = list.parse().expect("settings");
        last_cut(text, &normalization).map(|cut| (cut.end, cut.after_space))
    };
    assert_eq!(cut("some words. a\u{301}", "lower,nfc,space"), Some((12, true)));
    assert_eq!(cut("a words.of.many.signs\u{301}", "lower,nfc,space"), Some((19, false)));
    assert_eq!(cut("a words.of.many.signs\u{301}", "minword=3"), Some((2, true)));
    assert_eq!(cut("some words. a\u{301}", "lower,nfc,nospace"), Some((8, false)));
    assert_eq!(cut("some words. a\u{301}", "lower,nospace"), Some((12, true)));
    assert_eq!(cut("漢字漢字", "lower,nfkc,nospace"), Some((6, false)));
    for none in ["", "ab", "a.b.c.ab", "éééééé"] {
        assert_eq!(cut(none, "lower,nfc,space"), None, "{none:?}");
    }
}
