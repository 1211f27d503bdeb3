//! RUM: its variance compared with that of MinHash, and the bias of its correction on hashes of
//! values.

use super::simulated_estimates::{equal_lanes, matrix};
use super::{LawPart, LawSettings, moments};
use crate::estimate::EstimateLaw;
use crate::sketch::AffineMaps;
use crate::study::{Axis, Finding, Panel, Point, Series, SeriesKind, StudyContext};
use twindex::DEFAULT_CONFIDENCE;
use twindex::Result;

/// The number of similarities, from 0.05 on in steps of 0.1.
const STEPS: u32 = 10;

/// The moments of the simulated estimates at one similarity.
struct SimulatedMoments {
    similarity: f64,
    /// The mean and the variance of RU's similarity.
    ru: (f64, f64),
    /// The mean and the variance of RUM's similarity.
    rum: (f64, f64),
    /// The mean and the variance of RUM's correction applied to the share of equal lanes.
    misapplied: (f64, f64),
}

pub(super) fn run(settings: &LawSettings, context: &StudyContext<'_>) -> Result<LawPart> {
    let mut all = Vec::new();
    for step in 0..STEPS {
        let done = (10 + u64::from(step), 20);
        context.at(done.0, done.1)?;
        let similarity = f64::from(step) / 10.0 + 0.05;
        let shared = (similarity * f64::from(settings.rows)).round() as u32;
        if shared > 0 && shared < settings.rows {
            let seed = context.seed_of(step);
            all.push(simulate(settings, shared, seed, (context, done))?);
        }
    }
    let k = settings.functions;
    let runs = f64::from(settings.runs);
    let errors = |(_, variance): (f64, f64)| 2.0 * (variance / runs).sqrt();
    let biased = all.iter().map(|r| {
        let bias = r.misapplied.0 - r.similarity;
        let error = errors(r.misapplied);
        Point::spread(r.similarity, bias, bias - error, bias + error)
    });
    let stacked = all.iter().map(|r| {
        let (bias, error) = (r.rum.0 - r.similarity, errors(r.rum));
        Point::spread(r.similarity, bias, bias - error, bias + error)
    });
    // With few runs and J near 0 or 1, all estimates can be equal.
    let ratio = all.iter().filter(|r| r.ru.1 > 0.0).map(|r| {
        let (ratio, error) = (r.rum.1 / r.ru.1, 2.0 * r.ratio_error(runs));
        Point::spread(r.similarity, ratio, ratio - error, ratio + error)
    });
    let grid = || (0..=100).map(|part| f64::from(part) / 100.0);
    let panels = vec![
        Panel {
            title: format!("RUM: mean estimate less J, k = {k}"),
            x: Axis::linear("similarity J").within(0.0, 1.0),
            y: Axis::linear("bias"),
            series: vec![
                Series::new("on stacked rows", SeriesKind::Dots, stacked),
                Series::new("misapplied to hashes of values", SeriesKind::Dots, biased),
                Series::new(
                    "J/(2 - J) - J",
                    SeriesKind::Dashed,
                    grid().map(|j| Point::new(j, misapplied(j))),
                ),
            ],
        },
        Panel {
            title: format!("RUM: variance over that of minhash, k = {k}"),
            x: Axis::linear("similarity J").within(0.0, 1.0),
            y: Axis::linear("ratio of variances"),
            series: vec![
                Series::new("by simulation, two errors", SeriesKind::Dots, ratio),
                Series::new(
                    "(1 + J)²/2",
                    SeriesKind::Dashed,
                    grid().map(|j| Point::new(j, factor(j))),
                ),
                Series::new("by the exact law", SeriesKind::Line, exact_ratios(k)?),
            ],
        },
    ];
    Ok(LawPart { panels, findings: findings(&all, settings)? })
}

/// The bias of a share that is wrongly taken for Dice's coefficient.
fn misapplied(j: f64) -> f64 {
    j / (2.0 - j) - j
}

/// The ratio of RUM's variance to that of MinHash, by the delta method.
fn factor(j: f64) -> f64 {
    (1.0 + j).powi(2) / 2.0
}

