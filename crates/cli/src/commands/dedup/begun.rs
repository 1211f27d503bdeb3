//! What a run of `dedup` makes with its first good record: the index, its outputs, its progress.

use crate::commands::dedup::chosen;
use crate::commands::dedup::circumstances::Circumstances;
use crate::commands::dedup::command::Dedup;
use crate::commands::dedup::completion::forget;
use crate::commands::dedup::deduplication::{
    Counts, Deduplication, InputRecord, begin_and_commit, set_stored_output,
};
use crate::commands::dedup::overwriting::{self, KeptBefore};
use crate::commands::dedup::reporting;
use crate::commands::outputs::choices::Choices;
use crate::commands::outputs::kept::Kept;
use crate::commands::outputs::partial_file::{LengthAndHash, PartialFile};
use crate::commands::outputs::targets::Targets;
use crate::report::{Findings, Histogram};
use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::run::opening;
use crate::run::records::Source;
use crate::run::resume_key::ResumeKey;
use crate::terminal::interrupt;
use crate::terminal::output::count;
use crate::terminal::progress_bar::ProgressBar;
use anyhow::anyhow;
use std::path::Path;
use std::time::Instant;
use twindex::{DedupRun, Index, Insertion, Settings, Snapshot, WriteTxn};

/// The most records that the run judges together, and between two checks for an interrupt.
const RECORDS_PER_SLICE: usize = 1 << 12;

/// The most records of a commit and, at the end of a slice, of their bytes, unless the user says
/// how many records. A killed run judges them again. A commit costs the time of 1,000 records, and
/// ends a part of an output of Parquet.
const COMMIT_RECORDS: usize = 50_000;
const COMMIT_BYTES: u64 = 256 << 20;

/// What a run is asked to do.
pub(crate) struct Plan<'a> {
    /// When the command began.
    pub(crate) start: Instant,
    pub(crate) global: &'a GlobalOptions,
    pub(crate) args: &'a Dedup,
    pub(crate) targets: &'a Targets,
    /// The same, also if this run writes none of them: they are no inputs.
    pub(crate) outputs: &'a Targets,
    /// Where the index is: in a dry run, a copy.
    pub(crate) place: &'a Path,
    /// The settings of the index, which may not exist yet.
    pub(crate) settings: Settings,
    /// The similarity from which a record is a duplicate.
    pub(crate) threshold: f64,
    pub(crate) against: &'a [&'a Snapshot],
    pub(crate) key: ResumeKey,
    /// Whether the output may be replaced by less: --restart was given, now or when the run that
    /// was interrupted began.
    pub(crate) replaces: bool,
    /// What an earlier run has written to the output, if this run leaves out what is known and has
    /// an input that cannot be read twice.
    pub(crate) kept_before: Option<KeptBefore>,
}

/// A run that has an index and outputs.
pub(crate) struct Begun<'a> {
    pub(crate) index: Index,
    pub(crate) txn: WriteTxn,
    pub(crate) deduplication: Deduplication<'a>,
    pub(crate) recall: f64,
    /// Whether a commit has records of this run.
    committed: bool,
}

impl<'a> Begun<'a> {
    /// Creates the index if there is none, and starts the outputs, or goes on with those of an
    /// interrupted run.
    pub(crate) fn new(
        plan: &'a Plan<'a>,
        index: Option<Index>,
        interrupted: Option<DedupRun>,
    ) -> Result<Self, Failure> {
        let index = match index {
            Some(index) => index,
            None => {
                plan.targets.try_out()?;
                plan.create()?
            }
        };
        // This call checks the settings, so it runs before anything is written.
        let recall = plan.recall(&index)?;
        let committed = interrupted.is_some();
        let deduplication = Deduplication::begin(plan, interrupted, &index)?;
        let txn = index.begin_write()?;
        Ok(Self { index, txn, deduplication, recall, committed })
    }

    /// Says where the next records come from.
    pub(crate) fn begin(
        &mut self,
        sources: impl IntoIterator<Item = Source>,
    ) -> Result<(), Failure> {
        sources.into_iter().try_for_each(|source| self.deduplication.kept.begin(&source))
    }

    /// Judges some records, and commits at the end of each batch. Stops early after a signal. If
    /// it fails before the first commit, nothing is left of the outputs.
    pub(crate) fn judge(
        mut self,
        records: Vec<InputRecord>,
        progress: &ProgressBar,
    ) -> Result<Self, Failure> {
        let plan = self.deduplication.plan;
        let (batch, most_bytes) = match plan.args.batch {
            Some(records) => (records as usize, u64::MAX),
            None => (COMMIT_RECORDS, COMMIT_BYTES),
        };
        let mut rest = records;
        while !rest.is_empty() && !interrupt::asked() {
            let room = (batch - self.deduplication.in_batch).min(RECORDS_PER_SLICE);
            let later = rest.split_off(rest.len().min(room));
            if let Err(failure) = self.deduplication.judge(&mut self.txn, rest) {
                if !self.committed {
                    self.discard()?;
                }
                return Err(failure);
            }
            if let Err(refused) = self.deduplication.guard.check(&plan.args.index) {
                self.discard()?;
                return Err(refused);
            }
            rest = later;
            let Deduplication { in_batch, bytes_in_batch, .. } = self.deduplication;
            if in_batch >= batch || bytes_in_batch >= most_bytes {
                self.deduplication.store(&mut self.txn, None)?;
                self.txn.commit()?;
                self.committed = true;
                self.deduplication.kept.committed()?;
                if plan.global.verbose {
                    let records = count(self.deduplication.run.given().len(), "record");
                    progress.note(&format!("committed {records}"));
                }
                self.txn = self.index.begin_write()?;
            }
        }
        Ok(self)
    }

