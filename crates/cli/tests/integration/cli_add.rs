//! `twindex add`: where documents come from, what they are called, what becomes of them.

use crate::command::{Shell, jsonl, lines};

#[test]
fn a_random_seed_is_for_a_new_index() {
    let shell = Shell::new();
    shell.write("in.jsonl", jsonl(&[("a", "one text of several words")]));
    shell.run("add known.twx -q in.jsonl").succeeds();
    for words in ["add known.twx in.jsonl", "dedup known.twx in.jsonl -o out"] {
        let done = shell.run(&format!("{words} --seed random"));
        done.fails_with("was created with the seed 0, which anybody can guess");
    }
    for _ in 0..2 {
        shell.run("add secret.twx -q in.jsonl --seed random").succeeds();
    }
}

#[test]
fn a_text_file_is_a_document_by_the_name_of_its_path() {
    let shell = Shell::new();
    shell.write("docs/one.txt", "first text");
    shell.write("two", "second text");
    let added = shell.run("add i.twx docs/one.txt ./two --json").succeeds();
    assert_eq!((added.counted("added"), added.counted("bytes")), (2, 21));
    assert_eq!(shell.ids(), ["docs/one.txt", "two"]);
}

#[test]
fn a_directory_is_walked_in_order_of_names() {
    let shell = Shell::new();
    for name in ["docs/b.txt", "docs/a/z.txt", "docs/c", "docs/a/y.md", "docs/.hidden"] {
        shell.write(name, name);
    }
    shell.run("add i.twx docs").succeeds();
    assert_eq!(shell.ids(), ["docs/a/y.md", "docs/a/z.txt", "docs/b.txt", "docs/c"]);
}

#[test]
fn many_small_files_keep_their_order() {
    let shell = Shell::new();
    let names: Vec<String> = (0..200).map(|n| format!("docs/{n:03}")).collect();
    names.iter().for_each(|name| shell.write(name, name));
    shell.run("add i.twx docs --batch 30").succeeds();
    assert_eq!(shell.ids(), names);
}

#[test]
fn json_lines_come_from_a_file_or_from_standard_input() {
    let records = jsonl(&[("a", "some text"), ("b", "another text")]);
    let shell = Shell::new();
    shell.write("in.jsonl", &records);
    shell.run("add i.twx in.jsonl").succeeds();
    let again = shell.pipe("add i.twx --json", records).succeeds();
    assert_eq!(again.counted("unchanged"), 2);
    assert_eq!(shell.ids(), ["a", "b"]);
}

#[test]
fn fields_of_json_have_the_names_that_were_given() {
    let shell = Shell::new();
    let record = r#"{"id": 1, "url": "u", "text": "wrong", "body": "right"}"#;
    shell.pipe("add i.twx --id-field url --text-field body -", record).succeeds();
    assert_eq!(shell.run("get i.twx u --json").json()[0]["bytes"], 5);
}

#[test]
fn blank_lines_between_json_records_are_none() {
    let shell = Shell::new();
    let added = shell.pipe("add i.twx --json -", "\n {\"id\":\"a\",\"text\":\"t\"}\r\n\n \n");
    assert_eq!((added.counted("added"), added.counted("failed")), (1, 0));
}

#[test]
fn each_line_of_a_file_is_named_by_path_and_line() {
    let shell = Shell::new();
    shell.write("v/verses.txt", "first\r\nsecond\nthird");
    shell.run("add i.twx --format lines v/verses.txt").succeeds();
    assert_eq!(shell.ids(), ["v/verses.txt:1", "v/verses.txt:2", "v/verses.txt:3"]);
    assert_eq!(shell.run("get i.twx v/verses.txt:1 --json").json()[0]["bytes"], 5);
}

#[test]
fn standard_input_is_one_text_if_asked() {
    let shell = Shell::new();
    shell.pipe("add i.twx --format text --id-prefix whole -", "two\nlines\n").succeeds();
    assert_eq!(shell.ids().len(), 1);
    assert_eq!(shell.run(&format!("get i.twx {} --json", shell.ids()[0])).json()[0]["bytes"], 10);
}

#[test]
fn numbers_become_their_decimal_text() {
    let shell = Shell::new();
    let records = r#"{"id":17,"text":"a"}
{"id":-3,"text":"b"}
{"id":18446744073709551615,"text":"c"}
{"id":0,"text":"d"}
"#;
    shell.pipe("add i.twx -", records).succeeds();
    assert_eq!(shell.ids(), ["17", "-3", "18446744073709551615", "0"]);
}

#[test]
fn large_numbers_that_differ_are_different_ids() {
    let shell = Shell::new();
    let records = r#"{"id":123456789012345678901,"text":"one text"}
{"id":123456789012345678902,"text":"another text"}
"#;
    shell.pipe("add i.twx -", records).succeeds();
    assert_eq!(shell.ids(), ["123456789012345678901", "123456789012345678902"]);
}

