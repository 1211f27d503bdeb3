//! `twindex compare --method`: two texts by any of the methods of the literature, side by side.

use super::Ending;
use super::args::Global;
use super::compare::Compare;
use super::compare_file::{self, Compared};
use super::compare_weighted::weights_of;
use super::failure::Failure;
use super::method::{Method, MethodOption};
use super::output::{Results, rounded, significant, similarity, summary};
use crate::input::{STANDARD_INPUT, no_sequence, whole_text};
use crate::params::{Confidence, Threshold};
use crate::sketch::Family;
use crate::study::Work;
use crate::study::methods::{
    Chance, Method as Way, Of, Pair, Row, Settings, WeightedMethod, weighted_rows,
};
use crate::text::Shingler;
use clap::ValueEnum;
use clap::builder::RangedU64ValueParser;
use serde_json::Value;
use std::path::Path;

type Outcome<T> = Result<T, Failure>;

/// Runs of random methods where all are asked for, so that the spread says something: its own
/// relative error is then 1/√38.
const RUNS_OF_ALL: u32 = 20;

/// Where no number of hash functions is named.
const HASHES: u16 = 128;

/// Where no size of samples is named.
const SAMPLE: usize = 10_000;

/// How methods are run.
#[derive(Debug, clap::Args)]
pub(super) struct MethodOptions {
    /// Hash functions of --method minhash and --method all [default: default]
    #[arg(long, value_enum, value_name = "NAME", requires = "method")]
    family: Option<FamilyName>,
    /// Hash functions, maps, or smallest values of --method, from 3 to 4096; weighted takes the next
    /// of 64, 128, 256 and 512 lanes, above it 512; simhash takes 8 bits for each, rounded up to a
    /// multiple of 64, at most 1024 [default: 128]
    #[arg(long, value_name = "K", requires = "method", value_parser = clap::value_parser!(u16).range(3..=4096))]
    hashes: Option<u16>,
    /// Runs of what is random, under the seeds from --seed on [default: 1; 20 of --method all]
    #[arg(long, value_name = "R", requires = "method", value_parser = clap::value_parser!(u32).range(1..))]
    runs: Option<u32>,
    /// Elements that --method sample, and rum-on-samples, take of each text [default: 10000]
    #[arg(long, value_name = "N", requires = "method", value_parser = RangedU64ValueParser::<usize>::new().range(1..))]
    sample: Option<usize>,
}

/// The families of hash functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FamilyName {
    /// (a x + b) mod 2^61 - 1
    Modular,
    /// Jenkins' mix of 96 bits
    Jenkins,
    /// s x mod 2^64
    Multiplicative,
    /// MurmurHash3, 32 bits
    Murmur3,
    /// A table of random words for each byte
    Tabulation,
    /// XXH3, 64 bits
    Xxh3,
    /// The sketch of an index
    Default,
    /// All of these, a line each
    All,
}

impl FamilyName {
    fn families(self) -> Vec<Family> {
        match self {
            Self::Modular => vec![Family::Modular],
            Self::Jenkins => vec![Family::Jenkins],
            Self::Multiplicative => vec![Family::Multiplicative],
            Self::Murmur3 => vec![Family::Murmur3],
            Self::Tabulation => vec![Family::Tabulation],
            Self::Xxh3 => vec![Family::Xxh3],
            Self::Default => vec![Family::Default],
            Self::All => Family::ALL.to_vec(),
        }
    }
}

/// Refuses what a method does not take, so that nothing is typed in vain.
pub(super) fn check(args: &Compare, method: Method) -> Outcome<()> {
    Confidence::new(args.confidence)?;
    if args.weighted && !method.takes_weights() {
        let takers = Method::names(Method::takes_weights);
        let cause = "--weighted: this --method takes no weights; take";
        return Err(anyhow::anyhow!("{cause} {takers}, or leave out --weighted").into());
    }
    let options = &args.methods;
    for (option, is_there) in [
        (MethodOption::Hashes, options.hashes.is_some()),
        (MethodOption::Runs, options.runs.is_some()),
        (MethodOption::Sample, options.sample.is_some()),
        (MethodOption::Family, options.family.is_some()),
        (MethodOption::Memory, args.memory.is_some()),
        (MethodOption::Universe, args.universe.is_some()),
    ] {
        let reads = |method: Method| method.reads(args.weighted).contains(&option);
        if !is_there || reads(method) {
            continue;
        }
        let name = option.name();
        return Err(match Method::names(reads).as_str() {
            "" => anyhow::anyhow!("{name} has no meaning with --weighted; leave it out"),
            readers => anyhow::anyhow!(
                "{name} has no meaning for --method {}, only for {readers}; leave it out",
                method.name()
            ),
        }
        .into());
    }
    Ok(())
}

