//! `compare --explain` and `explain`: the shared passages of two texts.

use crate::command::{Done, Shell, jsonl};
use serde_json::Value;

const A: &str = "\u{feff}1. Le Cafe\u{301}\u{a0}\u{a0}NOIR est très chaud.\r\n\
    2. 敏捷的棕色狐狸跳过了懒狗的背。\r\n";
const B: &str = "un\tle café noir EST tre\u{300}s\nchaud! 一只敏捷的棕色狐狸跳过了";

/// The first text without its byte order mark, which is no part of it.
fn unmarked() -> &'static str {
    A.trim_start_matches('\u{feff}')
}

/// The passages as they stand in both texts, which the offsets in bytes and in characters agree on.
fn shown(done: &Done, a: &str, b: &str) -> Vec<(String, String)> {
    let number = |line: &Value, name: &str| line[name].as_u64().expect("a number") as usize;
    let part = |line: &Value, side: &str, text: &str| {
        let at = |name: &str| number(line, &format!("{side}_{name}"));
        let bytes = &text[at("start")..at("end")];
        let chars = text.chars().skip(at("char_start")).take(at("char_end") - at("char_start"));
        assert_eq!(chars.collect::<String>(), bytes, "{line}");
        bytes.to_owned()
    };
    let both = |line: &Value| {
        assert_eq!(line["text"], part(line, "a", a), "{line}");
        (part(line, "a", a), part(line, "b", b))
    };
    done.json().iter().map(both).collect()
}

fn two_files() -> Shell {
    let shell = Shell::new();
    shell.write("a", A);
    shell.write("b", B);
    shell
}

#[test]
fn accents_ideographs_and_folded_white_space_keep_their_places() {
    let shell = two_files();
    let passages = shown(&shell.run("compare a b --explain --json").succeeds(), unmarked(), B);
    assert_eq!(
        passages,
        [
            (
                " Le Cafe\u{301}\u{a0}\u{a0}NOIR est très chaud",
                "\tle café noir EST tre\u{300}s\nchaud"
            ),
            ("敏捷的棕色狐狸跳过了", "敏捷的棕色狐狸跳过了"),
        ]
        .map(|(a, b)| (a.to_owned(), b.to_owned()))
    );
    let words = shell.run("compare a b --explain --json --shingle word:3").succeeds();
    assert_eq!(shown(&words, unmarked(), B)[0].1, "le café noir EST tre\u{300}s\nchaud");
    let lines = Shell::new();
    let (a, b) = ("x\n  if (y)\n\n\tz;\nw", "if  (y)\nz;\n");
    lines.write("a", a);
    lines.write("b", b);
    let code = lines.run("compare a b --explain --json --shingle line:2").succeeds();
    assert_eq!(shown(&code, a, b), [("if (y)\n\n\tz;".to_owned(), "if  (y)\nz;".to_owned())]);
}

#[test]
fn documents_of_an_index_are_explained_as_files_are() {
    let shell = two_files();
    let documents = jsonl(&[("a", A), ("b", B), ("other", "nothing like them at all")]);
    shell.pipe("add i.twx -q --store-text --format jsonl -", documents).succeeds();
    let files = shell.run("compare a b --explain --json");
    assert_eq!(shell.run("explain i.twx a b --json"), files);
    assert_eq!(shell.run("explain i.twx a other").status, 1);
    shell
        .run("explain i.twx a nobody")
        .fails_with("i.twx: no document has the id nobody; `twindex list` prints all ids");
}

