//! A deduplication under way: each record is judged, written or audited, and how far it is is stored.

use super::args::Global;
use super::audit::Audit;
use super::dedup::Dedup;
use super::failure::Failure;
use super::kept::{Kept, Written};
use super::naming;
use super::output::similarity;
use super::part::{Part, Sink, part_of};
use crate::index::{Document, Inserted, Snapshot, Verdict, WriteTxn};
use crate::store::DedupMark;
use anyhow::anyhow;
use std::path::PathBuf;

/// What happened so far, in the order in which it is stored.
#[derive(Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) added: u64,
    pub(super) replaced: u64,
    pub(super) unchanged: u64,
    pub(super) duplicates: u64,
    pub(super) empty: u64,
    pub(super) bytes: u64,
}

impl Counts {
    fn stored(self) -> [u64; 6] {
        let Self { added, replaced, unchanged, duplicates, empty, bytes } = self;
        [added, replaced, unchanged, duplicates, empty, bytes]
    }

    fn from_stored(counts: [u64; 6]) -> Self {
        let [added, replaced, unchanged, duplicates, empty, bytes] = counts;
        Self { added, replaced, unchanged, duplicates, empty, bytes }
    }
}

/// A record on its way; without an id it is given one when it is judged.
pub(super) struct Incoming {
    pub(super) document: Document,
    pub(super) named: bool,
    pub(super) place: String,
    pub(super) written: Written,
    /// Of its id and its text.
    pub(super) hash: u64,
}

/// A deduplication under way.
pub(super) struct Judging<'a> {
    pub(super) args: &'a Dedup,
    pub(super) threshold: f64,
    pub(super) against: &'a [&'a Snapshot],
    pub(super) kept: Kept,
    pub(super) audit: Audit,
    pub(super) counts: Counts,
    pub(super) mark: DedupMark,
    /// Records of an interrupted run that have been judged already.
    pub(super) ahead: Option<DedupMark>,
    pub(super) in_batch: usize,
}

impl<'a> Judging<'a> {
    /// Begins, or goes on with what an interrupted run has left.
    pub(super) fn begin(
        global: &Global,
        args: &'a Dedup,
        threshold: f64,
        against: &'a [&'a Snapshot],
        txn: &mut WriteTxn<'_>,
    ) -> Result<Self, Failure> {
        let hash = args.hash(threshold);
        let mut ahead = txn.dedup_mark()?.filter(|mark| args.resumable() && mark.run == hash);
        let asked = args.audit();
        let (mut kept, mut audit) = (None, None);
        if let (Some(mark), Some(file)) = (ahead, args.file()) {
            kept = Part::resume(file, mark.kept_bytes)?.map(Sink::Part);
            audit = Audit::resume(global, &asked, mark.audit_bytes)?;
        }
        let (kept, audit) = match (kept, audit) {
            (Some(kept), Some(audit)) => (kept, audit),
            _ => {
                ahead = None;
                let output = args.output.as_deref().filter(|_| !args.dry_run);
                (output.map_or(Ok(Sink::Nowhere), Sink::open)?, Audit::begin(global, &asked)?)
            }
        };
        let counts = ahead.map_or_else(Counts::default, |mark| Counts::from_stored(mark.counts));
        let mark = DedupMark { run: hash, ..DedupMark::default() };
        let kept = Kept::new(kept)?;
        Ok(Self { args, threshold, against, kept, audit, counts, mark, ahead, in_batch: 0 })
    }

    /// Files that are no documents where they lie in a directory that is read.
    pub(super) fn own_files(&self) -> Vec<PathBuf> {
        let Dedup { output, removed, .. } = self.args;
        let named = [output.clone(), removed.clone(), self.args.audit().kept_in()];
        named.into_iter().flatten().flat_map(|path| [part_of(&path), path]).collect()
    }

    pub(super) fn other_input(&self) -> Failure {
        let part = self.args.file().map(part_of).unwrap_or_default();
        let part = part.display();
        anyhow!(
            "{part}: is of a run that was interrupted, which had other records; \
             delete it to start anew, or run with the same input"
        )
        .into()
    }

    /// Judges some records, but for those that an interrupted run has judged.
    pub(super) fn take(
        &mut self,
        txn: &mut WriteTxn<'_>,
        incoming: Vec<Incoming>,
    ) -> Result<(), Failure> {
        let mut rest = Vec::with_capacity(incoming.len());
        for incoming in incoming {
            self.kept.admit(&incoming.written, &incoming.place)?;
            self.mark.records += 1;
            self.mark.input = (self.mark.input ^ incoming.hash)
                .rotate_left(23)
                .wrapping_mul(0x9E37_79B9_7F4A_7C15);
            match self.ahead {
                None => rest.push(incoming),
                Some(ahead) if ahead.records == self.mark.records => {
                    if ahead.input != self.mark.input {
                        return Err(self.other_input());
                    }
                    self.ahead = None;
                }
                Some(_) => {}
            }
        }
        self.in_batch += rest.len();
        self.judge(txn, rest)
    }

    fn judge(&mut self, txn: &mut WriteTxn<'_>, incoming: Vec<Incoming>) -> Result<(), Failure> {
        let mut written = Vec::with_capacity(incoming.len());
        let mut documents = Vec::with_capacity(incoming.len());
        for incoming in incoming {
            self.counts.bytes += incoming.document.text_bytes();
            self.counts.empty += u64::from(incoming.document.signature().is_empty());
            // Nothing is numbered by a trial, which is no run of the index.
            let document = match incoming.named || !self.args.dry_run {
                true => (incoming.document, incoming.named),
                false => (incoming.document.with_id(incoming.place)?, true),
            };
            documents.push(document);
            written.push(incoming.written);
        }
        let documents = naming::complete(txn, documents.into_iter())?;
        let ids: Vec<String> = documents.iter().map(|document| document.id().to_owned()).collect();
        let verdicts =
            txn.insert_documents_unless_similar(documents, self.threshold, self.against)?;
        let mut met = Vec::new();
        for ((verdict, id), written) in verdicts.into_iter().zip(ids).zip(written) {
            let found = match verdict {
                Verdict::Inserted(done) => {
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
                Verdict::Duplicate { of, against: Some(_) } => of,
                Verdict::Duplicate { of, against: None } => {
                    met.push(of.id.clone());
                    of
                }
            };
            self.counts.duplicates += 1;
            let similarity = similarity(found.similarity);
            self.audit.line([id.into(), found.id.into(), similarity, found.exact.into()])?;
        }
        if self.args.touch {
            txn.renew_batch(&met)?;
        }
        Ok(())
    }

    /// Stores how far this has come in the transaction that holds it.
    pub(super) fn store(&mut self, txn: &mut WriteTxn<'_>) -> Result<(), Failure> {
        self.in_batch = 0;
        let (kept, audit) = (self.kept.sync()?, self.audit.sync()?);
        // As long as records of an earlier run are passed over, its mark holds.
        if let (Some(kept_bytes), Some(audit_bytes), None) = (kept, audit, self.ahead) {
            let counts = self.counts.stored();
            self.mark = DedupMark { kept_bytes, audit_bytes, counts, ..self.mark };
            txn.set_dedup_mark(Some(&self.mark))?;
        }
        Ok(())
    }
}
