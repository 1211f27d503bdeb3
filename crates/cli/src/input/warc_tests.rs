//! Tests of reading WARC: pieces of any size, records that are no documents, and damage.

use super::*;
use crate::input::drip::Drip;

fn record(kind: &str, id: &str, fields: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <{id}>\r\n{fields}Content-Length: {}\r\n",
        body.len()
    );
    [head.as_bytes(), b"\r\n", body, b"\r\n\r\n"].concat()
}

fn page(id: &str, head: &str, body: &[u8]) -> Vec<u8> {
    let response = [b"HTTP/1.1 200 OK\r\n", head.as_bytes(), b"\r\n", body].concat();
    record("response", id, "Content-Type: application/http; msgtype=response\r\n", &response)
}

/// The ids and texts, or the errors.
fn read(archive: &[u8], drip: usize, most: usize) -> Vec<Result<(String, String), String>> {
    let parser = WarcParser {
        path: "a".to_owned(),
        id_field: None,
        naming: Naming::Prefix("a".to_owned()),
        most,
    };
    let mut blocks = WarcBlocks::new(Drip::new(archive, drip), Vec::new(), most);
    let mut all = Vec::new();
    loop {
        let block = match blocks.next() {
            Ok(Some(block)) => block,
            Ok(None) => return all,
            Err(error) => {
                all.push(Err(error.to_string()));
                return all;
            }
        };
        all.extend(parser.left_out(&block).map(|bad| Err(bad.to_string())));
        for raw in block.records() {
            let found = parser.record(raw).map_err(|bad| bad.to_string()).transpose();
            all.extend(found.map(|found| {
                let record = found?;
                let Some(id) = record.name.into_id() else { return Err("no id".to_owned()) };
                Ok((id, record.body.text().unwrap_or_default().to_owned()))
            }));
        }
    }
}

fn good(id: &str, text: &str) -> Result<(String, String), String> {
    Ok((id.to_owned(), text.to_owned()))
}

#[test]
fn texts_and_pages_are_documents_whatever_the_pieces() {
    let html = "Content-Type: text/html; charset=";
    let archive = [
        record("warcinfo", "i", "Content-Type: application/warc-fields\r\n", b"software: x\r\n"),
        record("conversion", "urn:a", "Content-Type: text/plain\r\n", "Grüße\r\n\r\nb".as_bytes()),
        record("request", "r", "Content-Type: application/http; msgtype=request\r\n", b"GET /"),
        page("urn:b", &format!("{html}UTF-8\r\n"), "<p>ä</p>".as_bytes()),
        page("urn:c", &format!("{html}\"iso-8859-1\"\r\n"), b"<p>\xE4</p>"),
        page("urn:d", "Content-Type: image/png\r\n", b"\x89PNG"),
        record("conversion", "urn:e", "", b""),
    ]
    .concat();
    let expected = [
        good("urn:a", "Grüße\r\n\r\nb"),
        good("urn:b", "<p>ä</p>"),
        good("urn:c", "<p>ä</p>"),
        good("urn:e", ""),
    ];
    for drip in [1, 7, 100, 100_000] {
        assert_eq!(read(&archive, drip, 1000), expected, "{drip} bytes at a time");
    }
    // Line ends without carriage returns, and none between the records.
    let plain = b"WARC/1.1\nwarc-type: conversion\nwarc-record-id: x\ncontent-length: 2\n\nhi";
    let twice = [&plain[..], plain].concat();
    assert_eq!(read(&twice, 3, 10), [good("x", "hi"), good("x", "hi")]);
    let unnamed = b"WARC/1.1\nWARC-Type: conversion\nContent-Length: 2\n\nhi";
    assert_eq!(read(unnamed, 3, 10), [good("a:1", "hi")]);
}

