//! Measures one pair of Gospels by every method, with times.

use super::GospelsSettings;
use super::paper_values::FUNCTIONS;
use crate::estimate::{FileOverlap, FileSimilarity, RowMatrix, Sampled, Sampling, random_sample};
use crate::sketch::AffineMaps;
use crate::study::gospel_texts::{TextShingles, shingler};
use crate::study::ranked_occurrences::ranked;
use std::time::Instant;
use twindex::DEFAULT_CONFIDENCE;
use twindex::Result;
use twindex::internals::SplitMix;
use twindex::{Overlap, RandomSubsets};

/// The measurements of one pair of one translation.
#[derive(Clone)]
pub(super) struct MeasuredPair {
    /// The overlap of the multisets of shingles.
    pub(super) exact: Overlap,
    /// The overlap of the sets of shingles.
    pub(super) sets: Overlap,
    /// Both overlaps, computed by file.
    pub(super) by_file: FileOverlap,
    /// The mean similarity of two random subsets of these sizes, from a universe as large as both
    /// together.
    pub(super) chance: f64,
    pub(super) independent: Sampled,
    /// The limit of the mean of the independent samples.
    pub(super) limit: f64,
    pub(super) coordinated: Sampled,
    /// The share of each text that the coordinated samples keep.
    pub(super) share: f64,
    /// RUM with each of [`FUNCTIONS`].
    pub(super) rum: Vec<RumResult>,
    pub(super) times: PairTimes,
}

/// RUM on independent samples, with one number of functions.
#[derive(Clone)]
pub(super) struct RumResult {
    pub(super) functions: usize,
    /// Dice's coefficient, the paper's simM.
    pub(super) dice: SeenAndExpected,
    /// The Jaccard similarity, the paper's sim.
    pub(super) jaccard: SeenAndExpected,
    /// The mean similarity of the samples themselves.
    pub(super) of_samples: f64,
    pub(super) milliseconds: f64,
}

/// The estimates of all runs, and the expected value for the same samples.
#[derive(Clone)]
pub(super) struct SeenAndExpected {
    pub(super) seen: Sampled,
    pub(super) expected: f64,
    /// The root of the mean expected variance of one run.
    pub(super) deviation: f64,
}

/// The milliseconds of each method with all its runs: from the texts on for exact methods, from the
/// shingles on for the others.
#[derive(Clone)]
pub(super) struct PairTimes {
    pub(super) direct: f64,
    pub(super) by_file: f64,
    pub(super) independent: f64,
    pub(super) coordinated: f64,
    /// The total.
    pub(super) all: f64,
}

/// The result of a function, and the milliseconds that it took.
fn timed<T>(work: impl FnOnce() -> Result<T>) -> Result<(T, f64)> {
    let begun = Instant::now();
    let done = work()?;
    Ok((done, begun.elapsed().as_secs_f64() * 1000.0))
}

/// The direct method, with the shingles of both texts in memory.
fn direct(a: &str, b: &str) -> Result<Overlap> {
    let (a, b) = (TextShingles::of(a)?, TextShingles::of(b)?);
    Ok(Overlap::of_multisets(&a.occurrences, &b.occurrences))
}

/// The method for texts larger than memory, with the least possible memory.
fn by_file(a: &str, b: &str) -> Result<FileOverlap> {
    let similarity = FileSimilarity::new(shingler()?, FileSimilarity::LEAST_MEMORY)?;
    similarity.compare(a.as_bytes(), b.as_bytes())
}

/// The mean and the variance of a function of the share of successes in `trials` trials.
fn of_binomial(trials: usize, share: f64, value: impl Fn(f64) -> f64) -> (f64, f64) {
    let (mut mean, mut square) = (0.0, 0.0);
    for successes in 0..=trials {
        let failures = trials - successes;
        let ways: f64 = (0..successes).map(|i| (trials - i) as f64 / (i + 1) as f64).product();
        let probability = ways * share.powi(successes as i32) * (1.0 - share).powi(failures as i32);
        let value = value(successes as f64 / trials as f64);
        mean += probability * value;
        square += probability * value * value;
    }
    (mean, (square - mean * mean).max(0.0))
}

/// Sums over runs.
#[derive(Default)]
struct RunSums {
    seen: Vec<f64>,
    expected: f64,
    variance: f64,
}

impl RunSums {
    fn add(&mut self, seen: f64, (mean, variance): (f64, f64)) {
        self.seen.push(seen);
        self.expected += mean;
        self.variance += variance;
    }

    fn beside(self) -> SeenAndExpected {
        let runs = self.seen.len() as f64;
        SeenAndExpected {
            seen: Sampled::of(self.seen),
            expected: self.expected / runs,
            deviation: (self.variance / runs).sqrt(),
        }
    }
}

