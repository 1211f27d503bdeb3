//! `twindex passages`: prints the passages that occur at two or more places.

use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::run::results_table::{Column, Kind, ResultsOption};
use crate::run::spilled_sort::SpilledSort;
use crate::run::{ending::Ending, opening};
use crate::terminal::interrupt;
use crate::terminal::output::{Results, count, grouped, summary, whole_millis};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::path::PathBuf;
use std::time::Instant;
use twindex::{RepeatedPassage, RepeatingDocument};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
A passage is a stretch of at least as many units (characters, words, lines or tokens) as the index
was created with (--passages) that occurs at two or more places, and of which no longer stretch
around it does. The index must store texts. Documents of equal texts are told once, as the first
of them, and counted.

Output columns (fields with --json): units, documents (that have the passage), id, start, end
(bytes of the text), char_start, char_end (characters), other (another document that has it; empty
if one document repeats it), text (as written there).

Without --by-document, each passage is printed once, the longest first; up to 64 MB of them are
sorted in memory, and more in temporary files.

Examples:
  twindex passages pages.twx
  twindex passages pages.twx --top 20 --min-count 10
  twindex passages pages.twx --by-document --json
  twindex passages pages.twx --max-per-passage 10000 -o passages.parquet")]
pub(crate) struct Passages {
    /// The index file
    index: PathBuf,
    /// Least number of documents that have the passage [default: 1, which repeats it]
    #[arg(long, value_name = "N", default_value_t = 1, hide_default_value = true)]
    min_count: u64,
    /// Do not follow what more than N texts have in common, such as licence headers and navigation
    /// bars; the summary counts it. Time grows with the square of N; 0: no limit
    #[arg(long, value_name = "N", default_value_t = 100)]
    max_per_passage: usize,
    /// Print the passages of each document, in the order of insertion, as they are found
    #[arg(long, conflicts_with = "top")]
    by_document: bool,
    /// Print the N longest passages [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    top: Option<u64>,
    #[command(flatten)]
    results: ResultsOption,
}

/// The columns of the results.
const COLUMNS: [Column; 9] = [
    ("units", Kind::Number),
    ("documents", Kind::Number),
    ("id", Kind::Text),
    ("start", Kind::Number),
    ("end", Kind::Number),
    ("char_start", Kind::Number),
    ("char_end", Kind::Number),
    ("other", Kind::Text),
    ("text", Kind::Text),
];

/// A line of the results.
#[derive(PartialEq, Eq, Serialize, Deserialize)]
struct Line {
    units: usize,
    hash: u64,
    /// The place in the order of finding.
    number: u64,
    documents: u64,
    id: String,
    place: [usize; 4],
    other: Option<String>,
    text: String,
}

impl Line {
    fn new(number: u64, document: &RepeatingDocument, passage: &RepeatedPassage) -> Self {
        let span = passage.span;
        Self {
            units: passage.units,
            hash: passage.hash,
            number,
            documents: passage.documents,
            id: document.id.clone(),
            place: [span.start, span.end, span.char_start, span.char_end],
            other: passage.other.clone(),
            text: document.text[span.bytes()].to_owned(),
        }
    }

    /// What is equal for equal passages.
    fn passage(&self) -> (usize, u64) {
        (self.units, self.hash)
    }

    fn print(self, results: &mut Results) -> Result<(), Failure> {
        let [start, end, char_start, char_end] = self.place;
        Ok(results.line(&[
            ("units", self.units.into()),
            ("documents", self.documents.into()),
            ("id", self.id.into()),
            ("start", start.into()),
            ("end", end.into()),
            ("char_start", char_start.into()),
            ("char_end", char_end.into()),
            ("other", self.other.into()),
            ("text", self.text.into()),
        ])?)
    }
}

/// Longer passages come first; equal passages follow each other, in the order of finding.
impl Ord for Line {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_length = other.units.cmp(&self.units);
        by_length.then_with(|| (self.hash, self.number).cmp(&(other.hash, other.number)))
    }
}

impl PartialOrd for Line {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

pub(crate) fn run(global: &GlobalOptions, args: &Passages) -> Result<Ending, Failure> {
    /// The bytes of passages that are sorted in memory.
    const IN_MEMORY: usize = 64 << 20;
    interrupt::catch()?;
    let start = Instant::now();
    let index = opening::to_read(global, &args.index)?;
    let snapshot = index.snapshot()?;
    let mut results = args.results.results(global, &args.index, &[], &COLUMNS)?;
    let mut repeats = snapshot.repeats()?;
    if args.max_per_passage > 0 {
        repeats = repeats.max_texts(args.max_per_passage);
    }
    let mut sort = SpilledSort::new(IN_MEMORY);
    let (mut passages, mut documents, mut number) = (0_u64, 0_u64, 0_u64);
    for document in repeats.by_ref() {
        if interrupt::asked() {
            results.flush()?;
            let documents = count(documents, "document");
            return Err(anyhow::anyhow!("interrupted after {documents} with passages").into());
        }
        let document = document?;
        documents += 1;
        for passage in document.passages.iter().filter(|one| one.documents >= args.min_count) {
            number += 1;
            let line = Line::new(number, &document, passage);
            if args.by_document {
                passages += 1;
                line.print(&mut results)?;
            } else {
                let bytes = line.text.len() + line.id.len();
                sort.push(line, bytes)?;
            }
        }
    }
    let mut left_out = 0;
    if !args.by_document {
        let mut last = None;
        for line in sort.sorted()? {
            let line = line?;
            if last.replace(line.passage()) == Some(line.passage()) {
                continue;
            }
            if passages < args.top.unwrap_or(u64::MAX) {
                passages += 1;
                line.print(&mut results)?;
            } else {
                left_out += 1;
            }
        }
    }
    results.finish()?;
    let limited = repeats.limited();
    let seconds = start.elapsed().as_secs_f64();
    let fields = [
        ("passages", passages.into()),
        ("documents", documents.into()),
        ("left_out", left_out.into()),
        ("limited", limited.into()),
        ("seconds", whole_millis(seconds)),
    ];
    let mut sentence = format!(
        "{} in {} of {}",
        count(passages, "passage"),
        grouped(documents),
        count(snapshot.len(), "document")
    );
    if left_out > 0 {
        sentence += &format!("; {} left out", grouped(left_out));
    }
    if limited > 0 {
        sentence += &format!(
            "; {} of more than {} texts not followed (--max-per-passage)",
            count(limited, "fingerprint"),
            grouped(args.max_per_passage as u64)
        );
    }
    summary(global, &fields, &sentence);
    Ok(if passages > 0 { Ending::Done } else { Ending::Nothing })
}
