//! `--weighted` and `--multiset` as a person types them.

use crate::command::Shell;

const RECORDS: &str = r#"{"id":"a","weights":{"sea":3,"ship":1.5,"none":0}}
{"id":"b","weights":{"ship":1.5,"sea":3.0}}
{"id":"c","weights":{"sea":0.003,"ship":0.0015}}
{"id":"d","weights":{}}
"#;

#[test]
fn weights_go_in_and_are_found() {
    let shell = Shell::new();
    let added = shell.pipe("add i.twx --weighted --json -", RECORDS).succeeds();
    assert_eq!((added.counted("added"), added.counted("empty")), (4, 1));
    let again = shell.pipe("add i.twx --json -", r#"{"weights":{"ship":15e-1,"sea":3},"id":"a"}"#);
    assert_eq!(again.succeeds().counted("unchanged"), 1);
    let pairs = shell.run("pairs i.twx").succeeds();
    assert_eq!((pairs.column(0), pairs.column(1)), (vec!["a"], vec!["b"]), "scale matters");
    let asked = shell.args(&["query", "i.twx", "--text", r#"{"sea":0.003,"ship":0.0015}"#], "");
    assert_eq!(asked.succeeds().column(1), ["c"]);
    let asked = shell.pipe("query i.twx -", r#"{"id":"new","weights":{"sea":3,"ship":1.5}}"#);
    assert_eq!(asked.succeeds().column(1), ["a", "b"]);
    let clusters = shell.run("clusters i.twx --json").succeeds();
    assert_eq!(clusters.json()[0]["size"], 2);
    let info = shell.run("info i.twx --json").succeeds();
    assert_eq!(
        (&info.json()[0]["weighted"], &info.json()[0]["shingle"]),
        (&true.into(), &"token".into())
    );
    shell.run("check i.twx").succeeds();
}

#[test]
fn another_field_can_hold_the_weights() {
    let shell = Shell::new();
    let record = r#"{"id":"a","text":"t","tfidf":{"sea":3}}"#;
    shell.pipe("add i.twx --weighted --text-field tfidf -", record).succeeds();
    let asked = shell.args(&["query", "i.twx", "--text", r#"{"sea":3}"#], "");
    assert_eq!(asked.succeeds().column(1), ["a"]);
}

#[test]
fn duplicates_of_weights_are_removed_and_lines_stay_as_they_came() {
    let shell = Shell::new();
    let out = shell.pipe("dedup i.twx --weighted - -o -", RECORDS).succeeds();
    let lines: Vec<&str> = RECORDS.lines().collect();
    assert_eq!(out.stdout.lines().collect::<Vec<_>>(), [lines[0], lines[2], lines[3]]);
}

#[test]
fn bad_weights_are_reported_with_their_line_and_token() {
    let shell = Shell::new();
    let bad = [
        (r#"{"id":"a","weights":{"good":1,"bad":-1}}"#, "weight -1 of \"bad\""),
        (r#"{"id":"a","weights":{"bad":1e999}}"#, "weight inf of \"bad\""),
        (r#"{"id":"a","weights":{"bad":"1"}}"#, "that of \"bad\""),
        (r#"{"id":"a","weights":{"bad":1,"bad":2}}"#, "\"bad\": expected one weight"),
        (r#"{"id":"a","weights":{"bad\u001f":1}}"#, "U+001F"),
        (r#"{"id":"a","text":"t"}"#, "no field `weights`"),
        (r#"{"id":"a","weights":["t"]}"#, "not an object"),
    ];
    let input: String = bad.iter().map(|(line, _)| format!("{line}\n")).collect();
    let added = shell.pipe("add i.twx --weighted --json -", input);
    assert_eq!((added.status, added.counted("failed")), (2, bad.len() as u64), "{added:?}");
    for (number, ((_, cause), message)) in (1..).zip(bad.iter().zip(added.stderr.lines())) {
        assert!(message.contains(&format!("standard input:{number}: ")), "{message}");
        assert!(message.contains(cause), "{message}");
    }
}

#[test]
fn what_is_of_another_kind_is_refused_with_what_to_do() {
    let shell = Shell::new();
    shell.pipe("add weights.twx --weighted -", RECORDS).succeeds();
    shell.pipe("add sets.twx -", r#"{"id":"a","text":"some text"}"#).succeeds();
    shell.write("a.txt", "some text");
    shell.write("a.csv", "id,text\na,some text\n");
    for (words, input, cause) in [
        ("add new.twx --weighted --text-field tf -", RECORDS, "no field `tf`, but `id`, `weights`"),
        ("add sets.twx -", RECORDS, "created with --weighted"),
        ("add sets.twx --text-field weights -", RECORDS, "created with --weighted"),
        ("add weights.twx -", "some text\n", "compares weights"),
        ("add weights.twx a.txt", "", "compares weights"),
        ("add weights.twx a.csv", "", "compares weights"),
        ("add weights.twx --format lines a.txt", "", "compares weights"),
        ("query weights.twx a.txt", "", "compares weights"),
        ("query weights.twx --text sea", "", "--text: not valid JSON"),
        ("add sets.twx --weighted -", RECORDS, "created with weighted false"),
        ("add weights.twx --multiset -", RECORDS, "created with multiset false"),
        ("add new.twx --weighted --multiset -", RECORDS, "not multiset"),
        ("add new.twx --weighted --shingle char:9 -", RECORDS, "shingle token"),
        ("merge sets.twx weights.twx", "", "shingle"),
    ] {
        let done = shell.pipe(words, input);
        assert_eq!(done.status, 2, "{words}: {done:?}");
        assert!(done.stderr.contains(cause), "{words}: {}", done.stderr);
    }
}

#[test]
fn an_index_of_weights_is_copied_as_one() {
    let shell = Shell::new();
    shell.pipe("add i.twx --weighted -", RECORDS).succeeds();
    let exported = shell.run("export i.twx").succeeds().stdout;
    shell.pipe("import copy.twx -", exported.as_str()).succeeds();
    assert_eq!(shell.run("export copy.twx").succeeds().stdout, exported);
    shell.run("create merged.twx --weighted").succeeds();
    shell.run("merge merged.twx i.twx").succeeds();
    assert_eq!(shell.run("pairs merged.twx").succeeds().stdout, shell.run("pairs i.twx").stdout);
    let tokens = shell.pipe("add sets.twx --shingle token -", r#"{"id":"a","text":["sea"]}"#);
    tokens.succeeds();
    let refused = shell.run("merge sets.twx i.twx");
    assert_eq!(refused.status, 2);
    assert!(refused.stderr.contains("weighted"), "{}", refused.stderr);
}

#[test]
fn two_files_of_weights_are_compared_exactly() {
    let shell = Shell::new();
    shell.write("a", r#"{"sea": 3, "ship": 1, "shore": 0}"#);
    shell.write("b", "{\n  \"sea\": 2,\n  \"sand\": 1\n}\n");
    let done = shell.run("compare --weighted a b --json").succeeds();
    let got = &done.json()[0];
    assert_eq!(got["similarity"].as_f64(), Some(0.4));
    let number = |name: &str| got[name].as_f64().expect("a number");
    assert!(number("low") <= 0.4 && 0.4 <= number("high"), "{got}");
    assert_eq!([number("tokens_a"), number("tokens_b"), number("shared")], [2.0, 2.0, 1.0]);
    for (threshold, status) in [("0.4", 0), ("0.41", 1)] {
        let words = format!("compare --weighted a b --threshold {threshold}");
        assert_eq!(shell.run(&words).status, status, "{threshold}");
    }
    shell.write("text", "some text");
    let refused = shell.run("compare --weighted a text");
    assert_eq!(refused.status, 2);
    assert!(refused.stderr.contains("text: not valid JSON"), "{}", refused.stderr);
}

#[test]
fn repeated_tokens_count_in_a_multiset() {
    let shell = Shell::new();
    let lines = "one\tx y\nmany\tx x x x y\nmore\ty x x x x\n";
    let words = "--shingle token --format tokens - -o -";
    let sets = shell.pipe(&format!("dedup sets.twx {words}"), lines).succeeds();
    assert_eq!(sets.stdout, "one\tx y\n");
    let multisets = shell.pipe(&format!("dedup multi.twx --multiset {words}"), lines).succeeds();
    assert_eq!(multisets.stdout, "one\tx y\nmany\tx x x x y\n");
    shell.write("a", "x y");
    shell.write("b", "x x x x y");
    let done = shell.run("compare --shingle token --multiset a b --json").succeeds();
    let number = |name: &str| done.json()[0][name].as_f64().expect("a number");
    assert!(number("low") <= 0.4 && 0.4 <= number("high"), "{done:?}");
}

#[test]
fn what_compare_would_not_use_is_refused() {
    let shell = Shell::new();
    shell.write("a", r#"{"sea": 3}"#);
    shell.write("record", r#"{"id": "a", "weights": {"sea": 3}}"#);
    let alone = shell.run("compare --weighted a a").succeeds().stdout;
    assert_eq!(shell.run("compare --weighted --shingle token a a").succeeds().stdout, alone);
    let advice = r#"without the record around it: the value of "weights""#;
    for (words, cause) in [
        ("--weighted --shingle char:9", "shingle token"),
        ("--weighted --explain", "cannot be used with"),
        ("--weighted --multiset", "cannot be used with"),
        ("--weighted --universe 9", "cannot be used with"),
        ("--explain --universe 9", "cannot be used with"),
        ("--explain --lanes 64", "cannot be used with"),
        ("--explain --confidence 0.9", "cannot be used with"),
        ("--weighted record", advice),
    ] {
        let files = if words.ends_with("record") { "a" } else { "a a" };
        let refused = shell.run(&format!("compare {words} {files}"));
        assert_eq!(refused.status, 2, "{words}: {refused:?}");
        assert!(refused.stderr.contains(cause), "{words}: {}", refused.stderr);
    }
    shell.pipe("add i.twx --weighted -", RECORDS).succeeds();
    let asked = shell.args(&["query", "i.twx", "--text", RECORDS.lines().next().unwrap_or("")], "");
    assert!(asked.status == 2 && asked.stderr.contains(advice), "{asked:?}");
}
