//! RUM: its variance beside minhash's, and its bias where its correction is applied to hashes of values.

use super::simulated::{equal_lanes, matrix};
use super::{Part, Settings, moments};
use crate::estimate::EstimateLaw;
use crate::sketch::AffineMaps;
use crate::study::{Axis, Finding, Kind, Panel, Point, Series, Work};
use rayon::prelude::*;
use twindex::DEFAULT_CONFIDENCE;
use twindex::Result;
use twindex::internals::fmix64;

/// How many similarities there are, from 0.05 on, a tenth apart.
const STEPS: u32 = 10;

/// What the runs of one similarity gave.
struct Runs {
    similarity: f64,
    /// Mean and variance of RU's similarity.
    ru: (f64, f64),
    /// Those of RUM's.
    rum: (f64, f64),
    /// Mean and variance of the share of equal lanes, made of RUM's correction.
    misapplied: (f64, f64),
}

pub(super) fn run(settings: &Settings, work: &Work<'_>) -> Result<Part> {
    let mut all = Vec::new();
    for step in 0..STEPS {
        work.at(10 + u64::from(step), 20)?;
        let similarity = f64::from(step) / 10.0 + 0.05;
        let shared = (similarity * f64::from(settings.rows)).round() as u32;
        if shared > 0 && shared < settings.rows {
            all.push(simulate(settings, shared, fmix64(work.seed ^ u64::from(step)))?);
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
    // Of few runs and a J near 0 or 1 all estimates can be the same.
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
                Series::new("on stacked rows", Kind::Dots, stacked),
                Series::new("misapplied to hashes of values", Kind::Dots, biased),
                Series::new(
                    "J/(2 - J) - J",
                    Kind::Dashed,
                    grid().map(|j| Point::new(j, misapplied(j))),
                ),
            ],
        },
        Panel {
            title: format!("RUM: variance over that of minhash, k = {k}"),
            x: Axis::linear("similarity J").within(0.0, 1.0),
            y: Axis::linear("ratio of variances"),
            series: vec![
                Series::new("by simulation, two errors", Kind::Dots, ratio),
                Series::new("(1 + J)²/2", Kind::Dashed, grid().map(|j| Point::new(j, factor(j)))),
                Series::new("by the exact law", Kind::Line, exact_ratios(k)?),
            ],
        },
    ];
    Ok(Part { panels, findings: findings(&all, settings)? })
}

/// What is left of a share if it is taken for Dice's coefficient, less the share.
fn misapplied(j: f64) -> f64 {
    j / (2.0 - j) - j
}

/// RUM's variance over minhash's, by the delta method.
fn factor(j: f64) -> f64 {
    (1.0 + j).powi(2) / 2.0
}

impl Runs {
    /// The standard error of the ratio of variances: that of either is the root of 2/n of it where estimates
    /// are nearly normal. RUM's and RU's maps are independent.
    fn ratio_error(&self, runs: f64) -> f64 {
        self.rum.1 / self.ru.1 * 2.0 / runs.sqrt()
    }
}

/// Estimates of two sets by RU, by RUM, and by RUM's correction of the share of equal lanes.
fn simulate(settings: &Settings, shared: u32, seed: u64) -> Result<Runs> {
    let (matrix, k) = (matrix(settings.rows, shared), settings.functions as usize);
    let one = |run: u64| -> Result<[f64; 3]> {
        let maps = AffineMaps::units(k, matrix.union_rows(), seed ^ (2 * run))?;
        let ru = matrix.ru(&maps, DEFAULT_CONFIDENCE)?.jaccard.similarity;
        let maps = AffineMaps::units(k, matrix.stacked_rows(), seed ^ (2 * run + 1))?;
        let rum = matrix.rum(&maps, DEFAULT_CONFIDENCE)?.jaccard.similarity;
        // Copies of an element have one hash, so that the lanes of stacked elements are those of the union.
        let equal = equal_lanes(settings.rows, shared, settings.functions, seed ^ !run);
        let share = f64::from(equal) / f64::from(settings.functions);
        Ok([ru, rum, share / (2.0 - share)])
    };
    let runs: Result<Vec<[f64; 3]>> =
        (0..u64::from(settings.runs)).into_par_iter().map(one).collect();
    let runs = runs?;
    let [ru, rum, misapplied] =
        [0, 1, 2].map(|which| moments(&runs.iter().map(|run| run[which]).collect::<Vec<f64>>()));
    let similarity = f64::from(shared) / f64::from(settings.rows);
    Ok(Runs { similarity, ru, rum, misapplied })
}

