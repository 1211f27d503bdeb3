//! The summary of a run of `dedup`.

use crate::commands::dedup::counts::{Counts, RunResults};
use crate::commands::dedup::options::Dedup;
use crate::commands::dedup::removal::Remove;
use crate::run::global_options::GlobalOptions;
use crate::terminal::messages::message;
use crate::terminal::numbers::grouped;
use crate::terminal::output::{bytes, count, listed, rounded_recall, summary, whole_millis};
use serde_json::Value;

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    Done,
    Interrupted,
    /// An earlier run with the same input has finished, and its output is unchanged.
    Already,
}

/// The summary of a run.
pub(super) struct Summary {
    fields: Vec<(&'static str, Value)>,
    /// What is said to people.
    pub(super) sentence: String,
    /// The probability that a duplicate at the threshold was found.
    pub(super) recall: Option<Value>,
}

impl Summary {
    /// Prints the summary.
    pub(super) fn print(&self, global: &GlobalOptions) {
        summary(global, &self.fields, &self.sentence);
    }
}

/// The documents that a run has replaced, and whose earlier texts are not known any more.
#[derive(Default)]
pub(crate) struct Replaced {
    /// Whether the run was a dry one.
    pub(crate) would: bool,
    /// By later records of the run with the same ids.
    pub(crate) own: u64,
    /// By records without an id, which their files, or --id-prefix, and numbers name.
    pub(crate) numbered: u64,
}

impl Replaced {
    /// Says what may be lost by that.
    pub(super) fn tell(&self) {
        let replaced = if self.would { "would replace" } else { "replaced" };
        if self.own > 0 {
            message(&format!(
                "{} {replaced} earlier ones of this run that have the same id, so copies of those \
                 earlier texts are kept; if ids repeat from file to file, say --id hash",
                count(self.own, "record")
            ));
        } else if self.numbered > 0 {
            message(&format!(
                "{} without an id {replaced} earlier ones, so copies of those are not known any \
                 more: they are named by their file, or --id-prefix, and their number; if a file \
                 of the same name has other records each time, say --id hash",
                count(self.numbered, "record")
            ));
        }
    }
}

/// Sums up a run.
pub(super) fn sum_up(
    args: &Dedup,
    results: &RunResults,
    recall: Option<f64>,
    seconds: f64,
    ended: Ended,
) -> Summary {
    let RunResults { counts, failed } = *results;
    let Counts { added, replaced, unchanged, duplicates, empty, bytes: read, .. } = counts;
    let Counts { spared, cut, cut_bytes, limited, .. } = counts;
    let fields = vec![
        ("added", added.into()),
        ("replaced", replaced.into()),
        ("unchanged", unchanged.into()),
        ("duplicates", duplicates.into()),
        ("empty", empty.into()),
        ("failed", failed.into()),
        ("spared", spared.into()),
        ("cut", cut.into()),
        ("cut_bytes", cut_bytes.into()),
        ("limited", limited.into()),
        ("bytes", read.into()),
        ("seconds", whole_millis(seconds)),
        ("recall", recall.map_or(Value::Null, rounded_recall)),
        ("interrupted", (ended == Ended::Interrupted).into()),
        ("already_finished", (ended == Ended::Already).into()),
        ("dry_run", Value::from(args.dry_run)),
    ];
    let all = added + replaced + unchanged + duplicates;
    let would = match ended {
        _ if args.dry_run => "would remove",
        Ended::Already => "already finished: removed",
        Ended::Done | Ended::Interrupted => "removed",
    };
    let what = match args.removal.remove {
        Remove::Similar | Remove::Contained => count(duplicates, "duplicate"),
        Remove::Spans | Remove::Covered => count(duplicates, "known document"),
    };
    let mut sentence = format!("{would} {what} of {}", count(all, "document"));
    if args.removal.remove == Remove::Spans {
        sentence += &format!(", and cut {} out of {}", bytes(cut_bytes), count(cut, "record"));
    }
    sentence += &listed(&[
        (added, "added"),
        (replaced, "replaced"),
        (unchanged, if args.skip_known { "known and left out" } else { "known" }),
        (empty, "empty"),
        (spared, "spared"),
        (failed, "failed"),
    ]);
    sentence += &format!(" in {seconds:.1} s: {} of text", bytes(read));
    let recall = recall.filter(|_| !args.removal.remove.is_by_passages()).map(rounded_recall);
    if let Some(recall) = &recall {
        sentence += &format!(", recall at the threshold {recall}");
    }
    if limited > 0 && args.removal.remove.is_by_passages() {
        sentence += &format!(
            "; {} compared with only the first documents of a passage that more than 100 have",
            count(limited, "record"),
        );
    } else if limited > 0 {
        sentence += &format!(
            "; {} compared with only {} of their candidates (--max-candidates)",
            count(limited, "kept record"),
            grouped(args.max_candidates.into()),
        );
    }
    if let (Ended::Already, Some(out)) = (ended, &args.output) {
        sentence += &format!("; {} is unchanged, --restart starts over", out.display());
    }
    Summary { fields, sentence, recall }
}
