//! A deduplication replaces no output by less, whatever was moved or interrupted.

use crate::cli_dedup_again::{WORDS, begin};
#[cfg(target_os = "linux")]
use crate::cli_dedup_finished::{KILLS_AT_RENAME, shards};
use crate::command::Shell;
use crate::support::text;
#[cfg(target_os = "linux")]
use std::io::Write;
use std::thread::sleep;
use std::time::Instant;

/// Runs a command and kills it when it gives a file its name.
#[cfg(target_os = "linux")]
pub fn killed_at_rename(shell: &Shell, words: &str) {
    killed_by(shell, KILLS_AT_RENAME, words);
}

/// Runs a command and kills it when it has given a file its name, which is this one.
#[cfg(target_os = "linux")]
pub fn killed_after_rename(shell: &Shell, words: &str, name: &str) {
    let program = format!(
        "#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int rename(const char *from, const char *to) {{
    int done = renameat(AT_FDCWD, from, AT_FDCWD, to);
    if (strcmp(to, \"{name}\") == 0) kill(getpid(), SIGKILL);
    return done;
}}
"
    );
    killed_by(shell, &program, words);
}

/// Runs a command with a function in the place of one of the C library that kills it.
#[cfg(target_os = "linux")]
fn killed_by(shell: &Shell, program: &str, words: &str) {
    shell.write("kills.c", program);
    shell.sh("cc -shared -fPIC -o kills.so kills.c").succeeds();
    let killed = format!("LD_PRELOAD=./kills.so $TWINDEX {words}; echo $?");
    assert_eq!(shell.sh(&killed).stdout, "137\n");
}

#[test]
fn an_output_that_was_moved_back_is_not_replaced_by_less() {
    let shell = begin(300);
    let words = format!("{WORDS} --skip-known");
    shell.run(&words).succeeds();
    let whole = shell.read("out");
    std::fs::rename(shell.path("out"), shell.path("away")).expect("moved");
    let clock = Instant::now();
    shell.copy().run(&words).succeeds();
    let length = clock.elapsed();
    for round in 0..6 {
        let running = shell.start(&words);
        sleep(length.mul_f64((f64::from(round) + 0.5) / 6.0));
        running.kill();
        if shell.path("out").exists() {
            // The output is not to be moved over that of a run that goes on.
            shell.run(&words).succeeds();
            break;
        }
    }
    std::fs::rename(shell.path("away"), shell.path("out")).expect("moved");
    for _ in 0..2 {
        let done = shell.run(&words);
        assert!(done.stderr.contains("an earlier run has written"), "{done:?}");
        assert!(shell.read("out") == whole, "{done:?}");
    }
    std::fs::rename(shell.path("out"), shell.path("away")).expect("moved");
    shell.run(&words).succeeds();
    assert!(shell.read("out").len() < whole.len());
}

#[cfg(target_os = "linux")]
#[test]
fn an_output_that_replaced_that_of_a_killed_run_stays() {
    let shell = begin(300);
    let words = format!("{WORDS} --skip-known");
    shell.run(&words).succeeds();
    let whole = shell.read("out");
    std::fs::rename(shell.path("out"), shell.path("away")).expect("moved");
    killed_after_rename(&shell, &words, "out");
    std::fs::rename(shell.path("away"), shell.path("out")).expect("moved");
    for _ in 0..2 {
        shell.run(&words).fails_with("out: is not as the interrupted run has left it");
        assert!(shell.read("out") == whole);
    }
}

