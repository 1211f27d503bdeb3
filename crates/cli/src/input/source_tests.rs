//! Tests of the bytes that reading counts, and of the raw bytes of records.

use super::*;
use crate::input::Format;
use crate::input::batch::Sharing;
use crate::input::compression::packing::{gzip, zstd};
use crate::input::json::Fields;
use crate::input::record::RawRecord;
use std::fs;
use std::path::PathBuf;

fn inputs(paths: Vec<PathBuf>, format: Format) -> Inputs {
    Inputs {
        paths,
        format,
        fields: Fields { id: Some("id".into()), text: "text".into(), weighted: false },
        most: 100_000,
        ..Inputs::default()
    }
}

/// Creates a folder with these files; returns their paths.
fn folder(files: &[(&str, &[u8])]) -> (tempfile::TempDir, Vec<PathBuf>) {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |(name, bytes): &(&str, &[u8])| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).expect("written");
        path
    };
    let paths = files.iter().map(write).collect();
    (folder, paths)
}

#[test]
fn every_expected_byte_is_counted_whatever_becomes_of_it() {
    let lines = b"{\"id\":\"a\",\"text\":\"some text\"}\n".repeat(5_000);
    let table = b"id,text\na,b\n".repeat(5_000);
    let packed = gzip(&lines);
    let mut corrupt = packed.clone();
    let half = corrupt.len() / 2;
    corrupt.truncate(half);
    corrupt.extend([0xFF; 50_000]);
    let too_long = vec![b'x'; 200_000];
    let (_folder, mut paths) = folder(&[
        ("a.jsonl", &lines),
        ("b.jsonl.gz", &packed),
        ("c.jsonl", &packed[..packed.len() / 2]),
        ("d.jsonl", &corrupt),
        ("e.csv.zst", &zstd(&table)),
        ("f.csv", b"no header\na\n"),
        ("g.txt", b"text"),
        ("h.txt", &zstd(&table)),
        ("i.txt", &too_long),
        ("j.txt", &zstd(&too_long)),
        ("k", &lines),
        ("l", b"text"),
        ("m", &corrupt),
        ("n.gz", b""),
    ]);
    let expected: u64 = paths.iter().map(|path| fs::metadata(path).expect("a file").len()).sum();
    for _ in 0..2 {
        let reading = Reading::new(inputs(paths.clone(), Format::Auto));
        assert_eq!(reading.expected_bytes(), Some(expected));
        let mut passed = 0;
        for (batch, bytes) in reading {
            batch.parse(Sharing::Batches, |_| Ok(()));
            passed += bytes;
            assert!(passed <= expected);
        }
        assert_eq!(passed, expected);
        paths.reverse();
    }
}

/// The raw bytes of all records of an input, after the header if it is a table.
fn written_again(name: &str, bytes: &[u8], format: Format) -> Vec<u8> {
    let (_folder, paths) = folder(&[(name, bytes)]);
    let reading = Reading::new(inputs(paths, format));
    let mut out = Vec::new();
    for (batch, _) in reading {
        let raw = |raw: RawRecord<'_>| match raw {
            RawRecord::File(_) | RawRecord::Columns { .. } => (Vec::new(), Vec::new()),
            RawRecord::Bytes(bytes) | RawRecord::Warc(bytes) => (Vec::new(), bytes.to_vec()),
            RawRecord::Row { header, bytes } => (header.to_vec(), bytes.to_vec()),
        };
        for taken in batch.parse(Sharing::Batches, |record| Ok(raw(record.raw))) {
            let (header, record) = taken.expect("a good record");
            if out.is_empty() {
                out.extend(header);
            }
            out.extend(record);
        }
    }
    out
}

#[test]
fn header_and_records_of_a_table_are_the_table_byte_for_byte() {
    let rows: String = (0..30_000).map(|n| format!("{n},\"a \"\"{n}\"\",\r\nb\"\r\n")).collect();
    for table in [
        "id,text\na,b\nc,\"d\"",
        "\u{feff}\"id\",\"text\"\r\na,b\r\nc,\"\r\n\"\r\n",
        "text,id,x\n\"a\"b,c,\"\"\n,d,\n",
        &format!("id,text\r\n{rows}"),
    ] {
        let plain = table.as_bytes();
        for bytes in [plain.to_vec(), gzip(plain), zstd(plain)] {
            assert!(written_again("in", &bytes, Format::Csv) == plain, "{table:.50}");
        }
    }
    let blank = b"id,text\n\n\na,b\r\n\r\nc,d\n\n";
    assert_eq!(written_again("in", blank, Format::Csv), b"id,text\na,b\r\nc,d\n");
}

#[test]
fn lines_are_the_stream_byte_for_byte() {
    for (text, format) in [
        ("one\r\n\ntwo", Format::Lines),
        ("{\"id\":1,\"text\":\"a\"}\r\n{\"id\":2,\"text\":\"b\"}", Format::JsonLines),
        ("a\tx\nb\ty z\n", Format::Tokens),
    ] {
        assert_eq!(written_again("in", &gzip(text.as_bytes()), format), text.as_bytes());
    }
}
