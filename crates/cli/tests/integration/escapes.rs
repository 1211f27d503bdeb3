//! What is printed of ids comes back as it was, however they are spelled.

use crate::command::{Shell, jsonl};
use serde_json::json;

/// Ids that look alike, or like the syntax of a list.
const HOSTILE: [&str; 26] = [
    "a\tb",
    "a\\tb",
    "a\\\\tb",
    "a\\\tb",
    "\\",
    "\\\\",
    "\\\\\\",
    "two\nlines",
    "two\\nlines",
    "return\r",
    "return\\r",
    "\r",
    "\u{85}",
    "\\u0085",
    "\u{feff}",
    "\u{feff}a",
    " ",
    "\u{200b}",
    "\u{2028}",
    "\u{202e}abc",
    "\"quoted\"",
    "'",
    "C:\\new\\table",
    "C:\\users",
    "\u{1b}[2J",
    "\0",
];

fn with_hostile_ids() -> Shell {
    let documents = HOSTILE.map(|id| (id, "one and the same text of some length"));
    Shell::with(&documents)
}

fn all_ids(shell: &Shell) -> Vec<String> {
    let listed = shell.run("list i.twx --json").succeeds().json();
    listed.iter().map(|one| one["id"].as_str().expect("an id").to_owned()).collect()
}

#[test]
fn each_line_of_a_list_removes_the_document_that_it_names_and_no_other() {
    let shell = with_hostile_ids();
    let listed = shell.run("list i.twx").succeeds().stdout;
    let lines: Vec<&str> = listed.lines().collect();
    assert_eq!(lines.len(), HOSTILE.len());
    for (line, id) in lines.into_iter().zip(HOSTILE) {
        let copy = shell.copy();
        let removed = copy.pipe("remove i.twx --ids-from - --json", format!("{line}\n"));
        assert_eq!(removed.succeeds().counted("removed"), 1, "{line}");
        assert!(!all_ids(&copy).iter().any(|left| left == id), "{line} is {id:?}");
    }
}

#[test]
fn each_id_that_ends_with_a_nul_is_taken_as_it_is() {
    let shell = with_hostile_ids();
    // An id that holds a NUL itself cannot be in such a list.
    let listed = shell.run("list i.twx --print0");
    assert!(listed.status == 2 && listed.stderr.contains("an id with a NUL"), "{listed:?}");
    shell.pipe("remove i.twx --ids-from - -q", "\\u0000\n").succeeds();
    let listed = shell.run("list i.twx --print0").succeeds().stdout;
    let most: Vec<&str> = listed.split_terminator('\0').collect();
    assert_eq!(most, HOSTILE[..25]);
    for id in &most {
        let copy = shell.copy();
        let removed = copy.pipe("remove i.twx -0 --ids-from - --json", format!("{id}\0"));
        assert_eq!(removed.succeeds().counted("removed"), 1, "{id:?}");
        assert!(!all_ids(&copy).iter().any(|left| left == id), "{id:?}");
    }
    let removed = shell.pipe("remove i.twx --null --ids-from - --json", listed).succeeds();
    assert_eq!((removed.counted("removed"), all_ids(&shell).len()), (25, 0));
}

#[test]
fn duplicates_with_line_breaks_are_listed_and_removed() {
    let shell = with_hostile_ids();
    let found = shell.run("clusters i.twx --duplicates -q").succeeds();
    assert_eq!(found.stdout.lines().count(), HOSTILE.len() - 1);
    let removed = shell.pipe("remove i.twx --ids-from - --json", found.stdout).succeeds();
    assert_eq!(removed.counted("removed"), HOSTILE.len() as u64 - 1);
    assert_eq!(all_ids(&shell), ["a\tb"]);
}

#[test]
fn the_longest_id_comes_back_from_a_list() {
    let shell = Shell::new();
    let longest = "\u{1}".repeat(4_096);
    shell.pipe("add i.twx -q --format jsonl -", jsonl(&[(&longest, "a text")])).succeeds();
    for (list, remove) in [("list i.twx", ""), ("list i.twx --print0", "-0 ")] {
        let copy = shell.copy();
        let listed = copy.run(list).succeeds().stdout;
        let removed = copy.pipe(&format!("remove i.twx {remove}--ids-from - --json"), listed);
        assert_eq!(removed.succeeds().counted("removed"), 1);
    }
    let list = format!("{longest}\u{1}\0x\0\0{longest}");
    let removed = shell.pipe("remove i.twx -0 --ids-from - --json", list);
    assert_eq!((removed.status, removed.summary()["failed"].clone()), (2, json!(1)));
    assert_eq!((removed.counted("removed"), removed.counted("missing")), (1, 1));
    assert!(removed.stderr.contains("standard input:1: longer than 4,096 bytes"), "{removed:?}");
}
