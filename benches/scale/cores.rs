//! `cores`: how fast `twindex add` would be on more cores than there are.
//!
//! The command is run with one thread for parsing, and the system tells how long each of its
//! threads ran. Then the same threads and queues run again, but each thread waits instead of
//! working: for the time that was measured, while it holds a permit for a core. There are as many
//! permits as the simulated machine has cores. Lines have the lengths of the real ones.

mod blocks;
mod measured;
mod pipeline;
mod waiting;

use crate::Outcome;
use crate::cores::blocks::Block;
use crate::report::{Row, progress, time};
use measured::Parts;
use pipeline::{Simulated, simulate};
use std::path::Path;
use std::time::Duration;

/// The cores that are simulated.
const CORES: [u32; 6] = [1, 2, 4, 8, 12, 16];

/// The number of cores that the command should be able to use.
const AIM: f64 = 12.0;

pub fn run(corpus: &Path) -> Outcome<Vec<Row>> {
    // The library shares its work between the calling thread and one of these.
    rayon::ThreadPoolBuilder::new().num_threads(2).build_global()?;
    let blocks = blocks::cut(corpus)?;
    let bytes: usize = blocks.iter().map(Block::bytes).sum();
    progress("measuring");
    let parts = measured::measure(corpus, &blocks)?;
    let mut rows = parts_of(&parts);
    let mut one = None;
    for cores in CORES {
        progress(&format!("{cores} cores"));
        let run = simulate(&parts, &blocks, cores, cores)?;
        let one = *one.get_or_insert(run.took);
        rows.push(curve(cores, &run, bytes, one));
    }
    let available = std::thread::available_parallelism().map_or(1, usize::from) as u32;
    for (threads, cores) in [(1, 1), (1, 2), (2, 2)] {
        if cores <= available {
            progress(&format!("{threads} threads on {cores} cores, really"));
            rows.push(check(corpus, &parts, &blocks, (threads, cores))?);
        }
    }
    Ok(rows)
}

fn parts_of(parts: &Parts) -> Vec<Row> {
    let all = parts.work();
    let share = |part: Duration| part.as_secs_f64() / all.as_secs_f64();
    let row =
        |what: &str, part| Row::new(what, format!("{}, {:.1} %", time(part), 100.0 * share(part)));
    let alone = |what: &str, part: Duration| {
        let cap = all.as_secs_f64() / part.as_secs_f64().max(1e-9);
        Row::new(format!("{what} alone is busy all the time with"), format!("{cap:.1} cores"))
            .reach(format!(">= {AIM:.0}"), cap >= AIM)
    };
    vec![
        row("reader: reading, cutting at lines", parts.reading),
        row("parser: lines, JSON, sketches", parts.parsing),
        row("writer and library: what insertion shares", parts.sharing),
        row("library: freeing documents", parts.freeing),
        row("writer: inserting", parts.inserting),
        row("writer: committing", parts.committing),
        row("merging beside the writer", parts.merging),
        Row::new("writer: waiting for the disk", time(parts.disk)),
        alone("the reader", parts.reading),
        alone("the writer", parts.writing()),
    ]
}

fn curve(cores: u32, run: &Simulated, bytes: usize, one: Duration) -> Row {
    let took = run.took.as_secs_f64();
    let busy = |time: Duration| 100.0 * time.as_secs_f64() / took;
    let figure = format!(
        "{:.0} MB/s, {:.2} times one; busy: reader {:.0} %, writer {:.0} %, threads {:.0} %",
        bytes as f64 / 1e6 / took,
        one.as_secs_f64() / took,
        busy(run.reader),
        busy(run.writer),
        busy(run.threads) / f64::from(cores),
    );
    Row::new(format!("simulated, {cores} cores"), figure)
}

/// Compares the simulation with the command, on cores that the machine has.
fn check(
    corpus: &Path,
    parts: &Parts,
    blocks: &[Block],
    (threads, cores): (u32, u32),
) -> Outcome<Row> {
    let simulated = simulate(parts, blocks, threads, cores)?.took;
    let real = measured::real(corpus, threads, cores)?;
    let ratio = simulated.as_secs_f64() / real.as_secs_f64();
    let what = format!("--threads {threads} on {cores} cores: simulated, real");
    let figure = format!("{}, {}: {ratio:.2} times", time(simulated), time(real));
    Ok(Row::new(what, figure))
}
