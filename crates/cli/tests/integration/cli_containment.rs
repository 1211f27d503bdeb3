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
