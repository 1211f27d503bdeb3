//! One JSON object a line: its id and its text, borrowed where nothing is escaped.

use serde::Deserializer;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// So many characters of what the parser says are shown.
const QUOTED: usize = 200;

/// The names of the fields that matter.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fields {
    pub(crate) id: String,
    pub(crate) text: String,
}

/// Takes id and text out of a line.
pub(super) fn parse<'a>(
    line: &'a [u8],
    fields: &Fields,
) -> Result<(Option<Cow<'a, str>>, Cow<'a, str>), String> {
    let mut parser = serde_json::Deserializer::from_slice(line);
    let found = Object(fields).deserialize(&mut parser).and_then(|found| {
        parser.end()?;
        Ok(found)
    });
    let (id, text) = found.map_err(|error| {
        // Each line is parsed by itself, so that its own line numbers say nothing.
        let message = error.to_string();
        let cause = message.rfind(" at line ").map_or(&*message, |at| &message[..at]);
        // It may quote all of the line.
        let end = cause.char_indices().nth(QUOTED).map_or(cause.len(), |(end, _)| end);
        let more = if end < cause.len() { "..." } else { "" };
        format!("not valid JSON: {}{more} at column {}", &cause[..end], error.column())
    })?;
    let text = text.ok_or_else(|| format!("no field `{}`", fields.text))?;
    Ok((id?, text?))
}

type Field<'de> = Result<Cow<'de, str>, String>;

struct Object<'f>(&'f Fields);

impl<'de> DeserializeSeed<'de> for Object<'_> {
    type Value = (Result<Option<Cow<'de, str>>, String>, Option<Field<'de>>);

    fn deserialize<D: Deserializer<'de>>(self, parser: D) -> Result<Self::Value, D::Error> {
        parser.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Object<'_> {
    type Value = (Result<Option<Cow<'de, str>>, String>, Option<Field<'de>>);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut id, mut text) = (Ok(None), None);
        while let Some(key) = map.next_key_seed(Text)? {
            if key == self.0.text.as_str() {
                text = Some(match map.next_value_seed(TextOrOther)? {
                    Some(text) => Ok(text),
                    None => Err(format!("field `{}` is not a string", self.0.text)),
                });
            } else if key == self.0.id.as_str() {
                id = id_of(map.next_value::<&RawValue>()?.get(), &self.0.id);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok((id, text))
    }
}

/// The id that a value stands for: a string, or a number as it is written, however large.
fn id_of<'a>(raw: &'a str, field: &str) -> Result<Option<Cow<'a, str>>, String> {
    match raw.as_bytes().first() {
        Some(b'"') => Text
            .deserialize(&mut serde_json::Deserializer::from_str(raw))
            .map(Some)
            .map_err(|error| format!("field `{field}`: {error}")),
        Some(b'-' | b'0'..=b'9') => Ok(Some(Cow::Borrowed(raw))),
        _ => Err(format!("field `{field}` is not a string or a number")),
    }
}

/// A string, borrowed if nothing in it is escaped.
struct Text;

impl<'de> DeserializeSeed<'de> for Text {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, parser: D) -> Result<Self::Value, D::Error> {
        parser.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Text {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }
}

/// A string, or `None` for any other value.
struct TextOrOther;

impl<'de> DeserializeSeed<'de> for TextOrOther {
    type Value = Option<Cow<'de, str>>;

    fn deserialize<D: Deserializer<'de>>(self, parser: D) -> Result<Self::Value, D::Error> {
        parser.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for TextOrOther {
    type Value = Option<Cow<'de, str>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Some(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Some(Cow::Owned(text.to_owned())))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<(Option<String>, String), String> {
        let fields = Fields { id: "id".into(), text: "text".into() };
        let (id, text) = parse(line.as_bytes(), &fields)?;
        Ok((id.map(Cow::into_owned), text.into_owned()))
    }

    #[test]
    fn ids_are_strings_or_numbers() {
        for (line, id) in [
            (r#"{"id":"a","text":"t"}"#, Some("a")),
            (r#"{"text":"t","id":17}"#, Some("17")),
            (r#"{"id":-3,"text":"t"}"#, Some("-3")),
            (r#"{"id":123456789012345678901,"text":"t"}"#, Some("123456789012345678901")),
            (r#"{"id":"é\n","text":"t"}"#, Some("é\n")),
            (r#" {"text":"t","more":{"id":[1,{"x":null}]}} "#, None),
        ] {
            assert_eq!(parsed(line), Ok((id.map(str::to_owned), "t".into())), "{line}");
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (line, cause) in [
            ("no", "not valid JSON"),
            (r#"{"id":"a","text":"t"} x"#, "trailing characters"),
            (r#"{"id":"a"}"#, "no field `text`"),
            (r#"{"id":"a","text":1}"#, "field `text` is not a string"),
            (r#"{"id":null,"text":"t"}"#, "field `id` is not a string or a number"),
            (r#"["id","text"]"#, "not valid JSON"),
            (r#"{"text":"t","id":"a""#, "EOF"),
        ] {
            let error = parsed(line).expect_err(line);
            assert!(error.contains(cause), "{line}: {error}");
        }
        let long = parsed(&format!("\"{}\"", "é".repeat(100_000))).expect_err("a string");
        assert!(long.starts_with("not valid JSON: invalid type: string"), "{long}");
        assert!(long.ends_with("é... at column 200002") && long.len() < 500, "{long}");
        let nested = |inner: &str| {
            let (open, close) = ("[".repeat(100_000), "]".repeat(100_000));
            format!("{{\"x\":{open}{inner}{close},\"text\":\"t\"}}")
        };
        assert_eq!(parsed(&nested("1")), Ok((None, "t".into())), "depth costs no stack");
        assert!(parsed(&nested("!")).is_err());
        let invalid =
            parse(b"{\"text\":\"\xff\"}", &Fields { id: "id".into(), text: "text".into() });
        assert!(invalid.is_err());
    }
}
