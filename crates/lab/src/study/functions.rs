//! How many hash functions an error needs.
//!
//! The encyclopedia's article on MinHash: k = O(1/ε²) functions for an expected error of ε, 400 for
//! .05. The exact law of the estimate is that of Dembele, Lo 2017.

use super::Table;
use super::{Axis, Cell, Figure, Finding, Panel, Point, Report, Series, SeriesKind, StudyContext};
use crate::estimate::EstimateLaw;
use crate::methods::{Family, MinHash};
use twindex::internals::fmix64;
use twindex::{Agreement, Error, Result};

const TITLE: &str = "How many hash functions an error needs";

/// The settings of the study.
#[derive(Clone, Debug)]
pub(crate) struct FunctionsSettings {
    /// An error to tell the functions of, besides those of the table.
    pub(crate) error: f64,
    /// The number of times every signature is drawn anew.
    pub(crate) runs: u32,
}

impl Default for FunctionsSettings {
    fn default() -> Self {
        Self { error: 0.05, runs: 400 }
    }
}

/// The errors of the table.
const ERRORS: [f64; 5] = [0.1, 0.05, 0.025, 0.02, 0.01];

/// The numbers of functions of the figure.
const GRID: [u32; 12] = [10, 16, 25, 40, 64, 100, 128, 160, 200, 256, 320, 400];

/// The elements of both simulated sets together. Half of them are common.
const UNION: u64 = 1000;

/// The similarity at which the standard error is greatest.
const WORST: f64 = 0.5;

/// The probability with which an error is not exceeded.
const SURE: f64 = 0.95;

/// What was simulated with one number of functions.
struct Simulated {
    functions: u32,
    mean_error: f64,
    root_mean_square: f64,
}

pub(crate) fn run(settings: &FunctionsSettings, context: &StudyContext<'_>) -> Result<Report> {
    let error = settings.error;
    if !(0.002..0.5).contains(&error) {
        return Err(Error::InvalidSetting {
            setting: "error",
            got: error.to_string(),
            expected: "a number from .002 to below .5",
        });
    }
    let simulated = simulate(settings, context)?;
    let mut errors: Vec<f64> = ERRORS.into_iter().chain([error]).collect();
    errors.sort_by(|a, b| b.total_cmp(a));
    errors.dedup();
    let columns =
        ["error", "standard_error", "mean_error", "within_95", "reciprocal_square", "lanes"];
    let mut table = Table::new(&columns);
    for error in errors {
        table.push(vec![
            Cell::Number(error),
            u64::from(by_standard_error(error)).into(),
            u64::from(least(error, |functions| Ok(mean_error(functions, WORST)? <= error))?).into(),
            u64::from(least(error, |functions| is_sure(functions, error))?).into(),
            ((1.0 / (error * error)).round() as u64).into(),
            lanes(error).into(),
        ]);
    }
    let figure = figure(&simulated)?;
    let findings = findings(settings, &simulated)?;
    let data = Table::of_points(&figure);
    Ok(Report { title: TITLE.to_owned(), table, further: Vec::new(), data, figure, findings })
}

/// The standard error of an estimate by the binomial law.
fn standard_error(functions: u32, similarity: f64) -> Result<f64> {
    Ok(EstimateLaw::new(functions, similarity)?.variance().sqrt())
}

/// The expected distance of the estimate from the similarity, by exact summation.
fn mean_error(functions: u32, similarity: f64) -> Result<f64> {
    let law = EstimateLaw::new(functions, similarity)?;
    let share = |equal: usize| equal as f64 / f64::from(functions);
    let terms = law.probabilities().into_iter().enumerate();
    Ok(terms.map(|(equal, chance)| chance * (share(equal) - similarity).abs()).sum())
}

