//! Every format of input, and how it is told.

use crate::command::{Done, Shell, jsonl};
use crate::packing::Packing;
use crate::support::text;

/// What an index holds, but for the time: ids, and what `get` says of each.
fn content(shell: &Shell) -> Vec<(String, String)> {
    let of = |id: String| {
        let got = shell.args(&["get", "i.twx", "--", &id], "").succeeds().stdout;
        let lasting =
            got.lines().filter(|line| !line.starts_with("inserted\t") && !line.starts_with("id\t"));
        let got = lasting.collect::<Vec<_>>().join("\n");
        (id, got)
    };
    shell.ids().into_iter().map(of).collect()
}

/// Documents whose texts hold what quotes are for.
fn documents() -> Vec<(String, String)> {
    (0..6)
        .map(|n| (format!("doc {n}"), format!("{}, \"quoted\"\n\tand ü", text(n, 0, 20))))
        .collect()
}

fn as_jsonl(documents: &[(String, String)]) -> String {
    let borrowed: Vec<_> = documents.iter().map(|(id, text)| (&**id, &**text)).collect();
    jsonl(&borrowed)
}

fn as_table(documents: &[(String, String)], separator: &str) -> String {
    let quoted = |field: &str| format!("\"{}\"", field.replace('"', "\"\""));
    let row =
        |(id, text): &(String, String)| ["7", &quoted(text), &quoted(id)].join(separator) + "\r\n";
    let header = ["number", "text", "id"].join(separator) + "\r\n";
    header + &documents.iter().map(row).collect::<String>()
}

/// Runs `add` once for each packing, from a file and from standard input; all must give the same.
#[track_caller]
fn the_same_everywhere(options: &str, input: &str) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for packing in Packing::ALL {
        let packed = packing.pack(input);
        let (file, stream) = (Shell::new(), Shell::new());
        file.write("in", &packed);
        file.run(&format!("add i.twx {options} in")).succeeds();
        stream.pipe(&format!("add i.twx {options} --id-prefix in -"), packed).succeeds();
        all.extend([content(&file), content(&stream)]);
    }
    assert!(!all[0].is_empty());
    for other in &all[1..] {
        assert_eq!(*other, all[0], "{options}");
    }
    all.swap_remove(0)
}

#[test]
fn every_packing_of_records_gives_the_same_index_from_files_and_streams() {
    let documents = documents();
    let json = the_same_everywhere("--format jsonl", &as_jsonl(&documents));
    assert_eq!(json.len(), documents.len());
    assert_eq!(the_same_everywhere("--format csv", &as_table(&documents, ",")), json);
    assert_eq!(the_same_everywhere("--format tsv", &as_table(&documents, "\t")), json);
}

#[test]
fn every_packing_of_lines_gives_the_same_index_from_files_and_streams() {
    let lines = the_same_everywhere("--format lines", "first line\nsecond line\n\nlast");
    let ids: Vec<_> = lines.into_iter().map(|(id, _)| id).collect();
    assert_eq!(ids, ["in:1", "in:2", "in:3", "in:4"]);
}

#[test]
fn every_packing_of_a_text_gives_the_same_index_from_files_and_streams() {
    let mut all = Vec::new();
    for packing in Packing::ALL {
        let packed = packing.pack("one text\nof two lines");
        let (file, folder, stream) = (Shell::new(), Shell::new(), Shell::new());
        file.write("in", &packed);
        folder.write("d/in", &packed);
        file.run("add i.twx --format text in").succeeds();
        folder.run("add i.twx d").succeeds();
        stream.pipe("add i.twx --format text -", packed).succeeds();
        all.extend([file, folder, stream].map(|shell| content(&shell)[0].1.clone()));
    }
    all.dedup();
    assert_eq!(all.len(), 1);
}

#[test]
fn a_line_of_tokens_and_an_array_are_the_same_set() {
    let lines = "a\tx y 7\nb\t7 x y x\nc\t\nd\tz\n";
    let arrays = r#"{"id":"a","text":["x","y",7]}
{"id":"b","text":[7,"x","y","x"]}
{"id":"c","text":[]}
{"id":"d","text":["z"]}
"#;
    let tokens = the_same_everywhere("--shingle token --format tokens", lines);
    assert_eq!(the_same_everywhere("--shingle token --format jsonl", arrays), tokens);
    let signature = |n: usize| tokens[n].1.lines().last().expect("a signature").to_owned();
    assert!(signature(0).starts_with("signature\t"));
    assert_eq!(signature(0), signature(1), "order and repetition do not matter");
    let counted = the_same_everywhere("--shingle token --multiset --format tokens", lines);
    assert_ne!(counted[0].1.lines().last(), counted[1].1.lines().last());
}

