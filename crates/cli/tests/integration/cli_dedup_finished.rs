//! A deduplication that has finished and is started again loses nothing of its output.

use crate::cli_dedup_again::{WORDS, begin, result};
use crate::command::{Done, Shell, jsonl};
use crate::support::text;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Killed after its last commit, a run has done everything but tell so.
#[test]
fn a_finished_deduplication_that_is_started_again_empties_no_output() {
    for words in [WORDS, &WORDS.replace(" --removed gone", "")] {
        let words = words.replace(" -q", " --skip-known");
        let shell = begin(300);
        let first = shell.run(&words).succeeds();
        let expected = result(&shell);
        assert!(!expected.0.is_empty());
        let again = shell.run(&words).succeeds();
        assert!(again.stderr.starts_with("already finished: removed "), "{again:?}");
        assert!(again.stderr.ends_with("; out is unchanged, --restart starts over\n"), "{again:?}");
        assert!(result(&shell) == expected, "{words}");
        assert_eq!(shell.names().len(), 3 + usize::from(words.contains("gone")), "{words}");

        // The counts are those of the run that did the work.
        let counts = |done: &Done| {
            let summary = done.summary();
            ["added", "replaced", "unchanged", "duplicates", "empty", "failed", "bytes"]
                .map(|field| summary[field].clone())
        };
        let told = shell.run(&format!("{words} --json")).succeeds();
        assert_eq!(told.summary()["already_finished"], true);
        let fresh = begin(300).run(&format!("{words} --json")).succeeds();
        assert_eq!(fresh.summary()["already_finished"], false);
        assert_eq!(counts(&told), counts(&fresh));

        // Killed before it deleted its copy of the audit, the run prints it once more.
        if !words.contains("gone") {
            shell.write("out.removed.part", &fresh.stdout);
            assert_eq!(shell.run(&words).succeeds().stdout, first.stdout);
            assert!(result(&shell) == expected && !shell.path("out.removed.part").exists());
        }
    }
}

#[test]
fn fields_besides_the_text_that_have_changed_are_written() {
    for more in ["", " --keep longest"] {
        let shell = Shell::new();
        let record = |label: u64, n: u64| {
            let text = text(n / 2, n % 2, 40);
            serde_json::json!({"id": n.to_string(), "label": label, "text": text}).to_string()
        };
        let input = |label| (0..20).map(|n| record(label, n) + "\n").collect::<String>();
        let words = format!("dedup i.twx in.jsonl --json -o out --removed gone{more}");
        let finished = || shell.run(&words).succeeds().summary()["already_finished"].clone();
        shell.write("in.jsonl", input(1));
        assert_eq!(finished(), false);
        let first = String::from_utf8(shell.read("out")).expect("UTF-8");
        assert_eq!(finished(), true);
        // Ids, texts and lengths are the same.
        shell.write("in.jsonl", input(2));
        assert_eq!(finished(), false, "{more}");
        let second = String::from_utf8(shell.read("out")).expect("UTF-8");
        assert_eq!(second, first.replace("\"label\":1", "\"label\":2"));
        assert_ne!(second, first);
        assert_eq!(finished(), true, "{more}");
    }
}

/// Changes after which a run is judged anew, although its input is the same.
type Change = fn(&Shell);
const CHANGES: [(&str, Change); 2] = [
    ("an output with more", |shell| {
        let out = shell.read("out");
        shell.write("out", [&out[..], b"\n"].concat());
    }),
    ("a document removed", |shell| {
        let id = &shell.ids()[0];
        shell.run(&format!("remove i.twx -q {id}")).succeeds();
    }),
];

