//! Divides a text into stretches of ASCII and others, at white space.
//!
//! ASCII is processed many times as fast as other text, and many texts that are not ASCII have only
//! a few other characters.

use super::ascii::{ascii_prefix, is_ascii_space};

/// The number of consecutive ASCII bytes, starting with white space, that end a stretch of other
/// text. With fewer, switching between the two kinds costs more than it saves.
const ASCII_AGAIN: usize = 8;

/// The stretches of a text in order, in pairs: one of ASCII and the next one that is not, joined,
/// and the length of the first. Either can be empty. One that is not ASCII begins at the text's
/// start or after an ASCII white space, and ends at the text's end or before an ASCII white space
/// that follows no other white space: runs of white space, of which some are one word (UAX #29,
/// WB3d), are cut only if they are ASCII.
pub(super) fn stretches(text: &str) -> impl Iterator<Item = (&str, usize)> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let rest = &text[start..];
        if rest.is_empty() {
            return None;
        }
        let bytes = rest.as_bytes();
        let ascii = ascii_prefix(bytes);
        let middle = match bytes[..ascii].iter().rposition(|byte| is_ascii_space(*byte)) {
            _ if ascii == bytes.len() => ascii,
            Some(space) => space + 1,
            None => 0,
        };
        let end = middle + other_stretch(&rest[middle..], ascii - middle);
        start += end;
        Some((&rest[..end], middle))
    })
}

/// The length of the stretch at the front that is not ASCII. It ends before a run of white space
/// that begins [`ASCII_AGAIN`] ASCII bytes. The first `ascii` bytes are known to be ASCII.
fn other_stretch(text: &str, ascii: usize) -> usize {
    let (bytes, mut end) = (text.as_bytes(), ascii);
    while let Some(space) = bytes[end..].iter().position(|byte| is_ascii_space(*byte)) {
        let from = end + space;
        if text[..from].ends_with(char::is_whitespace) {
            end = from + 1;
            continue;
        }
        let again = ascii_prefix(&bytes[from..bytes.len().min(from + ASCII_AGAIN)]);
        end = from + again;
        if end == bytes.len() || again == ASCII_AGAIN {
            return from;
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn stretches_are_the_text_and_meet_at_white_space(
            text in
                "(([a-z]{1,9}|[éΣ敏\u{301}\u{3000}]{1,3}|xéy)([ \t\n]{0,2}| {6,20})){0,30}",
        ) {
            let (mut joined, spaces) = (String::new(), [' ', '\t', '\n']);
            for (pair, middle) in stretches(&text) {
                let (ascii, other) = pair.split_at(middle);
                prop_assert!(ascii.is_ascii() && !pair.is_empty());
                if !other.is_empty() {
                    prop_assert!(!other.is_ascii());
                    prop_assert!(ascii.is_empty() || ascii.ends_with(spaces));
                }
                // It does not go on over ASCII text.
                let from = &text[joined.len() + middle..];
                for (at, _) in other.match_indices(spaces) {
                    let is_first = !other[..at].ends_with(char::is_whitespace);
                    let next = &from.as_bytes()[at..from.len().min(at + ASCII_AGAIN)];
                    prop_assert!(!(is_first && next.is_ascii()), "{at} of {other:?}");
                }
                joined.push_str(pair);
                let rest = &text[joined.len()..];
                prop_assert!(rest.is_empty() || rest.starts_with(spaces));
                prop_assert!(rest.is_empty() || !joined.ends_with(char::is_whitespace));
            }
            prop_assert_eq!(joined, text);
        }
    }
}
