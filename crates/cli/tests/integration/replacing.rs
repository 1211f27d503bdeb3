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
