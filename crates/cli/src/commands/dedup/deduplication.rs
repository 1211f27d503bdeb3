//! One run of `dedup`: judges each record, writes or audits it, and stores the progress.

use crate::commands::dedup::audit_lines::{AuditedRecord, RunAudit};
use crate::commands::dedup::circumstances::Circumstances;
use crate::commands::dedup::counts::Counts;
use crate::commands::dedup::input_record::InputRecord;
use crate::commands::dedup::kept_before::{KeptBefore, remember_kept};
use crate::commands::dedup::records_hash::RecordsHash;
use crate::commands::dedup::removal::Remove;
use crate::commands::dedup::repeated_stream::Repetition;
use crate::commands::dedup::request::Request;
use crate::commands::dedup::run_notes::RunNotes;
use crate::commands::dedup::summary::Replaced;
use crate::commands::outputs::audit::Audit;
use crate::commands::outputs::kept::Kept;
use crate::commands::outputs::kept_output::{OutputRecord, fixed_text};
use crate::commands::outputs::partial_file::{PartialFile, changed_error, partial_path};
use crate::commands::replace_guard::{ReplaceGuard, key_of};
use crate::input::TextForm;
use crate::report::Histogram;
use crate::run::failure::Failure;
use anyhow::anyhow;
use std::collections::HashSet;
use std::path::Path;
use twindex::{DedupOutcome, DedupRun, Error, Index, Inserted, Outcome, WriteTxn};
use xxhash_rust::xxh3::xxh3_64;

/// A run of `dedup` in progress.
pub(crate) struct Deduplication<'a> {
    pub(crate) request: &'a Request<'a>,
    pub(crate) run: DedupRun,
    pub(crate) kept: Kept,
    pub(crate) audit: RunAudit<'a>,
    pub(crate) counts: Counts,
    /// The hash of all records of the input, once they were read.
    pub(crate) records: RecordsHash,
    /// The number of its records that were bad.
    pub(crate) failed: u64,
    /// The number of records that were judged since the last commit.
    pub(crate) in_batch: usize,
    /// The bytes of their texts.
    pub(crate) bytes_in_batch: u64,
    /// The hashes of the ids that this process was given, if ids are hashes of texts.
    met: HashSet<u64>,
    /// Whether the input repeats an earlier stream.
    repetition: Repetition,
    /// The number of documents that were replaced by records without an id.
    renumbered: u64,
    /// Counts what is replaced, except in a run that goes on with one that was interrupted and not
    /// refused.
    pub(crate) guard: ReplaceGuard,
}

impl<'a> Deduplication<'a> {
    /// Starts a run, or resumes the interrupted one from its partial files.
    ///
    /// # Errors
    ///
    /// Fails if a partial file does not start with the content that the interrupted run has stored.
    pub(crate) fn begin(
        request: &'a Request<'a>,
        interrupted: Option<DedupRun>,
        index: &Index,
    ) -> Result<Self, Failure> {
        let Request { global, args, written_targets: targets, ref key, .. } = *request;
        let resumes = interrupted.is_some();
        let (run, kept, audit) = match (interrupted, targets.resume_file(), targets.spool()) {
            (Some(run), Some(file), Some(spool)) => {
                let RunNotes { kept, audit, .. } = RunNotes::of(&run);
                let changed = |file| changed_error(&partial_path(file));
                let kept = request.resume_kept(kept)?.ok_or_else(|| changed(&file))?;
                let audit = PartialFile::resume(&spool, audit)?.ok_or_else(|| changed(&spool))?;
                (run, kept, Some(audit))
            }
            (_, Some(_), _) => (request.begin(index)?, request.create_kept()?, None),
            _ => (DedupRun::begin(key), request.create_kept()?, None),
        };
        let RunNotes { counts, refused, .. } = RunNotes::of(&run);
        // What an interrupted run has replaced so far was allowed, unless it ended there.
        let is_allowed = resumes && !refused;
        let guard = ReplaceGuard::new(args.replace.or_allowed(is_allowed), index)?;
        if resumes && !is_allowed {
            guard.refuse_again(&args.index)?;
        }
        let is_read = args.report.is_some();
        let lines = Audit::begin(global, targets, args.audit_columns(), audit, is_read)?;
        let similarities = (!resumes).then(Histogram::new);
        Ok(Self {
            request,
            kept,
            audit: RunAudit { args, lines, similarities },
            guard,
            counts,
            run,
            records: RecordsHash::default(),
            failed: 0,
            in_batch: 0,
            bytes_in_batch: 0,
            met: HashSet::new(),
            renumbered: 0,
            repetition: Repetition::default(),
        })
    }

