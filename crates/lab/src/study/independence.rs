//! The bias of the minimum under random polynomials, over the degree of independence K.
//!
//! Indyk 2001, "A small approximately min-wise independent family of hash functions"; Broder,
//! Charikar, Frieze, Mitzenmacher 2000, "Min-wise independent permutations".

mod all_polynomials;
mod drawn_polynomials;
mod findings;

use super::{Axis, Cell, Figure, Panel, Point, Report, Series, SeriesKind, StudyContext, Table};
use all_polynomials::WorstSet;
use drawn_polynomials::{DrawnBias, KeyKind};
use twindex::{Error, Result};

/// The degrees of independence of the simulation.
const DEGREES: std::ops::RangeInclusive<u64> = 2..=6;

/// Each prime whose sets are all looked at, with the greatest K of which all polynomials are. With
/// more, the larger one takes too long.
const PRIMES: [(usize, usize); 2] = [(7, 7), (11, 5)];

#[derive(Clone, Debug)]
pub(crate) struct IndependenceSettings {
    /// The number of neighbouring keys of the simulated union, from 10 to 10,000.
    pub(crate) keys: usize,
    /// The number of functions that are drawn of each degree, at least 100.
    pub(crate) functions: u32,
}

impl Default for IndependenceSettings {
    fn default() -> Self {
        Self { keys: 100, functions: 60_000 }
    }
}

/// The accuracy of the sums over all polynomials.
const EXACT: f64 = 1e-9;

/// All that was counted and drawn.
struct Results {
    keys: usize,
    /// For each prime and K, the set of keys with the greatest bias, by enumeration.
    worst: Vec<WorstSet>,
    drawn: Vec<DrawnBias>,
}

impl Results {
    fn drawn(&self, keys: KeyKind) -> impl Iterator<Item = &DrawnBias> {
        self.drawn.iter().filter(move |one| one.keys == keys)
    }
}

pub(crate) fn run(settings: &IndependenceSettings, context: &StudyContext<'_>) -> Result<Report> {
    check(settings)?;
    let total = (PRIMES.len() + 2 * DEGREES.count()) as u64;
    let mut results = Results { keys: settings.keys, worst: Vec::new(), drawn: Vec::new() };
    for (at, (prime, greatest)) in (0..).zip(PRIMES) {
        context.at(at, total)?;
        results.worst.extend((2..=greatest).map(|k| all_polynomials::worst_set(prime, k)));
    }
    let kinds = [KeyKind::Neighbours, KeyKind::Random];
    let combinations = kinds.into_iter().flat_map(|keys| DEGREES.map(move |k| (keys, k)));
    for (at, (keys, degree)) in (PRIMES.len() as u64..).zip(combinations) {
        let done = (at, total);
        results.drawn.push(drawn_polynomials::draw(settings, keys, degree, (context, done))?);
    }
    context.at(total, total)?;
    let figure = figure(&results);
    Ok(Report {
        title: TITLE.to_owned(),
        table: table(&results),
        further: Vec::new(),
        data: Table::of_points(&figure),
        figure,
        findings: findings::all(&results),
    })
}

const TITLE: &str = "Bias of the minimum under random polynomials of degree below K";

fn check(settings: &IndependenceSettings) -> Result<()> {
    let wrong =
        |setting, got: String, expected| Err(Error::InvalidSetting { setting, got, expected });
    if !(10..=10_000).contains(&settings.keys) {
        return wrong("keys", settings.keys.to_string(), "a whole number from 10 to 10000");
    }
    if settings.functions < 100 {
        return wrong("functions", settings.functions.to_string(), "100 or more");
    }
    Ok(())
}

