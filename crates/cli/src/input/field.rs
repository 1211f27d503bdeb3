//! Any field of a record, read from the bytes or the row that the record was read from.

use super::columns::cell;
use super::record::{BYTE_ORDER_MARK, RawRecord, Record};
use super::text_form::{TextForm, find_field, json_field};
use std::borrow::Cow;

impl Record<'_> {
    /// The value of a field as text: a string of JSON without its quotes, and anything else as it
    /// is written. `None` if the record has no such field, or is no record of fields.
    ///
    /// A table by columns must have been read with all its columns.
    pub fn field(&self, name: &str) -> Option<String> {
        match (self.raw, self.form) {
            (RawRecord::Bytes(raw), TextForm::Json | TextForm::Fixed) => json_value(&raw, name),
            (RawRecord::Row { header, bytes }, TextForm::Field { delimiter, .. }) => {
                let header = header.strip_prefix(BYTE_ORDER_MARK).unwrap_or(header);
                // Blank lines behind a mark come before the names.
                let is_blank = |byte: &&u8| matches!(byte, b'\r' | b'\n');
                let header = header.get(header.iter().take_while(is_blank).count()..)?;
                let is_named = |_, field: &[u8]| unquoted(field) == name;
                let (column, _) = find_field(header, delimiter, is_named)?;
                let (_, place) = find_field(&bytes, delimiter, |number, _| number == column)?;
                Some(unquoted(bytes.get(place)?).into_owned())
            }
            (RawRecord::Columns { batch, row }, _) => cell(batch, row, name),
            _ => None,
        }
    }
}

/// The value of a field of a JSON object. A value of null is none.
fn json_value(raw: &[u8], name: &str) -> Option<String> {
    let value = std::str::from_utf8(raw.get(json_field(raw, name)?)?).ok()?;
    match value.as_bytes() {
        [b'"', ..] => serde_json::from_str(value).ok(),
        b"null" => None,
        _ => Some(value.to_owned()),
    }
}

/// A field of a table without its quotes.
fn unquoted(field: &[u8]) -> Cow<'_, str> {
    let inside = field.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\""));
    match inside {
        Some(inside) => String::from_utf8_lossy(inside).replace("\"\"", "\"").into(),
        None => String::from_utf8_lossy(field),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::record::{Body, RecordName};
    use std::sync::Arc;

    fn field(raw: RawRecord<'_>, form: TextForm, name: &str) -> Option<String> {
        let (body, place) = (Body::Text("".into()), String::new());
        Record { name: RecordName::Automatic, body, place, raw, form }.field(name)
    }

    #[test]
    fn fields_of_objects_are_found() {
        let raw = "\u{feff}{\"id\":1.50,\"s\":\"a \\\"b\\\"\",\"n\":null,\"o\":{\"s\":2}}\n";
        let value = |name| field(RawRecord::Bytes(raw.as_bytes().into()), TextForm::Json, name);
        assert_eq!(value("id").as_deref(), Some("1.50"));
        assert_eq!(value("s").as_deref(), Some("a \"b\""));
        assert_eq!(value("o").as_deref(), Some("{\"s\":2}"));
        assert_eq!((value("n"), value("x")), (None, None));
    }

    #[test]
    fn fields_of_tables_are_found_by_the_header() {
        let header: Arc<[u8]> = "\u{feff}id,\"the \"\"site\"\"\",text\r\n".as_bytes().into();
        let raw = RawRecord::Row { header: &header, bytes: b"1,\"a,b\",x\r\n"[..].into() };
        let form = TextForm::Field { delimiter: b',', column: 2 };
        assert_eq!(field(raw, form, "the \"site\"").as_deref(), Some("a,b"));
        assert_eq!(field(raw, form, "text").as_deref(), Some("x"));
        assert_eq!(field(raw, form, "id").as_deref(), Some("1"));
        assert_eq!(field(raw, form, "none"), None);
        let header: Arc<[u8]> = "\u{feff}\r\n\nid,text\n".as_bytes().into();
        let raw = RawRecord::Row { header: &header, bytes: b"1,x\n"[..].into() };
        assert_eq!(field(raw, form, "id").as_deref(), Some("1"));
    }

    #[test]
    fn a_line_has_no_fields() {
        assert_eq!(field(RawRecord::Bytes(b"{\"a\":1}"[..].into()), TextForm::Line, "a"), None);
    }
}
