//! Documents that `merge --dedup` leaves out, because they are similar to one that is there.

use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::terminal::numbers::grouped;
use crate::terminal::output::{Results, count, likeness, rounded_recall};
use serde_json::Value;
use std::io;
use twindex::{DEFAULT_MAX_CANDIDATES, Insertion, Outcome, WriteTxn};

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "What is a duplicate")]
pub(crate) struct SimilarOptions {
    /// Leave out documents that are similar to one in DEST, also to one that came in before, and
    /// print which; compares texts if the indexes store them
    #[arg(long, conflicts_with = "attach")]
    dedup: bool,
    /// Use estimates even if the indexes store texts: faster, because no text is read
    #[arg(long, requires = "dedup", conflicts_with = "attach")]
    estimate: bool,
    /// Compare a document with at most this many candidates: those that share the most buckets
    /// with it
    #[arg(
        long,
        requires = "dedup",
        conflicts_with = "attach",
        value_name = "DOCS",
        default_value_t = DEFAULT_MAX_CANDIDATES as u32,
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    max_candidates: u32,
}

/// Judges documents by what is in the index, and prints which are left out.
pub(crate) struct SimilarJudge {
    threshold: f64,
    estimate: bool,
    max_candidates: u32,
    /// The recall at the threshold, once a document was judged.
    recall: Option<f64>,
    left_out: u64,
    /// The inserted documents that were compared with only some of their candidates.
    limited: u64,
    /// `None` once nobody reads them any more.
    results: Option<Results>,
}

impl SimilarJudge {
    /// The judge that the options ask for, by the threshold of the index.
    pub(crate) fn of(
        options: &SimilarOptions,
        global: &GlobalOptions,
        threshold: f64,
    ) -> Option<Self> {
        let SimilarOptions { estimate, max_candidates, .. } = *options;
        options.dedup.then(|| Self {
            threshold,
            estimate,
            max_candidates,
            recall: None,
            left_out: 0,
            limited: 0,
            results: Some(Results::new(global)),
        })
    }

    /// Tells an insertion to leave out similar documents.
    pub(crate) fn judge<'t>(&mut self, insertion: Insertion<'t>) -> twindex::Result<Insertion<'t>> {
        let most = self.max_candidates as usize;
        let insertion = insertion.unless_similar(self.threshold).estimate(self.estimate);
        let insertion = insertion.max_candidates(most);
        self.recall = Some(insertion.recall()?);
        Ok(insertion)
    }

    /// Counts and prints a document if it is left out.
    pub(crate) fn tell(&mut self, id: &str, outcome: &Outcome) -> Result<(), Failure> {
        let Outcome::Duplicate { of, .. } = outcome else { return Ok(()) };
        self.left_out += 1;
        self.print(|results| {
            results.line(&[
                ("id", id.into()),
                ("duplicate_of", of.id.as_str().into()),
                ("similarity", likeness(of.similarity, of.exact)),
                ("exact", of.exact.into()),
            ])
        })
    }

    /// Prints what waits, before a transaction is committed. If the command is run again after a
    /// commit that failed, it prints the same documents again.
    pub(crate) fn before_commit(&mut self, txn: &WriteTxn) -> Result<(), Failure> {
        self.limited += txn.limited();
        self.print(Results::flush)
    }

    /// Prints, until the reader of the output closes it. The merge goes on then: who is left out is
    /// told again by a second run.
    fn print(&mut self, print: impl FnOnce(&mut Results) -> io::Result<()>) -> Result<(), Failure> {
        match self.results.as_mut().map_or(Ok(()), print) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.results = None;
                Ok(())
            }
            printed => Ok(printed?),
        }
    }

    /// The fields of the summary.
    pub(crate) fn fields(&self) -> [(&'static str, Value); 3] {
        [
            ("duplicates", self.left_out.into()),
            ("limited", self.limited.into()),
            ("recall", self.recall.map_or(Value::Null, rounded_recall)),
        ]
    }

    /// The part of the summary's sentence.
    pub(crate) fn sentence(&self) -> String {
        let mut sentence = format!("; {} left out", count(self.left_out, "duplicate"));
        if let Some(recall) = self.recall.map(rounded_recall) {
            sentence += &format!(", recall at the threshold {recall}");
        }
        if self.limited > 0 {
            sentence += &format!(
                "; {} compared with only {} of their candidates (--max-candidates)",
                count(self.limited, "document"),
                grouped(self.max_candidates.into()),
            );
        }
        sentence
    }
}
