//! Tests of two texts side by side.

use super::*;
use proptest::prelude::*;
use twindex::Explanation;
use twindex::{Shingle, Shingler};
use unicode_width::UnicodeWidthStr;

fn drawn(shingle: Shingle, a: &str, b: &str, width: usize, color: bool) -> Vec<String> {
    let shingler = Shingler::new(shingle, shingle.default_normalization(), false, 0);
    let found = Explanation::new(&shingler.expect("valid"), a, b).expect("short");
    let [a, b] = [TitledText { name: "A", text: a }, TitledText { name: "B", text: b }];
    let drawing = draw(a, b, &found, Marked::Shared, width, color);
    drawing.lines().map(str::to_owned).collect()
}

fn words(a: &str, b: &str, width: usize) -> Vec<String> {
    drawn(Shingle::words(2), a, b, width, false)
}

#[test]
fn without_colour_passages_have_numbers() {
    let lines = words("one two x three four", "three four one two", 43);
    assert_eq!(
        lines,
        [
            "A                    │ B",
            "─────────────────────┼─────────────────────",
            "[1 one two] x        │ [2 three four]",
            "[2 three four]       │ [1 one two]",
        ]
    );
}

#[test]
fn what_differs_is_marked_and_what_is_shared_is_shortened() {
    let shared = "the words that both have ".repeat(60);
    let (a, b) = (format!("{shared}one more"), format!("{shared}two more lines"));
    let shingler = Shingler::new(Shingle::words(2), Default::default(), false, 0);
    let found = Explanation::new(&shingler.expect("valid"), &a, &b).expect("short");
    let [left, right] = [TitledText { name: "A", text: &a }, TitledText { name: "B", text: &b }];
    let drawing = |color| draw(left, right, &found, Marked::Differences, 80, color);
    let plain = drawing(false);
    assert!(plain.contains("[- one more-]") && plain.contains("{+ two more lines+}"), "{plain}");
    assert!(plain.contains(" characters ...") && plain.lines().count() < 14, "{plain}");
    let painted = drawing(true);
    assert!(painted.contains("\u{1b}[9m\u{1b}[31m one more\u{1b}[0m"), "{painted:?}");
}

#[test]
fn passages_begin_on_the_same_line() {
    let more = "some more words that are only here and nowhere else";
    let lines = words(
        &format!("one two {more} three four five six seven"),
        "one two three four five six seven",
        70,
    );
    let second = lines.iter().find(|line| line.contains("[2 three four")).expect("a line");
    assert_eq!(second.matches("[2 three four").count(), 2, "{lines:#?}");
}

#[test]
fn long_stretches_that_are_not_shared_are_shortened() {
    let long = "word\u{301} ".repeat(300);
    let lines = words(&format!("one two {long} three four"), "one two three four", 60);
    assert!(lines.len() < 12, "{lines:#?}");
    let mark = lines.iter().find(|line| line.starts_with("... 1,")).expect("a mark");
    assert!(mark.contains(" characters ..."), "{mark}");
}

#[test]
fn a_passage_has_one_colour_on_both_sides() {
    let lines = drawn(Shingle::words(2), "one two x three four", "three four one two", 60, true);
    let text = lines.join("\n");
    for painted in ["\u{1b}[32mone two\u{1b}[0m", "\u{1b}[36mthree four\u{1b}[0m"] {
        assert_eq!(text.matches(painted).count(), 2, "{painted:?}: {text:?}");
    }
}

#[test]
fn control_characters_of_a_text_never_reach_the_terminal() {
    let text = "\u{1b}[2J one\u{202e}two \u{7}three \u{9b}4";
    let lines = drawn(Shingle::chars(3), text, text, 80, true).join("\n");
    let plain = lines.replace("\u{1b}[32m", "").replace("\u{1b}[0m", "").replace("\u{1b}[1m", "");
    assert!(!plain.contains(|c: char| c.is_control() && c != '\n'), "{plain:?}");
    assert!(plain.contains("\\u001b[2J") && plain.contains("one\\u202etwo"), "{plain}");
}

#[test]
fn ideographs_take_two_columns_and_marks_none() {
    let lines = drawn(
        Shingle::chars(4),
        "敏捷的棕色狐狸跳过了懒狗的背",
        "e\u{301}e\u{301} 敏捷的棕色狐狸",
        43,
        true,
    );
    for line in &lines[2..] {
        let plain = line.replace("\u{1b}[32m", "").replace("\u{1b}[0m", "");
        let (left, _) = plain.split_once('│').expect("two columns");
        assert_eq!(left.width(), 21, "{line}");
    }
}

#[test]
fn passages_in_both_orders_are_those_with_the_most_characters() {
    let a = "far away and long ago | aa bb | cc dd";
    let shown = words(a, "aa bb cc dd far away and long ago", 80).join("\n");
    assert!(shown.contains("[1 far away and long ago]"), "{shown}");
    let span = |start, length| Span {
        start,
        end: start + length,
        char_start: start,
        char_end: start + length,
    };
    let passage = |a, b, length| Passage { a: span(a, length), b: span(b, length), shingles: 1 };
    let some = [passage(0, 50, 20), passage(20, 0, 5), passage(25, 5, 5), passage(30, 80, 2)];
    assert_eq!(in_both_orders(&some), [some[0], some[3]]);
    assert_eq!(in_both_orders(&[]), []);
}

proptest! {
    #[test]
    fn no_line_is_wider_than_the_terminal(
        a in "[ab é漢\u{301}\u{200d}👩\n\t\u{1b}]{0,90}",
        b in "[ab é漢\u{301}\u{200d}👩\n\t\u{1b}]{0,90}",
        width in 27_usize..70, color in any::<bool>(),
    ) {
        for line in drawn(Shingle::chars(2), &a, &b, width, color) {
            let mut plain = line;
            for code in ["[0m", "[1m", "[32m", "[33m", "[35m", "[36m"] {
                plain = plain.replace(&format!("\u{1b}{code}"), "");
            }
            prop_assert!(plain.width() <= width, "{} {:?}", plain.width(), plain);
        }
    }

    #[test]
    fn nothing_short_is_left_out(a in "[a-c ]{0,60}", b in "[a-c ]{0,60}") {
        let lines = drawn(Shingle::chars(3), &a, &b, 43, false);
        let (mut left, mut right) = (String::new(), String::new());
        for line in &lines[2..] {
            let (of_a, of_b) = line.split_once('│').expect("two columns");
            left += of_a;
            right += of_b;
        }
        let letters =
            |text: &str| text.chars().filter(char::is_ascii_lowercase).collect::<String>();
        prop_assert_eq!([letters(&left), letters(&right)], [letters(&a), letters(&b)]);
    }
}
