//! Escapes for control characters, so that text cannot control a terminal or break a line.

use std::borrow::Cow;
use std::io::IsTerminal;

/// Whether the text has no control characters, line ends included.
pub fn is_plain(text: &str) -> bool {
    !text.contains(char::is_control)
}

/// Escapes control characters as JSON does, so that the text stays on one line and cannot control a
/// terminal. A backslash stays as it is, so that messages show paths as people type them.
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

/// Escapes a value of a row, so that it stays on one line and in one column, and [`unescaped`]
/// restores it.
///
/// Control characters are escaped as by [`one_line`]. A backslash is doubled if what follows it
/// would make an escape of it, so that most paths with backslashes stay as they are.
pub fn cell(text: &str) -> Cow<'_, str> {
    exactly_escaped(text, char::is_control)
}

/// Escapes a value of a row on a terminal: as [`cell`], and also what [`for_terminal`] escapes.
pub fn cell_for_terminal(text: &str) -> Cow<'_, str> {
    exactly_escaped(text, |c| c.is_control() || changes_direction(c))
}

/// The text that [`cell`] or [`cell_for_terminal`] has escaped. A backslash that begins no escape
/// stands for itself.
pub fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return text.into();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let (character, length) = escape_at(&rest[at..]).unwrap_or(('\\', 1));
        out.push(character);
        rest = &rest[at + length..];
    }
    out.push_str(rest);
    out.into()
}

/// The character for which the escape at the start of the text stands, and the length of the
/// escape.
fn escape_at(text: &str) -> Option<(char, usize)> {
    match text.as_bytes().get(1)? {
        b'\\' => Some(('\\', 2)),
        b't' => Some(('\t', 2)),
        b'n' => Some(('\n', 2)),
        b'r' => Some(('\r', 2)),
        b'u' => {
            let digits = text.get(2..6)?;
            let is_hexadecimal = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
            let number = u32::from_str_radix(digits, 16).ok().filter(|_| is_hexadecimal)?;
            Some((char::from_u32(number)?, 6))
        }
        _ => None,
    }
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
    text.chars().for_each(|character| push_escaped(&mut out, character, &is_escaped));
    out.into()
}

fn exactly_escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(|c| c == '\\' || is_escaped(c)) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len() + 8);
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        push_escaped(&mut out, character, &is_escaped);
        let begins_escape = |next: &char| matches!(next, '\\' | 't' | 'n' | 'r' | 'u');
        if character == '\\'
            && characters.peek().is_some_and(|next| begins_escape(next) || is_escaped(*next))
        {
            out.push('\\');
        }
    }
    out.into()
}

fn push_escaped(out: &mut String, character: char, is_escaped: impl Fn(char) -> bool) {
    match character {
        '\t' => out.push_str("\\t"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        c if is_escaped(c) => *out += &format!("\\u{:04x}", u32::from(c)),
        c => out.push(c),
    }
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

    #[test]
    fn a_cell_is_escaped_so_that_no_two_texts_look_alike() {
        for (text, shown) in [
            ("a\tb", "a\\tb"),
            ("a\\tb", "a\\\\tb"),
            ("a\\\tb", "a\\\\\\tb"),
            ("\\\\", "\\\\\\"),
            ("\\", "\\"),
            ("C:\\Docs\\file", "C:\\Docs\\file"),
            ("C:\\new", "C:\\\\new"),
            ("\\u0009", "\\\\u0009"),
            ("\u{1}", "\\u0001"),
            ("plain é", "plain é"),
        ] {
            assert_eq!(cell(text), shown, "{text:?}");
            assert_eq!(unescaped(shown), text, "{shown}");
        }
        for (typed, text) in
            [("\\x", "\\x"), ("\\u00", "\\u00"), ("\\ud800", "\\ud800"), ("\\u+123", "\\u+123")]
        {
            assert_eq!(unescaped(typed), text, "a backslash that begins no escape stays");
        }
    }

    proptest::proptest! {
        #[test]
        fn an_escaped_cell_is_one_line_and_comes_back_as_it_was(
            text in "([\\\\tnru0-9a-f\t\n\r \u{0}\u{85}\u{feff}\u{202e}\u{2028}é]|.){0,40}",
        ) {
            for escaped in [cell(&text), cell_for_terminal(&text)] {
                proptest::prop_assert!(is_plain(&escaped));
                proptest::prop_assert_eq!(&*unescaped(&escaped), &*text);
            }
        }
    }
}
