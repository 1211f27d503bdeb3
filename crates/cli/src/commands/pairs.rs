//! `twindex pairs`: prints every pair of similar documents.

use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::run::results_table::{Column, Kind, ResultsOption};
use crate::run::{ending::Ending, opening};
use crate::terminal::interrupt;
use crate::terminal::output::{
    Results, count, distance, likeness, rounded_recall, summary, whole_millis,
};
use serde_json::Value;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::path::PathBuf;
use std::time::Instant;
use twindex::{DEFAULT_CONFIDENCE, Pair};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Output columns (fields with --json): a, b, similarity, low, high, exact. a is the smaller id. low
and high are the interval of the similarity at --confidence. If the index stores texts, all
similarities are exact, except with --estimate. An index of k-mers adds distance, the Mash
distance -ln(2J/(1+J))/k of the similarity J.

Examples:
  twindex pairs pages.twx
  twindex pairs pages.twx --threshold 0.95 --json
  twindex pairs pages.twx --top 20
  twindex pairs pages.twx -o pairs.parquet
  twindex pairs pages.twx --max-per-document 5")]
pub(crate) struct Pairs {
    /// The index file
    pub(crate) index: PathBuf,
    /// Least similarity to report [default: the index's own]
    #[arg(long, value_name = "T")]
    pub(crate) threshold: Option<f64>,
    /// Probability that the true similarity lies between low and high
    #[arg(long, value_name = "P", default_value_t = DEFAULT_CONFIDENCE)]
    pub(crate) confidence: f64,
    /// Use estimates even if the index stores texts: faster, because no text is read
    #[arg(long)]
    pub(crate) estimate: bool,
    /// Report each document in at most N pairs; the summary counts the pairs left out
    /// [default: no limit]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_per_document: Option<u32>,
    /// Report the N most similar pairs, the most similar first [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) top: Option<u32>,
    /// Print the most similar pairs first; holds all of them in memory, or those of --top
    #[arg(long)]
    pub(crate) sort: bool,
    #[command(flatten)]
    pub(crate) results: ResultsOption,
}

/// The columns of the results of every index.
const LIKENESS: [Column; 6] = [
    ("a", Kind::Text),
    ("b", Kind::Text),
    ("similarity", Kind::Number),
    ("low", Kind::Number),
    ("high", Kind::Number),
    ("exact", Kind::Flag),
];

pub(crate) fn run(global: &GlobalOptions, args: &Pairs) -> Result<Ending, Failure> {
    interrupt::catch()?;
    let start = Instant::now();
    let index = opening::to_read(global, &args.index)?;
    let snapshot = index.snapshot()?;
    let threshold = args.threshold.unwrap_or(index.settings().threshold());
    let kmer_width = index.settings().shingle.kmer_width();
    let mut results = args.results.results(global, &args.index, &[], &columns(kmer_width))?;
    let pairs = snapshot.pairs(threshold)?.estimate(args.estimate);
    let mut pairs = pairs.confidence(args.confidence)?;
    if let Some(most) = args.max_per_document {
        pairs = pairs.max_per_document(most);
    }
    let recall = pairs.recall();
    let (mut found, mut not_in_top) = (0_u64, 0);
    let most = args.top.map_or(usize::MAX, |most| most as usize);
    let sorts = args.sort || args.top.is_some();
    let mut most_similar = sorts.then(|| MostSimilar::new(most));
    for pair in pairs.by_ref() {
        if interrupt::asked() {
            results.flush()?;
            return Err(anyhow::anyhow!("interrupted after {}", count(found, "pair")).into());
        }
        found += 1;
        match &mut most_similar {
            Some(most_similar) => most_similar.add(pair?),
            None => print(&mut results, pair?, kmer_width)?,
        }
    }
    if let Some(most_similar) = most_similar {
        not_in_top = most_similar.left_out;
        for pair in most_similar.in_order() {
            print(&mut results, pair, kmer_width)?;
        }
    }
    results.finish()?;
    let found = found - not_in_top;
    let left_out = pairs.left_out() + not_in_top;
    let seconds = start.elapsed().as_secs_f64();
    let fields = [
        ("pairs", found.into()),
        ("recall", rounded_recall(recall)),
        ("limited", (left_out > 0).into()),
        ("left_out", left_out.into()),
        ("seconds", whole_millis(seconds)),
    ];
    let mut sentence = format!(
        "{} at {threshold} or above among {}, recall at the threshold {}",
        count(found, "pair"),
        count(snapshot.len(), "document"),
        rounded_recall(recall)
    );
    if left_out > 0 {
        sentence += &format!("; {} left out", count(left_out, "pair"));
    }
    summary(global, &fields, &sentence);
    Ok(if found > 0 { Ending::Done } else { Ending::Nothing })
}

/// The columns of the results.
fn columns(kmer_width: Option<u16>) -> Vec<Column> {
    let distance = kmer_width.map(|_| ("distance", Kind::Number));
    LIKENESS.into_iter().chain(distance).collect()
}

/// Prints a pair.
fn print(results: &mut Results, pair: Pair, kmer_width: Option<u16>) -> Result<(), Failure> {
    let mut fields = vec![
        ("a", Value::from(pair.a)),
        ("b", Value::from(pair.b)),
        ("similarity", likeness(pair.similarity, pair.exact)),
        ("low", likeness(pair.low, pair.exact)),
        ("high", likeness(pair.high, pair.exact)),
        ("exact", pair.exact.into()),
    ];
    fields.extend(kmer_width.map(|k| distance(pair.similarity, k)));
    Ok(results.line(&fields)?)
}

/// The most similar pairs of those that were added.
struct MostSimilar {
    most: usize,
    /// The least similar pair is on top.
    pairs: BinaryHeap<BySimilarity>,
    /// The number of pairs that are not among them.
    left_out: u64,
}

impl MostSimilar {
    fn new(most: usize) -> Self {
        Self { most, pairs: BinaryHeap::new(), left_out: 0 }
    }

    fn add(&mut self, pair: Pair) {
        self.pairs.push(BySimilarity(pair));
        if self.pairs.len() > self.most {
            self.pairs.pop();
            self.left_out += 1;
        }
    }

    /// The pairs by falling similarity, then by ids.
    fn in_order(self) -> impl Iterator<Item = Pair> {
        self.pairs.into_sorted_vec().into_iter().map(|BySimilarity(pair)| pair)
    }
}

/// A pair that comes before less similar ones; equally similar ones come by their ids.
struct BySimilarity(Pair);

impl Ord for BySimilarity {
    fn cmp(&self, other: &Self) -> Ordering {
        let (one, other) = (&self.0, &other.0);
        let by_similarity = other.similarity.total_cmp(&one.similarity);
        by_similarity.then_with(|| (&one.a, &one.b).cmp(&(&other.a, &other.b)))
    }
}

impl PartialOrd for BySimilarity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for BySimilarity {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for BySimilarity {}
