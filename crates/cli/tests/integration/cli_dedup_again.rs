//! A deduplication that is stopped or killed and started again ends as an unbroken one.

use crate::command::{Running, Shell, jsonl, number_from, report};
use crate::support::{Random, text};
use std::hash::{BuildHasher, RandomState};
use std::thread::sleep;
use std::time::{Duration, Instant};

pub const WORDS: &str = "dedup i.twx in.jsonl -q --batch 40 -o out --removed gone";

/// An index, and an input that has some of its documents, some of them with other texts, and many
/// near duplicates of both.
pub fn begin(count: u64) -> Shell {
    begin_with(count, "")
}

/// The same with settings of the index.
fn begin_with(count: u64, settings: &str) -> Shell {
    let shell = Shell::new();
    let mut random = Random(11);
    let mut record = |ids: u64| {
        let id = format!("r{}", random.below(ids));
        (id, text(random.below(count / 3), random.below(8), 40))
    };
    let lines = |records: Vec<(String, String)>| {
        let records: Vec<_> =
            records.iter().map(|(id, text)| (id.as_str(), text.as_str())).collect();
        jsonl(&records)
    };
    let before = lines((0..count / 5).map(|_| record(count)).collect());
    shell.pipe(format!("add i.twx -q {settings}").trim_end(), before).succeeds();
    shell.write("in.jsonl", lines((0..count).map(|_| record(count)).collect()));
    shell
}

/// This many lines of text, of which each `copies` are equal.
fn copied(count: u64, copies: u64) -> String {
    (0..count).map(|n| text(n / copies, 0, 40) + "\n").collect()
}

/// What is left of a run.
pub fn result(shell: &Shell) -> (Vec<u8>, Vec<u8>, Vec<String>) {
    shell.assert_clean();
    let gone = if shell.path("gone").exists() { shell.read("gone") } else { Vec::new() };
    (shell.read("out"), gone, shell.ids())
}

/// Kills a run at any time, and starts it again until it ends; returns how many were killed and how
/// many of these went on.
fn kill_again_and_again(words: &str, rounds: u64, count: u64, random: &mut Random) -> (u32, u32) {
    let passages = if words.contains("spans") { "--store-text --passages 60" } else { "" };
    let start = begin_with(count, passages);
    let unbroken = start.copy();
    let clock = Instant::now();
    let printed = unbroken.run(words).succeeds().stdout;
    let length = clock.elapsed().as_nanos() as u64;
    let expected = result(&unbroken);
    let (mut killed, mut resumed) = (0, 0);
    let mut shell = start.copy();
    for round in 0..rounds {
        let delay = Duration::from_nanos(random.below(length));
        let running: Running = shell.start(words);
        sleep(delay);
        let was_running = running.kill_on_the_way();
        killed += u32::from(was_running);
        let what = format!("{words}, round {round}, after {delay:?}");
        resumed += u32::from(shell.path("out.part").exists());
        let ended = shell.path("out").exists();
        if !ended && random.below(3) > 0 {
            continue;
        }
        let done = shell.run(words).succeeds();
        // A run that had printed the whole audit need not print it again.
        let printed_before = ended && done.stdout.is_empty();
        assert!(done.stdout == printed || printed_before, "{what}: {done:?}");
        assert!(result(&shell) == expected, "{what}");
        shell = start.copy();
    }
    (killed, resumed)
}

#[test]
fn a_deduplication_killed_again_and_again_ends_with_the_same_output_and_audit() {
    let long = number_from("TWINDEX_KILL_ROUNDS");
    let (rounds, count) = (long.unwrap_or(5), if long.is_some() { 20_000 } else { 1_500 });
    let seed = number_from("TWINDEX_KILL_SEED")
        .unwrap_or_else(|| RandomState::new().hash_one("dedup") >> 32);
    report(&format!("dedup, TWINDEX_KILL_SEED={seed}"));
    let mut random = Random(seed);
    let printed = WORDS.replace(" --removed gone", "");
    let lines = printed.replace("-q", "-q --format lines --skip-known");
    let spans = format!("{WORDS} --remove spans --replace-most");
    for words in [WORDS, &format!("{WORDS} --skip-known"), &printed, &lines, &spans] {
        let (killed, resumed) = kill_again_and_again(words, rounds, count, &mut random);
        report(&format!(
            "{words}: {killed} of {rounds} killed, {resumed} with something to go on from"
        ));
    }
}

