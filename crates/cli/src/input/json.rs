//! Parses a JSON object a line: its id, and its text or set, borrowed if nothing is escaped.
//!
//! `json_line` takes the usual lines. What it does not take is judged here.

use super::json_line;
use super::names::no_field;
use super::record::{Body, not_utf8};
use serde::Deserializer;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use twindex::{Tokens, Weights};

/// The most characters of a parser error, or of a name, in a message.
const QUOTED: usize = 200;

/// The names of the fields that are read.
#[derive(Clone, Debug, Default)]
pub struct Fields {
    /// The field of the id; `None` if no id is read.
    pub id: Option<String>,
    /// The field of the text or set.
    pub text: String,
    /// Whether that field must be a weighted set.
    pub weighted: bool,
}

/// The default field of weights.
pub const WEIGHTS: &str = "weights";

/// The id of a record, if it has one, and its text or set; or why it is bad.
type Parsed<'a> = Result<(Option<Cow<'a, str>>, Body<'a>), String>;

/// Parses a line: its id, if there is one, and its text or set.
pub(super) fn parse<'a>(line: &'a [u8], fields: &Fields) -> Parsed<'a> {
    match json_line::parse(line, fields) {
        Some((id, text)) => Ok((id, Body::Text(text))),
        None => judge(line, fields),
    }
}

/// Parses any line, and says what is wrong with it.
pub(super) fn judge<'a>(line: &'a [u8], fields: &Fields) -> Parsed<'a> {
    let mut parser = serde_json::Deserializer::from_slice(line);
    let found = ObjectVisitor(fields).deserialize(&mut parser).and_then(|found| {
        parser.end()?;
        Ok(found)
    });
    let FoundFields { id, text, weights } = found.map_err(|error| {
        if is_array(line) {
            "is an array and not an object; `jq -c '.[]'` makes JSON Lines of it".to_owned()
        } else {
            std::str::from_utf8(line).map_or_else(not_utf8, |_| invalid(&error))
        }
    })?;
    let text = text.ok_or_else(|| {
        if weights && !fields.weighted {
            format!(
                "no field `{}`, and `{WEIGHTS}` are for an index created with --weighted",
                fields.text
            )
        } else {
            no_field(&fields.text, "--text-field", line)
        }
    })?;
    let body = text?;
    Ok((id?, body))
}

/// Parses a JSON object that is a weighted set and nothing else. A byte order mark may precede it.
pub fn weights(object: &str) -> Result<Weights, String> {
    let object = object.strip_prefix('\u{FEFF}').unwrap_or(object);
    let mut parser = serde_json::Deserializer::from_str(object);
    let found = FieldVisitor { weighted: true }.deserialize(&mut parser).and_then(|found| {
        parser.end()?;
        Ok(found)
    });
    match found {
        Ok(Ok(Body::Weights(weights))) => Ok(weights),
        // A weighted field never parses as anything else.
        Ok(Ok(Body::Text(_) | Body::Set(_))) => Err("the JSON is no object".into()),
        Ok(Err(cause)) => Err(match object_within(object) {
            Some(field) => format!(
                "the JSON {cause}; give the object of weights alone, without the record around it: \
                 the value of {field:?}"
            ),
            None => format!("the JSON {cause}"),
        }),
        Err(error) => Err(invalid(&error)),
    }
}

/// The first field whose value is an object: the likely place of the weights in a whole record.
fn object_within(object: &str) -> Option<String> {
    let fields: BTreeMap<String, &RawValue> = serde_json::from_str(object).ok()?;
    let field = fields.into_iter().find(|(_, value)| value.get().starts_with('{'))?.0;
    Some(field.chars().take(QUOTED).collect())
}

/// The parser error without its line number, which is always 1: each line is parsed by itself.
fn invalid(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let cause = message.rfind(" at line ").map_or(&*message, |at| &message[..at]);
    let is_half = cause.ends_with("hex escape");
    let cause = if is_half { "\\ud800 to \\udfff are half a character each" } else { cause };
    // The message may quote the whole line.
    let end = cause.char_indices().nth(QUOTED).map_or(cause.len(), |(end, _)| end);
    let more = if end < cause.len() { "..." } else { "" };
    format!("not valid JSON: {}{more} at column {}", &cause[..end], error.column())
}

/// Whether some JSON begins like an array of objects.
pub(super) fn is_array(start: &[u8]) -> bool {
    let items = start.trim_ascii_start().strip_prefix(b"[");
    items.is_some_and(|items| items.trim_ascii_start().starts_with(b"{"))
}

/// Whether a line is one JSON object and nothing else.
pub(super) fn is_object(line: &[u8]) -> bool {
    line.trim_ascii_start().first() == Some(&b'{')
        && serde_json::from_slice::<IgnoredAny>(line).is_ok()
}

/// The value of a field, or why it is refused.
type Field<'de> = Result<Body<'de>, String>;

/// The fields that were found in an object.
struct FoundFields<'de> {
    id: Result<Option<Cow<'de, str>>, String>,
    text: Option<Field<'de>>,
    /// Whether it has weights, although another field is read.
    weights: bool,
}

/// Parses an object and keeps only the fields that are read.
struct ObjectVisitor<'f>(&'f Fields);

