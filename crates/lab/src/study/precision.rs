//! The error of the estimate over the number of hash functions, by family.
//!
//! Bergillos, Rambla, Cabeza 2018, section 8.4; Vilaseca, Lacasa, Martín 2018, section 7.1.2.

mod findings;

use super::shingle_matrix::{RowKeys, ShingledText};
use super::{Axis, Cell, Figure, Panel, Point, Report, Series, SeriesKind, StudyContext, Table};
use crate::methods::{Family, MinHash};
use std::collections::HashSet;
use std::f64::consts::PI;
use std::ops::Range;
use twindex::internals::SplitMix;
use twindex::{Error, Result};

/// The numbers of functions, nearly evenly spaced on a logarithmic axis.
const GRID: [usize; 27] = [
    1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 25, 32, 40, 50, 64, 80, 100, 128, 160, 200, 225, 256, 300,
    350, 375, 400,
];

/// The similarity of the pair as a fraction, exactly .6.
const SIMILARITY: (usize, usize) = (3, 5);

const SHINGLE: u16 = 9;

#[derive(Clone, Debug)]
pub(crate) struct PrecisionSettings {
    /// The number of times every family is drawn anew.
    pub(crate) runs: u64,
    /// The greatest number of functions.
    pub(crate) hashes: usize,
    /// The approximate number of shingles of a passage. Two passages make the pair.
    pub(crate) passage: usize,
    /// The characters of the text, whose shingles are the rows of the matrix.
    pub(crate) characters: usize,
}

impl Default for PrecisionSettings {
    fn default() -> Self {
        Self { runs: 50, hashes: 400, passage: 800, characters: 20_000 }
    }
}

/// The functions that are drawn anew in each run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DrawnFunctions {
    Of(Family),
    /// (k p + m) mod z, as printed.
    Printed,
}

/// The estimates of one family for one kind of keys.
struct FamilyEstimates {
    keys: RowKeys,
    functions: DrawnFunctions,
    /// For each number of functions, the estimates of all runs.
    estimates: Vec<Vec<f64>>,
}

/// A summary of the estimates of all runs with one number of functions.
struct ErrorSummary {
    mean: f64,
    /// The standard deviation of the estimates.
    deviation: f64,
    mean_error: f64,
    /// The standard error of the mean absolute error.
    mean_error_deviation: f64,
    root_mean_square: f64,
}

impl DrawnFunctions {
    const ALL: [DrawnFunctions; 8] = [
        DrawnFunctions::Of(Family::Modular),
        DrawnFunctions::Of(Family::Jenkins),
        DrawnFunctions::Of(Family::Multiplicative),
        DrawnFunctions::Of(Family::Murmur3),
        DrawnFunctions::Of(Family::Tabulation),
        DrawnFunctions::Of(Family::Xxh3),
        DrawnFunctions::Of(Family::Default),
        DrawnFunctions::Printed,
    ];

    fn name(self) -> &'static str {
        match self {
            DrawnFunctions::Of(family) => family.name(),
            DrawnFunctions::Printed => "modular as printed",
        }
    }

    /// Draws `hashes` functions for keys that are row numbers or hashes.
    fn drawn(self, keys: RowKeys, rows: u64, hashes: usize, seed: u64) -> Result<MinHash> {
        match self {
            // Rows count from 1, and the last must be below p.
            DrawnFunctions::Of(Family::Modular) if keys != RowKeys::Hashed => {
                MinHash::of_rows(rows + 1, hashes, seed)
            }
            DrawnFunctions::Of(family) => MinHash::new(family, hashes, seed),
            DrawnFunctions::Printed => MinHash::as_printed(rows, hashes, seed),
        }
    }

    /// The estimates from a prefix of the signature, for each number of functions in the grid. The
    /// default sketch is computed separately for each number of lanes.
    fn estimates(
        self,
        keys: RowKeys,
        rows: u64,
        [a, b]: &[Vec<u64>; 2],
        grid: &[usize],
        seed: u64,
    ) -> Result<Vec<f64>> {
        let signatures = |hashes: usize| -> Result<[Vec<u64>; 2]> {
            let functions = self.drawn(keys, rows, hashes, seed)?;
            Ok([a, b].map(|keys| functions.signature(keys).unwrap_or_default()))
        };
        if self == DrawnFunctions::Of(Family::Default) {
            let one =
                |hashes: &usize| signatures(*hashes).map(|[a, b]| MinHash::similarity(&a, &b));
            return grid.iter().map(one).collect();
        }
        let [a, b] = signatures(grid.last().copied().unwrap_or(1))?;
        Ok(grid.iter().map(|hashes| MinHash::similarity(&a[..*hashes], &b[..*hashes])).collect())
    }
}

