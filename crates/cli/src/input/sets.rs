//! Parses lines of an id and the elements of a set.

use super::record::not_utf8;
use std::str;
use twindex::Tokens;

/// Parses a line: an id, a tab, and elements separated by spaces.
pub(super) fn parse(line: &[u8]) -> Result<(&str, Tokens), String> {
    let line = str::from_utf8(line).map_err(not_utf8)?;
    let (id, elements) = line.split_once('\t').ok_or(
        "no tab; a line of the format tokens is an id, a tab, and tokens separated by spaces",
    )?;
    let tokens = Tokens::new(elements.split(' ').filter(|element| !element.is_empty()));
    Ok((id, tokens.map_err(|error| error.to_string())?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_an_id_a_tab_and_tokens() {
        for (line, id, tokens) in [
            ("x\ta b c", "x", &["a", "b", "c"][..]),
            ("x\t", "x", &[]),
            ("x\t  a   b ", "x", &["a", "b"]),
            ("\ta", "", &["a"]),
            ("an id\ta\tb c", "an id", &["a\tb", "c"]),
        ] {
            let tokens = Tokens::new(tokens).expect("no U+001F");
            assert_eq!(parse(line.as_bytes()), Ok((id, tokens)), "{line:?}");
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