#[test]
fn a_finished_deduplication_is_run_anew_when_anything_has_changed() {
    let words = "dedup i.twx in.jsonl --json -o out --removed gone --skip-known";
    // The folder is part of the command, so each change needs one that has finished in its own.
    let run_once = |words: &str| {
        let shell = begin(60);
        shell.run(words).succeeds();
        assert_eq!(shell.run(words).succeeds().summary()["already_finished"], true);
        shell
    };
    let finished = run_once(words);
    let expected = result(&finished);
    let runs_anew = |shell: &Shell, words: &str, what: &str| {
        let done = shell.run(words).succeeds();
        assert_eq!(done.summary()["already_finished"], false, "{what}");
        assert_eq!(done.summary()["interrupted"], false, "{what}");
    };
    let input = String::from_utf8(finished.read("in.jsonl")).expect("UTF-8");
    let changed = |what: &str, change: &dyn Fn(&Shell)| {
        let shell = run_once(words);
        change(&shell);
        runs_anew(&shell, words, what);
        // That run has finished now.
        assert_eq!(shell.run(words).succeeds().summary()["already_finished"], true, "{what}");
    };
    changed("one record more", &|shell| {
        shell.write("in.jsonl", input.clone() + &jsonl(&[("n", "new")]));
    });
    changed("a letter changed", &|shell| shell.write("in.jsonl", input.replacen('a', "e", 1)));
    changed("no output", &|shell| std::fs::remove_file(shell.path("out")).expect("removed"));
    let plain = words.replace(" --skip-known", "");
    for (what, change) in CHANGES {
        let shell = run_once(&plain);
        change(&shell);
        runs_anew(&shell, &plain, what);
        // Only without what is known would the output lose something.
        let shell = run_once(words);
        change(&shell);
        let out = shell.read("out");
        for _ in 0..2 {
            shell.run(words).fails_with("add --restart to replace this one");
            assert!(shell.read("out") == out, "{what}");
        }
        assert_eq!(shell.names().len(), finished.names().len(), "{what}: {:?}", shell.names());
        runs_anew(&shell, &format!("{words} --restart"), what);
        assert!(shell.read("out").len() < expected.0.len(), "{what}");
    }
    runs_anew(&run_once(words), &format!("{words} --restart"), "--restart");
    // Of repeated ids, the index has only the last texts, so another command keeps less.
    let shell = run_once(words);
    shell.run(&plain).fails_with("this run would write fewer");
    assert!(shell.read("out") == expected.0);
    runs_anew(&shell, &format!("{plain} --restart"), "another command");
    // A document that is added, by another run too, changes nothing.
    finished.pipe("add i.twx -q -", jsonl(&[("another", "another text")])).succeeds();
    finished.pipe("dedup i.twx -q - -o other", jsonl(&[("third", "a third text")])).succeeds();
    assert_eq!(finished.run(words).succeeds().summary()["already_finished"], true);
    assert!((finished.read("out"), finished.read("gone")) == (expected.0, expected.1));
}

#[test]
fn another_index_that_has_changed_and_standard_input_are_judged_anew() {
    let shell = begin(60);
    shell.pipe("add other.twx -q -", jsonl(&[("other", "another text")])).succeeds();
    let words = "dedup i.twx in.jsonl --json -o out --removed gone --against other.twx";
    let told = |words: &str| shell.run(words).succeeds().summary()["already_finished"].clone();
    assert_eq!((told(words), told(words)), (false.into(), true.into()));
    shell.pipe("add same.twx -q -", jsonl(&[("other", "another word")])).succeeds();
    assert_eq!(shell.read("same.twx").len(), shell.read("other.twx").len());
    std::fs::copy(shell.path("same.twx"), shell.path("other.twx")).expect("copied");
    assert_eq!((told(words), told(words)), (false.into(), true.into()));
    shell.pipe("add other.twx -q -", shell.read("in.jsonl")).succeeds();
    assert_eq!(told(words), false);

    let words = "dedup i.twx --json -o new --skip-known -";
    let stream = || jsonl(&[("new", "a new text")]);
    assert_eq!(shell.pipe(words, stream()).succeeds().summary()["already_finished"], false);
    let new = shell.read("new");
    assert!(!new.is_empty());
    shell.pipe(words, stream()).fails_with("new: an earlier run has written 1 record to it");
    assert!(shell.read("new") == new);
    let other = jsonl(&[("newer", "another new text")]);
    assert_eq!(shell.pipe(words, other).succeeds().counted("added"), 1);
    std::fs::remove_file(shell.path("new")).expect("removed");
    assert_eq!(shell.pipe(words, stream()).succeeds().counted("unchanged"), 1);
    assert!(shell.read("new").is_empty());
}

#[test]
fn a_finished_deduplication_with_touch_renews_the_times_and_keeps_its_output() {
    let words = "dedup i.twx in.jsonl --json -o out --removed gone --skip-known --touch";
    let young = begin(60);
    young.run(words).succeeds();
    let expected = result(&young);
    let inserted = |shell: &Shell| {
        let get = shell.run(&format!("get i.twx --json {}", expected.2[0])).succeeds();
        get.json()[0]["inserted"].clone()
    };
    let before = inserted(&young);
    sleep(Duration::from_millis(1_100));
    let done = young.run(words).succeeds();
    assert_eq!(done.summary()["already_finished"], true);
    assert!((young.read("out"), young.read("gone")) == (expected.0, expected.1));
    assert_ne!(inserted(&young), before);
}

