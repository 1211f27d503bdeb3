//! `twindex query`: finds the documents that are similar to texts or to a stored document.

use super::query_passages::SharedPassages;
use super::query_question::Question;
use super::query_similar::SimilarDocuments;
use crate::input::{RawRecord, Record, no_sequence, unmarked, weights};
use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::run::input_options::{InputOptions, announce_standard_input};
use crate::run::results_table::ResultsOption;
use crate::run::{ending::Ending, opening, records};
use crate::terminal::interrupt;
use crate::terminal::messages::message;
use anyhow::anyhow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use twindex::{Content, DEFAULT_CONFIDENCE, Settings};

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
    #[arg(help_heading = QUERIES, long, value_name = "STR", allow_hyphen_values = true)]
    pub(crate) text: Option<String>,
    /// Find documents similar to the document with this id
    #[arg(help_heading = QUERIES, long, allow_hyphen_values = true)]
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
    #[arg(help_heading = MATCHES, long,
          conflicts_with_all = ["confidence", "containment", "estimate", "scan"])]
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
    /// Compare each query with at most N candidates, those that share the most buckets or
    /// fingerprints: bounds the time if very many documents are nearly similar [default: all]
    #[arg(help_heading = MATCHES, long, value_name = "N", value_parser = at_least_one,
          conflicts_with = "scan")]
    pub(crate) max_candidates: Option<usize>,
    #[command(flatten)]
    pub(crate) input: InputOptions,
    #[command(flatten)]
    pub(crate) results: ResultsOption,
}

/// Parses a whole number from 1 on.
fn at_least_one(text: &str) -> Result<usize, &'static str> {
    text.parse().ok().filter(|number| *number > 0).ok_or("expected a whole number from 1 on")
}

pub(crate) fn run(global: &GlobalOptions, args: &Query) -> Result<Ending, Failure> {
    interrupt::catch()?;
    let start = Instant::now();
    let index = opening::to_read(global, &args.index)?;
    let snapshot = Arc::new(index.snapshot()?);
    let settings = *snapshot.settings();
    let Query { threshold, top, max_candidates, .. } = *args;
    if args.passages {
        opening::check_passages(&args.index, &settings)?;
        let shared = SharedPassages { snapshot, threshold, top, max_candidates };
        // An index without passages is told before anything else.
        shared.check()?;
        return ask(global, args, &settings, start, &shared);
    }
    let similar = SimilarDocuments {
        snapshot,
        threshold,
        confidence: args.confidence,
        top,
        scan: args.scan,
        containment: args.containment,
        estimate: args.estimate,
        max_candidates,
    };
    ask(global, args, &settings, start, &similar)
}

/// Asks the question about the text, the document and the records that the command names.
fn ask<Q: Question>(
    global: &GlobalOptions,
    args: &Query,
    settings: &Settings,
    start: Instant,
    question: &Q,
) -> Result<Ending, Failure> {
    let mut results =
        args.results.results(global, &args.index, &args.paths, &question.columns())?;
    let mut totals = Q::Totals::default();
    let mut failed = 0;
    if let Some(text) = args.text.as_deref().map(unmarked) {
        if let Some(cause) = settings.shingle.kmer_width().and_then(|_| no_sequence(text)) {
            return Err(anyhow!("--text: {cause}").into());
        }
        let weights = settings.weighted.then(|| weights(text)).transpose();
        let weights = weights.map_err(|cause| anyhow!("--text: {cause}"))?;
        let content = weights.as_ref().map_or(Content::Text(text), Content::Weights);
        let answer = question.by_content(content, None)?;
        question.print("text", &answer, &mut results, &mut totals)?;
    }
    if let Some(id) = &args.id {
        if let Some(answer) = question.by_id(id)? {
            question.print(id, &answer, &mut results, &mut totals)?;
        } else {
            failed += 1;
            message(&format!("{}: no document has the id {id}", args.index.display()));
        }
    }
    if !args.paths.is_empty() {
        // An option out of range must give one error, not one for each record.
        question.check()?;
        args.input.check(settings.shingle, settings.weighted, &args.index)?;
        announce_standard_input(global, &args.paths);
        let mut inputs = args.input.of(&args.paths, &args.index, settings.weighted);
        inputs.leave_out.extend(args.results.file().map(Path::to_owned));
        let shared = question.clone();
        let records = records::start_long(inputs, settings, move |record| {
            let (query, own_id) = names_of(&record);
            // An error here comes from the index, not from the record, so it ends the command.
            let answer = shared.by_content(record.body.content(), own_id.as_deref());
            Ok(answer.map(|answer| (query, answer)))
        })?;
        for parsed in records {
            failed += parsed.failed;
            parsed.messages.iter().for_each(|text| message(text));
            for answer in parsed.good {
                let (query, answer) = answer?;
                question.print(&query, &answer, &mut results, &mut totals)?;
            }
            results.flush()?;
        }
    }
    let any = results.any();
    if !interrupt::asked() {
        results.finish()?;
    }
    question.report(global, &totals, failed, start.elapsed().as_secs_f64());
    Ok(match (interrupt::asked(), failed > 0, any) {
        (true, _, _) => return Err(anyhow!("interrupted").into()),
        (false, true, _) => Ending::SomeFailed,
        (false, false, true) => Ending::Done,
        (false, false, false) => Ending::Nothing,
    })
}

/// The name of a record in the results, and its own id, under which it does not match itself.
fn names_of(record: &Record<'_>) -> (String, Option<String>) {
    match record.name.id() {
        // A file is named as it was typed.
        Some(id) if matches!(record.raw, RawRecord::File(_)) => {
            (record.place.clone(), Some(id.to_owned()))
        }
        Some(id) => (id.to_owned(), Some(id.to_owned())),
        None => (record.place.clone(), None),
    }
}
