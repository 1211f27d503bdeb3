//! The fast path for the usual line of JSON Lines: an object with a text, perhaps an id, and any
//! other fields.
//!
//! `json` judges every line that is not of this kind. If this path gives a record, `json` would
//! give the same one.

use super::json::Fields;
use super::json_string::string;
use serde::de::IgnoredAny;
use std::borrow::Cow;

/// The id of a record, if it has one, and its text.
pub(super) type Found<'a> = (Option<Cow<'a, str>>, Cow<'a, str>);

/// Parses a line. `None` unless it is a valid object with a text that is a string, in which neither
/// the text nor the id is repeated.
pub(super) fn parse<'a>(line: &'a [u8], fields: &Fields) -> Option<Found<'a>> {
    if fields.id.as_ref() == Some(&fields.text) {
        return None;
    }
    let mut rest = Rest(line);
    let (mut id, mut text) = (None, None);
    rest.token(b'{')?;
    loop {
        rest.token(b'"')?;
        let key = rest.string()?;
        rest.token(b':')?;
        rest.blanks();
        if key == fields.text.as_str() {
            rest.token(b'"')?;
            let repeated = text.replace(rest.string()?).is_some();
            if repeated || fields.weighted {
                return None;
            }
        } else if fields.id.as_ref().is_some_and(|id| key == id.as_str()) {
            let repeated = id.replace(rest.id()?).is_some();
            if repeated {
                return None;
            }
        } else {
            rest.value()?;
        }
        rest.blanks();
        match rest.next()? {
            b',' => {}
            b'}' => break,
            _ => return None,
        }
    }
    rest.blanks();
    if rest.0.is_empty() { Some((id, text?)) } else { None }
}

/// What is left of a line.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    /// Passes white space.
    fn blanks(&mut self) {
        while let [b' ' | b'\t' | b'\n' | b'\r', rest @ ..] = self.0 {
            self.0 = rest;
        }
    }

    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    /// Passes white space and this byte.
    fn token(&mut self, byte: u8) -> Option<()> {
        self.blanks();
        (self.next()? == byte).then_some(())
    }

    /// Passes a string whose opening quotation mark was passed.
    fn string(&mut self) -> Option<Cow<'a, str>> {
        let (string, end) = string(self.0)?;
        self.0 = &self.0[end..];
        Some(string)
    }

    /// Passes an id: a string, or a whole number of any size as it is written.
    fn id(&mut self) -> Option<Cow<'a, str>> {
        if let [b'"', rest @ ..] = self.0 {
            self.0 = rest;
            return self.string();
        }
        let sign = usize::from(self.0.first() == Some(&b'-'));
        let digits = self.0[sign..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (number, rest) = self.0.split_at(sign + digits);
        let plain = match number[sign..] {
            [] => false,
            [b'0', ..] => digits == 1,
            _ => true,
        };
        if !plain || matches!(rest.first(), Some(b'.' | b'e' | b'E')) {
            return None;
        }
        self.0 = rest;
        str::from_utf8(number).ok().map(Cow::Borrowed)
    }

    /// Passes any value.
    fn value(&mut self) -> Option<()> {
        if let [b'"', rest @ ..] = self.0 {
            self.0 = rest;
            self.string()?;
            return Some(());
        }
        let mut values = serde_json::Deserializer::from_slice(self.0).into_iter::<IgnoredAny>();
        values.next()?.ok()?;
        self.0 = &self.0[values.byte_offset()..];
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::json::{judge, parse as parse_any};
    use super::*;
    use crate::input::record::Body;
    use proptest::prelude::*;

    fn fields(weighted: bool) -> Fields {
        Fields { id: Some("id".into()), text: "text".into(), weighted }
    }

    /// Whether this path takes the line. Holds it to the judge.
    fn takes(line: &[u8]) -> bool {
        for weighted in [false, true] {
            let fields = fields(weighted);
            let judged = judge(line, &fields);
            assert_eq!(parse_any(line, &fields), judged, "{}", String::from_utf8_lossy(line));
            if let Some((id, text)) = parse(line, &fields) {
                assert_eq!(judged, Ok((id, Body::Text(text))));
            }
        }
        parse(line, &fields(false)).is_some()
    }

    #[test]
    fn usual_lines_are_taken_and_others_are_left_to_the_judge() {
        for line in [
            r#"{"id":"a","text":"t"}"#,
            r#" { "text" : "a\"b\n" , "id" : -17 } "#,
            "{\"text\":\"\",\"id\":0}\r",
            r#"{"more":{"id":[1,{"x":null}],"y":"\ud800"},"text":"t"}"#,
            r#"{"x":1.5e3,"y":true,"z":null,"é\n":[],"text":"t"}"#,
            r#"{"id":123456789012345678901,"text":"t"}"#,
        ] {
            assert!(takes(line.as_bytes()), "{line}");
        }
        for line in [
            "",
            "{}",
            r#"["id","text"]"#,
            r#"{"id":"a"}"#,
            r#"{"text":["a"]}"#,
            r#"{"text":"a","text":"b"}"#,
            r#"{"text":"a","id":1,"id":2}"#,
            r#"{"text":"a","id":01}"#,
            r#"{"text":"a","id":1.5}"#,
            r#"{"text":"a","id":-}"#,
            r#"{"text":"a","id":null}"#,
            r#"{"text":"a","x":nul}"#,
            r#"{"text":"a","x":1"y":2}"#,
            r#"{"text":"a",}"#,
            r#"{"text":"a"} x"#,
            r#"{"text":"a""#,
            "{\"text\":\"a\nb\"}",
            r#"{"text":"\ud83d\ude00"}"#,
            "\u{feff}{\"text\":\"a\"}",
        ] {
            assert!(!takes(line.as_bytes()), "{line}");
        }
        assert!(!takes(b"{\"text\":\"\xff\"}"));
    }

    fn member() -> impl Strategy<Value = String> {
        let key = prop_oneof![
            3 => Just("\"text\"".to_owned()),
            3 => Just("\"id\"".to_owned()),
            1 => Just("\"weights\"".to_owned()),
            1 => Just(r#""te\u0078t""#.to_owned()),
            2 => "\"[a-z\\\\é]{0,3}\"",
        ];
        let value = prop_oneof![
            4 => "\"[a-z é]{0,12}\"",
            2 => r#""([a-z]{0,9}\\["\\/bfnrtu0d]){1,3}[0-9a-f]{0,4}""#,
            2 => "-?[0-9]{1,20}",
            1 => "-?[0-9.eE+]{1,6}",
            1 => "true|false|null|nul",
            1 => r#"\[(1|"a"|,|\{\}){0,4}\]"#,
            1 => r#"\{("a":|1|,|"b"){0,5}\}"#,
        ];
        (key, "[ \t]?", "[ \n]?", value, "[ \r]?").prop_map(|(key, before, after, value, end)| {
            format!("{key}{before}:{after}{value}{end}")
        })
    }

    proptest! {
        #[test]
        fn any_line_is_parsed_as_by_the_judge(
            members in proptest::collection::vec(member(), 0..5),
            ends in "[ ]?[,}\\]]?[ \n]?[x}]?",
            broken in any::<Option<(u8, u8)>>(),
        ) {
            let mut line = format!("{{{}}}{ends}", members.join(",")).into_bytes();
            if let Some((at, byte)) = broken {
                let at = usize::from(at) % line.len();
                line[at] = byte;
            }
            takes(&line);
        }
    }
}
