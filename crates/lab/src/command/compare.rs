//! `twindex-lab compare`: compares two texts by the literature's methods, side by side.

use super::family_choice::{FamilyChoice, FamilyParser};
use crate::command::compare_file::{self, FileComparison};
use crate::command::method_name::{MethodName, MethodOption};
use crate::sketch::Family;
use crate::study::StudyContext;
use crate::study::methods::{
    ChanceComparison, MethodRow, MethodSettings, SetKind, TextMethod, TextPair, WeightedMethod,
    weighted_rows,
};
use clap::builder::RangedU64ValueParser;
use serde_json::Value;
use std::path::Path;
use twindex::DEFAULT_LANES;
use twindex_cli::commands::compare::compare as direct;
use twindex_cli::input::STANDARD_INPUT;
use twindex_cli::run::ending::Ending;
use twindex_cli::run::failure::Failure;
use twindex_cli::run::global_options::GlobalOptions;
use twindex_cli::run::input_options::size;
use twindex_cli::run::two_texts::TwoTexts;
use twindex_cli::terminal::output::{Results, rounded, significant, similarity, summary};

type CommandResult<T> = Result<T, Failure>;

/// The default of `--runs` for `--method all`. The relative error of the spread is then 1/√38.
const RUNS_OF_ALL: u32 = 20;

/// The default of `--hashes`.
const HASHES: u16 = 128;

/// The default of `--sample`.
const SAMPLE: usize = 10_000;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Output, one line for each value: method, of (sets, multisets, or weights), measure (jaccard,
dice, cosine, probability), estimate, low, high, mean, spread, runs, seconds, bytes.

low and high are the ends of the interval. They are equal for exact values. They are missing for
samples that do not estimate the similarity of the whole texts, and for SimHash if a text has
fewer than 32 elements or one element outweighs the others. The cosine of multisets is that of
their counts. mean and spread are over the runs. seconds is the time of one run from the sorted
shingles on; for file it includes reading and shingling, so do not compare it with the others.
bytes is the memory that the method keeps of both texts. rum also runs on samples, as
rum-on-samples, if --sample is smaller than a text. The exit status is 1 if the first estimate is
below --threshold.

--method all first prints how similar random texts of these sizes are, as sets and as multisets,
and whether the similarity is beyond chance. Its method file reads both texts again and runs only
if both are regular files.

An option that the method does not read is an error. --sample is for sample and rum, --family for
minhash, --memory for file, --universe for all. --method all reads every option, but with
--weighted only --hashes and --runs.

--method file compares texts that do not fit into memory. Its output: a, b, method, similarity,
multiset_similarity, shingles_a, shingles_b, shared, runs (sorted runs written), temporary_bytes
(on disk, in TMPDIR), memory, peak_memory (bytes), seconds; for kmer:N also distance. It uses the
memory of --memory and some 10 MiB, and up to 128 MiB more for a zstd file. On disk it uses 8
bytes for each shingle of both texts. A line, word or token may take at most 1/32 of the memory;
--max-record has no effect.

Examples:
  twindex-lab compare old.txt new.txt
  twindex-lab compare old.txt new.txt --method minhash --family murmur3 --hashes 200 --runs 50
  twindex-lab compare --weighted old.json new.json --method p-minhash
  twindex-lab compare old.txt.zst new.txt.zst --method file --memory 1G")]
pub(super) struct CompareArgs {
    #[command(flatten)]
    pub(super) texts: TwoTexts,
    /// Method to compare by [default: none: compare as `twindex compare` does]
    #[arg(long, value_enum, value_name = "NAME")]
    method: Option<MethodName>,
    /// Family of the hash functions for --method minhash and all [default: default]
    #[arg(long, requires = "method", value_name = "NAME", value_parser = FamilyParser)]
    family: Option<FamilyChoice>,
    /// Number of hash functions, maps or smallest values, from 3 to 4096. weighted uses the next
    /// greater of 64, 128, 256 and 512 lanes, and at most 512; simhash uses 8 bits for each,
    /// rounded up to a multiple of 64, and at most 1024 [default: 128]
    #[arg(
        long,
        requires = "method",
        value_name = "K",
        value_parser = clap::value_parser!(u16).range(3..=4096),
    )]
    hashes: Option<u16>,
    /// Runs of random methods, with consecutive seeds from --seed on [default: 1; with --method all
    /// 20]
    #[arg(
        long,
        requires = "method",
        value_name = "R",
        value_parser = clap::value_parser!(u32).range(1..),
    )]
    runs: Option<u32>,
    /// Elements that --method sample and rum-on-samples draw from each text [default: 10000]
    #[arg(
        long,
        requires = "method",
        value_name = "N",
        value_parser = RangedU64ValueParser::<usize>::new().range(1..),
    )]
    sample: Option<usize>,
    /// Most bytes of memory for --method file, at least 1M [default: 64M]
    #[arg(long, requires = "method", value_name = "SIZE", value_parser = size)]
    pub(super) memory: Option<usize>,
    /// Size of the universe of random sets, or of random multisets with --multiset; read without
    /// --method and by --method all [default: shingles_a + shingles_b]
    #[arg(long, value_name = "N", conflicts_with = "weighted")]
    universe: Option<u64>,
}

