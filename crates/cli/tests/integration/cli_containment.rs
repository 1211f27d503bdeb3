//! `twindex query --containment`: what is printed, and what is said of scans.

use crate::command::Shell;
use crate::support::text;

/// A long document, another with the first half of it, and one that has nothing of it.
fn shell() -> (Shell, String) {
    let long = text(1, 0, 300);
    let half = long[..long.len() / 2].to_owned();
    let shell = Shell::with(&[("long", &long), ("half", &half), ("other", &text(2, 0, 100))]);
    (shell, half)
}

/// What both the long document and its half have.
fn part(half: &str) -> String {
    half[half.len() / 3..].to_owned()
}

#[test]
fn a_part_is_found_in_what_contains_it() {
    let (shell, half) = shell();
    let part = part(&half);
    let words = ["query", "i.twx", "--threshold", "0.7", "--json", "--text", &part];
    assert_eq!(shell.args(&words, "").status, 1, "by similarity nothing is found");
    let found = shell.args(&[&words[..], &["--containment"]].concat(), "").succeeds();
    let found = found.json();
    let mut ids: Vec<_> = found.iter().filter_map(|found| found["id"].as_str()).collect();
    ids.sort_unstable();
    assert_eq!(ids, ["half", "long"]);
}

#[test]
fn the_share_and_its_interval_follow_the_other_fields() {
    let (shell, half) = shell();
    let part = part(&half);
    let words =
        ["query", "i.twx", "--threshold", "0.3", "--json", "--containment", "--text", &part];
    let found = shell.args(&words, "").succeeds();
    let line = found.stdout.lines().next().expect("a match");
    let names: Vec<&str> = line.split('"').skip(1).step_by(2).collect();
    // Names alternate with the two values that are strings.
    assert_eq!(
        names,
        [
            "query",
            "text",
            "id",
            found.json()[0]["id"].as_str().expect("a string"),
            "similarity",
            "low",
            "high",
            "exact",
            "containment",
            "containment_low",
            "containment_high",
        ]
    );
    let one = &found.json()[0];
    let [low, share, high, similarity] = ["_low", "", "_high", "similarity"].map(|name| {
        let field =
            if name == "similarity" { name.to_owned() } else { format!("containment{name}") };
        one[field.as_str()].as_f64().expect("a number")
    });
    assert!(low <= share && share <= high && similarity < share, "{one}");
}

#[test]
fn the_summary_counts_what_was_scanned_and_says_why() {
    let (shell, half) = shell();
    let part = &half[..half.len() / 6];
    let words = ["query", "i.twx", "--containment", "--text", part];
    let said = shell.args(&words, "").stderr;
    // All three are far larger than the part, each of another class.
    let scanned =
        "; 3 documents of 3 size classes scanned: no band reaches the recall at similarity 0.";
    assert!(said.contains(scanned), "{said}");
    let counted = shell.args(&[&words[..], &["--json"]].concat(), "");
    assert_eq!((counted.counted("classes_scanned"), counted.counted("scanned")), (3, 3));
    let forced = shell.args(&[&words[..], &["--scan"]].concat(), "").stderr;
    assert!(forced.contains("; 3 documents of 3 size classes scanned\n"), "{forced}");
    let similar = shell.args(&["query", "i.twx", "--json", "--text", part], "");
    assert!(similar.summary().get("scanned").is_none(), "{similar:?}");
}

#[test]
fn documents_that_are_too_small_are_not_looked_at() {
    let (shell, _) = shell();
    let found =
        shell.args(&["query", "i.twx", "--containment", "--json", "--text", &text(5, 0, 900)], "");
    assert_eq!((found.status, found.counted("candidates"), found.counted("scanned")), (1, 0, 0));
}

#[test]
fn the_summary_says_for_how_many_documents_only_stored_texts_can_answer() {
    let shell = Shell::new();
    for number in 0..20 {
        shell.write(&format!("long/{number}"), text(number, 0, 4000));
    }
    shell.run("add -q i.twx long").succeeds();
    shell.run("add -q t.twx --store-text long").succeeds();
    let part = &text(3, 0, 4000)[..60];
    let ask = |index: &str, more: &[&str]| {
        shell.args(&[&["query", index, "--containment", "--text", part], more].concat(), "")
    };
    let said = ask("i.twx", &[]).stderr;
    let note = "; 20 documents too large for their query to be told by estimate: only stored texts \
                can answer\n";
    assert!(said.ends_with(note), "{said}");
    assert_eq!(ask("i.twx", &["--json"]).counted("undecidable"), 20);
    let exact = ask("t.twx", &["--json"]).succeeds();
    assert_eq!((exact.counted("undecidable"), exact.counted("matches")), (0, 1));
}

#[test]
fn what_surely_contains_the_text_comes_first() {
    let (shell, half) = shell();
    let words = ["query", "i.twx", "--threshold", "0.2", "--json", "--containment", "--text"];
    let found = shell.args(&[&words[..], &[&part(&half)]].concat(), "").succeeds();
    let low = |row: &serde_json::Value| row["containment_low"].as_f64().expect("a number");
    let lows: Vec<f64> = found.json().iter().filter(|row| !row["id"].is_null()).map(low).collect();
    assert!(lows.len() > 1 && lows.is_sorted_by(|a, b| a >= b), "{lows:?}");
    assert!(lows.iter().all(|low| *low > 0.0), "{lows:?}");
}