#[test]
fn an_id_prefix_names_records_of_standard_input() {
    let shell = Shell::new();
    shell.pipe("add i.twx --id-prefix feed -", "one\ntwo\n").succeeds();
    let records = "{\"text\":\"three\"}\n{\"id\":\"own\",\"text\":\"four\"}\n{\"text\":\"five\"}\n";
    shell.pipe("add i.twx --id-prefix json -", records).succeeds();
    assert_eq!(shell.ids(), ["feed:1", "feed:2", "json:1", "own", "json:3"]);
}

#[test]
fn an_id_prefix_of_nothing_is_an_error() {
    let shell = Shell::new();
    let done = shell.args(&["add", "i.twx", "--id-prefix", "", "-"], "some text\n");
    assert_eq!(done.status, 2, "{done:?}");
    assert!(done.stderr.contains("--id-prefix") && !shell.path("i.twx").exists(), "{done:?}");
}

#[test]
fn automatic_ids_never_repeat() {
    let shell = Shell::new();
    shell.pipe("add i.twx -", "one\ntwo\n").succeeds();
    shell.run("remove i.twx #2").succeeds();
    shell.pipe("add i.twx --batch 1 -", "three\nfour\n").succeeds();
    shell.run("compact i.twx").succeeds();
    shell.pipe("add i.twx -", "{\"text\":\"five\"}\n").succeeds();
    assert_eq!(shell.ids(), ["#1", "#3", "#4", "#5"]);
}

#[test]
fn an_automatic_id_never_overwrites_an_id_that_was_given() {
    let shell = Shell::with(&[("#2", "a text of its own")]);
    let added = shell.pipe("add i.twx --json -", "one\ntwo\nthree\n").succeeds();
    assert_eq!((added.counted("added"), added.counted("replaced")), (3, 0));
    assert_eq!(shell.ids().len(), 4);
}

#[test]
fn adding_again_commits_nothing() {
    let shell = Shell::new();
    shell.write("in.txt", lines(200));
    shell.run("add i.twx --format lines in.txt").succeeds();
    let commits = || shell.run("info i.twx --json").json()[0]["commits"].clone();
    let before = commits();
    let again = shell.run("add i.twx --format lines in.txt --json").succeeds();
    assert_eq!((again.counted("unchanged"), again.counted("added")), (200, 0));
    assert_eq!(commits(), before);
}

#[test]
fn another_text_under_an_id_replaces_the_first() {
    let shell = Shell::with(&[("a", "first"), ("b", "other")]);
    let added = shell.pipe("add i.twx --json -", jsonl(&[("a", "a new text")])).succeeds();
    assert_eq!((added.counted("replaced"), added.counted("added")), (1, 0));
    assert_eq!(shell.run("get i.twx a --json").json()[0]["bytes"], 10);
    assert_eq!(shell.ids(), ["b", "a"]);
    shell.assert_clean();
}

#[test]
fn the_last_of_one_id_in_a_stream_stays() {
    let shell = Shell::new();
    let records = jsonl(&[("a", "first"), ("a", "the second"), ("a", "the second")]);
    for batch in [1, 100] {
        let added = shell.pipe(&format!("add i{batch}.twx --batch {batch} --json -"), &*records);
        let counts = ["added", "replaced", "unchanged"].map(|field| added.counted(field));
        assert_eq!(counts, [1, 1, 1]);
        let got = shell.run(&format!("get i{batch}.twx a --json")).json();
        assert_eq!(got[0]["bytes"], 10);
    }
}

#[test]
fn skip_keeps_the_text_that_is_there() {
    let shell = Shell::with(&[("a", "first")]);
    let input = jsonl(&[("a", "a new text"), ("b", "more")]);
    let added = shell.pipe("add i.twx --on-conflict skip --json -", input).succeeds();
    assert_eq!((added.counted("skipped"), added.counted("added")), (1, 1));
    assert_eq!(shell.run("get i.twx a --json").json()[0]["bytes"], 5);
}

#[test]
fn error_keeps_the_text_that_is_there_and_says_so() {
    let shell = Shell::with(&[("a", "first")]);
    shell.write("in.jsonl", jsonl(&[("b", "more"), ("a", "a new text"), ("c", "more")]));
    let added = shell.run("add i.twx --on-conflict error --json in.jsonl");
    assert_eq!((added.status, added.counted("failed"), added.counted("added")), (2, 1, 2));
    assert!(added.stderr.starts_with("twindex: in.jsonl:2: "), "{added:?}");
    assert_eq!(shell.run("get i.twx a --json").json()[0]["bytes"], 5);
    assert_eq!(shell.ids(), ["a", "b", "c"]);
}

#[test]
fn the_same_text_again_is_no_conflict() {
    let shell = Shell::with(&[("a", "first")]);
    let input = jsonl(&[("a", "first")]);
    let added = shell.pipe("add i.twx --on-conflict error --json -", input).succeeds();
    assert_eq!(added.counted("unchanged"), 1);
}

