//! Compares simulated estimates, by random hash functions and by affine maps of rows, with
//! Binomial(k, J)/k.

use super::{LawPart, LawSettings, moments};
use crate::estimate::{EstimateLaw, RowMatrix};
use crate::sketch::AffineMaps;
use crate::study::{Axis, Finding, Panel, Point, Series, SeriesKind, StudyContext};
use std::ops::Range;
use twindex::DEFAULT_CONFIDENCE;
use twindex::Result;
use twindex::internals::{SplitMix, fmix64};

/// The number of standard deviations that chance does not exceed. Chi-square is tested on one side,
/// so it exceeds its bound once in 31,600 times.
const BEYOND_CHANCE: f64 = 4.0;

pub(super) fn run(settings: &LawSettings, context: &StudyContext<'_>) -> Result<LawPart> {
    let (k, runs) = (settings.functions, f64::from(settings.runs));
    let (j, law) = (settings.reached(), EstimateLaw::new(settings.functions, settings.reached())?);
    let [hashed, mapped] = [by_hashes(settings, context)?, by_maps(settings, context)?];

    // Nearly all of the law, and all that was simulated.
    let seen = || hashed.iter().chain(&mapped).copied();
    let least = law.quantile(1e-4).min(seen().min().unwrap_or(k));
    let most = law.quantile(1.0 - 1e-4).max(seen().max().unwrap_or(0));
    let x = |equal: u32| f64::from(equal) / f64::from(k);
    let exact = (least..=most).map(|equal| {
        let p = law.probability(equal);
        let error = 2.0 * (p * (1.0 - p) / runs).sqrt();
        Point::spread(x(equal), p, (p - error).max(0.0), p + error)
    });
    let counted = |estimates: &[u32]| {
        let counts = counts(estimates, k);
        let points =
            (least..=most).map(|equal| Point::new(x(equal), counts[equal as usize] / runs));
        points.collect::<Vec<Point>>()
    };
    let normal = (least..=most).map(|equal| {
        let z = (x(equal) - j) / law.variance().sqrt();
        let scale = f64::from(k) * (std::f64::consts::TAU * law.variance()).sqrt();
        Point::new(x(equal), (-0.5 * z * z).exp() / scale)
    });
    let mut series = vec![
        Series::new("Binomial(k, J)/k, and twice its sampling error", SeriesKind::Line, exact),
        Series::new("k random hash functions", SeriesKind::Dots, counted(&hashed)),
        Series::new("k affine permutations of the rows", SeriesKind::Dots, counted(&mapped)),
    ];
    if law.variance() > 0.0 {
        series.push(Series::new("normal law", SeriesKind::Dashed, normal));
    }
    let panel = Panel {
        title: format!("Estimates of J = {j:.4} from k = {k}, {} runs", settings.runs),
        x: Axis::linear("estimate"),
        y: Axis::linear("probability"),
        series,
    };
    let findings = [("random hash functions", &hashed), ("affine permutations", &mapped)]
        .map(|(name, estimates)| agrees(name, estimates, law, k));
    Ok(LawPart { panels: vec![panel], findings: findings.into() })
}

/// The numbers of equal minima of k hash functions, over the elements of two sets.
fn by_hashes(settings: &LawSettings, context: &StudyContext<'_>) -> Result<Vec<u32>> {
    let seed = fmix64(context.seed);
    let one = |run: u64| {
        Ok(equal_lanes(settings.rows, settings.shared(), settings.functions, seed ^ run))
    };
    context.repeat((0, 20), settings.runs, settings.steps(), one)
}

/// The number of random hash functions with the same minimum over two sets of `all` elements, of
/// which `shared` are common and the others divided evenly.
pub(super) fn equal_lanes(all: u32, shared: u32, functions: u32, seed: u64) -> u32 {
    let (all, shared) = (u64::from(all), u64::from(shared));
    let half = shared + (all - shared) / 2;
    let mut keys = SplitMix::new(seed);
    let equal = |key: u64| {
        let least = |set: Range<u64>| set.map(|element| fmix64(fmix64(element) ^ key)).min();
        let both = least(0..shared);
        let with = |only: Range<u64>| both.into_iter().chain(least(only)).min();
        let (a, b) = (with(shared..half), with(half..all));
        a.is_some() && a == b
    };
    (0..functions).filter(|_| equal(keys.next())).count() as u32
}

