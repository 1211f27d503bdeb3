//! What a new user types in the first hour: other names, forgotten options, files that are no
//! index.

use crate::command::{Shell, alike, jsonl};
use crate::support::text;

#[test]
fn a_command_by_another_name_is_answered_with_the_right_one() {
    let shell = Shell::new();
    for (typed, meant) in [
        ("search", "query"),
        ("delete", "remove"),
        ("stats", "info"),
        ("show", "get"),
        ("Search", "query"),
        ("quary", "query"),
        ("clusterz", "clusters"),
        ("ls", "list"),
    ] {
        let done = shell.run(&format!("{typed} i.twx"));
        assert_eq!(done.status, 2, "{done:?}");
        assert!(done.stderr.contains(&format!("'{meant}'")), "{done:?}");
    }
}

#[test]
fn a_dedup_without_an_output_says_how_to_give_one() {
    let shell = Shell::new();
    for words in ["dedup i.twx a.jsonl", "dedup --help"] {
        let done = shell.run(words);
        let seen = done.stdout + &done.stderr;
        assert!(seen.contains("dedup [OPTIONS] -o <OUT> <INDEX>"), "{seen}");
        assert!(seen.contains("--dry-run"), "{seen}");
    }
}

#[test]
fn the_most_similar_pairs_come_first_if_asked() {
    let shell = Shell::new();
    let records: String =
        (0..60).map(|n| jsonl(&[(&format!("d{n:02}"), &text(n / 6, n % 6, 60))])).collect();
    shell.pipe("add i.twx -q -", records).succeeds();
    let rows = |words: &str| -> Vec<(String, f64)> {
        let done = shell.run(words).succeeds();
        let rows = done.stdout.lines();
        let row = |row: &str| {
            let similarity = row.split('\t').nth(2).and_then(|cell| cell.parse().ok());
            (row.to_owned(), similarity.unwrap_or_else(|| panic!("no similarity: {row}")))
        };
        rows.map(row).collect()
    };
    let mut expected = rows("pairs i.twx -q --threshold 0.5");
    expected.sort_by(|one, other| other.1.total_cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
    assert!(expected.len() > 20, "{expected:?}");
    assert_eq!(rows("pairs i.twx -q --threshold 0.5 --sort"), expected);
    for top in [1, 7, 1_000] {
        let words = format!("pairs i.twx -q --threshold 0.5 --top {top}");
        assert_eq!(rows(&words), expected[..top.min(expected.len())]);
    }
    let summary = shell.run("pairs i.twx --threshold 0.5 --top 7 --json").succeeds();
    assert_eq!(summary.counted("pairs"), 7);
    assert_eq!(summary.counted("left_out"), expected.len() as u64 - 7);
}

#[test]
fn ids_are_separated_by_nuls_if_asked() {
    let (first, like_first, other) = alike();
    let shell = Shell::with(&[("a", &first), ("b\nc", &like_first), ("d\te", &other)]);
    assert_eq!(shell.run("list i.twx --print0").succeeds().stdout, "a\0b\nc\0d\te\0");
    let duplicates = shell.run("clusters i.twx -q --duplicates --print0").succeeds();
    assert_eq!(duplicates.stdout, "b\nc\0");
}

#[test]
fn a_file_that_is_no_index_is_told_in_plain_words() {
    let shell = Shell::with(&[("a", "some text")]);
    let whole = shell.read("i.twx");
    shell.write("text", "just some text\n".repeat(1_000));
    shell.write("zeros", vec![0; 10_000]);
    for length in [1, 5, 9, 10, 64, 320, 512, 1_000, 4_096, 20_000] {
        shell.write(&format!("cut{length}"), &whole[..length]);
    }
    for name in shell.names().into_iter().filter(|name| name != "i.twx") {
        for words in ["info", "query --text x", "add", "check", "remove a"] {
            let (command, rest) = words.split_once(' ').unwrap_or((words, ""));
            let words = format!("{command} {name} {rest}");
            let done = shell.run(words.trim_end());
            assert_eq!((done.status, done.stderr.lines().count()), (2, 1), "{words}: {done:?}");
            for foreign in ["redb", "magic number", "fill whole buffer", "layout_len"] {
                assert!(!done.stderr.contains(foreign), "{words}: {done:?}");
            }
        }
    }
    shell.run("info text").fails_with("not a twindex index");
    shell.run("info cut4096").fails_with("cut short");
}

#[test]
fn what_was_removed_is_explained_by_the_audit() {
    let shell = Shell::new();
    let (first, like_first, other) = alike();
    let input = jsonl(&[("kept", &first), ("gone", &like_first), ("too", &other)]);
    shell.pipe("dedup i.twx -q -o out --removed gone.jsonl -", input).succeeds();
    let done = shell.run("explain i.twx gone --removed gone.jsonl --json").succeeds();
    let found = &done.json()[0];
    assert_eq!((&found["id"], &found["duplicate_of"]), (&"gone".into(), &"kept".into()));
    assert!(found["similarity"].as_f64().is_some_and(|similarity| similarity > 0.8));
    let row = shell.run("explain i.twx gone --removed gone.jsonl").succeeds();
    assert_eq!(row.column(1), ["kept"]);

    let kept = shell.run("explain i.twx kept --removed gone.jsonl");
    assert!(kept.status == 1 && kept.stderr.contains("is in the index"), "{kept:?}");
    let unknown = shell.run("explain i.twx nobody --removed gone.jsonl");
    assert!(unknown.status == 1 && unknown.stderr.contains("no line about it"), "{unknown:?}");
    shell.run("explain i.twx gone").fails_with("--removed FILE");
    shell.write("text", &first);
    shell.run("explain i.twx gone --removed text").fails_with("no line of an audit");
}

#[test]
fn what_was_removed_is_explained_by_its_text() {
    let shell = Shell::new();
    let (first, like_first, other) = alike();
    for (name, text) in [("d/a.txt", &first), ("d/b.txt", &like_first), ("d/c.txt", &other)] {
        shell.write(name, text);
    }
    for words in ["", "--store-text "] {
        let index = format!("i{}.twx", words.len());
        shell.run(&format!("dedup {index} -q {words}-o out --removed gone d")).succeeds();
        // A file is read by its name.
        let by_name = shell.run(&format!("explain {index} d/b.txt")).succeeds();
        assert_eq!(by_name.column(1), ["d/a.txt"]);
        assert_eq!(by_name.column(3), [if words.is_empty() { "false" } else { "true" }]);
        let by_text = shell.run(&format!("explain {index} b --text d/b.txt")).succeeds();
        assert_eq!(by_text.column(1), ["d/a.txt"]);
    }
    shell.write("new.txt", "nothing like any of these");
    let none = shell.run("explain i0.twx new.txt");
    assert!(none.status == 1 && none.stderr.contains("similar to none"), "{none:?}");
}