#[test]
fn a_byte_order_mark_decides_whatever_charset_is_named() {
    let utf16 =
        |order: fn(u16) -> [u8; 2]| "\u{feff}ä".encode_utf16().flat_map(order).collect::<Vec<u8>>();
    let bodies =
        ["\u{feff}ä".as_bytes().to_vec(), utf16(u16::to_le_bytes), utf16(u16::to_be_bytes)];
    for charset in
        ["", "; charset=iso-8859-1", "; charset=utf-8", "; charset=utf-16", "; charset=x"]
    {
        for body in &bodies {
            let archive = page("urn:a", &format!("Content-Type: text/html{charset}\r\n"), body);
            assert_eq!(read(&archive, 100, 1000), [good("urn:a", "ä")], "{charset} {body:?}");
        }
    }
}

#[test]
fn an_option_does_not_help_where_the_archive_names_an_encoding() {
    for charset in ["utf-8", "no-such-encoding"] {
        let head = format!("Content-Type: text/html; charset={charset}\r\n");
        let cause = read(&page("urn:a", &head, b"\xE4"), 100, 1000).pop().and_then(Result::err);
        let bad = BadRecord { place: "a:1".to_owned(), cause: cause.expect("an error") };
        assert_eq!(bad.encoding_advice(), None, "{bad}");
    }
}

#[test]
fn a_record_that_is_too_long_is_left_out_and_the_next_one_read() {
    let long = vec![b'x'; 1_000_000];
    let image = page("urn:i", "Content-Type: image/png\r\n", &long);
    let info = record("metadata", "m", "", &long);
    let archive =
        [record("conversion", "urn:a", "", b"a"), record("conversion", "urn:b", "", &long)];
    let archive = [archive.concat(), info, image, record("conversion", "urn:c", "", b"c")].concat();
    for drip in [1000, 1 << 20] {
        let found = read(&archive, drip, 500_000);
        assert_eq!(found.len(), 4, "{drip}: {found:?}");
        assert_eq!((&found[0], &found[3]), (&good("urn:a", "a"), &good("urn:c", "c")));
        let cause = found[1].clone().expect_err("it is left out");
        assert!(cause.starts_with("a:2: longer than 500000 bytes"), "{cause}");
    }
}

#[test]
fn damage_is_said_with_the_number_of_the_record() {
    let whole = record("conversion", "urn:a", "", b"some text");
    for (archive, cause) in [
        (whole[..whole.len() - 8].to_vec(), "cut short: record 1 is incomplete"),
        ([&whole[..], b"WARC/1.0\r\nWARC-"].concat(), "cut short: record 2 is incomplete"),
        ([&whole[..], b"other"].concat(), "is damaged WARC: record 2 does not begin with WARC/"),
        (b"WARC/1.0\r\nA: b\r\n\r\n".to_vec(), "is damaged WARC: record 1 has no Content-Length"),
        (
            b"WARC/1.0\r\nContent-Length: -1\r\n\r\n".to_vec(),
            "is damaged WARC: record 1 has no Content-Length",
        ),
        (
            [b"WARC/1.0\r\n", &[b'x'; 70_000][..]].concat(),
            "is damaged WARC: the head of record 1 has no end",
        ),
        (
            record("metadata", "m", "", &[b'x'; 4000])[..2000].to_vec(),
            "cut short: record 1 is incomplete",
        ),
    ] {
        for drip in [1, 100_000] {
            let last = read(&archive, drip, 1000).pop().expect("something");
            assert_eq!(last, Err(cause.to_owned()));
        }
    }
    let several = whole.repeat(5);
    for cut in 0..several.len() {
        let found = read(&several[..cut], 64, 1000);
        let before = cut / whole.len();
        // The line ends behind a record may be missing.
        let good = found.iter().filter(|one| one.is_ok()).count();
        assert!(good == before || good == before + 1, "{cut}: {found:?}");
        assert!(found[good..].len() <= 1, "{cut}: {found:?}");
    }
    let coded = page("urn:a", "Content-Type: text/html\r\nContent-Encoding: gzip\r\n", b"\x1F\x8B");
    let cause = read(&coded, 9, 1000).pop().and_then(Result::err).expect("an error");
    assert!(cause.contains("Content-Encoding: gzip"), "{cause}");
}
