//! `twindex passages`: prints the passages that occur at two or more places.

use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::run::results_table::{Column, Kind, ResultsOption};
use crate::run::spilled_sort::SpilledSort;
use crate::run::{ending::Ending, opening};
use crate::terminal::interrupt;
use crate::terminal::output::{Results, count, grouped, summary, whole_millis};
use crate::terminal::progress_bar::ProgressBar;
use anyhow::Context;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::path::PathBuf;
use std::time::Instant;
use twindex::{RepeatedPassage, RepeatingDocument, Repeats};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
A passage is a stretch of a document, of at least N units (characters, words, lines or tokens),
that also occurs at another place, in this document or in another one; N is the --passages of the
index. It is maximal: no longer stretch around it, at this place, occurs elsewhere too. The index
must store texts. Documents of equal texts are told once, as the first of them, and counted.

Output columns (fields with --json): units, documents (that have the passage), id, start, end
(bytes of the text), char_start, char_end (characters), other (another document that has it; - if
one document repeats it), text (as written there).

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
    /// Least number of documents that have the passage; one document may repeat it
    #[arg(long, value_name = "N", default_value_t = 1)]
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
    ("units", Kind::Count),
    ("documents", Kind::Count),
    ("id", Kind::Text),
    ("start", Kind::Count),
    ("end", Kind::Count),
    ("char_start", Kind::Count),
    ("char_end", Kind::Count),
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

/// What was found, for the summary.
#[derive(Default)]
struct Totals {
    passages: u64,
    documents: u64,
    left_out: u64,
}

pub(crate) fn run(global: &GlobalOptions, args: &Passages) -> Result<Ending, Failure> {
    interrupt::catch()?;
    let start = Instant::now();
    let index = opening::to_read(global, &args.index)?;
    let snapshot = index.snapshot()?;
    opening::check_passages(&args.index, snapshot.settings())?;
    let mut results = args.results.results(global, &args.index, &[], &COLUMNS)?;
    let mut repeats = snapshot.repeats()?;
    if args.max_per_passage > 0 {
        repeats = repeats.max_texts(args.max_per_passage);
    }
    let mut totals = Totals::default();
    match args.by_document {
        // What is printed as it is found shows the progress by itself.
        true => totals.walk(args, &mut repeats, None, |line| line.print(&mut results))?,
        false => {
            /// The bytes of passages that are sorted in memory.
            const IN_MEMORY: usize = 64 << 20;
            let mut sort = SpilledSort::new(IN_MEMORY);
            let progress = ProgressBar::of_parts(global);
            totals.walk(args, &mut repeats, Some(&progress), |line| {
                let bytes = line.text.len() + line.id.len();
                Ok(sort.push(line, bytes).context("a temporary file")?)
            })?;
            progress.finish();
            totals.print_longest(sort, args.top.unwrap_or(u64::MAX), &mut results)?;
        }
    }
    results.finish()?;
    let seconds = start.elapsed().as_secs_f64();
    totals.report(global, args, (snapshot.len(), repeats.limited()), seconds);
    Ok(if totals.passages > 0 { Ending::Done } else { Ending::Nothing })
}

impl Totals {
    /// Passes on the passages of all documents, in the order of finding.
    fn walk(
        &mut self,
        args: &Passages,
        repeats: &mut Repeats<'_>,
        progress: Option<&ProgressBar>,
        mut take: impl FnMut(Line) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let begins = repeats.progress();
        progress.map(|bar| bar.show(begins));
        while let Some(block) = repeats.next_block()? {
            let at = repeats.progress();
            let shown = progress.map(|bar| bar.show(at));
            if shown.map_or_else(interrupt::asked, |shown| shown.is_break()) {
                let texts = count(at.done, "text");
                return Err(anyhow::anyhow!("interrupted after {texts}").into());
            }
            for document in block {
                let before = self.passages;
                let passages = document.passages.iter();
                for passage in passages.filter(|one| one.documents >= args.min_count) {
                    self.passages += 1;
                    take(Line::new(self.passages, &document, passage))?;
                }
                self.documents += u64::from(self.passages > before);
            }
        }
        Ok(())
    }

    /// Prints each passage once, the longest first, and counts those that were printed.
    fn print_longest(
        &mut self,
        sort: SpilledSort<Line>,
        most: u64,
        results: &mut Results,
    ) -> Result<(), Failure> {
        self.passages = 0;
        let mut last = None;
        for line in sort.sorted().context("a temporary file")? {
            let line = line.context("a temporary file")?;
            if last.replace(line.passage()) == Some(line.passage()) {
                continue;
            }
            if self.passages < most {
                self.passages += 1;
                line.print(results)?;
            } else {
                self.left_out += 1;
            }
        }
        Ok(())
    }

    /// Prints the summary.
    fn report(
        &self,
        global: &GlobalOptions,
        args: &Passages,
        (documents, limited): (u64, u64),
        seconds: f64,
    ) {
        let fields = [
            ("passages", self.passages.into()),
            ("documents", self.documents.into()),
            ("left_out", self.left_out.into()),
            ("limited", limited.into()),
            ("seconds", whole_millis(seconds)),
        ];
        let mut sentence = format!(
            "{} in {} of {}",
            count(self.passages + self.left_out, "passage"),
            grouped(self.documents),
            count(documents, "document")
        );
        if self.left_out > 0 {
            sentence += &format!("; the longest {} are told", grouped(self.passages));
        }
        if limited > 0 {
            sentence += &format!(
                "; {} of more than {} texts not followed (--max-per-passage)",
                count(limited, "fingerprint"),
                grouped(args.max_per_passage as u64)
            );
        }
        summary(global, &fields, &sentence);
    }
}
