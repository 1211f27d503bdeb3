//! `twindex create`, `check` and `compact`: create, verify, repair and compact an index file.

use crate::commands::outputs::exclusive_file;
use crate::commands::outputs::partial_file::partial_path;
use crate::run::failure::{self, Failure};
use crate::run::global_options::GlobalOptions;
use crate::run::index_settings::{IndexSettings, described};
use crate::run::whole_file::sync_folder;
use crate::run::{ending::Ending, opening};
use crate::terminal::messages::message;
use crate::terminal::output::{Results, bytes, count, grouped, summary, whole_millis};
use crate::terminal::progress_bar::ProgressBar;
use crate::terminal::{escape, interrupt};
use anyhow::{Context, anyhow};
use serde_json::Value;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use twindex::{Error, IndexOptions};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  twindex create pages.twx
  twindex create code.twx --shingle line:3 --threshold 0.7
  twindex create sets.twx --shingle token --recall 0.95")]
pub(crate) struct Create {
    /// The index file
    pub(crate) index: PathBuf,
    #[command(flatten)]
    pub(crate) settings: IndexSettings,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Output columns (fields of violations with --json): invariant, place, detail. The invariants are
numbered as in docs/format.md. The exit status is 1 if an invariant is violated, and 2 if a page
is damaged.

--repair also verifies every page. If anything is wrong, it makes a new file from the documents
that can be read, and replaces the old file. It counts the documents that cannot be read and
prints their ids where they are known, so that you can add them again: the first thousand, or all
of them with --lost. In that case it keeps the old file as INDEX.damaged, and the exit status is
1.

Examples:
  twindex check pages.twx
  twindex check pages.twx --repair
  twindex check pages.twx --repair --lost lost.txt")]
pub(crate) struct Check {
    /// The index file
    pub(crate) index: PathBuf,
    /// If anything is wrong, make a new file from what can be read
    #[arg(long)]
    pub(crate) repair: bool,
    /// With --repair, write the ids of all lost documents to a new file, one a line
    #[arg(long, value_name = "FILE", requires = "repair")]
    pub(crate) lost: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
No other process may write to the index meanwhile. If another process reads it, the runs are
merged, but the file is not shrunk, and the exit status is 2. compact needs space for a second
copy of the band entries and of the table that it packs.

Examples:
  twindex compact pages.twx
  twindex compact pages.twx --json --wait 60")]
pub(crate) struct Compact {
    /// The index file
    pub(crate) index: PathBuf,
}

/// Creates an empty index.
pub(crate) fn create(global: &GlobalOptions, args: &Create) -> Result<Ending, Failure> {
    interrupt::catch()?;
    let wait = global.wait.unwrap_or_default();
    let index = args.settings.options().wait(wait).create(&args.index)?;
    let settings = index.settings();
    let fields = [
        ("threshold", settings.threshold().into()),
        ("recall", settings.recall().into()),
        ("lanes", settings.lanes().into()),
        ("bands", settings.plan.bands().into()),
        ("depth", settings.plan.depth().into()),
        ("shingle", settings.shingle.to_string().into()),
        ("normalize", settings.normalization.to_string().into()),
    ];
    let sentence = format!("created {}: {}", args.index.display(), described(settings));
    summary(global, &fields, &sentence);
    if interrupt::asked() {
        let name = args.index.display();
        return Err(anyhow!("{name}: interrupted; the index is there, and empty").into());
    }
    Ok(Ending::Done)
}

/// Checks the invariants of an index, or repairs it.
pub(crate) fn check(global: &GlobalOptions, args: &Check) -> Result<Ending, Failure> {
    interrupt::catch()?;
    let progress = ProgressBar::of_parts(global);
    if args.repair {
        return repair(global, args, &progress);
    }
    let index = opening::to_read(global, &args.index)?;
    let report = index.snapshot()?.check().watch(progress.watch());
    progress.finish();
    let report = report?;
    let mut results = Results::new(global);
    if global.json {
        let violations: Vec<Value> = report
            .violations
            .iter()
            .map(|violation| {
                serde_json::json!({
                    "invariant": violation.invariant.number(),
                    "place": violation.place,
                    "detail": violation.detail,
                })
            })
            .collect();
        results.object(&[
            ("clean", report.is_clean().into()),
            ("documents", report.documents.into()),
            ("entries", report.entries.into()),
            ("violation_count", report.violation_count.into()),
            ("violations", violations.into()),
        ])?;
    } else {
        for violation in &report.violations {
            results.line(&[
                ("invariant", violation.invariant.number().into()),
                ("place", violation.place.as_str().into()),
                ("detail", violation.detail.as_str().into()),
            ])?;
        }
        let verdict = match report.violation_count {
            0 => "all invariants hold".to_owned(),
            many => count(many, "violation"),
        };
        let documents = count(report.documents, "document");
        let mut sentence = format!("{}: {verdict}: {documents}", args.index.display());
        // Those of the latest documents are not in the file.
        if report.entries > 0 {
            sentence += &format!(", {} band entries", grouped(report.entries));
        }
        summary(global, &[], &sentence);
    }
    results.flush()?;
    Ok(if report.is_clean() { Ending::Done } else { Ending::Nothing })
}

/// Rebuilds a damaged index from the documents that can be read, and prints the ids of lost ones.
fn repair(global: &GlobalOptions, args: &Check, progress: &ProgressBar) -> Result<Ending, Failure> {
    let list = Mutex::new(args.lost.as_deref().map(LostList::begin).transpose()?);
    let repair = opening::open(global, IndexOptions::new(), |options| {
        let mut list = list.lock().unwrap_or_else(PoisonError::into_inner);
        let list = &mut *list;
        let lost = |id: &str| list.iter_mut().for_each(|list| list.add(id));
        options.repair_listing_lost(&args.index, lost).watch(progress.watch())
    });
    progress.finish();
    let list = list.into_inner().unwrap_or_else(PoisonError::into_inner);
    let repair = repair.map_err(|failure| {
        // Nothing was lost: the index is as it was.
        let _ = list.as_ref().map(|list| fs::remove_file(&list.partial));
        failure::of_repair(failure)
    })?;
    // The index has been replaced, so what was lost is told even if the list cannot be written.
    let listed = list.map(LostList::finish);
    let mut results = Results::new(global);
    for id in &repair.lost_ids {
        results.line(&[("lost", id.as_str().into())])?;
    }
    results.flush()?;
    let name = args.index.display();
    let documents = count(repair.documents, "document");
    if let (Some(Ok(listed)), Some(path)) = (&listed, &args.lost) {
        let listed = *listed;
        let listed = count(listed, "id");
        message(&format!("{name}: {listed} of lost documents written to {}", path.display()));
    }
    if let Some(cause) = &repair.cause {
        message(&format!("{name}: was damaged: {cause}"));
    }
    if let Some(kept) = &repair.kept {
        let lost = match repair.lost {
            0 => "what could not be read may have been documents".to_owned(),
            lost => {
                format!("{} could not be read and must be added again", count(lost, "document"))
            }
        };
        message(&format!("{name}: {lost}; the damaged file is kept as {}", kept.display()));
    }
    let sentence = match repair.cause {
        None => format!("{name}: nothing to repair: {documents}"),
        Some(_) => format!("{name}: made again from {documents}"),
    };
    let fields = [
        ("repaired", repair.cause.is_some().into()),
        ("cause", repair.cause.as_deref().into()),
        ("documents", repair.documents.into()),
        ("lost", repair.lost.into()),
        ("kept", repair.kept.map(|kept| kept.display().to_string()).into()),
    ];
    summary(global, &fields, &sentence);
    listed.transpose()?;
    Ok(if repair.lost == 0 { Ending::Done } else { Ending::Nothing })
}

/// The file of the ids of lost documents. It must be new, so that no other file is overwritten, and
/// gets its name when it is complete.
struct LostList<'p> {
    path: &'p Path,
    partial: PathBuf,
    file: BufWriter<File>,
    written: u64,
    /// The first error, which is told at the end.
    failed: Option<io::Error>,
}

impl<'p> LostList<'p> {
    fn begin(path: &'p Path) -> Result<Self, Failure> {
        let partial = partial_path(path);
        // Two repairs with one list would delete it for each other.
        let file = exclusive_file::create(&partial)?;
        // Another repair may have named its list just now.
        if path.symlink_metadata().is_ok() {
            let _ = fs::remove_file(&partial);
            let place = path.display();
            return Err(anyhow!("{place}: already exists; name a new file for --lost").into());
        }
        Ok(Self { path, partial, file: BufWriter::new(file), written: 0, failed: None })
    }

