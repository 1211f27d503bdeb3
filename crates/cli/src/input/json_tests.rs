//! Which lines are records of JSON, and what the errors say about the others.

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
