//! `crowds`: inputs whose work could grow with the square of their size. Texts are made here, and
//! the command is timed.

use crate::Outcome;
use crate::report::{Row, progress, time};
use crate::synthetic::Random;
use crate::system::{binary, scratch};
use serde::Serialize;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The words of a text, some 2,000 characters.
const WORDS: usize = 300;

/// Copies of one text in an index, and further copies that are deduplicated against them.
const COPIES: [u64; 2] = [60_000, 300];

#[derive(Serialize)]
struct Line {
    id: String,
    text: String,
}

/// A shape of input.
#[derive(Clone, Copy)]
enum Shape {
    /// Texts of which any two are some 95 % alike, and no two equal.
    NearCopies,
    /// Texts that share their first half and nothing else: they share buckets and are not similar.
    Boilerplate,
    /// Copies of one text.
    Copies,
}

/// Times the command on `count` texts of each shape, and on five times as many.
pub fn run(count: u64) -> Outcome<Vec<Row>> {
    let mut rows = Vec::new();
    let inputs = [
        (Shape::NearCopies, "near copies", false),
        (Shape::NearCopies, "near copies, texts stored", true),
        (Shape::Boilerplate, "half alike", false),
    ];
    for (shape, name, stored) in inputs {
        let small = shaped(shape, name, stored, count, &mut rows)?;
        let large = shaped(shape, name, stored, 5 * count, &mut rows)?;
        for (what, small, large) in [("clusters", small.0, large.0), ("dedup", small.1, large.1)] {
            let growth = large.as_secs_f64() / (5.0 * small.as_secs_f64());
            let what = format!("{name}: `{what}` of 5 times as many, relative to 5 times the time");
            rows.push(Row::new(what, format!("{growth:.2}")).reach("<= 1.5", growth <= 1.5));
        }
    }
    rows.push(copies()?);
    Ok(rows)
}

/// Times the commands on texts of a shape, which the index stores or does not; returns the times of
/// `clusters` and `dedup`.
fn shaped(
    shape: Shape,
    name: &str,
    stored: bool,
    count: u64,
    rows: &mut Vec<Row>,
) -> Outcome<(Duration, Duration)> {
    let place = Place::new()?;
    let texts = place.texts(shape, 0..count)?;
    let settings: &[&str] = if stored { &["--store-text"] } else { &[] };
    place.run(&[&["add", "x.twx", &texts], settings].concat())?;
    let what = |what: &str| format!("{name}, {count}: `{what}`");
    // It changes nothing, so it is run three times and the median counts.
    let mut clusters = Vec::new();
    for _ in 0..3 {
        clusters.push(place.run(&["clusters", "x.twx"])?);
    }
    clusters.sort();
    let clusters = clusters[1];
    let dedup = ["dedup", "y.twx", &texts, "-o", "kept.jsonl"];
    let dedup = place.run(&[&dedup[..], settings].concat())?;
    const AIM: Duration = Duration::from_secs(10);
    rows.push(Row::within(what("clusters"), clusters, AIM));
    rows.push(Row::within(what("dedup"), dedup, AIM));
    // The pairs to count grow with the square, so the aim is for the smaller number.
    if count <= 20_000 {
        let pairs = place.run(&["pairs", "--max-per-document", "10", "x.twx"])?;
        rows.push(Row::within(what("pairs --max-per-document 10"), pairs, AIM));
    }
    Ok((clusters, dedup))
}

/// Times copies of a text that the index has very often.
fn copies() -> Outcome<Row> {
    let [known, new] = COPIES;
    let place = Place::new()?;
    let texts = place.texts(Shape::Copies, 0..known)?;
    place.run(&["add", "x.twx", &texts])?;
    let none = place.texts(Shape::Copies, known..known + 1)?;
    let start = place.run(&["dedup", "x.twx", &none, "-o", "none.jsonl"])?;
    let texts = place.texts(Shape::Copies, known + 1..known + 1 + new)?;
    let took = place.run(&["dedup", "x.twx", &texts, "-o", "kept.jsonl"])?;
    let each = took.saturating_sub(start) / new as u32;
    let what = format!("`dedup` of a copy of a text that the index has {known} times");
    Ok(Row::new(what, time(each)).reach("<= 1 ms", each <= Duration::from_millis(1)))
}

/// A folder for the inputs and outputs of the command.
struct Place(TempDir);

impl Place {
    fn new() -> Outcome<Self> {
        Ok(Self(scratch()?))
    }

    /// Writes texts of a shape and returns the name of the file.
    fn texts(&self, shape: Shape, numbers: std::ops::Range<u64>) -> Outcome<String> {
        let name = format!("texts-{}-{}.jsonl", numbers.start, numbers.end);
        let mut out = BufWriter::new(File::create(self.path(&name))?);
        let base = words(&mut Random(1), WORDS);
        for number in numbers {
            let line = Line { id: number.to_string(), text: text(shape, &base, number) };
            serde_json::to_writer(&mut out, &line)?;
            out.write_all(b"\n")?;
        }
        out.flush()?;
        Ok(name)
    }

    fn path(&self, name: &str) -> PathBuf {
        let folder: &Path = self.0.path();
        folder.join(name)
    }

    /// Runs the command in the folder and returns the time it took.
    fn run(&self, args: &[&str]) -> Outcome<Duration> {
        progress(&format!("twindex {}", args.join(" ")));
        let mut command = Command::new(binary());
        command.args(args).arg("--no-progress").current_dir(self.0.path());
        let start = Instant::now();
        let output = command.stdin(Stdio::null()).stdout(Stdio::null()).output()?;
        let took = start.elapsed();
        // 1 says that there is no result.
        match output.status.code() {
            Some(0 | 1) => Ok(took),
            _ => Err(String::from_utf8_lossy(&output.stderr).into()),
        }
    }
}

fn text(shape: Shape, base: &[String], number: u64) -> String {
    let mut random = Random(number.wrapping_add(1) << 20);
    let mut all = base.to_vec();
    match shape {
        Shape::NearCopies => {
            for _ in 0..2 {
                let at = (random.next() % WORDS as u64) as usize;
                all[at] = format!("{:010x}", random.next() >> 24);
            }
        }
        Shape::Boilerplate => {
            all.truncate(WORDS / 2);
            all.extend(words(&mut random, WORDS / 2));
        }
        Shape::Copies => {}
    }
    all.join(" ")
}

fn words(random: &mut Random, count: usize) -> Vec<String> {
    let letter = |bits: u64| (b'a' + (bits % 26) as u8) as char;
    let mut word = || {
        let bits = random.next();
        (0..3 + bits % 7).map(|at| letter(bits >> (8 * at))).collect::<String>()
    };
    (0..count).map(|_| word()).collect()
}
