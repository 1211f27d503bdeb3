//! `twindex-lab compare --method file`: exact comparison of texts larger than memory.

use super::compare::CompareArgs;
use crate::estimate::{FileOverlap, FileProgress, FileSimilarity, SortedShingles};
use anyhow::Context;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use twindex::Error;
use twindex::Shingle;
use twindex_cli::input::{open_sequence, open_text};
use twindex_cli::run::ending::Ending;
use twindex_cli::run::failure::Failure;
use twindex_cli::run::global_options::GlobalOptions;
use twindex_cli::run::read_ahead::ReadAhead;
use twindex_cli::terminal::interrupt;
use twindex_cli::terminal::output::{Results, distance, rounded};
use twindex_cli::terminal::progress_bar::ProgressBar;

/// The default of `--memory` in bytes, 64 MiB.
const MEMORY: usize = 64 << 20;

/// The overlap of two texts, and the seconds that the comparison took.
pub(super) struct FileComparison {
    pub(super) overlap: FileOverlap,
    pub(super) seconds: f64,
}

pub(super) fn run(global: &GlobalOptions, args: &CompareArgs) -> Result<Ending, Failure> {
    let FileComparison { overlap, seconds } = compare(global, args)?;
    let FileOverlap { sets, multisets, .. } = overlap;
    let asked = if args.texts.multiset { multisets } else { sets };
    let mut fields = vec![
        ("a", args.texts.a.display().to_string().into()),
        ("b", args.texts.b.display().to_string().into()),
        ("method", "file".into()),
        ("similarity", rounded(sets.similarity())),
        ("multiset_similarity", rounded(multisets.similarity())),
        ("shingles_a", asked.a.into()),
        ("shingles_b", asked.b.into()),
        ("shared", asked.shared.into()),
        ("runs", overlap.runs.into()),
        ("temporary_bytes", overlap.temporary_bytes.into()),
        ("memory", args.memory.unwrap_or(MEMORY).into()),
        ("peak_memory", overlap.peak_memory.into()),
        ("seconds", rounded(seconds)),
    ];
    if let Some(k) = args.texts.shingle().kmer_width() {
        fields.push(distance(sets.similarity(), k));
    }
    let mut results = Results::new(global);
    results.object(&fields)?;
    results.flush()?;
    let below = args.texts.is_below(asked.similarity());
    Ok(if below { Ending::Nothing } else { Ending::Done })
}

/// The method with the given options.
pub(super) fn similarity(args: &CompareArgs) -> Result<FileSimilarity, Failure> {
    let shingler = args.texts.shingler(false)?;
    Ok(FileSimilarity::new(shingler, args.memory.unwrap_or(MEMORY))?)
}

/// Reads both files, one after the other, and compares them. The work runs on another thread,
/// because reading a silent pipe can block forever; this thread also waits for signals.
pub(super) fn compare(
    global: &GlobalOptions,
    args: &CompareArgs,
) -> Result<FileComparison, Failure> {
    let similarity = similarity(args)?;
    interrupt::catch()?;
    let progress = Arc::new(ProgressBar::of_parts(global));
    let mut job = Some(ComparisonJob {
        paths: [args.texts.a.clone(), args.texts.b.clone()],
        shingle: args.texts.shingle(),
        similarity,
        progress: Arc::clone(&progress),
    });
    let compared =
        ReadAhead::start("comparing", move || job.take().map(ComparisonJob::run))?.next();
    progress.finish();
    compared.unwrap_or_else(|| {
        let path = std::env::temp_dir();
        let outcome = "no temporary file is left";
        Err(Error::Interrupted { path, action: "comparing", outcome }.into())
    })
}

/// A comparison to be run on another thread.
struct ComparisonJob {
    paths: [PathBuf; 2],
    shingle: Shingle,
    similarity: FileSimilarity,
    progress: Arc<ProgressBar>,
}

impl ComparisonJob {
    fn run(self) -> Result<FileComparison, Failure> {
        let begun = Instant::now();
        let mut work = ComparisonProgress::of(&self.paths);
        let [a, b] = &self.paths;
        let (a, b) = (self.sort(a, &mut work)?, self.sort(b, &mut work)?);
        let overlap = a.overlap(&b, &mut |at| work.merge(at, &self.progress))?;
        Ok(FileComparison { overlap, seconds: begun.elapsed().as_secs_f64() })
    }

    fn sort(&self, path: &Path, work: &mut ComparisonProgress) -> Result<SortedShingles, Failure> {
        let open = if self.shingle.kmer_width().is_some() { open_sequence } else { open_text };
        let text = open(path).map_err(|bad| anyhow::anyhow!("{bad}"))?;
        let sorted = self.similarity.sort(text, &mut |at| work.read(at, &self.progress));
        work.done += work.now;
        match sorted {
            Err(error @ Error::Interrupted { .. } | error @ Error::Io { .. }) => Err(error.into()),
            sorted => Ok(sorted.with_context(|| path.display().to_string())?),
        }
    }
}

/// The progress of a comparison, which first reads the bytes and then merges as much again.
struct ComparisonProgress {
    done: u64,
    now: u64,
    /// The size of both files, as far as known.
    bytes: u64,
}

impl ComparisonProgress {
    fn of(paths: &[PathBuf]) -> Self {
        let size = |path: &PathBuf| std::fs::metadata(path).map_or(0, |found| found.len());
        Self { done: 0, now: 0, bytes: paths.iter().map(size).sum() }
    }

    fn read(&mut self, at: FileProgress, progress: &ProgressBar) -> ControlFlow<()> {
        self.now = at.read;
        self.tell(self.done + at.read, progress)
    }

    fn merge(&mut self, at: FileProgress, progress: &ProgressBar) -> ControlFlow<()> {
        let share = at.merged as f64 / at.shingles.max(1) as f64;
        self.bytes = self.done;
        self.tell(self.done + (share * self.done as f64) as u64, progress)
    }

    fn tell(&self, done: u64, progress: &ProgressBar) -> ControlFlow<()> {
        // Pipes and compressed files can have more bytes than known at first.
        let total = 2 * self.bytes.max(done.div_ceil(2));
        progress.at(done, total)
    }
}
