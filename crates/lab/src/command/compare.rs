//! `twindex-lab compare`: two texts by any of the methods of the literature, side by side.

use crate::command::compare_file::{self, Compared};
use crate::command::method::{Method, MethodOption};
use crate::sketch::Family;
use crate::study::Work;
use crate::study::methods::{
    Chance, Of, Pair, Row, Settings, TextMethod, WeightedMethod, weighted_rows,
};
use clap::ValueEnum;
use clap::builder::{PossibleValue, RangedU64ValueParser};
use serde_json::Value;
use std::path::Path;
use twindex_cli::input::STANDARD_INPUT;
use twindex_cli::run::ending::Ending;
use twindex_cli::run::failure::Failure;
use twindex_cli::run::global::Global;
use twindex_cli::run::inputs::size;
use twindex_cli::run::two_texts::TwoTexts;
use twindex_cli::terminal::output::{Results, rounded, significant, similarity, summary};

type Outcome<T> = Result<T, Failure>;

/// Runs of random methods where all are asked for, so that the spread says something: its own
/// relative error is then 1/√38.
const RUNS_OF_ALL: u32 = 20;

/// Where no number of hash functions is named.
const HASHES: u16 = 128;

/// Where no size of samples is named.
const SAMPLE: usize = 10_000;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
A line for each value: method, of (sets, multisets, or weights), measure (jaccard,
dice, cosine, probability), estimate, low, high, mean, spread, runs, seconds, bytes. What is exact
has low = high; a sample that tends to another similarity has neither, nor has SimHash of fewer
than 32 elements or where one outweighs the others. cosine of multisets is that of their counts.
mean and spread are of the runs; seconds are those of one, from the sorted shingles on, but of
file with reading and cutting: these are not to be compared. bytes is what is held of both texts
to compare them. rum is also run on samples, as rum-on-samples, if --sample is less than a text
has. The exit status is 1 if the first estimate is below --threshold.

--method all begins with what chance makes of two texts of their sizes, as sets and as multisets,
and whether they are beyond it. Its file reads both texts a second time, and is left out unless
both are regular files.

An option that the method does not read is an error: --hashes and --runs are of all that have
some, --sample of sample and rum, --family of minhash, --memory of file, --universe of none;
--method all reads every one, but with --weighted only --hashes and --runs.

With --method file, texts that need not fit into memory, by the same similarities: a, b, method,
similarity, multiset_similarity, shingles_a, shingles_b, shared, runs (sorted runs that were
written), temporary_bytes (on disk, in TMPDIR), memory, peak_memory (bytes), seconds; for kmer:N
also distance. Memory: as --memory says, and some 10 MiB; of zstd also the window, up to 128 MiB.
Disk: 8 bytes for each shingle of both. A line, word or token has at most 1/32 of the memory;
--max-record does not matter.

Examples:
  twindex-lab compare old.txt new.txt
  twindex-lab compare old.txt new.txt --method minhash --family murmur3 --hashes 200 --runs 50
  twindex-lab compare --weighted old.json new.json --method p-minhash
  twindex-lab compare old.txt.zst new.txt.zst --method file --memory 1G")]
pub(super) struct Compare {
    #[command(flatten)]
    pub(super) texts: TwoTexts,
    /// Compare by this method
    #[arg(long, value_enum, value_name = "NAME", default_value_t = Method::All)]
    method: Method,
    /// Hash functions of --method minhash and --method all [default: default]
    #[arg(long, value_enum, value_name = "NAME")]
    family: Option<Families>,
    /// Hash functions, maps, or smallest values of --method, from 3 to 4096; weighted takes the next
    /// of 64, 128, 256 and 512 lanes, above it 512; simhash takes 8 bits for each, rounded up to a
    /// multiple of 64, at most 1024 [default: 128]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u16).range(3..=4096))]
    hashes: Option<u16>,
    /// Runs of what is random, under the seeds from --seed on [default: 1; 20 of --method all]
    #[arg(long, value_name = "R", value_parser = clap::value_parser!(u32).range(1..))]
    runs: Option<u32>,
    /// Elements that --method sample, and rum-on-samples, take of each text [default: 10000]
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..))]
    sample: Option<usize>,
    /// The most bytes of memory for --method file, from 1M on [default: 64M]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(super) memory: Option<usize>,
    /// Elements there are in all, of which random sets are drawn for --method all: of the sets, with
    /// --multiset of the multisets [default: shingles_a + shingles_b]
    #[arg(long, value_name = "N", conflicts_with = "weighted")]
    universe: Option<u64>,
}

/// One family of hash functions, or all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Families {
    One(Family),
    All,
}

impl Families {
    fn list(self) -> Vec<Family> {
        match self {
            Self::One(family) => vec![family],
            Self::All => Family::ALL.to_vec(),
        }
    }
}

impl ValueEnum for Families {
    fn value_variants<'a>() -> &'a [Self] {
        const VARIANTS: [Families; Family::ALL.len() + 1] = {
            let mut variants = [Families::All; Family::ALL.len() + 1];
            let mut at = 0;
            while at < Family::ALL.len() {
                variants[at] = Families::One(Family::ALL[at]);
                at += 1;
            }
            variants
        };
        &VARIANTS
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self {
            Self::One(family) => PossibleValue::new(family.name()).help(family.summary()),
            Self::All => PossibleValue::new("all").help("All of these, a line each"),
        })
    }
}

