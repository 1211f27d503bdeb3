//! Inputs that are no text are named, with what to do; many bad records do not hide the rest.

use crate::command::{Shell, jsonl};
use crate::packing::Packing;

/// Some first bytes of a file, as its own programs write them, and the name of its format.
fn files() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let tar = |name: &str| {
        let mut header = vec![0_u8; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[257..263].copy_from_slice(b"ustar\0");
        [header, b"some text\n".to_vec(), vec![0; 1_014]].concat()
    };
    let binary = |magic: &[u8]| [magic, &[0, 1, 2, 0xFF, 0xFE, 0][..], &[0x80; 300]].concat();
    vec![
        ("a.parquet", binary(b"PAR1\x15\x04"), "Parquet"),
        ("a.arrow", binary(b"ARROW1\0\0"), "Arrow"),
        ("d.txt.gz", Packing::Gzip.pack(Packing::Gzip.pack("a text")), "compressed twice"),
        ("e.txt.gz", Packing::Gzip.pack(Packing::Zstd.pack("a text")), "compressed twice"),
        ("a.xz", binary(b"\xFD7zXZ\0\0\x04"), "xz"),
        ("a.bz2", binary(b"BZh91AY&SY"), "bzip2"),
        ("a.zip", binary(b"PK\x03\x04\x14\0"), "zip"),
        ("a.7z", binary(b"7z\xBC\xAF\x27\x1C"), "7z"),
        ("a.tar", tar("a.txt"), "tar"),
        ("b.tar.gz", Packing::Gzip.pack(tar("b.txt")), "tar"),
        ("c.tgz", Packing::Gzip.pack(tar("c.txt")), "tar"),
        ("a.png", binary(b"\x89PNG\r\n\x1a\n"), "PNG"),
        ("a.jpg", binary(b"\xFF\xD8\xFF\xE0\0\x10JFIF"), "JPEG"),
        ("a.gif", binary(b"GIF89a"), "GIF"),
        ("a.pdf", binary(b"%PDF-1.7\n%\xE2\xE3\xCF\xD3\n"), "PDF"),
        ("a.out", binary(b"\x7FELF\x02\x01\x01"), "ELF"),
        ("a.db", binary(b"SQLite format 3\0"), "SQLite"),
    ]
}

fn utf16(text: &str, mark: &[u8], low_first: bool) -> Vec<u8> {
    let unit = |unit: u16| if low_first { unit.to_le_bytes() } else { unit.to_be_bytes() };
    [mark, &text.encode_utf16().flat_map(unit).collect::<Vec<u8>>()].concat()
}

#[test]
fn a_file_that_is_no_text_is_named_in_one_line_with_what_to_do() {
    let shell = Shell::new();
    shell.write("good.txt", "some good text");
    for (name, bytes, format) in files() {
        shell.write(name, bytes);
        for words in ["", "--format lines ", "--format jsonl ", "--format csv "] {
            let done = shell.run(&format!("add i.twx -q {words}{name}"));
            done.fails_with(&format!("twindex: {name}: is "));
            assert!(done.stderr.contains(format) && done.stderr.contains("; "), "{done:?}");
        }
        shell.run(&format!("compare {name} good.txt")).fails_with(format);
        shell.run(&format!("import j.twx {name}")).fails_with(format);
    }
}

#[test]
fn a_stream_that_is_no_text_is_named_too() {
    let shell = Shell::new();
    for (_, bytes, format) in files() {
        let done = shell.pipe("add i.twx -q -", bytes);
        done.fails_with("twindex: standard input: is ");
        assert!(done.stderr.contains(format), "{done:?}");
    }
}

#[test]
fn binary_files_in_a_folder_of_texts_are_reported_and_the_texts_are_read() {
    let shell = Shell::new();
    shell.write("d/good.txt", "some good text");
    for (name, bytes, _) in files() {
        shell.write(&format!("d/{name}"), bytes);
    }
    let done = shell.run("add i.twx d --json");
    assert_eq!((done.status, done.counted("added")), (2, 1), "{done:?}");
    assert_eq!(done.counted("failed"), files().len() as u64);
    assert_eq!(done.stderr.matches(": is ").count(), files().len(), "{done:?}");
}

