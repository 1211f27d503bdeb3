//! `twindex dedup`: keep what is similar to nothing known, and remember it.

use super::args::Global;
use super::audit::Asked;
use super::failure::Failure;
use super::inputs::Input;
use super::judging::{Counts, Incoming, Judging};
use super::kept::Written;
use super::output::{bytes, count, grouped, similarity, summary};
use super::part::is_file;
use super::progress::Progress;
use super::settings::Settings;
use super::trial::Trial;
use super::{Ending, interrupt, opening, records};
use crate::error::Error;
use crate::hash::text_hash;
use crate::index::{Document, Index, ReadOnlyIndex, Snapshot};
use crate::input::{BadRecord, Name, STANDARD_INPUT};
use crate::lsh::Probe;
use crate::params::Threshold;
use anyhow::{Context, anyhow};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::Instant;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Records are judged in order. One that is similar to a document known already (of the index, of an
index of --against, or earlier in the input) is left out and audited; any other is written to OUT
as it came, and remembered. One whose id and text are in the index is known: it is written again.
The same id with another text is judged as any other, and replaces if it is kept.

OUT appears when it is complete. Stopped or killed, the same command goes on where it was.
Audit columns (fields in FILE, and with --json): id, duplicate_of, similarity, exact.

Examples:
  twindex dedup seen.twx today.jsonl -o new.jsonl --removed removed.jsonl
  twindex dedup seen.twx today.jsonl --dry-run
  twindex dedup train.twx crawl.csv -o train.csv --against test.twx
  twindex dedup docs.twx docs/ -o kept-paths.txt --threshold 0.9")]
pub(super) struct Dedup {
    /// The index file; created if there is none
    pub(super) index: PathBuf,
    /// Files, directories, or - for standard input
    #[arg(default_value = "-")]
    pub(super) paths: Vec<PathBuf>,
    /// Where kept records are written, as they came; paths for whole files; - for standard output
    #[arg(long, short, value_name = "OUT", required_unless_present = "dry_run")]
    pub(super) output: Option<PathBuf>,
    /// Where a JSON line is written for each removed record [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub(super) removed: Option<PathBuf>,
    /// Change no file, only print what would be removed
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Leave out records whose id and text are in the index
    #[arg(long)]
    pub(super) skip_known: bool,
    /// Remove also what is similar to a document of this index, which is only read; repeatable
    #[arg(long, value_name = "INDEX")]
    pub(super) against: Vec<PathBuf>,
    /// Renew the time of insertion of documents that are met again, or duplicates of them
    #[arg(long)]
    pub(super) touch: bool,
    /// Records in one commit
    #[arg(long, value_name = "DOCS", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) batch: u32,
    #[command(flatten)]
    pub(super) input: Input,
    #[command(flatten)]
    pub(super) settings: Settings,
}

pub(super) fn run(global: &Global, args: &Dedup) -> Result<Ending, Failure> {
    interrupt::catch()?;
    let start = Instant::now();
    args.check_paths()?;
    if !args.index.exists() {
        args.input.check_shingle(args.settings.shingle(), &args.index)?;
    }
    let trial = args.dry_run.then(|| Trial::of(global, args)).transpose()?;
    let place = trial.as_ref().map_or(&args.index, |trial| &trial.index);
    let index = args.open(global, place)?;
    let shingle = index.settings().shingle;
    args.input.check_shingle(shingle, &args.index)?;
    let others = others(global, args)?;
    let snapshots = others.iter().map(ReadOnlyIndex::snapshot).collect::<Result<Vec<_>, _>>()?;
    let against: Vec<&Snapshot> = snapshots.iter().collect();
    let threshold =
        args.settings.threshold().map_or(Ok(index.settings().threshold), Threshold::new)?;
    let recall = against
        .iter()
        .map(|other| other.settings())
        .chain([index.settings()])
        .map(|settings| Probe::new(settings.plan, threshold, settings.recall).recall())
        .fold(1.0, f64::min);

    let mut txn = index.begin_write()?;
    // What is wrong with settings shows before anything is written.
    txn.insert_documents_unless_similar(Vec::new(), threshold.get(), &against)?;
    let mut run = Judging::begin(global, args, threshold.get(), &against, &mut txn)?;
    let sketcher = index.sketcher().clone();
    let mut inputs = args.input.of(&args.paths, &args.index);
    inputs.leave_out.extend(run.own_files());
    let mut records = records::start(inputs, shingle, move |record| {
        let (id, named) = match record.name {
            Name::Id(id) => (id, true),
            Name::Automatic => ("#".to_owned(), false),
        };
        let written = Written::new(record.raw, &id);
        let hash = text_hash(id.as_bytes()).rotate_left(1) ^ text_hash(record.text.as_bytes());
        let place = record.place;
        match Document::sketch(id, &record.text, &sketcher) {
            Ok(document) => Ok(Incoming { document, named, place, written, hash }),
            Err(error) => Err(BadRecord { place, cause: error.to_string() }),
        }
    })?;
    let mut progress = Progress::new(global, records.expected_bytes);
    let mut failed = 0_u64;
    while let Some(parsed) = records.next() {
        let documents = parsed.results.len() as u64;
        if let Some(header) = &parsed.header {
            run.kept.begin_table(header)?;
        }
        let mut good = Vec::with_capacity(parsed.results.len());
        for result in parsed.results {
            match result {
                Ok(incoming) => good.push(incoming),
                Err(bad) => {
                    failed += 1;
                    progress.say(&bad.to_string());
                }
            }
        }
        while !good.is_empty() {
            let later = good.split_off(good.len().min(args.batch as usize - run.in_batch));
            run.take(&mut txn, good)?;
            good = later;
            if run.in_batch >= args.batch as usize {
                run.store(&mut txn)?;
                txn.commit()?;
                if global.verbose {
                    progress.say(&format!("committed {}", count(run.mark.records, "record")));
                }
                txn = index.begin_write()?;
            }
        }
        progress.add(documents, parsed.bytes);
    }
    let interrupted = interrupt::asked();
    if !interrupted && run.ahead.is_some() {
        return Err(run.other_input());
    }
    run.store(&mut txn)?;
    txn.commit()?;
    progress.finish();
    let Judging { kept, audit, counts, mark, .. } = run;
    if !interrupted {
        // A kill up to the last commit is made good by the next run.
        index.finish()?;
        audit.finish()?;
        kept.finish()?;
        if args.resumable() {
            let mut txn = index.begin_write()?;
            txn.set_dedup_mark(None)?;
            txn.commit()?;
        }
        drop(index);
    }
    report(global, args, &counts, failed, recall, start.elapsed().as_secs_f64(), interrupted);
    if interrupted {
        let again = match args.resumable() {
            true => "run the same command again to go on",
            false => "nothing but their documents in the index is left of them",
        };
        let records = count(mark.records, "record");
        let place = args.index.display();
        return Err(anyhow!("{place}: interrupted after {records}; {again}").into());
    }
    Ok(if failed > 0 { Ending::SomeFailed } else { Ending::Done })
}

