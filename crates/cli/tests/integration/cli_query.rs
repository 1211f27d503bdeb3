//! `twindex query` and `pairs`: what is printed, in which form and order.

use crate::command::{Shell, alike, jsonl};
use crate::support::text;

/// What 256 equal lanes of 256 are worth: Wilson's lower limit on 1, mapped to a similarity.
const LOW: &str = "0.9852";

#[test]
fn a_text_and_an_id_may_begin_with_a_hyphen() {
    let shell = Shell::with(&[("-x", "- an item of a list"), ("--", "an item of a list, -1")]);
    for words in [&["--id", "-x"], &["--id", "--"], &["--text", "- an item of a list"]] {
        let args = ["query", "i.twx", "--threshold", "0.1", "-q", words[0], words[1]];
        let done = shell.args(&args, "").succeeds();
        assert!(!done.stdout.is_empty(), "{words:?}");
    }
}

#[test]
fn a_negative_number_is_told_as_a_number() {
    let shell = Shell::with(&[("a", "a text")]);
    for (words, cause) in [
        ("query i.twx --id a --threshold -0.5", "threshold -0.5: expected a number above 0"),
        ("query i.twx --id a --top -1", "expected a whole number from 1 on"),
        ("list i.twx -o -0", "a value is required for '--output"),
        ("changes i.twx --since -1", "invalid value '-1' for '--since"),
        ("compact i.twx --threads -1", "invalid value '-1' for '--threads"),
        ("plan --docs -1", "invalid value '-1' for '--docs"),
    ] {
        let done = shell.run(words);
        assert!(done.status == 2 && done.stderr.contains(cause), "{words}: {done:?}");
    }
}

#[test]
fn the_fields_of_a_match_have_their_names_and_order() {
    let shell = Shell::with(&[("a", "one and the same text")]);
    let found = shell.args(&["query", "i.twx", "--json", "--text", "one and the same text"], "");
    let line = format!(
        "{{\"query\":\"text\",\"id\":\"a\",\"similarity\":1.0,\"low\":{LOW},\"high\":1.0,\
         \"exact\":false}}\n"
    );
    assert_eq!(found.stdout, line);
}

#[test]
fn the_fields_of_a_pair_have_their_names_and_order() {
    let shell = Shell::with(&[("b", "one and the same text"), ("a", "one and the same text")]);
    let line = format!(
        "{{\"a\":\"a\",\"b\":\"b\",\"similarity\":1.0,\"low\":{LOW},\"high\":1.0,\
         \"exact\":false}}\n"
    );
    assert_eq!(shell.run("pairs i.twx --json").stdout, line);
}

#[test]
fn a_match_has_these_fields_and_no_others() {
    let shell = Shell::with(&[("a", "one and the same text"), ("b", "one and the same text")]);
    for (words, fields) in [
        ("query i.twx --json --id a", ["exact", "high", "id", "low", "query", "similarity"]),
        ("pairs i.twx --json", ["a", "b", "exact", "high", "low", "similarity"]),
    ] {
        let found = shell.run(words).succeeds().json().remove(0);
        let mut names: Vec<_> = found.as_object().expect("an object").keys().collect();
        names.sort();
        assert_eq!(names, fields, "{words}");
    }
}

#[test]
fn piped_columns_are_separated_by_tabs() {
    let shell = Shell::with(&[("a", "one and the same text"), ("b", "one and the same text")]);
    let line = format!("a\tb\t1.0\t{LOW}\t1.0\tfalse\n");
    assert_eq!(shell.run("query i.twx --id a").stdout, line);
    assert_eq!(shell.run("pairs i.twx").stdout, line);
}

#[test]
fn a_similarity_lies_in_its_interval() {
    let (a, b, _) = alike();
    let shell = Shell::with(&[("a", &a), ("b", &b)]);
    let found = shell.run("pairs i.twx --json").succeeds().json().remove(0);
    let [low, similarity, high] =
        ["low", "similarity", "high"].map(|field| found[field].as_f64().expect("a number"));
    assert!(0.0 < low && low < similarity && similarity < high && high < 1.0, "{found}");
}