#[test]
fn utf16_is_named_with_the_command_that_converts_it() {
    let shell = Shell::new();
    let text = "id,text\na,some text of a table\nb,ein Text mit Umlauten: äöü\n";
    for (bytes, name) in [
        (utf16(text, b"\xFF\xFE", true), "UTF-16"),
        (utf16(text, b"\xFE\xFF", false), "UTF-16"),
        (utf16(text, b"", true), "UTF-16LE"),
        (utf16(text, b"", false), "UTF-16BE"),
    ] {
        shell.write("a.csv", &bytes);
        shell.write("a.txt", &bytes);
        let advice = format!("iconv -f {name} -t UTF-8");
        for words in ["a.csv", "a.txt", "--format lines a.txt"] {
            shell.run(&format!("add i.twx -q {words}")).fails_with(&advice);
        }
        shell.pipe("add i.twx -q -", bytes).fails_with(&advice);
    }
}

#[test]
fn after_ten_bad_records_of_a_file_comes_a_count() {
    let shell = Shell::new();
    shell.write("a.jsonl", "no JSON\n".repeat(100_000) + &jsonl(&[("a", "a good text")]));
    shell.write("b.jsonl", "no JSON\n".repeat(10));
    for words in ["add i.twx", "dedup j.twx -o out"] {
        let done = shell.run(&format!("{words} a.jsonl b.jsonl --json"));
        assert_eq!((done.counted("failed"), done.counted("added")), (100_010, 1), "{done:?}");
        let lines: Vec<&str> = done.stderr.lines().collect();
        assert_eq!(lines.len(), 10 + 1 + 10 + 1, "{done:?}");
        assert_eq!(lines[10], "twindex: a.jsonl: 99,990 more bad records");
        assert!(lines[11].starts_with("twindex: b.jsonl:1: "), "{done:?}");
    }
    let query = shell.run("query i.twx a.jsonl");
    assert!(query.stderr.contains("twindex: a.jsonl: 99,990 more bad records"), "{query:?}");
}

#[test]
fn a_wrong_field_names_the_fields_there_are() {
    let shell = Shell::new();
    shell.write("a.jsonl", "{\"id\":1,\"title\":\"a\",\"body\":\"some text\"}\n");
    shell.write("a.csv", "id,title,body\n1,a,some text\n");
    for name in ["a.jsonl", "a.csv"] {
        for (words, field) in [
            ("", "text"),
            ("--text-field boddy", "boddy"),
            ("--text-field body --id-field key", "key"),
        ] {
            let done = shell.args(
                &["add", "i.twx", "-q", name]
                    .into_iter()
                    .chain(words.split_whitespace())
                    .collect::<Vec<_>>(),
                "",
            );
            done.fails_with(&format!("no field `{field}`").replace(
                "field",
                match name {
                    "a.csv" => "column",
                    _ => "field",
                },
            ));
            assert!(done.stderr.contains("`id`, `title`, `body`"), "{done:?}");
            let option = if field == "key" { "--id-field" } else { "--text-field" };
            assert!(done.stderr.contains(option), "{done:?}");
        }
    }
}

#[test]
fn a_json_array_is_named_with_the_command_that_splits_it() {
    let shell = Shell::new();
    let array = r#"[{"id":"a","text":"some text"},
  {"id":"b","text":"another text"}]"#;
    for name in ["all.json", "all"] {
        shell.write(name, format!(" \n{array}\n"));
        let done = shell.run(&format!("add i.twx -q {name}"));
        done.fails_with(&format!("{name}: is a JSON array, which is not read; `jq -c '.[]'"));
    }
    shell.pipe("add i.twx -q -", array).fails_with("standard input: is a JSON array");
    shell.write("all.jsonl", array.replace('\n', ""));
    shell.run("add i.twx -q all.jsonl").fails_with("all.jsonl:1: is an array and not an object");
    // Other texts begin with a bracket, too.
    shell.pipe("add i.twx --format lines -q -", array).succeeds();
    shell.pipe("add other.twx -q -", "[1] the first line\n[]\n[\n").succeeds();
    assert_eq!(shell.run("list other.twx").succeeds().stdout.lines().count(), 3);
}

