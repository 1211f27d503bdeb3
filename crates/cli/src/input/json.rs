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
    let FoundFields { id, text, weights } = found.map_err(|error| match is_array(line) {
        true => "is an array and not an object; `jq -c '.[]'` makes JSON Lines of it".to_owned(),
        false => std::str::from_utf8(line).map_or_else(not_utf8, |_| invalid(&error)),
    })?;
    let text = text.ok_or_else(|| match weights {
        true => format!(
            "no field `{}`, and `{WEIGHTS}` are for an index created with --weighted",
            fields.text
        ),
        false => no_field(&fields.text, "--text-field", line),
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
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<(Option<String>, String), String> {
        let (id, body) = parsed_body(line)?;
        Ok((id, body.text().expect("a text").to_owned()))
    }

    fn parsed_body(line: &str) -> Result<(Option<String>, Body<'_>), String> {
        let fields = Fields { id: Some("id".into()), text: "text".into(), weighted: false };
        let (id, body) = parse(line.as_bytes(), &fields)?;
        Ok((id.map(Cow::into_owned), body))
    }

    #[test]
    fn an_array_of_strings_and_integers_is_a_set() {
        for (array, tokens) in [
            (r#"["a","b"]"#, &["a", "b"][..]),
            (r#"[ 1 , -20, 123456789012345678901 ]"#, &["1", "-20", "123456789012345678901"]),
            (r#"["a",1,"b\u0063"]"#, &["a", "1", "bc"]),
            (r#"["a b",1]"#, &["a b", "1"]),
            ("[]", &[]),
        ] {
            let line = format!("{{\"id\":\"a\",\"text\":{array}}}");
            let set = Body::Set(Tokens::new(tokens).expect("no U+001F"));
            assert_eq!(parsed_body(&line), Ok((Some("a".into()), set)), "{line}");
        }
        for (array, cause) in [
            ("[1.5]", "no integer"),
            ("[1e3,\"a\"]", "no integer"),
            ("[[1]]", "no string"),
            ("[null]", "no string"),
            ("[true,[{}],{}]", "no string"),
            (r#"["\u001f"]"#, "U+001F"),
            (r#"["\ud800"]"#, "cannot be taken"),
            ("[01]", "not valid JSON"),
        ] {
            let line = format!("{{\"text\":{array},\"id\":\"a\"}}");
            let error = parsed_body(&line).expect_err(&line);
            assert!(error.contains(cause), "{line}: {error}");
        }
    }

    #[test]
    fn an_object_of_numbers_is_a_weighted_set() {
        for (object, text) in [
            (r#"{"b":2.50,"a":1e1,"none":0,"also":-0.0}"#, "a\u{1f}10\u{1f}b\u{1f}2.5\u{1f}"),
            (r#"{"a\nb":1E-7,"":3}"#, "\u{1f}3\u{1f}a\nb\u{1f}1e-7\u{1f}"),
            // A fast but inexact parser reads the neighbour of this number.
            (r#"{"x":51.24817837550540}"#, "x\u{1f}51.2481783755054\u{1f}"),
            ("\u{feff}{\"x\":1}\n", "x\u{1f}1\u{1f}"),
            ("{}", ""),
        ] {
            assert_eq!(weights(object).expect(object).to_export(), text);
        }
        for (object, cause) in [
            (r#"{"good":1,"bad":-1}"#, "\"bad\""),
            (r#"{"bad":1e999}"#, "\"bad\""),
            (r#"{"bad":"1"}"#, "no number, that of \"bad\""),
            (r#"{"bad":null}"#, "no number, that of \"bad\""),
            (r#"{"bad":[1]}"#, "no number, that of \"bad\""),
            (r#"{"bad":NaN}"#, "not valid JSON"),
            (r#"{"bad":1,"bad":1}"#, "second"),
            (r#"{"\u001f":1}"#, "U+001F"),
            (r#"{"a":1} {}"#, "trailing"),
            (r#"["a"]"#, "not an object"),
            (r#""a""#, "not an object"),
            ("1", "not an object"),
            ("a b", "not valid JSON"),
        ] {
            let error = weights(object).expect_err(object);
            assert!(error.contains(cause), "{object}: {error}");
        }
    }

    #[test]
    fn the_error_for_a_record_in_place_of_weights_says_what_to_do() {
        for (record, field) in [
            (r#"{"id":"a","weights":{"x":1}}"#, "weights"),
            (r#"{"weights":{}}"#, "weights"),
            (r#"{"tags":{"x":1},"id":7}"#, "tags"),
        ] {
            let error = weights(record).expect_err(record);
            let advice = format!("alone, without the record around it: the value of {field:?}");
            assert!(error.ends_with(&advice), "{record}: {error}");
        }
        let error = weights(r#"{"id":"a","x":1}"#).expect_err("not a number");
        assert!(!error.contains("alone"), "{error}");
    }

    #[test]
    fn a_field_of_weights_is_found_among_others() {
        let fields = Fields { id: Some("id".into()), text: "weights".into(), weighted: true };
        let line = br#"{"text":"t","weights":{"x":1},"id":7}"#;
        let (id, body) = parse(line, &fields).expect("a record");
        let weights = Weights::new([("x", 1.0)]).expect("weights");
        assert_eq!((id.as_deref(), body), (Some("7"), Body::Weights(weights)));
        for line in [r#"{"id":"a","text":"t"}"#, r#"{"id":"a","weights":"t"}"#] {
            let error = parse(line.as_bytes(), &fields).expect_err(line);
            assert!(error.contains("field `weights`"), "{error}");
        }
    }

    #[test]
    fn an_object_is_known_from_other_lines() {
        for (line, is) in [
            (r#"{"id":"a"}"#, true),
            (" {}\r", true),
            ("{", false),
            ("[1]", false),
            ("{} {}", false),
            ("", false),
        ] {
            assert_eq!(is_object(line.as_bytes()), is, "{line}");
        }
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
    fn an_error_names_its_cause() {
        for (line, cause) in [
            ("no", "not valid JSON"),
            (r#"{"id":"a","text":"t"} x"#, "trailing characters"),
            (r#"{"id":"a"}"#, "no field `text`"),
            (r#"{"id":"a","text":1}"#, "field `text` is not a string"),
            (r#"{"id":"a","text":{"x":1}}"#, "created with --weighted"),
            (r#"{"id":"a","weights":{"x":1}}"#, "created with --weighted"),
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
        let fields = Fields { id: Some("id".into()), text: "text".into(), weighted: false };
        let invalid = parse(b"{\"text\":\"\xff\"}", &fields).expect_err("no UTF-8");
        assert_eq!(invalid, "not valid UTF-8 at byte 10");
    }
}