#[test]
fn the_summary_says_what_recall_was_promised() {
    let (a, b, _) = alike();
    let shell = Shell::with(&[("a", &a), ("b", &b)]);
    for words in ["query i.twx --json --id a", "pairs i.twx --json"] {
        let summary = shell.run(words).succeeds().summary();
        let recall = summary["recall"].as_f64().expect("a recall");
        assert!((0.99..=1.0).contains(&recall), "{words}: {summary}");
        assert_eq!(summary["limited"], false, "{words}");
        assert!(summary["seconds"].is_f64(), "{words}");
    }
    assert_eq!(shell.run("query i.twx --json --id a --scan").summary()["recall"], 1.0);
}

#[test]
fn a_summary_for_people_holds_no_json() {
    let shell = Shell::with(&[("a", "some text")]);
    let none = shell.run("query i.twx --id unknown");
    assert!(!none.stderr.contains("null"), "{none:?}");
}

#[test]
fn the_asking_record_is_named_by_its_id_its_path_or_text() {
    let same = "one and the same text";
    let shell = Shell::with(&[("a", same)]);
    shell.write("q.txt", same);
    shell.write("q.jsonl", jsonl(&[("asking", same)]));
    shell.write("q.lines", format!("{same}\n{same}\n"));
    for (words, names) in [
        ("query i.twx q.txt", vec!["q.txt"]),
        ("query i.twx ./q.txt q.jsonl", vec!["./q.txt", "asking"]),
        ("query i.twx --format lines q.lines", vec!["q.lines:1", "q.lines:2"]),
        ("query i.twx --id-prefix p --format lines -", vec!["p:1"]),
    ] {
        let found = shell.pipe(words, same).succeeds();
        assert_eq!(found.column(0), names, "{words}");
    }
    assert_eq!(shell.args(&["query", "i.twx", "--text", same], "").column(0), ["text"]);
}

#[test]
fn a_record_in_the_index_never_matches_itself() {
    let (a, b, c) = alike();
    let documents = [("a", &*a), ("b", &*b), ("c", &*c)];
    let shell = Shell::with(&documents);
    shell.write("in.jsonl", jsonl(&documents));
    let found = shell.run("query i.twx in.jsonl").succeeds();
    assert_eq!((found.column(0), found.column(1)), (vec!["a", "b"], vec!["b", "a"]));
    assert_eq!(shell.run("query i.twx --id a").column(1), ["b"]);
}

#[test]
fn a_file_in_the_index_never_matches_itself() {
    let shell = Shell::new();
    for name in ["docs/one", "docs/two"] {
        shell.write(name, "one and the same text");
    }
    shell.run("add i.twx docs").succeeds();
    let found = shell.run("query i.twx docs").succeeds();
    assert_eq!(found.column(1), ["docs/two", "docs/one"]);
}

#[test]
fn lines_of_standard_input_match_all_that_is_there() {
    let shell = Shell::new();
    shell.pipe("add i.twx -", "one and the same text\none and the same text\n").succeeds();
    let found = shell.pipe("query i.twx -", "one and the same text\n").succeeds();
    assert_eq!(found.column(1), ["#1", "#2"]);
}

#[test]
fn matches_are_ordered_by_similarity_then_id() {
    let original = text(1, 0, 100);
    let changed = text(1, 3, 100);
    let shell =
        Shell::with(&[("z", &original), ("b", &changed), ("a", &changed), ("y", &original)]);
    let found = shell.args(&["query", "i.twx", "--text", &original], "").succeeds();
    assert_eq!(found.column(1), ["y", "z", "a", "b"]);
}

#[test]
fn a_pair_has_the_smaller_id_first() {
    let same = "one and the same text";
    let shell = Shell::with(&[("b", same), ("10", same), ("9", same)]);
    let pairs = shell.run("pairs i.twx").succeeds();
    let mut found: Vec<_> = pairs.column(0).into_iter().zip(pairs.column(1)).collect();
    found.sort_unstable();
    assert_eq!(found, [("10", "9"), ("10", "b"), ("9", "b")]);
}

#[test]
fn the_threshold_bounds_what_is_reported() {
    let (a, b, _) = alike();
    let shell = Shell::with(&[("a", &a), ("b", &b)]);
    for words in ["query i.twx --id a", "pairs i.twx"] {
        assert_eq!(shell.run(words).status, 0, "{words}");
        assert_eq!(shell.run(&format!("{words} --threshold 1")).status, 1, "{words}");
    }
}