impl FamilyEstimates {
    fn summary(&self, at: usize) -> ErrorSummary {
        let estimates = &self.estimates[at];
        let runs = estimates.len() as f64;
        let mean_of = |f: &dyn Fn(f64) -> f64| estimates.iter().map(|e| f(*e)).sum::<f64>() / runs;
        let mean = mean_of(&|estimate| estimate);
        let mean_error = mean_of(&|estimate| (estimate - truth()).abs());
        let square = mean_of(&|estimate| (estimate - truth()).powi(2));
        ErrorSummary {
            mean,
            deviation: mean_of(&|estimate| (estimate - mean).powi(2)).sqrt(),
            mean_error,
            mean_error_deviation: ((square - mean_error * mean_error).max(0.0) / runs).sqrt(),
            root_mean_square: square.sqrt(),
        }
    }

    /// The slope of log(mean absolute error) over log(functions), from 10 functions on; with fewer
    /// the error is not nearly normal. `None` for fewer than five such numbers, or if an error is
    /// 0.
    fn slope(&self, grid: &[usize]) -> Option<f64> {
        let from = sloped(grid)?;
        let errors = (from..grid.len()).map(|at| self.summary(at).mean_error.ln());
        let slope = weights(&grid[from..]).zip(errors).map(|(weight, error)| weight * error);
        Some(slope.sum::<f64>()).filter(|slope| slope.is_finite())
    }
}

/// The index of the first number of functions for the slope, if there are enough.
fn sloped(grid: &[usize]) -> Option<usize> {
    let from = grid.iter().position(|k| *k >= 10)?;
    (grid.len() - from >= 5).then_some(from)
}

/// The weight of each number of functions in the slope of the least-squares line.
fn weights(grid: &[usize]) -> impl Iterator<Item = f64> {
    let mean = grid.iter().map(|k| (*k as f64).ln()).sum::<f64>() / grid.len() as f64;
    let square: f64 = grid.iter().map(|k| ((*k as f64).ln() - mean).powi(2)).sum();
    grid.iter().map(move |k| ((*k as f64).ln() - mean) / square)
}

/// The theoretical standard error of the slope from `runs` runs.
///
/// The error with k functions is nearly normal. Its correlation with the error of the first j of
/// them is r = √(j/k). The covariance of the absolute values of such errors, over the product of
/// their means, is √(1 - r²) + r asin r - 1.
fn slope_error(grid: &[usize], runs: usize) -> f64 {
    let shared = |j: &usize, k: &usize| {
        let r = (*j.min(k) as f64 / *j.max(k) as f64).sqrt();
        (1.0 - r * r).sqrt() + r * r.asin() - 1.0
    };
    let of = |j: &usize| -> f64 { weights(grid).zip(grid).map(|(w, k)| w * shared(j, k)).sum() };
    let variance: f64 = weights(grid).zip(grid).map(|(w, j)| w * of(j)).sum();
    (variance / runs as f64).sqrt()
}

fn truth() -> f64 {
    SIMILARITY.0 as f64 / SIMILARITY.1 as f64
}

/// The mean absolute error of the normal law with the variance J (1 - J) / k.
fn law(hashes: usize) -> f64 {
    (2.0 * truth() * (1.0 - truth()) / (PI * hashes as f64)).sqrt()
}