fn table(results: &Results) -> Table {
    let mut table = Table::new(&[
        "keys",
        "independence",
        "estimate_bias",
        "four_errors",
        "ends",
        "worst_of_7",
        "worst_of_11",
    ]);
    for one in &results.drawn {
        let worst = |prime: usize| {
            let fits =
                |set: &&WorstSet| set.prime == prime && set.independence as u64 == one.degree;
            let found = results.worst.iter().find(fits).filter(|_| one.keys == KeyKind::Neighbours);
            found.map_or(Cell::Empty, |set| Cell::Share(set.bias))
        };
        table.push(vec![
            one.keys.name().into(),
            one.degree.into(),
            Cell::Share(one.bias),
            Cell::Share(one.four_errors),
            Cell::Share(one.ends()),
            worst(7),
            worst(11),
        ]);
    }
    table
}

fn figure(results: &Results) -> Figure {
    let places = results.drawn(KeyKind::Neighbours).filter(|one| one.degree <= 5).map(|one| {
        let points = one.relative.iter().enumerate();
        let points = points.map(|(at, share)| Point::new(at as f64 + 1.0, *share));
        Series::new(format!("K = {}", one.degree), SeriesKind::Line, points)
    });
    let fair = [1.0, results.keys as f64].map(|x| Point::new(x, 1.0));
    let places = places.chain([Series::new("without bias", SeriesKind::Dashed, fair)]);
    let worst = PRIMES.map(|(prime, _)| {
        // A logarithmic axis has no place for no bias, which is a rounding error here.
        let shown = |set: &&WorstSet| set.prime == prime && set.bias > EXACT;
        let of_prime = results.worst.iter().filter(shown);
        let points = of_prime.map(|set| Point::new(set.independence as f64, set.bias));
        Series::new(format!("worst set, p = {prime}"), SeriesKind::Dots, points)
    });
    let drawn = [KeyKind::Neighbours, KeyKind::Random].map(|keys| {
        let points = results.drawn(keys).map(|one| {
            let (low, high) = (one.bias - one.four_errors, one.bias + one.four_errors);
            Point::spread(one.degree as f64, one.bias, low, high)
        });
        Series::new(keys.name(), SeriesKind::Dots, points)
    });
    let none = [*DEGREES.start() as f64, *DEGREES.end() as f64].map(|x| Point::new(x, 0.0));
    let degrees =
        || Axis::linear("independence K").within(1.5, *DEGREES.end() as f64 + 0.5).whole();
    Figure {
        title: TITLE.to_owned(),
        panels: vec![
            Panel {
                title: format!("Which of {} neighbouring keys is the least", results.keys),
                x: Axis::linear("place of the key in the run").whole(),
                y: Axis::linear("probability times the number of keys"),
                series: places.collect(),
            },
            Panel {
                title: "All sets of a field, all polynomials (exact)".to_owned(),
                x: degrees(),
                y: Axis::log("greatest relative bias of a key").within(1e-4, 1.0),
                series: worst.into_iter().collect(),
            },
            Panel {
                title: "Estimate of J = .6, p = 2^61 - 1 (bars: 4 standard errors)".to_owned(),
                x: degrees(),
                y: Axis::linear("bias of the estimate"),
                series: drawn
                    .into_iter()
                    .chain([Series::new("without bias", SeriesKind::Dashed, none)])
                    .collect(),
            },
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_determines_the_points_and_the_findings_hold() {
        let settings = IndependenceSettings { functions: 20_000, ..Default::default() };
        let of = |seed| run(&settings, &StudyContext::unwatched(seed)).expect("valid settings");
        let report = of(1);
        for finding in &report.findings {
            assert!(finding.holds, "{}: {}", finding.expected, finding.seen);
        }
        assert_eq!(report.data.rows, of(1).data.rows);
        assert_ne!(report.data.rows, of(2).data.rows);
    }

    #[test]
    fn settings_out_of_range_are_refused() {
        let default = IndependenceSettings::default();
        for bad in [
            IndependenceSettings { keys: 9, ..default.clone() },
            IndependenceSettings { keys: 10_001, ..default.clone() },
            IndependenceSettings { functions: 99, ..default },
        ] {
            assert!(run(&bad, &StudyContext::unwatched(0)).is_err(), "{bad:?}");
        }
    }
}