pub(super) fn run(global: &Global, args: &Compare, method: Method) -> Outcome<Ending> {
    let threshold = args.threshold.map(Threshold::new).transpose()?;
    if method == Method::All && !args.weighted {
        // Of what the last method cannot take nobody should be told after all others.
        compare_file::similarity(args)?;
    }
    let runs = if method == Method::All { RUNS_OF_ALL } else { 1 };
    let settings = Settings {
        hashes: args.methods.hashes.unwrap_or(HASHES).into(),
        runs: args.methods.runs.unwrap_or(runs),
        sample: args.methods.sample.unwrap_or(SAMPLE),
        confidence: Confidence::new(args.confidence)?,
    };
    let work = Work::new(args.seed, &|_, _| Ok(()));
    let (chances, mut rows) = match args.weighted {
        true => (Vec::new(), of_weights(args, method, &settings, &work)?),
        false => of_texts(args, method, &settings, &work)?,
    };
    let mut failed = None;
    if method == Method::All && !args.weighted && read_again(&args.a) && read_again(&args.b) {
        match of_files(global, args) {
            Ok(of_files) => rows.extend(of_files),
            // The other rows are no less true.
            Err(failure) => failed = Some(failure),
        }
    }
    print(global, &chances, &rows)?;
    if let Some(failure) = failed {
        return Err(failure);
    }
    let below = |row: &Row| threshold.is_some_and(|least| row.estimate < least.get());
    Ok(if rows.first().is_some_and(below) { Ending::Nothing } else { Ending::Done })
}

/// Whether a text that has been read can be read again: pipes and devices cannot.
fn read_again(path: &Path) -> bool {
    path.as_os_str() != STANDARD_INPUT && path.metadata().is_ok_and(|found| found.is_file())
}

/// The rows of the method for files.
fn of_files(global: &Global, args: &Compare) -> Outcome<Vec<Row>> {
    let Compared { overlap, seconds } = compare_file::compare(global, args)?;
    let row =
        |of: Of, similarity: f64| Row::exact("file", of, similarity, seconds, overlap.peak_memory);
    let mut rows = vec![row(Of::Multisets, overlap.multisets.similarity())];
    if !args.multiset {
        rows.insert(0, row(Of::Sets, overlap.sets.similarity()));
    }
    Ok(rows)
}

/// The rows of a method for texts; of all methods also what chance would make of them.
fn of_texts(
    args: &Compare,
    method: Method,
    settings: &Settings,
    work: &Work<'_>,
) -> Outcome<(Vec<Chance>, Vec<Row>)> {
    let pair = Pair::new([shingles(args, &args.a)?, shingles(args, &args.b)?]);
    let mut chances = Vec::new();
    if method == Method::All {
        if !args.multiset {
            chances.push(Chance::new(Of::Sets, pair.overlap(), args.universe)?);
        }
        // A universe of shingles is none of their occurrences.
        let universe = args.universe.filter(|_| args.multiset);
        chances.push(Chance::new(Of::Multisets, pair.multiset_overlap(), universe)?);
    }
    let of_one = if args.multiset { Of::Multisets } else { Of::Sets };
    let family = args.methods.family.unwrap_or(FamilyName::Default);
    let minhash = || family.families().into_iter().map(Way::MinHash);
    let mut ways: Vec<(Of, Way)> = Vec::new();
    match method {
        Method::Exact => ways.push((of_one, Way::Exact)),
        Method::Multiset => ways.push((Of::Multisets, Way::Exact)),
        Method::Sample => ways.push((of_one, Way::Sample)),
        Method::Ru => ways.push((of_one, Way::Ru)),
        Method::Rum => ways.extend([(of_one, Way::Rum), (of_one, Way::RumOnSamples)]),
        Method::Minhash => ways.extend(minhash().map(|way| (of_one, way))),
        Method::BottomK => ways.push((of_one, Way::BottomK)),
        Method::Weighted => ways.push((Of::Multisets, Way::Weighted)),
        Method::PMinhash => ways.push((Of::Multisets, Way::Probability)),
        Method::Simhash => ways.push((of_one, Way::SimHash)),
        Method::File | Method::All => {
            for of in chances.iter().map(|chance| chance.of) {
                let first = [Way::Exact, Way::Sample, Way::RumOnSamples, Way::Ru, Way::Rum];
                let last = [Way::BottomK, Way::SimHash];
                let all = first.into_iter().chain(minhash()).chain(last);
                ways.extend(all.map(|way| (of, way)));
            }
            ways.extend([Way::Weighted, Way::Probability].map(|way| (Of::Multisets, way)));
        }
    }
    let mut rows = Vec::new();
    for (of, way) in ways {
        rows.extend(way.rows(of, &pair, settings, work)?);
    }
    Ok((chances, rows))
}

