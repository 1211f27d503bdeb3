//! Where the text stands in the bytes of a record, so that it can be written with another one.

use super::record::BYTE_ORDER_MARK;
use super::rows::parser;
use csv_core::ReadFieldResult;
use serde::Deserializer;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

/// How the bytes of a record hold its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextForm {
    /// The text is all there is, but for the line end.
    Line,
    /// The text is a field of a JSON object.
    Json,
    /// The text is a field of a table.
    Field {
        /// The byte between two fields.
        delimiter: u8,
        /// The number of the field, from 0.
        column: usize,
    },
    /// The text is a column of a table by columns.
    Column,
    /// The text cannot be exchanged: that of a whole file, of a set, of a format of its own, or of
    /// a column whose texts are stored once.
    Fixed,
}

impl TextForm {
    /// The bytes of a record with another text in the field of this name. All else in it stays as
    /// it is. `None` if the text cannot be exchanged.
    pub fn with_text(self, raw: &[u8], field: &str, text: &str) -> Option<Vec<u8>> {
        let (place, text) = match self {
            Self::Line => (0..raw.len() - line_end(raw), Cow::Borrowed(text)),
            Self::Json => (json_field(raw, field)?, serde_json::to_string(text).ok()?.into()),
            Self::Field { delimiter, column } => {
                let place = table_field(raw, delimiter, column)?;
                let is_quoted = raw.get(place.start) == Some(&b'"');
                (place, quoted(text, delimiter, is_quoted))
            }
            Self::Column | Self::Fixed => return None,
        };
        Some([raw.get(..place.start)?, text.as_bytes(), raw.get(place.end..)?].concat())
    }

    /// The bytes of a record of JSON with another field at its end, or with another value of the
    /// field if it has it already. `None` if it is none.
    pub fn with_field(self, raw: &[u8], name: &str, value: &Value) -> Option<Vec<u8>> {
        if self != Self::Json {
            return None;
        }
        let (place, field) = match json_field(raw, name) {
            Some(place) => (place, value.to_string()),
            None => {
                let end = raw.iter().rposition(|byte| *byte == b'}')?;
                (end..end, format!(",{}:{value}", Value::from(name)))
            }
        };
        Some([raw.get(..place.start)?, field.as_bytes(), raw.get(place.end..)?].concat())
    }
}

/// The number of bytes of the line end of a record.
fn line_end(raw: &[u8]) -> usize {
    match raw {
        [.., b'\r', b'\n'] => 2,
        [.., b'\r' | b'\n'] => 1,
        _ => 0,
    }
}

/// The place of the last field of this name, which is the one that counts, in a JSON object.
pub(super) fn json_field(raw: &[u8], field: &str) -> Option<Range<usize>> {
    struct Find<'f>(&'f str);
    impl<'de> Visitor<'de> for Find<'_> {
        type Value = Option<&'de RawValue>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut found = None;
            while let Some(key) = map.next_key::<Cow<'de, str>>()? {
                if key == self.0 {
                    found = Some(map.next_value::<&RawValue>()?);
                } else {
                    map.next_value::<IgnoredAny>()?;
                }
            }
            Ok(found)
        }
    }
    let object = raw.strip_prefix(BYTE_ORDER_MARK).unwrap_or(raw);
    let mut parser = serde_json::Deserializer::from_slice(object);
    let value = parser.deserialize_map(Find(field)).ok()??.get();
    let start = (value.as_ptr() as usize).checked_sub(raw.as_ptr() as usize)?;
    Some(start..start + value.len())
}

/// The place of a field in a record of a table, with its quotes.
fn table_field(raw: &[u8], delimiter: u8, column: usize) -> Option<Range<usize>> {
    find_field(raw, delimiter, |number, _| number == column).map(|(_, place)| place)
}

/// The first field of a record of a table that is wanted: its number, and its place with its
/// quotes.
pub(super) fn find_field(
    raw: &[u8],
    delimiter: u8,
    mut is_wanted: impl FnMut(usize, &[u8]) -> bool,
) -> Option<(usize, Range<usize>)> {
    let mut parser = parser(delimiter);
    let (mut start, mut at, mut number) = (0, 0, 0);
    let mut unquoted = [0; 4096];
    loop {
        let (found, read, _) = parser.read_field(raw.get(at..)?, &mut unquoted);
        at += read;
        let (end, is_last) = match found {
            ReadFieldResult::Field { record_end: true } => (raw.len() - line_end(raw), true),
            ReadFieldResult::Field { record_end: false } => (at - 1, false),
            ReadFieldResult::OutputFull => continue,
            // The last record of a table may lack its line end.
            ReadFieldResult::InputEmpty if at == raw.len() => (raw.len(), true),
            ReadFieldResult::InputEmpty | ReadFieldResult::End => return None,
        };
        if is_wanted(number, raw.get(start..end)?) {
            return Some((number, start..end));
        }
        if is_last {
            return None;
        }
        (start, number) = (at, number + 1);
    }
}