#[test]
fn an_element_may_hold_white_space_or_nothing() {
    let shell = Shell::new();
    let arrays = r#"{"id":"a","text":["new york","",1]}
{"id":"b","text":["",1,"new york"]}
{"id":"c","text":["new","york",1]}
"#;
    shell.pipe("add i.twx --shingle token -", arrays).succeeds();
    let found = shell.run("pairs i.twx --threshold 0.9").succeeds();
    assert_eq!((found.column(0), found.column(1)), (vec!["a"], vec!["b"]));
}

#[test]
fn an_invalid_set_is_reported() {
    let shell = Shell::new();
    let added = shell.pipe(
        "add i.twx --json --shingle token --format tokens -",
        "a\tx y\nno tab\nb\tx\u{1f}\nc\ty z\n",
    );
    assert_eq!((added.status, added.counted("failed")), (2, 2), "{added:?}");
    let mut messages = added.stderr.lines();
    for start in ["twindex: standard input:2: no tab", "twindex: standard input:3: "] {
        let message = messages.next().unwrap_or_default();
        assert!(message.starts_with(start), "{message}");
    }
    let arrays = "{\"id\":\"x\",\"text\":[1.5]}\n{\"id\":\"d\",\"text\":[\"x\"]}\n";
    let added = shell.pipe("add i.twx --json -", arrays);
    assert_eq!((added.status, added.counted("failed")), (2, 1), "{added:?}");
    assert_eq!(shell.ids(), ["a", "c", "d"]);
}

#[test]
fn a_set_for_an_index_of_texts_says_what_to_do() {
    let shell = Shell::with(&[("a", "some text")]);
    let arrays = "{\"id\":\"x\",\"text\":[\"y\"]}\n{\"id\":\"b\",\"text\":\"more text\"}\n";
    let added = shell.pipe("add i.twx --json -", arrays);
    assert_eq!((added.status, added.counted("failed"), added.counted("added")), (2, 1, 1));
    let advice = "standard input:1: a set, but the index cuts texts by char:9; create one with \
                  --shingle token";
    assert!(added.stderr.contains(advice), "{added:?}");
    let asked = shell.pipe("query i.twx -", arrays);
    assert!(asked.status == 2 && asked.stderr.contains(advice), "{asked:?}");
    assert_eq!(shell.ids(), ["a", "b"]);
}

#[test]
fn tokens_for_an_index_of_texts_are_one_error() {
    let shell = Shell::with(&[("a", "some text")]);
    shell.pipe("add i.twx --format tokens -", "b\tx\nc\ty\n").fails_with("--shingle token");
    shell.pipe("query i.twx --format tokens -", "b\tx\nc\ty\n").fails_with("--shingle token");
    shell.pipe("add new.twx --format tokens -", "b\tx\nc\ty\n").fails_with("--shingle token");
    assert!(!shell.path("new.twx").exists());
}

/// Adds a file of two JSON records under this name; returns how many documents it became.
#[track_caller]
fn records_in(name: &str, packing: Packing, records: &str) -> usize {
    let shell = Shell::new();
    shell.write(name, packing.pack(records));
    shell.run(&format!("add i.twx {name}")).succeeds();
    shell.ids().len()
}

#[test]
fn a_name_says_what_a_file_holds_whatever_its_packing() {
    let (json, csv) = (jsonl(&[("a", "1"), ("b", "2")]), "id,text\na,1\nb,2\n");
    let tsv = csv.replace(',', "\t");
    for packing in Packing::ALL {
        for suffix in ["", packing.suffix()] {
            let records = |name: &str, text| records_in(&format!("{name}{suffix}"), packing, text);
            assert_eq!(records("in.jsonl", &json), 2);
            assert_eq!(records("in.ndjson", &json), 2);
            assert_eq!(records("in.csv", csv), 2);
            assert_eq!(records("in.TSV", &tsv), 2);
            assert_eq!(records("in.txt", &json), 1);
            assert_eq!(records("in.md", csv), 1);
        }
    }
}