/// The rows of a method for weighted sets.
fn of_weights(
    args: &Compare,
    method: Method,
    settings: &Settings,
    work: &Work<'_>,
) -> Outcome<Vec<Row>> {
    use WeightedMethod::{Exact, Probability, SimHash, Weighted};
    let methods: &[WeightedMethod] = match method {
        Method::Weighted => &[Weighted],
        Method::PMinhash => &[Probability],
        Method::Simhash => &[SimHash],
        Method::All => &[Exact, Weighted, Probability, SimHash],
        // What takes no weights has been refused.
        _ => &[Exact],
    };
    let (a, b) = (weights_of(args, &args.a)?, weights_of(args, &args.b)?);
    let mut rows = Vec::new();
    for method in methods {
        rows.extend(weighted_rows(*method, Of::Weights, [&a, &b], settings, work)?);
    }
    Ok(rows)
}

/// The hashes of the shingles of a text, each as often as it occurs.
fn shingles(args: &Compare, path: &Path) -> Outcome<Vec<u64>> {
    let shingle = args.shingle.unwrap_or_default();
    let normalization = args.normalize.unwrap_or(shingle.default_normalization());
    let shingler = Shingler::new(shingle, normalization, false, args.seed)?;
    let text = whole_text(path, args.max_record).map_err(|bad| anyhow::anyhow!("{bad}"))?;
    if let Some(cause) = shingle.kmer_width().and_then(|_| no_sequence(&text)) {
        return Err(anyhow::anyhow!("{}: {cause}", path.display()).into());
    }
    Ok(shingler.hashes(&text))
}

fn print(global: &Global, chances: &[Chance], rows: &[Row]) -> Outcome<()> {
    let mut results = Results::new(global);
    if !chances.is_empty() {
        results.heading(&[
            "method",
            "of",
            "shingles_a",
            "shingles_b",
            "shared",
            "universe",
            "expected_by_chance",
            "chance_log10",
            "verdict",
        ])?;
    }
    for chance in chances {
        results.line(&[
            ("method", "chance".into()),
            ("of", chance.of.name().into()),
            ("shingles_a", chance.overlap.a.into()),
            ("shingles_b", chance.overlap.b.into()),
            ("shared", chance.overlap.shared.into()),
            ("universe", chance.universe.into()),
            ("expected_by_chance", significant(chance.expected)),
            ("chance_log10", similarity(chance.log10)),
            ("verdict", chance.verdict().into()),
        ])?;
    }
    results.heading(&[
        "method", "of", "measure", "estimate", "low", "high", "mean", "spread", "runs", "seconds",
        "bytes",
    ])?;
    for row in rows {
        // What is exact has more digits to show.
        let exact = row.interval == Some((row.estimate, row.estimate));
        let value = |number: f64| if exact { rounded(number) } else { similarity(number) };
        let end = |end: Option<f64>| end.map_or(Value::Null, value);
        results.line(&[
            ("method", row.method.as_str().into()),
            ("of", row.of.name().into()),
            ("measure", row.measure.name().into()),
            ("estimate", value(row.estimate)),
            ("low", end(row.interval.map(|ends| ends.0))),
            ("high", end(row.interval.map(|ends| ends.1))),
            ("mean", value(row.mean)),
            ("spread", row.spread.map_or(Value::Null, similarity)),
            ("runs", row.runs.into()),
            ("seconds", rounded(row.seconds)),
            ("bytes", row.bytes.into()),
        ])?;
    }
    results.flush()?;
    if !chances.is_empty() {
        tell_verdicts(global, chances);
    }
    Ok(())
}

fn tell_verdicts(global: &Global, chances: &[Chance]) {
    let sentence = |chance: &Chance| {
        let (seen, expected) = (chance.overlap.similarity(), chance.expected);
        let (of, verdict) = (chance.of.name(), chance.verdict());
        format!("as {of} {seen:.4} similar, random ones {expected:.4}: {verdict}")
    };
    let sentences: Vec<String> = chances.iter().map(sentence).collect();
    let fields: Vec<(&str, Value)> =
        chances.iter().map(|chance| (chance.of.name(), chance.verdict().into())).collect();
    summary(global, &fields, &sentences.join("; "));
}
