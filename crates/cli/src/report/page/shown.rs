//! Texts and ids as a page shows them. They come from strangers, so markup in them stays text.

use crate::report::reading::beginning;
use crate::terminal::escape::for_terminal;
use maud::{Markup, html};

/// The most characters of an id that are shown.
const LONGEST_ID: usize = 160;

/// The most characters of an id in its title, which a browser shows when the pointer rests on it.
const LONGEST_TITLE: usize = 300;

/// The characters of the name of a source that are the head of a row of numbers.
const LONGEST_HEAD: usize = 24;

/// A text with its line ends. Other control characters, and those that change the direction of
/// writing, are shown as escapes. Markup is escaped where the text becomes part of a page.
pub(super) fn shown(text: &str) -> String {
    let text = text.replace('\t', "    ").replace("\r\n", "\n");
    let lines: Vec<_> = text.split('\n').map(for_terminal).collect();
    lines.join("\n")
}

/// An id or a file name on one line. A long one loses its middle, because ids that begin alike
/// differ at their ends.
pub(super) fn name(id: &str) -> String {
    without_middle(id, LONGEST_ID)
}

/// An id or a file name. If it is too long to be shown as a whole, its title has more of it.
pub(super) fn id(id: &str) -> Markup {
    entitled(id, &name(id), LONGEST_ID)
}

/// The end of a source's name, because the ends of such names differ.
pub(super) fn end(id: &str) -> Markup {
    let start = id.char_indices().rev().nth(LONGEST_HEAD).map(|(at, c)| at + c.len_utf8());
    let shown = match start {
        Some(start) => format!("\u{2026}{}", for_terminal(&id[start..])),
        None => for_terminal(id).into_owned(),
    };
    entitled(id, &shown, LONGEST_HEAD)
}

/// `shown` stands for the id. The element has a title if the id has more than `most` characters.
fn entitled(id: &str, shown: &str, most: usize) -> Markup {
    let is_cut = beginning(id, most).len() < id.len();
    let title = is_cut.then(|| without_middle(id, LONGEST_TITLE));
    html! { bdi title=[title] { (shown) } }
}

/// A text on one line. If it has more characters than `most`, a sign takes the place of its middle.
fn without_middle(text: &str, most: usize) -> String {
    let first = beginning(text, most / 2);
    let last = most - most / 2 - 1;
    match text.char_indices().rev().nth(last.saturating_sub(1)) {
        Some((at, _)) if beginning(text, most).len() < text.len() => {
            format!("{}\u{2026}{}", for_terminal(first), for_terminal(&text[at..]))
        }
        _ => for_terminal(text).into_owned(),
    }
}

/// A message on one line. It may name a long path before it says what is wrong.
pub(super) fn message(text: &str) -> String {
    const LONGEST: usize = 1000;
    cut(text, LONGEST)
}

/// The beginning of a text on one line.
pub(super) fn preview(text: &str) -> String {
    const LONGEST: usize = 150;
    // More words than characters are never shown, and none is longer than the preview.
    let words = text.split_whitespace().take(LONGEST).map(|word| beginning(word, LONGEST + 1));
    let line = words.collect::<Vec<_>>().join(" ");
    cut(&line, LONGEST)
}

/// The first characters of a text, with a sign that more follow.
fn cut(text: &str, most: usize) -> String {
    let first = beginning(text, most);
    let more = if first.len() < text.len() { "\u{2026}" } else { "" };
    for_terminal(first).into_owned() + more
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_and_marks_of_direction_are_seen() {
        assert_eq!(shown("a\u{202e}b\n\tc\u{1b}"), "a\\u202eb\n    c\\u001b");
        assert_eq!(name("x\ny"), "x\\ny");
        assert_eq!(preview("  one\n two  "), "one two");
        assert_eq!(preview(&"word ".repeat(100)).chars().count(), 151);
    }

    #[test]
    fn both_ends_of_a_long_id_are_shown() {
        let long = format!("{}{}", "é".repeat(500), "z".repeat(500));
        let shown = format!("{}\u{2026}{}", "é".repeat(80), "z".repeat(79));
        assert_eq!(name(&long), shown);
        let title = format!("{}\u{2026}{}", "é".repeat(150), "z".repeat(149));
        assert_eq!(id(&long).into_string(), format!("<bdi title=\"{title}\">{shown}</bdi>"));
        for whole in ["", "short", &"i".repeat(LONGEST_ID)] {
            assert_eq!(id(whole).into_string(), format!("<bdi>{whole}</bdi>"));
        }
    }

    #[test]
    fn the_end_of_a_source_is_the_head_of_its_row() {
        assert_eq!(end("day-1.jsonl").into_string(), "<bdi>day-1.jsonl</bdi>");
        let (path, last) = ("folder/".repeat(9), "twenty-four-characters.x");
        let found = end(&format!("{path}{last}")).into_string();
        assert_eq!(found, format!("<bdi title=\"{path}{last}\">\u{2026}{last}</bdi>"));
        assert_eq!(end(last).into_string(), format!("<bdi>{last}</bdi>"));
    }
}
