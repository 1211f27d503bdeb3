//! `check --repair`, as a person uses it.

use crate::command::{Shell, lines};

/// Four hundred documents, all in one run.
fn filled() -> Shell {
    let shell = Shell::new();
    shell.pipe("add i.twx -q --id-prefix p -", lines(400)).succeeds();
    shell.run("compact i.twx -q").succeeds();
    shell
}

#[test]
fn an_index_that_is_whole_is_left_alone() {
    let shell = filled();
    let ids = shell.ids();
    let done = shell.run("check i.twx --repair --json").succeeds();
    assert_eq!(done.stdout, "");
    let summary: serde_json::Value = serde_json::from_str(&done.stderr).expect("JSON");
    assert_eq!(summary["repaired"], false);
    assert_eq!(summary["documents"], 400);
    assert_eq!(shell.ids(), ids);
}

#[test]
fn a_damaged_page_is_repaired_or_what_it_costs_is_said() {
    let shell = filled();
    let (whole, ids) = (shell.read("i.twx"), shell.ids());
    let pairs = shell.run("pairs i.twx -q").stdout;
    let (mut repaired, mut lost) = (0, 0);
    for page in (1..whole.len() / 4096).step_by(5) {
        let mut bytes = whole.clone();
        bytes[page * 4096 + 100] ^= 16;
        shell.write("i.twx", bytes);
        let done = shell.run("check i.twx --repair --json");
        if done.status == 2 {
            assert!(done.stderr.starts_with("twindex: i.twx: "), "page {page}: {done:?}");
            continue;
        }
        shell.assert_clean();
        let summary = done.stderr.lines().last().expect("a summary");
        let summary: serde_json::Value = serde_json::from_str(summary).expect("JSON");
        let missing = summary["lost"].as_u64().expect("a number") as usize;
        assert_eq!(shell.ids().len(), ids.len() - missing, "page {page}");
        assert_eq!(done.status, i32::from(missing > 0), "page {page}: {done:?}");
        assert_eq!(shell.path("i.twx.damaged").exists(), missing > 0, "page {page}");
        if missing == 0 {
            assert_eq!(shell.run("pairs i.twx -q").stdout, pairs, "page {page}");
        } else {
            lost += 1;
            // What was lost can be added again.
            shell.pipe("add i.twx -q --id-prefix p -", lines(400)).succeeds();
            assert_eq!(shell.ids().len(), ids.len(), "page {page}");
            std::fs::remove_file(shell.path("i.twx.damaged")).expect("removed");
        }
        repaired += usize::from(summary["repaired"] == true);
    }
    assert!(repaired > 0 && lost > 0, "{repaired} repaired, {lost} with losses");
}

#[test]
fn a_file_that_is_no_index_is_not_repaired() {
    let shell = Shell::new();
    shell.run("check missing.twx --repair").fails_with("missing.twx: no such index");
    shell.write("text.twx", "some text");
    shell.run("check text.twx --repair").fails_with("text.twx: not a twindex index");
    assert_eq!(shell.read("text.twx"), b"some text");
}
