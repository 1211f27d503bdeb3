//! Tests of line breaks in a column, and of the time that they take.

use super::*;
use std::time::{Duration, Instant};

/// Lays out a text as one passage.
fn passage(text: &str, bytes: Range<usize>, width: usize) -> Vec<String> {
    let mut column =
        Column::new(vec![Stretch { bytes, mark: Some(0) }], width, true, Marks::Numbers, text);
    column.lay_until(text.len());
    let plain = |line: &str| line.replace("\u{1b}[32m", "").replace("\u{1b}[0m", "");
    column.finish().into_iter().map(|(line, _)| plain(&line).trim_end().to_owned()).collect()
}

/// A line as long as those of wrapped prose.
const LONG: &str =
    "Nothing is said here, but it is said at such a length as prose has in its lines";

const ENDS: [&str; 5] = ["\n", "\r\n", "\r", "\u{2028}", "\u{2029}"];

#[test]
fn short_lines_are_kept_whatever_ends_them() {
    for end in ENDS {
        let text = ["a", "bb", "c"].map(|line| format!("{line}{end}")).concat().repeat(30);
        let lines = passage(&text, 0..text.len(), 60);
        assert_eq!(lines, [["a", "bb", "c"].repeat(30), vec![""]].concat(), "{end:?}");
    }
}

#[test]
fn prose_is_wrapped_again_whatever_ends_its_lines() {
    for end in ENDS {
        let text = format!("{LONG}{end}short{end}{LONG}{end}    code{end}{end}{LONG}");
        let lines = passage(&text, 0..text.len(), 200);
        let with_short = format!("{LONG} short");
        assert_eq!(lines, [&with_short, LONG, "    code", "", LONG], "{end:?}");
    }
}

#[test]
fn a_shortened_stretch_does_not_join_short_lines() {
    for end in ENDS {
        let text = format!("{LONG} ").repeat(40) + &format!("x{end}").repeat(400);
        let mut column = Column::new(
            vec![Stretch { bytes: 0..text.len(), mark: None }],
            30,
            true,
            Marks::Numbers,
            &text,
        );
        column.lay_until(text.len());
        let lines: Vec<String> = column.finish().into_iter().map(|(line, _)| line).collect();
        assert!(lines.iter().any(|line| line.starts_with("... ")), "{end:?}: {lines:?}");
        assert!(!lines.iter().any(|line| line.contains("x x")), "{end:?}: {lines:?}");
    }
}

/// Searching back through 2 MiB at each line end would take about fifty times as long.
#[test]
fn the_work_for_a_line_does_not_grow_with_what_is_before_it() {
    let lines = "a\r".repeat(10_000);
    let time = |before: usize| -> Duration {
        let text = "x".repeat(before) + &lines;
        let timed = (0..3).map(|_| {
            let start = Instant::now();
            assert!(passage(&text, before..text.len(), 60).len() >= 10_000);
            start.elapsed()
        });
        timed.min().expect("three times")
    };
    let (alone, after_much) = (time(0), time(2 << 20));
    assert!(after_much < alone * 10, "{alone:?} and {after_much:?}");
}
