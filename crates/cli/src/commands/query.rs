//! `twindex query`: finds the documents that are similar to texts or to a stored document.

use super::query_passages;
use crate::input::{RawRecord, Record, no_sequence, unmarked, weights};
use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::run::input_options::{InputOptions, announce_standard_input};
use crate::run::results_table::{Column, Kind, ResultsOption};
use crate::run::{ending::Ending, opening, records};
use crate::terminal::interrupt;
use crate::terminal::messages::message;
use crate::terminal::output::{
    Results, count, distance, grouped, likeness, rounded_recall, similarity, summary, whole_millis,
};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use twindex::{Content, DEFAULT_CONFIDENCE, Matches, Signature, Snapshot};

/// The headings of the options in the help.
const QUERIES: &str = "What to ask about";
const MATCHES: &str = "Matches";

#[derive(Debug, clap::Args)]
#[command(override_usage = "\
twindex query [OPTIONS] <INDEX> <PATHS>...   - is standard input
       twindex query [OPTIONS] <INDEX> --text <STR>
       twindex query [OPTIONS] <INDEX> --id <ID>")]
#[command(after_help = "\
A record whose id is in the index never matches itself.

Output columns (fields with --json): query, id, similarity, low, high, exact. low and high are the
interval of the similarity at --confidence. --containment adds containment, containment_low and
containment_high: the share of the query that the document contains, and its interval. An index of
k-mers adds distance, the Mash distance -ln(2J/(1+J))/k of the similarity J. If the index stores
texts, all values are exact.

With --passages, each line is a passage that a document shares with the query: query, id, shared
(units of the query that the document shares), shared_high, share (of the query), units (of the
passage), units_high, query_start, query_end (bytes of the query), query_char_start,
query_char_end (characters), start, end, char_start, char_end (the same in the document), text (as
written in the query). No passage of the index's length is missed. If the index stores no texts,
units and shared are the least numbers that the fingerprints tell, those that end in _high the
greatest, and the places in the document are not known.

