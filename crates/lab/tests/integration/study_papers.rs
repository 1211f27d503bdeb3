//! The studies `shingle-size`, `approaches`, `rules` and `matrix` as commands: options, files and
//! errors.

use crate::command::Shell;
use crate::findings::assert_status_follows_from_findings;
use serde_json::Value;

/// Whether the finding that begins with `start` holds.
fn finding(lines: &[Value], start: &str) -> bool {
    let found = lines
        .iter()
        .find(|line| line["expected"].as_str().is_some_and(|expected| expected.starts_with(start)));
    found.unwrap_or_else(|| panic!("no finding {start}"))["holds"] == true
}

#[test]
fn shingle_size_prints_writes_and_draws_random_orders() {
    let shell = Shell::new();
    let done = shell
        .run("study shingle-size --orders 6 --widest 13 --csv s.csv --svg s.svg --json --seed 3")
        .succeeds();
    let lines = done.json();
    assert!(finding(&lines, "without spaces it falls sooner"));
    let csv = String::from_utf8(shell.read("s.csv")).expect("UTF-8");
    let mut rows = csv.lines();
    assert_eq!(rows.next(), Some("form,shingle,pairs,mean,deviation,least,greatest"));
    let rows: Vec<Vec<&str>> = rows.map(|row| row.split(',').collect()).collect();
    // 13 sizes in two forms. The name of the third form has a comma and quotation marks.
    assert_eq!(rows.iter().filter(|row| row[2] == "15").count(), 26);
    assert_eq!(csv.matches("\"with spaces, case kept\"").count(), 13);
    let svg = String::from_utf8(shell.read("s.svg")).expect("UTF-8");
    assert!(svg.contains("characters of a shingle") && svg.contains("without spaces"));

    shell.write("two.txt", "to be or not to be that is the question");
    shell.run("study shingle-size --text two.txt --orders 2 --widest 2 -q").succeeds();
    shell.write("one.txt", " word ");
    shell.run("study shingle-size --text one.txt").fails_with("text of fewer than two words");
    shell.run("study shingle-size --text none.txt").fails_with("none.txt: reading the text");
    assert_eq!(shell.run("study shingle-size --orders 1").status, 2);
}

#[test]
fn an_unwritable_file_is_reported_before_the_study_runs() {
    let shell = Shell::new();
    let done = shell.run("study gospels --runs 100000 --csv a.csv --svg none/b.svg");
    done.fails_with("none/b.svg: No such file or directory");
    assert!(!done.stderr.contains(".twindex-"), "{}", done.stderr);
    assert!(shell.names().is_empty(), "{:?}", shell.names());
    let twice = shell.run("study gospels --runs 2 --csv one --svg one");
    twice.fails_with("--csv and --svg name the same file");
    assert!(shell.names().is_empty(), "{:?}", shell.names());
    shell.write("file", "");
    shell.run("study all file").fails_with("file: is a file; name a directory");
    shell.run("study gospels file").fails_with("is a file; name a directory with files");
}

#[cfg(target_os = "linux")]
#[test]
fn a_long_study_ends_at_the_first_signal_and_leaves_nothing() {
    let shell = Shell::new();
    for study in [
        "theory --maps 1000 --runs 100000",
        "law --functions 1000 --rows 1000 --runs 1000000",
        "simhash --pairs 100000000",
        "gospels --runs 100000",
    ] {
        let running = shell.start(&format!("study {study} --csv points.csv"));
        running.wait_until_it_handles_signals();
        running.signal("INT");
        running.end().fails_with("the study was interrupted; nothing was written");
        assert!(shell.names().is_empty(), "{study}: {:?}", shell.names());
    }
}

#[test]
fn the_seed_determines_the_points() {
    let shell = Shell::new();
    for (name, seed) in [("a", 1), ("b", 1), ("c", 2)] {
        let words =
            format!("study shingle-size --orders 4 --widest 4 --json --csv {name} --seed {seed}");
        assert_status_follows_from_findings(&shell.run(&words));
    }
    assert_eq!(shell.read("a"), shell.read("b"));
    assert_ne!(shell.read("a"), shell.read("c"));
}

#[test]
fn approaches_are_timed_and_find_the_planted_pairs() {
    let shell = Shell::new();
    let done =
        shell.run("study approaches --docs 80 --family default --csv t.csv --svg t.svg --json");
    // The slopes of so few documents depend on the machine, so the status must follow from the
    // findings that are printed; those that do not depend on times must hold.
    assert_status_follows_from_findings(&done);
    let lines = done.json();
    assert!(finding(&lines, "exact, all pairs: finds every similar pair"));
    assert!(finding(&lines, "twindex: finds"));
    let csv = String::from_utf8(shell.read("t.csv")).expect("UTF-8");
    // Each of four approaches has two numbers of orders, and 10, 20, 40 and 80 varied texts.
    assert_eq!(csv.lines().count(), 1 + 4 * (2 + 4), "{csv}");
    let svg = String::from_utf8(shell.read("t.svg")).expect("UTF-8");
    assert!(svg.contains("signatures in bands") && svg.contains("Varied texts"));
    assert_eq!(shell.run("study approaches --docs 7").status, 2);
    assert_eq!(shell.run("study approaches --family sha1").status, 2);
}