    /// What this process has replaced.
    pub(crate) fn replaced(&self) -> Replaced {
        let (own, numbered) = (self.guard.repeated(), self.renumbered);
        Replaced { would: self.request.args.dry_run, own, numbered }
    }

    /// Whether nothing is kept because the same stream without ids was deduplicated before. A dry
    /// run and one that leaves out what is known may keep nothing.
    pub(crate) fn repeats_a_stream(&self) -> bool {
        let Counts { added, replaced, unchanged, .. } = self.counts;
        let keeps_nothing = added + replaced + unchanged == 0;
        let args = self.request.args;
        keeps_nothing && !args.skip_known && !args.dry_run && self.repetition.is_found()
    }

    /// What an earlier run has written to the output, if its input was the same and this run leaves
    /// some of that out. An input that had bad records has others by now: it is taken for the same
    /// if it has as many that are known.
    pub(crate) fn would_lose(&self) -> Result<Option<KeptBefore>, Failure> {
        let Request { args, kept_before, .. } = self.request;
        let Some(before) = kept_before else { return Ok(None) };
        let unchanged = self.counts.unchanged;
        let is_same = before.input == self.run.given();
        let loses = match args.skip_known {
            true if before.failed > 0 && unchanged >= before.records => true,
            true => is_same && self.counts.inserted() < before.records,
            false => {
                let is_less = is_same && self.counts.inserted() + unchanged < before.records;
                is_less && before.is_still_there(self.request.written_targets)?
            }
        };
        Ok(loses.then_some(*before))
    }

    /// The error for an input that differs from that of the interrupted run.
    fn other_input(&self) -> Failure {
        let out = self.request.args.output.as_deref().unwrap_or(Path::new(""));
        anyhow!(
            "{}: a run to it was interrupted, which had other records; run with the same input to \
             go on, or with --restart to start over",
            out.display()
        )
        .into()
    }

    /// Converts an error of the library, and says what to do if the input differs.
    fn failure(&self, error: Error) -> Failure {
        match error {
            Error::InputDiffers { .. } => self.other_input(),
            error => error.into(),
        }
    }