Examples:
  twindex query pages.twx --text 'the quick brown fox'
  twindex query pages.twx --id page-1
  twindex query pages.twx new/*.txt --threshold 0.9
  twindex query pages.twx --id page-1 --top 5 --threshold 0.3
  twindex query docs.twx --text '{\"sea\": 2.5, \"ship\": 0.5}'      an index of weights
  twindex query books.twx --containment --threshold 0.7 chapter.txt
  twindex query essays.twx --passages essay.txt --json
  twindex query pages.twx --json - < new.jsonl
  twindex query pages.twx --format text - < letter.txt   one text; without it, each line is one")]
pub(crate) struct Query {
    /// The index file
    pub(crate) index: PathBuf,
    /// Files, directories, or - for standard input
    #[arg(required_unless_present_any = ["text", "id"])]
    pub(crate) paths: Vec<PathBuf>,
    /// Find documents similar to this text, or, in an index of weights, to this JSON object that
    /// gives each token a number
    #[arg(help_heading = QUERIES, long, value_name = "STR")]
    pub(crate) text: Option<String>,
    /// Find documents similar to the document with this id
    #[arg(help_heading = QUERIES, long)]
    pub(crate) id: Option<String>,
    /// Least similarity to report [default: the index's own]
    #[arg(help_heading = MATCHES, long, value_name = "T")]
    pub(crate) threshold: Option<f64>,
    /// Report the K most similar documents; ties go to those inserted first
    /// [default: all]
    #[arg(help_heading = MATCHES, long, value_name = "K", value_parser = at_least_one)]
    pub(crate) top: Option<usize>,
    /// Find documents of any size that contain the query; the threshold is then the least share of
    /// the query's shingles that a document must have
    #[arg(help_heading = MATCHES, long)]
    pub(crate) containment: bool,
    /// Find documents that share a passage with the query, and the passages; the threshold is then
    /// the least share of the query that lies in them [default: all]
    #[arg(help_heading = MATCHES, long, conflicts_with_all = ["containment", "estimate", "scan"])]
    pub(crate) passages: bool,
    /// Probability that the true similarity lies between low and high
    #[arg(help_heading = MATCHES, long, value_name = "P", default_value_t = DEFAULT_CONFIDENCE)]
    pub(crate) confidence: f64,
    /// Use estimates even if the index stores texts: faster, because no text is read
    #[arg(help_heading = MATCHES, long)]
    pub(crate) estimate: bool,
    /// Compare the query with every document: misses nothing, at any threshold
    #[arg(help_heading = MATCHES, long)]
    pub(crate) scan: bool,
    #[command(flatten)]
    pub(crate) input: InputOptions,
    #[command(flatten)]
    pub(crate) results: ResultsOption,
}

/// Parses a whole number from 1 on.
fn at_least_one(text: &str) -> Result<usize, &'static str> {
    text.parse().ok().filter(|number| *number > 0).ok_or("expected a whole number from 1 on")
}

/// The matches of one query, with its name.
struct Answer {
    query: String,
    matches: Matches,
}

/// The name of a record in the results, and its own id, under which it does not match itself.
pub(super) fn names_of(record: &Record<'_>) -> (String, Option<String>) {
    match record.name.id() {
        // A file is named as it was typed.
        Some(id) if matches!(record.raw, RawRecord::File(_)) => {
            (record.place.clone(), Some(id.to_owned()))
        }
        Some(id) => (id.to_owned(), Some(id.to_owned())),
        None => (record.place.clone(), None),
    }
}

/// Sums over all queries, for the summary.
#[derive(Default)]
struct Totals {
    queries: u64,
    matches: u64,
    candidates: u64,
    failed: u64,
    left_out: u64,
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
    /// The width of the k-mers, if the index has k-mer shingles.
    kmer_width: Option<u16>,
}

/// The options that all queries share.
#[derive(Clone, Copy)]
struct QueryOptions {
    threshold: Option<f64>,
    confidence: f64,
    top: Option<usize>,
    scan: bool,
    containment: bool,
    estimate: bool,
}

impl QueryOptions {
    /// Queries for a content. A record with an id of its own does not match itself.
    fn ask(
        self,
        snapshot: &Snapshot,
        content: Content<'_>,
        own_id: Option<&str>,
    ) -> twindex::Result<Matches> {
        let query = self.query(snapshot);
        match own_id {
            Some(id) => query.excluding(id).by_content(content),
            None => query.by_content(content),
        }
    }

    /// Builds a query with these options.
    fn query(self, snapshot: &Snapshot) -> twindex::Query<'_> {
        let query = snapshot
            .query()
            .scan(self.scan)
            .estimate(self.estimate)
            .containment(self.containment)
            .confidence(self.confidence);
        let query = match self.top {
            Some(count) => query.top(count),
            None => query,
        };
        match self.threshold {
            Some(threshold) => query.threshold(threshold),
            None => query,
        }
    }
}

/// The columns of the results.
fn columns(containment: bool, kmer_width: Option<u16>) -> Vec<Column> {
    let number = |name| (name, Kind::Number);
    let mut columns = vec![("query", Kind::Text), ("id", Kind::Text)];
    columns.extend(["similarity", "low", "high"].map(number));
    columns.push(("exact", Kind::Flag));
    if containment {
        columns.extend(["containment", "containment_low", "containment_high"].map(number));
    }
    columns.extend(kmer_width.map(|_| number("distance")));
    columns
}

pub(crate) fn run(global: &GlobalOptions, args: &Query) -> Result<Ending, Failure> {
    if args.passages {
        return query_passages::run(global, args);
    }
    interrupt::catch()?;
    let start = Instant::now();
    let index = opening::to_read(global, &args.index)?;
    let snapshot = Arc::new(index.snapshot()?);
    let options = QueryOptions {
        threshold: args.threshold,
        confidence: args.confidence,
        top: args.top,
        scan: args.scan,
        estimate: args.estimate,
        containment: args.containment,
    };
    let kmer_width = snapshot.settings().shingle.kmer_width();
    let columns = columns(args.containment, kmer_width);
    let mut results = args.results.results(global, &args.index, &args.paths, &columns)?;
    let mut totals = Totals { kmer_width, ..Totals::default() };

    if let Some(text) = args.text.as_deref().map(unmarked) {
        if let Some(cause) = kmer_width.and_then(|_| no_sequence(text)) {
            return Err(anyhow::anyhow!("--text: {cause}").into());
        }
        let weights = snapshot.settings().weighted.then(|| weights(text)).transpose();
        let weights = weights.map_err(|cause| anyhow::anyhow!("--text: {cause}"))?;
        let content = weights.as_ref().map_or(Content::Text(text), Content::Weights);
        let matches = options.ask(&snapshot, content, None)?;
        totals.print(&mut results, &Answer { query: "text".into(), matches })?;
    }
    if let Some(id) = &args.id {
        match options.query(&snapshot).by_id(id)? {
            Some(matches) => {
                totals.print(&mut results, &Answer { query: id.clone(), matches })?;
            }
            None => {
                totals.failed += 1;
                message(&format!("{}: no document has the id {id}", args.index.display()));
            }
        }
    }
    if !args.paths.is_empty() {
        // An option out of range must give one error, not one for each record. This query checks.
        options.query(&snapshot).by_signature(&Signature::empty(snapshot.settings().lanes())?)?;
        let settings = *snapshot.settings();
        args.input.check(settings.shingle, settings.weighted, &args.index)?;
        let shared = Arc::clone(&snapshot);
        announce_standard_input(global, &args.paths);
        let mut inputs = args.input.of(&args.paths, &args.index, settings.weighted);
        inputs.leave_out.extend(args.results.file().map(Path::to_owned));
        let records = records::start_long(inputs, &settings, move |record| {
            let (query, own) = names_of(&record);
            // An error here comes from the index, not from the record, so it ends the command.
            let matches = options.ask(&shared, record.body.content(), own.as_deref());
            Ok(matches.map(|matches| Answer { query, matches }))
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
    totals.report(global, options, start.elapsed().as_secs_f64());
    Ok(match (interrupt::asked(), totals.failed > 0, any) {
        (true, _, _) => return Err(anyhow::anyhow!("interrupted").into()),
        (false, true, _) => Ending::SomeFailed,
        (false, false, true) => Ending::Done,
        (false, false, false) => Ending::Nothing,
    })
}

impl Totals {
    /// Adds an answer to the totals and prints its matches.
    fn print(&mut self, results: &mut Results, answer: &Answer) -> Result<(), Failure> {
        self.queries += 1;
        self.matches += answer.matches.len() as u64;
        self.candidates += answer.matches.candidates;
        self.left_out += answer.matches.left_out;
        let recall = answer.matches.recall;
        self.recall = Some(self.recall.map_or(recall, |least| least.min(recall)));
        if let Some(sizes) = answer.matches.sizes {
            self.classes_scanned += sizes.scanned as u64;
            self.scanned += sizes.documents_scanned;
            self.undecidable += sizes.undecidable;
            let most = sizes.out_of_reach.into_iter().chain(self.out_of_reach);
            self.out_of_reach = most.reduce(f64::max);
        }
        for found in &answer.matches {
            let mut fields = vec![
                ("query", Value::from(answer.query.as_str())),
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
            fields.extend(self.kmer_width.map(|k| distance(found.similarity, k)));
            results.line(&fields)?;
        }
        Ok(())
    }

    /// Prints the summary.
    fn report(&self, global: &GlobalOptions, options: QueryOptions, seconds: f64) {
        let recall = self.recall.map_or(Value::Null, rounded_recall);
        let mut fields = vec![
            ("queries", self.queries.into()),
            ("matches", self.matches.into()),
            ("candidates", self.candidates.into()),
            ("failed", self.failed.into()),
            ("recall", recall.clone()),
            ("limited", (self.left_out > 0).into()),
            ("left_out", self.left_out.into()),
        ];
        if options.containment {
            fields.push(("classes_scanned", self.classes_scanned.into()));
            fields.push(("scanned", self.scanned.into()));
            fields.push(("undecidable", self.undecidable.into()));
        }
        fields.push(("seconds", whole_millis(seconds)));
        let queries = match self.queries {
            1 => "1 query".to_owned(),
            n => format!("{} queries", grouped(n)),
        };
        let matches = match self.matches {
            1 => "1 match".to_owned(),
            n => format!("{} matches", grouped(n)),
        };
        let mut sentence =
            format!("{queries}, {matches}, {} compared", count(self.candidates, "candidate"));
        if self.recall.is_some() {
            let place = match options.top.is_some() && !options.containment {
                true => "the last match or the threshold",
                false => "the threshold",
            };
            sentence += &format!(", recall at {place} {recall}");
        }
        if self.left_out > 0 {
            sentence += &format!("; {} left out", grouped(self.left_out));
        }
        sentence += &self.scan_note();
        if self.undecidable > 0 {
            let documents = count(self.undecidable, "document");
            sentence += &format!(
                "; {documents} too large for their query to be told by estimate: only stored \
                 texts can answer"
            );
        }
        summary(global, &fields, &sentence);
    }

    /// Describes the scan of size classes and its reason, or returns nothing without a scan.
    fn scan_note(&self) -> String {
        if self.classes_scanned == 0 {
            return String::new();
        }
        let documents = count(self.scanned, "document");
        let classes = match self.classes_scanned {
            1 => "1 size class".to_owned(),
            n => format!("{} size classes", grouped(n)),
        };
        let why = self.out_of_reach.map_or(String::new(), |most| {
            format!(": no band reaches the recall at similarity {} or below", similarity(most))
        });
        format!("; {documents} of {classes} scanned{why}")
    }
}
