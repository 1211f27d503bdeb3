//! Passages cover all shared shingles, have the right positions, and take linear time.

use super::*;
use crate::text::Normalization;
use proptest::prelude::*;
use std::collections::BTreeSet;

fn shingler(shingle: &str, list: &str, multiset: bool) -> Shingler {
    let (shingle, list) = (shingle.parse().expect("a shingle"), list.parse().expect("a list"));
    Shingler::new(shingle, list, multiset, 0).expect("valid")
}

/// The text of each passage in both texts.
fn shared<'t>(shingle: &str, a: &'t str, b: &'t str) -> Vec<(&'t str, &'t str)> {
    let explanation = Explanation::new(&shingler(shingle, "lower,nfc,space", false), a, b);
    let passages = explanation.expect("short").passages.into_iter();
    passages.map(|passage| (&a[passage.a.bytes()], &b[passage.b.bytes()])).collect()
}

#[test]
fn a_passage_extends_as_far_as_both_texts_agree() {
    let (a, b) = ("xx the quick brown fox yy", "the QUICK  brown fox, zz");
    assert_eq!(shared("char:5", a, b), [("the quick brown fox", "the QUICK  brown fox")]);
    assert_eq!(shared("word:2", a, b), [("the quick brown fox", "the QUICK  brown fox")]);
    assert_eq!(shared("word:5", a, b), []);
}

#[test]
fn what_is_equal_between_the_same_passages_is_no_difference() {
    let differences = |shingle: &str, a: &str, b: &str| {
        let found = Explanation::new(&shingler(shingle, "lower,nfc,space", false), a, b);
        let found = found.expect("short");
        let of = |text: &str, spans: Vec<Span>| -> Vec<String> {
            spans.into_iter().map(|span| text[span.bytes()].to_owned()).collect()
        };
        (of(a, found.differences_in_a()), of(b, found.differences_in_b()))
    };
    let none = || (Vec::<String>::new(), Vec::<String>::new());
    let text = "\u{ab}The quick brown fox.\u{bb} It jumps over the dog!\n";
    assert_eq!(differences("word:3", text, text), none());
    assert_eq!(differences("word:5", "too short.", "too short."), none());
    let (a, b) = ("The quick brown fox. It jumps.", "The quick brown fox. It jumps?");
    assert_eq!(differences("word:2", a, b), (vec![".".into()], vec!["?".into()]));
    // Passages in another order are not between the same ones.
    let (a, b) = ("one two three. four five six!", "four five six! one two three.");
    let (in_a, in_b) = differences("word:3", a, b);
    assert!(!in_a.is_empty() && !in_b.is_empty(), "{in_a:?} {in_b:?}");
}

#[test]
fn spans_are_positions_in_the_original_texts() {
    let (a, b) = ("1 Le Cafe\u{301}\u{a0}\u{a0}NOIR. 2", "Un\tle café\nnoir.");
    assert_eq!(shared("char:6", a, b), [(" Le Cafe\u{301}\u{a0}\u{a0}NOIR.", "\tle café\nnoir.")]);
    let (a, b) = ("【敏捷的棕色狐狸】跳过", "一只敏捷的棕色狐狸。");
    assert_eq!(shared("char:4", a, b), [("敏捷的棕色狐狸", "敏捷的棕色狐狸")]);
    let found = Explanation::new(&shingler("char:4", "none", false), a, b).expect("short");
    let Span { start, end, char_start, char_end } = found.passages[0].b;
    assert_eq!((start, end, char_start, char_end), (6, 27, 2, 9));
    assert_eq!((found.share_of_a(), found.share_of_b()), (7.0 / 11.0, 7.0 / 10.0));
}

#[test]
fn marks_that_only_one_text_has_lie_in_no_passage() {
    let accents = ("a\u{301}", "a\u{301}\u{301}");
    assert_eq!(shared("char:1", accents.0, accents.1), [("a\u{301}", "a\u{301}")]);
    let jamos = ("\u{212b}", "\u{212b}\u{1161}\u{11ab}");
    assert_eq!(shared("char:1", jamos.0, jamos.1), [("\u{212b}", "\u{212b}")]);
    let (a, b) = ("na\u{301}\u{301} x", "na\u{301} x");
    assert_eq!(shared("char:2", a, b), [("na\u{301}", "na\u{301}"), (" x", " x")]);
}

#[test]
fn many_equal_marks_do_not_hide_different_letters() {
    let marks = "\u{301}\u{327}".repeat(60_000);
    let [a, b] = ["a", "b"].map(|letter| format!("{letter}{marks}"));
    let found = Explanation::new(&shingler("char:1", "lower,nfc,space", false), &a, &b);
    let found = found.expect("short");
    // The first mark of the first text composes with its letter, and so has no match.
    let places: Vec<_> = found.passages.iter().map(|p| (p.a.char_start, p.b.char_start)).collect();
    assert_eq!(places, [(2, 1)]);
    assert_eq!((found.covered_a, found.covered_b), (119_999, 120_000));
}

#[test]
fn of_equally_long_runs_the_first_in_the_second_text_is_taken() {
    let found = Explanation::new(&shingler("token", "none", false), "b", "a b c b").expect("short");
    assert_eq!(found.passages.iter().map(|passage| passage.b.start).collect::<Vec<_>>(), [2]);
}

#[test]
fn overlapping_passages_are_cut_in_both_texts() {
    // "bcdef" overlaps "abcd" in the first text, and is elsewhere in the second.
    assert_eq!(shared("char:4", "abcdef", "abcd bcdef"), [("abcd", "abcd"), ("ef", "ef")]);
}

