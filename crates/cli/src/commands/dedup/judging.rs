//! A deduplication under way: each record is judged, written or audited, and how far it is is stored.

use crate::commands::dedup::audit::Audit;
use crate::commands::dedup::kept_file::{Kept, Written};
use crate::commands::dedup::options::Dedup;
use crate::commands::dedup::partial_file::{Part, Sink, part_of};
use crate::commands::dedup::targets::Targets;
use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::run::naming;
use crate::terminal::output::likeness;
use anyhow::anyhow;
use std::path::Path;
use twindex::internals::DedupMark;
use twindex::internals::GOLDEN;
use twindex::{Document, Inserted, Snapshot, Verdict, WriteTxn};

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
    fn stored(self) -> [u64; 6] {
        let Self { added, replaced, unchanged, duplicates, empty, bytes } = self;
        [added, replaced, unchanged, duplicates, empty, bytes]
    }

    pub(crate) fn from_stored(counts: [u64; 6]) -> Self {
        let [added, replaced, unchanged, duplicates, empty, bytes] = counts;
        Self { added, replaced, unchanged, duplicates, empty, bytes }
    }
}

/// A record on its way; without an id it is given one when it is judged.
pub(crate) struct Incoming {
    pub(crate) document: Document,
    pub(crate) named: bool,
    pub(crate) place: String,
    pub(crate) written: Written,
    /// Of its id and its text.
    pub(crate) hash: u64,
}

/// A deduplication under way.
pub(crate) struct Judging<'a> {
    pub(crate) args: &'a Dedup,
    pub(crate) targets: &'a Targets,
    /// A hash of what was asked for.
    pub(crate) run: u64,
    pub(crate) threshold: f64,
    pub(crate) against: &'a [&'a Snapshot],
    pub(crate) kept: Kept,
    pub(crate) audit: Audit,
    pub(crate) counts: Counts,
    pub(crate) mark: DedupMark,
    /// Records of an interrupted run that have been judged already.
    pub(crate) ahead: Option<DedupMark>,
    pub(crate) in_batch: usize,
}

impl<'a> Judging<'a> {
    /// Begins, or goes on with what an interrupted run has left.
    pub(crate) fn begin(
        global: &GlobalOptions,
        args: &'a Dedup,
        targets: &'a Targets,
        comparing: (f64, &'a [&'a Snapshot]),
        (run, mark): (u64, Option<DedupMark>),
        txn: &WriteTxn<'_>,
    ) -> Result<Self, Failure> {
        let begun = match (mark, targets.file(), targets.spool()) {
            (Some(mark), Some(file), Some(spool)) => {
                let parts = (Part::resume(file, mark.kept)?, Part::resume(&spool, mark.audit)?);
                let (Some(kept), Some(audit)) = parts else { return Err(changed(file)) };
                Some((mark, kept, audit))
            }
            _ => None,
        };
        let base = begun.as_ref().map_or(txn.next_number(), |(mark, ..)| mark.base);
        let (ahead, kept, audit) = match begun {
            Some((mark, kept, audit)) => (Some(mark), Sink::Part(kept), Some(audit)),
            None => (None, targets.out.as_ref().map_or(Ok(Sink::Nowhere), Sink::open)?, None),
        };
        let counts = ahead.map_or_else(Counts::default, |mark| Counts::from_stored(mark.counts));
        Ok(Self {
            args,
            targets,
            threshold: comparing.0,
            against: comparing.1,
            run,
            kept: Kept::new(kept),
            audit: Audit::begin(global, targets, audit)?,
            counts,
            mark: DedupMark { base, ..DedupMark::default() },
            ahead: ahead.filter(|mark| mark.records > 0),
            in_batch: 0,
        })
    }

    pub(crate) fn other_input(&self) -> Failure {
        let out = self.targets.file().unwrap_or(Path::new(""));
        anyhow!(
            "{}: a run to it was interrupted, which had other records; run with the same input to go \
             on, or with --restart to start over",
            out.display()
        )
        .into()
    }

    /// Judges some records, but for those that an interrupted run has judged.
    pub(crate) fn take(
        &mut self,
        txn: &mut WriteTxn<'_>,
        incoming: Vec<Incoming>,
    ) -> Result<(), Failure> {
        let mut rest = Vec::with_capacity(incoming.len());
        for incoming in incoming {
            self.kept.admit(&incoming.written, &incoming.place)?;
            self.mark.records += 1;
            self.mark.input = chained(self.mark.input, incoming.hash);
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
        let verdicts = txn.judge(documents, self.threshold, self.against, self.mark.base)?;
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
            let similarity = likeness(found.similarity, found.exact);
            self.audit.line([id.into(), found.id.into(), similarity, found.exact.into()])?;
        }
        if self.args.touch {
            txn.renew_batch(&met)?;
        }
        Ok(())
    }

    /// Stores how far this has come in the transaction that holds it.
    pub(crate) fn store(&mut self, txn: &mut WriteTxn<'_>, judged: bool) -> Result<(), Failure> {
        self.in_batch = 0;
        let (kept, audit) = (self.kept.sync()?, self.audit.sync()?);
        // As long as records of an earlier run are passed over, its mark holds.
        if let (Some(kept), Some(audit), None) = (kept, audit, self.ahead) {
            let counts = self.counts.stored();
            self.mark = DedupMark { judged, kept, audit, counts, ..self.mark };
            txn.set_dedup_mark(self.run, Some(&self.mark))?;
        }
        Ok(())
    }
}

/// The hash of some records and one that follows them.
pub(crate) fn chained(records: u64, record: u64) -> u64 {
    (records ^ record).rotate_left(23).wrapping_mul(GOLDEN)
}

/// What is said where an interrupted run cannot be gone on with.
pub(crate) fn changed(out: &Path) -> Failure {
    anyhow!(
        "{}: is not as the interrupted run has left it; --restart starts over",
        part_of(out).display()
    )
    .into()
}