    fn add(&mut self, id: &str) {
        self.written += 1;
        let written = writeln!(self.file, "{}", escape::cell(id));
        self.failed = self.failed.take().or(written.err());
    }

    /// Names the file, and returns the number of ids.
    fn finish(mut self) -> Result<u64, Failure> {
        let flushed = self.file.flush().and_then(|()| self.file.get_ref().sync_all());
        let written = self.failed.map_or(flushed, Err);
        let named = written.and_then(|()| fs::rename(&self.partial, self.path));
        named
            .and_then(|()| sync_folder(self.path))
            .with_context(|| self.path.display().to_string())?;
        Ok(self.written)
    }
}

/// Compacts an index file.
pub(crate) fn compact(global: &GlobalOptions, args: &Compact) -> Result<Ending, Failure> {
    interrupt::catch()?;
    let start = Instant::now();
    let size = || -> Result<u64, Failure> {
        let file = fs::metadata(&args.index);
        Ok(file.with_context(|| args.index.display().to_string())?.len())
    };
    let mut index = opening::to_write(global, &args.index)?;
    let before = size()?;
    let progress = ProgressBar::of_parts(global);
    let compacted = index.compact().watch(progress.watch());
    progress.finish();
    if let Err(Error::NotShrunk { path }) = &compacted {
        let wait = global.wait.unwrap_or_default().as_secs_f64();
        let path = path.display();
        return Err(anyhow!(
            "{path}: compacted but not shrunk: another process has read it for {wait} s; run the \
             command again when that has finished, or wait longer with --wait SECONDS"
        )
        .into());
    }
    compacted?;
    // Closing the index trims the file once more, so its size is read afterwards.
    index.close()?;
    let after = size()?;
    let seconds = start.elapsed().as_secs_f64();
    let fields = [
        ("before_bytes", before.into()),
        ("bytes", after.into()),
        ("seconds", whole_millis(seconds)),
    ];
    let sentence =
        format!("{}: {} before, {} after", args.index.display(), bytes(before), bytes(after));
    summary(global, &fields, &sentence);
    Ok(Ending::Done)
}
