//! `twindex query --passages`: finds the documents that share a passage with texts.

use super::query::{Query, names_of};
use crate::input::{no_sequence, unmarked};
use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::run::input_options::announce_standard_input;
use crate::run::results_table::{Column, Kind};
use crate::run::{ending::Ending, opening, records};
use crate::terminal::interrupt;
use crate::terminal::messages::message;
use crate::terminal::output::{Results, count, grouped, likeness, summary, whole_millis};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
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

/// The passages of one query, with its name and text.
struct Answer {
    query: String,
    text: String,
    matches: PassageMatches,
}

/// The options that all queries share.
#[derive(Clone, Copy)]
struct Asked {
    threshold: Option<f64>,
    top: Option<usize>,
}

impl Asked {
    fn query(self, snapshot: &Snapshot) -> PassageQuery<'_> {
        let query = snapshot.passages();
        let query = self.top.map_or(query.clone(), |count| query.limit(count));
        self.threshold.map_or(query.clone(), |share| query.threshold(share))
    }
}

/// Sums over all queries, for the summary.
#[derive(Default)]
struct Totals {
    queries: u64,
    documents: u64,
    passages: u64,
    candidates: u64,
    left_out: u64,
    failed: u64,
    exact: bool,
}

pub(super) fn run(global: &GlobalOptions, args: &Query) -> Result<Ending, Failure> {
    interrupt::catch()?;
    let start = Instant::now();
    let index = opening::to_read(global, &args.index)?;
    let snapshot = Arc::new(index.snapshot()?);
    let settings = *snapshot.settings();
    let asked = Asked { threshold: args.threshold, top: args.top };
    // An index without passages and a threshold out of range are told once, before any text.
    asked.query(&snapshot).by_content("")?;
    let mut results = args.results.results(global, &args.index, &args.paths, &COLUMNS)?;
    let mut totals = Totals { exact: settings.store_text, ..Totals::default() };
    if let Some(text) = args.text.as_deref().map(unmarked) {
        if let Some(cause) = settings.shingle.kmer_width().and_then(|_| no_sequence(text)) {
            return Err(anyhow::anyhow!("--text: {cause}").into());
        }
        let matches = asked.query(&snapshot).by_text(text)?;
        let answer = Answer { query: "text".into(), text: text.to_owned(), matches };
        totals.print(&mut results, &answer)?;
    }
    if let Some(id) = &args.id {
        match asked.query(&snapshot).by_id(id)? {
            Some(matches) => {
                let text = snapshot.text(id)?.unwrap_or_default();
                totals.print(&mut results, &Answer { query: id.clone(), text, matches })?;
            }
            None => {
                totals.failed += 1;
                message(&format!("{}: no document has the id {id}", args.index.display()));
            }
        }
    }
    if !args.paths.is_empty() {
        args.input.check(settings.shingle, settings.weighted, &args.index)?;
        let shared = Arc::clone(&snapshot);
        announce_standard_input(global, &args.paths);
        let mut inputs = args.input.of(&args.paths, &args.index, settings.weighted);
        inputs.leave_out.extend(args.results.file().map(Path::to_owned));
        let records = records::start_long(inputs, &settings, move |record| {
            let (query, own) = names_of(&record);
            let content = record.body.content();
            let text = match content {
                Content::Text(text) => text.to_owned(),
                Content::Tokens(_) | Content::Weights(_) => String::new(),
            };
            let asking = asked.query(&shared);
            let asking = own.iter().fold(asking, |asking, id| asking.excluding(id));
            // An error here comes from the index, not from the record, so it ends the command.
            let matches = asking.by_content(content);
            Ok(matches.map(|matches| Answer { query, text, matches }))
        })?;
        for parsed in records {
            totals.failed += parsed.failed;
            parsed.messages.iter().for_each(|text| message(text));
            for answer in parsed.good {
                totals.print(&mut results, &answer?)?;
            }
            results.flush()?;
        }
    }
    let any = results.any();
    if !interrupt::asked() {
        results.finish()?;
    }
    totals.report(global, start.elapsed().as_secs_f64());
    Ok(match (interrupt::asked(), totals.failed > 0, any) {
        (true, _, _) => return Err(anyhow::anyhow!("interrupted").into()),
        (false, true, _) => Ending::SomeFailed,
        (false, false, true) => Ending::Done,
        (false, false, false) => Ending::Nothing,
    })
}

impl Totals {
    /// Adds an answer to the totals and prints a line for each of its passages.
    fn print(&mut self, results: &mut Results, answer: &Answer) -> Result<(), Failure> {
        let Answer { query, text, matches } = answer;
        self.queries += 1;
        self.documents += matches.len() as u64;
        self.candidates += matches.candidates;
        self.left_out += matches.left_out;
        for found in matches {
            let (share, _) = matches.share(found);
            for passage in &found.passages {
                self.passages += 1;
                let [start, end, char_start, char_end] = places(Some(passage.query));
                let [in_start, in_end, in_char_start, in_char_end] = places(passage.document);
                let shown = text.get(passage.query.bytes()).unwrap_or_default();
                results.line(&[
                    ("query", query.as_str().into()),
                    ("id", found.id.as_str().into()),
                    ("shared", found.shared.into()),
                    ("shared_high", found.most.into()),
                    ("share", likeness(share, self.exact)),
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

    /// Prints the summary.
    fn report(&self, global: &GlobalOptions, seconds: f64) {
        let fields = [
            ("queries", self.queries.into()),
            ("documents", self.documents.into()),
            ("passages", self.passages.into()),
            ("candidates", self.candidates.into()),
            ("failed", self.failed.into()),
            ("left_out", self.left_out.into()),
            ("exact", self.exact.into()),
            ("seconds", whole_millis(seconds)),
        ];
        let queries = match self.queries {
            1 => "1 query".to_owned(),
            n => format!("{} queries", grouped(n)),
        };
        let mut sentence = format!(
            "{queries}, {} in {}, {} compared",
            count(self.passages, "passage"),
            count(self.documents, "document"),
            count(self.candidates, "candidate")
        );
        if self.left_out > 0 {
            sentence += &format!("; {} left out", grouped(self.left_out));
        }
        if !self.exact && self.passages > 0 {
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
