//! What would tell a terminal something, or break a line, escaped.

use std::borrow::Cow;
use std::io::IsTerminal;

/// Whether the text tells a terminal nothing and breaks no line.
pub fn is_plain(text: &str) -> bool {
    !text.contains(char::is_control)
}

/// The text with control characters escaped as in JSON, so that it breaks no line and no column and
/// tells a terminal nothing. A backslash stays as it is, so that ids of paths can be used again.
pub fn one_line(text: &str) -> Cow<'_, str> {
    escaped(text, char::is_control)
}

/// The same, also with what changes the direction of writing escaped: a terminal would show another
/// text than there is, and mix up columns.
pub fn for_terminal(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c.is_control() || turns_writing(c))
}

/// The text as this stream is to have it: a program gets what a terminal must not.
pub fn for_stream<'t>(stream: &impl IsTerminal, text: &'t str) -> Cow<'t, str> {
    if stream.is_terminal() { for_terminal(text) } else { one_line(text) }
}

/// Whether the character, which is not seen itself, changes the direction of what stands around it:
/// the marks, embeddings, overrides and isolates of UAX #9, section 2.
const fn turns_writing(character: char) -> bool {
    matches!(
        character,
        '\u{61c}'
            | '\u{200e}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
    )
}

fn escaped(text: &str, is_told: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_told) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            c if is_told(c) => out += &format!("\\u{:04x}", u32::from(c)),
            c => out.push(c),
        }
    }
    out.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bidirectional_controls_never_reach_a_terminal() {
        let told = "\u{61c}\u{200e}\u{200f}\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\u{2068}\u{2069}";
        let shown: String = told.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect();
        assert_eq!(for_terminal(told), shown);
        assert_eq!(one_line(told), told, "a program gets it");
    }

    #[test]
    fn only_what_tells_a_terminal_something_is_escaped() {
        let text = "C:\\new \u{200d}\u{2065}\u{5d0}\u{5d1} \u{200b}é";
        assert_eq!((for_terminal(text), one_line(text)), (text.into(), text.into()));
        let controls = "a\tb\u{1b}[2J\u{9b}4";
        assert_eq!(for_terminal(controls), "a\\tb\\u001b[2J\\u009b4");
        assert_eq!(for_terminal(controls), one_line(controls));
    }
}