#[test]
fn a_text_shorter_than_a_shingle_matches_its_equal() {
    assert_eq!(shared("char:9", "Short", " short "), [("Short", "short")]);
    assert_eq!(shared("char:9", "short", "shorter"), []);
    assert_eq!(shared("char:9", "", ""), []);
}

#[test]
fn the_multiset_setting_changes_the_overlap_but_not_the_passages() {
    let of = |multiset| {
        Explanation::new(&shingler("token", "none", multiset), "x x y", "x z z").expect("short")
    };
    assert_eq!(
        (of(false).overlap, of(true).overlap),
        (Overlap { a: 2, b: 2, shared: 1 }, Overlap { a: 3, b: 3, shared: 1 })
    );
    assert_eq!(of(false).passages, of(true).passages);
    assert_eq!(of(true).passages.len(), 2, "both of the first text");
}

/// A quadratic algorithm would compare about 10^10 elements.
#[test]
fn repetitive_texts_take_linear_time() {
    let characters = "a".repeat(100_000);
    let lines = "the same line\n".repeat(100_000);
    for (shingle, text) in [("char:9", &characters), ("line:2", &lines)] {
        let other = format!("{text}b\n{text}");
        let found = Explanation::new(&shingler(shingle, "lower,nfc,space", false), &other, text);
        let found = found.expect("short");
        assert!(found.passages.len() < 4, "{shingle}: {}", found.passages.len());
        assert!(found.share_of_a() > 0.999 && found.share_of_b() > 0.999, "{shingle}");
    }
}

/// Texts of few different characters, which share and repeat much. Some have marks that composition
/// reorders.
fn words() -> impl Strategy<Value = String> {
    let parts = "[abé]|e\u{301}| |\u{3000}\n|AB|ﬁ|ab ba aab |\u{301}|\u{212b}\u{1161}|\
        [\u{1100}\u{1161}\u{11ab}]";
    let in_order = proptest::string::string_regex(&format!("({parts}){{0,40}}"));
    let with_cedillas = proptest::string::string_regex(&format!("({parts}|\u{327}){{0,40}}"));
    prop_oneof![3 => in_order.expect("a pattern"), 1 => with_cedillas.expect("a pattern")]
}

proptest! {
    #[test]
    fn passages_are_shared_and_cover_all_shared_shingles(
        a in words(), b in words(), nfkc in any::<bool>(), kind in 0_usize..5,
    ) {
        let shingle = ["char:1", "char:3", "char:6", "word:2", "line:1"][kind];
        let list = if nfkc { "lower,nfkc,nospace" } else { "lower,nfc,space" };
        let shingler = shingler(shingle, list, false);
        let found = Explanation::new(&shingler, &a, &b).expect("short");
        let normalization: Normalization = list.parse().expect("a list");
        let plain = |text: &str| normalization.apply(text).replace([' ', '\n'], "");

        for two in found.passages.windows(2) {
            prop_assert!(two[0].a.end <= two[1].a.start, "{:?}", two);
        }
        for passage in &found.passages {
            let (of_a, of_b) = (&a[passage.a.bytes()], &b[passage.b.bytes()]);
            prop_assert_eq!(a[..passage.a.start].chars().count(), passage.a.char_start);
            prop_assert_eq!(b[..passage.b.end].chars().count(), passage.b.char_end);
            let is_reordered = [&a, &b].iter().any(|text| text.contains('\u{327}'));
            if !nfkc && kind < 3 && !is_reordered {
                prop_assert_eq!(plain(of_a), plain(of_b));
            }
        }
        // Brute force: the bytes of the first text that lie in a shingle of the second.
        let of_b: BTreeSet<u64> = shingler.hashes(&b).into_iter().collect();
        let places = shingler.places(&a).expect("short").into_iter().zip(shingler.hashes(&a));
        let shared = places.filter(|(_, hash)| of_b.contains(hash)).flat_map(|(place, _)| place);
        // Text that is dropped between two units may lie in a passage or not, so it is left out.
        let unit = shingle.replace(|c: char| c.is_ascii_digit(), "1");
        let units = self::shingler(&unit, list, false).places(&a).expect("short");
        let units: BTreeSet<usize> = units.into_iter().flatten().collect();
        let shared: BTreeSet<usize> = shared.filter(|byte| units.contains(byte)).collect();
        let covered: BTreeSet<usize> =
            found.passages.iter().flat_map(|passage| passage.a.bytes()).collect();
        let counted: BTreeSet<usize> = covered.intersection(&units).copied().collect();
        prop_assert_eq!(counted, shared);
        let chars = a.char_indices().filter(|(at, _)| covered.contains(at)).count();
        prop_assert_eq!(found.covered_a, chars);
        let covered_b: BTreeSet<usize> =
            found.passages.iter().flat_map(|passage| passage.b.bytes()).collect();
        let chars = b.char_indices().filter(|(at, _)| covered_b.contains(at)).count();
        prop_assert_eq!(found.covered_b, chars);
        prop_assert_eq!(found.passages.is_empty(), found.overlap.shared == 0);
    }

    #[test]
    fn the_texts_differ_after_the_end_of_a_passage(a in "[ab]{0,40}", b in "[ab]{0,40}") {
        let found = Explanation::new(&shingler("char:3", "none", false), &a, &b).expect("short");
        for passage in found.passages {
            let next_a = a[passage.a.end..].chars().next();
            let next_b = b[passage.b.end..].chars().next();
            prop_assert!(next_a != next_b || next_a.is_none());
        }
    }
}
