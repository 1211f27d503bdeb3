//! `twindex track`, `changes` and `clusters --ids`: clusters under ids that stay.

use crate::command::{Shell, jsonl};
use serde_json::Value;
use std::collections::BTreeMap;

/// A part of a text of 100 words. Parts that begin near each other are similar, so that parts form
/// chains.
fn part(from: usize) -> String {
    let words: Vec<String> = (from..from + 70).map(|n| format!("{}", n * 7_919_101)).collect();
    words.join(" ")
}

/// An index of threshold .7 that tracks clusters, with these documents.
fn tracked(documents: &[(&str, &str)]) -> Shell {
    let shell = Shell::new();
    shell.run("create i.twx -q --threshold 0.7").succeeds();
    shell.run("track i.twx -q").succeeds();
    shell.pipe("add i.twx -q --format jsonl -", jsonl(documents)).succeeds();
    shell
}

fn add(shell: &Shell, id: &str, text: &str) -> Value {
    let added = shell.pipe("add i.twx --json --format jsonl -", jsonl(&[(id, text)]));
    added.succeeds().summary()
}

#[test]
fn joins_and_splits_are_told_and_the_larger_part_keeps_the_id() {
    let shell = tracked(&[("a", &part(0)), ("b", &part(1)), ("c", &part(2)), ("y", &part(16))]);
    shell.pipe("add i.twx -q --format jsonl -", jsonl(&[("z", &*part(17))])).succeeds();
    assert_eq!(shell.run("clusters i.twx --ids -q").stdout, "1\t3\ta\tb\tc\n2\t2\ty\tz\n");
    let joined = add(&shell, "bridge", &part(9));
    assert_eq!(joined["clusters"]["joined"], 1);
    assert_eq!(shell.run("clusters i.twx --ids -q").stdout, "1\t6\ta\tb\tc\ty\tz\tbridge\n");
    let removed = shell.run("remove i.twx bridge --json").succeeds().summary();
    assert_eq!(removed["clusters"]["split"], 1);
    assert_eq!(shell.run("clusters i.twx --ids -q").stdout, "1\t3\ta\tb\tc\n3\t2\ty\tz\n");
    shell.run("check i.twx").succeeds();
}

#[test]
fn a_program_that_applies_the_changes_has_the_clusters() {
    let shell = tracked(&[("a", &part(0)), ("b", &part(1))]);
    let mut places: BTreeMap<String, u64> = BTreeMap::new();
    let mut since = 0;
    let mut follow = |shell: &Shell| {
        let told = shell.run(&format!("changes i.twx --since {since} --json"));
        for line in told.stdout.lines() {
            let change: Value = serde_json::from_str(line).expect("JSON");
            if let Some(id) = change["id"].as_str() {
                match change["cluster"].as_u64() {
                    Some(cluster) => places.insert(id.to_owned(), cluster),
                    None => places.remove(id),
                };
            }
        }
        since = told.summary()["commit"].as_u64().expect("a commit");
        (told.status, places.clone().into_iter().collect::<Vec<_>>())
    };
    let of = |places: &[(&str, u64)]| -> Vec<(String, u64)> {
        places.iter().map(|(id, cluster)| ((*id).to_owned(), *cluster)).collect()
    };
    assert_eq!(follow(&shell), (0, of(&[("a", 1), ("b", 1)])));
    assert_eq!(follow(&shell), (1, of(&[("a", 1), ("b", 1)])), "nothing changed");
    add(&shell, "c", &part(8));
    add(&shell, "b", "b has become quite another text");
    shell.run("remove i.twx -q a").succeeds();
    assert_eq!(follow(&shell), (0, of(&[("c", 1)])), "c keeps the id for those that come");
    add(&shell, "d", &part(8));
    assert_eq!(follow(&shell), (0, of(&[("c", 1), ("d", 1)])));
}

#[test]
fn what_is_forgotten_is_not_told_in_part() {
    let shell = tracked(&[("a", &part(0)), ("b", &part(1))]);
    shell.run("remove i.twx -q a").succeeds();
    let told = shell.run("changes i.twx --since 2").succeeds();
    assert_eq!(told.stdout, "3\ta\tremoved\t-\n");
    assert_eq!(shell.run("track i.twx --forget 9 --json").succeeds().counted("forgotten"), 1);
    shell.run("changes i.twx --since 2").fails_with("since the commits 3 to 4, not since 2");
    let all = shell.run("changes i.twx").succeeds();
    assert_eq!(all.stdout, "2\tb\tcluster\t1\n", "0 asks for all that is there");
    shell.run("changes i.twx --since 5").fails_with("not since 5");
}

#[test]
fn an_index_that_does_not_track_says_how_to_begin() {
    let shell = Shell::with(&[("a", "some text")]);
    for words in ["clusters i.twx --ids", "changes i.twx", "track i.twx --forget 3"] {
        shell.run(words).fails_with("tracks no clusters; begin with `twindex track i.twx`");
    }
    assert_eq!(shell.run("track i.twx --stop").status, 1);
    let refused = shell.run("clusters i.twx --ids --threshold 0.5");
    assert!(refused.status == 2 && refused.stderr.contains("cannot be used with"), "{refused:?}");
}

#[test]
fn tracking_begins_with_what_is_there_and_ends() {
    let shell = Shell::with(&[("a", &part(0)), ("b", &part(1)), ("c", "another text")]);
    let tracks = || {
        let info: Value =
            serde_json::from_str(&shell.run("info i.twx --json").stdout).expect("JSON");
        info["tracks_clusters"].as_bool().expect("a boolean")
    };
    assert!(!tracks());
    assert_eq!(shell.run("track i.twx --json").succeeds().counted("clusters"), 1);
    assert_eq!(shell.run("track i.twx --json").succeeds().counted("clusters"), 1, "and again");
    assert!(tracks());
    shell.run("backup i.twx copy.twx").succeeds();
    assert_eq!(shell.run("clusters copy.twx --ids -q").stdout, "1\t2\ta\tb\n");
    shell.run("track i.twx --stop").succeeds();
    assert!(!tracks());
    shell.run("clusters i.twx --ids").fails_with("tracks no clusters");
    shell.run("check i.twx").succeeds();
}

#[test]
fn merged_and_rebuilt_indexes_have_their_clusters() {
    let shell = tracked(&[("a", &part(0)), ("c", "another text")]);
    shell.run("create j.twx -q --threshold 0.7 --store-text").succeeds();
    shell.pipe("add j.twx -q --format jsonl -", jsonl(&[("b", &*part(1))])).succeeds();
    shell.run("track j.twx").succeeds();
    shell.pipe("add j.twx -q --format jsonl -", jsonl(&[("d", &*part(22))])).succeeds();
    assert_eq!(shell.run("clusters j.twx --ids").status, 1, "b and d are not alike");
    shell.run("rebuild j.twx -q --threshold 0.45").succeeds();
    assert_eq!(shell.run("clusters j.twx --ids -q").stdout, "1\t2\tb\td\n");
    for attach in ["", " --attach"] {
        let other = Shell::with(&[]);
        other.run("create o.twx -q --threshold 0.7").succeeds();
        other.pipe("add o.twx -q --format jsonl -", jsonl(&[("e", &*part(2))])).succeeds();
        std::fs::copy(other.path("o.twx"), shell.path("o.twx")).expect("copied");
        std::fs::copy(shell.path("i.twx"), shell.path("m.twx")).expect("copied");
        shell.run(&format!("merge m.twx o.twx -q{attach}")).succeeds();
        assert_eq!(shell.run("clusters m.twx --ids -q").stdout, "1\t2\ta\te\n", "{attach}");
    }
}
