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
fn beside_a_writer_others_read_its_last_commit_and_other_writers_are_refused() {
    let shell = two();
    let writer = writer(&shell);
    are_refused(&shell, WRITERS);
    for words in READERS {
        shell.run(words).succeeds();
    }
    assert_eq!(shell.ids(), ["a", "b", "w"]);
    writer.finish().succeeds();
    for words in READERS.into_iter().chain(WRITERS) {
        shell.run(words).succeeds();
    }
    assert_eq!(shell.ids(), ["b", "w", "c"]);
}

#[test]
fn beside_a_reader_others_read_and_write_but_the_file_does_not_shrink() {
    let shell = two();
    let reader = reader(&shell);
    for words in READERS {
        shell.run(words).succeeds();
    }
    shell.run("add i.twx more.jsonl").succeeds();
    shell.run("remove i.twx a").succeeds();
    let refused = shell.run("compact i.twx");
    refused.fails_with("i.twx: compacted but not shrunk: another process has read it for 0 s");
    assert_eq!(shell.ids(), ["b", "c"]);
    reader.finish().succeeds();
    shell.run("compact i.twx").succeeds();
    assert_eq!(shell.ids(), ["b", "c"]);
}

#[test]
fn one_that_waits_goes_on_when_the_other_ends() {
    let commands = WRITERS.into_iter().map(|words| (words, two()));
    let mut all: Vec<_> = commands
        .map(|(words, shell)| {
            let other = writer(&shell);
            let waiting = shell.start(&format!("{words} --wait 60"));
            (words, other, waiting, shell)
        })
        .collect();
    sleep(Duration::from_millis(150));
    for (words, _, waiting, _) in &mut all {
        assert!(waiting.is_running(), "{words}");
    }
    for (words, other, waiting, shell) in all {
        other.finish().succeeds();
        waiting.finish().succeeds();
        if words == "remove i.twx a" {
            assert_eq!(shell.ids(), ["b", "w"]);
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
    for words in ["add i.twx --wait 0.4 more.jsonl", "--wait 0.4 remove i.twx a"] {
        let start = Instant::now();
        shell.run(words).fails_with("i.twx: still in use by another process after 0.4 s");
        assert!(start.elapsed() >= Duration::from_millis(400), "{words}");
    }
}

#[test]
fn an_invalid_time_to_wait_is_an_error() {
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
fn eight_readers_after_an_unclean_stop_all_read_what_was_committed() {
    for _ in 0..5 {
        let shell = two();
        writer(&shell).kill();
        let all: Vec<_> = (0..8).map(|_| shell.start("list i.twx")).collect();
        let all: Vec<Done> = all.into_iter().map(Running::finish).collect();
        for done in all {
            assert_eq!((done.status, done.stdout.as_str()), (0, "a\nb\nw\n"), "{done:?}");
        }
    }
}

#[test]
fn two_runs_of_dedup_into_one_index_judge_each_record_by_all_that_came_before() {
    let shell = Shell::new();
    let record = |number: usize| format!("{{\"id\":\"{number}\",\"text\":\"{}\"}}\n", text(number));
    let records = |numbers: std::ops::Range<usize>| numbers.map(record).collect::<String>();
    shell.write("1.jsonl", records(0..60));
    shell.write("2.jsonl", records(30..90).replace("\"id\":\"", "\"id\":\"again "));
    let start =
        |number| shell.start(&format!("dedup i.twx --wait 60 {number}.jsonl -o {number}.out"));
    let (one, two) = (start(1), start(2));
    one.finish().succeeds();
    two.finish().succeeds();
    let kept = |name| shell.read(name).iter().filter(|byte| **byte == b'\n').count();
    assert_eq!(kept("1.out") + kept("2.out"), 90);
    assert_eq!(shell.ids().len(), 90);
    shell.assert_clean();
}

/// A text that is like no other.
fn text(number: usize) -> String {
    let word = |at: usize| format!("word{} ", (number * 100 + at) * 7919 % 1_000_003);
    (0..40).map(word).collect()
}

#[test]
fn info_tells_what_the_snapshot_of_another_process_keeps_and_since_when() {
    let shell = two();
    assert!(shell.run("info i.twx").succeeds().stdout.contains("held_bytes\t0\n"));
    let reader = reader(&shell);
    let more: String = (0..300)
        .map(|number| format!("{{\"id\":\"{number}\",\"text\":\"{}\"}}\n", text(number)))
        .collect();
    shell.write("many.jsonl", &more);
    shell.run("add i.twx many.jsonl").succeeds();
    shell.write("other.jsonl", more.replace("word", "other"));
    shell.run("add i.twx other.jsonl --replace-most").succeeds();
    let held = |shell: &Shell| {
        let info = shell.run("info i.twx --json").succeeds().stdout;
        let fields: serde_json::Value = serde_json::from_str(&info).expect("JSON");
        (fields["held_bytes"].as_u64(), fields["held_since"].as_i64())
    };
    let (bytes, since) = held(&shell);
    assert!(bytes > Some(20_000) && since > Some(1_700_000_000), "{bytes:?} since {since:?}");
    reader.finish().succeeds();
    assert_eq!(held(&shell), (Some(0), None));
}