#[test]
fn an_interrupted_deduplication_says_so_and_goes_on() {
    let input = |count: u64| (0..count).map(|n| text(n / 2, n % 2, 40) + "\n").collect::<String>();
    for signal in ["INT", "TERM"] {
        let unbroken = Shell::new();
        let words = "dedup i.twx -v --batch 50 --id-prefix p -o out --removed gone";
        unbroken.pipe(words, input(300)).succeeds();

        let shell = Shell::new();
        let mut running = shell.start(words);
        running.send(&input(130));
        running.wait_for("committed 100 records");
        running.signal(signal);
        let done = running.end();
        assert_eq!(done.status, 2, "{done:?}");
        assert!(done.stderr.contains("run the same command again to go on"), "{done:?}");
        assert!(!shell.path("out").exists() && shell.path("out.part").exists());
        shell.assert_clean();
        shell.pipe(words, input(300)).succeeds();
        assert!(result(&shell) == result(&unbroken));
        assert_eq!(shell.names().len(), 3, "{:?}", shell.names());
    }
}

/// A run that was interrupted after so many records of its input.
fn interrupted(words: &str, records: &str) -> Shell {
    let shell = Shell::new();
    interrupt(&shell, words, records);
    shell
}

/// Runs a command, and interrupts it after so many records of its input.
fn interrupt(shell: &Shell, words: &str, records: &str) {
    let mut running = shell.start(words);
    running.send(records);
    running.wait_for("committed");
    running.signal("INT");
    assert_eq!(running.end().status, 2);
}

#[test]
fn the_audit_on_standard_output_is_whole_too() {
    let words = "dedup i.twx -v --batch 4 --id-prefix p --format lines -o out -";
    let input: String = (0..12).map(|n| text(n / 2, n % 2, 40) + "\n").collect();
    let unbroken = Shell::new().pipe(words, input.as_str()).succeeds();
    let first: String = input.split_inclusive('\n').take(5).collect();
    let shell = interrupted(words, &first);
    let again = shell.pipe(words, input.as_str()).succeeds();
    assert_eq!(again.stdout, unbroken.stdout);
    assert_eq!(shell.names().len(), 2, "{:?}", shell.names());
}

#[test]
fn a_header_is_written_once() {
    let words = "dedup i.twx -v --batch 4 --format csv -o out -";
    let row = |n: u64| format!("{n},{}\n", text(n / 2, n % 2, 40));
    let input: String = "id,text\n".to_owned() + &(0..12).map(row).collect::<String>();
    let unbroken = Shell::new();
    unbroken.pipe(words, input.as_str()).succeeds();
    let first: String = input.split_inclusive('\n').take(6).collect();
    let shell = interrupted(words, &first);
    shell.pipe(words, input.as_str()).succeeds();
    assert_eq!(shell.read("out"), unbroken.read("out"));
}

#[test]
fn another_input_is_not_taken_for_the_rest() {
    let words = "dedup i.twx -v --batch 4 --id-prefix p --format lines -o out -";
    let input: String = (0..8).map(|n| text(n, 0, 40) + "\n").collect();
    let unbroken = Shell::new();
    unbroken.pipe(words, input.as_str()).succeeds();
    let shell = interrupted(words, &input);
    for other in ["", "other text\n"] {
        let done = shell.pipe(&words.replace(" -v", ""), other);
        done.fails_with("run with the same input to go on, or with --restart");
    }
    // Another run, and another index, leave it alone.
    shell.pipe("dedup i.twx -q --format lines -o elsewhere -", "other text\n").succeeds();
    shell.pipe(words, input.as_str()).succeeds();
    assert_eq!(shell.read("out"), unbroken.read("out"));

    // What another run has written to the same output is not taken for its beginning.
    let shell = interrupted(words, &input);
    let other = interrupted(words, &input.replace('a', "e"));
    shell.write("out.part", other.read("out.part"));
    shell.pipe(words, input.as_str()).fails_with("is not as the interrupted run has left it");
    let anew = shell.pipe(&format!("{words} --restart"), input.as_str()).succeeds();
    assert!(anew.stderr.contains("known"), "{anew:?}");
    assert_eq!(shell.read("out"), unbroken.read("out"));
    shell.pipe(words, "yet another text\n").succeeds();
    assert_eq!(shell.read("out"), b"yet another text\n");
}

