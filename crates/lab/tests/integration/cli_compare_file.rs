//! `compare --method file`: the same results as the direct method, in little memory.
//!
//! `TWINDEX_LARGE=256 cargo test --release -p twindex-lab --test integration larger` compares files
//! of 256 megabytes; by default they have one.

use crate::command::{Done, Running, Shell, number_from, report};
use crate::support::Random;
use serde_json::Value;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The fields that both methods print.
const FIELDS: [&str; 5] =
    ["similarity", "multiset_similarity", "shingles_a", "shingles_b", "shared"];

fn fields(done: &Done) -> Vec<Value> {
    let object = &done.json()[0];
    FIELDS.iter().map(|name| object[name].clone()).collect()
}

/// The Gospels repeated, with new words in one verse in five, or unchanged with `copies`.
fn text(seed: u64, bytes: usize, copies: bool) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/gospels");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .collect();
    paths.sort();
    let texts = paths.iter().map(|path| std::fs::read_to_string(path).expect("a text"));
    let verses: Vec<String> =
        texts.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect();
    let mut random = Random(seed);
    let mut out = String::with_capacity(bytes + 1_000);
    while out.len() < bytes {
        for verse in &verses {
            out.push_str(verse);
            if !copies && random.below(5) == 0 {
                for _ in 0..40 {
                    let word = random.next();
                    out.push(' ');
                    let letters =
                        (0..3 + word % 6).map(|at| b'a' + (word >> (8 * at + 3)) as u8 % 26);
                    out.extend(letters.map(char::from));
                }
            }
            out.push('\n');
            if out.len() >= bytes {
                break;
            }
        }
    }
    out
}

/// Runs to the end, and returns the peak memory and the time.
#[cfg(target_os = "linux")]
fn measured(shell: &Shell, words: &str) -> (Done, u64, Duration) {
    let start = Instant::now();
    let mut running: Running = shell.start(words);
    let mut peak = 0;
    while running.is_running() {
        peak = running.peak_memory_if_running().unwrap_or(peak);
        sleep(Duration::from_millis(1));
    }
    let taken = start.elapsed();
    (running.finish().succeeds(), peak, taken)
}

#[cfg(target_os = "linux")]
#[test]
fn little_memory_gives_the_same_results_as_much() {
    let shell = Shell::new();
    shell.write("a", text(1, 1_200_000, false));
    shell.write("b", text(2, 1_200_000, false));
    let (direct, direct_peak, _) = measured(&shell, "compare a b --json");
    let (by_file, peak, _) =
        measured(&shell, "compare a b --json --method file --memory 1MiB --max-record 1K");
    assert_eq!(fields(&by_file), fields(&direct));
    let object = &by_file.json()[0];
    assert!(object["runs"].as_u64() > Some(20), "{object}");
    assert!(object["peak_memory"].as_u64() < Some(1 << 20), "{object}");
    assert!(peak < direct_peak / 2, "{peak} bytes, {direct_peak} with all in memory");
    assert!(peak < 24 << 20, "{peak} bytes");
}

#[test]
fn every_kind_of_shingle_and_stream_is_compared() {
    let shell = Shell::new();
    for (name, seed) in [("a", 1), ("b", 2)] {
        shell.write(name, text(seed, 60_000, false) + "é e\u{301} ΑΣ 漢字\r\n\u{3000}.");
    }
    for options in [
        "--shingle char:9",
        "--shingle word:3 --multiset",
        "--shingle line:2",
        "--shingle token --normalize lower,nfkc,space",
        "--shingle char:3 --normalize lower,nfc,nospace,minword=3 --multiset --seed 9",
    ] {
        let direct = shell.run(&format!("compare a b --json {options}")).succeeds();
        let by_file = format!("compare a - --json --method file --memory 1M {options}");
        let by_file = shell.pipe(&by_file, shell.read("b")).succeeds();
        assert_eq!(fields(&by_file), fields(&direct), "{options}");
    }
    shell.write("x.fa", ">one\nACGTTGCAACGTNNACGTTGAC\r\nACG\n;no\n>two\nTTGACGTTGCA\n");
    shell.write("y", "acgttgcaacgtnnacgttgac");
    for options in ["--shingle kmer:3", "--shingle kmer:11"] {
        let direct = shell.run(&format!("compare x.fa y --json {options}")).succeeds();
        let by_file = shell.run(&format!("compare x.fa y --json --method file {options}"));
        assert_eq!(fields(&by_file), fields(&direct), "{options}");
        assert_eq!(by_file.json()[0]["distance"], direct.json()[0]["distance"]);
    }
}