impl SimulatedMoments {
    /// The standard error of the ratio of variances. For nearly normal estimates, the relative
    /// standard error of each variance is the root of 2/n. The maps of RUM and RU are independent.
    fn ratio_error(&self, runs: f64) -> f64 {
        self.rum.1 / self.ru.1 * 2.0 / runs.sqrt()
    }
}

/// Simulates estimates by RU, by RUM, and by RUM's correction of the share of equal lanes.
fn simulate(
    settings: &LawSettings,
    shared: u32,
    seed: u64,
    (context, done): (&StudyContext<'_>, (u64, u64)),
) -> Result<SimulatedMoments> {
    let (matrix, k) = (matrix(settings.rows, shared), settings.functions as usize);
    let one = |run: u64| -> Result<[f64; 3]> {
        let maps = AffineMaps::units(k, matrix.union_rows(), seed ^ (2 * run))?;
        let ru = matrix.ru(&maps, DEFAULT_CONFIDENCE)?.jaccard.similarity;
        let maps = AffineMaps::units(k, matrix.stacked_rows(), seed ^ (2 * run + 1))?;
        let rum = matrix.rum(&maps, DEFAULT_CONFIDENCE)?.jaccard.similarity;
        // Copies of an element have the same hash, so the lanes of stacked elements are those of
        // the union.
        let equal = equal_lanes(settings.rows, shared, settings.functions, seed ^ !run);
        let share = f64::from(equal) / f64::from(settings.functions);
        Ok([ru, rum, share / (2.0 - share)])
    };
    let runs = context.repeat(done, settings.runs, 4 * settings.steps(), one)?;
    let [ru, rum, misapplied] =
        [0, 1, 2].map(|which| moments(&runs.iter().map(|run| run[which]).collect::<Vec<f64>>()));
    let similarity = f64::from(shared) / f64::from(settings.rows);
    Ok(SimulatedMoments { similarity, ru, rum, misapplied })
}

/// The moments of an estimate, by summation over its law.
struct LawMoments {
    mean: f64,
    variance: f64,
    /// The fourth central moment over the square of the variance; 0 if the variance is 0.
    kurtosis: f64,
}

impl LawMoments {
    /// The moments of a function of the share of equal minima, whose number is Binomial(k, p).
    fn of(k: u32, p: f64, made: impl Fn(f64) -> f64) -> Result<Self> {
        let law = EstimateLaw::new(k, p)?.probabilities();
        let over = |value: &dyn Fn(f64) -> f64| -> f64 {
            let all = (0..=k).zip(&law);
            all.map(|(equal, p)| p * value(made(f64::from(equal) / f64::from(k)))).sum()
        };
        let mean = over(&|x| x);
        let variance = over(&|x| (x - mean).powi(2));
        let fourth = over(&|x| (x - mean).powi(4));
        let kurtosis = if variance > 0.0 { fourth / (variance * variance) } else { 0.0 };
        Ok(Self { mean, variance, kurtosis })
    }

    fn ru(k: u32, j: f64) -> Result<Self> {
        Self::of(k, j, |share| share)
    }

    /// On stacked rows, where the share estimates Dice's coefficient.
    fn rum(k: u32, j: f64) -> Result<Self> {
        Self::of(k, 2.0 * j / (1.0 + j), |share| share / (2.0 - share))
    }

    fn misapplied(k: u32, j: f64) -> Result<Self> {
        Self::of(k, j, |share| share / (2.0 - share))
    }

    /// The distance of a mean over `runs` runs from the exact one, in standard errors.
    fn errors_of_mean(&self, mean: f64, runs: f64) -> f64 {
        let off = (mean - self.mean).abs();
        if off < 1e-12 { 0.0 } else { off / (self.variance / runs).sqrt() }
    }

    /// The square of the standard error of the variance over `runs` runs.
    fn error_of_variance(&self, runs: f64) -> f64 {
        (self.kurtosis - 1.0).max(0.0) * self.variance.powi(2) / runs
    }
}

/// The distance of RUM's variance from RU's variance times the exact ratio, in standard errors. It
/// is computed as a difference, because RU's variance can be 0 in a few runs.
fn errors_of_ratio(
    one: &SimulatedMoments,
    (ru, rum): (&LawMoments, &LawMoments),
    runs: f64,
) -> f64 {
    let ratio = rum.variance / ru.variance;
    let off = (one.rum.1 - ratio * one.ru.1).abs();
    let error = rum.error_of_variance(runs) + ratio * ratio * ru.error_of_variance(runs);
    // If an estimate has two equally frequent values, the error of its variance has no first-order
    // term. The square of the standard error of the mean remains.
    let least = rum.variance / runs;
    off / (error.sqrt() + least)
}

/// The exact ratio of variances, by summation over both laws.
fn exact_ratio(k: u32, j: f64) -> Result<f64> {
    Ok(LawMoments::rum(k, j)?.variance / LawMoments::ru(k, j)?.variance)
}

fn exact_ratios(k: u32) -> Result<Vec<Point>> {
    (1..50)
        .map(|part| {
            let j = f64::from(part) / 50.0;
            Ok(Point::new(j, exact_ratio(k, j)?))
        })
        .collect()
}

/// The number of standard errors that chance does not exceed. One of 30 statistics exceeds it in 1
/// of 500 studies.
const BEYOND_CHANCE: f64 = 4.0;

/// From this number of functions on, the asymptotic formulas are within these bounds of the exact
/// laws. With fewer functions, the findings compare with the laws only.
const LARGE: u32 = 64;
const NEAR_MEAN: f64 = 0.005;
const NEAR_VARIANCE: f64 = 0.03;

fn findings(all: &[SimulatedMoments], settings: &LawSettings) -> Result<Vec<Finding>> {
    let (k, runs) = (settings.functions, f64::from(settings.runs));
    let (mut mean_errors, mut ratio_errors) = (0.0_f64, 0.0_f64);
    // The distances of the laws themselves from the formulas.
    let (mut bias, mut apart) = (0.0_f64, 0.0_f64);
    for one in all {
        let j = one.similarity;
        let (ru, rum, wrong) =
            (LawMoments::ru(k, j)?, LawMoments::rum(k, j)?, LawMoments::misapplied(k, j)?);
        mean_errors = mean_errors
            .max(rum.errors_of_mean(one.rum.0, runs))
            .max(wrong.errors_of_mean(one.misapplied.0, runs));
        ratio_errors = ratio_errors.max(errors_of_ratio(one, (&ru, &rum), runs));
        bias = bias.max((rum.mean - j).abs()).max((wrong.mean - j - misapplied(j)).abs());
    }
    for point in exact_ratios(k)? {
        apart = apart.max((point.y / factor(point.x) - 1.0).abs());
    }
    let near = |wanted: f64| {
        all.iter().min_by(|x, y| {
            f64::total_cmp(&(x.similarity - wanted).abs(), &(y.similarity - wanted).abs())
        })
    };
    let Some(example) = near(0.8) else { return Ok(Vec::new()) };
    let (j, large) = (example.similarity, k >= LARGE);
    let (of_means, of_variances) = if large {
        (
            "RUM on stacked rows estimates J; applied to hashes of values it estimates J/(2 - J)",
            "RUM's variance is (1 + J)²/2 times minhash's",
        )
    } else {
        (
            "RUM's mean is that of its law, on stacked rows and applied to hashes of values",
            "the ratio of RUM's variance to that of minhash is that of their laws",
        )
    };
    Ok(vec![
        Finding::new(
            of_means,
            mean_errors <= BEYOND_CHANCE && (!large || bias < NEAR_MEAN),
            format!(
                "bias at J = {j:.2}: {:+.4} on stacked rows; {:+.4} misapplied, {:+.4} by the \
                 formula, which is {:+.4} at 0.8; at most {mean_errors:.1} standard errors from \
                 the exact laws, which are within {bias:.4} of the formulas",
                example.rum.0 - j,
                example.misapplied.0 - j,
                misapplied(j),
                misapplied(0.8)
            ),
        ),
        Finding::new(
            of_variances,
            ratio_errors <= BEYOND_CHANCE && (!large || apart < NEAR_VARIANCE),
            format!(
                "at most {ratio_errors:.1} standard errors from the exact laws, whose ratio is \
                 within {:.1} % of (1 + J)²/2; {:.3} times at J = {j:.2}, {:.3} by the laws",
                100.0 * apart,
                example.rum.1 / example.ru.1,
                exact_ratio(k, j)?
            ),
        ),
    ])
}

#[cfg(test)]
#[path = "rum_moments_tests.rs"]
mod tests;
