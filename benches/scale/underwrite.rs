//! `underwrite`: queries while another thread inserts at full speed.

use crate::Outcome;
use crate::ingest::BATCH;
use crate::queries::{Questions, ask};
use crate::report::{Row, median, per_second, progress, time};
use crate::synthetic::{UNUSED, load};
use crate::system::copy;
use std::path::Path;
use std::thread;
use std::time::Duration;
use twindex::Index;

/// Documents that are inserted meanwhile.
const INSERTED: u64 = 30 * BATCH;

/// Queries between one snapshot and the next.
const PER_SNAPSHOT: usize = 50;

#[derive(Default)]
struct Times {
    hits: Vec<Duration>,
    misses: Vec<Duration>,
}

pub fn run(index: &Path) -> Outcome<Vec<Row>> {
    progress("inserting without a reader");
    let alone = {
        let (_folder, path) = copy(index)?;
        insert(&Index::open(path)?)?
    };

    let (_folder, path) = copy(index)?;
    let index = Index::open(path)?;
    let questions = Questions::new(&index.snapshot()?)?;
    progress("asking without a writer");
    ask_all(&index, &questions, &mut Times::default())?;
    let mut quiet = Times::default();
    ask_all(&index, &questions, &mut quiet)?;

    progress("asking and inserting");
    let mut busy = Times::default();
    let beside = thread::scope(|scope| {
        // The error crosses threads as text.
        let writer = scope.spawn(|| insert(&index).map_err(|error| error.to_string()));
        let mut asked = Ok(());
        while asked.is_ok() && !writer.is_finished() {
            asked = ask_all(&index, &questions, &mut busy);
        }
        let took = writer.join().map_err(|_| "the writer panicked")??;
        asked.map(|()| took)
    })?;

    let mut rows = Vec::new();
    for (kind, mut quiet, mut busy) in
        [("hits", quiet.hits, busy.hits), ("misses", quiet.misses, busy.misses)]
    {
        let count = busy.len();
        let (quiet, busy) = (median(&mut quiet)?, median(&mut busy)?);
        let ratio = busy.as_secs_f64() / quiet.as_secs_f64();
        rows.push(Row::new(format!("query, nobody writing: {kind}, p50"), time(quiet)));
        rows.push(
            Row::new(
                format!("query under full-speed inserts: {kind}, p50 of {count}"),
                format!("{}, {ratio:.2} times that", time(busy)),
            )
            .reach("<= 5 times", ratio <= 5.0),
        );
    }
    let share = per_second(INSERTED, beside) as f64 / per_second(INSERTED, alone) as f64;
    rows.push(Row::rate("inserting more, no reader", INSERTED, alone));
    rows.push(Row::rate("inserting the same beside the reader", INSERTED, beside));
    rows.push(Row::new("share of the rate that is left", format!("{:.0} %", share * 100.0)));
    Ok(rows)
}

/// Inserts documents as fast as it can; returns the time, making them aside.
fn insert(index: &Index) -> Outcome<Duration> {
    let mut sum = Duration::ZERO;
    load(index, UNUSED..UNUSED + INSERTED, BATCH, |_, took| sum += took)?;
    Ok(sum)
}

/// Asks everything once, hits and misses in turn.
fn ask_all(index: &Index, questions: &Questions, times: &mut Times) -> Outcome {
    let both: Vec<_> = questions.hits.iter().zip(&questions.misses).collect();
    for some in both.chunks(PER_SNAPSHOT / 2) {
        let snapshot = index.snapshot()?;
        for (hit, miss) in some {
            times.hits.push(ask(&snapshot, hit)?);
            times.misses.push(ask(&snapshot, miss)?);
        }
    }
    Ok(())
}