#[test]
fn an_index_and_an_export_are_named_with_the_command_that_reads_them() {
    let shell = Shell::with(&[("a", "some text"), ("b", "another text")]);
    shell.run("export i.twx -q -o pages.json").succeeds();
    shell.run("export i.twx -q -o pages").succeeds();
    shell.run("export i.twx -q -o pages.exp.gz").succeeds();
    let texts = shell.run("add new.twx -q i.twx --format text");
    texts.fails_with("i.twx: is an index of twindex, which is not read; take");
    for name in ["pages.json", "pages", "pages.exp.gz"] {
        let done = shell.run(&format!("add new.twx -q {name}"));
        done.fails_with(&format!("{name}: is an export of twindex"));
        shell.run(&format!("import {name}.twx {name} -q")).succeeds();
    }
}

#[test]
fn json_lines_of_another_name_are_told() {
    let shell = Shell::new();
    shell.write("a.log", jsonl(&[("a", "some text"), ("b", "another text")]));
    shell.write("b.log", jsonl(&[("c", "one object is a text as good as any")]));
    let done = shell.run("add i.twx a.log a.log b.log").succeeds();
    let told = "a.log: begins like JSON Lines and is taken as one text, because of its name";
    assert_eq!(done.stderr.matches(told).count(), 1, "{done:?}");
    assert_eq!(done.stderr.matches("begins like").count(), 1, "{done:?}");
    assert_eq!(shell.ids(), ["a.log", "b.log"]);
    for format in ["text", "jsonl"] {
        let done = shell.run(&format!("add {format}.twx a.log --format {format}")).succeeds();
        assert!(!done.stderr.contains("begins like"), "{done:?}");
    }
}

#[test]
fn a_table_with_other_separators_is_told_from_one_without_the_column() {
    let shell = Shell::new();
    for header in ["id;text", "id\ttext", "id|text"] {
        shell.write("a.csv", format!("{header}\n1;some text\n"));
        shell.run("add i.twx -q a.csv").fails_with("columns are separated by commas in CSV");
    }
    shell.write("a.tsv", "id,text\n1,some text\n");
    shell.run("add i.twx -q a.tsv").fails_with("by tabs in TSV");
    shell.write("a.csv", "title\nsome text\n");
    shell.run("add i.twx -q a.csv").fails_with("no column `text` in its header `title`");
}

#[test]
fn one_field_may_be_the_id_and_the_text() {
    let shell = Shell::new();
    shell.write("a.jsonl", "{\"text\":\"some text\"}\n{\"text\":\"another text\"}\n");
    shell.run("add i.twx -q a.jsonl --id-field text").succeeds();
    assert_eq!(shell.ids(), ["some text", "another text"]);
}

#[test]
fn a_table_where_lines_are_read_is_told_with_what_writes_lines() {
    let shell = Shell::with(&[("a", "a text")]);
    for (name, table) in [("t.parquet", "is Parquet"), ("t.arrow", "is Arrow")] {
        shell.run(&format!("list i.twx -o {name}")).succeeds();
        for words in ["remove i.twx --ids-from", "import j.twx", "explain i.twx b --removed"] {
            let done = shell.run(&format!("{words} {name}"));
            done.fails_with(&format!("{name}: {table}, and lines are read here"));
            assert!(!done.stderr.contains("--format"), "{words}: {done:?}");
        }
    }
    shell.run("list i.twx -o ids.tsv").succeeds();
    assert_eq!(shell.run("remove i.twx --ids-from ids.tsv --json").counted("removed"), 1);
}
