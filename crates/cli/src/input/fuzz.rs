//! Fuzzing: any stream, read in pieces of any size, against a plain split and the values of
//! serde_json.

use super::batch::{Batch, Sharing};
use super::blocks::{BlockSize, Blocks};
use super::compression;
use super::drip::Drip;
use super::format::first_character;
use super::json::Fields;
use super::lines::{LineFormat, LineParser};
use super::record::{BYTE_ORDER_MARK, Body, Naming, RecordName};
use serde::de::IgnoredAny;
use serde_json::{Number, Value};
use std::collections::BTreeMap;
use std::str;
use twindex::Tokens;

/// A record, or why it is bad.
type Taken = Result<(RecordName, Body<'static>), String>;

/// Reads a stream. Four bytes before it choose the format and the compression, the bytes of a read,
/// the size of a block, and the most bytes of a record.
pub fn lines(input: &[u8]) {
    let Some((&[how, drip, block, longest], bytes)) = input.split_first_chunk() else { return };
    let format = match how % 4 {
        0 => LineFormat::Text,
        1 => LineFormat::Whole,
        _ => {
            LineFormat::Json(Fields { id: Some("id".into()), text: "text".into(), weighted: false })
        }
    };
    let naming = match how / 4 % 3 {
        0 => Naming::Automatic,
        1 => Naming::Prefix("line".into()),
        _ => Naming::Required,
    };
    let whole = matches!(format, LineFormat::Whole);
    let most = if longest == 0 { usize::MAX } else { longest.into() };
    let stream = LineParser { path: String::new(), format, naming, most };

    let packed = match how / 12 % 3 {
        // Bytes that look compressed would be decompressed, unlike the expected lines.
        0 if compression::open(bytes, false).is_ok_and(|content| content.is_packed()) => return,
        0 => bytes.to_vec(),
        1 => compression::packing::gzip(bytes),
        _ => compression::packing::zstd(bytes),
    };
    let drops = Drip::interrupted(&*packed, usize::from(drip) + 1);
    let content = compression::open(drops, false).expect("it begins well");
    let (mut start, mut drops) = (content.start, content.rest);
    let mut blocks = if whole {
        Blocks::whole(drops, start, most)
    } else {
        let first =
            first_character(&mut drops, &mut start, usize::MAX).expect("memory can be read");
        let unmarked = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        assert_eq!(first, unmarked.iter().copied().find(|byte| !byte.is_ascii_whitespace()));
        Blocks::new(drops, start, most)
    };
    blocks.size = BlockSize::fixed(64 + usize::from(block));
    let mut taken: BTreeMap<u64, Taken> = BTreeMap::new();
    while let Some(block) = blocks.read_block().expect("memory can be read") {
        let records = Batch::Lines(stream.clone(), block).parse(Sharing::Batches, |record| {
            Ok((record.place, (record.name, record.body.into_owned())))
        });
        for record in records {
            let (place, record) = match record {
                Ok((place, record)) => (place, Ok(record)),
                Err(bad) => (bad.place, Err(bad.cause)),
            };
            let number = place.trim_start_matches(':').parse().expect("a line");
            assert!(taken.last_key_value().is_none_or(|last| *last.0 < number), "line {number}");
            taken.insert(number, record);
        }
    }

    let mut all: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n' && !whole).collect();
    // Bytes after the last line end are a line; no bytes are none.
    if all.last().is_some_and(|last| last.is_empty()) {
        all.pop();
    }
    for (number, line) in (1..).zip(all) {
        let got = taken.remove(&number);
        let line = if whole { line } else { line.strip_suffix(b"\r").unwrap_or(line) };
        let refused =
            matches!(&got, Some(Err(cause)) if cause.contains("the most that a record may have"));
        assert_eq!(refused, line.len() > most, "line {number} has {} bytes", line.len());
        if refused {
            continue;
        }
        expect(&stream, number, line, got);
    }
    assert!(taken.is_empty(), "records without a line: {taken:?}");
}

/// Compares the result of a line with the expected one.
fn expect(stream: &LineParser, number: u64, line: &[u8], got: Option<Taken>) {
    let LineFormat::Json(_) = stream.format else {
        let got = got.expect("each line is a record");
        let Ok(text) = str::from_utf8(line) else { return assert!(got.is_err(), "{got:?}") };
        return match name(stream, number) {
            Some(name) => assert_eq!(got, Ok((name, Body::Text(text.to_owned().into())))),
            None => assert!(got.is_err(), "{got:?}"),
        };
    };
    let json = if number == 1 { line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line) } else { line };
    if json.trim_ascii().is_empty() {
        return assert_eq!(got, None, "a blank line");
    }
    let got = got.expect("each line that is not blank is a record");
    let value = match serde_json::from_slice(json) {
        Ok(Value::Object(object)) => object,
        Ok(_) => return assert!(got.is_err(), "{got:?}"),
        // A field that is not read may hold a value that `Value` cannot represent.
        Err(_) if serde_json::from_slice::<IgnoredAny>(json).is_ok() => return,
        Err(_) => return assert!(got.is_err(), "{got:?}"),
    };
    let body = match value.get("text") {
        Some(Value::String(text)) => Some(Body::Text(text.clone().into())),
        Some(Value::Array(elements)) => set(elements, &got),
        _ => None,
    };
    let name = match value.get("id") {
        None => name(stream, number),
        Some(Value::String(id)) => Some(RecordName::Id(id.clone())),
        Some(Value::Number(number)) => match &got {
            // The id is the number as it is written.
            Ok((RecordName::Id(id), _)) => {
                assert_eq!(id.parse::<Number>().ok().as_ref(), Some(number));
                Some(RecordName::Id(id.clone()))
            }
            _ => Some(RecordName::Id(number.to_string())),
        },
        Some(_) => None,
    };
    match (name, body) {
        (Some(name), Some(body)) => assert_eq!(got, Ok((name, body))),
        _ => assert!(got.is_err(), "{got:?}"),
    }
}

/// The set of strings and integers. A number whose digits a `Value` does not keep is taken from the
/// result.
fn set(elements: &[Value], got: &Taken) -> Option<Body<'static>> {
    let mut plain = Vec::new();
    for element in elements {
        match element {
            Value::String(text) if !text.contains('\u{1f}') => plain.push(text.clone()),
            Value::Number(number) if number.is_i64() || number.is_u64() => {
                plain.push(number.to_string());
            }
            Value::Number(_) => return got.as_ref().ok().map(|(_, body)| body.clone()),
            _ => return None,
        }
    }
    let set = Tokens::new(&plain).ok()?;
    assert!(set.iter().eq(&plain), "{plain:?}");
    Some(Body::Set(set))
}

/// The name of a record without an id; `None` if it must have one.
fn name(stream: &LineParser, number: u64) -> Option<RecordName> {
    match &stream.naming {
        Naming::Automatic => Some(RecordName::Automatic),
        Naming::Prefix(prefix) => Some(RecordName::Numbered(format!("{prefix}:{number}"))),
        Naming::Required | Naming::Path(_) => None,
    }
}