#[test]
fn another_command_does_not_replace_what_an_interrupted_one_has_kept() {
    let words = "dedup i.twx -v --batch 4 --id-prefix p --format lines -o out -";
    let input: String = (0..8).map(|n| text(n, 0, 40) + "\n").collect();
    let shell = interrupted(words, &input);
    let kept = shell.read("out.part");
    assert!(!kept.is_empty());
    shell.write("other.jsonl", jsonl(&[("new", "a text that is like no other of them")]));
    for options in ["", " --threshold 0.9", " --keep longest", " --skip-known"] {
        let done = shell.run(&format!("dedup i.twx other.jsonl -q -o out{options}"));
        assert_eq!(done.status, 2, "{options}: {done:?}");
        assert!(done.stderr.contains("out.part: belongs to an interrupted run"), "{done:?}");
        assert!(shell.read("out.part") == kept, "{options}");
    }
    // Nor does a run with another index, which cannot know what it is.
    let done = shell.run("dedup new.twx other.jsonl -q -o out");
    done.fails_with("out.part: was left by a run with another index");
    assert!(shell.read("out.part") == kept && !shell.path("new.twx").exists());
    shell.run("dedup i.twx other.jsonl -q -o elsewhere").succeeds();
    let anew = shell.copy();
    anew.run("dedup i.twx other.jsonl -q -o out --restart --skip-known")
        .fails_with("so --skip-known would leave it out");
    anew.run("dedup new.twx other.jsonl -q -o out --restart").succeeds();
    let anew = shell.copy();
    anew.run("dedup i.twx other.jsonl -q -o out --restart").succeeds();
    assert_eq!(anew.read("out"), anew.read("other.jsonl"));
    shell.pipe(words, input.as_str()).succeeds();
    assert_eq!(shell.read("out"), input.as_bytes());
}

#[test]
fn another_run_does_not_replace_the_audit_of_an_interrupted_one() {
    let words = "dedup i.twx -v --batch 4 --format lines --id-prefix p -o out --removed audit -";
    let input: String = (0..8).map(|n| text(n / 2, 0, 40) + "\n").collect();
    let shell = interrupted(words, &input);
    let audit = shell.read("audit.part");
    assert!(!audit.is_empty());
    shell.write("other.jsonl", jsonl(&[("new", "a text that is like no other of them")]));
    for (index, cause) in [
        ("i.twx", "audit.part: belongs to an interrupted run"),
        ("j.twx", "audit.part: was left by a run with another index"),
    ] {
        let other = format!("dedup {index} other.jsonl -q -o elsewhere --removed audit");
        shell.run(&other).fails_with(cause);
        assert!(shell.read("audit.part") == audit && !shell.path("elsewhere").exists(), "{index}");
    }
    shell.write("audit.part", "");
    shell.pipe(words, input.as_str()).fails_with("audit.part: is not as the interrupted run");
    shell.write("audit.part", audit);
    shell.pipe(words, input.as_str()).succeeds();
    let unbroken = Shell::new();
    unbroken.pipe(words, input.as_str()).succeeds();
    assert_eq!(shell.read("out"), unbroken.read("out"));
    assert_eq!(shell.read("audit"), unbroken.read("audit"));
}

#[test]
fn a_run_that_is_killed_before_its_first_commit_is_run_again_as_it_is() {
    let words = "dedup i.twx --format lines --id-prefix p -o out --removed audit -";
    let input = copied(3_000, 2);
    let unbroken = Shell::new();
    unbroken.pipe(words, input.as_str()).succeeds();
    // It may have left bytes in its files, which no commit accounts for, or may have made none.
    for left in [Some("some bytes\n"), None] {
        let shell = Shell::new();
        let mut running = shell.start(words);
        running.send(&input);
        while !shell.path("audit.part").exists() {
            sleep(Duration::from_millis(5));
        }
        assert!(running.kill_on_the_way());
        match left {
            Some(bytes) => shell.write("out.part", bytes),
            None => std::fs::remove_file(shell.path("out.part")).expect("removed"),
        }
        shell.pipe(words, input.as_str()).succeeds();
        assert_eq!(shell.read("out"), unbroken.read("out"), "{left:?}");
    }
}