#[test]
fn differences_and_passages_are_all_there_is_of_a_text() {
    let shell = two_files();
    for words in ["", " --shingle word:2", " --shingle line:1", " --min-length 12"] {
        let parts = |option: &str| {
            let done = shell.run(&format!("compare a b --explain --json{words}{option}"));
            (done.json(), done.summary())
        };
        let ((shared, told), (different, same)) = (parts(""), parts(" --differences"));
        assert_eq!(told, same, "the summary is the same");
        for (side, text) in [("a", unmarked()), ("b", B)] {
            let mut covered = vec![0; text.len()];
            let place = |row: &Value, name: &str| row[name].as_u64().expect("a number") as usize;
            let (start, end) = (format!("{side}_start"), format!("{side}_end"));
            for row in &shared {
                covered[place(row, &start)..place(row, &end)].iter_mut().for_each(|at| *at = 1);
            }
            for row in different.iter().filter(|row| row["in"] == side) {
                let part = place(row, "start")..place(row, "end");
                assert_eq!(row["text"], text[part.clone()]);
                let chars = text[..part.start].chars().count();
                assert_eq!(place(row, "char_start"), chars);
                covered[part].iter_mut().for_each(|at| *at += 1);
            }
            let ends = text.len() - text.trim_end().len();
            let inside = &covered[..text.len() - ends];
            assert!(inside.iter().all(|times| *times == 1), "{words}: {covered:?}");
        }
        let lengths = shared.iter().map(|row| row["text"].to_string().chars().count());
        assert!(!words.contains("12") || lengths.min().is_none_or(|least| least >= 12));
    }
    assert_eq!(shell.run("compare a a --explain --differences").status, 1);
    shell.run("compare a b --differences").fails_with("are for --explain");
}

#[test]
fn texts_of_records_and_of_audits_are_explained() {
    let shell = Shell::new();
    let text = "It was the best of times, it was the worst of times, it was the age of ";
    let [a, b] = ["wisdom", "reason"].map(|end| text.repeat(3) + end);
    shell.write("in.jsonl", jsonl(&[("a", &a), ("b", &b), ("x:y", &a)]));
    shell.write("in.csv", "id,text\n1,\"some text: of a table\"\n");
    let words = "dedup i.twx in.jsonl -q --store-text -o out";
    shell.run(&format!("{words} --removed gone --removed-text")).succeeds();
    let both = "explain i.twx --record in.jsonl:a --record in.jsonl:b --json";
    let expected = shell.run(both).succeeds();
    assert_eq!(shell.run("explain i.twx a b --removed gone --json"), expected);
    assert_eq!(shell.run("explain i.twx --record in.jsonl:a b --removed gone --json"), expected);
    let same = "explain i.twx --record in.jsonl:x:y a --differences";
    assert_eq!(shell.run(same).status, 1, "an id may have colons");
    assert_eq!(shell.run("explain i.twx --record in.csv:1 a").status, 1, "they share nothing");
    for (words, cause) in [
        ("--record in.jsonl:q a", "in.jsonl: no record has the id q"),
        ("--record nowhere.jsonl:a a", "expected FILE:ID, with a file that is there"),
        ("--record in.jsonl:a", "two texts are explained, and 1 was named"),
        ("--record in.jsonl:a a b", "two texts are explained, and 3 were named"),
        ("a b", "--record FILE:ID names a record of a file"),
        ("a q --removed gone", "gone has no line with its text"),
    ] {
        shell.run(&format!("explain i.twx {words}")).fails_with(cause);
    }
}

#[test]
fn the_text_of_a_removed_record_is_read_as_the_options_say() {
    let shell = Shell::new();
    let text = "Ein Satz \u{fc}ber die H\u{f6}he der T\u{fc}rme in der alten Stadt.";
    shell.write("in.jsonl", jsonl(&[("a", text)]));
    shell.run("add i.twx -q in.jsonl").succeeds();
    shell.write("q", text.chars().map(|letter| letter as u8).collect::<Vec<u8>>());
    let found = shell.run("explain i.twx q --encoding latin1").succeeds();
    assert_eq!(found.column(1), ["a"]);
    shell.run("explain i.twx q").fails_with("q: not valid UTF-8 at byte 10");
    let words = "explain i.twx q --encoding latin1 --max-record 20";
    shell.run(words).fails_with("q: longer than 20 bytes");
    for option in ["--differences", "--min-length 3"] {
        shell.run(&format!("explain i.twx q {option}")).fails_with("are for two texts");
    }
}

