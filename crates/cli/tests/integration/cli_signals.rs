//! What is left when a command is interrupted or killed.

use crate::command::{Shell, jsonl, lines};
use crate::phases::{self, Phase};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The number before `documents of this run are in`.
fn said(stderr: &str) -> usize {
    let words: Vec<&str> = stderr.split_whitespace().collect();
    let after = ["documents", "of", "this", "run", "are", "in"];
    let at = words.windows(7).position(|seven| seven[1..] == after);
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

#[cfg(target_os = "linux")]
#[test]
fn signals_that_were_ignored_at_the_start_stay_ignored() {
    let shell = Shell::new();
    // `nohup` ignores hangups, and a shell Ctrl-C for what it runs in the background.
    let script = r#"trap "" HUP INT
mkfifo lines
$TWINDEX add i.twx -q --id-prefix p - <lines &
exec 3>lines
echo "one text" >&3
for signal in HUP INT; do sleep .2; kill -$signal $!; done
echo "another one" >&3
exec 3>&-
wait $!"#;
    assert_eq!(shell.sh(script).status, 0);
    assert_eq!(shell.ids(), ["p:1", "p:2"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_second_signal_ends_the_command_at_once() {
    let shell = Shell::new();
    let record = |n: u64| format!("{{\"id\":\"{n:0>200}\",\"text\":\"one text of {n}\"}}\n");
    shell.pipe("add i.twx -q -", (0..1000).map(record).collect::<String>()).succeeds();
    let running = shell.start("list i.twx");
    // It waits for somebody to read what it prints, so it cannot act on the first signal.
    running.wait_until_it_handles_signals();
    running.wait_until_it_waits();
    running.signal("INT");
    running.wait_until_signals_are_handled();
    running.wait_until_it_waits();
    running.signal("INT");
    let done = running.end_unread();
    assert_eq!((done.status, done.stderr.as_str()), (2, ""));
}

#[cfg(target_os = "linux")]
#[test]
fn a_removal_that_waits_for_ids_notices_a_signal() {
    for (words, id) in [("", "a\n"), (" -0", "a\0")] {
        let shell = Shell::with(&[("a", "one text"), ("b", "and another one")]);
        for sent in ["", id] {
            let mut running = shell.start(&format!("remove i.twx --ids-from -{words}"));
            running.wait_until_it_handles_signals();
            running.send(sent);
            running.signal("INT");
            let done = running.end();
            assert_eq!(done.status, 2, "{done:?}");
            assert!(done.stderr.contains("i.twx: interrupted"), "{done:?}");
            assert!(shell.ids().contains(&"b".to_owned()));
        }
    }
}

#[test]
fn an_interrupted_query_ends_with_an_error() {
    let shell = Shell::with(&[("a", "one and the same text")]);
    let mut running = shell.start("query i.twx -q -");
    running.send("one and the same text\n");
    // It has its handler by the time it answers.
    assert!(running.read_a_line().contains("\ta\t"));
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
    let kept = again.counted("unchanged");
    // The next writer may find a commit that was being written, which readers do not look for.
    assert!(kept == inside as u64 || kept == inside as u64 + 10, "{kept} of {inside} were kept");
    assert_eq!(again.counted("added"), 100 - kept);
    shell.assert_clean();
}

/// Interrupts a command at times spread over its length. It ends well or says that it was
/// interrupted, the index is at a commit, and the command can be run again.
fn interrupt_again_and_again(phase: &Phase) {
    let unbroken = phase.start.copy();
    let start = Instant::now();
    unbroken.run(&phase.words).succeeds();
    let length = start.elapsed();
    let expected = unbroken.answers();
    let mut interrupted = 0;
    // On a busy machine a command may take much longer, or less, than it took once: where none of
    // the first was in time, there are more. Their times spread by the golden ratio.
    for round in 0..100 {
        let delay = length.mul_f64((0.1 + 0.618_034 * f64::from(round)).fract());
        let shell = phase.start.copy();
        let running = shell.start(&phase.words);
        sleep(delay);
        running.signal(if round % 2 == 0 { "INT" } else { "TERM" });
        let what = format!("{}, a signal after {delay:?}", phase.name);
        if let Some(done) = running.end_or_signal() {
            let said = done.stderr.lines().last().unwrap_or_default();
            let said = said.starts_with("twindex: ") && said.contains("interrupted");
            assert!(done.status == 0 || done.status == 2 && said, "{what}: {done:?}");
            interrupted += u32::from(done.status == 2);
            assert!(!shell.names().iter().any(|name| name.starts_with('.')), "{what}");
        }
        let mut at = 0;
        phase.move_on(&shell, &mut at, &what);
        phase.ends_as_if_unbroken(&shell, at, &expected, &what);
        if round + 1 >= 5 && interrupted > 0 {
            return;
        }
    }
    panic!("{}: it was never interrupted on the way", phase.name);
}

#[test]
fn an_interrupted_removal_says_so_and_removes_the_rest_when_it_is_run_again() {
    let phase = phases::removal(600);
    let (before, last) = (phase.start.ids(), phase.commits.last().expect("one").clone());
    let clock = Instant::now();
    phase.start.copy().run(&phase.words).succeeds();
    let length = clock.elapsed();
    let mut interrupted = 0;
    for round in 0..100 {
        let shell = phase.start.copy();
        let running = shell.start(&phase.words);
        sleep(length.mul_f64((0.1 + 0.618_034 * f64::from(round)).fract()));
        running.signal(if round % 2 == 0 { "INT" } else { "TERM" });
        if let Some(done) = running.end_or_signal() {
            let said = done.stderr.contains("interrupted; what was removed is committed");
            assert!(done.status == 0 || done.status == 2 && said, "{done:?}");
            interrupted += u32::from(done.status == 2);
        }
        let left = shell.ids();
        assert!(left.iter().all(|id| before.contains(id)), "round {round}");
        shell.run(&phase.words).succeeds();
        assert_eq!(phases::listing(&shell), last, "round {round}");
        shell.assert_clean();
        if round + 1 >= 5 && interrupted > 0 {
            return;
        }
    }
    panic!("it was never interrupted on the way");
}

#[test]
fn an_interrupted_rebuild_is_done_by_the_next_one() {
    let shell = Shell::new();
    shell.pipe("add i.twx -q --store-text --id-prefix p -", lines(1_500)).succeeds();
    let threshold = |shell: &Shell| {
        let info = shell.run("info i.twx --json").succeeds().stdout;
        serde_json::from_str::<serde_json::Value>(&info).expect("JSON")["threshold"].as_f64()
    };
    let start = Instant::now();
    shell.copy().run("rebuild i.twx --threshold 0.7").succeeds();
    let length = start.elapsed();
    let mut interrupted = 0;
    for round in 0..100 {
        let delay = length.mul_f64((0.1 + 0.618_034 * f64::from(round)).fract());
        let shell = shell.copy();
        let running = shell.start("rebuild i.twx --threshold 0.7");
        sleep(delay);
        running.signal(if round % 2 == 0 { "INT" } else { "TERM" });
        if let Some(done) = running.end_or_signal() {
            assert!(done.status == 0 || done.stderr.contains("interrupted"), "{done:?}");
            let expected = if done.status == 0 { 0.7 } else { 0.8 };
            assert_eq!(threshold(&shell), Some(expected), "{done:?}");
            interrupted += u32::from(done.status == 2);
        }
        assert_eq!(shell.names(), ["i.twx"]);
        shell.assert_clean();
        shell.run("rebuild i.twx --threshold 0.7").succeeds();
        assert_eq!((threshold(&shell), shell.ids().len()), (Some(0.7), 1_500));
        if round + 1 >= 5 && interrupted > 0 {
            return;
        }
    }
    panic!("it was never interrupted on the way");
}

#[test]
fn an_interrupted_compaction_changes_no_answer() {
    interrupt_again_and_again(&phases::compaction(1_500));
}

#[test]
fn an_interrupted_backup_leaves_no_copy() {
    interrupt_again_and_again(&phases::backup(1_500));
}

#[test]
fn an_interrupted_merge_says_what_is_in_and_can_be_run_again() {
    interrupt_again_and_again(&phases::merging(1_500));
}

#[test]
fn an_interrupted_attachment_says_what_is_in_and_can_be_run_again() {
    interrupt_again_and_again(&phases::attaching(1_500));
}

#[test]
fn an_interrupted_import_says_what_is_in_and_can_be_run_again() {
    // So few are read in one block. Between two blocks, an interrupted command commits what it has.
    interrupt_again_and_again(&phases::importing(300));
}

#[test]
fn an_interrupted_removal_by_age_can_be_run_again() {
    interrupt_again_and_again(&phases::expiry(1_500));
}

#[test]
fn an_interrupted_repair_leaves_the_file_as_it_was() {
    interrupt_again_and_again(&phases::repair(1_500));
}

#[test]
fn an_interrupted_creation_leaves_nothing_or_an_empty_index() {
    for micros in (0..20_000).step_by(1_000) {
        let shell = Shell::new();
        let running = shell.start("create i.twx");
        sleep(Duration::from_micros(micros));
        running.signal("INT");
        if let Some(done) = running.end_or_signal() {
            let said = done.stderr.contains("interrupted");
            assert!(done.status == 0 || done.status == 2 && said, "{done:?}");
            assert!(shell.path("i.twx").exists());
            assert_eq!(shell.names(), ["i.twx"]);
        }
        if shell.path("i.twx").exists() {
            assert_eq!(shell.ids(), [""; 0]);
        }
    }
}

#[test]
fn interrupted_clusters_end_with_an_error() {
    let shell = Shell::new();
    // More than a pipe and a buffer hold.
    let ids = |n: u64| format!("{n:0200}");
    let documents: Vec<(String, String)> =
        (0..4_000).map(|n| (ids(n), format!("{} {}", n / 2, n / 2 * 7_919))).collect();
    let documents: Vec<(&str, &str)> =
        documents.iter().map(|(id, text)| (&**id, &**text)).collect();
    shell.pipe("add i.twx -q -", jsonl(&documents)).succeeds();
    let mut running = shell.start("clusters i.twx -q --threshold 1");
    running.read_a_line();
    running.signal("INT");
    // Until it has been told.
    sleep(Duration::from_millis(300));
    let done = running.end();
    assert_eq!(done.status, 2, "{done:?}");
    assert!(done.stderr.starts_with("twindex: interrupted"), "{}", done.stderr);
}

#[cfg(target_os = "linux")]
#[test]
fn an_audit_that_nobody_reads_ends_a_run_without_a_file_to_hold_it() {
    let shell = Shell::new();
    let record = |n: u64| format!("{{\"id\":\"{n:0>200}\",\"text\":\"the same text again\"}}\n");
    shell.write("in.jsonl", (0..3_000).map(record).collect::<String>());
    let ended = |words: &str| {
        let mut running = shell.start(&format!("dedup i.twx in.jsonl {words}"));
        running.read_a_line_and_close();
        running.end()
    };
    let done = ended("-q -o /dev/null");
    assert_eq!(done.status, 2, "{done:?}");
    assert!(done.stderr.contains("the reader of the output has left"), "{done:?}");
    let dry = ended("-q --dry-run");
    assert_eq!((dry.status, dry.stderr.as_str()), (0, ""));
}
