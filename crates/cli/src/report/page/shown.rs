//! Texts and ids of others, as a page shows them: they stay text.

use crate::report::reading::beginning;
use crate::terminal::escape::for_terminal;

/// The most characters of an id that are shown.
const LONGEST_ID: usize = 160;

/// A text with its line ends. Other control characters, and those that change the direction of
/// writing, are shown as escapes. Markup is escaped where the text becomes part of a page.
pub(super) fn shown(text: &str) -> String {
    let text = text.replace('\t', "    ").replace("\r\n", "\n");
    let lines: Vec<_> = text.split('\n').map(for_terminal).collect();
    lines.join("\n")
}

/// An id or the name of a file on one line.
pub(super) fn name(id: &str) -> String {
    cut(id, LONGEST_ID)
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
        assert_eq!(name(&"i".repeat(1000)).chars().count(), LONGEST_ID + 1);
    }
}