impl<'de> DeserializeSeed<'de> for ObjectVisitor<'_> {
    type Value = FoundFields<'de>;

    fn deserialize<D: Deserializer<'de>>(self, parser: D) -> Result<Self::Value, D::Error> {
        parser.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for ObjectVisitor<'_> {
    type Value = FoundFields<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = FoundFields { id: Ok(None), text: None, weights: false };
        while let Some(key) = map.next_key_seed(StringVisitor)? {
            if key == self.0.text.as_str() {
                let text = map.next_value_seed(FieldVisitor { weighted: self.0.weighted })?;
                if self.0.id.as_ref() == Some(&self.0.text)
                    && let Ok(Body::Text(id)) = &text
                {
                    found.id = Ok(Some(id.clone()));
                }
                found.text = Some(text.map_err(|cause| format!("field `{}` {cause}", self.0.text)));
            } else if let Some(id) = self.0.id.as_ref().filter(|id| key == id.as_str()) {
                found.id = id_of(map.next_value::<&RawValue>()?.get(), id);
            } else {
                found.weights |= key == WEIGHTS;
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

/// The id of a value: a string, or a number as it is written, however large.
fn id_of<'a>(raw: &'a str, field: &str) -> Result<Option<Cow<'a, str>>, String> {
    match raw.as_bytes().first() {
        Some(b'"') => StringVisitor
            .deserialize(&mut serde_json::Deserializer::from_str(raw))
            .map(Some)
            .map_err(|error| format!("field `{field}`: {error}")),
        Some(b'-' | b'0'..=b'9') => Ok(Some(Cow::Borrowed(raw))),
        _ => Err(format!("field `{field}` is not a string or a number")),
    }
}

/// Parses a string, borrowed if nothing in it is escaped.
struct StringVisitor;

impl<'de> DeserializeSeed<'de> for StringVisitor {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, parser: D) -> Result<Self::Value, D::Error> {
        parser.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for StringVisitor {
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

/// Parses the field of a document: a string, an array, or an object of weights if weights are
/// expected. For any other value it returns why the value is refused.
struct FieldVisitor {
    weighted: bool,
}

impl FieldVisitor {
    fn refused<'de, E>(&self) -> Result<Field<'de>, E> {
        Ok(Err(match self.weighted {
            true => "is not an object with a number for each token, as an index of weights needs",
            false => "is not a string, nor an array of strings and integers",
        }
        .into()))
    }

    fn text<'de, E>(&self, text: Cow<'de, str>) -> Result<Field<'de>, E> {
        if self.weighted { self.refused() } else { Ok(Ok(Body::Text(text))) }
    }
}

impl<'de> DeserializeSeed<'de> for FieldVisitor {
    type Value = Field<'de>;

    fn deserialize<D: Deserializer<'de>>(self, parser: D) -> Result<Self::Value, D::Error> {
        parser.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for FieldVisitor {
    type Value = Field<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        self.text(Cow::Borrowed(text))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        self.text(Cow::Owned(text.to_owned()))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        self.refused()
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        self.refused()
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        self.refused()
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        self.refused()
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        self.refused()
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        if self.weighted {
            while seq.next_element::<IgnoredAny>()?.is_some() {}
            return self.refused();
        }
        let mut elements: Vec<Cow<'de, str>> = Vec::new();
        while let Some(element) = seq.next_element::<&'de RawValue>()? {
            match set_element(element.get()) {
                Ok(element) => elements.push(element),
                Err(cause) => {
                    while seq.next_element::<IgnoredAny>()?.is_some() {}
                    return Ok(Err(cause));
                }
            }
        }
        Ok(Tokens::new(elements)
            .map(Body::Set)
            .map_err(|error| format!("cannot be taken: {error}")))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        if !self.weighted {
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            return Ok(
                Err("is an object; weights are for an index created with --weighted".into()),
            );
        }
        let mut weights: Vec<(Cow<'de, str>, f64)> = Vec::new();
        let mut wrong = None;
        while let Some(token) = map.next_key_seed(StringVisitor)? {
            match number(map.next_value::<&RawValue>()?.get()) {
                Some(weight) => weights.push((token, weight)),
                None => wrong = wrong.or(Some(token)),
            }
        }
        if let Some(token) = wrong {
            let token: String = token.chars().take(QUOTED).collect();
            return Ok(Err(format!("has a weight that is no number, that of {token:?}")));
        }
        Ok(match Weights::new(weights) {
            Ok(weights) => Ok(Body::Weights(weights)),
            Err(error) => Err(format!("cannot be taken: {error}")),
        })
    }
}

/// The number that a JSON value is, exact to the last bit, which `serde_json` does not promise.
fn number(raw: &str) -> Option<f64> {
    raw.starts_with(|first: char| first == '-' || first.is_ascii_digit())
        .then(|| raw.parse().ok())
        .flatten()
}

/// Parses an element of an array: a string, or an integer as it is written, however large.
fn set_element(raw: &str) -> Result<Cow<'_, str>, String> {
    match raw.as_bytes().first() {
        Some(b'"') => StringVisitor
            .deserialize(&mut serde_json::Deserializer::from_str(raw))
            .map_err(|error| format!("cannot be taken: {error}")),
        Some(b'-' | b'0'..=b'9') if !raw.contains(['.', 'e', 'E']) => Ok(Cow::Borrowed(raw)),
        _ => Err("has an element that is no string and no integer".into()),
    }
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