#[test]
fn a_name_that_says_nothing_leaves_it_to_the_first_line() {
    let json = jsonl(&[("a", "1"), ("b", "2")]);
    for packing in Packing::ALL {
        for name in ["in", "in.json", "d/in"] {
            assert_eq!(records_in(name, packing, &json), 2, "{name}");
            assert_eq!(records_in(name, packing, &format!("\n {json}")), 2, "{name}");
            assert_eq!(records_in(name, packing, "{\n\"id\": 1,\n\"text\": \"t\"\n}\n"), 1);
            assert_eq!(records_in(name, packing, &format!("text\n{json}")), 1, "{name}");
        }
    }
    let shell = Shell::new();
    shell.write("d/in", &json);
    shell.run("add i.twx d").succeeds();
    assert_eq!(shell.ids(), ["d/in"], "in a directory each file is a text");
}

#[cfg(unix)]
#[test]
fn a_pipe_with_a_name_is_read_once() {
    for (packing, records, count) in [
        (Packing::Plain, jsonl(&[("a", "1"), ("b", "2")]), 2),
        (Packing::Gzip, jsonl(&[("a", "1"), ("b", "2")]), 2),
        (Packing::Zstd, "one text\nof two lines\n".to_owned(), 1),
    ] {
        let shell = Shell::new();
        shell.write("data", packing.pack(records));
        shell.sh("mkfifo pipe && (cat data > pipe &) && \"$TWINDEX\" add i.twx pipe").succeeds();
        assert_eq!(shell.ids().len(), count);
        if count == 1 {
            assert_eq!(shell.ids(), ["pipe"]);
        }
    }
}

#[test]
fn standard_input_goes_by_its_first_character_after_decompression() {
    let json = jsonl(&[("a", "1"), ("b", "2")]);
    for packing in Packing::ALL {
        let shell = Shell::new();
        shell.pipe("add i.twx -", packing.pack(&json)).succeeds();
        assert_eq!(shell.ids(), ["a", "b"]);
        shell.pipe("add i.twx --id-prefix p -", packing.pack("one\ntwo\n")).succeeds();
        assert_eq!(shell.ids(), ["a", "b", "p:1", "p:2"]);
    }
}

/// The counts of an input in which `a` comes three times, once with another text, and `b` once.
#[track_caller]
fn as_if_one_after_the_other(shell: &Shell, added: &Done) {
    let counts = ["added", "replaced", "unchanged"].map(|field| added.counted(field));
    assert_eq!(counts, [2, 2, 1], "{added:?}");
    assert_eq!(shell.ids(), ["b", "a"]);
    assert_eq!(shell.run("get i.twx a --json").json()[0]["bytes"], 5);
}

#[test]
fn an_id_that_comes_again_is_as_if_it_were_added_later() {
    let json = jsonl(&[("a", "first"), ("a", "first"), ("b", "b"), ("a", "other"), ("a", "third")]);
    let csv = "id,text\na,first\na,first\nb,b\na,other\na,third\n";
    let tokens = "a\tfirst\na\tfirst\nb\tb\na\tother\na\tthird\n";
    for batch in 1..7 {
        for (options, input) in [
            ("--format jsonl", json.as_str()),
            ("--format csv", csv),
            ("--format tsv", &csv.replace(',', "\t")),
            ("--shingle token --format tokens", tokens),
        ] {
            let shell = Shell::new();
            let words = format!("add i.twx --json --batch {batch} {options} -");
            as_if_one_after_the_other(&shell, &shell.pipe(&words, input).succeeds());
        }
    }
}

#[test]
fn records_of_another_format_do_not_go_into_a_file_that_names_its_own() {
    let shell = Shell::new();
    shell.write("a.csv", "text\nfirst row in the csv file\n");
    shell.write("b.tsv", "text\nhello, world of tabs \"quoted\"\n");
    shell.write("f.jsonl", "{\"id\":\"a\",\"text\":\"some json text is here\"}\n");
    for command in [
        "dedup i.twx a.csv b.tsv -o out.csv --removed gone",
        "dedup j.twx f.jsonl - --id-prefix P -o out.jsonl --removed gone",
    ] {
        let done = shell.pipe(command, "a plain line of text\n");
        assert!(done.status == 2 && done.stderr.contains("its name says"), "{command}: {done:?}");
    }
}

#[test]
fn texts_of_a_named_encoding_may_begin_like_other_files() {
    let shell = Shell::new();
    shell.write("x.csv", b"BMI,id,text\n1,a,caf\xe9 cr\xe8me\n");
    shell.write("y.txt", b"ID3 tags in a caf\xe9\n");
    shell.run("add i.twx -q x.csv y.txt --encoding latin1").succeeds();
    assert_eq!(shell.ids(), ["a", "y.txt"]);
    let done = shell.run("add j.twx x.csv");
    assert!(done.stderr.contains("x.csv: is a BMP image"), "{done:?}");
}
