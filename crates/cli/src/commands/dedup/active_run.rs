//! What a run of `dedup` makes with its first good record: the index, its outputs, its progress.

use crate::commands::dedup::audit_lines::RunAudit;
use crate::commands::dedup::circumstances::Circumstances;
use crate::commands::dedup::counts::Counts;
use crate::commands::dedup::deduplication::Deduplication;
use crate::commands::dedup::input_record::InputRecord;
use crate::commands::dedup::kept_before::would_lose;
use crate::commands::dedup::overwriting;
use crate::commands::dedup::reporting;
use crate::commands::dedup::request::Request;
use crate::commands::dedup::write_chosen;
use crate::commands::outputs::kept::Kept;
use crate::commands::outputs::partial_file::PartialFile;
use crate::report::{Findings, Histogram};
use crate::run::failure::Failure;
use crate::run::opening;
use crate::run::records::Source;
use crate::terminal::interrupt;
use crate::terminal::output::count;
use crate::terminal::progress_bar::ProgressBar;
use anyhow::anyhow;
use twindex::{DedupRun, Index, WriteTxn};

/// The most records that the run judges together, and between two checks for an interrupt.
const RECORDS_PER_SLICE: usize = 1 << 12;

/// The most records of a commit and, at the end of a slice, of their bytes, unless the user says
/// how many records. A killed run judges them again. A commit costs the time of 1,000 records, and
/// ends a part of an output of Parquet.
const COMMIT_RECORDS: usize = 50_000;
const COMMIT_BYTES: u64 = 256 << 20;

/// A run that has an index and outputs.
pub(crate) struct ActiveRun<'a> {
    pub(crate) index: Index,
    pub(crate) txn: WriteTxn,
    pub(crate) deduplication: Deduplication<'a>,
    pub(crate) recall: f64,
    /// Whether a commit has records of this run.
    committed: bool,
}

impl<'a> ActiveRun<'a> {
    /// Creates the index if there is none, and starts the outputs, or goes on with those of an
    /// interrupted run.
    pub(crate) fn new(
        request: &'a Request<'a>,
        index: Option<Index>,
        interrupted: Option<DedupRun>,
    ) -> Result<Self, Failure> {
        let index = match index {
            Some(index) => index,
            None => {
                request.written_targets.try_out()?;
                create(request)?
            }
        };
        // This call checks the settings, so it runs before anything is written.
        let recall = request.recall(&index)?;
        let committed = interrupted.is_some();
        let deduplication = Deduplication::begin(request, interrupted, &index)?;
        let txn = index.begin_write()?;
        Ok(Self { index, txn, deduplication, recall, committed })
    }

    /// Says where the next records come from. If it fails before the first commit, nothing is left
    /// of the outputs.
    pub(crate) fn begin(
        mut self,
        sources: impl IntoIterator<Item = Source>,
    ) -> Result<Self, Failure> {
        let mut sources = sources.into_iter();
        match sources.try_for_each(|source| self.deduplication.kept.begin(&source)) {
            Ok(()) => Ok(self),
            Err(failure) => Err(self.stopped(failure)),
        }
    }

    /// Judges some records, and commits at the end of each batch. Stops early after a signal. If
    /// it fails before the first commit, nothing is left of the outputs.
    pub(crate) fn judge(
        mut self,
        records: Vec<InputRecord>,
        progress: &ProgressBar,
    ) -> Result<Self, Failure> {
        let request = self.deduplication.request;
        let (batch, most_bytes) = match request.args.batch {
            Some(records) => (records as usize, u64::MAX),
            None => (COMMIT_RECORDS, COMMIT_BYTES),
        };
        let mut rest = records;
        while !rest.is_empty() && !interrupt::asked() {
            let room = (batch - self.deduplication.in_batch).min(RECORDS_PER_SLICE);
            let later = rest.split_off(rest.len().min(room));
            if let Err(failure) = self.deduplication.judge(&mut self.txn, rest) {
                return Err(self.stopped(failure));
            }
            if let Err(refused) = self.deduplication.guard.check(&request.args.index) {
                return Err(self.refused(refused)?);
            }
            rest = later;
            let Deduplication { in_batch, bytes_in_batch, .. } = self.deduplication;
            if in_batch >= batch || bytes_in_batch >= most_bytes {
                self.deduplication.store(&mut self.txn, None)?;
                self.txn.commit()?;
                self.committed = true;
                self.deduplication.kept.committed()?;
                if request.global.verbose {
                    let records = count(self.deduplication.run.given().len(), "record");
                    progress.note(&format!("committed {records}"));
                }
                self.txn = self.index.begin_write()?;
            }
        }
        Ok(self)
    }

