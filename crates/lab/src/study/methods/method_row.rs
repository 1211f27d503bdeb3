//! A row of a comparison of methods: the estimate, its interval, the time, and the memory.

use crate::study::StudyContext;
use std::time::Instant;
use twindex::Estimate;
use twindex::Result;

/// The form in which two texts are compared.
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

/// The measure of similarity.
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

/// The result of a method for two texts.
#[derive(Clone, Debug)]
pub(crate) struct MethodRow {
    pub(crate) method: String,
    pub(crate) of: SetKind,
    pub(crate) measure: Measure,
    /// The estimate of the first run.
    pub(crate) estimate: f64,
    /// The interval of that estimate; `None` if it is not an interval of the similarity. Both ends
    /// of an exact value are equal.
    pub(crate) interval: Option<(f64, f64)>,
    /// The mean over the runs.
    pub(crate) mean: f64,
    /// The standard deviation over the runs; `None` for one run.
    pub(crate) spread: Option<f64>,
    pub(crate) runs: u32,
    /// The seconds of one run, from the shingles on.
    pub(crate) seconds: f64,
    /// The bytes kept of both texts to compare them.
    pub(crate) bytes: u64,
}

impl MethodRow {
    /// The Jaccard similarity by an exact method that ran elsewhere.
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

/// The result of one run of a method.
pub(super) struct RunOutcome {
    pub(super) values: Vec<(Measure, Estimate)>,
    /// Whether the intervals are intervals of the similarity.
    pub(super) sure: bool,
    pub(super) bytes: u64,
}

impl RunOutcome {
    pub(super) fn new(bytes: u64, values: Vec<(Measure, Estimate)>) -> Self {
        Self { values, sure: true, bytes }
    }
}

/// An exact value.
pub(super) const fn certain(value: f64) -> Estimate {
    Estimate { similarity: value, low: value, high: value }
}

/// The rows of an exact method, which runs once.
pub(super) fn exactly(
    method: &str,
    of: SetKind,
    context: &StudyContext<'_>,
    run: impl Fn() -> RunOutcome,
) -> Result<Vec<MethodRow>> {
    repeated(method, of, 1, context, |_| Ok(run()))
}

/// Runs a method `runs` times, with consecutive seeds from that of the context on. Returns a row
/// for each measure.
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

/// The mean and the standard deviation, with the number of values less 1 as the divisor.
pub(crate) fn mean_and_spread(all: &[f64]) -> (f64, Option<f64>) {
    let count = all.len() as f64;
    let mean = all.iter().sum::<f64>() / count;
    let squares: f64 = all.iter().map(|x| (x - mean) * (x - mean)).sum();
    (mean, (all.len() > 1).then(|| (squares / (count - 1.0)).sqrt()))
}
