//! The coverage of each interval, by exact summation over the law.

use super::{LawPart, LawSettings};
use crate::estimate::{EstimateLaw, clopper_pearson, wald};
use crate::study::{Axis, Cell, Finding, Panel, Point, Series, SeriesKind, Table};
use twindex::Result;
use twindex::{DEFAULT_CONFIDENCE, normal_quantile, wilson};

/// The confidence of every interval.
const PROMISE: f64 = 0.95;

/// A family of intervals, one for each number of equal minima.
struct IntervalFamily {
    name: &'static str,
    ends: Vec<(f64, f64)>,
}

impl IntervalFamily {
    fn coverage(&self, law: EstimateLaw) -> f64 {
        law.coverage(|equal| self.ends[equal as usize])
    }

    /// The coverage at some similarities.
    fn over(&self, k: u32, similarities: &[f64]) -> Result<Vec<(f64, f64)>> {
        let one = |j: &f64| Ok((*j, self.coverage(EstimateLaw::new(k, *j)?)));
        similarities.iter().map(one).collect()
    }
}

/// The interval as printed in Dembele, Lo 2017, section 3 IV C, which divides by k instead of by
/// its root.
fn printed(equal: u32, k: u32) -> (f64, f64) {
    let share = f64::from(equal) / f64::from(k);
    let half = 1.96 * (share * (1.0 - share)).sqrt() / f64::from(k);
    (share - half, share + half)
}

/// All multiples of 1/20, with 0.01 and 0.99, as in the table.
fn coarse() -> Vec<f64> {
    let twentieths = (1..20).map(|part| f64::from(part) / 20.0);
    [0.01].into_iter().chain(twentieths).chain([0.99]).collect()
}

/// All multiples of 1/1000, fine enough for the gaps between the ends of intervals.
fn fine() -> Vec<f64> {
    (1..1_000).map(|part| f64::from(part) / 1_000.0).collect()
}

pub(super) fn run(settings: &LawSettings) -> Result<(LawPart, Table)> {
    let (k, z) = (settings.functions, normal_quantile(DEFAULT_CONFIDENCE)?);
    let exact = (0..=k).map(|equal| clopper_pearson(equal, k, DEFAULT_CONFIDENCE));
    let exact = exact.collect::<Result<Vec<_>>>()?;
    let of = |name, ends: &dyn Fn(u32) -> (f64, f64)| IntervalFamily {
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
        series.push(Series::new(interval.name, SeriesKind::Line, windows(&all)));
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
                SeriesKind::Dashed,
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
    Ok((LawPart { panels, findings: findings(k, &ranges) }, table))
}

/// The mean, least and greatest of each 20 neighbours. The coverage jumps wherever the end of an
/// interval passes J, so a line through all values would be unreadable.
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

type CoverageRanges = ((f64, f64), (f64, f64));

fn findings(k: u32, ranges: &[CoverageRanges]) -> Vec<Finding> {
    let &[printed, wald, wilson, exact] = ranges else { return Vec::new() };
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let seen = |((low, high), (fine_low, fine_high)): CoverageRanges| {
        format!(
            "{} to {} over J = 0.01, 0.05, 0.1, ... 0.95, 0.99; {} to {} over all thousandths",
            percent(low),
            percent(high),
            percent(fine_low),
            percent(fine_high)
        )
    };
    let mut findings = vec![Finding::new(
        "Clopper and Pearson's interval always holds J at least 95 % of the time",
        exact.1.0 >= PROMISE && exact.0.0 >= PROMISE,
        seen(exact),
    )];
    // These figures hold only for k = 128.
    if k == 128 {
        findings.splice(
            0..0,
            [
                Finding::new(
                    "the printed interval, with k outside the root, holds J 0 to 17.5 % of the \
                     time over J = 0.01, 0.05, 0.1, ... 0.95, 0.99",
                    printed.0.0 < 0.001 && (0.17..0.18).contains(&printed.0.1),
                    seen(printed),
                ),
                Finding::new(
                    "the coverage of Wald's interval falls to 72 % at J = 0.01 and 0.99",
                    (0.715..0.725).contains(&wald.0.0),
                    seen(wald),
                ),
                Finding::new(
                    "Wilson's interval holds J 94.7 to 96.2 % of the time over the same J",
                    (0.9465..0.9475).contains(&wilson.0.0)
                        && (0.9615..0.9625).contains(&wilson.0.1),
                    seen(wilson),
                ),
            ],
        );
    }
    findings
}
