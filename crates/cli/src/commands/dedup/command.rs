//! The `twindex dedup` command: its options, its run and its summary.

use crate::commands::dedup::audit::Audit;
use crate::commands::dedup::deduplication::{
    Counts, Deduplication, InputRecord, changed_error, stored_outputs,
};
use crate::commands::dedup::dry_run::DryRun;
use crate::commands::dedup::kept_output::OutputRecord;
use crate::commands::dedup::partial_file::PartialFile;
use crate::commands::dedup::targets::Targets;
use crate::input::{BadRecord, RawRecord, RecordName, STANDARD_INPUT};
use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::run::index_settings::IndexSettings;
use crate::run::input_options::InputOptions;
use crate::run::records::Records;
use crate::run::resume_key::ResumeKey;
use crate::run::{ending::Ending, opening, records};
use crate::terminal::interrupt;
use crate::terminal::output::{bytes, count, listed, similarity, summary, whole_millis};
use crate::terminal::progress_bar::ProgressBar;
use anyhow::anyhow;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::Instant;
use twindex::Error;
use twindex::{DedupInput, DedupRun, Document, Index, ReadOnlyIndex, Snapshot};
use twindex::{Signature, Sketcher};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Records are judged in input order. A record that is similar to a known document is removed and
reported in the audit; known documents are those of the index, of the indexes of --against, and the
kept records before it. Any other record is written to OUT unchanged, and added to the index. A
record whose id and text are in the index already is written again. A record whose id is in the
index with another text is judged like any other, and replaces that document if it is kept.

OUT appears under its name when it is complete. If the command is stopped or killed, the same
command resumes where it was; --restart starts over.
Audit columns (fields in FILE, and with --json): id, duplicate_of, similarity, exact.

Examples:
  twindex dedup seen.twx today.jsonl -o new.jsonl --removed removed.jsonl
  twindex dedup seen.twx today.jsonl --dry-run
  twindex dedup train.twx crawl.csv -o train.csv --against test.twx
  twindex dedup docs.twx docs/ -o kept-paths.txt --threshold 0.9")]
pub(crate) struct Dedup {
    /// The index file; created if there is none
    pub(crate) index: PathBuf,
    /// Files, directories, or - for standard input
    #[arg(default_value = "-")]
    pub(crate) paths: Vec<PathBuf>,
    /// Write the kept records to this file, unchanged; for whole files, their paths; - for standard
    /// output
    #[arg(long, short, value_name = "OUT", required_unless_present = "dry_run")]
    pub(crate) output: Option<PathBuf>,
    /// Write a JSON line for each removed record to this file [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub(crate) removed: Option<PathBuf>,
    /// Change no file; only print what would be removed
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not write records whose id and text are in the index already
    #[arg(long)]
    pub(crate) skip_known: bool,
    /// Also remove records similar to a document of this index, which is only read (repeatable)
    #[arg(long, value_name = "INDEX")]
    pub(crate) against: Vec<PathBuf>,
    /// Use estimates even if the index stores texts: faster, because no text is read
    #[arg(long)]
    pub(crate) estimate: bool,
    /// Renew the insertion time of a document when it or a duplicate of it comes again
    #[arg(long)]
    pub(crate) touch: bool,
    /// Start over instead of resuming an interrupted run of the same command
    #[arg(long)]
    pub(crate) restart: bool,
    /// Records in one commit
    #[arg(
        long,
        value_name = "DOCS",
        default_value_t = 10_000,
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub(crate) batch: u32,
    #[command(flatten)]
    pub(crate) input: InputOptions,
    #[command(flatten)]
    pub(crate) settings: IndexSettings,
}

/// The number of records that the run judges between two checks for an interrupt.
const RECORDS_PER_SLICE: usize = 1 << 10;

