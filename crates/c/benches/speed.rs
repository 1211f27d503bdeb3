//! What the border to C costs: queries, and insertions of prepared signatures, by a program in C
//! and by this one, each a process of its own, in turns.
//!
//! `cargo bench --package twindex-c -- TEXTS [ROWS]`; TEXTS has one text a line.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, BufWriter, Write, stdout};
use std::path::Path;
use std::process::Command;
use std::time::Instant;
use twindex::{Document, Index, ReadOnlyIndex, SetSize, Signature};

/// The rounds, in turns.
const ROUNDS: usize = 5;

/// The number of queries a round.
const QUERIES: usize = 2000;

const LANES: usize = 256;

/// The signatures of one insertion.
const BATCH: usize = 100_000;

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// The C program, compiled with optimisation.
fn program(folder: &Path) -> std::path::PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let bench = std::env::current_exe().expect("a path");
    let libraries = bench.parent().expect("a folder");
    let program = folder.join("speed");
    let status = Command::new("cc")
        .args(["-O2", "-Wall", "-Wextra", "-Werror"])
        .arg(root.join("benches/speed.c"))
        .arg("-I")
        .arg(root.join("include"))
        .arg("-o")
        .arg(&program)
        .arg(format!("-Wl,-rpath,{}", libraries.display()))
        .arg(libraries.join("libtwindex_c.so"))
        .status();
    assert!(status.expect("a compiler").success());
    program
}

/// Queries an index and prints the nanoseconds of each query, as the C program does.
fn query_in_rust(path: &str, texts: &str) {
    let index = ReadOnlyIndex::open(path).expect("opened");
    let snapshot = index.snapshot().expect("a snapshot");
    let texts = fs::read_to_string(texts).expect("the texts are there");
    let mut times = String::new();
    for text in texts.lines() {
        let before = Instant::now();
        let matches = snapshot.query().by_text(text).expect("found");
        let found: usize = matches.iter().map(|found| found.id.len()).sum();
        drop(matches);
        let took = before.elapsed().as_nanos();
        assert!(found > 0);
        writeln!(times, "{took}").expect("written");
    }
    say(times.trim_end());
}

/// Inserts prepared signatures and prints the seconds, as the C program does.
fn insert_in_rust(path: &str, signatures: &str) {
    let index = Index::create(path).expect("created");
    let all = fs::read(signatures).expect("the signatures are there");
    let before = Instant::now();
    let mut txn = index.begin_write().expect("begun");
    let signatures = all.chunks(LANES + 4).map(Signature::from_bytes);
    let mut signatures = signatures.map(|signature| signature.expect("a signature")).enumerate();
    loop {
        let batch = signatures.by_ref().take(BATCH).map(|(row, signature)| {
            Document::from_signature(format!("d{row}"), signature).expect("an id")
        });
        let batch: Vec<Document> = batch.collect();
        if batch.is_empty() {
            break;
        }
        txn.insertion().documents(batch).expect("inserted");
    }
    txn.commit().expect("committed");
    say(&format!("{:.3}", before.elapsed().as_secs_f64()));
}

/// What a process of its own prints, after all that was written before is on the disk.
fn lines(command: &mut Command) -> Vec<f64> {
    assert!(Command::new("sync").status().expect("started").success());
    let output = command.output().expect("started");
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    text.lines().map(|line| line.parse().expect("a number")).collect()
}

fn this() -> Command {
    Command::new(std::env::current_exe().expect("a path"))
}

fn queries(folder: &Path, program: &Path, texts: &[String]) {
    let path = folder.join("queried.twx");
    let index = Index::create(&path).expect("created");
    let mut txn = index.begin_write().expect("begun");
    let rows: Vec<(String, &String)> =
        texts.iter().enumerate().map(|(row, text)| (row.to_string(), text)).collect();
    txn.insertion().contents(&rows).expect("inserted");
    txn.commit().expect("committed");
    index.close().expect("closed");
    let asked: Vec<&String> =
        texts.iter().step_by((texts.len() / QUERIES).max(1)).take(QUERIES).collect();
    let list = folder.join("asked");
    let text: String = asked.iter().flat_map(|text| [text.as_str(), "\n"]).collect();
    fs::write(&list, text).expect("written");
    let (mut rust, mut c) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        rust.extend(lines(this().arg("query").arg(&path).arg(&list)));
        c.extend(lines(Command::new(program).arg("query").arg(&path).arg(&list)));
    }
    let (rust, c) = (median(rust), median(c));
    say(&format!(
        "query of {} documents, median of {}: Rust {rust} ns, C {c} ns, {} ns more",
        texts.len(),
        ROUNDS * asked.len(),
        c - rust
    ));
}

fn insertions(folder: &Path, program: &Path, rows: usize) {
    let list = folder.join("signatures");
    let mut file = BufWriter::new(File::create(&list).expect("created"));
    let mut state = 7_u64;
    let mut random = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 32) as u8
    };
    for _ in 0..rows {
        let lanes: Vec<u8> = (0..LANES).map(|_| random()).collect();
        let signature = Signature::new(lanes.into(), SetSize::about(500));
        file.write_all(&signature.to_bytes()).expect("written");
    }
    drop(file);
    let path = folder.join("inserted.twx");
    let (mut rust, mut c) = (Vec::new(), Vec::new());
    let arguments = [rows.to_string(), (LANES + 4).to_string()];
    for _ in 0..ROUNDS {
        rust.extend(lines(this().arg("insert").arg(&path).arg(&list)));
        let in_rust = count(&path);
        c.extend(lines(Command::new(program).arg("insert").arg(&path).arg(&list).args(&arguments)));
        assert_eq!((count(&path), in_rust), (rows as u64, rows as u64));
    }
    let (rust, c) = (median(rust), median(c));
    say(&format!(
        "{rows} prepared signatures: Rust {rust} s, C by Arrow batches {c} s; C has {:.0} % of the \
         rate",
        100.0 * rust / c
    ));
}

/// The number of documents of an index, which is deleted.
fn count(path: &Path) -> u64 {
    let index = ReadOnlyIndex::open(path).expect("opened");
    let count = index.snapshot().expect("a snapshot").len();
    drop(index);
    fs::remove_file(path).expect("removed");
    count
}

fn say(line: &str) {
    writeln!(stdout(), "{line}").expect("written");
}

fn main() {
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["query", path, texts] => return query_in_rust(path, texts),
        ["insert", path, signatures] => return insert_in_rust(path, signatures),
        _ => {}
    }
    let Some(texts) = arguments.first() else {
        say("cargo bench --package twindex-c -- TEXTS [ROWS]");
        return;
    };
    let rows = arguments.get(1).map_or(1_000_000, |rows| rows.parse().expect("a number of rows"));
    let file = BufReader::new(File::open(texts).expect("the texts are there"));
    let texts: Vec<String> = file.lines().map(|line| line.expect("UTF-8")).collect();
    let folder = tempfile::tempdir().expect("a folder");
    let program = program(folder.path());
    queries(folder.path(), &program, &texts);
    insertions(folder.path(), &program, rows);
}