#[test]
fn compressed_files_are_unpacked_as_they_are_read() {
    use std::io::Write;
    let shell = Shell::new();
    let [a, b] = [text(1, 50_000, false), text(2, 50_000, false)];
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(a.as_bytes()).expect("memory");
    shell.write("a", &a);
    shell.write("a.gz", gzip.finish().expect("memory"));
    shell.write("b", &b);
    shell.write("b.zst", zstd::encode_all(b.as_bytes(), 1).expect("memory"));
    let plain = shell.run("compare a b --method file --json").succeeds();
    let packed = shell.run("compare a.gz b.zst --method file --json").succeeds();
    assert_eq!(fields(&packed), fields(&plain));
}

#[test]
fn fields_are_in_order_and_the_threshold_sets_the_status() {
    let shell = Shell::new();
    shell.write("a", "some words and some more words");
    shell.write("b", "some words and some more signs");
    let done = shell.run("compare a b --method file").succeeds();
    let names = [
        "a",
        "b",
        "method",
        "similarity",
        "multiset_similarity",
        "shingles_a",
        "shingles_b",
        "shared",
        "runs",
        "temporary_bytes",
        "memory",
        "peak_memory",
        "seconds",
    ];
    assert_eq!(done.column(0), names);
    assert_eq!(done.column(1)[2], "file");
    assert_eq!(shell.run("compare a b --method file --threshold 0.9").status, 1);
    assert_eq!(shell.run("compare a b --method file --threshold 0.3").status, 0);
    assert_eq!(shell.run("compare a a --method file --threshold 1").status, 0);
}

#[test]
fn errors_are_the_same_as_with_the_direct_method() {
    let shell = Shell::new();
    shell.write("good", "some text");
    shell.write("bad", b"some text \xFF");
    shell.write("reads.fq", "@read\nACGT\n+\nIIII\n");
    shell.write("word", "word".repeat(100_000));
    for (words, cause) in [
        ("good bad", "bad: not valid UTF-8 at byte 11"),
        ("good none", "none: "),
        (". good", ".: is a directory; name a file"),
        ("--shingle kmer:3 good reads.fq", "reads.fq: is FASTQ"),
    ] {
        let [direct, by_file] =
            ["", " --method file"].map(|method| shell.run(&format!("compare {words}{method}")));
        by_file.fails_with(cause);
        assert_eq!(by_file.stderr, direct.stderr);
    }
    let little = shell.run("compare good good --method file --memory 1000");
    little.fails_with("memory 1000 bytes: expected 1 MiB or more");
    let much = shell.run("compare good good --method file --memory 9000000G");
    much.fails_with("expected no more than this machine gives");
    let long = shell.run("compare good word --method file --memory 1M --shingle word:2");
    long.fails_with("word: a word of more than 32768 bytes does not fit; give more memory");
    shell.run("compare - - --method file").fails_with("only one of the two texts");
}