#[test]
fn rules_of_a_file_have_all_their_values() {
    let shell = Shell::new();
    shell.write("baskets.csv", "whole milk,tea\ntea,whole milk\ncake\n\ncake,tea\n");
    let done = shell.run("study rules baskets.csv --separator comma --support 1 --json").succeeds();
    let lines = done.json();
    let pair = |row: &&Value| row["a"] == "whole milk" && row["b"] == "tea";
    let row = lines.iter().find(pair).expect("they occur together");
    let fields = ["similarity", "support", "share", "a_to_b", "b_to_a"];
    let values = fields.map(|field| row[field].as_f64().expect("a number"));
    assert_eq!(values, [0.6667, 2.0, 0.5, 1.0, 0.6667]);
    assert!((row["lift"].as_f64().expect("a number") - 4.0 / 3.0).abs() < 1e-5);

    shell.write("quoted.csv", "\"whole milk\",\"tea, green\"\n\"tea, green\",whole milk\n");
    let quoted = "study rules - --separator comma --support 1 -q";
    let quoted = shell.pipe(quoted, shell.read("quoted.csv")).succeeds().stdout;
    assert!(quoted.contains("whole milk\ttea, green\t1.0000\t2\t"), "{quoted}");

    shell.write("matrix.txt", "milk tea cake\n1 1 0\n1 1 0\n0 0 1\n0 1 1\n");
    let matrix = shell.run("study rules matrix.txt --matrix --support 1 -q").succeeds().stdout;
    assert!(matrix.contains("milk\ttea\t0.6667\t2\t0.5000\t1.0000\t0.6667\t1.33333\n"), "{matrix}");
}

#[test]
fn invalid_transaction_files_are_refused_with_the_line() {
    let shell = Shell::new();
    shell.run("study rules none.txt").fails_with("none.txt: reading transactions: No such file");
    shell.write("latin.txt", b"tea cake\ncaf\xe9\n");
    shell
        .run("study rules latin.txt")
        .fails_with("latin.txt: reading transactions: line 2 is not UTF-8");
    shell.write("one.txt", "tea cake\n");
    shell.run("study rules one.txt").fails_with("there is only one");
    shell.write("none.csv", "\n\n");
    shell.run("study rules none.csv").fails_with("there is none");
    shell.write("m.csv", "a,b\n1,2\n0,1\n");
    shell
        .run("study rules m.csv --matrix")
        .fails_with("line 2 has \"2\": expected 1, 0 or nothing");
    shell
        .run("study rules one.txt --threshold 0")
        .fails_with("threshold 0: expected a number above 0");
    shell.write("two.txt", "a b\na b\n");
    shell.run("study rules two.txt --threshold 0.001").fails_with("512 lanes give 512");
    assert_eq!(shell.run("study rules two.txt --support 0").status, 2);
    assert_eq!(shell.run("study rules --matrix").status, 2, "the verses are no matrix");
}

#[test]
fn matrix_prints_the_examples_and_given_texts() {
    let shell = Shell::new();
    let lines = shell.run("study matrix --json --csv m.csv --svg m.svg").succeeds().json();
    assert!(finding(&lines, "every cell of the sources' matrices is as printed"));
    let row = lines.iter().find(|line| line["element"] == "di").expect("a row of the words");
    assert_eq!((&row["S1"], &row["S2"], &row["row"]), (&0.into(), &1.into(), &5.into()));
    let csv = String::from_utf8(shell.read("m.csv")).expect("UTF-8");
    // Cells: 12, 12, 8, 20 and 18; four functions of 29 rows, and of 2, 2, 2, 5 and 2 sets.
    assert_eq!(csv.lines().count(), 1 + 70 + 4 * 29 + 4 * 13);
    assert!(shell.read("m.svg").starts_with(b"<svg"));

    shell.write("c.txt", "abcx");
    let given = shell.run("study matrix abcd bcde --text c.txt --functions 2 --json").succeeds();
    let lines = given.json();
    let pair = lines.iter().find(|line| line["a"] == "S1" && line["b"] == "S3").expect("a pair");
    assert_eq!((&pair["similarity"], &pair["agreeing_orders"]), (&0.5.into(), &60.into()));
    assert_eq!(lines.iter().filter(|line| line["function"].is_string()).count(), 2);
    shell.run("study matrix one").fails_with("texts 1: expected 2 to 20");
    shell.run("study matrix a b").fails_with("texts at least as long as a shingle");
    shell.run("study matrix --text none.txt").fails_with("none.txt: reading a text for the matrix");
}