    /// Ends the run after a failure, which it returns. If nothing was committed, nothing is left of
    /// the outputs.
    fn stopped(self, failure: Failure) -> Failure {
        if !self.committed {
            // What follows from a failure, as where nothing can be written, is not told.
            let _ = self.discard();
        }
        failure
    }

    /// Ends a run that would replace too much, and returns the error that says so. What was
    /// committed before waits for the same command with `--replace-most`.
    fn refused(self, refused: Failure) -> Result<Failure, Failure> {
        let Self { committed: true, index, txn, deduplication, .. } = self else {
            self.discard()?;
            return Ok(refused);
        };
        drop(txn);
        deduplication.request.note_refusal(&index)?;
        Ok(refused)
    }

    /// Ends the run, and leaves nothing of its outputs.
    fn discard(self) -> Result<(), Failure> {
        let Self { index, txn, deduplication, committed, .. } = self;
        drop(txn);
        deduplication.discard(&index, committed)
    }

    /// Commits the last records. If the input has ended, gives the outputs their final names.
    /// Returns the counts, and the similarities of what was removed. `report` takes what a report
    /// tells before the run counts as finished.
    pub(crate) fn finish(
        self,
        interrupted: bool,
        progress: &ProgressBar,
        report: impl FnOnce(&Counts, Findings) -> Result<(), Failure>,
    ) -> Result<(Counts, Option<Histogram>), Failure> {
        let Self { index, mut txn, mut deduplication, committed, .. } = self;
        let request = deduplication.request;
        if !interrupted && deduplication.repeats_a_stream() {
            drop(txn);
            let place = request.args.index.display();
            let records = count(deduplication.run.given().len(), "record");
            let error = anyhow!(
                "{place}: the {records} without ids are those of an earlier run, so nothing would \
                 be kept and nothing was written; name them with --id-prefix P in every run to \
                 keep the same records again, or say --skip-known"
            );
            deduplication.discard(&index, committed)?;
            return Err(error.into());
        }
        let before = if interrupted { None } else { deduplication.would_lose()? };
        if let Some(before) = before {
            drop(txn);
            let kept_any = committed && deduplication.counts.inserted() > 0;
            deduplication.discard(&index, committed)?;
            return Err(would_lose(request.args, before, kept_any));
        }
        let now = (!interrupted).then(|| Circumstances::gather(request));
        deduplication.store(&mut txn, now.as_ref())?;
        txn.commit()?;
        progress.finish();
        if interrupted {
            deduplication.kept.committed()?;
            return Ok((deduplication.counts, None));
        }
        let Deduplication { kept, audit, run, counts, .. } = deduplication;
        let RunAudit { lines: mut audit, similarities, .. } = audit;
        if let Some(findings) = reporting::of_audit(request, &index, &mut audit, &counts)? {
            report(&counts, findings)?;
        }
        // If the process is killed before `end` commits, the next run completes these steps.
        index.flush()?;
        let spool = audit.finish()?;
        let content = match kept {
            Kept::Choices(choices) => write_chosen::write(request, *choices, None)?,
            kept => kept.finish()?,
        };
        request.written_targets.deliver()?;
        if request.written_targets.can_resume() {
            request.end(&index, run, content, now.and_then(|now| now.key))?;
        }
        spool.map_or(Ok(()), PartialFile::discard)?;
        request.written_targets.clean_up()?;
        Ok((counts, similarities))
    }
}

impl Deduplication<'_> {
    /// Deletes what was written of the outputs, and the progress of the run, which no later run
    /// goes on with. `committed` says whether a commit has records of the run.
    fn discard(self, index: &Index, committed: bool) -> Result<(), Failure> {
        // If the process is killed now, what is left of the files is that of a run that has judged
        // nothing, so the next run replaces it.
        let run = if self.request.written_targets.can_resume() {
            self.request.begin(index)
        } else {
            Ok(self.run)
        };
        // That is what the index knows already of a run that has committed nothing.
        let run = if committed { Ok(run?) } else { run };
        self.kept.discard()?;
        self.audit.lines.discard()?;
        forget(index, run?)
    }
}

/// Creates the index. If another process has created it meanwhile, opens it, unless that process
/// has run the same command.
fn create(request: &Request<'_>) -> Result<Index, Failure> {
    let (index, is_new) = opening::create(request.global, request.place, &request.settings)?;
    if !is_new {
        overwriting::check_created(request, &index)?;
    }
    Ok(index)
}

/// Deletes the stored progress of a run from the index.
fn forget(index: &Index, run: DedupRun) -> Result<(), Failure> {
    let mut txn = index.begin_write()?;
    run.finish(&mut txn)?;
    Ok(txn.commit()?)
}