/// Runs the command.
pub(crate) fn run(global: &GlobalOptions, args: &Dedup) -> Result<Ending, Failure> {
    interrupt::catch()?;
    let start = Instant::now();
    let targets = Targets::of(args)?;
    if !args.index.exists() {
        args.input.check(args.settings.shingle(), args.settings.weighted(), &args.index)?;
    }
    let dry_run = args.dry_run.then(|| DryRun::of(global, args)).transpose()?;
    let place = dry_run.as_ref().map_or(&args.index, |copy| &copy.index);
    let index = args.open(global, place)?;
    args.input.check(index.settings().shingle, index.settings().weighted, &args.index)?;
    let others = open_against(global, args)?;
    let snapshots = others.iter().map(ReadOnlyIndex::snapshot).collect::<Result<Vec<_>, _>>()?;
    let against: Vec<&Snapshot> = snapshots.iter().collect();
    let threshold = args.settings.threshold().unwrap_or(index.settings().threshold());
    let mut txn = index.begin_write()?;
    // This call checks the settings, so it runs before the command writes anything.
    let insertion = txn.insertion().unless_similar(threshold).against(&against);
    let recall = insertion.estimate(args.estimate).recall()?;
    let report = |counts: &Counts, failed: u64, interrupted: bool| {
        let seconds = start.elapsed().as_secs_f64();
        report(global, args, counts, failed, recall, seconds, interrupted);
    };

    let key = args.resume_key(threshold);
    let mut interrupted = match targets.output_file().is_some() && !args.restart {
        true => DedupRun::resume(&txn, &key)?,
        false => None,
    };
    if let Some(run) = interrupted.take_if(|run| run.is_judged()) {
        drop(txn);
        let counts = Counts::of(&run);
        if let Some(failed) = complete(global, args, &targets, &index, run)? {
            report(&counts, failed, false);
            return Ok(if failed > 0 { Ending::SomeFailed } else { Ending::Done });
        }
        txn = index.begin_write()?;
    }
    let comparing = (threshold, &*against);
    let mut deduplication =
        Deduplication::begin(global, args, &targets, comparing, (&key, interrupted))?;
    let records = args.records(&targets, &index, Some(index.sketcher().clone()))?;
    let mut progress = ProgressBar::new(global, records.expected_bytes);
    let mut failed = 0_u64;
    for parsed in records {
        let documents = parsed.results.len() as u64;
        if let Some(header) = &parsed.header {
            deduplication.kept.begin_table(header)?;
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
        while !good.is_empty() && !interrupt::asked() {
            let room = (args.batch as usize - deduplication.in_batch).min(RECORDS_PER_SLICE);
            let later = good.split_off(good.len().min(room));
            deduplication.judge(&mut txn, good)?;
            good = later;
            if deduplication.in_batch >= args.batch as usize {
                deduplication.store(&mut txn, false)?;
                txn.commit()?;
                if global.verbose {
                    let records = count(deduplication.run.given().len(), "record");
                    progress.note(&format!("committed {records}"));
                }
                txn = index.begin_write()?;
            }
        }
        progress.add(documents, parsed.bytes);
    }
    let interrupted = interrupt::asked();
    deduplication.store(&mut txn, !interrupted)?;
    txn.commit()?;
    progress.finish();
    let Deduplication { kept, audit, counts, run, .. } = deduplication;
    let given = run.given().len();
    if !interrupted {
        // If the process is killed before `forget` commits, the next run completes these steps.
        index.flush()?;
        let spool = audit.finish()?;
        kept.finish()?;
        if targets.output_file().is_some() {
            forget(&index, run)?;
        }
        spool.map_or(Ok(()), PartialFile::discard)?;
        drop(index);
    }
    report(&counts, failed, interrupted);
    if interrupted {
        let again = match (args.dry_run, targets.output_file().is_some()) {
            (true, _) => "nothing was changed",
            (false, true) => "run the same command again to go on",
            (false, false) => "what was kept of them is in the index",
        };
        let records = count(given, "record");
        let place = args.index.display();
        return Err(anyhow!("{place}: interrupted after {records}; {again}").into());
    }
    Ok(if failed > 0 { Ending::SomeFailed } else { Ending::Done })
}

/// Completes an interrupted run that has judged all its records: gives its files their final names.
///
/// Returns the number of bad records if that run had the same input. Returns `None` if the input
/// differs and must still be judged.
///
/// # Errors
///
/// Fails if a file of the interrupted run has changed, or if the input differs and standard input,
/// which cannot be read again, is part of it.
fn complete(
    global: &GlobalOptions,
    args: &Dedup,
    targets: &Targets,
    index: &Index,
    run: DedupRun,
) -> Result<Option<u64>, Failure> {
    let (Some(out), Some(spool)) = (targets.output_file(), targets.spool()) else {
        return Ok(None);
    };
    let (kept_content, audit_content) = stored_outputs(&run);
    let audit = match targets.audit_is_file() {
        true => PartialFile::complete(&spool, audit_content)?,
        false => true,
    };
    if !audit || !PartialFile::complete(out, kept_content)? {
        return Err(changed_error(out));
    }
    let (mut found, mut failed) = (DedupInput::default(), 0);
    let records = args.records(targets, index, None)?;
    for parsed in records {
        for result in parsed.results {
            match result {
                Ok(incoming) => found.add(&incoming.document),
                Err(_) => failed += 1,
            }
        }
    }
    if interrupt::asked() {
        return Err(anyhow!("{}: interrupted; nothing was changed", args.index.display()).into());
    }
    let same = found == run.judged();
    let spool = match targets.audit_is_file() {
        true => None,
        false => PartialFile::resume(&spool, audit_content)?,
    };
    let spool = match spool {
        // The interrupted run may have ended before it printed the audit, so this prints it again.
        Some(spool) if same => Audit::begin(global, targets, Some(spool))?.finish()?,
        spool => spool,
    };
    forget(index, run)?;
    spool.map_or(Ok(()), PartialFile::discard)?;
    if same {
        return Ok(Some(failed));
    }
    match args.paths.iter().any(|path| path.as_os_str() == STANDARD_INPUT) {
        true => Err(anyhow!(
            "{}: the run to it that was interrupted is complete now; standard input was another \
             one and has been read, so run the command again",
            out.display()
        )
        .into()),
        false => Ok(None),
    }
}

/// Deletes the stored progress of a completed run from the index.
fn forget(index: &Index, run: DedupRun) -> Result<(), Failure> {
    let mut txn = index.begin_write()?;
    run.finish(&mut txn)?;
    Ok(txn.commit()?)
}

impl Dedup {
    /// Opens the index, or creates it. Only a new index stores the threshold of this run.
    fn open(&self, global: &GlobalOptions, place: &Path) -> Result<Index, Failure> {
        opening::open(global, self.settings.options_but_threshold(), |options| {
            match options.open(place) {
                Err(Error::NotFound { .. }) => self.settings.options().open_or_create(place),
                opened => opened,
            }
        })
    }

    /// Starts to read the input. Without a sketcher, documents have an empty signature: their ids
    /// and text hashes suffice to tell whether two inputs are the same.
    fn records(
        &self,
        targets: &Targets,
        index: &Index,
        sketcher: Option<Sketcher>,
    ) -> Result<Records<InputRecord>, Failure> {
        let mut inputs = self.input.of(&self.paths, &self.index, index.settings().weighted);
        inputs.leave_out.extend(targets.files().into_iter().chain(self.against.iter().cloned()));
        let settings = *index.settings();
        let none = Signature::empty(settings.lanes())?;
        records::start(inputs, settings.shingle, move |record| {
            let (id, named) = match record.name {
                RecordName::Id(id) => (id, true),
                RecordName::Automatic => ("#".to_owned(), false),
            };
            let place = record.place;
            if record.raw == RawRecord::File && id.contains('\n') {
                let cause = "its name holds a line break, which a list of paths cannot have".into();
                return Err(BadRecord { place, cause });
            }
            let written = OutputRecord::new(record.raw, &id);
            let document = match &sketcher {
                Some(sketcher) => Document::prepare(id, record.body.content(), sketcher, &settings),
                None => Document::from_signature(id, none.clone()).map(|document| {
                    let whole = document.with_content(record.body.content());
                    let (hash, bytes) = (whole.text_hash(), whole.text_bytes());
                    whole.with_text_hash(hash, bytes)
                }),
            };
            match document {
                Ok(document) if named => Ok(InputRecord { document, place, written }),
                Ok(document) => Ok(InputRecord { document: document.without_id(), place, written }),
                Err(error) => Err(BadRecord { place, cause: error.to_string() }),
            }
        })
    }

    /// Returns the key of everything that decides which records go where.
    ///
    /// A command resumes an interrupted run if their keys are equal: the same folder, inputs in the
    /// same order, outputs, `--against` indexes, threshold and options. The sizes of commits and
    /// caches are not part of the key.
    fn resume_key(&self, threshold: f64) -> ResumeKey {
        let key = ResumeKey::default()
            .with_paths("folder", std::env::current_dir().ok().as_deref())
            .with_paths("input", self.paths.iter().map(PathBuf::as_path))
            .with_paths("output", self.output.as_deref())
            .with_paths("removed", self.removed.as_deref())
            .with_paths("against", self.against.iter().map(PathBuf::as_path))
            .with("threshold", threshold.to_bits().to_le_bytes())
            .with_flag("skip-known", self.skip_known)
            .with_flag("touch", self.touch)
            .with_flag("estimate", self.estimate);
        self.input.add_to(key)
    }
}

/// Opens the indexes of `--against` for reading.
fn open_against(global: &GlobalOptions, args: &Dedup) -> Result<Vec<ReadOnlyIndex>, Failure> {
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

/// Prints the summary of the run.
fn report(
    global: &GlobalOptions,
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
        ("seconds", whole_millis(seconds)),
        ("recall", similarity(recall)),
        ("interrupted", interrupted.into()),
        ("dry_run", Value::from(args.dry_run)),
    ];
    let all = added + replaced + unchanged + duplicates;
    let would = if args.dry_run { "would remove" } else { "removed" };
    let mut sentence =
        format!("{would} {} of {}", count(duplicates, "duplicate"), count(all, "document"));
    sentence += &listed(&[
        (added, "added"),
        (replaced, "replaced"),
        (unchanged, if args.skip_known { "known and left out" } else { "known" }),
        (empty, "empty"),
        (failed, "failed"),
    ]);
    sentence += &format!(" in {seconds:.1} s: {} of text", bytes(read));
    sentence += &format!(", recall at the threshold {}", similarity(recall));
    summary(global, &fields, &sentence);
}