/// A field of a table, in quotes if it has to be or always shall.
pub fn quoted(text: &str, delimiter: u8, always: bool) -> Cow<'_, str> {
    let special = |byte: u8| byte == delimiter || matches!(byte, b'"' | b'\r' | b'\n');
    if always || text.bytes().any(special) {
        format!("\"{}\"", text.replace('"', "\"\"")).into()
    } else {
        text.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_text(form: TextForm, raw: &str, text: &str) -> Option<String> {
        let replaced = form.with_text(raw.as_bytes(), "text", text)?;
        Some(String::from_utf8(replaced).expect("a text"))
    }

    #[test]
    fn a_line_keeps_its_end() {
        for end in ["", "\n", "\r\n"] {
            let line = with_text(TextForm::Line, &format!("old line{end}"), "new");
            assert_eq!(line, Some(format!("new{end}")));
        }
    }

    #[test]
    fn an_object_keeps_all_other_fields_as_they_are() {
        let raw =
            "\u{feff}{ \"id\":1.50, \"t\\u0065xt\" : \"a \\\"b\\\"\" ,\"x\":{\"text\":0}}\r\n";
        let new = "\u{feff}{ \"id\":1.50, \"t\\u0065xt\" : \"c\\nd\" ,\"x\":{\"text\":0}}\r\n";
        assert_eq!(with_text(TextForm::Json, raw, "c\nd").as_deref(), Some(new));
        let twice = "{\"text\":\"a\",\"text\":\"b\"}";
        let new = "{\"text\":\"a\",\"text\":\"c\"}";
        assert_eq!(with_text(TextForm::Json, twice, "c").as_deref(), Some(new));
        let marked = TextForm::Json.with_field(b"{\"text\":\"a\" }\n", "x\"", &1.into());
        assert_eq!(marked.as_deref(), Some(&b"{\"text\":\"a\" ,\"x\\\"\":1}\n"[..]));
        let again = TextForm::Json.with_field(b"{\"x\": 1,\"text\":\"a\"}", "x", &2.into());
        assert_eq!(again.as_deref(), Some(&b"{\"x\": 2,\"text\":\"a\"}"[..]));
        assert_eq!(TextForm::Line.with_field(b"{}", "x", &1.into()), None);
        for wrong in ["{\"id\":1}", "[1]", "{\"text\":"] {
            assert_eq!(with_text(TextForm::Json, wrong, "c"), None);
        }
    }

    #[test]
    fn a_row_keeps_all_other_fields_as_they_are() {
        let form = |column| TextForm::Field { delimiter: b',', column };
        let row = "1,\"a, \"\"b\"\"\nc\",\"x\"\r\n";
        let cases = [
            (0, "2", "2,\"a, \"\"b\"\"\nc\",\"x\"\r\n"),
            (1, "say \"d\"", "1,\"say \"\"d\"\"\",\"x\"\r\n"),
            (2, "y", "1,\"a, \"\"b\"\"\nc\",\"y\"\r\n"),
            (0, "2,3", "\"2,3\",\"a, \"\"b\"\"\nc\",\"x\"\r\n"),
        ];
        for (column, text, expected) in cases {
            assert_eq!(with_text(form(column), row, text).as_deref(), Some(expected));
        }
        assert_eq!(with_text(form(3), row, "z"), None);
        for (row, expected) in
            [("a,b", "a,c"), ("a,\"b\"", "a,\"c\""), ("a,", "a,c"), ("a,\n", "a,c\n")]
        {
            assert_eq!(with_text(form(1), row, "c").as_deref(), Some(expected), "{row:?}");
        }
        assert_eq!(with_text(form(0), "a,", "c").as_deref(), Some("c,"));
        assert_eq!(with_text(form(1), "a,b,", "c").as_deref(), Some("a,c,"));
        let long = format!("{},x\n", "y".repeat(10_000));
        assert_eq!(with_text(form(1), &long, "z"), Some(long.replace('x', "z")));
        assert_eq!(with_text(form(0), &long, "z").as_deref(), Some("z,x\n"));
    }
}