#[test]
fn a_batch_is_a_commit() {
    let shell = Shell::new();
    let added = shell.pipe("add i.twx -v --batch 10 -", lines(35)).succeeds();
    let commits: Vec<_> = added.stderr.lines().filter(|l| l.contains("committed")).collect();
    assert_eq!(commits.len(), 3, "{added:?}");
    assert_eq!(shell.ids().len(), 35);
    shell.assert_clean();
}

#[test]
fn empty_texts_are_counted_and_match_nothing() {
    let shell = Shell::new();
    let added = shell.pipe("add i.twx --json --format lines -", "\n \n\t\nsome text\n").succeeds();
    assert_eq!((added.counted("added"), added.counted("empty")), (4, 3));
    assert_eq!(shell.run("pairs i.twx").status, 1);
    assert_eq!(shell.args(&["query", "i.twx", "--text", " "], "").status, 1);
}

#[test]
fn no_input_at_all_makes_an_empty_index() {
    let shell = Shell::new();
    let added = shell.run("add i.twx --json -").succeeds();
    assert_eq!(added.counted("added"), 0);
    assert!(shell.ids().is_empty());
}

#[test]
fn the_summary_has_its_fields() {
    let shell = Shell::new();
    let summary = shell.pipe("add i.twx --json -", "some text\n").succeeds().summary();
    for field in ["added", "replaced", "unchanged", "skipped", "empty", "failed", "bytes"] {
        assert!(summary[field].is_u64(), "{field} in {summary}");
    }
    assert!(summary["seconds"].is_f64());
}

#[test]
fn any_language_can_be_indexed() {
    let text = "国破山河在，城春草木深。感时花溅泪，恨别鸟惊心。烽火连三月，家书抵万金。";
    let shell = Shell::with(&[("杜甫", text), ("другой", "совсем другой текст о другом")]);
    let found = shell.args(&["query", "i.twx", "--text", text], "").succeeds();
    assert_eq!(found.column(1), ["杜甫"]);
}

#[cfg(unix)]
#[test]
fn an_index_behind_a_symbolic_link_is_the_index() {
    let shell = Shell::with(&[("a", "some text")]);
    std::os::unix::fs::symlink("i.twx", shell.path("link.twx")).expect("a link");
    shell.pipe("add link.twx -", jsonl(&[("b", "more text")])).succeeds();
    assert_eq!(shell.ids(), ["a", "b"]);
}

#[test]
fn an_index_in_the_directory_that_is_read_is_no_document() {
    let shell = Shell::new();
    shell.write("text", "some text");
    shell.run("add i.twx .").succeeds();
    shell.run("add i.twx .").succeeds();
    assert_eq!(shell.ids(), ["text"]);
}

#[test]
fn a_byte_order_mark_before_json_lines_is_skipped() {
    let shell = Shell::new();
    shell.write(
        "in.jsonl",
        "\u{feff}{\"id\":\"a\",\"text\":\"one\"}\n{\"id\":\"b\",\"text\":\"two\"}\n",
    );
    shell.run("add i.twx in.jsonl").succeeds();
    assert_eq!(shell.ids(), ["a", "b"]);
}

#[test]
fn a_random_seed_is_drawn_once_and_kept() {
    let shell = Shell::new();
    let seed = |index: &str| shell.run(&format!("info {index} --json")).json()[0]["seed"].clone();
    for index in ["i.twx", "j.twx"] {
        shell.pipe(&format!("add {index} --seed random --format lines -"), "a text").succeeds();
    }
    let drawn = seed("i.twx");
    assert_ne!(drawn, seed("j.twx"));
    shell.pipe("add i.twx --seed random --format lines -", "another text").succeeds();
    assert_eq!(seed("i.twx"), drawn);
    let other = shell.pipe("add i.twx --seed 0 --format lines -", "a third text");
    assert_eq!(other.status, 2, "{other:?}");
    assert!(other.stderr.contains("seed"), "{other:?}");
    let wrong = shell.run("create k.twx --seed secret");
    assert!(wrong.stderr.contains("or random"), "{wrong:?}");
}

#[test]
fn texts_too_short_for_the_shingle_are_told_of_while_the_index_has_no_others() {
    let shell = Shell::new();
    let records = |from: usize| {
        let lines =
            (from..from + 600).map(|n| format!("{{\"id\": \"{n}\", \"text\": \"name {n}\"}}\n"));
        lines.collect::<String>()
    };
    shell.write("one.jsonl", records(0));
    shell.write("two.jsonl", records(1000));
    let is_told = |words: &str| shell.run(words).succeeds().stderr.contains("hint: most of these");
    assert!(is_told("add new.twx one.jsonl"));
    assert!(!is_told("add new.twx two.jsonl"), "it was told");
    for command in ["add empty.twx one.jsonl", "dedup seen.twx one.jsonl -o kept.jsonl"] {
        let index = command.split(' ').nth(1).expect("an index");
        shell.run(&format!("create {index}")).succeeds();
        assert!(is_told(command), "{command}");
    }
}
