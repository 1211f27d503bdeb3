//! How often each interval holds J, by exact summation over the law.

use super::{Part, Settings};
use crate::estimate::{EstimateLaw, clopper_pearson, wald};
use crate::study::{Axis, Cell, Finding, Kind, Panel, Point, Series, Table};
use twindex::Result;
use twindex::{DEFAULT_CONFIDENCE, normal_quantile, wilson};

/// What every interval here says of itself.
const PROMISE: f64 = 0.95;

/// A family of intervals: that of each number of equal minima, and how often it holds J.
struct Interval {
    name: &'static str,
    ends: Vec<(f64, f64)>,
}

impl Interval {
    fn coverage(&self, law: EstimateLaw) -> f64 {
        law.coverage(|equal| self.ends[equal as usize])
    }

    /// Coverage over some similarities.
    fn over(&self, k: u32, similarities: &[f64]) -> Result<Vec<(f64, f64)>> {
        let one = |j: &f64| Ok((*j, self.coverage(EstimateLaw::new(k, *j)?)));
        similarities.iter().map(one).collect()
    }
}

/// The interval as it is printed in section 3 IV C: the root of k is missing below the fraction.
fn printed(equal: u32, k: u32) -> (f64, f64) {
    let share = f64::from(equal) / f64::from(k);
    let half = 1.96 * (share * (1.0 - share)).sqrt() / f64::from(k);
    (share - half, share + half)
}

/// Each twentieth, with 0.01 and 0.99: where figures of the table are from.
fn coarse() -> Vec<f64> {
    let twentieths = (1..20).map(|part| f64::from(part) / 20.0);
    [0.01].into_iter().chain(twentieths).chain([0.99]).collect()
}

/// Each thousandth: fine enough to meet the gaps between the ends of intervals.
fn fine() -> Vec<f64> {
    (1..1_000).map(|part| f64::from(part) / 1_000.0).collect()
}

pub(super) fn run(settings: &Settings) -> Result<(Part, Table)> {
    let (k, z) = (settings.functions, normal_quantile(DEFAULT_CONFIDENCE)?);
    let exact = (0..=k).map(|equal| clopper_pearson(equal, k, DEFAULT_CONFIDENCE));
    let exact = exact.collect::<Result<Vec<_>>>()?;
    let of = |name, ends: &dyn Fn(u32) -> (f64, f64)| Interval {
        name,
        ends: (0..=k).map(ends).collect(),
    };
    let intervals = [
        of("as printed", &|equal| printed(equal, k)),
        of("Wald", &|equal| wald(equal, k, z)),
        of("Wilson", &|equal| wilson(equal, k, z)),
        of("Clopper-Pearson", &|equal| exact[equal as usize]),
    ];
    let mut table = Table::new(&[
        "interval",
        "at_0.5",
        "at_0.8",
        "at_0.95",
        "at_0.99",
        "least",
        "greatest",
        "least_fine",
        "greatest_fine",
    ]);
    let (mut series, mut ranges) = (Vec::new(), Vec::new());
    for interval in &intervals {
        let (rough, all) = (interval.over(k, &coarse())?, interval.over(k, &fine())?);
        let (range, fine_range) = (range(&rough), range(&all));
        let mut row: Vec<Cell> = vec![interval.name.into()];
        for j in [0.5, 0.8, 0.95, 0.99] {
            row.push(Cell::Share(interval.coverage(EstimateLaw::new(k, j)?)));
        }
        row.extend([range.0, range.1, fine_range.0, fine_range.1].map(Cell::Share));
        table.push(row);
        series.push(Series::new(interval.name, Kind::Line, windows(&all)));
        ranges.push((range, fine_range));
    }
    let panel = |title: String, y: Axis, from: usize| Panel {
        title,
        x: Axis::linear("similarity J").within(0.0, 1.0),
        y,
        series: series
            .iter()
            .skip(from)
            .map(|s: &Series| Series::new(s.name.clone(), s.kind, s.points.iter().copied()))
            .chain([Series::new(
                "0.95",
                Kind::Dashed,
                [Point::new(0.0, PROMISE), Point::new(1.0, PROMISE)],
            )])
            .collect(),
    };
    let share = || Axis::linear("share of intervals that hold J");
    let panels = vec![
        panel(format!("How often 95 % intervals hold J, k = {k}"), share().within(0.0, 1.0), 0),
        panel(
            "The same from 0.85 on: mean and range of 20 thousandths".to_owned(),
            share().within(0.85, 1.0),
            1,
        ),
    ];
    Ok((Part { panels, findings: findings(k, &ranges) }, table))
}

/// The mean of each 20 neighbours, with the least and the greatest of them: coverage jumps wherever the end of an
/// interval passes J, which no line could show.
fn windows(covered: &[(f64, f64)]) -> Vec<Point> {
    let mean = |window: &[(f64, f64)]| {
        let count = window.len() as f64;
        let sum = window.iter().fold((0.0, 0.0), |sum, (j, share)| (sum.0 + j, sum.1 + share));
        let (least, greatest) = range(window);
        Point::spread(sum.0 / count, sum.1 / count, least, greatest)
    };
    covered.chunks(20).map(mean).collect()
}

/// The least and the greatest coverage.
fn range(covered: &[(f64, f64)]) -> (f64, f64) {
    let shares = covered.iter().map(|(_, share)| *share);
    (shares.clone().fold(1.0, f64::min), shares.fold(0.0, f64::max))
}

type Ranges = ((f64, f64), (f64, f64));

fn findings(k: u32, ranges: &[Ranges]) -> Vec<Finding> {
    let &[printed, wald, wilson, exact] = ranges else { return Vec::new() };
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let seen = |((low, high), (fine_low, fine_high)): Ranges| {
        format!(
            "{} to {} over J = 0.01, 0.05, 0.1, ... 0.95, 0.99; {} to {} over all thousandths",
            percent(low),
            percent(high),
            percent(fine_low),
            percent(fine_high)
        )
    };
    let mut findings = vec![Finding::new(
        "Clopper and Pearson's interval never holds less often than 95 %",
        exact.1.0 >= PROMISE && exact.0.0 >= PROMISE,
        seen(exact),
    )];
    // The figures are those of 128; others of k have others.
    if k == 128 {
        findings.splice(
            0..0,
            [
                Finding::new(
                    "the printed interval, with k outside the root, holds 0 to 17.5 % of the time over J = 0.01, 0.05, 0.1, \
                     ... 0.95, 0.99",
                    printed.0.0 < 0.001 && (0.17..0.18).contains(&printed.0.1),
                    seen(printed),
                ),
                Finding::new(
                    "Wald's interval falls to 72 % at 0.01 and 0.99",
                    (0.715..0.725).contains(&wald.0.0),
                    seen(wald),
                ),
                Finding::new(
                    "Wilson's interval holds 94.7 to 96.2 % of the time over the same J",
                    (0.9465..0.9475).contains(&wilson.0.0)
                        && (0.9615..0.9625).contains(&wilson.0.1),
                    seen(wilson),
                ),
            ],
        );
    }
    findings
}