/// Two overlapping passages from the beginning of the text, as ranges of shingles, whose similarity
/// is exactly .6. `None` if the text is too short.
fn passages(keys: &[u64], length: usize) -> Option<[Range<usize>; 2]> {
    let a = 0..length;
    let of_a: HashSet<u64> = keys.get(a.clone())?.iter().copied().collect();
    // Two passages of equal length that overlap by three quarters have about that similarity. The
    // search moves the beginning of the second passage until one of its ends gives exactly .6.
    (a.start + length / 4..a.start + 2 * length / 5).find_map(|from| {
        let mut of_b = HashSet::new();
        let mut shared = 0;
        let end = (from..keys.len()).find(|at| {
            if of_b.insert(keys[*at]) && of_a.contains(&keys[*at]) {
                shared += 1;
            }
            let union = of_a.len() + of_b.len() - shared;
            *at >= a.end && shared * SIMILARITY.1 == union * SIMILARITY.0
        })?;
        Some([a.clone(), from..end + 1])
    })
}

/// The distinct keys, ascending.
fn set(keys: &[u64]) -> Vec<u64> {
    let mut set = keys.to_vec();
    set.sort_unstable();
    set.dedup();
    set
}

pub(crate) fn run(settings: &PrecisionSettings, context: &StudyContext<'_>) -> Result<Report> {
    let wrong = |setting, got: String, expected| Error::InvalidSetting { setting, got, expected };
    if settings.runs < 2 {
        return Err(wrong("runs", settings.runs.to_string(), "2 or more"));
    }
    if !(10..=MinHash::MOST_FUNCTIONS).contains(&settings.hashes) {
        return Err(wrong("hashes", settings.hashes.to_string(), "a whole number from 10 to 4096"));
    }
    let text = ShingledText::new(SHINGLE, settings.characters)?;
    let places = passages(&text.keys(RowKeys::Hashed).0, settings.passage);
    let Some(places) = places else {
        let expected = "so few shingles that the text has two passages of similarity .6";
        return Err(wrong("passage", settings.passage.to_string(), expected));
    };
    let mut grid: Vec<usize> = GRID.into_iter().filter(|k| *k < settings.hashes).collect();
    grid.push(settings.hashes);

    let (mut measured, mut done) = (Vec::new(), 0);
    // All combinations except the printed form on hashes.
    let total = (RowKeys::ALL.len() * DrawnFunctions::ALL.len() - 1) as u64 * settings.runs;
    for keys in RowKeys::ALL {
        let (of_text, rows) = text.keys(keys);
        let sets = places.clone().map(|places| set(&of_text[places]));
        for functions in DrawnFunctions::ALL {
            // The printed form is only for row numbers.
            if functions == DrawnFunctions::Printed && keys == RowKeys::Hashed {
                continue;
            }
            let mut seeds = SplitMix::new(context.seed);
            let mut estimates = vec![Vec::new(); grid.len()];
            for _ in 0..settings.runs {
                let run = functions.estimates(keys, rows, &sets, &grid, seeds.next())?;
                estimates.iter_mut().zip(run).for_each(|(all, one)| all.push(one));
                done += 1;
                context.at(done, total)?;
            }
            measured.push(FamilyEstimates { keys, functions, estimates });
        }
    }
    context.at(total, total)?;
    Ok(Report {
        title: TITLE.to_owned(),
        table: short(&measured, &grid),
        further: Vec::new(),
        data: long(&measured, &grid),
        figure: figure(&measured, &grid),
        findings: findings::all(&measured, &grid),
    })
}

const TITLE: &str = "Error of the estimate over the number of hash functions, J = .6";

/// Four standard errors of the mean over all runs and functions. The mean of an unbiased estimate
/// is practically always within this distance of the similarity.
fn four_errors(runs: usize, hashes: usize) -> f64 {
    4.0 * (truth() * (1.0 - truth()) / (runs * hashes) as f64).sqrt()
}

