//! Aligned normalisation gives the characters of the other one, each from the right place.

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

/// Texts of characters that change with others, change their number, or vanish.
pub(in crate::text) fn tricky() -> impl Strategy<Value = String> {
    let letters = "aAzZ  \t\n\r\u{feff}.'0éÉİıßẞΣσςΌᾼ\u{301}\u{308}\u{345}\u{327}\u{344}ℌÅﬁﷺ¨½①ㅏ가각\
        \u{1100}\u{1161}\u{11a8}क्षक़\u{93c}หน\u{200d}👩漢字\u{2f800}\u{3000}\u{85}\u{2028}\u{1f}";
    let choices: Vec<char> = letters.chars().collect();
    let some = proptest::collection::vec(proptest::sample::select(choices), 0..24);
    prop_oneof![some.prop_map(|chars| chars.into_iter().collect()), any::<String>()]
}

/// Each character with what of the text it comes from.
pub(in crate::text) fn sources<'t>(text: &'t str, list: &str) -> Vec<(char, &'t str)> {
    let normalization = list.parse().expect("a list");
    let letters = align(text, 0, &normalization).into_iter();
    letters
        .map(|letter| (letter.character, &text[letter.start as usize..letter.end as usize]))
        .collect()
}

#[test]
fn all_characters_of_a_ligature_come_from_it() {
    let ligature = [('e', "e"), ('f', "ﬁ"), ('i', "ﬁ"), ('n', "n")];
    assert_eq!(sources("eﬁn", "nfkc"), ligature);
    assert_eq!(sources("½", "minword=1,nfkc"), [('1', "½"), (' ', "½"), ('2', "½")]);
}

#[test]
fn lower_case_may_be_longer_or_depend_on_its_neighbours() {
    assert_eq!(sources("aİb", "lower"), [('a', "a"), ('i', "İ"), ('\u{307}', "İ"), ('b', "b")]);
    let sigmas = [('σ', "Σ"), ('ς', "Σ"), (' ', " "), ('ß', "ẞ")];
    assert_eq!(sources("ΣΣ ẞ", "lower"), sigmas);
}

#[test]
fn one_space_comes_from_all_the_white_space_it_stands_for() {
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
    fn characters_are_those_of_the_fast_path(text in tricky()) {
        for settings in all_settings() {
            let letters = align(&text, 0, &settings);
            prop_assert_eq!(text_of(&letters), settings.apply(&text), "{}", settings);
            prop_assert!(letters.iter().all(|letter| letter.start < letter.end));
            let forward = |two: &[Letter]| two[0].start <= two[1].start && two[0].end <= two[1].end;
            prop_assert!(letters.windows(2).all(forward), "{}: {:?}", settings, letters);
            for letter in letters {
                prop_assert!(text.get(letter.start as usize..letter.end as usize).is_some());
            }
        }
    }

    /// What a character comes from is enough to make it, but for the sigma, which needs its word.
    #[test]
    fn the_source_of_a_character_makes_it(text in tricky()) {
        for form in [Form::Unchanged, Form::Nfc, Form::Nfkc] {
            for lower in [false, true] {
                let settings = Normalization { lower, form, whitespace: Whitespace::Keep, min_word: 0 };
                for letter in align(&text, 0, &settings) {
                    let made = settings.apply(&text[letter.start as usize..letter.end as usize]);
                    let found = made.contains(letter.character) || letter.character == 'ς';
                    prop_assert!(found, "{}: {:?} of {:?}", settings, letter, text);
                }
            }
        }
    }
}