#[test]
fn a_scan_finds_at_any_threshold() {
    let half = |own: u64| text(1, 0, 60) + " " + &text(own, 0, 60);
    let shell = Shell::with(&[("a", &half(2)), ("b", &half(3)), ("c", &text(4, 0, 60))]);
    let found = shell.run("query i.twx --id a --scan --threshold 0.2").succeeds();
    assert_eq!(found.column(1), ["b"]);
    assert_eq!(shell.run("query i.twx --id a").status, 1);
}

#[test]
fn texts_shorter_than_a_shingle_match_only_when_equal() {
    let shell = Shell::with(&[("a", "tiny"), ("b", "Tiny "), ("c", "tine")]);
    let pairs = shell.run("pairs i.twx").succeeds();
    assert_eq!((pairs.column(0), pairs.column(1)), (vec!["a"], vec!["b"]));
}

#[test]
fn a_query_for_an_unknown_id_is_an_error_that_names_it() {
    let shell = Shell::with(&[("a", "some text")]);
    let done = shell.run("query i.twx --id unknown -q");
    done.fails_with("i.twx: no document has the id unknown");
}

#[test]
fn a_bad_record_does_not_stop_the_other_questions() {
    let same = "one and the same text";
    let shell = Shell::with(&[("a", same)]);
    shell.write("q.jsonl", jsonl(&[("x", same)]) + "no JSON\n" + &jsonl(&[("y", same)]));
    let done = shell.run("query i.twx q.jsonl missing.txt --json");
    assert_eq!((done.status, done.counted("failed"), done.json().len()), (2, 2, 2), "{done:?}");
    assert!(done.stderr.contains("twindex: q.jsonl:2: not valid JSON"), "{done:?}");
    assert!(done.stderr.contains("twindex: missing.txt: "), "{done:?}");
}

#[test]
fn an_answer_comes_before_the_next_question() {
    let shell = Shell::with(&[("a", "one and the same text")]);
    let mut running = shell.start("query i.twx -");
    running.send("one and the same text\n");
    let line = running.read_a_line_and_close();
    assert!(line.contains("\ta\t"), "{line}");
}

#[test]
fn top_reports_so_many_and_counts_the_others() {
    let same = "one and the same text";
    let shell = Shell::with(&["d", "c", "b", "a"].map(|id| (id, same)));
    let found = shell.run("query i.twx --id a --top 2 --json").succeeds();
    let ids: Vec<_> = found.json().iter().map(|found| found["id"].clone()).collect();
    assert_eq!(ids, ["c", "d"], "those that were inserted first, sorted by id");
    assert_eq!((found.counted("left_out"), &found.summary()["limited"]), (1, &true.into()));
    let all = shell.run("query i.twx --id a --top 3 --json").succeeds();
    assert_eq!((all.counted("left_out"), &all.summary()["limited"]), (0, &false.into()));
}

#[test]
fn pairs_of_a_document_are_limited_on_request() {
    let same = "one and the same text";
    let shell = Shell::with(&["d", "c", "b", "a"].map(|id| (id, same)));
    let found = shell.run("pairs i.twx --json --max-per-document 1").succeeds();
    assert_eq!(found.json().len(), 2);
    assert_eq!((found.counted("left_out"), &found.summary()["limited"]), (4, &true.into()));
    for words in ["pairs i.twx --max-per-document 0", "query i.twx --id a --top 0"] {
        assert_eq!(shell.run(words).status, 2, "{words}");
    }
}

#[test]
fn a_query_can_be_bounded_and_says_so() {
    let ids = ["a", "b", "c", "d"];
    let shell = Shell::with(&ids.map(|id| (id, "one and the same text of forty characters")));
    let found = shell.run("query i.twx --id a --max-candidates 2 --json").succeeds();
    assert_eq!(found.json().len(), 2);
    assert_eq!(found.summary()["bounded"], 1);
    let found = shell.run("query i.twx --id a --max-candidates 2").succeeds();
    assert!(found.stderr.contains("; 1 query compared only some of their candidates"));
    let found = shell.run("query i.twx --id a --max-candidates 3 --json").succeeds();
    assert_eq!((found.json().len(), &found.summary()["bounded"]), (3, &0.into()));
    assert!(shell.run("query i.twx --id a --json").summary().get("bounded").is_none());
    for wrong in ["--max-candidates 0", "--max-candidates 2 --scan"] {
        assert_eq!(shell.run(&format!("query i.twx --id a {wrong}")).status, 2, "{wrong}");
    }
}
