//! A run that would replace most of an index must be asked for it.

use crate::command::{Shell, jsonl};
use crate::support::text;

/// JSON Lines records of these families, with the ids `r0`, `r1` and so on.
fn records(families: std::ops::Range<u64>) -> String {
    let start = families.start;
    let record = |n: u64| jsonl(&[(&format!("r{}", n - start), &text(n, 0, 30))]);
    families.map(record).collect()
}

#[test]
fn a_run_that_would_replace_more_than_half_of_an_index_is_refused() {
    for command in ["add i.twx -q", "dedup i.twx -q -o out"] {
        let shell = Shell::new();
        shell.pipe("add i.twx -q -", records(0..100)).succeeds();
        let before = shell.answers();
        for batch in ["", " --batch 51"] {
            let refused = shell.pipe(&format!("{command}{batch} -"), records(1_000..1_060));
            refused.fails_with("--replace-most");
            assert!(refused.stderr.contains("more than half of its 100 documents"), "{refused:?}");
            assert_eq!(shell.answers(), before, "nothing was replaced");
        }
        shell.pipe(&format!("{command} -"), records(1_000..1_050)).succeeds();
        shell.pipe(&format!("{command} --replace-most -"), records(2_000..2_100)).succeeds();
        assert_ne!(shell.answers(), before);
    }
}

#[test]
fn an_import_and_a_merge_refuse_to_replace_most_of_an_index() {
    let shell = Shell::new();
    shell.pipe("add i.twx -q -", records(0..100)).succeeds();
    shell.pipe("add j.twx -q -", records(1_000..1_060)).succeeds();
    shell.run("export j.twx -q -o e").succeeds();
    shell.run("import i.twx -q e").fails_with("--replace-most");
    shell.run("merge i.twx -q j.twx").fails_with("--replace-most");
    shell.run("merge i.twx -q j.twx --attach").fails_with("--replace-most");
    shell.run("merge i.twx -q --on-conflict skip j.twx").succeeds();
    shell.run("merge i.twx -q --replace-most j.twx").succeeds();
}

#[test]
fn a_corpus_with_some_corrections_is_read_again_without_asking() {
    let shell = Shell::new();
    shell.pipe("add i.twx -q -", records(0..100)).succeeds();
    let corrected = records(0..60)
        + &records(1_000..1_100)
            .lines()
            .skip(60)
            .map(|line| line.to_owned() + "\n")
            .collect::<String>();
    let again = shell.pipe("add i.twx --json -", corrected).succeeds();
    assert_eq!((again.counted("unchanged"), again.counted("replaced")), (60, 40));
    // A few documents are replaced without asking, however small the index is.
    let shell = Shell::with(&[("a", "some text"), ("b", "another")]);
    shell.pipe("add i.twx -q -", jsonl(&[("a", "a new text"), ("b", "a new one")])).succeeds();
}

#[test]
fn an_id_that_comes_again_and_again_in_one_input_replaces_itself() {
    let shell = Shell::new();
    shell.pipe("add i.twx -q -", records(0..20)).succeeds();
    let input: String =
        (100..200).map(|n| jsonl(&[("new", &text(n, 0, 30)), ("r1", &text(n, 1, 30))])).collect();
    let done = shell.pipe("add i.twx --json -", input).succeeds();
    assert_eq!((done.counted("added"), done.counted("replaced")), (1, 199));
}

#[test]
fn verbose_commands_print_the_settings_of_a_new_index() {
    let shell = Shell::new();
    shell.write("a.txt", "some text");
    for words in ["add i.twx -v a.txt", "dedup j.twx -v a.txt -o out"] {
        let first = shell.run(words).succeeds();
        let settings = "threshold 0.8, recall 0.99, 16 bands of 6 lanes in signatures of 256, \
                        char:9, lower,nfc,space";
        assert!(first.stderr.contains(settings), "{first:?}");
        let again = shell.run(words).succeeds();
        assert!(!again.stderr.contains("threshold 0.8"), "{again:?}");
    }
}

/// A run that is refused after commits goes on with what it has kept, once it is allowed to.
#[test]
fn a_refused_deduplication_loses_nothing_that_it_had_kept() {
    for out in ["out.jsonl", "out/"] {
        let new = |from: u64| -> String {
            (from..from + 300).map(|n| jsonl(&[(&format!("n{n}"), &text(n, 0, 30))])).collect()
        };
        let begin = || {
            let shell = Shell::new();
            shell.pipe("add i.twx -q -", records(0..90)).succeeds();
            std::fs::create_dir(shell.path("in")).expect("a folder");
            shell.write("in/0.jsonl", new(5_000));
            shell.write("in/1.jsonl", records(1_000..1_100));
            shell
        };
        let words = format!("dedup i.twx in -q --skip-known --batch 100 --removed gone -o {out}");
        let files = |shell: &Shell| shell.sh("find out* -type f | sort | xargs cat").stdout;
        let unbroken = begin();
        unbroken.run(&format!("{words} --replace-most")).succeeds();

        let shell = begin();
        shell.run(&words).fails_with("more than half of its 90 documents would be replaced");
        let left = files(&shell);
        for _ in 0..2 {
            shell.run(&words).fails_with("say --replace-most to go on");
            assert_eq!(files(&shell), left, "{out}");
        }
        shell.run(&format!("{words} --replace-most")).succeeds();
        assert_eq!(files(&shell), files(&unbroken), "{out}");
        assert_eq!(shell.read("gone"), unbroken.read("gone"), "{out}");
        assert_eq!(shell.ids(), unbroken.ids());
        shell.assert_clean();
    }
}

#[test]
fn an_attached_index_is_held_to_what_the_destination_had_before() {
    let shell = Shell::new();
    shell.pipe("add i.twx -q -", records(0..100)).succeeds();
    shell.pipe("add j.twx -q -", records(1_000..1_100)).succeeds();
    // What comes twice in one merge replaces nothing that was there before.
    let both = shell.run("merge new.twx i.twx j.twx --attach --json").succeeds();
    assert_eq!((both.counted("added"), both.counted("replaced")), (100, 100));
    let conflicts = shell.run("merge i.twx j.twx --attach --on-conflict error --json");
    assert_eq!((conflicts.status, conflicts.counted("failed")), (2, 100), "{conflicts:?}");
    assert!(conflicts.stderr.contains("j.twx: 100 documents left out"), "{conflicts:?}");
}
