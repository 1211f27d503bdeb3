//! One line of a comparison of methods: what a method says of two texts, how sure, how fast, and
//! how large.

use crate::study::StudyContext;
use std::time::Instant;
use twindex::Estimate;
use twindex::Result;

/// What two texts are taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SetKind {
    Sets,
    Multisets,
    Weights,
}

impl SetKind {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Sets => "sets",
            Self::Multisets => "multisets",
            Self::Weights => "weights",
        }
    }
}

/// What is measured of both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure {
    Jaccard,
    Dice,
    Cosine,
    /// The probability Jaccard similarity.
    Probability,
}

impl Measure {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Jaccard => "jaccard",
            Self::Dice => "dice",
            Self::Cosine => "cosine",
            Self::Probability => "probability",
        }
    }
}

/// What a method says of two texts.
#[derive(Clone, Debug)]
pub(crate) struct MethodRow {
    pub(crate) method: String,
    pub(crate) of: SetKind,
    pub(crate) measure: Measure,
    /// What the first run said.
    pub(crate) estimate: f64,
    /// The interval of that; none where it would not be one of the similarity. An exact value is
    /// both ends.
    pub(crate) interval: Option<(f64, f64)>,
    /// The mean over the runs.
    pub(crate) mean: f64,
    /// Their standard deviation; none of one run.
    pub(crate) spread: Option<f64>,
    pub(crate) runs: u32,
    /// The time of one run, from the shingles on.
    pub(crate) seconds: f64,
    /// What is held of both texts at once to compare them.
    pub(crate) bytes: u64,
}

impl MethodRow {
    /// Jaccard's similarity by an exact method that was run elsewhere.
    pub(crate) fn exact(
        method: &str,
        of: SetKind,
        similarity: f64,
        seconds: f64,
        bytes: u64,
    ) -> Self {
        Self {
            method: method.to_owned(),
            of,
            measure: Measure::Jaccard,
            estimate: similarity,
            interval: Some((similarity, similarity)),
            mean: similarity,
            spread: None,
            runs: 1,
            seconds,
            bytes,
        }
    }
}

/// What one run of a method gives.
pub(super) struct RunOutcome {
    pub(super) values: Vec<(Measure, Estimate)>,
    /// Whether the intervals are ones of the similarity.
    pub(super) sure: bool,
    pub(super) bytes: u64,
}

impl RunOutcome {
    pub(super) fn new(bytes: u64, values: Vec<(Measure, Estimate)>) -> Self {
        Self { values, sure: true, bytes }
    }
}

/// A value that is no estimate.
pub(super) const fn certain(value: f64) -> Estimate {
    Estimate { similarity: value, low: value, high: value }
}

/// The rows of a method that is exact: it runs once.
pub(super) fn exactly(
    method: &str,
    of: SetKind,
    context: &StudyContext<'_>,
    run: impl Fn() -> RunOutcome,
) -> Result<Vec<MethodRow>> {
    repeated(method, of, 1, context, |_| Ok(run()))
}

/// The rows of a method, a row for each measure it gives: run so many times, from the seed of the
/// work on.
pub(super) fn repeated(
    method: &str,
    of: SetKind,
    runs: u32,
    context: &StudyContext<'_>,
    run: impl Fn(u64) -> Result<RunOutcome>,
) -> Result<Vec<MethodRow>> {
    let begun = Instant::now();
    let mut outcomes = Vec::new();
    for number in 0..runs.max(1) {
        context.at(number.into(), runs.max(1).into())?;
        outcomes.push(run(context.seed.wrapping_add(number.into()))?);
    }
    let seconds = begun.elapsed().as_secs_f64() / outcomes.len() as f64;
    let row = |at: usize, first: &RunOutcome| {
        let (measure, estimate) = first.values[at];
        let all: Vec<f64> = outcomes.iter().map(|run| run.values[at].1.similarity).collect();
        let (mean, spread) = mean_and_spread(&all);
        MethodRow {
            method: method.to_owned(),
            of,
            measure,
            estimate: estimate.similarity,
            interval: first.sure.then_some((estimate.low, estimate.high)),
            mean,
            spread,
            runs: all.len() as u32,
            seconds,
            bytes: first.bytes,
        }
    };
    let rows = outcomes.first().map(|first| (0..first.values.len()).map(|at| row(at, first)));
    Ok(rows.into_iter().flatten().collect())
}

/// The mean and the standard deviation, with one less than their number as the divisor.
pub(crate) fn mean_and_spread(all: &[f64]) -> (f64, Option<f64>) {
    let count = all.len() as f64;
    let mean = all.iter().sum::<f64>() / count;
    let squares: f64 = all.iter().map(|x| (x - mean) * (x - mean)).sum();
    (mean, (all.len() > 1).then(|| (squares / (count - 1.0)).sqrt()))
}