    /// Judges a slice of records. Skips those that an interrupted run has already judged.
    pub(crate) fn judge(
        &mut self,
        txn: &mut WriteTxn,
        incoming: Vec<InputRecord>,
    ) -> Result<(), Failure> {
        let mut records = Vec::with_capacity(incoming.len());
        let mut documents = Vec::with_capacity(incoming.len());
        let Request { args, .. } = *self.request;
        for InputRecord { document, place, numbered, written, form, text, .. } in incoming {
            self.kept.admit(&written, &place)?;
            if args.removal.remove == Remove::Spans && form == TextForm::Fixed {
                return Err(fixed_text(&place));
            }
            // A text that comes twice is kept once in every run, also when it is known.
            let is_copy =
                args.naming.is_hash() && !self.met.insert(xxh3_64(document.id().as_bytes()));
            records.push(Judged {
                bytes: document.text_bytes(),
                empty: document.signature().is_empty(),
                numbered,
                written,
                form,
                is_copy,
                place: args.naming.is_hash().then(|| place.clone()),
                text,
            });
            // A dry run assigns no numbers from the index; it names the record by its place.
            documents.push(if document.id().is_empty() && args.dry_run {
                document.with_id(place)?
            } else {
                document
            });
        }
        let insertion = self.request.insertion(txn);
        let judged = self.run.insert(insertion, documents).map_err(|error| self.failure(error))?;
        let mut met_again = Vec::new();
        for (judged, record) in judged.into_iter().zip(records) {
            let Some(DedupOutcome { id, outcome }) = judged else { continue };
            self.repetition.add(&id, &outcome);
            self.in_batch += 1;
            self.bytes_in_batch += record.bytes;
            self.counts.bytes += record.bytes;
            self.counts.empty += u64::from(record.empty);
            let done = outcome.inserted();
            if record.is_copy && done == Some(Inserted::Unchanged) {
                self.counts.duplicates += 1;
                let Judged { place, text, .. } = record;
                self.audit.tell_copy(AuditedRecord { id: &id, place, text })?;
                continue;
            }
            if let Outcome::Duplicate { of, against: None } = &outcome {
                met_again.push(of.id.clone());
            }
            if let Some(done) = done {
                let written = match &outcome {
                    Outcome::Cut { text, .. } => {
                        let field = args.input.text_field();
                        let written = record.written.with_text(record.form, field, text);
                        &written.ok_or_else(|| fixed_text(&id))?
                    }
                    _ => &record.written,
                };
                if self.keep(&id, done, written)? {
                    met_again.push(id.clone());
                }
                self.renumbered += u64::from(record.numbered && done == Inserted::Replaced);
            } else {
                self.counts.duplicates += 1;
            }
            let is_left_out = args.skip_known && done == Some(Inserted::Unchanged);
            if !is_left_out {
                self.counts.add_spared_or_cut(&outcome, record.bytes);
                let Judged { place, text, .. } = record;
                self.audit.tell(AuditedRecord { id: &id, place, text }, &outcome)?;
            }
        }
        if args.touch {
            txn.renew_batch(&met_again)?;
        }
        Ok(())
    }

    /// Writes a record that was inserted or is known. Returns whether it is known.
    fn keep(&mut self, id: &str, done: Inserted, written: &OutputRecord) -> Result<bool, Failure> {
        let known = done == Inserted::Unchanged;
        let counter = match done {
            Inserted::Unchanged => &mut self.counts.unchanged,
            Inserted::Replaced => &mut self.counts.replaced,
            Inserted::Added | Inserted::Skipped => &mut self.counts.added,
        };
        *counter += 1;
        if !known {
            self.guard.wrote(key_of(id), done == Inserted::Replaced);
        }
        if !(known && self.request.args.skip_known) {
            self.kept.write(written)?;
        }
        Ok(known)
    }

    /// Syncs both outputs and stores the progress of the run in the transaction. If the input has
    /// ended, `ended` are the circumstances.
    pub(crate) fn store(
        &mut self,
        txn: &mut WriteTxn,
        ended: Option<&Circumstances>,
    ) -> Result<(), Failure> {
        let judged = ended.is_some();
        if judged && self.run.is_catching_up() {
            return Err(self.other_input());
        }
        (self.in_batch, self.bytes_in_batch) = (0, 0);
        self.counts.limited += txn.limited();
        let (kept, audit) = (self.kept.sync(judged)?, self.audit.lines.sync()?);
        if let (Some(kept), Some(audit)) = (kept, audit) {
            let (counts, may_replace) = (self.counts, self.request.may_replace);
            let notes = RunNotes { kept, audit, counts, may_replace, refused: false }.encode();
            match ended {
                Some(now) => {
                    self.run.save_judged(txn, notes)?;
                    let read = (now.lengths, self.records, self.failed);
                    remember_kept(self.request.args, txn, &self.run, read)?;
                }
                None => self.run.save(txn, notes)?,
            }
        }
        Ok(())
    }
}

/// A record that is being judged.
struct Judged {
    bytes: u64,
    empty: bool,
    numbered: bool,
    written: OutputRecord,
    form: TextForm,
    is_copy: bool,
    /// Where the record is in the input, if the audit says so.
    place: Option<String>,
    text: Option<String>,
}
