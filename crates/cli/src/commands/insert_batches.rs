//! Inserts documents that have their signatures already, with one commit for each batch.

use crate::run::ending::Ending;
use crate::run::failure::Failure;
use crate::run::{conflict::Conflict, global_options::GlobalOptions};
use crate::terminal::interrupt;
use crate::terminal::output::{count, listed, summary, whole_millis};
use crate::terminal::progress_bar::ProgressBar;
use std::path::Path;
use std::time::Instant;
use twindex::{Document, Index, Inserted, OnConflict, WriteTxn};

/// How documents are taken in.
#[derive(Debug, clap::Args)]
pub(crate) struct Taking {
    /// What to do with a document whose id is in the index with another text
    #[arg(long, value_enum, default_value_t = Conflict::Replace)]
    on_conflict: Conflict,
    /// Documents in one commit
    #[arg(long, value_name = "DOCS", default_value_t = 10_000,
          value_parser = clap::value_parser!(u32).range(1..))]
    batch: u32,
}

/// A document, and the place in the input that it was found at.
pub(crate) struct Found {
    pub(crate) document: Document,
    pub(crate) place: String,
}

/// The number of documents by outcome.
#[derive(Default)]
struct Counts {
    added: u64,
    replaced: u64,
    unchanged: u64,
    skipped: u64,
    failed: u64,
}

/// An insertion of many documents into an index, in batches.
pub(crate) struct Intake<'i> {
    index: &'i Index,
    txn: WriteTxn,
    conflict: Conflict,
    batch: usize,
    in_batch: usize,
    counts: Counts,
    start: Instant,
}

impl<'i> Intake<'i> {
    /// Begins the first transaction.
    pub(crate) fn new(index: &'i Index, taking: &Taking, start: Instant) -> Result<Self, Failure> {
        Ok(Self {
            index,
            txn: index.begin_write()?,
            conflict: taking.on_conflict,
            batch: taking.batch as usize,
            in_batch: 0,
            counts: Counts::default(),
            start,
        })
    }

    /// The number of documents to pass to [`Intake::take`] at once.
    pub(crate) fn block(&self) -> usize {
        self.batch.min(4096)
    }

    /// Inserts documents, and commits at the end of each batch. If the command is interrupted, it
    /// stops after a commit.
    pub(crate) fn take(
        mut self,
        documents: Vec<Found>,
        progress: &ProgressBar,
    ) -> Result<Self, Failure> {
        let mut rest = documents;
        while !rest.is_empty() {
            let later = rest.split_off(rest.len().min(self.batch - self.in_batch));
            self.in_batch += rest.len();
            self.insert(rest, progress)?;
            rest = later;
            if self.in_batch >= self.batch {
                self.txn.commit()?;
                self.txn = self.index.begin_write()?;
                self.in_batch = 0;
                if interrupt::asked() {
                    break;
                }
            }
        }
        Ok(self)
    }

    /// Counts a document that could not be inserted. The caller has reported it.
    pub(crate) fn failed(&mut self) {
        self.counts.failed += 1;
    }

    /// Inserts documents in the open transaction, and counts and reports the outcomes.
    fn insert(&mut self, found: Vec<Found>, progress: &ProgressBar) -> Result<(), Failure> {
        let policy = match self.conflict {
            Conflict::Replace => OnConflict::Replace,
            Conflict::Skip | Conflict::Error => OnConflict::Skip,
        };
        let (documents, places): (Vec<_>, Vec<_>) =
            found.into_iter().map(|Found { document, place }| (document, place)).unzip();
        let counts = &mut self.counts;
        let outcomes = self.txn.insertion().on_conflict(policy).documents(documents)?;
        for (outcome, place) in outcomes.into_iter().zip(places) {
            match outcome.inserted() {
                Some(Inserted::Added) => counts.added += 1,
                Some(Inserted::Replaced) => counts.replaced += 1,
                Some(Inserted::Unchanged) => counts.unchanged += 1,
                Some(Inserted::Skipped) if self.conflict == Conflict::Error => {
                    counts.failed += 1;
                    progress.say(&format!("{place}: its id is in the index with another text"));
                }
                Some(Inserted::Skipped) | None => counts.skipped += 1,
            }
        }
        Ok(())
    }

    /// Commits the last batch and prints the summary.
    pub(crate) fn finish(self, global: &GlobalOptions, path: &Path) -> Result<Ending, Failure> {
        let Self { txn, counts, start, .. } = self;
        txn.commit()?;
        let interrupted = interrupt::asked();
        report(global, &counts, start.elapsed().as_secs_f64(), interrupted);
        if interrupted {
            let done = counts.added + counts.replaced + counts.unchanged;
            return Err(anyhow::anyhow!(
                "{}: interrupted; {} are in, run the command again to go on",
                path.display(),
                count(done, "document")
            )
            .into());
        }
        Ok(if counts.failed > 0 { Ending::SomeFailed } else { Ending::Done })
    }
}

/// Prints the summary.
fn report(global: &GlobalOptions, counts: &Counts, seconds: f64, interrupted: bool) {
    let fields = [
        ("added", counts.added.into()),
        ("replaced", counts.replaced.into()),
        ("unchanged", counts.unchanged.into()),
        ("skipped", counts.skipped.into()),
        ("failed", counts.failed.into()),
        ("seconds", whole_millis(seconds)),
        ("interrupted", interrupted.into()),
    ];
    let mut sentence = format!("added {}", count(counts.added, "document"));
    sentence += &listed(&[
        (counts.replaced, "replaced"),
        (counts.unchanged, "unchanged"),
        (counts.skipped, "skipped"),
        (counts.failed, "failed"),
    ]);
    sentence += &format!(" in {seconds:.1} s");
    summary(global, &fields, &sentence);
}