/// The numbers of equal minima of k affine permutations of the rows of two sets.
fn by_maps(settings: &LawSettings, context: &StudyContext<'_>) -> Result<Vec<u32>> {
    let matrix = matrix(settings.rows, settings.shared());
    let seed = fmix64(!context.seed);
    let one = |run: u64| {
        let seed = seed ^ run;
        let maps = AffineMaps::units(settings.functions as usize, matrix.union_rows(), seed)?;
        Ok(matrix.ru(&maps, DEFAULT_CONFIDENCE)?.equal)
    };
    context.repeat((4, 20), settings.runs, settings.steps(), one)
}

/// The matrix of two sets of `rows` elements, of which `shared` are common and the others divided
/// evenly.
pub(super) fn matrix(rows: u32, shared: u32) -> RowMatrix {
    let (all, both) = (u64::from(rows), u64::from(shared));
    let half = both + (all - both) / 2;
    let a: Vec<u64> = (0..half).collect();
    let b: Vec<u64> = (0..both).chain(half..all).collect();
    RowMatrix::of_sets(&a, &b)
}

fn counts(estimates: &[u32], k: u32) -> Vec<f64> {
    let mut counts = vec![0.0; k as usize + 1];
    estimates.iter().for_each(|equal| counts[*equal as usize] += 1.0);
    counts
}

/// The finding that estimates follow the law, by Pearson's chi-square test.
fn agrees(name: &str, estimates: &[u32], law: EstimateLaw, k: u32) -> Finding {
    let shares: Vec<f64> = estimates.iter().map(|equal| f64::from(*equal) / f64::from(k)).collect();
    let (mean, variance) = moments(&shares);
    let (statistic, freedom) = chi_square(&counts(estimates, k), law, estimates.len());
    let bound = chi_square_bound(freedom);
    Finding::new(
        format!("estimates by {name} follow Binomial(k, J)/k: chi-square below {bound:.1}"),
        statistic <= bound,
        format!(
            "chi-square {statistic:.1} with {freedom} degrees of freedom; mean {mean:.5}, by the \
             law {:.5}; variance {variance:.6}, by the law {:.6}",
            law.mean(),
            law.variance()
        ),
    )
}

/// Pearson's statistic with its degrees of freedom. Neighbouring classes are merged until 10 are
/// expected.
pub(super) fn chi_square(counts: &[f64], law: EstimateLaw, runs: usize) -> (f64, u32) {
    let mut classes: Vec<(f64, f64)> = Vec::new();
    let (mut seen, mut expected) = (0.0, 0.0);
    for (count, probability) in counts.iter().zip(law.probabilities()) {
        (seen, expected) = (seen + count, expected + probability * runs as f64);
        if expected >= 10.0 {
            classes.push((seen, expected));
            (seen, expected) = (0.0, 0.0);
        }
    }
    match classes.last_mut() {
        Some(last) => *last = (last.0 + seen, last.1 + expected),
        None => classes.push((seen, expected)),
    }
    let statistic = classes.iter().map(|(seen, expected)| (seen - expected).powi(2) / expected);
    (statistic.sum(), classes.len() as u32 - 1)
}

/// The bound that chi-square does not exceed by chance (Wilson, Hilferty 1931, "The distribution of
/// chi-square").
fn chi_square_bound(freedom: u32) -> f64 {
    if freedom == 0 {
        // There is a single class, so the statistic is 0 up to rounding.
        return 1e-9;
    }
    let width = 2.0 / (9.0 * f64::from(freedom));
    f64::from(freedom) * (1.0 - width + BEYOND_CHANCE * width.sqrt()).powi(3)
}