/// Moments of an estimate, by summation over the law that it has.
struct Exact {
    mean: f64,
    variance: f64,
    /// The fourth moment about the mean over the square of the variance; 0 where there is no variance.
    kurtosis: f64,
}

impl Exact {
    /// Of what a share becomes, where the number of equal minima is Binomial(k, p).
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

    /// On stacked rows: the share estimates Dice's coefficient.
    fn rum(k: u32, j: f64) -> Result<Self> {
        Self::of(k, 2.0 * j / (1.0 + j), |share| share / (2.0 - share))
    }

    fn misapplied(k: u32, j: f64) -> Result<Self> {
        Self::of(k, j, |share| share / (2.0 - share))
    }

    /// By how many standard errors the mean of so many runs is off.
    fn errors_of_mean(&self, mean: f64, runs: f64) -> f64 {
        let off = (mean - self.mean).abs();
        if off < 1e-12 { 0.0 } else { off / (self.variance / runs).sqrt() }
    }

    /// The square of the standard error of the variance of so many runs.
    fn error_of_variance(&self, runs: f64) -> f64 {
        (self.kurtosis - 1.0).max(0.0) * self.variance.powi(2) / runs
    }
}

/// By how many standard errors RUM's variance is off as many times RU's as the laws of both make of it. A difference,
/// as RU's variance can be 0 in a few runs.
fn errors_of_ratio(one: &Runs, (ru, rum): (&Exact, &Exact), runs: f64) -> f64 {
    let ratio = rum.variance / ru.variance;
    let off = (one.rum.1 - ratio * one.ru.1).abs();
    let error = rum.error_of_variance(runs) + ratio * ratio * ru.error_of_variance(runs);
    // Of two values that are equally frequent the variance itself has no error of the first order: of it is left
    // the square of the mean's.
    let least = rum.variance / runs;
    off / (error.sqrt() + least)
}

/// The ratio of variances, by summation over the laws of both.
fn exact_ratio(k: u32, j: f64) -> Result<f64> {
    Ok(Exact::rum(k, j)?.variance / Exact::ru(k, j)?.variance)
}

fn exact_ratios(k: u32) -> Result<Vec<Point>> {
    (1..50)
        .map(|part| {
            let j = f64::from(part) / 50.0;
            Ok(Point::new(j, exact_ratio(k, j)?))
        })
        .collect()
}

/// Standard errors beyond which something does not happen by chance: of 30 statistics one is further off in 1 of 500
/// studies.
const BEYOND_CHANCE: f64 = 4.0;

/// From so many functions on the formulas, which are limits, are near the exact laws: within these bounds, for any J
/// that is looked at. With fewer, only the laws are what must be seen.
const LARGE: u32 = 64;
const NEAR_MEAN: f64 = 0.005;
const NEAR_VARIANCE: f64 = 0.03;

fn findings(all: &[Runs], settings: &Settings) -> Result<Vec<Finding>> {
    let (k, runs) = (settings.functions, f64::from(settings.runs));
    let (mut mean_errors, mut ratio_errors) = (0.0_f64, 0.0_f64);
    // How far the laws themselves are from the formulas.
    let (mut bias, mut apart) = (0.0_f64, 0.0_f64);
    for one in all {
        let j = one.similarity;
        let (ru, rum, wrong) = (Exact::ru(k, j)?, Exact::rum(k, j)?, Exact::misapplied(k, j)?);
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
    let (of_means, of_variances) = match large {
        true => (
            "RUM on stacked rows estimates J; applied to hashes of values it estimates J/(2 - J)",
            "RUM's variance is (1 + J)²/2 times minhash's",
        ),
        false => (
            "RUM's mean is that of its law, on stacked rows and applied to hashes of values",
            "RUM's variance is as many times minhash's as their laws say",
        ),
    };
    Ok(vec![
        Finding::new(
            of_means,
            mean_errors <= BEYOND_CHANCE && (!large || bias < NEAR_MEAN),
            format!(
                "bias at J = {j:.2}: {:+.4} on stacked rows; {:+.4} misapplied, {:+.4} by the formula, which is \
                 {:+.4} at 0.8; at most {mean_errors:.1} standard errors from the exact laws, and these within \
                 {bias:.4} of the formulas",
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
                "at most {ratio_errors:.1} standard errors from the exact laws, whose ratio is within {:.1} % of \
                 (1 + J)²/2; {:.3} times at J = {j:.2}, {:.3} by the laws",
                100.0 * apart,
                example.rum.1 / example.ru.1,
                exact_ratio(k, j)?
            ),
        ),
    ])
}

#[cfg(test)]
#[path = "stacked_tests.rs"]
mod tests;
