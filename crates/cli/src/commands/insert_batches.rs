//! Inserts documents with one commit for each batch, counts the outcomes, and prints the summary.

use crate::commands::cluster_events::ClusterCounts;
use crate::commands::merge_similar::SimilarJudge;
use crate::commands::replace_guard::{ReplaceGuard, ReplaceOptions, key_of};
use crate::run::ending::Ending;
use crate::run::failure::Failure;
use crate::run::{conflict::Conflict, global_options::GlobalOptions};
use crate::terminal::interrupt;
use crate::terminal::output::{bytes, count, grouped, listed, summary, whole_millis};
use crate::terminal::progress_bar::ProgressBar;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;
use twindex::{Document, Index, Inserted, Snapshot, WriteTxn};

/// How documents are inserted.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Writing to the index")]
pub(crate) struct InsertOptions {
    /// What to do with a document whose id is in the index with another text
    #[arg(long, value_enum, default_value_t = Conflict::Replace)]
    on_conflict: Conflict,
    /// Documents in one commit
    #[arg(long, value_name = "DOCS", default_value_t = 10_000,
          value_parser = clap::value_parser!(u32).range(1..))]
    batch: u32,
    #[command(flatten)]
    replace: ReplaceOptions,
}

impl InsertOptions {
    /// Whether messages tell the places of documents.
    pub(crate) fn tells_places(&self) -> bool {
        self.on_conflict == Conflict::Error
    }
}

/// A document to insert, and the place in the input that it was read from, if messages may tell it.
pub(crate) struct PlacedDocument {
    pub(crate) document: Document,
    pub(crate) place: Option<String>,
}

/// The number of documents by outcome, and the bytes of their texts.
#[derive(Default)]
struct Counts {
    added: u64,
    replaced: u64,
    unchanged: u64,
    skipped: u64,
    empty: u64,
    failed: u64,
    bytes: u64,
}

/// An insertion of many documents into an index, in batches.
pub(crate) struct BatchInserter {
    /// The transaction of the batch under way. The first document of a batch begins it.
    txn: Option<WriteTxn>,
    conflict: Conflict,
    replace: ReplaceOptions,
    /// The first documents begin it.
    guard: Option<ReplaceGuard>,
    /// Leaves out similar documents.
    similar: Option<SimilarJudge>,
    batch: usize,
    in_batch: usize,
    counts: Counts,
    clusters: ClusterCounts,
    verbose: bool,
    start: Instant,
}

impl BatchInserter {
    /// An inserter that has written nothing yet. `start` is when the command began.
    pub(crate) fn new(options: &InsertOptions, global: &GlobalOptions, start: Instant) -> Self {
        Self {
            txn: None,
            conflict: options.on_conflict,
            replace: options.replace,
            guard: None,
            similar: None,
            batch: options.batch as usize,
            in_batch: 0,
            counts: Counts::default(),
            clusters: ClusterCounts::default(),
            verbose: global.verbose,
            start,
        }
    }

    /// Leaves out the documents that a judge says are similar to one that is there.
    pub(crate) fn judged_by(self, similar: Option<SimilarJudge>) -> Self {
        Self { similar, ..self }
    }

    /// The number of documents to pass to [`BatchInserter::insert`] at once.
    pub(crate) fn block(&self) -> usize {
        self.batch.min(4096)
    }

