//! What is left when a command is interrupted or killed.

use crate::command::{Shell, lines};
use std::thread::sleep;
use std::time::Duration;

/// The number before `documents are in`.
fn said(stderr: &str) -> usize {
    let words: Vec<&str> = stderr.split_whitespace().collect();
    let at = words.windows(4).position(|four| four[1..] == ["documents", "are", "in,"]);
    let at = at.unwrap_or_else(|| panic!("does not say what is in: {stderr}"));
    words[at].replace(',', "").parse().expect("a number")
}

#[test]
fn an_interrupted_add_says_what_is_in_and_can_be_run_again() {
    for signal in ["INT", "TERM"] {
        let shell = Shell::new();
        let input = lines(200);
        let first: String = input.split_inclusive('\n').take(130).collect();
        let mut running = shell.start("add i.twx -v --batch 50 --id-prefix p -");
        running.send(&first);
        running.wait_for("committed 100 documents");
        running.signal(signal);
        let done = running.end();
        assert_eq!(done.status, 2, "{done:?}");
        let inside = said(&done.stderr);
        assert!(inside >= 100, "{done:?}");
        assert_eq!(shell.ids().len(), inside);
        shell.assert_clean();

        let again = shell.pipe("add i.twx --json --id-prefix p -", input).succeeds();
        assert_eq!(again.counted("unchanged"), inside as u64);
        assert_eq!(shell.ids().len(), 200);
    }
}

#[test]
fn an_interrupted_query_ends_with_an_error() {
    let shell = Shell::with(&[("a", "one and the same text")]);
    let mut running = shell.start("query i.twx -q -");
    running.send("one and the same text\n");
    // It is reading by now, and has its handler.
    sleep(Duration::from_millis(300));
    running.signal("INT");
    let done = running.end();
    assert_eq!(done.status, 2, "{done:?}");
    assert!(done.stderr.starts_with("twindex: "), "{done:?}");
}

#[test]
fn what_was_committed_survives_a_kill() {
    let shell = Shell::new();
    let input = lines(100);
    let first: String = input.split_inclusive('\n').take(75).collect();
    let mut running = shell.start("add i.twx -v --batch 10 --id-prefix p -");
    running.send(&first);
    running.wait_for("committed 50 documents");
    running.kill();
    let inside = shell.ids().len();
    assert!(inside >= 50 && inside.is_multiple_of(10), "{inside} are in");

    let again = shell.pipe("add i.twx --json --id-prefix p -", input).succeeds();
    assert_eq!(again.counted("unchanged"), inside as u64);
    assert_eq!(again.counted("added"), 100 - inside as u64);
    shell.assert_clean();
}
