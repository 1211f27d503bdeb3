//! `ingest`: ready signatures, ids in random order, into a new index.

use crate::Outcome;
use crate::report::{Row, grouped, per_second, progress, time};
use crate::synthetic::load;
use crate::system::{bytes_written, peak_memory, scratch};
use std::path::Path;
use std::time::{Duration, Instant};
use twindex::{DEFAULT_LANES, Index};

/// Documents of a commit.
pub const BATCH: u64 = 10_000;

/// Documents and the time they took.
#[derive(Clone, Copy, Default)]
struct Part {
    documents: u64,
    took: Duration,
}

impl Part {
    fn sum(parts: &[Part]) -> Part {
        parts.iter().fold(Part::default(), |sum, part| Part {
            documents: sum.documents + part.documents,
            took: sum.took + part.took,
        })
    }

    fn rate(self) -> u64 {
        per_second(self.documents, self.took)
    }
}

pub fn run(count: u64, keep: Option<&Path>) -> Outcome<Vec<Row>> {
    let folder = scratch()?;
    let path = keep.map_or_else(|| folder.path().join("ingest.twx"), Path::to_owned);
    let index = Index::create(&path)?;
    assert_eq!(index.settings().lanes(), DEFAULT_LANES);
    // A small run has smaller commits, so that each tenth has one.
    let batch = BATCH.min(count.div_ceil(10)).max(1);
    let mut tenths = [Part::default(); 10];
    let (mut done, mut longest) = (0, Duration::ZERO);
    let written = bytes_written();
    load(&index, 0..count, batch, |documents, took| {
        let at = (done * 10 / count) as usize;
        tenths[at].documents += documents;
        tenths[at].took += took;
        longest = longest.max(took);
        done += documents;
        if (done * 10 / count) as usize > at {
            let rate = grouped(tenths[at].rate());
            progress(&format!("{} documents, now {rate} a second", grouped(done)));
        }
    })?;
    let written = bytes_written() - written;
    let start = Instant::now();
    index.close()?;
    let closing = start.elapsed();

    let all = Part::sum(&tenths);
    let thousands: Vec<String> =
        tenths.iter().map(|part| (part.rate() / 1_000).to_string()).collect();
    let (first, last) = (Part::sum(&tenths[..4]).rate(), Part::sum(&tenths[6..]).rate());
    let share = last as f64 / first.max(1) as f64;
    let written = written as f64 / count.max(1) as f64;
    let memory = peak_memory() >> 20;
    Ok(vec![
        Row::rate(format!("ingest of {} signatures, mean", grouped(count)), count, all.took)
            .reach(">= 250,000", all.rate() >= 250_000),
        Row::new("rate of each tenth, thousands", thousands.join(" ")),
        Row::new("last four tenths against the first four", format!("{:.0} %", share * 100.0))
            .reach(">= 80 %", share >= 0.8),
        Row::within("longest insert call and commit", longest, Duration::from_secs(1)),
        Row::new("bytes written a document", format!("{written:.0}"))
            .reach("<= 1,000", written <= 1_000.0),
        Row::new("peak memory", format!("{memory} MiB")).reach("<= 512 MiB", memory <= 512),
        Row::new("closing, unfinished merges included", time(closing)),
    ])
}
