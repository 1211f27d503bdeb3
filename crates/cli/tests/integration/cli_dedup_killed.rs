//! A deduplication that was killed after its last record is completed, and takes nothing for its
//! own that is not.

use crate::cli_dedup_finished::shards;
use crate::cli_dedup_replaced::{killed_after_rename, killed_at_rename};
use crate::columns::{arrow_file, documents, table};
use crate::command::{Shell, jsonl};
use crate::support::text;

/// The number of lines in a file.
fn lines(shell: &Shell, name: &str) -> usize {
    shell.read(name).iter().filter(|byte| **byte == b'\n').count()
}

/// JSON Lines records with these numbers.
fn records(numbers: std::ops::Range<u64>) -> String {
    numbers.map(|n| jsonl(&[(&n.to_string(), &text(n, 0, 40))])).collect()
}

/// Adds a record to an input.
fn grow(shell: &Shell, name: &str) {
    let more = jsonl(&[("more", &text(999_999, 0, 40))]);
    shell.write(name, [&shell.read(name)[..], more.as_bytes()].concat());
}

#[test]
fn a_run_that_was_killed_when_its_output_had_its_name_is_completed() {
    for options in ["", " --keep max:n"] {
        let shell = Shell::new();
        shards(&shell);
        let words = format!("dedup i.twx in -q --skip-known --removed gone -o out{options}");
        shell.run(&words).succeeds();
        shell.sh("rm out gone").succeeds();
        let id = shell.ids()[0].clone();
        shell.run(&format!("remove i.twx -q {id}")).succeeds();
        killed_after_rename(&shell, &words, "out");
        assert_eq!(lines(&shell, "out"), 1, "{options}");
        shell.run(&words).succeeds();
        assert_eq!(lines(&shell, "out"), 1, "{options}");
        shell.run(&words).succeeds();
    }
}

#[test]
fn a_killed_run_replaces_an_output_of_other_records() {
    for options in ["", " --keep longest"] {
        let shell = Shell::new();
        shell.write("a.jsonl", records(0..20));
        shell.write("b.jsonl", records(20..30));
        let words = |input: &str| format!("dedup i.twx {input} -q --skip-known -o out{options}");
        shell.run(&words("a.jsonl")).succeeds();
        killed_at_rename(&shell, &words("b.jsonl"));
        assert_eq!(lines(&shell, "out"), 20, "{options}");
        shell.run(&words("b.jsonl")).succeeds();
        assert_eq!(shell.read("out"), shell.read("b.jsonl"), "{options}");
    }
}

#[test]
fn a_killed_run_leaves_no_rows_when_it_is_completed() {
    let shell = Shell::new();
    shell.write("in.arrow", arrow_file(&table(&documents(30))));
    let words = "dedup i.twx in.arrow -q -o out.arrow --removed gone";
    killed_after_rename(&shell, words, "gone");
    assert!(shell.path("out.arrow.rows.part").exists());
    let partial = shell.read("out.arrow.part");
    shell.write("out.arrow.part", &partial[1..]);
    shell.run(words).fails_with("out.arrow.part: is not as the interrupted run has left it");
    assert!(shell.path("out.arrow.rows.part").exists(), "a run that fails deletes nothing");
    shell.write("out.arrow.part", partial);
    shell.run(words).succeeds();
    let mut names = shell.names();
    names.retain(|name| name.contains("out"));
    assert_eq!(names, ["out.arrow"]);
}

/// With `--skip-known`, the new records alone would replace what was just completed.
#[test]
fn a_killed_run_whose_input_has_grown_is_completed_and_the_input_judged_if_nothing_is_lost() {
    for (is_known, options) in [(true, " --skip-known"), (false, "")] {
        let shell = Shell::new();
        shell.write("in.jsonl", records(0..20));
        let words = format!("dedup i.twx in.jsonl -q -o out{options}");
        if is_known {
            shell.run("add i.twx -q in.jsonl").succeeds();
        }
        killed_at_rename(&shell, &words);
        grow(&shell, "in.jsonl");
        shell.run(&words).succeeds();
        assert_eq!(lines(&shell, "out"), if is_known { 1 } else { 21 });
    }
}

/// What cannot be judged at once has no report, but the audit of what is complete is not lost.
#[test]
fn a_report_and_a_printed_audit_are_of_the_input_that_was_judged() {
    for (has_grown, options) in [(false, ""), (true, ""), (true, " --skip-known")] {
        let shell = Shell::new();
        shards(&shell);
        let words = format!("dedup i.twx in/0.jsonl in/1.jsonl -q --report r.html -o out{options}");
        killed_at_rename(&shell, &format!("{words} >printed"));
        std::fs::remove_file(shell.path("r.html")).expect("removed");
        if has_grown {
            grow(&shell, "in/0.jsonl");
        }
        let audit = lines(&shell, "out.removed.part");
        let done = shell.run(&words);
        let has_ended = !options.is_empty();
        let status = if has_ended { 2 } else { 0 };
        assert_eq!((done.status, done.stdout.lines().count()), (status, audit), "{done:?}");
        assert_eq!(done.stderr.contains("is complete now; its input has changed"), has_ended);
        assert_eq!(shell.path("r.html").exists(), !has_ended, "{has_grown}");
    }
}

/// A run that has kept nothing has nothing to lose.
#[test]
fn a_killed_run_that_has_kept_nothing_stops_no_other_one() {
    let shell = Shell::new();
    shell.write("a.jsonl", records(0..20));
    shell.write("b.jsonl", records(20..30));
    shell.run("add i.twx -q a.jsonl").succeeds();
    killed_at_rename(&shell, "dedup i.twx a.jsonl -q --skip-known -o out");
    // It may have left bytes that no commit accounts for.
    shell.write("out.part", "some bytes\n");
    shell.run("dedup i.twx b.jsonl -q --skip-known -o out").succeeds();
    assert_eq!(shell.read("out"), shell.read("b.jsonl"));
}

#[test]
fn a_killed_run_that_has_kept_nothing_does_not_take_what_is_of_another_index() {
    let shell = Shell::new();
    shell.write("a.jsonl", records(0..20));
    shell.write("b.jsonl", records(20..30));
    shell.run("add i.twx -q a.jsonl").succeeds();
    let (known, other) =
        ("dedup i.twx a.jsonl -q --skip-known -o out", "dedup j.twx b.jsonl -q -o out");
    killed_at_rename(&shell, known);
    killed_at_rename(&shell, other);
    shell.run(known).fails_with("out.part: is not as the interrupted run has left it");
    shell.run(other).succeeds();
    assert_eq!(shell.read("out"), shell.read("b.jsonl"));
}