impl Dedup {
    /// Opens the index; the threshold of the run is that of the index only if it is new.
    fn open(&self, global: &Global, place: &Path) -> Result<Index, Failure> {
        opening::open(global, self.settings.options_but_threshold(), |options| {
            match options.open(place) {
                Err(Error::NotFound { .. }) => self.settings.options().open_or_create(place),
                opened => opened,
            }
        })
    }

    /// Refuses to write over what is read, and an output of what is not there.
    fn check_paths(&self) -> Result<(), Failure> {
        for path in self.paths.iter().filter(|path| path.as_os_str() != STANDARD_INPUT) {
            std::fs::metadata(path).with_context(|| path.display().to_string())?;
        }
        let outputs = [&self.output, &self.removed];
        for output in outputs.into_iter().flatten() {
            let mut indexes = self.against.iter().chain([&self.index]);
            if indexes.any(|index| index == output || opening::same_file(index, output)) {
                let place = output.display();
                return Err(anyhow!("{place}: is an index; write to another file").into());
            }
        }
        match outputs {
            [Some(output), Some(removed)] if output == removed && is_file(output) => Err(anyhow!(
                "{}: cannot take both the output and the audit; name two files",
                output.display()
            )
            .into()),
            _ => Ok(()),
        }
    }

    /// The output, if it is a file that can be gone on with.
    pub(super) fn file(&self) -> Option<&Path> {
        self.output.as_deref().filter(|output| !self.dry_run && is_file(output))
    }

    pub(super) fn audit(&self) -> Asked<'_> {
        let to_stdout = |output: &Path| output.as_os_str() == STANDARD_INPUT;
        Asked {
            removed: self.removed.as_deref().filter(|_| !self.dry_run),
            file: self.file(),
            printed: self.dry_run || !self.output.as_deref().is_some_and(to_stdout),
        }
    }

    pub(super) fn resumable(&self) -> bool {
        self.file().is_some()
    }

    /// Of everything that decides what is written.
    pub(super) fn hash(&self, threshold: f64) -> u64 {
        let Self { paths, output, removed, skip_known, against, touch, input, .. } = self;
        let folder = std::env::current_dir().ok();
        let asked = (folder, paths, output, removed, skip_known, against, touch, input, threshold);
        text_hash(format!("{asked:?}").as_bytes())
    }
}

/// Opens the other indexes to be read.
fn others(global: &Global, args: &Dedup) -> Result<Vec<ReadOnlyIndex>, Failure> {
    let open = |path: &PathBuf| match opening::same_file(path, &args.index) {
        true => Err(anyhow!(
            "{}: is the index itself, whose documents count anyway; leave out this --against",
            path.display()
        )
        .into()),
        false => opening::to_read(global, path),
    };
    args.against.iter().map(open).collect()
}

fn report(
    global: &Global,
    args: &Dedup,
    counts: &Counts,
    failed: u64,
    recall: f64,
    seconds: f64,
    interrupted: bool,
) {
    let Counts { added, replaced, unchanged, duplicates, empty, bytes: read } = *counts;
    let fields = [
        ("added", added.into()),
        ("replaced", replaced.into()),
        ("unchanged", unchanged.into()),
        ("duplicates", duplicates.into()),
        ("empty", empty.into()),
        ("failed", failed.into()),
        ("bytes", read.into()),
        ("seconds", ((seconds * 1000.0).round() / 1000.0).into()),
        ("recall", similarity(recall)),
        ("interrupted", interrupted.into()),
        ("dry_run", Value::from(args.dry_run)),
    ];
    let all = added + replaced + unchanged + duplicates;
    let would = if args.dry_run { "would remove" } else { "removed" };
    let mut sentence =
        format!("{would} {} of {}", count(duplicates, "duplicate"), count(all, "document"));
    for (number, what) in [
        (added, "added"),
        (replaced, "replaced"),
        (unchanged, if args.skip_known { "known and left out" } else { "known" }),
        (empty, "empty"),
        (failed, "failed"),
    ] {
        if number > 0 {
            sentence += &format!(", {} {what}", grouped(number));
        }
    }
    sentence += &format!(" in {seconds:.1} s: {} of text", bytes(read));
    sentence += &format!(", recall at the threshold {}", similarity(recall));
    summary(global, &fields, &sentence);
}