/// A run that has finished leaves the files of an interrupted one alone, though both have the same
/// names.
#[test]
fn a_finished_run_that_is_started_again_keeps_the_printed_audit_of_an_interrupted_one() {
    let finished = "dedup i.twx in.jsonl -q -o out";
    for (index, copies) in [("i.twx", 1), ("i.twx", 2), ("j.twx", 2)] {
        let words = format!("dedup {index} -v --batch 4 --id-prefix p --format lines -o out -");
        let input = copied(12, copies);
        let unbroken = Shell::new().pipe(&words, input.as_str()).succeeds().stdout;
        let shell = Shell::new();
        shell.write("in.jsonl", jsonl(&[("one", "a text that is like no other of them")]));
        shell.run(finished).succeeds();
        interrupt(&shell, &words, &input.split_inclusive('\n').take(5).collect::<String>());
        shell.run(finished).succeeds();
        let report = shell.run(&format!("{finished} --report r.html"));
        assert!(report.status == 2 && report.stderr.contains("r.html: not written"), "{report:?}");
        shell.run(&format!("{finished} --threshold 0.9")).fails_with("out.part: ");
        let again = shell.pipe(&words, input.as_str()).succeeds();
        assert_eq!(again.stdout, unbroken, "{index}, {copies}");
    }
}

/// An index that has an interrupted run, to another output, does not know that of another index.
#[test]
fn an_interrupted_run_does_not_let_another_one_replace_what_is_of_another_index() {
    let to = |index: &str, out: &str| {
        format!("dedup {index} -v --batch 4 --id-prefix p --format lines -o {out} -")
    };
    let input = copied(8, 1);
    let shell = interrupted(&to("j.twx", "out"), &input);
    interrupt(&shell, &to("i.twx", "elsewhere"), &input.replace('a', "e"));
    let kept = shell.read("out.part");
    shell.write("other.jsonl", jsonl(&[("new", "a text that is like no other of them")]));
    let words = "dedup i.twx other.jsonl -q -o out";
    shell.run(words).fails_with("out.part: was left by a run with another index");
    assert!(shell.read("out.part") == kept);
    shell.copy().run(&format!("{words} --restart")).succeeds();
    shell.pipe(&to("j.twx", "out"), input.as_str()).succeeds();
    assert_eq!(shell.read("out"), input.as_bytes());
}

#[test]
fn what_was_judged_is_completed_whatever_was_renamed() {
    let shell = begin(300);
    let words = "dedup i.twx in.jsonl -q --batch 40 -o out --removed gone --skip-known";
    let before = shell.copy();
    shell.run(words).succeeds();
    let expected = result(&shell);
    // A kill between the last records and the last commit, by hand: names are given one by one.
    for (out, gone) in [("out.part", "gone.part"), ("out.part", "gone"), ("out", "gone")] {
        let killed = before.copy();
        let script = format!(
            "strace -f -qq -o /dev/null -e trace=rename -e inject=rename:signal=KILL:when=1 \
             $TWINDEX {words}; ls out.part gone.part \
             && {{ test out.part = {out} || mv out.part out; }} \
             && {{ test gone.part = {gone} || mv gone.part gone; }}"
        );
        let done = killed.sh(&script);
        if done.status != 0 {
            return report("there is no `strace` here that may trace");
        }
        killed.run(words).succeeds();
        assert!(result(&killed) == expected, "{out} {gone}");
        assert_eq!(killed.names().len(), 4, "{:?}", killed.names());
    }
}

#[test]
fn a_run_that_was_interrupted_before_its_first_record_can_be_run_again() {
    let input =
        jsonl(&[("a", "one text of several words"), ("b", "another text, quite unlike it")]);
    for (out, removed) in [("out.jsonl.gz", "gone"), ("out.jsonl", "gone.jsonl.zst")] {
        let words = format!("dedup i.twx in.jsonl -o {out} --removed {removed}");
        // A signal seldom comes between the files and the first record, but any may.
        for _ in 0..20 {
            let shell = Shell::new();
            shell.write("in.jsonl", &input);
            let mut running = shell.start(&words);
            while running.is_running() && !shell.names().iter().any(|it| it.ends_with(".part")) {}
            if running.is_running() {
                running.signal("INT");
            }
            running.end();
            shell.run(&words).succeeds();
            assert_eq!(shell.ids(), ["a", "b"]);
        }
    }
}
