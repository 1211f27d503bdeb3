//! RUM: its variance beside minhash's, and its bias where its correction is applied to hashes of values.

use super::simulated::{equal_lanes, matrix};
use super::{Part, Settings, moments};
use crate::error::Result;
use crate::estimate::EstimateLaw;
use crate::hash::fmix64;
use crate::params::Confidence;
use crate::sketch::AffineMaps;
use crate::study::{Axis, Finding, Kind, Panel, Point, Series, Work};
use rayon::prelude::*;

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
    let ratio = all.iter().map(|r| {
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
        let ru = matrix.ru(&maps, Confidence::DEFAULT)?.jaccard.similarity;
        let maps = AffineMaps::units(k, matrix.stacked_rows(), seed ^ (2 * run + 1))?;
        let rum = matrix.rum(&maps, Confidence::DEFAULT)?.jaccard.similarity;
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

/// The ratio of variances, by summation over the laws Binomial(k, D)/k and Binomial(k, J)/k.
fn exact_ratios(k: u32) -> Result<Vec<Point>> {
    let one = |part: u32| {
        let j = f64::from(part) / 50.0;
        let law = EstimateLaw::new(k, 2.0 * j / (1.0 + j))?;
        let (mut mean, mut square) = (0.0, 0.0);
        for (equal, weight) in (0..=k).zip(law.probabilities()) {
            let share = f64::from(equal) / f64::from(k);
            let off = share / (2.0 - share) - j;
            (mean, square) = (mean + weight * off, square + weight * off * off);
        }
        Ok(Point::new(j, (square - mean * mean) / EstimateLaw::new(k, j)?.variance()))
    };
    (1..50).map(one).collect()
}

fn findings(all: &[Runs], settings: &Settings) -> Result<Vec<Finding>> {
    let (k, runs) = (settings.functions, f64::from(settings.runs));
    // Curvature leaves a bias of J(1 - J)(1 + J)/2k on stacked rows, and less than 1/k of misapplied ones.
    let allowed = |(_, variance): (f64, f64)| 4.0 * (variance / runs).sqrt() + 1.0 / f64::from(k);
    let wrong = |r: &&Runs| {
        (r.misapplied.0 - r.similarity - misapplied(r.similarity)).abs() > allowed(r.misapplied)
    };
    let off = |r: &&Runs| (r.rum.0 - r.similarity).abs() > allowed(r.rum);
    let far = |r: &Runs| (r.rum.1 / r.ru.1 / factor(r.similarity) - 1.0).abs();
    let error = 2.0 / runs.sqrt();
    let worst = all.iter().map(far).fold(0.0, f64::max);
    let exact = exact_ratios(k)?;
    let exact_worst = exact.iter().map(|p| (p.y / factor(p.x) - 1.0).abs()).fold(0.0, f64::max);
    let near = |wanted: f64| {
        all.iter().min_by(|x, y| {
            f64::total_cmp(&(x.similarity - wanted).abs(), &(y.similarity - wanted).abs())
        })
    };
    let Some(example) = near(0.8) else { return Ok(Vec::new()) };
    let j = example.similarity;
    Ok(vec![
        Finding::new(
            "RUM on stacked rows estimates J; applied to hashes of values it estimates J/(2 - J)",
            !all.iter().any(|r| wrong(&r) || off(&r)),
            format!(
                "bias at J = {j:.2}: {:+.4} on stacked rows; {:+.4} misapplied, {:+.4} by the formula, which is \
                 {:+.4} at 0.8",
                example.rum.0 - j,
                example.misapplied.0 - j,
                misapplied(j),
                misapplied(0.8)
            ),
        ),
        Finding::new(
            "RUM's variance is (1 + J)²/2 times minhash's",
            worst < 4.0 * error + exact_worst,
            format!(
                "within {:.1} % of it in simulation (an error is {:.1} %), within {:.1} % by the exact law; {:.3} \
                 times at J = {j:.2}",
                100.0 * worst,
                100.0 * error,
                100.0 * exact_worst,
                example.rum.1 / example.ru.1
            ),
        ),
    ])
}
