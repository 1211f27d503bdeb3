//! `json`: from a file of JSON Lines to a committed index, beside reading and parsing alone.

use crate::Outcome;
use crate::report::{Row, median, progress};
use crate::system::{binary, scratch};
use serde::Deserialize;
use std::borrow::Cow;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Measurements of each kind.
const TIMES: usize = 3;

#[derive(Deserialize)]
pub struct Line<'a> {
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    #[serde(borrow)]
    pub text: Cow<'a, str>,
}

/// What the command says when it is done.
#[derive(Deserialize)]
struct Summary {
    bytes: u64,
}

pub fn run(corpus: &Path) -> Outcome<Vec<Row>> {
    let (mut parsing, mut one, mut all) = (Vec::new(), Vec::new(), Vec::new());
    let mut bytes = 0;
    // One by one in turn, so that a slow spell of the machine meets all three. The first time
    // warms the page cache and does not count.
    for round in 0..=TIMES {
        progress(&format!("round {round} of {TIMES}"));
        let times = (parse(corpus)?, add(corpus, &["--threads", "1"])?, add(corpus, &[])?);
        if round > 0 {
            parsing.push(times.0);
            one.push(times.1.0);
            all.push(times.2.0);
        }
        bytes = times.2.1;
    }
    let (parsing, one, all) = (median(&mut parsing)?, median(&mut one)?, median(&mut all)?);
    let rate = |took: Duration| bytes as f64 / 1e6 / took.as_secs_f64();
    let speed = |what: &str, took| Row::new(what, format!("{:.0} MB/s", rate(took)));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let add_to_parse = all.as_secs_f64() / parsing.as_secs_f64();
    let speedup = one.as_secs_f64() / all.as_secs_f64();
    Ok(vec![
        speed(&format!("`add` of {:.0} MB of text, {cores} threads", bytes as f64 / 1e6), all)
            .reach(">= 300 MB/s on 2 cores", rate(all) >= 300.0),
        speed("`add --threads 1`", one),
        speed("reading and parsing alone, one thread", parsing),
        Row::new("time of `add` against reading and parsing", format!("{add_to_parse:.2} times"))
            .reach("<= 1.25 times", add_to_parse <= 1.25),
        Row::new(format!("speed with {cores} threads against one"), format!("{speedup:.2} times")),
    ])
}

/// The least that any program has to do: read the file, find its lines, parse their JSON.
fn parse(corpus: &Path) -> Outcome<Duration> {
    let start = Instant::now();
    let file = std::fs::read(corpus).map_err(|error| format!("{}: {error}", corpus.display()))?;
    let mut from = 0;
    for end in memchr::memchr_iter(b'\n', &file).chain([file.len()]) {
        let line = &file[from..end];
        from = (end + 1).min(file.len());
        if !line.is_empty() {
            let Line { id, text } = serde_json::from_slice(line)?;
            std::hint::black_box((&*id, &*text));
        }
    }
    Ok(start.elapsed())
}

/// Runs the command into a new index; returns the time it took and the bytes of text.
fn add(corpus: &Path, options: &[&str]) -> Outcome<(Duration, u64)> {
    let folder = scratch()?;
    let mut command = command(&folder.path().join("json.twx"), corpus, options);
    let start = Instant::now();
    let output = command.output()?;
    let took = start.elapsed();
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("twindex add ended with {}: {said}", output.status).into());
    }
    let summary: Summary = serde_json::from_str(said.lines().last().unwrap_or_default())?;
    Ok((took, summary.bytes))
}

/// The command that adds a corpus to an index, and says in JSON what it did.
pub fn command(index: &Path, corpus: &Path, options: &[&str]) -> Command {
    let mut command = Command::new(binary());
    command.arg("add").arg(index).arg(corpus).args(options);
    command.args(["--json", "--no-progress"]).stdin(Stdio::null());
    command
}