#[cfg(unix)]
#[test]
fn no_temporary_file_has_a_name_and_failures_name_the_folder() {
    let shell = Shell::new();
    shell.write("a", text(1, 400_000, false));
    std::fs::create_dir(shell.path("tmp")).expect("a folder");
    let compare = "\"$TWINDEX\" compare a a --method file --memory 1M";
    let done = shell.sh(&format!("TMPDIR=tmp {compare}")).succeeds();
    assert!(done.stdout.contains("similarity\t1.0\n"), "{done:?}");
    // No file may have more than 512,000 bytes, as if the disk were full.
    shell
        .sh(&format!("trap '' XFSZ; ulimit -f 1000; TMPDIR=tmp {compare}"))
        .fails_with("tmp: writing");
    shell.sh(&format!("TMPDIR=nowhere {compare}")).fails_with("nowhere: writing a temporary file");
    assert_eq!(std::fs::read_dir(shell.path("tmp")).expect("a folder").count(), 0);
}

#[cfg(target_os = "linux")]
#[test]
fn an_interrupted_or_killed_comparison_leaves_no_files() {
    let shell = Shell::new();
    shell.write("a", text(1, 400_000, false));
    let start = || {
        std::fs::create_dir_all(shell.path("tmp")).expect("a folder");
        let mut running = shell
            .start_in_environment("compare a - --method file --memory 1M", &[("TMPDIR", "tmp")]);
        // The pipe holds less than this, so the first text has been read.
        running.send(&text(2, 400_000, false));
        assert_eq!(std::fs::read_dir(shell.path("tmp")).expect("a folder").count(), 0);
        running
    };
    let mut running = start();
    running.signal("INT");
    sleep(Duration::from_millis(50));
    // More input wakes the reader, unless it has already ended.
    drop(std::io::Write::write_all(running.stdin(), b"more"));
    running.finish().fails_with("comparing was interrupted; no temporary file is left");
    assert!(start().kill().is_none());
    assert_eq!(std::fs::read_dir(shell.path("tmp")).expect("a folder").count(), 0);
}

#[cfg(unix)]
#[test]
fn a_named_pipe_is_read_once_and_a_silent_one_can_be_interrupted() {
    let shell = Shell::new();
    shell.write("a", "some words that are compared");
    let script = "mkfifo p q; cat a > p & \"$TWINDEX\" compare p a --method file --json";
    assert_eq!(shell.sh(script).succeeds().json()[0]["similarity"], 1.0);
    for signal in ["INT", "TERM"] {
        // Nobody writes to q, so opening it blocks. Standard input is open and silent.
        for words in ["compare a q --method file", "compare - a --method file"] {
            let running = shell.start(words);
            // By now it waits and has its signal handler.
            sleep(Duration::from_millis(300));
            running.signal(signal);
            running.end().fails_with("comparing was interrupted; no temporary file is left");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn files_larger_than_memory_are_compared_in_bounded_memory() {
    let large = number_from("TWINDEX_LARGE");
    let megabytes = large.unwrap_or(1);
    // The memory of the method, and the bound for the whole process.
    let (memory, most) = if large.is_some() { ("64MiB", 96 << 20) } else { ("1MiB", 24 << 20) };
    for copies in [false, true] {
        let shell = Shell::new();
        let bytes = megabytes as usize * 1_000_000;
        shell.write("a", text(1, bytes, copies));
        shell.write("b", text(2, bytes + 12_345, copies));
        let (direct, direct_peak, direct_time) =
            measured(&shell, "compare a b --json --max-record 2G");
        let by_file = format!("compare a b --json --method file --memory {memory}");
        let (by_file, peak, time) = measured(&shell, &by_file);
        report(&format!(
            "{megabytes} MB, copies {copies}: {} MiB in {time:.1?}, \
             in memory {} MiB in {direct_time:.1?}\n{}",
            peak >> 20,
            direct_peak >> 20,
            by_file.stdout
        ));
        assert_eq!(fields(&by_file), fields(&direct));
        assert!(by_file.json()[0]["runs"].as_u64() > Some(2), "{}", by_file.stdout);
        assert!(peak < most, "{peak} bytes");
        // Times of small files are too short to compare.
        if large.is_some() {
            assert!(time < 4 * direct_time, "{time:?}, in memory {direct_time:?}");
        }
    }
}