/// RUM with each number of functions, on samples drawn anew in every run.
fn rum(
    settings: &GospelsSettings,
    a: &[u64],
    b: &[u64],
    random: &mut SplitMix,
    go_on: &dyn Fn() -> Result<()>,
) -> Result<Vec<RumResult>> {
    let mut gathered: Vec<(RunSums, RunSums)> = FUNCTIONS.map(|_| Default::default()).into();
    let mut milliseconds = FUNCTIONS.map(|_| 0.0);
    let mut of_samples = 0.0;
    for _ in 0..settings.runs {
        go_on()?;
        let (matrix, drawing) = timed(|| {
            let a = ranked(&random_sample(a, settings.sample, random.next()));
            let b = ranked(&random_sample(b, settings.sample, random.next()));
            Ok((RowMatrix::of_sets(&a, &b), (a.len() + b.len()) as u64))
        })?;
        let (matrix, elements) = matrix;
        let shared = elements - matrix.union_rows();
        let share = if elements == 0 { 0.0 } else { 2.0 * shared as f64 / elements as f64 };
        of_samples += share / (2.0 - share);
        for (at, functions) in FUNCTIONS.into_iter().enumerate() {
            let (estimate, took) = timed(|| {
                let maps = AffineMaps::units(functions, matrix.stacked_rows(), random.next())?;
                matrix.rum(&maps, DEFAULT_CONFIDENCE)
            })?;
            milliseconds[at] += drawing + took;
            let (dice, jaccard) = &mut gathered[at];
            // The least value of a map is at a common row with this probability.
            dice.add(estimate.dice.similarity, of_binomial(functions, share, |x| x));
            let law = of_binomial(functions, share, |x| x / (2.0 - x));
            jaccard.add(estimate.jaccard.similarity, law);
        }
    }
    let of_samples = of_samples / f64::from(settings.runs);
    let each = FUNCTIONS.into_iter().zip(gathered).zip(milliseconds);
    Ok(each
        .map(|((functions, (dice, jaccard)), milliseconds)| RumResult {
            functions,
            dice: dice.beside(),
            jaccard: jaccard.beside(),
            of_samples,
            milliseconds,
        })
        .collect())
}

/// Measures a pair of texts with given shingles. Between the methods and their runs, `go_on` may
/// end it.
pub(super) fn measure(
    settings: &GospelsSettings,
    texts: (&str, &str),
    (a, b): (&TextShingles, &TextShingles),
    seed: u64,
    go_on: &dyn Fn() -> Result<()>,
) -> Result<MeasuredPair> {
    go_on()?;
    let begun = Instant::now();
    let mut random = SplitMix::new(seed);
    let (exact, direct) = timed(|| direct(texts.0, texts.1))?;
    let (by_file, of_file) = timed(|| by_file(texts.0, texts.1))?;
    let (a_set, b_set) = (&a.distinct, &b.distinct);
    let (a, b) = (&a.occurrences, &b.occurrences);

    let sampling = Sampling::independent(settings.sample, settings.sample, settings.runs)?;
    let (independent, of_independent) = timed(|| sampling.watched(a, b, random.next(), go_on))?;
    // The samples have as many elements of both texts together as the independent ones.
    let share = (2.0 * settings.sample as f64 / (exact.a + exact.b).max(1) as f64).min(1.0);
    let coordinated = Sampling::coordinated(share, settings.runs)?;
    let (coordinated, of_coordinated) = timed(|| coordinated.watched(a, b, random.next(), go_on))?;
    let mut measured = MeasuredPair {
        exact,
        sets: Overlap::of_sets(a_set, b_set),
        by_file,
        chance: RandomSubsets::new(exact.a, exact.b, exact.a + exact.b)?.expected_similarity(),
        independent,
        limit: sampling.limit(a, b),
        coordinated,
        share,
        rum: rum(settings, a, b, &mut random, go_on)?,
        times: PairTimes {
            direct,
            by_file: of_file,
            independent: of_independent,
            coordinated: of_coordinated,
            all: 0.0,
        },
    };
    measured.times.all = begun.elapsed().as_secs_f64() * 1000.0;
    Ok(measured)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_of_a_binomial_number_has_the_moments_of_all_outcomes() {
        // Two trials with p = 0.3 give the values 0, 1/3, 1 with the probabilities 0.49, 0.42,
        // 0.09.
        let (mean, variance) = of_binomial(2, 0.3, |x| x / (2.0 - x));
        assert!((mean - 0.23).abs() < 1e-12);
        assert!((variance - (0.42 / 9.0 + 0.09 - 0.23 * 0.23)).abs() < 1e-12);
        let (mean, variance) = of_binomial(20, 0.6, |x| x);
        assert!((mean - 0.6).abs() < 1e-12 && (variance - 0.24 / 20.0).abs() < 1e-12);
    }
}
