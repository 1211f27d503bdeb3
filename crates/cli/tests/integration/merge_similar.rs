//! `merge --dedup`: indexes become one without duplicates.

use crate::command::{Done, Shell, jsonl};
use crate::support::text;
use serde_json::Value;

/// Documents in families of three that are similar. Each shard has one or two of a family.
fn shards() -> [Vec<(String, String)>; 2] {
    let document = |n: u64| (format!("d{n}"), text(n / 3, n % 3, 20));
    let (one, other) = (0..120).partition::<Vec<u64>, _>(|n| n % 2 == 0);
    [one, other].map(|shard| shard.into_iter().map(document).collect())
}

fn json(documents: &[(String, String)]) -> String {
    let borrowed = documents.iter().map(|(id, text)| (id.as_str(), text.as_str()));
    jsonl(&borrowed.collect::<Vec<_>>())
}

/// Two indexes `x.twx` and `y.twx` of all documents of the shards, and one of those that `dedup`
/// keeps of both in turn. Returns what `dedup` has removed.
fn indexed(settings: &str) -> (Shell, String) {
    let (shell, [one, other]) = (Shell::new(), shards());
    for (name, shard) in [("x.twx", &one), ("y.twx", &other)] {
        shell.pipe(&format!("add {name} -q -{settings}"), json(shard)).succeeds();
    }
    let all = json(&[one, other].concat());
    let deduplicated = shell.pipe(&format!("dedup kept.twx -q -o kept.jsonl -{settings}"), all);
    (shell, deduplicated.succeeds().stdout)
}

#[test]
fn merging_without_duplicates_keeps_what_dedup_keeps() {
    for settings in ["", " --store-text", " --threshold 0.5"] {
        let (shell, removed) = indexed(settings);
        assert!(removed.lines().count() > 10, "{removed}");
        for options in ["", " --batch 7", " --threads 1"] {
            let words = format!("merge all.twx x.twx y.twx --dedup --json{options}");
            let done = shell.run(&words).succeeds();
            let plain = shell.run(&format!("merge plain.twx x.twx y.twx --dedup -q{options}"));
            let plain = plain.succeeds();
            assert_eq!(plain.stdout, removed, "{settings}{options}");
            assert_eq!(done.json().len() as u64, done.counted("duplicates"));
            assert_eq!(done.counted("added") + done.counted("duplicates"), 120);
            assert!(done.summary()["recall"].as_f64().is_some_and(|recall| recall >= 0.99));
            let list = |name: &str| shell.run(&format!("list {name}")).succeeds().stdout;
            assert_eq!(list("all.twx"), list("kept.twx"), "{settings}{options}");

            let again = shell.run(&words).succeeds();
            assert_eq!(again.counted("unchanged"), done.counted("added"));
            assert_eq!(again.counted("added"), 0);
            // They may be more similar to a document that came later.
            let ids = |done: &Done| done.json().iter().map(|line| line["id"].clone()).collect();
            let [before, now]: [Vec<Value>; 2] = [&done, &again].map(ids);
            assert_eq!(now, before, "the same are left out again");
            assert_eq!(shell.run("check all.twx").status, 0);
            for name in ["all.twx", "plain.twx"] {
                std::fs::remove_file(shell.path(name)).expect("it was there");
            }
        }
    }
}

#[test]
fn estimates_and_texts_judge_merged_documents() {
    let (shell, removed) = indexed(" --store-text");
    let exact = |line: &str| line.ends_with("\ttrue");
    assert!(removed.lines().all(exact), "{removed}");
    let estimated = shell.run("merge all.twx x.twx y.twx --dedup --estimate -q").succeeds();
    assert!(!estimated.stdout.is_empty() && !estimated.stdout.lines().any(exact));
}

#[test]
fn options_that_do_not_belong_together_are_refused() {
    let (shell, _) = indexed("");
    for (words, named) in [
        ("merge all.twx x.twx --dedup --attach", "--attach"),
        ("merge all.twx x.twx --estimate", "--dedup"),
        ("merge all.twx x.twx --max-candidates 5", "--dedup"),
        ("merge all.twx x.twx --dedup --max-candidates 0", "--max-candidates"),
    ] {
        let refused = shell.run(words);
        assert!(refused.status == 2 && refused.stderr.contains(named), "{words}: {refused:?}");
    }
    assert!(!shell.path("all.twx").exists());
}

#[test]
fn a_document_that_replaces_one_is_not_its_duplicate() {
    let shell = Shell::with(&[("same", &text(1, 0, 20)), ("x", &text(2, 0, 20))]);
    let other = [("same", text(1, 1, 20)), ("y", text(2, 1, 20))];
    let other = other.map(|(id, text)| (id.to_owned(), text));
    shell.pipe("add other.twx -q -", json(&other)).succeeds();
    let done = shell.run("merge i.twx other.twx --dedup --json").succeeds();
    let [line] = &done.json()[..] else { panic!("{done:?}") };
    assert_eq!((line["id"].as_str(), line["duplicate_of"].as_str()), (Some("y"), Some("x")));
    assert_eq!((done.counted("replaced"), done.counted("duplicates")), (1, 1));
}

#[test]
fn a_conflict_is_decided_before_anything_is_compared() {
    for (policy, status, counted) in [("skip", 0, "skipped"), ("error", 2, "failed")] {
        let shell = Shell::with(&[("same", &text(1, 0, 20)), ("x", &text(2, 0, 20))]);
        let other = [("same".to_owned(), text(2, 1, 20))];
        shell.pipe("add other.twx -q -", json(&other)).succeeds();
        let done =
            shell.run(&format!("merge i.twx other.twx --dedup --json --on-conflict {policy}"));
        assert_eq!((done.status, done.stdout.as_str()), (status, ""), "{done:?}");
        assert_eq!((done.counted(counted), done.counted("duplicates")), (1, 0), "{done:?}");
    }
}

#[test]
fn a_merge_is_complete_if_nobody_reads_what_it_leaves_out() {
    let (shell, _) = indexed("");
    let whole = shell.run("merge whole.twx x.twx y.twx --dedup -q --batch 2").succeeds();
    let mut running = shell.start("merge all.twx x.twx y.twx --dedup -q --batch 2");
    let line = running.read_a_line_and_close();
    assert!(whole.stdout.starts_with(&line), "{line}");
    let done = running.finish();
    assert_eq!((done.status, done.stderr.as_str()), (0, ""));
    let list = |name: &str| shell.run(&format!("list {name}")).succeeds().stdout;
    assert_eq!(list("all.twx"), list("whole.twx"));
}
