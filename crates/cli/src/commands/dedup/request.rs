//! What a run of `dedup` is asked to do, and how that is asked of the library and of the outputs.

use crate::commands::dedup::kept_before::KeptBefore;
use crate::commands::dedup::options::Dedup;
use crate::commands::dedup::run_notes::RunNotes;
use crate::commands::outputs::choices::Choices;
use crate::commands::outputs::kept::Kept;
use crate::commands::outputs::partial_file::LengthAndHash;
use crate::commands::outputs::targets::Targets;
use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::run::resume_key::ResumeKey;
use std::path::Path;
use std::time::Instant;
use twindex::{DedupRun, Index, Insertion, Settings, Snapshot, WriteTxn};

/// What a run is asked to do.
pub(crate) struct Request<'a> {
    /// When the command began.
    pub(crate) start: Instant,
    pub(crate) global: &'a GlobalOptions,
    pub(crate) args: &'a Dedup,
    /// Where this run writes: to no file if it only renews the times of a run that has finished.
    pub(crate) written_targets: &'a Targets,
    /// What the command names, also if this run writes none of it: such files are no inputs.
    pub(crate) named_targets: &'a Targets,
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
    pub(crate) may_replace: bool,
    /// What an earlier run has written to the output, if only the judged records show whether this
    /// run would write less of the same input.
    pub(crate) kept_before: Option<KeptBefore>,
}

impl Request<'_> {
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

    /// Begins a run to a file, and commits that it has begun: if it is killed before it has judged
    /// anything, the partial files that it leaves are known to be its own.
    pub(crate) fn begin(&self, index: &Index) -> Result<DedupRun, Failure> {
        let (mut run, mut txn) = (DedupRun::begin(&self.key), index.begin_write()?);
        run.save(&mut txn, RunNotes::at_begin(self.may_replace).encode())?;
        txn.commit()?;
        Ok(run)
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
            let notes = RunNotes { kept: content, ..RunNotes::of(&run) };
            run.set_notes(notes.encode());
        }
        match circumstances {
            Some(circumstances) => run.remember(&mut txn, circumstances)?,
            None => run.finish(&mut txn)?,
        }
        Ok(txn.commit()?)
    }

    /// Starts the output. Of records in an order of preference, it notes which are kept.
    pub(crate) fn create_kept(&self) -> Result<Kept, Failure> {
        if self.args.keep.is_ordered() && self.written_targets.writes() {
            let choices = Choices::create(self.written_targets.resume_file().as_deref())?;
            Ok(Kept::Choices(Box::new(choices)))
        } else {
            Kept::create(&self.written_targets.out)
        }
    }

    /// Continues the output of an interrupted run; `None` if it has changed.
    pub(crate) fn resume_kept(&self, content: LengthAndHash) -> Result<Option<Kept>, Failure> {
        match self.written_targets.resume_file() {
            Some(file) if self.args.keep.is_ordered() => {
                let choices = Choices::resume(&file, content)?;
                Ok(choices.map(|choices| Kept::Choices(Box::new(choices))))
            }
            _ => Kept::resume(&self.written_targets.out, content),
        }
    }

    /// Remembers that the run was stopped because it would replace too much.
    pub(crate) fn note_refusal(&self, index: &Index) -> Result<(), Failure> {
        let mut txn = index.begin_write()?;
        if let Some(mut run) = DedupRun::resume(&txn, &self.key)? {
            let notes = RunNotes { refused: true, ..RunNotes::of(&run) };
            run.save_notes(&mut txn, notes.encode())?;
            txn.commit()?;
        }
        Ok(())
    }
}
