//! Removing what is old, by the command.

use crate::command::{Shell, jsonl};

#[test]
fn an_age_is_a_whole_number_and_a_unit() {
    let shell = Shell::with(&[("a", "a text"), ("b", "another text")]);
    for age in ["1000s", "30m", "12h", "90d", "2w", "10000000w"] {
        let done = shell.run(&format!("remove i.twx --json --older-than {age}")).succeeds();
        assert_eq!(done.counted("removed"), 0, "{age}");
    }
    for bad in ["", "d", "90", "-1d", "+1d", "1.5d", "1 d", "1y", "1D", "99999999999999999999d"] {
        let done = shell.args(&["remove", "i.twx", &format!("--older-than={bad}")], "");
        assert_eq!(done.status, 2, "{bad}");
        let expected = bad.is_empty() || done.stderr.contains("expected a whole number");
        assert!(expected, "{bad}: {done:?}");
    }
    for words in ["remove i.twx a --older-than 1s", "remove i.twx --ids-from - --older-than 1s"] {
        assert_eq!(shell.run(words).status, 2);
    }
    assert_eq!(shell.ids(), ["a", "b"]);
}

#[test]
fn older_documents_are_removed_and_younger_ones_stay() {
    let shell = Shell::with(&[("old", "a text")]).aged(7_300);
    shell.pipe("add i.twx -q -", jsonl(&[("new", "another text")])).succeeds();
    let kept = shell.run("remove i.twx --older-than 3h --json").succeeds();
    assert_eq!(kept.counted("removed"), 0);
    let done = shell.run("remove i.twx --older-than 7200s --json").succeeds();
    assert_eq!(done.counted("removed"), 1);
    assert_eq!(shell.ids(), ["new"]);
    shell.assert_clean();
}