/// The table with each family at the greatest number of functions.
fn short(measured: &[FamilyEstimates], grid: &[usize]) -> Table {
    let mut table = Table::new(&[
        "keys",
        "family",
        "hashes",
        "mean",
        "bias",
        "bias_by_chance",
        "mean_absolute_error",
        "root_mean_square_error",
        "slope",
    ]);
    let last = grid.len() - 1;
    for one in measured {
        let summary = one.summary(last);
        table.push(vec![
            one.keys.name().into(),
            one.functions.name().into(),
            grid[last].into(),
            Cell::Share(summary.mean),
            Cell::Share(summary.mean - truth()),
            Cell::Share(four_errors(one.estimates[last].len(), grid[last])),
            Cell::Share(summary.mean_error),
            Cell::Share(summary.root_mean_square),
            one.slope(grid).map_or(Cell::Empty, Cell::Share),
        ]);
    }
    table
}

fn long(measured: &[FamilyEstimates], grid: &[usize]) -> Table {
    let mut table = Table::new(&[
        "keys",
        "family",
        "hashes",
        "mean",
        "standard_deviation",
        "mean_absolute_error",
        "standard_error_of_it",
        "root_mean_square_error",
        "law",
    ]);
    for one in measured {
        for (at, hashes) in grid.iter().enumerate() {
            let summary = one.summary(at);
            table.push(vec![
                one.keys.name().into(),
                one.functions.name().into(),
                (*hashes).into(),
                summary.mean.into(),
                summary.deviation.into(),
                summary.mean_error.into(),
                summary.mean_error_deviation.into(),
                summary.root_mean_square.into(),
                law(*hashes).into(),
            ]);
        }
    }
    table
}

fn figure(measured: &[FamilyEstimates], grid: &[usize]) -> Figure {
    let panel = |keys: RowKeys,
                 title: &str,
                 y: Axis,
                 reference: Series,
                 point: &dyn Fn(&FamilyEstimates, usize) -> Point| {
        // The printed form is only in the tables: more than eight lines would be hard to
        // distinguish.
        let drawn =
            |one: &&FamilyEstimates| one.keys == keys && one.functions != DrawnFunctions::Printed;
        let of_keys = measured.iter().filter(drawn);
        let families = of_keys.map(|one| {
            let points = (0..grid.len()).map(|at| point(one, at));
            Series::new(one.functions.name(), SeriesKind::Line, points)
        });
        let series = std::iter::once(reference).chain(families).collect();
        let x = Axis::log("hash functions").whole();
        Panel { title: format!("{title}: {}", keys.name()), x, y, series }
    };
    let x = |at: usize| grid[at] as f64;
    let spread = |one: &FamilyEstimates| {
        matches!(one.functions, DrawnFunctions::Of(Family::Modular | Family::Jenkins))
    };
    let error = |one: &FamilyEstimates, at: usize| {
        let ErrorSummary { mean_error: y, mean_error_deviation: d, .. } = one.summary(at);
        if spread(one) { Point::spread(x(at), y, y - d, y + d) } else { Point::new(x(at), y) }
    };
    let estimate = |one: &FamilyEstimates, at: usize| {
        let ErrorSummary { mean: y, deviation: d, .. } = one.summary(at);
        if spread(one) { Point::spread(x(at), y, y - d, y + d) } else { Point::new(x(at), y) }
    };
    let errors = |keys| {
        let law = (0..grid.len()).map(|at| Point::new(x(at), law(grid[at])));
        let law = Series::new("in theory", SeriesKind::Dashed, law);
        let y = Axis::log("mean absolute error; bands: its standard error").within(0.01, 0.6);
        panel(keys, "Error", y, law, &error)
    };
    let means = |keys| {
        let truth = (0..grid.len()).map(|at| Point::new(x(at), truth()));
        let truth = Series::new("in theory", SeriesKind::Dashed, truth);
        let y = Axis::linear("mean estimate; bands: standard deviation").within(0.4, 0.8);
        panel(keys, "Estimate", y, truth, &estimate)
    };
    let (rows, hashed) = (RowKeys::TextOrder, RowKeys::Hashed);
    Figure {
        title: TITLE.to_owned(),
        panels: vec![errors(rows), errors(hashed), means(rows), means(hashed)],
    }
}

#[cfg(test)]
#[path = "precision_tests.rs"]
mod tests;