/// Refuses what a method does not take, so that nothing is typed in vain.
fn check(args: &Compare) -> Outcome<()> {
    args.texts.check()?;
    let method = args.method;
    if args.texts.weighted && !method.takes_weights() {
        let takers = Method::names(Method::takes_weights);
        let cause = "--weighted: this --method takes no weights; take";
        return Err(anyhow::anyhow!("{cause} {takers}, or leave out --weighted").into());
    }
    for (option, is_there) in [
        (MethodOption::Hashes, args.hashes.is_some()),
        (MethodOption::Runs, args.runs.is_some()),
        (MethodOption::Sample, args.sample.is_some()),
        (MethodOption::Family, args.family.is_some()),
        (MethodOption::Memory, args.memory.is_some()),
        (MethodOption::Universe, args.universe.is_some()),
    ] {
        let reads = |method: Method| method.reads(args.texts.weighted).contains(&option);
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

pub(super) fn run(global: &Global, args: &Compare) -> Outcome<Ending> {
    check(args)?;
    let method = args.method;
    if method == Method::File {
        return compare_file::run(global, args);
    }
    if method == Method::All && !args.texts.weighted {
        // Of what the last method cannot take nobody should be told after all others.
        compare_file::similarity(args)?;
    }
    let runs = if method == Method::All { RUNS_OF_ALL } else { 1 };
    let settings = Settings {
        hashes: args.hashes.unwrap_or(HASHES).into(),
        runs: args.runs.unwrap_or(runs),
        sample: args.sample.unwrap_or(SAMPLE),
        confidence: args.texts.confidence,
    };
    let work = Work::new(args.texts.seed, &|_, _| Ok(()));
    let (chances, mut rows) = match args.texts.weighted {
        true => (Vec::new(), of_weights(args, method, &settings, &work)?),
        false => of_texts(args, method, &settings, &work)?,
    };
    let mut failed = None;
    if method == Method::All
        && !args.texts.weighted
        && read_again(&args.texts.a)
        && read_again(&args.texts.b)
    {
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
    let below = |row: &Row| args.texts.is_below(row.estimate);
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
    if !args.texts.multiset {
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
    let pair =
        Pair::new([shingles(&args.texts, &args.texts.a)?, shingles(&args.texts, &args.texts.b)?]);
    let mut chances = Vec::new();
    if method == Method::All {
        if !args.texts.multiset {
            chances.push(Chance::new(Of::Sets, pair.overlap(), args.universe)?);
        }
        // A universe of shingles is none of their occurrences.
        let universe = args.universe.filter(|_| args.texts.multiset);
        chances.push(Chance::new(Of::Multisets, pair.multiset_overlap(), universe)?);
    }
    let of_one = if args.texts.multiset { Of::Multisets } else { Of::Sets };
    let family = args.family.unwrap_or(Families::One(Family::Default));
    let minhash = || family.list().into_iter().map(TextMethod::MinHash);
    let mut ways: Vec<(Of, TextMethod)> = Vec::new();
    match method {
        Method::Exact => ways.push((of_one, TextMethod::Exact)),
        Method::Multiset => ways.push((Of::Multisets, TextMethod::Exact)),
        Method::Sample => ways.push((of_one, TextMethod::Sample)),
        Method::Ru => ways.push((of_one, TextMethod::Ru)),
        Method::Rum => ways.extend([(of_one, TextMethod::Rum), (of_one, TextMethod::RumOnSamples)]),
        Method::Minhash => ways.extend(minhash().map(|way| (of_one, way))),
        Method::BottomK => ways.push((of_one, TextMethod::BottomK)),
        Method::Weighted => ways.push((Of::Multisets, TextMethod::Weighted)),
        Method::PMinhash => ways.push((Of::Multisets, TextMethod::Probability)),
        Method::Simhash => ways.push((of_one, TextMethod::SimHash)),
        Method::File | Method::All => {
            for of in chances.iter().map(|chance| chance.of) {
                let first = [
                    TextMethod::Exact,
                    TextMethod::Sample,
                    TextMethod::RumOnSamples,
                    TextMethod::Ru,
                    TextMethod::Rum,
                ];
                let last = [TextMethod::BottomK, TextMethod::SimHash];
                let all = first.into_iter().chain(minhash()).chain(last);
                ways.extend(all.map(|way| (of, way)));
            }
            ways.extend(
                [TextMethod::Weighted, TextMethod::Probability].map(|way| (Of::Multisets, way)),
            );
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
    let (a, b) = (args.texts.read_weights(&args.texts.a)?, args.texts.read_weights(&args.texts.b)?);
    let mut rows = Vec::new();
    for method in methods {
        rows.extend(weighted_rows(*method, Of::Weights, [&a, &b], settings, work)?);
    }
    Ok(rows)
}

/// The hashes of the shingles of a text, each as often as it occurs.
fn shingles(texts: &TwoTexts, path: &Path) -> Outcome<Vec<u64>> {
    Ok(texts.shingler(false)?.hashes(&texts.read(path)?))
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
