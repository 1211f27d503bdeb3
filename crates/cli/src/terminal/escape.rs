//! Escapes for control characters, so that text cannot control a terminal or break a line.

use std::borrow::Cow;
use std::io::IsTerminal;

/// Whether the text has no control characters, line ends included.
pub fn is_plain(text: &str) -> bool {
    !text.contains(char::is_control)
}

/// Escapes control characters as JSON does, so that the text stays on one line and in one column
/// and cannot control a terminal. A backslash stays as it is, so that ids that are paths can be
/// reused.
pub fn one_line(text: &str) -> Cow<'_, str> {
    escaped(text, char::is_control)
}

/// Escapes control characters, and also characters that change the direction of writing: these
/// would make a terminal show a different text and mix up columns.
pub fn for_terminal(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c.is_control() || changes_direction(c))
}

/// Escapes the text for this stream: more on a terminal than for a program.
pub fn for_stream<'t>(stream: &impl IsTerminal, text: &'t str) -> Cow<'t, str> {
    if stream.is_terminal() { for_terminal(text) } else { one_line(text) }
}

/// Whether this invisible character changes the direction of the text around it. These are the
/// marks, embeddings, overrides and isolates of UAX #9, section 2.
const fn changes_direction(character: char) -> bool {
    matches!(
        character,
        '\u{61c}'
            | '\u{200e}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
    )
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            c if is_escaped(c) => out += &format!("\\u{:04x}", u32::from(c)),
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
        let text = "\u{61c}\u{200e}\u{200f}\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\
                    \u{2068}\u{2069}";
        let shown: String = text.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect();
        assert_eq!(for_terminal(text), shown);
        assert_eq!(one_line(text), text, "a program gets it");
    }

    #[test]
    fn other_characters_are_not_escaped() {
        let text = "C:\\new \u{200d}\u{2065}\u{5d0}\u{5d1} \u{200b}é";
        assert_eq!((for_terminal(text), one_line(text)), (text.into(), text.into()));
        let controls = "a\tb\u{1b}[2J\u{9b}4";
        assert_eq!(for_terminal(controls), "a\\tb\\u001b[2J\\u009b4");
        assert_eq!(for_terminal(controls), one_line(controls));
    }
}