#[test]
fn an_index_explains_under_its_own_settings() {
    let shell = Shell::new();
    let (a, b) = ("One two, three four", "two three ONE");
    let documents = jsonl(&[("a", a), ("b", b)]);
    let settings = "--store-text --shingle word:2 --normalize none --seed 7 --multiset";
    shell.pipe(&format!("add i.twx -q {settings} --format jsonl -"), documents).succeeds();
    let done = shell.run("explain i.twx a b --json").succeeds();
    assert_eq!(shown(&done, a, b), [("two, three".to_owned(), "two three".to_owned())]);
    assert_eq!(done.summary()["similarity"], 0.25);
}

#[test]
fn elements_of_sets_lie_in_the_stored_text() {
    let shell = Shell::new();
    let sets = r#"{"id": "a", "text": ["z", "x y", ""]}
{"id": "b", "text": ["w", "z", "x y"]}"#;
    shell.pipe("add i.twx -q --store-text --shingle token --format jsonl -", sets).succeeds();
    let [a, b] = ["a", "b"].map(|id| shell.run(&format!("get i.twx {id} --text")).stdout);
    assert_eq!(a, "z\u{1f}x y\u{1f}\u{1f}");
    let done = shell.run("explain i.twx a b --json").succeeds();
    assert_eq!(shown(&done, &a, &b), [("z\u{1f}x y".to_owned(), "z\u{1f}x y".to_owned())]);
}

#[test]
fn an_index_without_texts_says_what_to_do() {
    let shell = Shell::with(&[("a", A), ("b", B)]);
    shell
        .run("explain i.twx a b")
        .fails_with("i.twx: stores no texts; create it with --store-text");
}

#[test]
fn the_summary_says_how_much_of_each_is_shared() {
    let shell = Shell::new();
    shell.write("a", "one two three four é");
    shell.write("b", "three four");
    let done = shell.run("compare a b --explain --json --shingle word:2").succeeds();
    let summary = done.summary();
    for (name, value) in [
        ("passages", 1.0),
        ("share_of_a", 0.5),
        ("share_of_b", 1.0),
        ("similarity", 0.25),
        ("shared", 1.0),
    ] {
        assert_eq!(summary[name].as_f64(), Some(value), "{name}: {summary}");
    }
    let sentence = "1 shared passage: 50.0 % of a, 100.0 % of b; similarity 0.25\n";
    assert_eq!(shell.run("compare a b --explain --shingle word:2").stderr, sentence);
}

#[test]
fn nearly_all_of_a_text_is_not_all_of_it() {
    let shell = Shell::new();
    shell.write("a", "one two ".repeat(1000));
    shell.write("b", format!("{}!", "one two ".repeat(1000)));
    let done = shell.run("compare a b --explain --shingle word:2").succeeds();
    assert!(
        done.stderr.starts_with("1 shared passage: 99.9 % of a, 99.9 % of b;"),
        "{}",
        done.stderr
    );
}

#[test]
fn a_passage_is_a_line_of_columns() {
    let shell = Shell::new();
    shell.write("a", "x\none\ttwo\u{1b}");
    shell.write("b", "one two\u{1b}");
    let done = shell.run("compare a b --explain --shingle char:4").succeeds();
    assert_eq!(done.stdout, "2\t10\t0\t8\t2\t10\t0\t8\t5\tone\\ttwo\\u001b\n");
}

#[test]
fn the_exit_status_says_whether_anything_is_shared_and_enough() {
    let shell = Shell::new();
    shell.write("a", "one two three");
    shell.write("b", "one two four");
    shell.write("c", "five six seven");
    shell.write("empty", "");
    for (words, status) in [
        ("compare a b --explain --shingle word:2", 0),
        ("compare a b --explain --shingle word:2 --threshold 0.33", 0),
        ("compare a b --explain --shingle word:2 --threshold 0.34", 1),
        ("compare a c --explain --shingle word:2", 1),
        ("compare empty empty --explain", 1),
        ("compare a missing --explain", 2),
    ] {
        assert_eq!(shell.run(words).status, status, "{words}");
    }
}