/// Files of records for a folder of outputs. Some are duplicates.
pub fn shards(shell: &Shell) {
    for shard in 0..6 {
        let records: String = (0..40)
            .map(|number| {
                let own = (0..12).map(|word| format!("w{} ", shard * 7 + number % 30 + word * 100));
                let text = own.collect::<String>();
                format!("{{\"id\":\"{shard}-{number}\",\"text\":\"{text}\",\"n\":{number}}}\n")
            })
            .collect();
        shell.write(&format!("in/{shard}.jsonl"), records);
    }
}

fn written(shell: &Shell) -> Vec<Vec<u8>> {
    (0..6).map(|shard| shell.read(&format!("out/{shard}.jsonl"))).collect()
}

#[test]
fn a_folder_and_an_order_of_preference_are_known_as_finished() {
    let orders = ["-o out/", "-o out/ --keep max:n", "-o out.jsonl --keep max:n"];
    for order in orders {
        let shell = Shell::new();
        shards(&shell);
        let words = format!("dedup i.twx in --json --removed gone --skip-known {order}");
        let result = || {
            if order.contains("jsonl") { vec![shell.read("out.jsonl")] } else { written(&shell) }
        };
        let first = shell.run(&words).succeeds();
        let whole = result();
        assert!(whole.concat().len() > 1_000 && first.counted("duplicates") > 50, "{first:?}");
        let again = shell.run(&words).succeeds();
        assert_eq!(again.summary()["already_finished"], true, "{order}");
        assert_eq!(again.counted("added"), first.counted("added"), "{order}");
        assert!(result() == whole, "{order}");

        // A shard that was changed shows, also if it has the same length.
        let shard = if order.contains("jsonl") { "out.jsonl" } else { "out/3.jsonl" };
        let changed = String::from_utf8(shell.read(shard)).expect("UTF-8").replacen('w', "v", 1);
        shell.write(shard, &changed);
        shell.run(&words).fails_with("add --restart to replace this one");
        assert_eq!(shell.read(shard), changed.as_bytes(), "{order}");
        let plain = words.replace(" --skip-known", "");
        assert_eq!(shell.run(&plain).succeeds().summary()["already_finished"], false);
        assert!(result() == whole, "{order}: what is known is written again");
        shell.run(&format!("{words} --restart")).succeeds();
        assert!(result().concat().is_empty(), "{order}");
    }
}

#[test]
fn a_refused_run_changes_nothing_whenever_it_is_killed() {
    for out in ["out/", "out.jsonl"] {
        let shell = Shell::new();
        shards(&shell);
        let words = format!("dedup i.twx in -q --batch 20 --skip-known --removed gone -o {out}");
        shell.run(&words).succeeds();
        let result = || match out {
            "out/" => written(&shell),
            file => vec![shell.read(file)],
        };
        let whole = result();
        let removed = shell.ids()[0].clone();
        shell.run(&format!("remove i.twx -q {removed}")).succeeds();
        let (ids, names) = (shell.ids(), shell.names().len());
        let clock = Instant::now();
        shell.run(&words).fails_with("add --restart to replace this one");
        let length = clock.elapsed();
        for round in 0..8 {
            let running = shell.start(&words);
            sleep(length.mul_f64((f64::from(round) + 0.5) / 8.0));
            running.kill();
            assert!(result() == whole, "{out}, round {round}");
        }
        shell.run(&words).fails_with("add --restart to replace this one");
        assert!(result() == whole && shell.ids() == ids, "{out}: what was removed stays so");
        assert_eq!(shell.names().len(), names, "{:?}", shell.names());
        // Its output was moved away, so nothing is lost.
        let kept = if out == "out/" { "out" } else { out };
        std::fs::rename(shell.path(kept), shell.path("safe")).expect("moved");
        shell.run(&words).succeeds();
        assert_eq!(result().concat().iter().filter(|byte| **byte == b'\n').count(), 1, "{out}");
    }
}

/// A library that kills the process that is about to give a file its name.
#[cfg(target_os = "linux")]
pub const KILLS_AT_RENAME: &str = "#include <signal.h>
#include <unistd.h>
int rename(const char *from, const char *to) {
    (void)from, (void)to;
    kill(getpid(), SIGKILL);
    for (;;) pause();
}
";

