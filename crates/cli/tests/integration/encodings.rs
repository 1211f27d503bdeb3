//! Texts in other encodings, and archives of pages, which name their own.

use crate::command::{Shell, jsonl};

fn utf16(text: &str, mark: &[u8], low_first: bool) -> Vec<u8> {
    let unit = |unit: u16| if low_first { unit.to_le_bytes() } else { unit.to_be_bytes() };
    [mark, &text.encode_utf16().flat_map(unit).collect::<Vec<u8>>()].concat()
}

/// The bytes of all texts, which tell equal texts well enough here.
fn text_of(shell: &Shell, id: &str) -> String {
    shell.args(&["get", "i.twx", "--text", "--", id], "").succeeds().stdout
}

#[test]
fn texts_in_other_encodings_are_the_same_texts() {
    let text = "Grüße aus Köln, und ein „Zitat“";
    let latin1: Vec<u8> = "Grüße aus Köln".chars().map(|c| c as u8).collect();
    let lines = jsonl(&[("a", text)]);
    for (bytes, name) in [
        (utf16(&lines, b"", true), "utf-16le"),
        (utf16(&lines, b"", false), "utf-16be"),
        (utf16(&lines, b"\xFF\xFE", true), "utf-16"),
        (utf16(&lines, b"\xFE\xFF", false), "utf-16"),
        (lines.clone().into_bytes(), "utf-8"),
    ] {
        let shell = Shell::new();
        shell.write("a.jsonl", &bytes);
        shell.run(&format!("add i.twx -q --store-text --encoding {name} a.jsonl")).succeeds();
        assert_eq!(text_of(&shell, "a"), text, "{name}");
        shell.pipe(&format!("dedup j.twx - -o kept --encoding {name}"), bytes).succeeds();
        assert_eq!(shell.read("kept"), lines.as_bytes(), "{name}");
    }
    let shell = Shell::new();
    let bad = [b"{\"id\":\"a\",\"text\":\"", &latin1[..], b"\"}\n"].concat();
    let done = shell.pipe("dedup i.twx - -o kept --encoding utf-8", bad);
    assert!(done.status == 2 && done.stderr.contains("not valid UTF-8"), "{done:?}");
    let shell = Shell::new();
    shell.write("a.txt", &latin1);
    shell.write("d/b.txt", &latin1);
    let done = shell.run("add i.twx --store-text a.txt");
    assert!(
        done.status == 2
            && done.stderr.contains("if it is Latin-1, give it alone, with --encoding latin1"),
        "{done:?}"
    );
    shell.run("add i.twx -q --store-text --encoding latin1 a.txt d").succeeds();
    assert_eq!(text_of(&shell, "a.txt"), "Grüße aus Köln");
    assert_eq!(text_of(&shell, "d/b.txt"), "Grüße aus Köln");
    for text in ["some text", "Привет, мир", "中文。\n"] {
        shell.write("u.txt", utf16(text, b"", true));
        let done = shell.run("add i.twx u.txt");
        assert!(done.stderr.contains("-t UTF-8`, or say --encoding utf-16le\n"), "{done:?}");
    }
    let records = ["{\"id\":\"1\",\"text\":\"Gr\u{FC}\u{DF}e\"}\n"; 12].concat();
    shell.write("l.jsonl", records.chars().map(|char| char as u8).collect::<Vec<u8>>());
    let done = shell.run("add i.twx l.jsonl");
    assert_eq!(
        done.stderr.matches("if it is Latin-1, give it alone, with --encoding latin1").count(),
        1,
        "{done:?}"
    );
    assert!(done.stderr.contains("l.jsonl:2: not valid UTF-8 at byte 21\n"), "{done:?}");
    shell.write("e/a.pdf", b"%PDF-1.7\n%\xE2\xE3");
    shell.write("e/b", &latin1);
    let done = shell.run("add i.twx --json --encoding latin1 e");
    assert_eq!((done.counted("added"), done.counted("failed")), (1, 1), "{done:?}");
    shell.write("records", utf16(&jsonl(&[("r", "of a text")]), b"\xFF\xFE", true));
    shell.run("add i.twx -q --store-text --encoding utf-16 records").succeeds();
    assert_eq!(text_of(&shell, "r"), "of a text");
    shell.write("picture", b"RIFF\0\x01\0\0WEBP");
    let done = shell.run("add i.twx --encoding latin1 picture");
    assert!(done.status == 2 && done.stderr.contains("a RIFF file"), "{done:?}");
    let done = shell.run("add i.twx --encoding iso-2022-kr a.txt");
    assert!(done.stderr.contains("the name of an encoding"), "{done:?}");
    let done = shell.run("add i.twx --encoding klingon a.txt");
    assert!(done.stderr.contains("the name of an encoding"), "{done:?}");
}

