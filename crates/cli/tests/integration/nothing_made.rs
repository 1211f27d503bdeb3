//! A run that fails before its first good record makes nothing, so that the corrected command
//! works.

use crate::command::{Shell, jsonl};

/// The files that a command made, in the order of their names.
#[track_caller]
fn made_by_failing(shell: &Shell, words: &str, stdin: &str) -> Vec<String> {
    let before = shell.names();
    let done = shell.pipe(words, stdin);
    assert_eq!(done.status, 2, "{words}: {done:?}");
    let mut made = shell.names();
    made.retain(|name| !before.contains(name));
    made.sort();
    made
}

fn files() -> Shell {
    let shell = Shell::new();
    shell.write("bad.jsonl", "no JSON\n{\"id\":\"a\"}\n");
    shell.write("good.jsonl", jsonl(&[("a", "some text of some length")]));
    shell.run("create g.twx -q --shingle word:3").succeeds();
    shell
}

#[test]
fn a_run_that_fails_on_its_input_makes_nothing() {
    let shell = files();
    let none: [&str; 0] = [];
    for input in ["nosuch.jsonl", "bad.jsonl", "bad.jsonl nosuch.jsonl", "--format jsonl -"] {
        let add = format!("add x.twx {input}");
        assert_eq!(made_by_failing(&shell, &add, "no JSON\n"), none, "{add}");
        for output in ["-o out", "-o out --removed gone", "-o -"] {
            let dedup = format!("dedup x.twx {output} {input}");
            assert_eq!(made_by_failing(&shell, &dedup, "no JSON\n"), none, "{dedup}");
        }
    }
    // The corrected command has the settings that it asks for.
    shell.run("add x.twx -q --shingle word:2 good.jsonl").succeeds();
    shell.run("dedup y.twx -q --shingle word:2 good.jsonl -o out").succeeds();
}

#[test]
fn a_run_that_fails_on_its_settings_makes_nothing() {
    let shell = files();
    let none: [&str; 0] = [];
    for settings in ["--threshold 80", "--threshold 0.1", "--lanes 100", "--recall 2", "--lanes 7"]
    {
        let add = format!("add x.twx {settings} good.jsonl");
        assert_eq!(made_by_failing(&shell, &add, ""), none, "{add}");
        let dedup = format!("dedup x.twx {settings} good.jsonl -o out");
        assert_eq!(made_by_failing(&shell, &dedup, ""), none, "{dedup}");
    }
}

#[test]
fn a_dedup_against_another_kind_of_index_makes_nothing_and_says_what_to_add() {
    let shell = files();
    let words = "dedup v.twx good.jsonl -o out --against g.twx";
    let done = shell.run(words);
    done.fails_with("add --shingle word:3 to this command");
    assert!(!shell.path("v.twx").exists() && !shell.path("out.part").exists());
    shell.run(&format!("{words} --shingle word:3 -q")).succeeds();

    shell.run("create h.twx -q --seed 7 --lanes 128 --multiset").succeeds();
    let words = "dedup w.twx good.jsonl -o out --against h.twx";
    shell.run(words).fails_with("add --lanes 128 --multiset --seed 7 to this command");
    shell.run(&format!("{words} --lanes 128 --multiset --seed 7 -q")).succeeds();
    let against = "dedup u.twx good.jsonl -o out --multiset --against g.twx --shingle word:3";
    shell.run(against).fails_with("leave out --multiset");
    assert!(!shell.path("u.twx").exists());
    // An index that is there keeps its settings.
    let done = shell.run("dedup w.twx good.jsonl -o out --against g.twx");
    done.fails_with("cannot be compared");
    assert!(done.stderr.contains("--shingle word:3"), "{done:?}");
}

#[test]
fn an_existing_output_stays_when_no_record_is_good() {
    let shell = files();
    shell.run("dedup x.twx good.jsonl -q -o out --removed gone").succeeds();
    let (out, gone) = (shell.read("out"), shell.read("gone"));
    let none: [&str; 0] = [];
    let dedup = "dedup x.twx bad.jsonl -o out --removed gone";
    assert_eq!(made_by_failing(&shell, dedup, ""), none);
    assert!(shell.read("out") == out && shell.read("gone") == gone);
}

#[test]
fn an_empty_input_is_no_failure_and_makes_an_empty_index_and_output() {
    let shell = Shell::new();
    shell.run("add a.twx -q -").succeeds();
    assert_eq!(shell.run("list a.twx").succeeds().stdout, "");
    shell.run("dedup d.twx -q -o out -").succeeds();
    assert_eq!(shell.read("out"), b"");
    shell.write("t.csv", "id,text\n");
    shell.run("dedup e.twx -q -o table t.csv").succeeds();
    assert_eq!(shell.read("table"), b"id,text\n");
}

#[test]
fn a_header_is_written_although_the_first_rows_are_bad() {
    let shell = Shell::new();
    shell.write("t.csv", "id,text\nonly one field\na,some text\n");
    assert_eq!(shell.run("dedup e.twx -q -o table t.csv").status, 2);
    assert_eq!(shell.read("table"), b"id,text\na,some text\n");
}

#[test]
fn numbers_are_checked_before_they_are_compared_with_those_of_an_index() {
    let shell = files();
    for words in ["add g.twx good.jsonl", "dedup g.twx good.jsonl -o out", "create z.twx"] {
        let done = shell.run(&format!("{words} --threshold 80"));
        done.fails_with("expected a number above 0, at most 1; did you mean 0.8?");
        let done =
            shell.run(&format!("{words} --threshold -1").replace("-1", "=-1").replace(" =", "="));
        done.fails_with("expected a number above 0, at most 1");
        assert!(!done.stderr.contains("did you mean"), "{done:?}");
    }
    shell.run("add g.twx good.jsonl --recall 99").fails_with("did you mean 0.99?");
    shell.run("query g.twx --text x --confidence 95").fails_with("did you mean 0.95?");
    let done = shell.run("add new.twx good.jsonl --threshold 82.5%");
    assert_eq!(done.status, 2, "{done:?}");
    assert!(done.stderr.contains("tip: 82.5% as a number is 0.825\n"), "{done:?}");
    shell.run("add g.twx good.jsonl --lanes 100").fails_with("expected 64, 128, 256 or 512");
}

#[test]
fn an_empty_input_has_no_record_to_prefer_and_is_no_failure() {
    let shell = files();
    shell.write("empty.jsonl", "");
    shell.run("dedup x.twx -q empty.jsonl -o out --removed gone --keep max:n").succeeds();
    assert!(shell.read("out").is_empty());
}

#[test]
fn a_merge_of_indexes_with_other_settings_makes_nothing() {
    let shell = files();
    let none: [&str; 0] = [];
    shell.run("add x.twx -q good.jsonl").succeeds();
    assert_eq!(made_by_failing(&shell, "merge new.twx x.twx g.twx", ""), none);
}