/// Refuses options that the method does not read.
fn check(args: &CompareArgs, method: MethodName) -> CommandResult<()> {
    if args.texts.weighted && !method.takes_weights() {
        let takers = MethodName::names(MethodName::takes_weights);
        let cause = "--weighted: this --method takes no weights; use";
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
        let reads = |method: MethodName| method.reads(args.texts.weighted).contains(&option);
        if !is_there || reads(method) {
            continue;
        }
        let name = option.name();
        return Err(match MethodName::names(reads).as_str() {
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

pub(super) fn run(global: &GlobalOptions, args: &CompareArgs) -> CommandResult<Ending> {
    args.texts.check()?;
    let Some(method) = args.method else {
        return direct(global, &args.texts, DEFAULT_LANES, args.universe);
    };
    check(args, method)?;
    if method == MethodName::File {
        return compare_file::run(global, args);
    }
    if method == MethodName::All && !args.texts.weighted {
        // Errors of the last method should be reported before all others run.
        compare_file::similarity(args)?;
    }
    let runs = if method == MethodName::All { RUNS_OF_ALL } else { 1 };
    let settings = MethodSettings {
        hashes: args.hashes.unwrap_or(HASHES).into(),
        runs: args.runs.unwrap_or(runs),
        sample: args.sample.unwrap_or(SAMPLE),
        confidence: args.texts.confidence,
    };
    let context = StudyContext::new(args.texts.seed, &|_, _| Ok(()));
    let (chances, mut rows) = if args.texts.weighted {
        (Vec::new(), of_weights(args, method, &settings, &context)?)
    } else {
        of_texts(args, method, &settings, &context)?
    };
    let mut failed = None;
    if method == MethodName::All
        && !args.texts.weighted
        && read_again(&args.texts.a)
        && read_again(&args.texts.b)
    {
        match of_files(global, args) {
            Ok(of_files) => rows.extend(of_files),
            // The other rows are still valid.
            Err(failure) => failed = Some(failure),
        }
    }
    print(global, &chances, &rows)?;
    if let Some(failure) = failed {
        return Err(failure);
    }
    let below = |row: &MethodRow| args.texts.is_below(row.estimate);
    Ok(if rows.first().is_some_and(below) { Ending::Nothing } else { Ending::Done })
}

/// Whether a text can be read a second time; pipes and devices cannot.
fn read_again(path: &Path) -> bool {
    path.as_os_str() != STANDARD_INPUT && path.metadata().is_ok_and(|found| found.is_file())
}

/// The rows of the method for files.
fn of_files(global: &GlobalOptions, args: &CompareArgs) -> CommandResult<Vec<MethodRow>> {
    let FileComparison { overlap, seconds } = compare_file::compare(global, args)?;
    let row = |of: SetKind, similarity: f64| {
        MethodRow::exact("file", of, similarity, seconds, overlap.peak_memory)
    };
    let mut rows = vec![row(SetKind::Multisets, overlap.multisets.similarity())];
    if !args.texts.multiset {
        rows.insert(0, row(SetKind::Sets, overlap.sets.similarity()));
    }
    Ok(rows)
}

/// The rows of a method for texts; for all methods also the comparison with chance.
fn of_texts(
    args: &CompareArgs,
    method: MethodName,
    settings: &MethodSettings,
    context: &StudyContext<'_>,
) -> CommandResult<(Vec<ChanceComparison>, Vec<MethodRow>)> {
    let pair = TextPair::new([
        shingles(&args.texts, &args.texts.a)?,
        shingles(&args.texts, &args.texts.b)?,
    ]);
    let mut chances = Vec::new();
    if method == MethodName::All {
        if !args.texts.multiset {
            chances.push(ChanceComparison::new(SetKind::Sets, pair.overlap(), args.universe)?);
        }
        // A universe of distinct shingles does not apply to their occurrences.
        let universe = args.universe.filter(|_| args.texts.multiset);
        chances.push(ChanceComparison::new(SetKind::Multisets, pair.multiset_overlap(), universe)?);
    }
    let of_one = if args.texts.multiset { SetKind::Multisets } else { SetKind::Sets };
    let family = args.family.unwrap_or(FamilyChoice::One(Family::Default));
    let minhash = || family.families().into_iter().map(TextMethod::MinHash);
    let mut ways: Vec<(SetKind, TextMethod)> = Vec::new();
    match method {
        MethodName::Exact => ways.push((of_one, TextMethod::Exact)),
        MethodName::Multiset => ways.push((SetKind::Multisets, TextMethod::Exact)),
        MethodName::Sample => ways.push((of_one, TextMethod::Sample)),
        MethodName::Ru => ways.push((of_one, TextMethod::Ru)),
        MethodName::Rum => {
            ways.extend([(of_one, TextMethod::Rum), (of_one, TextMethod::RumOnSamples)]);
        }
        MethodName::Minhash => ways.extend(minhash().map(|way| (of_one, way))),
        MethodName::BottomK => ways.push((of_one, TextMethod::BottomK)),
        MethodName::Weighted => ways.push((SetKind::Multisets, TextMethod::Weighted)),
        MethodName::PMinhash => ways.push((SetKind::Multisets, TextMethod::Probability)),
        MethodName::Simhash => ways.push((of_one, TextMethod::SimHash)),
        MethodName::File | MethodName::All => {
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
                [TextMethod::Weighted, TextMethod::Probability]
                    .map(|way| (SetKind::Multisets, way)),
            );
        }
    }
    let mut rows = Vec::new();
    for (of, way) in ways {
        rows.extend(way.rows(of, &pair, settings, context)?);
    }
    Ok((chances, rows))
}

/// The rows of a method for weighted sets.
fn of_weights(
    args: &CompareArgs,
    method: MethodName,
    settings: &MethodSettings,
    context: &StudyContext<'_>,
) -> CommandResult<Vec<MethodRow>> {
    use WeightedMethod::{Exact, Probability, SimHash, Weighted};
    let methods: &[WeightedMethod] = match method {
        MethodName::Weighted => &[Weighted],
        MethodName::PMinhash => &[Probability],
        MethodName::Simhash => &[SimHash],
        MethodName::All => &[Exact, Weighted, Probability, SimHash],
        // Methods that take no weights were refused before.
        _ => &[Exact],
    };
    let (a, b) = (args.texts.read_weights(&args.texts.a)?, args.texts.read_weights(&args.texts.b)?);
    let mut rows = Vec::new();
    for method in methods {
        rows.extend(weighted_rows(*method, SetKind::Weights, [&a, &b], settings, context)?);
    }
    Ok(rows)
}

/// The hashes of the shingles of a text, each as often as it occurs.
fn shingles(texts: &TwoTexts, path: &Path) -> CommandResult<Vec<u64>> {
    Ok(texts.shingler(false)?.hashes(&texts.read(path)?))
}

fn print(
    global: &GlobalOptions,
    chances: &[ChanceComparison],
    rows: &[MethodRow],
) -> CommandResult<()> {
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
        // Exact values are printed with more digits.
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

fn tell_verdicts(global: &GlobalOptions, chances: &[ChanceComparison]) {
    let sentence = |chance: &ChanceComparison| {
        let (seen, expected) = (chance.overlap.similarity(), chance.expected);
        let (of, verdict) = (chance.of.name(), chance.verdict());
        format!("as {of}: similarity {seen:.4}, by chance {expected:.4}: {verdict}")
    };
    let sentences: Vec<String> = chances.iter().map(sentence).collect();
    let fields: Vec<(&str, Value)> =
        chances.iter().map(|chance| (chance.of.name(), chance.verdict().into())).collect();
    summary(global, &fields, &sentences.join("; "));
}
