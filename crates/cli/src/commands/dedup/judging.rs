//! A deduplication under way: each record is judged, written or audited, and how far it is is stored.

use crate::commands::dedup::audit::Audit;
use crate::commands::dedup::kept_file::{Kept, Written};
use crate::commands::dedup::options::Dedup;
use crate::commands::dedup::partial_file::{Content, Part, Sink, part_of};
use crate::commands::dedup::targets::Targets;
use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::run::resume_key::ResumeKey;
use crate::terminal::output::likeness;
use anyhow::anyhow;
use std::path::Path;
use twindex::{DedupRun, Document, Error, Inserted, Judged, Outcome, Snapshot, WriteTxn};

/// What happened so far, in the order in which it is stored.
#[derive(Clone, Copy, Default)]
pub(crate) struct Counts {
    pub(crate) added: u64,
    pub(crate) replaced: u64,
    pub(crate) unchanged: u64,
    pub(crate) duplicates: u64,
    pub(crate) empty: u64,
    pub(crate) bytes: u64,
}

impl Counts {
    /// The numbers that are stored with how far a run has come: bytes and hash of the output, bytes
    /// and hash of the audit, and these counts.
    fn notes(self, kept: Content, audit: Content) -> [u64; 10] {
        let Self { added, replaced, unchanged, duplicates, empty, bytes } = self;
        let counts = [added, replaced, unchanged, duplicates, empty, bytes];
        let [a, b, c, d, e, f] = counts;
        [kept.0, kept.1, audit.0, audit.1, a, b, c, d, e, f]
    }

    pub(crate) fn of(run: &DedupRun) -> Self {
        let [.., added, replaced, unchanged, duplicates, empty, bytes] = run.notes();
        Self { added, replaced, unchanged, duplicates, empty, bytes }
    }
}

/// The bytes and the hash of the output and of the audit that a run has stored.
pub(crate) fn outputs(run: &DedupRun) -> (Content, Content) {
    let [kept_bytes, kept_hash, audit_bytes, audit_hash, ..] = run.notes();
    ((kept_bytes, kept_hash), (audit_bytes, audit_hash))
}

/// A record on its way; without an id it is given one when it is judged.
pub(crate) struct Incoming {
    pub(crate) document: Document,
    pub(crate) place: String,
    pub(crate) written: Written,
}

/// A deduplication under way.
pub(crate) struct Judging<'a> {
    pub(crate) args: &'a Dedup,
    pub(crate) targets: &'a Targets,
    pub(crate) run: DedupRun,
    pub(crate) threshold: f64,
    pub(crate) against: &'a [&'a Snapshot],
    pub(crate) kept: Kept,
    pub(crate) audit: Audit,
    pub(crate) counts: Counts,
    /// Records that were judged since the last commit.
    pub(crate) in_batch: usize,
}

impl<'a> Judging<'a> {
    /// Begins, or goes on with what an interrupted run has left.
    pub(crate) fn begin(
        global: &GlobalOptions,
        args: &'a Dedup,
        targets: &'a Targets,
        comparing: (f64, &'a [&'a Snapshot]),
        (key, interrupted): (&ResumeKey, Option<DedupRun>),
        txn: &WriteTxn,
    ) -> Result<Self, Failure> {
        let (run, kept, audit) = match (interrupted, targets.file(), targets.spool()) {
            (Some(run), Some(file), Some(spool)) => {
                let (kept, audit) = outputs(&run);
                let parts = (Part::resume(file, kept)?, Part::resume(&spool, audit)?);
                let (Some(kept), Some(audit)) = parts else { return Err(changed(file)) };
                (run, Sink::Part(kept), Some(audit))
            }
            _ => {
                let kept = targets.out.as_ref().map_or(Ok(Sink::Nowhere), Sink::open)?;
                (DedupRun::begin(txn, key), kept, None)
            }
        };
        Ok(Self {
            args,
            targets,
            threshold: comparing.0,
            against: comparing.1,
            kept: Kept::new(kept),
            audit: Audit::begin(global, targets, audit)?,
            counts: Counts::of(&run),
            run,
            in_batch: 0,
        })
    }

    fn other_input(&self) -> Failure {
        let out = self.targets.file().unwrap_or(Path::new(""));
        anyhow!(
            "{}: a run to it was interrupted, which had other records; run with the same input to go \
             on, or with --restart to start over",
            out.display()
        )
        .into()
    }

    fn failure(&self, error: Error) -> Failure {
        match error {
            Error::InputDiffers { .. } => self.other_input(),
            error => error.into(),
        }
    }

    /// Judges some records, but for those that an interrupted run has judged.
    pub(crate) fn take(
        &mut self,
        txn: &mut WriteTxn,
        incoming: Vec<Incoming>,
    ) -> Result<(), Failure> {
        let mut records = Vec::with_capacity(incoming.len());
        let mut documents = Vec::with_capacity(incoming.len());
        for Incoming { document, place, written } in incoming {
            self.kept.admit(&written, &place)?;
            records.push((document.text_bytes(), document.signature().is_empty(), written));
            // A dry run numbers nothing, as it is no run of the index.
            documents.push(match document.id().is_empty() && self.args.dry_run {
                true => document.with_id(place)?,
                false => document,
            });
        }
        let insertion = txn.insertion().unless_similar(self.threshold).against(self.against);
        let insertion = insertion.estimate(self.args.estimate);
        let judged = self.run.insert(insertion, documents).map_err(|error| self.failure(error))?;
        let mut met = Vec::new();
        for (judged, (bytes, empty, written)) in judged.into_iter().zip(records) {
            let Some(Judged { id, outcome }) = judged else { continue };
            self.in_batch += 1;
            self.counts.bytes += bytes;
            self.counts.empty += u64::from(empty);
            let found = match outcome {
                Outcome::Inserted(done) => {
                    let known = done == Inserted::Unchanged;
                    let counter = match done {
                        Inserted::Unchanged => &mut self.counts.unchanged,
                        Inserted::Replaced => &mut self.counts.replaced,
                        Inserted::Added | Inserted::Skipped => &mut self.counts.added,
                    };
                    *counter += 1;
                    if !(known && self.args.skip_known) {
                        self.kept.write(&written)?;
                    }
                    if known {
                        met.push(id);
                    }
                    continue;
                }
                Outcome::Duplicate { of, against: Some(_) } => of,
                Outcome::Duplicate { of, against: None } => {
                    met.push(of.id.clone());
                    of
                }
            };
            self.counts.duplicates += 1;
            let similarity = likeness(found.similarity, found.exact);
            self.audit.line([id.into(), found.id.into(), similarity, found.exact.into()])?;
        }
        if self.args.touch {
            txn.renew_batch(&met)?;
        }
        Ok(())
    }

    /// Stores how far this has come in the transaction that holds it; `judged` when the input has
    /// ended.
    pub(crate) fn store(&mut self, txn: &mut WriteTxn, judged: bool) -> Result<(), Failure> {
        if judged && self.run.is_behind() {
            return Err(self.other_input());
        }
        self.in_batch = 0;
        let (kept, audit) = (self.kept.sync()?, self.audit.sync()?);
        if let (Some(kept), Some(audit)) = (kept, audit) {
            let notes = self.counts.notes(kept, audit);
            match judged {
                true => self.run.save_judged(txn, notes)?,
                false => self.run.save(txn, notes)?,
            }
        }
        Ok(())
    }
}

/// What is said where an interrupted run cannot be gone on with.
pub(crate) fn changed(out: &Path) -> Failure {
    anyhow!(
        "{}: is not as the interrupted run has left it; --restart starts over",
        part_of(out).display()
    )
    .into()
}