    /// Ends the run, and leaves nothing of its outputs.
    fn discard(self) -> Result<(), Failure> {
        let Self { index, txn, deduplication, .. } = self;
        drop(txn);
        deduplication.discard(&index)
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
        let plan = deduplication.plan;
        if !interrupted && deduplication.repeats_a_stream() {
            drop(txn);
            let place = plan.args.index.display();
            let records = count(deduplication.run.given().len(), "record");
            let error = anyhow!(
                "{place}: the {records} without ids are those of an earlier run, so nothing would \
                 be kept and nothing was written; name them with --id-prefix P in every run to \
                 keep the same records again, or say --skip-known"
            );
            deduplication.discard(&index)?;
            return Err(error.into());
        }
        if let Some(before) = deduplication.would_lose().filter(|_| !interrupted) {
            drop(txn);
            let kept_any = committed && deduplication.counts.inserted() > 0;
            deduplication.discard(&index)?;
            return Err(overwriting::would_lose(plan, before, kept_any));
        }
        let now = (!interrupted).then(|| Circumstances::of(plan));
        deduplication.store(&mut txn, now.as_ref())?;
        txn.commit()?;
        progress.finish();
        if interrupted {
            deduplication.kept.committed()?;
            return Ok((deduplication.counts, None));
        }
        let Deduplication { kept, mut audit, run, counts, similarities, .. } = deduplication;
        if let Some(findings) = reporting::of_audit(plan, &index, &mut audit, &counts)? {
            report(&counts, findings)?;
        }
        // If the process is killed before `end` commits, the next run completes these steps.
        index.flush()?;
        let spool = audit.finish()?;
        let content = match kept {
            Kept::Choices(choices) => chosen::write(plan, *choices, None)?,
            kept => kept.finish()?,
        };
        plan.targets.deliver()?;
        if plan.targets.output_file().is_some() {
            plan.end(&index, run, content, now.and_then(|now| now.key))?;
        }
        spool.map_or(Ok(()), PartialFile::discard)?;
        plan.targets.clean_up()?;
        Ok((counts, similarities))
    }
}

impl Deduplication<'_> {
    /// Deletes what was written of the outputs, and the progress of the run, which no later run
    /// goes on with.
    fn discard(self, index: &Index) -> Result<(), Failure> {
        // If the process is killed now, what is left of the files is that of a run that has judged
        // nothing, so the next run replaces it.
        let run = match self.plan.targets.output_file() {
            Some(_) => begin_and_commit(self.plan, index)?,
            None => self.run,
        };
        self.kept.discard()?;
        self.audit.discard()?;
        forget(index, run)
    }
}

impl Plan<'_> {
    /// The probability that a duplicate at the threshold is found.
    pub(crate) fn recall(&self, index: &Index) -> Result<f64, Failure> {
        let mut txn = index.begin_write()?;
        Ok(self.insertion(&mut txn).recall()?)
    }

    /// Begins to judge records as the run is asked to.
    pub(crate) fn insertion<'t>(&'t self, txn: &'t mut WriteTxn) -> Insertion<'t> {
        let removal = &self.args.removal;
        if removal.remove.is_by_passages() {
            return removal.of_passages(txn.insertion());
        }
        let insertion = txn.insertion().unless_similar(self.threshold).against(self.against);
        let most = self.args.max_candidates as usize;
        removal.of_similar(insertion.estimate(self.args.estimate).max_candidates(most))
    }

    /// Ends a run whose output is complete, and remembers it with the key of its circumstances, if
    /// there is one. `content` is that of the output, if the last commit has not told it.
    pub(crate) fn end(
        &self,
        index: &Index,
        mut run: DedupRun,
        content: Option<LengthAndHash>,
        circumstances: Option<ResumeKey>,
    ) -> Result<(), Failure> {
        let mut txn = index.begin_write()?;
        if let Some(content) = content {
            set_stored_output(&mut run, content);
        }
        match circumstances {
            Some(circumstances) => run.remember(&mut txn, circumstances)?,
            None => run.finish(&mut txn)?,
        }
        Ok(txn.commit()?)
    }

    /// Starts the output. Of records in an order of preference, it notes which are kept.
    pub(crate) fn create_kept(&self) -> Result<Kept, Failure> {
        match &self.targets.out {
            Some(_) if self.args.keep.is_ordered() && self.targets.writes() => {
                let choices = Choices::create(self.targets.output_file().as_deref())?;
                Ok(Kept::Choices(Box::new(choices)))
            }
            out => Kept::create(out.as_ref()),
        }
    }

    /// Continues the output of an interrupted run; `None` if it has changed.
    pub(crate) fn resume_kept(&self, content: LengthAndHash) -> Result<Option<Kept>, Failure> {
        match self.targets.output_file() {
            Some(file) if self.args.keep.is_ordered() => {
                let choices = Choices::resume(&file, content)?;
                Ok(choices.map(|choices| Kept::Choices(Box::new(choices))))
            }
            _ => Kept::resume(self.targets.out.as_ref(), content),
        }
    }

    /// Creates the index.
    fn create(&self) -> Result<Index, Failure> {
        opening::create(self.global, self.place, &self.settings)
    }
}
