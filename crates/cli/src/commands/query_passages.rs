//! `twindex query --passages`: the documents that share a passage with a text, and the passages.

use super::query_question::{Question, bounded_note};
use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::run::results_table::{Column, Kind};
use crate::terminal::output::{Results, count, count_as, grouped, likeness, summary, whole_millis};
use serde_json::Value;
use std::sync::Arc;
use twindex::{Content, PassageMatches, PassageQuery, Snapshot, Span};

/// The columns of the results.
const COLUMNS: [Column; 16] = [
    ("query", Kind::Text),
    ("id", Kind::Text),
    ("shared", Kind::Count),
    ("shared_high", Kind::Count),
    ("share", Kind::Number),
    ("units", Kind::Count),
    ("units_high", Kind::Count),
    ("query_start", Kind::Count),
    ("query_end", Kind::Count),
    ("query_char_start", Kind::Count),
    ("query_char_end", Kind::Count),
    ("start", Kind::Count),
    ("end", Kind::Count),
    ("char_start", Kind::Count),
    ("char_end", Kind::Count),
    ("text", Kind::Text),
];

/// Which documents share a passage?
#[derive(Clone)]
pub(super) struct SharedPassages {
    pub(super) snapshot: Arc<Snapshot>,
    pub(super) threshold: Option<f64>,
    pub(super) top: Option<usize>,
    pub(super) max_candidates: Option<usize>,
}

/// What shares passages with a text, and the text.
pub(super) struct Answer {
    text: String,
    matches: PassageMatches,
}

/// Sums over all answers, for the summary.
#[derive(Default)]
pub(super) struct Totals {
    queries: u64,
    documents: u64,
    passages: u64,
    candidates: u64,
    left_out: u64,
    /// The number of queries that did not compare all of their candidates.
    bounded: u64,
}

impl SharedPassages {
    /// Builds a query with these options.
    fn query(&self) -> PassageQuery<'_> {
        let mut query = self.snapshot.passages();
        if let Some(count) = self.top {
            query = query.limit(count);
        }
        if let Some(most) = self.max_candidates {
            query = query.max_candidates(most);
        }
        if let Some(share) = self.threshold {
            query = query.threshold(share);
        }
        query
    }

    /// Whether texts are compared, not fingerprints.
    fn is_exact(&self) -> bool {
        self.snapshot.settings().store_text
    }
}

impl Question for SharedPassages {
    type Answer = Answer;
    type Totals = Totals;

    fn columns(&self) -> Vec<Column> {
        COLUMNS.to_vec()
    }

    fn check(&self) -> twindex::Result<()> {
        self.query().by_text("").map(drop)
    }

    fn by_content(&self, content: Content<'_>, own_id: Option<&str>) -> twindex::Result<Answer> {
        let text = match content {
            Content::Text(text) => text.to_owned(),
            Content::Tokens(_) | Content::Weights(_) => String::new(),
        };
        let query = own_id.into_iter().fold(self.query(), PassageQuery::excluding);
        Ok(Answer { text, matches: query.by_content(content)? })
    }

    fn by_id(&self, id: &str) -> twindex::Result<Option<Answer>> {
        let Some(matches) = self.query().by_id(id)? else { return Ok(None) };
        let text = self.snapshot.text(id)?.unwrap_or_default();
        Ok(Some(Answer { text, matches }))
    }

    fn print(
        &self,
        query: &str,
        Answer { text, matches }: &Answer,
        results: &mut Results,
        totals: &mut Totals,
    ) -> Result<(), Failure> {
        totals.queries += 1;
        totals.documents += matches.len() as u64;
        totals.candidates += matches.candidates;
        totals.left_out += matches.left_out;
        totals.bounded += u64::from(matches.limited);
        for found in matches {
            let (share, _) = matches.share(found);
            for passage in &found.passages {
                totals.passages += 1;
                let [start, end, char_start, char_end] = places(Some(passage.query));
                let [in_start, in_end, in_char_start, in_char_end] = places(passage.document);
                let shown = text.get(passage.query.bytes()).unwrap_or_default();
                results.line(&[
                    ("query", query.into()),
                    ("id", found.id.as_str().into()),
                    ("shared", found.shared.into()),
                    ("shared_high", found.most.into()),
                    ("share", likeness(share, self.is_exact())),
                    ("units", passage.units.into()),
                    ("units_high", passage.most.into()),
                    ("query_start", start),
                    ("query_end", end),
                    ("query_char_start", char_start),
                    ("query_char_end", char_end),
                    ("start", in_start),
                    ("end", in_end),
                    ("char_start", in_char_start),
                    ("char_end", in_char_end),
                    ("text", shown.into()),
                ])?;
            }
        }
        Ok(())
    }

    fn report(&self, global: &GlobalOptions, totals: &Totals, failed: u64, seconds: f64) {
        let mut fields = vec![
            ("queries", totals.queries.into()),
            ("documents", totals.documents.into()),
            ("passages", totals.passages.into()),
            ("candidates", totals.candidates.into()),
            ("failed", failed.into()),
            ("left_out", totals.left_out.into()),
            ("exact", self.is_exact().into()),
        ];
        if self.max_candidates.is_some() {
            fields.push(("bounded", totals.bounded.into()));
        }
        fields.push(("seconds", whole_millis(seconds)));
        let mut sentence = format!(
            "{}, {} in {}, {} compared",
            count_as(totals.queries, "query", "queries"),
            count(totals.passages, "passage"),
            count(totals.documents, "document"),
            count(totals.candidates, "candidate")
        );
        if totals.left_out > 0 {
            sentence += &format!("; {} left out", grouped(totals.left_out));
        }
        sentence += &bounded_note(totals.bounded);
        if !self.is_exact() && totals.passages > 0 {
            sentence += "; told by fingerprints, as the index stores no texts";
        }
        summary(global, &fields, &sentence);
    }
}

/// The first and last byte and character of a span.
fn places(span: Option<Span>) -> [Value; 4] {
    match span {
        Some(span) => [span.start, span.end, span.char_start, span.char_end].map(Value::from),
        None => [Value::Null, Value::Null, Value::Null, Value::Null],
    }
}
