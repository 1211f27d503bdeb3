//! Aligned normalisation produces the characters of the fast path, each with the right source.

use super::*;
use proptest::prelude::*;

pub(in crate::text) fn all_settings() -> Vec<Normalization> {
    let mut all = Vec::new();
    for lower in [false, true] {
        for form in [Form::Unchanged, Form::Nfc, Form::Nfkc] {
            for whitespace in [Whitespace::Keep, Whitespace::Fold, Whitespace::Drop] {
                for min_word in [0, 1, 3] {
                    all.push(Normalization { lower, form, whitespace, min_word });
                }
            }
        }
    }
    all
}

/// Random texts of characters that combine with others, become several, or disappear.
pub(in crate::text) fn tricky() -> impl Strategy<Value = String> {
    let letters = "aAzZ  \t\n\r\u{feff}.'0éÉİıßẞΣσςΌᾼ\u{301}\u{308}\u{345}\u{327}\u{344}ℌÅﬁﷺ¨½①ㅏ가각\
        \u{1100}\u{1161}\u{11a8}क्षक़\u{93c}หน\u{200d}👩漢字\u{2f800}\u{3000}\u{85}\u{2028}\u{1f}";
    let choices: Vec<char> = letters.chars().collect();
    let some = proptest::collection::vec(proptest::sample::select(choices), 0..24);
    prop_oneof![some.prop_map(|chars| chars.into_iter().collect()), any::<String>()]
}

/// Each normalised character with the part of the text it comes from.
pub(in crate::text) fn sources<'t>(text: &'t str, list: &str) -> Vec<(char, &'t str)> {
    let normalization = list.parse().expect("a list");
    let letters = align(text, 0, &normalization).into_iter();
    letters
        .map(|letter| (letter.character, &text[letter.start as usize..letter.end as usize]))
        .collect()
}

#[test]
fn every_character_of_a_ligature_has_the_ligature_as_source() {
    let ligature = [('e', "e"), ('f', "ﬁ"), ('i', "ﬁ"), ('n', "n")];
    assert_eq!(sources("eﬁn", "nfkc"), ligature);
    assert_eq!(sources("½", "minword=1,nfkc"), [('1', "½"), (' ', "½"), ('2', "½")]);
}

#[test]
fn lower_case_can_be_longer_and_can_depend_on_neighbours() {
    assert_eq!(sources("aİb", "lower"), [('a', "a"), ('i', "İ"), ('\u{307}', "İ"), ('b', "b")]);
    let sigmas = [('σ', "Σ"), ('ς', "Σ"), (' ', " "), ('ß', "ẞ")];
    assert_eq!(sources("ΣΣ ẞ", "lower"), sigmas);
}

#[test]
fn a_folded_space_has_the_whole_run_of_white_space_as_source() {
    assert_eq!(
        sources("\u{feff} a\r\n\u{3000} b\n", "space")[2..],
        [('a', "a"), (' ', "\r\n\u{3000} "), ('b', "b")]
    );
    assert_eq!(sources(" a b ", "nospace"), [('a', "a"), ('b', "b")]);
    let words =
        [('o', "o"), ('n', "n"), ('e', "e"), (' ', ", a; "), ('t', "t"), ('w', "w"), ('o', "o")];
    assert_eq!(sources("a one, a; two!", "minword=3"), words);
}

proptest! {
    #[test]
    fn aligned_normalisation_gives_the_characters_of_the_fast_path(text in tricky()) {
        for settings in all_settings() {
            let letters = align(&text, 0, &settings);
            prop_assert_eq!(text_of(&letters), settings.apply(&text), "{}", settings);
            prop_assert!(letters.iter().all(|letter| letter.start < letter.end));
            let forward = |two: &[SourcedChar]| {
                two[0].start <= two[1].start && two[0].end <= two[1].end
            };
            prop_assert!(letters.windows(2).all(forward), "{}: {:?}", settings, letters);
            for letter in letters {
                prop_assert!(text.get(letter.start as usize..letter.end as usize).is_some());
            }
        }
    }

    /// The final sigma is the exception: it depends on the rest of its word.
    #[test]
    fn normalising_the_source_of_a_character_produces_it(text in tricky()) {
        for form in [Form::Unchanged, Form::Nfc, Form::Nfkc] {
            for lower in [false, true] {
                let whitespace = Whitespace::Keep;
                let settings = Normalization { lower, form, whitespace, min_word: 0 };
                for letter in align(&text, 0, &settings) {
                    let made = settings.apply(&text[letter.start as usize..letter.end as usize]);
                    let found = made.contains(letter.character) || letter.character == 'ς';
                    prop_assert!(found, "{}: {:?} of {:?}", settings, letter, text);
                }
            }
        }
    }
}
