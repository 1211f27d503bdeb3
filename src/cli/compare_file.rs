//! `twindex compare --method file`: two texts larger than memory, exactly.

use super::args::Global;
use super::compare::Compare;
use super::failure::Failure;
use super::output::{Results, distance, rounded};
use super::progress::Progress;
use super::{Ending, interrupt};
use crate::estimate::{FileOverlap, FileProgress, FileSimilarity, SortedShingles};
use crate::input::{open_sequence, open_text};
use crate::params::Threshold;
use crate::text::Shingler;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

/// What both texts have in common, and how long it took to count.
pub(super) struct Compared {
    pub(super) overlap: FileOverlap,
    pub(super) seconds: f64,
}

pub(super) fn run(global: &Global, args: &Compare) -> Result<Ending, Failure> {
    let threshold = args.threshold.map(Threshold::new).transpose()?;
    let Compared { overlap, seconds } = compare(global, args)?;
    let FileOverlap { sets, multisets, .. } = overlap;
    let asked = if args.multiset { multisets } else { sets };
    let mut fields = vec![
        ("a", args.a.display().to_string().into()),
        ("b", args.b.display().to_string().into()),
        ("method", "file".into()),
        ("similarity", rounded(sets.similarity())),
        ("multiset_similarity", rounded(multisets.similarity())),
        ("shingles_a", asked.a.into()),
        ("shingles_b", asked.b.into()),
        ("shared", asked.shared.into()),
        ("runs", overlap.runs.into()),
        ("temporary_bytes", overlap.temporary_bytes.into()),
        ("memory", args.memory.into()),
        ("peak_memory", overlap.peak_memory.into()),
        ("seconds", rounded(seconds)),
    ];
    if let Some(k) = args.shingle.unwrap_or_default().kmer_width() {
        fields.push(distance(sets.similarity(), k));
    }
    let mut results = Results::new(global);
    results.object(&fields)?;
    results.flush()?;
    let below = threshold.is_some_and(|threshold| asked.similarity() < threshold.get());
    Ok(if below { Ending::Nothing } else { Ending::Done })
}

/// Reads both files, one after the other, and compares them.
pub(super) fn compare(global: &Global, args: &Compare) -> Result<Compared, Failure> {
    let shingle = args.shingle.unwrap_or_default();
    let normalization = args.normalize.unwrap_or(shingle.default_normalization());
    let shingler = Shingler::new(shingle, normalization, false, args.seed)?;
    let similarity = FileSimilarity::new(shingler, args.memory)?;
    interrupt::catch()?;
    let begun = Instant::now();
    let progress = Progress::of_parts(global);
    let mut work = Work::of(args);
    let sort = |path: &Path, work: &mut Work| -> Result<SortedShingles, Failure> {
        let open = if shingle.kmer_width().is_some() { open_sequence } else { open_text };
        let text = open(path).map_err(|bad| anyhow::anyhow!("{bad}"))?;
        let sorted = similarity.sort(text, &mut |at| work.read(at, &progress));
        work.done += work.now;
        match sorted {
            Err(error @ crate::Error::Interrupted { .. } | error @ crate::Error::Io { .. }) => {
                Err(error.into())
            }
            sorted => Ok(sorted.map_err(|error| anyhow::anyhow!("{}: {error}", path.display()))?),
        }
    };
    let (a, b) = (sort(&args.a, &mut work)?, sort(&args.b, &mut work)?);
    let overlap = a.overlap(&b, &mut |at| work.merge(at, &progress))?;
    progress.finish();
    Ok(Compared { overlap, seconds: begun.elapsed().as_secs_f64() })
}

/// How far the work is: bytes are read, and as much again is merged.
struct Work {
    done: u64,
    now: u64,
    /// Bytes of both files, as far as they are known.
    bytes: u64,
}

impl Work {
    fn of(args: &Compare) -> Self {
        let size = |path: &Path| std::fs::metadata(path).map_or(0, |found| found.len());
        Self { done: 0, now: 0, bytes: size(&args.a) + size(&args.b) }
    }

    fn read(&mut self, at: FileProgress, progress: &Progress) -> ControlFlow<()> {
        self.now = at.read;
        self.tell(self.done + at.read, progress)
    }

    fn merge(&mut self, at: FileProgress, progress: &Progress) -> ControlFlow<()> {
        let share = at.merged as f64 / at.shingles.max(1) as f64;
        self.bytes = self.done;
        self.tell(self.done + (share * self.done as f64) as u64, progress)
    }

    fn tell(&self, done: u64, progress: &Progress) -> ControlFlow<()> {
        // What is read from a pipe, or is compressed, becomes more than was known.
        let total = 2 * self.bytes.max(done.div_ceil(2));
        progress.watch()(crate::store::Progress { done, total })
    }
}
