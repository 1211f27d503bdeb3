//! Several processes and one index: who is refused, who waits, what a killed one leaves.

use crate::command::{Done, Running, Shell, alike, jsonl};
use std::thread::sleep;
use std::time::{Duration, Instant};

const WRITERS: [&str; 3] = ["add i.twx more.jsonl", "remove i.twx a", "compact i.twx"];
const READERS: [&str; 6] = [
    "query i.twx --id a",
    "pairs i.twx",
    "list i.twx",
    "get i.twx a",
    "info i.twx --json",
    "check i.twx",
];

/// A folder with an index of `a` and `b`, which are similar, and a file with one more.
fn two() -> Shell {
    let (a, b, c) = alike();
    let shell = Shell::with(&[("a", &a), ("b", &b)]);
    shell.write("more.jsonl", jsonl(&[("c", &c)]));
    shell
}

/// A command that has written to the index and still has it open.
fn writer(shell: &Shell) -> Running {
    let mut writer = shell.start("add i.twx -v --batch 1 -");
    writer.send("{\"id\":\"w\",\"text\":\"of the writer\"}\n");
    writer.wait_for("committed 1 document");
    writer
}

/// A command that has read from the index and still has it open.
fn reader(shell: &Shell) -> Running {
    let mut reader = shell.start("query i.twx --id-prefix q -");
    reader.send(&(alike().0 + "\n"));
    assert!(reader.read_a_line_and_close().starts_with("q:1\ta\t"));
    reader
}

#[track_caller]
fn are_refused<'w>(shell: &Shell, commands: impl IntoIterator<Item = &'w str>) {
    for words in commands {
        let refused = shell.run(words);
        refused.fails_with("i.twx: in use by another process");
        assert!(refused.stderr.contains("--wait"), "{words}: {refused:?}");
    }
}

#[test]
fn beside_a_writer_everyone_else_is_refused_until_it_ends() {
    let shell = two();
    let writer = writer(&shell);
    are_refused(&shell, WRITERS.into_iter().chain(READERS));
    writer.finish().succeeds();
    for words in READERS.into_iter().chain(WRITERS) {
        shell.run(words).succeeds();
    }
    assert_eq!(shell.ids(), ["b", "w", "c"]);
}

#[test]
fn beside_a_reader_others_read_and_writers_are_refused() {
    let shell = two();
    let reader = reader(&shell);
    for words in READERS {
        shell.run(words).succeeds();
    }
    are_refused(&shell, WRITERS);
    reader.finish().succeeds();
    shell.run("remove i.twx a").succeeds();
}

#[test]
fn one_that_waits_goes_on_when_the_other_ends() {
    let commands = WRITERS.into_iter().chain(READERS).map(|words| (words, two()));
    let mut all: Vec<_> = commands
        .map(|(words, shell)| {
            let other = writer(&shell);
            let waiting = shell.start(&format!("{words} --wait 60"));
            (words, other, waiting, shell)
        })
        .collect();
    let shell = two();
    let other = reader(&shell);
    let words = "remove i.twx b";
    all.push((words, other, shell.start(&format!("{words} --wait 60")), shell));
    sleep(Duration::from_millis(150));
    for (words, _, waiting, _) in &mut all {
        assert!(waiting.is_running(), "{words}");
    }
    for (words, other, waiting, shell) in all {
        other.finish().succeeds();
        waiting.finish().succeeds();
        if words == "remove i.twx b" {
            assert_eq!(shell.ids(), ["a"]);
        }
    }
}

#[test]
fn several_writers_that_wait_all_get_their_turn() {
    let shell = Shell::new();
    let names = ["0.txt", "1.txt", "2.txt", "3.txt", "4.txt", "5.txt"];
    names.iter().for_each(|name| shell.write(name, format!("the text of {name}")));
    let start = |name: &&str| shell.start(&format!("add i.twx --wait 60 {name}"));
    let all: Vec<_> = names.iter().map(start).collect();
    for running in all {
        running.finish().succeeds();
    }
    let mut ids = shell.ids();
    ids.sort();
    assert_eq!(ids, names);
    shell.assert_clean();
}

#[test]
fn waiting_ends_after_the_time_that_was_asked_for() {
    let shell = two();
    let _writer = writer(&shell);
    for words in ["list i.twx --wait 0.4", "--wait 0.4 remove i.twx a"] {
        let start = Instant::now();
        shell.run(words).fails_with("i.twx: still in use by another process after 0.4 s");
        assert!(start.elapsed() >= Duration::from_millis(400), "{words}");
    }
}

#[test]
fn waiting_for_a_time_that_is_none_is_an_error() {
    for bad in ["-1", "NaN", "inf", "1e30", "soon", ""] {
        let done = two().args(&["list", "i.twx", &format!("--wait={bad}")], "");
        assert_eq!((done.status, done.stdout.as_str()), (2, ""), "{bad}: {done:?}");
        assert!(done.stderr.contains("expected a number of seconds"), "{bad}: {done:?}");
    }
}

#[test]
fn one_that_waits_can_be_interrupted() {
    let shell = two();
    let _writer = writer(&shell);
    let waiting = shell.start("remove i.twx a --wait 60");
    sleep(Duration::from_millis(300));
    waiting.signal("INT");
    waiting.end().fails_with("i.twx: interrupted");
}

#[test]
fn eight_readers_have_it_open_at_once_and_answer_alike() {
    let (shell, text) = (two(), alike().0 + "\n");
    let alone = shell.pipe("query i.twx --id-prefix q -", text.as_str()).succeeds().stdout;
    let mut all: Vec<_> = (0..8).map(|_| reader(&shell)).collect();
    assert!(all.iter_mut().all(Running::is_running));
    assert_eq!(shell.pipe("query i.twx --id-prefix q -", text.as_str()).stdout, alone);
    are_refused(&shell, WRITERS);
    for running in all {
        running.finish().succeeds();
    }
}

#[test]
fn a_process_that_was_killed_leaves_no_lock() {
    let shell = two();
    writer(&shell).kill();
    shell.run("remove i.twx w").succeeds();
    writer(&shell).kill();
    assert_eq!(shell.ids(), ["a", "b", "w"]);
    for _ in 0..3 {
        reader(&shell).kill();
    }
    shell.run("remove i.twx w").succeeds();
    assert_eq!(shell.ids(), ["a", "b"]);
    shell.assert_clean();
}

#[test]
fn eight_readers_after_an_unclean_stop_all_read_once_one_has_repaired() {
    for _ in 0..5 {
        let shell = two();
        writer(&shell).kill();
        let all: Vec<_> = (0..8).map(|_| shell.start("list i.twx --wait 60")).collect();
        let all: Vec<Done> = all.into_iter().map(Running::finish).collect();
        for done in all {
            assert_eq!((done.status, done.stdout.as_str()), (0, "a\nb\nw\n"), "{done:?}");
        }
    }
}