/// Whether the estimate is within the error 19 times in 20, whatever the similarity. An estimate at
/// the distance itself is within it.
///
/// Between two estimates, fewest are within it just above the similarity whose distance from the
/// lower one is the error: there that one is lost, and the next one above is not yet gained. So
/// these similarities are looked at, one near every twentieth. The similarities just below a gain
/// are their mirror images around 1/2.
fn is_sure(functions: u32, error: f64) -> Result<bool> {
    /// More than what [`EstimateLaw::within`] takes for rounding.
    const ABOVE: f64 = 1e-9;
    let k = f64::from(functions);
    for twentieth in 1..20 {
        let near = f64::from(twentieth) / 20.0;
        let lost = (k * (near - error)).floor() / k + error + ABOVE;
        for similarity in [near, lost.clamp(0.0, 1.0)] {
            if EstimateLaw::new(functions, similarity)?.within(error) < SURE {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// The fewest functions whose standard error is at most this at every similarity: 1 / (4 E²).
fn by_standard_error(error: f64) -> u32 {
    (0.25 / (error * error) - 1e-9).ceil() as u32
}

/// The lanes of an index that this standard error needs. A lane has one byte, and two unequal lanes
/// agree by chance once in 256 times.
fn lanes(error: f64) -> u64 {
    let variance = |step: u32| Agreement::variance(f64::from(step) / 1000.0, 1);
    let worst = (0..=1000).map(variance).fold(0.0, f64::max);
    (worst / (error * error)).ceil() as u64
}

/// The fewest functions that are enough for an error, and after which all are. The laws of whole
/// numbers rise and fall a little: by one estimate within the error, whenever twice the error times
/// the functions passes a whole number. So some numbers among the 1/error after the first that is
/// enough may not be.
fn least(error: f64, enough: impl Fn(u32) -> Result<bool>) -> Result<u32> {
    let around = (2.0 / error).ceil() as u32;
    let (mut low, mut high) = (1, 1);
    while !enough(high)? {
        (low, high) = (high, 2 * high);
    }
    while low + 1 < high {
        let middle = u32::midpoint(low, high);
        if enough(middle)? { high = middle } else { low = middle }
    }
    // The search ends at one of several changes, all of them close together.
    let last_lacking = (high..high + around).rev().find_map(|functions| match enough(functions) {
        Ok(true) => None,
        Ok(false) => Some(Ok(functions)),
        Err(error) => Some(Err(error)),
    });
    last_lacking.map_or(Ok(high), |lacking| Ok(lacking? + 1))
}

/// Draws signatures of two sets of similarity .5, and compares beginnings of them.
fn simulate(settings: &FunctionsSettings, context: &StudyContext<'_>) -> Result<Vec<Simulated>> {
    let all: Vec<u64> = (0..UNION).map(fmix64).collect();
    // Three quarters of all are in each, so half of all are in both.
    let quarter = (UNION / 4) as usize;
    let (a, b) = (&all[..3 * quarter], &all[quarter..]);
    let most = GRID[GRID.len() - 1] as usize;
    let mut estimates = vec![Vec::new(); GRID.len()];
    for run in 0..settings.runs {
        context.at(run.into(), settings.runs.into())?;
        let seed = context.seed_of(run);
        let functions = MinHash::new(Family::Xxh3, most, seed)?;
        let [a, b] = [a, b].map(|keys| functions.signature(keys).unwrap_or_default());
        for (estimates, functions) in estimates.iter_mut().zip(GRID) {
            let first = functions as usize;
            estimates.push(MinHash::similarity(&a[..first], &b[..first]));
        }
    }
    context.at(settings.runs.into(), settings.runs.into())?;
    let summary = |(functions, estimates): (u32, Vec<f64>)| {
        let runs = estimates.len() as f64;
        let mean = |of: fn(f64) -> f64| estimates.iter().map(|e| of(e - WORST)).sum::<f64>() / runs;
        Simulated {
            functions,
            mean_error: mean(f64::abs),
            root_mean_square: mean(|distance| distance * distance).sqrt(),
        }
    };
    Ok(GRID.into_iter().zip(estimates).map(summary).collect())
}

fn findings(settings: &FunctionsSettings, simulated: &[Simulated]) -> Result<Vec<Finding>> {
    let greatest = |functions: u32| -> Result<f64> {
        let errors = (0..=1000).map(|step| standard_error(functions, f64::from(step) / 1000.0));
        errors.into_iter().try_fold(0.0, |most: f64, error| Ok(most.max(error?)))
    };
    let mut findings = Vec::new();
    for (functions, expected) in [(100, 0.05), (400, 0.025)] {
        let seen = greatest(functions)?;
        findings.push(Finding::new(
            format!("{functions} functions have a standard error of {expected} at most"),
            (seen - expected).abs() < 1e-9,
            format!("{seen:.4} at similarity .5, less at every other"),
        ));
    }
    let (at_64, at_400) = (mean_error(64, WORST)?, mean_error(400, WORST)?);
    findings.push(Finding::new(
        "the encyclopedia's 400 functions for an expected error of .05 are six times too many",
        at_64 <= 0.05 && at_400 < 0.05 / 2.0,
        format!("expected error at similarity .5: {at_64:.4} with 64, {at_400:.4} with 400"),
    ));
    let sure = least(0.05, |functions| is_sure(functions, 0.05))?;
    findings.push(Finding::new(
        "400 functions are what an error of .05 needs that is exceeded at most once in 20 times",
        sure == 400,
        format!("{sure} functions are the fewest, whatever the similarity"),
    ));
    let runs = f64::from(settings.runs);
    let mut worst: f64 = 0.0;
    for one in simulated {
        let expected = standard_error(one.functions, WORST)?;
        // The standard error of a standard deviation of nearly normal values.
        worst =
            worst.max((one.root_mean_square - expected).abs() / (expected / (2.0 * runs).sqrt()));
    }
    findings.push(Finding::new(
        "simulated errors follow the law",
        worst < 4.5,
        format!("they differ by at most {worst:.1} of their standard errors"),
    ));
    Ok(findings)
}

fn figure(simulated: &[Simulated]) -> Result<Figure> {
    let curve = |error: &dyn Fn(u32) -> Result<f64>| -> Result<Vec<Point>> {
        let steps = (0..=60).map(|step| 10.0 * 40.0_f64.powf(f64::from(step) / 60.0));
        let mut functions: Vec<u32> = steps.map(|k| k.round() as u32).collect();
        functions.dedup();
        functions.into_iter().map(|k| Ok(Point::new(f64::from(k), error(k)?))).collect()
    };
    let dots = |value: fn(&Simulated) -> f64| {
        simulated.iter().map(move |one| Point::new(f64::from(one.functions), value(one)))
    };
    let line = |name: &str, kind, points| Series::new(name, kind, points);
    let series = vec![
        line("standard error, by the law", SeriesKind::Line, curve(&|k| standard_error(k, WORST))?),
        line("expected error, by the law", SeriesKind::Line, curve(&|k| mean_error(k, WORST))?),
        line(
            "1 over the root, as printed",
            SeriesKind::Dashed,
            curve(&|k| Ok(1.0 / f64::from(k).sqrt()))?,
        ),
        Series::new(
            "root mean square error, simulated",
            SeriesKind::Dots,
            dots(|one| one.root_mean_square),
        ),
        Series::new("mean error, simulated", SeriesKind::Dots, dots(|one| one.mean_error)),
    ];
    let panel = Panel {
        title: "Error of the estimate at similarity .5".to_owned(),
        x: Axis::log("hash functions").whole(),
        y: Axis::log("error"),
        series,
    };
    Ok(Figure { title: TITLE.to_owned(), panels: vec![panel] })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds up the binomial law with factorials of small numbers.
    #[test]
    fn the_expected_error_is_that_of_enumeration() {
        for (functions, similarity) in [(1_u32, 0.5_f64), (4, 0.25), (9, 0.8)] {
            let choose = |n: u32, k: u32| -> f64 {
                (0..k).map(|at| f64::from(n - at) / f64::from(at + 1)).product()
            };
            let chance = |equal: u32| {
                choose(functions, equal)
                    * similarity.powi(equal as i32)
                    * (1.0 - similarity).powi((functions - equal) as i32)
            };
            let distance =
                |equal: u32| (f64::from(equal) / f64::from(functions) - similarity).abs();
            let expected: f64 = (0..=functions).map(|equal| chance(equal) * distance(equal)).sum();
            let found = mean_error(functions, similarity).expect("valid");
            assert!((found - expected).abs() < 1e-12, "{functions} {similarity}: {found}");
        }
    }

    #[test]
    fn the_fewest_functions_are_enough_and_one_less_is_not() {
        assert_eq!(by_standard_error(0.05), 100);
        assert_eq!(by_standard_error(0.025), 400);
        assert_eq!([lanes(0.05), lanes(0.025)], [101, 404]);
        let of_mean = least(0.05, |k| Ok(mean_error(k, WORST)? <= 0.05)).expect("valid");
        assert!(mean_error(of_mean, WORST).expect("valid") <= 0.05);
        assert!(mean_error(of_mean - 1, WORST).expect("valid") > 0.05);
        // The normal law gives 2 / (pi 4 E^2) and 1.96^2 / (4 E^2).
        assert!((60..=66).contains(&of_mean), "{of_mean}");
    }

    #[test]
    fn every_seed_draws_other_functions() {
        let settings = FunctionsSettings { runs: 64, ..FunctionsSettings::default() };
        let errors = |seed| {
            let simulated = simulate(&settings, &StudyContext::unwatched(seed)).expect("valid");
            simulated.iter().map(|one| (one.mean_error * 1e9).round()).collect::<Vec<f64>>()
        };
        assert_eq!(errors(0), errors(0));
        assert_ne!(errors(0), errors(1));
    }

    /// Compares with a fine grid of similarities. At the twentieths alone 99 functions would do for
    /// an error of .1, and 399 for .05, but not between them.
    #[test]
    fn an_error_is_exceeded_once_in_20_times_at_most_whatever_the_similarity() {
        for (error, fewest) in [(0.1, 100), (0.05, 400)] {
            assert_eq!(least(error, |k| is_sure(k, error)).expect("valid"), fewest, "{error}");
            let worst = |functions| {
                let within = (1..10_000).map(|step| {
                    let law = EstimateLaw::new(functions, f64::from(step) / 10_000.0);
                    law.expect("valid").within(error)
                });
                within.fold(1.0, f64::min)
            };
            for functions in [fewest - 1, fewest, fewest + 1, fewest + 7] {
                let enough = functions >= fewest;
                assert_eq!(is_sure(functions, error).expect("valid"), enough, "{functions}");
                assert_eq!(worst(functions) >= SURE, enough, "{functions}: {}", worst(functions));
            }
        }
    }

    #[test]
    fn findings_hold_and_a_wrong_simulation_is_noticed() {
        let settings = FunctionsSettings { runs: 100, ..FunctionsSettings::default() };
        let report = run(&settings, &StudyContext::unwatched(3)).expect("well-formed");
        assert!(report.findings.iter().all(|finding| finding.holds));
        let twice = |k: u32| Simulated { functions: k, mean_error: 0.1, root_mean_square: 0.2 };
        let findings = findings(&settings, &[twice(100)]).expect("valid");
        assert!(!findings.last().expect("one").holds);
        let wrong = FunctionsSettings { error: 0.6, ..settings };
        assert!(run(&wrong, &StudyContext::unwatched(0)).is_err());
    }
}