/// Where it is between two records, it belongs to the second.
#[test]
fn a_byte_order_mark_is_passed_over_at_the_start_alone() {
    let mark = "\u{FEFF}";
    let (a, b) = (jsonl(&[("a", "one text")]), jsonl(&[("b", "another text")]));
    for (lines, ids) in [(format!("{mark}{a}{b}"), "a\nb\n"), (format!("{a}{mark}{b}"), "a\n")] {
        let shell = Shell::new();
        let done = shell.pipe("add i.twx --format jsonl -", lines);
        assert_eq!(done.stderr.contains(":2: "), ids == "a\n", "{done:?}");
        assert_eq!(shell.run("list i.twx").succeeds().stdout, ids);
    }
    let shell = Shell::new();
    let sets = format!("{mark}a\tone two\n{mark}b\tthree four\n");
    shell.pipe("add i.twx -q --shingle token --format tokens -", sets).succeeds();
    assert_eq!(shell.run("list i.twx").succeeds().stdout, format!("a\n{mark}b\n"));
}

fn record(kind: &str, id: &str, fields: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <{id}>\r\n{fields}\
         Content-Length: {length}\r\n\r\n{body}\r\n\r\n"
    )
}

#[test]
fn archives_are_read_by_name_and_content_and_written_again() {
    let page = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>A page of some words.</p>";
    let uri = "WARC-Target-URI: http://a.example/\r\n";
    let kept = [
        record("conversion", "urn:a", uri, "A text of several words."),
        record("response", "urn:b", "Content-Type: application/http\r\n", page),
    ];
    let again = record("conversion", "urn:c", "", "A text of several words.");
    let archive = [&record("warcinfo", "urn:i", "", "software: x"), &kept[0], &kept[1], &again];
    let archive: String = archive.into_iter().map(String::as_str).collect();
    let shell = Shell::new();
    shell.write("d/CC.warc.wet", &archive);
    shell.write("unnamed", &archive);
    shell.write("notes.txt", &archive);
    for (index, words) in [("a", "d"), ("b", "unnamed"), ("c", "--format warc notes.txt")] {
        shell.run(&format!("add {index}.twx -q {words}")).succeeds();
        let ids = shell.run(&format!("list {index}.twx")).stdout;
        assert_eq!(ids, "urn:a\nurn:b\nurn:c\n", "{words}");
    }
    shell.run("add text.twx -q notes.txt").succeeds();
    assert_eq!(shell.run("list text.twx").stdout, "notes.txt\n");
    shell.pipe("dedup i.twx -q - -o kept.warc --removed r", archive.clone()).succeeds();
    assert_eq!(String::from_utf8(shell.read("kept.warc")).expect("UTF-8"), kept.concat());
    let field = "add j.twx -q --id-field WARC-Target-URI d";
    let done = shell.run(field);
    let cause = "has no field `WARC-Target-URI`; name another with --id-field";
    assert!(done.status == 2 && done.stderr.contains(cause), "{done:?}");
    assert_eq!(shell.run("list j.twx").stdout, "http://a.example/\n");
}

#[test]
fn a_stream_without_ids_says_so_once() {
    let shell = Shell::new();
    let lines = "one line\nanother line\n".repeat(40_000);
    let done = shell.pipe("add i.twx", lines.clone()).succeeds();
    assert_eq!(done.stderr.matches("--id hash names them by their text").count(), 1, "{done:?}");
    for words in ["add j.twx -q", "add j.twx --id hash", "add j.twx --id-prefix p"] {
        let done = shell.pipe(words, lines.clone()).succeeds();
        assert!(!done.stderr.contains("numbered #1"), "{words}: {done:?}");
    }
}

#[test]
fn an_archive_names_its_encodings_and_codings_itself() {
    let shell = Shell::new();
    let http = "Content-Type: application/http\r\n";
    let packed = "HTTP/1.1 200 OK\r\nContent-Type: image/svg\r\nContent-Encoding: gzip\r\n\r\n..";
    let page = "HTTP/1.1 200 OK\r\nContent-Type: application/xhtml+xml\r\n\r\n<p>Grüße</p>";
    let archive =
        record("response", "image", http, packed) + &record("response", "page", http, page);
    shell.write("in.warc", archive);
    let most = page.len();
    let add =
        format!("add i.twx --json --store-text --encoding latin1 --max-record {most} in.warc");
    assert_eq!(shell.run(&add).succeeds().counted("added"), 1);
    assert_eq!(text_of(&shell, "page"), "<p>Grüße</p>");
    let done = shell.run(&add.replace(&most.to_string(), &(most - 1).to_string()));
    assert!(done.status == 2 && done.stderr.contains("in.warc:2: longer than"), "{done:?}");
    let weighted = shell.run("add w.twx --weighted in.warc");
    assert!(weighted.status == 2 && weighted.stderr.contains("has no weights"), "{weighted:?}");
}

#[test]
fn a_command_advises_only_the_options_that_it_has() {
    let shell = Shell::with(&[("a", "some text")]);
    shell.write("wide", utf16("some text\n", b"\xFF\xFE", true));
    for words in [
        "compare wide wide",
        "compare --weighted wide wide",
        "import i.twx wide",
        "remove i.twx --ids-from wide",
        "explain i.twx b --removed wide",
    ] {
        let done = shell.run(words);
        assert!(done.status == 2 && done.stderr.contains("`iconv -f UTF-16 "), "{words}: {done:?}");
        assert!(!done.stderr.contains("--encoding"), "{words}: {done:?}");
    }
    for words in ["query i.twx wide", "explain i.twx b --text wide", "plan --sample wide"] {
        let done = shell.run(words);
        assert!(done.stderr.contains("or say --encoding utf-16\n"), "{words}: {done:?}");
    }
}
