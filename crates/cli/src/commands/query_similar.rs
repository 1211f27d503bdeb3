//! `twindex query`: the documents that are similar to a text, or that contain it.

use super::query_question::{Question, bounded_note};
use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::run::results_table::{Column, Kind};
use crate::terminal::output::{
    Results, count, count_as, distance, grouped, likeness, rounded_recall, similarity, summary,
    whole_millis,
};
use serde_json::Value;
use std::sync::Arc;
use twindex::{Content, Matches, Signature, Snapshot};

/// Which documents are similar?
#[derive(Clone)]
pub(super) struct SimilarDocuments {
    pub(super) snapshot: Arc<Snapshot>,
    pub(super) threshold: Option<f64>,
    pub(super) confidence: f64,
    pub(super) top: Option<usize>,
    pub(super) scan: bool,
    pub(super) containment: bool,
    pub(super) estimate: bool,
    pub(super) max_candidates: Option<usize>,
}

/// Sums over all answers, for the summary.
#[derive(Default)]
pub(super) struct Totals {
    queries: u64,
    matches: u64,
    candidates: u64,
    left_out: u64,
    /// The number of queries that did not compare all of their candidates.
    bounded: u64,
    /// The number of set-size classes that were scanned.
    classes_scanned: u64,
    /// The number of documents in these classes.
    scanned: u64,
    /// The number of compared documents for which only stored texts can answer.
    undecidable: u64,
    /// The greatest similarity at which the bands do not reach the recall, which makes scans
    /// necessary.
    out_of_reach: Option<f64>,
    /// The least recall of all queries.
    recall: Option<f64>,
}

impl SimilarDocuments {
    /// Builds a query with these options.
    fn query(&self) -> twindex::Query<'_> {
        let mut query = self
            .snapshot
            .query()
            .scan(self.scan)
            .estimate(self.estimate)
            .containment(self.containment)
            .confidence(self.confidence);
        if let Some(count) = self.top {
            query = query.top(count);
        }
        if let Some(most) = self.max_candidates {
            query = query.max_candidates(most);
        }
        if let Some(threshold) = self.threshold {
            query = query.threshold(threshold);
        }
        query
    }

    /// The width of the k-mers, if the index has k-mer shingles.
    fn kmer_width(&self) -> Option<u16> {
        self.snapshot.settings().shingle.kmer_width()
    }
}

impl Question for SimilarDocuments {
    type Answer = Matches;
    type Totals = Totals;

    fn columns(&self) -> Vec<Column> {
        let number = |name| (name, Kind::Number);
        let mut columns = vec![("query", Kind::Text), ("id", Kind::Text)];
        columns.extend(["similarity", "low", "high"].map(number));
        columns.push(("exact", Kind::Flag));
        if self.containment {
            columns.extend(["containment", "containment_low", "containment_high"].map(number));
        }
        columns.extend(self.kmer_width().map(|_| number("distance")));
        columns
    }

    fn check(&self) -> twindex::Result<()> {
        let nothing = Signature::empty(self.snapshot.settings().lanes())?;
        self.query().by_signature(&nothing).map(drop)
    }

    fn by_content(&self, content: Content<'_>, own_id: Option<&str>) -> twindex::Result<Matches> {
        match own_id {
            Some(id) => self.query().excluding(id).by_content(content),
            None => self.query().by_content(content),
        }
    }

    fn by_id(&self, id: &str) -> twindex::Result<Option<Matches>> {
        self.query().by_id(id)
    }

    fn print(
        &self,
        query: &str,
        matches: &Matches,
        results: &mut Results,
        totals: &mut Totals,
    ) -> Result<(), Failure> {
        totals.add(matches);
        for found in matches {
            let mut fields = vec![
                ("query", Value::from(query)),
                ("id", Value::from(found.id.as_str())),
                ("similarity", likeness(found.similarity, found.exact)),
                ("low", likeness(found.low, found.exact)),
                ("high", likeness(found.high, found.exact)),
                ("exact", found.exact.into()),
            ];
            if let Some(contained) = found.containment {
                fields.extend([
                    ("containment", likeness(contained.share, found.exact)),
                    ("containment_low", likeness(contained.low, found.exact)),
                    ("containment_high", likeness(contained.high, found.exact)),
                ]);
            }
            fields.extend(self.kmer_width().map(|k| distance(found.similarity, k)));
            results.line(&fields)?;
        }
        Ok(())
    }

    fn report(&self, global: &GlobalOptions, totals: &Totals, failed: u64, seconds: f64) {
        let recall = totals.recall.map_or(Value::Null, rounded_recall);
        let mut fields = vec![
            ("queries", totals.queries.into()),
            ("matches", totals.matches.into()),
            ("candidates", totals.candidates.into()),
            ("failed", failed.into()),
            ("recall", recall.clone()),
            ("limited", (totals.left_out > 0).into()),
            ("left_out", totals.left_out.into()),
        ];
        if self.containment {
            fields.push(("classes_scanned", totals.classes_scanned.into()));
            fields.push(("scanned", totals.scanned.into()));
            fields.push(("undecidable", totals.undecidable.into()));
        }
        if self.max_candidates.is_some() {
            fields.push(("bounded", totals.bounded.into()));
        }
        fields.push(("seconds", whole_millis(seconds)));
        let mut sentence = format!(
            "{}, {}, {} compared",
            count_as(totals.queries, "query", "queries"),
            count_as(totals.matches, "match", "matches"),
            count(totals.candidates, "candidate")
        );
        if totals.recall.is_some() {
            let place = if self.top.is_some() && !self.containment {
                "the last match or the threshold"
            } else {
                "the threshold"
            };
            sentence += &format!(", recall at {place} {recall}");
        }
        if totals.left_out > 0 {
            sentence += &format!("; {} left out", grouped(totals.left_out));
        }
        sentence += &bounded_note(totals.bounded);
        sentence += &totals.scan_note();
        if totals.undecidable > 0 {
            let documents = count(totals.undecidable, "document");
            sentence += &format!(
                "; {documents} too large for their query to be told by estimate: only stored \
                 texts can answer"
            );
        }
        summary(global, &fields, &sentence);
    }
}

impl Totals {
    fn add(&mut self, matches: &Matches) {
        self.queries += 1;
        self.matches += matches.len() as u64;
        self.candidates += matches.candidates;
        self.left_out += matches.left_out;
        self.bounded += u64::from(matches.limited);
        self.recall = Some(self.recall.map_or(matches.recall, |least| least.min(matches.recall)));
        if let Some(sizes) = matches.sizes {
            self.classes_scanned += sizes.scanned as u64;
            self.scanned += sizes.documents_scanned;
            self.undecidable += sizes.undecidable;
            let most = sizes.out_of_reach.into_iter().chain(self.out_of_reach);
            self.out_of_reach = most.reduce(f64::max);
        }
    }

    /// Describes the scan of size classes and its reason, or returns nothing without a scan.
    fn scan_note(&self) -> String {
        if self.classes_scanned == 0 {
            return String::new();
        }
        let documents = count(self.scanned, "document");
        let classes = count_as(self.classes_scanned, "size class", "size classes");
        let why = self.out_of_reach.map_or(String::new(), |most| {
            format!(": no band reaches the recall at similarity {} or below", similarity(most))
        });
        format!("; {documents} of {classes} scanned{why}")
    }
}