#[cfg(target_os = "linux")]
#[test]
fn a_run_killed_after_its_last_record_loses_nothing_to_another_command() {
    for out in ["out/", "out/ --keep max:n", "out.jsonl", "out.jsonl --keep max:n"] {
        let words = format!("dedup i.twx in -q -o {out}");
        let result = |shell: &Shell| match out.split_once('/') {
            Some(_) => written(shell),
            None => vec![shell.read("out.jsonl")],
        };
        let unbroken = Shell::new();
        shards(&unbroken);
        let audit = unbroken.run(&words).succeeds().stdout;
        let shell = Shell::new();
        shards(&shell);
        shell.write("kills.c", KILLS_AT_RENAME);
        shell.sh("cc -shared -fPIC -o kills.so kills.c").succeeds();
        let killed = format!("LD_PRELOAD=./kills.so $TWINDEX {words} >printed; echo $?");
        assert_eq!(shell.sh(&killed).stdout, "137\n", "{out}");
        let files = || shell.sh("find . -type f ! -name i.twx | sort | xargs md5sum").stdout;
        let left = files();
        let others = [
            words.replace(" --keep max:n", "") + " --threshold 0.9",
            words.replace(" --keep max:n", "") + " --keep min:n",
            words.clone() + " --removed gone",
        ];
        for other in others {
            let refused = "belongs to an interrupted run of another command";
            shell.run(&other).fails_with(refused);
            assert_eq!(files(), left, "{out}: {other}");
        }
        assert_eq!(shell.run(&words).succeeds().stdout, audit, "{out}");
        assert!(result(&shell) == result(&unbroken), "{out}");
        shell.assert_clean();
    }
}

#[test]
fn no_other_command_replaces_an_output_by_less() {
    let shell = Shell::new();
    shards(&shell);
    shell.run("dedup i.twx in -q -o out.jsonl --removed gone").succeeds();
    let whole = shell.read("out.jsonl");
    for words in [
        "dedup i.twx in -q -o out.jsonl --removed gone --skip-known",
        "dedup i.twx ./in -q -o ./out.jsonl --skip-known",
        "dedup i.twx in -q -o out.jsonl --skip-known --touch --threshold 0.9",
    ] {
        shell.run(words).fails_with("an earlier run has written");
        assert!(shell.read("out.jsonl") == whole, "{words}");
    }
    // A run that fails, although it was allowed to replace the output, changes nothing of that.
    shell.write("more.csv", "id,text\nx,a text of some words\n");
    let fails = "dedup i.twx in more.csv -q -o out.jsonl --removed gone --skip-known --restart";
    assert_eq!(shell.run(fails).status, 2);
    shell.write("in/empty.jsonl", "");
    let words = "dedup i.twx in -q -o out.jsonl --removed gone --skip-known";
    shell.run(words).fails_with("an earlier run has written");
    assert!(shell.read("out.jsonl") == whole);
    // Other records are another matter, and so is another output.
    let words = "dedup i.twx more.jsonl -q -o out.jsonl --skip-known";
    shell.write("more.jsonl", jsonl(&[("new", "a text of its own, and like no other")]));
    shell.run("dedup i.twx in -q -o other.jsonl --skip-known").succeeds();
    assert!(shell.read("other.jsonl").is_empty());
    shell.run(words).succeeds();
    assert!(shell.read("out.jsonl").starts_with(b"{\"id\":\"new\""));
}

#[test]
fn a_restart_that_is_killed_goes_on_with_the_permission_it_had() {
    let shell = begin(1_500);
    let words = format!("{WORDS} --skip-known");
    shell.run(&words).succeeds();
    let whole = shell.read("out");
    let id = shell.ids()[0].clone();
    shell.run(&format!("remove i.twx -q {id}")).succeeds();
    let clock = Instant::now();
    shell.run(&words).fails_with("add --restart to replace this one");
    let length = clock.elapsed();
    for round in 1..40 {
        let running = shell.start(&format!("{words} --restart"));
        sleep(length.mul_f64(f64::from(round) / 20.0));
        let was_running = running.kill_on_the_way();
        assert!(was_running, "round {round}");
        if shell.path("out.part").exists() {
            break;
        }
    }
    assert!(shell.path("out.part").exists() && shell.read("out") == whole);
    shell.run(&words).succeeds();
    assert!(shell.read("out").len() < whole.len());
}

#[test]
fn other_files_of_a_directory_are_another_input() {
    let shell = Shell::new();
    shards(&shell);
    let words = "dedup i.twx in --json --removed gone -o out/";
    let told = || shell.run(words).succeeds().summary()["already_finished"].clone();
    assert_eq!((told(), told()), (false.into(), true.into()));
    shell.write("in/7.jsonl", "");
    assert_eq!((told(), told()), (false.into(), true.into()));
    assert!(shell.path("out/7.jsonl").exists());
    // The same ids and texts, with a field more.
    let more =
        String::from_utf8(shell.read("in/2.jsonl")).expect("UTF-8").replace("{", "{\"l\":1,");
    shell.write("in/2.jsonl", more);
    assert_eq!((told(), told()), (false.into(), true.into()));
    assert!(shell.read("out/2.jsonl").starts_with(b"{\"l\":1,"));
}