    /// Inserts documents, and commits at the end of each batch. If the command is interrupted, it
    /// inserts nothing more after a commit.
    pub(crate) fn insert(
        &mut self,
        index: &Index,
        mut documents: Vec<PlacedDocument>,
        progress: &ProgressBar,
    ) -> Result<(), Failure> {
        while !documents.is_empty() {
            let room = (self.batch - self.in_batch).min(documents.len());
            let later = documents.split_off(room);
            self.in_batch += room;
            self.insert_in_batch(index, documents, progress)?;
            documents = later;
            if self.in_batch >= self.batch {
                self.commit()?;
                if self.verbose {
                    let done = self.counts.done() + self.counts.skipped;
                    progress.note(&format!("committed {}", count(done, "document")));
                }
                if interrupt::asked() {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Attaches an index in one commit. Nothing is committed if the command is interrupted.
    pub(crate) fn attach(
        &mut self,
        index: &Index,
        source: &Snapshot,
        progress: &ProgressBar,
    ) -> Result<(), Failure> {
        let guard = match &mut self.guard {
            Some(guard) => guard,
            none => none.insert(ReplaceGuard::new(self.replace, index)?),
        };
        let mut txn = index.begin_write()?;
        let before = txn.len();
        let mut told = 0;
        let attached = txn.attach(source, self.conflict.policy()).watch(|now| {
            progress.add_documents(now.done - std::mem::replace(&mut told, now.done));
            if interrupt::asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let attached = match attached {
            Err(twindex::Error::Interrupted { .. }) => return Ok(()),
            attached => attached?,
        };
        guard.check_commit(attached.replaced, before, index.path())?;
        self.clusters.commit(txn)?;
        let path = source.path().display();
        let counts = &mut self.counts;
        counts.added += attached.added;
        counts.replaced += attached.replaced;
        counts.unchanged += attached.unchanged;
        counts.empty += attached.empty;
        counts.bytes = counts.bytes.saturating_add(attached.text_bytes);
        match (self.conflict, attached.skipped) {
            (Conflict::Error, 1..) => {
                counts.failed += attached.skipped;
                progress.say(&format!(
                    "{path}: {} left out, because the id is in the index with another text",
                    count(attached.skipped, "document")
                ));
            }
            (_, skipped) => counts.skipped += skipped,
        }
        if self.verbose {
            progress.note(&format!("committed {path}"));
        }
        Ok(())
    }

    /// Counts records that are no documents, and prints the messages about them.
    pub(crate) fn failed(&mut self, records: u64, messages: &[String], progress: &ProgressBar) {
        self.counts.failed += records;
        messages.iter().for_each(|message| progress.say(message));
    }

    /// Whether no record has failed so far.
    pub(crate) fn has_not_failed(&self) -> bool {
        self.counts.failed == 0
    }

    /// Commits the last batch and prints the summary.
    pub(crate) fn finish(mut self, global: &GlobalOptions, path: &Path) -> Result<Ending, Failure> {
        self.commit()?;
        let interrupted = interrupt::asked();
        let seconds = self.start.elapsed().as_secs_f64();
        self.report(global, seconds, interrupted);
        if interrupted {
            let repeats = self.guard.as_ref().is_some_and(|guard| guard.repeated() > 0);
            let documents = match self.counts.done() {
                0 => "no document of this run is".to_owned(),
                1 => "1 document of this run is".to_owned(),
                more => format!("{} documents of this run are", grouped(more)),
            };
            return Err(anyhow::anyhow!(
                "{}: interrupted; {documents} in the index, run the command again to go on{}",
                path.display(),
                // What comes again is replaced by the earlier text first, as if it were another's.
                if repeats { ", with --replace-most as ids repeat" } else { "" },
            )
            .into());
        }
        Ok(if self.counts.failed > 0 { Ending::SomeFailed } else { Ending::Done })
    }

    /// Inserts documents in the transaction of this batch, and counts and reports the outcomes.
    fn insert_in_batch(
        &mut self,
        index: &Index,
        placed: Vec<PlacedDocument>,
        progress: &ProgressBar,
    ) -> Result<(), Failure> {
        let policy = self.conflict.policy();
        let counts = &mut self.counts;
        for PlacedDocument { document, .. } in &placed {
            // An import may name any size.
            counts.bytes = counts.bytes.saturating_add(document.text_bytes());
            counts.empty += u64::from(document.signature().is_empty());
        }
        let (documents, places): (Vec<_>, Vec<_>) =
            placed.into_iter().map(|placed| (placed.document, placed.place)).unzip();
        let guard = match &mut self.guard {
            Some(guard) => guard,
            none => none.insert(ReplaceGuard::new(self.replace, index)?),
        };
        let txn = match &mut self.txn {
            Some(txn) => txn,
            none => none.insert(index.begin_write()?),
        };
        let ids = documents.iter().map(Document::id);
        let keys: Vec<u64> =
            if guard.needs_keys() { ids.map(key_of).collect() } else { Vec::new() };
        let mut keys = keys.into_iter();
        let mut insertion = txn.insertion().on_conflict(policy);
        let mut ids: Vec<String> = Vec::new();
        if let Some(judge) = &mut self.similar {
            insertion = judge.judge(insertion)?;
            ids.extend(documents.iter().map(|document| document.id().to_owned()));
        }
        let outcomes = insertion.documents(documents)?;
        if let Some(judge) = &mut self.similar {
            ids.iter().zip(&outcomes).try_for_each(|(id, outcome)| judge.tell(id, outcome))?;
        }
        for (outcome, place) in outcomes.into_iter().zip(places) {
            let inserted = outcome.inserted();
            let key = keys.next();
            if let (Some(Inserted::Added | Inserted::Replaced), Some(key)) = (inserted, key) {
                guard.wrote(key, inserted == Some(Inserted::Replaced));
            }
            match inserted {
                Some(Inserted::Added) => counts.added += 1,
                Some(Inserted::Replaced) => counts.replaced += 1,
                Some(Inserted::Unchanged) => counts.unchanged += 1,
                Some(Inserted::Skipped) if self.conflict == Conflict::Error => {
                    counts.failed += 1;
                    let place = place.unwrap_or_default();
                    progress.say(&format!("{place}: its id is in the index with another text"));
                }
                Some(Inserted::Skipped) => counts.skipped += 1,
                None => {}
            }
        }
        guard.check(index.path())
    }

    /// Commits the batch under way, if there is one.
    fn commit(&mut self) -> Result<(), Failure> {
        self.in_batch = 0;
        let Some(txn) = self.txn.take() else { return Ok(()) };
        if let Some(judge) = &mut self.similar {
            judge.before_commit(&txn)?;
        }
        Ok(self.clusters.commit(txn)?)
    }

    /// Prints the summary.
    fn report(&self, global: &GlobalOptions, seconds: f64, interrupted: bool) {
        let Self { counts, clusters, similar, .. } = self;
        let mut fields = vec![
            ("added", counts.added.into()),
            ("replaced", counts.replaced.into()),
            ("unchanged", counts.unchanged.into()),
            ("skipped", counts.skipped.into()),
            ("empty", counts.empty.into()),
            ("failed", counts.failed.into()),
            ("bytes", counts.bytes.into()),
            ("seconds", whole_millis(seconds)),
            ("interrupted", interrupted.into()),
        ];
        fields.extend(similar.iter().flat_map(SimilarJudge::fields));
        fields.extend(clusters.field());
        let mut sentence = format!("added {}", count(counts.added, "document"));
        sentence += &listed(&[
            (counts.replaced, "replaced"),
            (counts.unchanged, "unchanged"),
            (counts.skipped, "skipped"),
            (counts.empty, "empty"),
            (counts.failed, "failed"),
        ]);
        sentence += &format!(" in {seconds:.1} s");
        if counts.bytes > 0 {
            let rate = (counts.bytes as f64 / seconds.max(1e-9)) as u64;
            sentence += &format!(": {} of text, {}/s", bytes(counts.bytes), bytes(rate));
        }
        sentence += &similar.as_ref().map(SimilarJudge::sentence).unwrap_or_default();
        sentence += &clusters.sentence();
        summary(global, &fields, &sentence);
    }
}

impl Counts {
    /// The number of documents that are in the index as they were given.
    fn done(&self) -> u64 {
        self.added + self.replaced + self.unchanged
    }
}
