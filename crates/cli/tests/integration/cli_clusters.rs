//! `twindex clusters`: what is printed, what may go, and what a large cluster costs.

use crate::command::{Shell, alike, jsonl};
use crate::support::text;
use serde_json::json;

#[test]
fn a_cluster_is_a_line_with_these_fields() {
    let (a, b, c) = alike();
    let shell = Shell::with(&[("b", &b), ("c", &c), ("a", &a)]);
    let line = "{\"representative\":\"b\",\"size\":2,\"members\":[\"b\",\"a\"]}\n";
    assert_eq!(shell.run("clusters i.twx --json").succeeds().stdout, line);
    assert_eq!(shell.run("clusters i.twx").succeeds().stdout, "b\t2\tb\ta\n");
}

#[test]
fn the_summary_counts_clusters_documents_and_duplicates() {
    let (a, b, c) = alike();
    let shell = Shell::with(&[("a", &a), ("b", &b), ("c", &c), ("d", &a)]);
    let done = shell.run("clusters i.twx --json").succeeds();
    let counted = ["clusters", "documents", "duplicates"].map(|field| done.counted(field));
    assert_eq!(counted, [1, 3, 2]);
    let recall = done.summary()["recall"].as_f64().expect("a number");
    assert!((0.99..=1.0).contains(&recall));
}

#[test]
fn the_largest_cluster_comes_first_and_then_the_earliest() {
    let texts: Vec<String> = (0..3).map(|family| text(family, 0, 30)).collect();
    let order = [("b1", 1), ("c1", 2), ("a1", 0), ("b2", 1), ("c2", 2), ("a2", 0), ("a3", 0)];
    let documents: Vec<(&str, &str)> = order.iter().map(|(id, at)| (*id, &*texts[*at])).collect();
    let shell = Shell::with(&documents);
    assert_eq!(shell.run("clusters i.twx").succeeds().column(0), ["a1", "b1", "c1"]);
}

#[test]
fn keep_chooses_the_representative() {
    let same = "one and the same text";
    let shell = Shell::with(&[("m", same), ("z", "one  and the same   text"), ("a", same)]);
    for (keep, representative) in [("first", "m"), ("longest", "z"), ("id", "a")] {
        let done = shell.run(&format!("clusters i.twx --keep {keep}")).succeeds();
        assert_eq!(done.stdout, format!("{representative}\t3\tm\tz\ta\n"));
    }
}

#[test]
fn linkage_says_whether_a_chain_is_a_cluster() {
    let words: Vec<String> = (0..100).map(|n| format!("{}", n * 7_919_101)).collect();
    let from = |at: usize| words[at..at + 70].join(" ");
    let shell = Shell::with(&[("a", &from(0)), ("b", &from(8)), ("c", &from(16))]);
    let ask = |linkage: &str| {
        shell.run(&format!("clusters i.twx --threshold 0.7 --linkage {linkage}")).succeeds().stdout
    };
    assert_eq!(ask("representative"), "a\t2\ta\tb\n");
    assert_eq!(ask("connected"), "a\t3\ta\tb\tc\n");
}

#[test]
fn no_cluster_is_status_one() {
    let shell = Shell::with(&[("a", "some text"), ("b", "quite another one")]);
    for words in ["clusters i.twx", "clusters i.twx --duplicates", "clusters i.twx --json"] {
        let done = shell.run(words);
        assert_eq!((done.status, &*done.stdout), (1, ""), "{words}");
    }
}

#[test]
fn a_threshold_out_of_range_is_an_error() {
    let shell = Shell::with(&[("a", "some text")]);
    shell.run("clusters i.twx --threshold 0").fails_with("threshold");
}

#[test]
fn duplicates_are_all_members_but_the_representatives() {
    let (a, b, c) = alike();
    let shell = Shell::with(&[("a", &a), ("b", &b), ("c", &c), ("d", &a)]);
    assert_eq!(shell.run("clusters i.twx --duplicates").succeeds().stdout, "b\nd\n");
    let found = shell.run("clusters i.twx --duplicates --json").succeeds();
    assert_eq!(found.json(), [json!({"id": "b"}), json!({"id": "d"})]);
}

#[test]
fn duplicates_are_printed_as_list_prints_them() {
    let same = "one and the same text";
    let ids = ["a", "tab\tand \u{7f} \\t", "two\nlines", "return\r", "b"];
    let shell = Shell::with(&ids.map(|id| (id, same)));
    let done = shell.run("clusters i.twx --duplicates -q").succeeds();
    assert_eq!(done.stdout, "tab\\tand \\u007f \\\\t\ntwo\\nlines\nreturn\\r\nb\n");
    assert_eq!(done.stdout, shell.run("list i.twx").succeeds().stdout.replacen("a\n", "", 1));
    let found = shell.run("clusters i.twx --duplicates --json").succeeds();
    assert_eq!(found.json(), ids[1..].iter().map(|id| json!({"id": id})).collect::<Vec<_>>());
}

#[cfg(unix)]
#[test]
fn duplicates_go_through_a_pipe_into_remove() {
    let documents: Vec<(String, String)> =
        (0..3_000).map(|n| (format!("d{n}"), text(n / 3, n % 3, 12))).collect();
    let documents: Vec<(&str, &str)> =
        documents.iter().map(|(id, text)| (&**id, &**text)).collect();
    let shell = Shell::with(&documents);
    let clusters = shell.run("clusters i.twx --json -q").succeeds().json();
    let gone: u64 = clusters.iter().map(|one| one["size"].as_u64().expect("a size") - 1).sum();
    let pipe =
        "$TWINDEX clusters i.twx --duplicates -q | $TWINDEX remove i.twx --ids-from - --json";
    let done = shell.sh(pipe).succeeds();
    assert_eq!((done.counted("removed"), done.counted("missing")), (gone, 0));
    assert_eq!(shell.ids().len() as u64, 3_000 - gone);
    assert_eq!(shell.sh(pipe).succeeds().counted("removed"), 0);
    shell.assert_clean();
}

#[test]
fn remove_waits_for_the_first_id_before_it_opens_the_index() {
    let shell = Shell::with(&[("a", "some text"), ("b", "quite another one")]);
    let mut remove = shell.start("remove i.twx --ids-from - --json");
    // Others can still write to it.
    shell.pipe("add i.twx -", jsonl(&[("c", "a third one")])).succeeds();
    remove.send("a\n");
    assert_eq!(remove.finish().succeeds().counted("removed"), 1);
    assert_eq!(shell.ids(), ["b", "c"]);
}