/// Whether the run without that output has ended, or was killed before it named its own.
#[cfg(target_os = "linux")]
#[test]
fn an_output_that_was_moved_back_after_another_was_complete_stays() {
    for out in ["out.jsonl", "out.jsonl --keep max:n", "out/", "out/ --keep max:n"] {
        for (is_killed, some_are_new) in [(false, false), (true, false), (true, true)] {
            let what = format!("{out}, {is_killed}, {some_are_new}");
            let shell = Shell::new();
            shards(&shell);
            let words = format!("dedup i.twx in -q --removed gone --skip-known -o {out}");
            let place = out.split(' ').next().unwrap_or_default().trim_end_matches('/');
            let sums = || {
                shell.sh(&format!("find {place} -type f ! -name '*.part' | sort | xargs md5sum"))
            };
            let back = format!(
                "if [ -d away ]; then mkdir -p {place}; cp -r away/* {place}; rm -r away; \
                 else mv away {place}; fi"
            );
            shell.run(&words).succeeds();
            let whole = sums().stdout;
            shell.sh(&format!("mv {place} away; rm gone")).succeeds();
            if some_are_new {
                let id = shell.ids()[0].clone();
                shell.run(&format!("remove i.twx -q {id}")).succeeds();
            }
            if is_killed {
                killed_at_rename(&shell, &words);
            } else {
                shell.run(&words).succeeds();
            }
            shell.sh(&back).succeeds();
            for _ in 0..2 {
                shell.run(&words).fails_with("an earlier run has written");
                assert_eq!(sums().stdout, whole, "{what}");
            }
            if is_killed {
                shell
                    .sh(&format!(
                        "mkdir away; find {place} -type f ! -name '*.part' -exec mv {{}} away \\;"
                    ))
                    .succeeds();
            } else {
                shell.sh(&format!("mv {place} away")).succeeds();
            }
            shell.run(&words).succeeds();
            let records = shell.sh(&format!("find {place} -type f | xargs cat | wc -l")).stdout;
            assert_eq!(records.trim(), if some_are_new { "1" } else { "0" }, "{what}");
            shell.run(&words).succeeds();
            shell.assert_clean();
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_run_that_has_kept_nothing_does_not_take_the_partial_file_of_another() {
    let shell = Shell::new();
    let lines = |from: u64| -> String {
        let line = |n| format!("{{\"id\":\"{n}\",\"text\":\"{}\"}}\n", text(n, 0, 40));
        (from..from + 50).map(line).collect()
    };
    shell.write("a.jsonl", lines(0));
    shell.write("b.jsonl", lines(100));
    shell.run("add i.twx -q a.jsonl").succeeds();
    let words = |input: &str| format!("dedup i.twx {input}.jsonl -q --skip-known -o out");
    killed_at_rename(&shell, &words("a"));
    killed_at_rename(&shell, &words("b"));
    shell.run(&words("a")).fails_with("belongs to an interrupted run of another command");
    shell.run(&words("b")).succeeds();
    assert_eq!(String::from_utf8(shell.read("out")).expect("text"), lines(100));
}

#[cfg(target_os = "linux")]
#[test]
fn what_is_new_does_not_replace_what_was_just_completed() {
    let shell = begin(300);
    let words = "dedup i.twx in.jsonl -q --skip-known -o out --removed gone";
    let unbroken = shell.copy();
    unbroken.run(words).succeeds();
    killed_at_rename(&shell, words);
    let more = format!("{{\"id\":\"more\",\"text\":\"{}\"}}\n", text(999_999, 0, 40));
    shell.write("in.jsonl", [&shell.read("in.jsonl")[..], more.as_bytes()].concat());
    shell.run(words).fails_with("the run to it that was interrupted is complete now");
    assert!(shell.read("out") == unbroken.read("out") && !shell.read("out").is_empty());
    shell.sh("mv out away").succeeds();
    shell.run(words).succeeds();
    assert!(String::from_utf8(shell.read("out")).expect("text").ends_with(&more));
}

#[test]
fn the_same_records_in_files_of_other_lengths_do_not_replace_an_output_by_less() {
    let shell = begin(300);
    let words = "dedup i.twx in.jsonl -q --skip-known -o out --removed gone";
    shell.run(words).succeeds();
    let whole = shell.read("out");
    let wider = String::from_utf8(shell.read("in.jsonl")).expect("text");
    shell.write("in.jsonl", wider.replace("\"text\"", "\"n\":1,\"text\""));
    shell.run(words).fails_with("an earlier run has written");
    assert!(shell.read("out") == whole);
}

/// Two runs of a command begin with no index. The second one judges nothing that the first has
/// kept.
#[cfg(target_os = "linux")]
#[test]
fn a_run_whose_index_another_one_has_created_meanwhile_replaces_nothing() {
    for kills in [false, true] {
        let shell = Shell::new();
        let record = |n: u64| format!("{{\"id\":\"{n}\",\"text\":\"{}\"}}\n", text(n, 0, 40));
        // The pipe has room for them, whether they are read or not.
        let lines: String = (0..100).map(record).collect();
        shell.sh("mkfifo late").succeeds();
        let late = std::fs::File::options().read(true).write(true).open(shell.path("late"));
        let mut late = late.expect("a pipe");
        let words = |input: &str| format!("dedup i.twx {input} -q --skip-known -o out --batch 50");
        let second = shell.start(&words("late"));
        // By now it has found no index.
        second.wait_until_open("late");
        shell.write("in.jsonl", &lines);
        if kills {
            killed_at_rename(&shell, &words("in.jsonl"));
        } else {
            shell.run(&words("in.jsonl")).succeeds();
        }
        let files = || shell.sh("find . -name 'out*' | sort | xargs md5sum").stdout;
        let before = files();
        late.write_all(lines.as_bytes()).expect("written");
        drop(late);
        let done = second.end();
        assert_eq!(done.status, 2, "{done:?}");
        assert_eq!(files(), before, "{done:?}");
        shell.run(&words("in.jsonl")).succeeds();
        assert_eq!(String::from_utf8(shell.read("out")).expect("text"), lines);
    }
}

/// Whatever files the records come in, what they have in a folder is not replaced by less.
#[cfg(target_os = "linux")]
#[test]
fn shards_are_not_emptied_by_a_run_that_leaves_out_what_is_known() {
    let shell = Shell::new();
    shards(&shell);
    shell.run("dedup i.twx in -q --removed gone -o kept/").succeeds();
    let kept = || shell.sh("find kept -type f | sort | xargs md5sum").stdout;
    let before = kept();
    // One byte more, and the same records.
    shell.sh("for file in in/*.jsonl; do sed -i '1s/{/{ /' $file; done").succeeds();
    let words = "dedup i.twx in -q --removed gone -o kept/ --skip-known --batch 20";
    shell.run(words).fails_with("an earlier run has written");
    assert_eq!(kept(), before);
}

/// The same file, of which a record could not be read before.
#[test]
fn what_was_kept_beside_bad_records_is_not_replaced_by_the_rest() {
    let shell = Shell::new();
    let good = |n: u64| format!("{{\"id\":\"{n}\",\"text\":\"{}\"}}\n", text(n, 0, 40));
    let lines: String = (0..20).map(good).collect();
    let third = good(3);
    shell.write("in.jsonl", lines.replacen(&third, &third[..third.len() / 2], 1));
    let words = "dedup i.twx in.jsonl -q -o out --skip-known";
    assert_eq!(shell.run(words).status, 2);
    let before = shell.read("out");
    shell.write("in.jsonl", &lines);
    shell.run(words).fails_with("an earlier run has written 18 records to it");
    assert!(shell.read("out") == before);
    // Another input may replace it, as ever.
    shell.write("other.jsonl", (100..120).map(good).collect::<String>());
    shell.run("dedup i.twx other.jsonl -q -o out --skip-known").succeeds();
    assert_eq!(String::from_utf8(shell.read("out")).expect("text").lines().count(), 20);
    shell.run(&words.replace(" --skip-known", "")).succeeds();
    assert_eq!(String::from_utf8(shell.read("out")).expect("text"), lines);
}

/// A file that is replaced keeps its permissions, also if the run was interrupted.
#[cfg(target_os = "linux")]
#[test]
fn an_output_keeps_its_permissions() {
    for (input, out) in
        [("in", "out.jsonl"), ("in", "out/"), ("in.parquet --text-field id", "out.parquet")]
    {
        let shell = Shell::new();
        shards(&shell);
        shell.sh("$TWINDEX add x.twx -q in && $TWINDEX list x.twx -o in.parquet").succeeds();
        let words = format!("dedup i.twx {input} -q --removed gone -o {out}");
        shell.run(&words).succeeds();
        shell.sh("find out* gone -type f | xargs chmod 640").succeeds();
        killed_at_rename(&shell, &format!("{words} --restart"));
        shell.run(&words).succeeds();
        let modes = shell.sh("find out* gone -type f | xargs stat -c %a | sort -u").stdout;
        assert_eq!(modes, "640\n", "{out}");
    }
}

#[test]
fn what_was_committed_before_a_failure_is_gone_on_with() {
    let shell = Shell::new();
    shell.write("a.csv", "id,text\n1,one text of several words\n");
    shell.write("b.csv", "id,text,more\n2,another one, quite\n");
    let words = "dedup i.twx a.csv b.csv -q --batch 1 -o out.csv --removed gone --skip-known";
    shell.run(words).fails_with("tables with other columns");
    shell.write("b.csv", "id,text\n2,another quite different text\n");
    shell.run(words).succeeds();
    let out = String::from_utf8(shell.read("out.csv")).expect("UTF-8");
    assert_eq!(out.lines().count(), 3, "{out}");
}

/// Files of the same lengths, of which a record could not be read before.
#[test]
fn shards_that_were_kept_beside_bad_records_are_not_replaced_by_the_rest() {
    let shell = Shell::new();
    let good = |n: u64| format!("{{\"id\":\"{n}\",\"text\":\"{}\"}}\n", text(n, 0, 40));
    let lines: String = (0..20).map(good).collect();
    shell.write("in/a.jsonl", lines.replacen("text", "TEXT", 1));
    let words = "dedup i.twx in -q -o out/ --skip-known";
    assert_eq!(shell.run(words).status, 2);
    let before = shell.read("out/a.jsonl");
    shell.write("in/a.jsonl", &lines);
    shell.run(words).fails_with("an earlier run has written 19 records to it");
    assert!(shell.read("out/a.jsonl") == before);
}

/// The head of a table is no record.
#[test]
fn an_output_that_has_no_record_is_replaced_by_what_is_new() {
    let shell = Shell::new();
    let table = "id,text\n1,one text of several words\n2,another quite different text\n";
    shell.write("in.csv", table);
    shell.run("add i.twx -q in.csv").succeeds();
    let words = "dedup i.twx in.csv -q --skip-known -o out.csv --removed gone";
    shell.run(words).succeeds();
    assert_eq!(shell.read("out.csv"), b"id,text\n");
    shell.run("remove i.twx -q 1 2").succeeds();
    shell.run(words).succeeds();
    assert_eq!(shell.read("out.csv"), table.as_bytes());
}

/// What is empty is nothing to lose.
#[test]
fn an_emptied_output_is_replaced_by_what_is_new() {
    let shell = begin(300);
    let words = format!("{WORDS} --skip-known");
    shell.run(&words).succeeds();
    let whole = shell.read("out");
    shell.write("out", "");
    shell.run(&words).succeeds();
    assert!(shell.read("out").len() < whole.len());
}

#[cfg(target_os = "linux")]
#[test]
fn a_complete_shard_that_was_changed_before_it_had_its_name_is_not_taken() {
    let shell = Shell::new();
    shards(&shell);
    let words = "dedup i.twx in -q -o out/ --removed gone";
    killed_at_rename(&shell, words);
    let partial = shell.read("out/3.jsonl.part");
    shell.write("out/3.jsonl.part", [&partial[..], b"\n"].concat().split_off(1));
    shell.run(words).fails_with("out/3.jsonl.part: is not as the interrupted run has left it");
    shell.write("out/3.jsonl.part", partial);
    shell.run(words).succeeds();
}

#[cfg(target_os = "linux")]
#[test]
fn a_killed_run_is_not_completed_from_a_shorter_input() {
    let shell = Shell::new();
    shards(&shell);
    let words = "dedup i.twx in/0.jsonl -q -o out --removed gone --keep max:n";
    killed_at_rename(&shell, words);
    let input = String::from_utf8(shell.read("in/0.jsonl")).expect("UTF-8");
    let shorter: String = input.split_inclusive('\n').take(10).collect();
    shell.write("in/0.jsonl", shorter);
    shell.run(words).fails_with("was changed after it was judged");
    shell.write("in/0.jsonl", input);
    shell.run(words).succeeds();
}

#[cfg(target_os = "linux")]
#[test]
fn another_standard_input_completes_the_killed_run_and_says_so() {
    let shell = Shell::new();
    shards(&shell);
    killed_at_rename(&shell, "dedup i.twx - -q -o out --removed gone <in/0.jsonl");
    let other = shell.read("in/1.jsonl");
    let done = shell.pipe("dedup i.twx - -q -o out --removed gone", other);
    done.fails_with("standard input was another one and has been read");
    assert!(!shell.read("out").is_empty());
}
