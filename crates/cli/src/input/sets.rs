//! A ready set becomes a text, which shingles of tokens take apart again.

use super::record::not_utf8;
use std::borrow::Cow;
use std::str;
use twindex::internals::ELEMENT_END;

/// The text of a set, element by element: joined by spaces if that tells them apart, else each with
/// [`ELEMENT_END`] after it.
pub(super) struct SetText {
    /// Each element so far with [`ELEMENT_END`] after it.
    text: String,
    /// Whether spaces would tell them apart.
    spaces: bool,
}

impl SetText {
    pub(super) const fn new() -> Self {
        Self { text: String::new(), spaces: true }
    }

    pub(super) fn push(&mut self, element: &str) -> Result<(), String> {
        if element.contains(ELEMENT_END) {
            return Err("an element of the set holds the character U+001F, which ends elements; \
                        leave it out"
                .into());
        }
        self.spaces &= !element.is_empty() && !element.contains(char::is_whitespace);
        self.text.push_str(element);
        self.text.push(ELEMENT_END);
        Ok(())
    }

    pub(super) fn finish(mut self) -> String {
        if self.spaces {
            self.text.pop();
            return self.text.replace(ELEMENT_END, " ");
        }
        self.text
    }
}

/// Takes a line apart: id, tab, elements separated by spaces.
pub(super) fn parse(line: &[u8]) -> Result<(&str, Cow<'_, str>), String> {
    let line = str::from_utf8(line).map_err(not_utf8)?;
    let (id, elements) = line.split_once('\t').ok_or(
        "no tab; a line of the format tokens is an id, a tab, and tokens separated by spaces",
    )?;
    let odd = |c: char| c == ELEMENT_END || c.is_whitespace();
    let joined = elements.split(' ').all(|element| !element.is_empty() && !element.contains(odd));
    if joined || elements.is_empty() {
        return Ok((id, Cow::Borrowed(elements)));
    }
    let mut text = SetText::new();
    for element in elements.split(' ').filter(|element| !element.is_empty()) {
        text.push(element)?;
    }
    Ok((id, Cow::Owned(text.finish())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(elements: &[&str]) -> String {
        let mut text = SetText::new();
        elements.iter().for_each(|element| text.push(element).expect("no U+001F"));
        text.finish()
    }

    #[test]
    fn elements_are_joined_by_spaces_unless_one_is_empty_or_holds_white_space() {
        for (elements, text) in [
            (&["a", "b"][..], "a b"),
            (&[], ""),
            (&["a"], "a"),
            (&[""], "\u{1f}"),
            (&["a b", "c"], "a b\u{1f}c\u{1f}"),
            (&["a", "", "\u{a0}"], "a\u{1f}\u{1f}\u{a0}\u{1f}"),
        ] {
            assert_eq!(joined(elements), text, "{elements:?}");
        }
        assert!(SetText::new().push("a\u{1f}").is_err());
    }

    #[test]
    fn a_line_is_an_id_a_tab_and_tokens() {
        for (line, id, text) in [
            ("x\ta b c", "x", "a b c"),
            ("x\t", "x", ""),
            ("x\t  a   b ", "x", "a b"),
            ("\ta", "", "a"),
            ("an id\ta\tb c", "an id", "a\tb\u{1f}c\u{1f}"),
        ] {
            assert_eq!(parse(line.as_bytes()), Ok((id, text.into())), "{line:?}");
        }
        for (line, cause) in [
            (&b"a b c"[..], "no tab"),
            (b"", "no tab"),
            (b"x\ta b\x1f", "U+001F"),
            (b"x\t\xff", "UTF-8 at byte 3"),
        ] {
            let error = parse(line).expect_err("a bad line");
            assert!(error.contains(cause), "{error}");
        }
    }
}
