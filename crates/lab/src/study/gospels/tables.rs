//! The tables and the figure of the study of the Gospels.

use super::pair_measurements::{MeasuredPair, SeenAndExpected};
use super::paper_values::{BY_FILE, DIRECT, FUNCTIONS, PaperCell, RUM, SAMPLED};
use super::{MeasuredTranslation, name};
use crate::estimate::Sampled;
use crate::study::{Axis, Cell, Figure, Panel, Point, Series, SeriesKind, Table};

/// The pair whose RUM estimates are drawn over the number of functions: the paper's first pair.
const DRAWN: usize = 0;

/// The name of the series of the paper's values.
const PAPER: &str = "in the paper (2015)";

/// The table with a row for each pair.
pub(super) fn table(all: &[MeasuredTranslation]) -> Table {
    let mut table = Table::new(&[
        "text",
        "pair",
        "exact",
        "paper",
        "common",
        "sets",
        "chance",
        "independent",
        "independent_sd",
        "closed_form",
        "coordinated",
        "coordinated_sd",
        "simM",
        "simM_sd",
        "sim",
        "sim_sd",
    ]);
    for (compared, pair, measured) in each(all) {
        let paper = reported(compared, DIRECT[pair]).map(|cell| cell.percent / 100.0);
        let rum = measured.rum.last();
        let mean = |beside: Option<&SeenAndExpected>| share(beside.map(|beside| beside.seen.mean));
        let deviation =
            |beside: Option<&SeenAndExpected>| share(beside.and_then(|beside| beside.seen.spread));
        let (dice, jaccard) = (rum.map(|rum| &rum.dice), rum.map(|rum| &rum.jaccard));
        table.push(vec![
            compared.translation.name.into(),
            name(pair).into(),
            Cell::Share(measured.exact.similarity()),
            share(paper),
            measured.exact.shared.into(),
            Cell::Share(measured.sets.similarity()),
            Cell::Share(measured.chance),
            Cell::Share(measured.independent.mean),
            share(measured.independent.spread),
            Cell::Share(measured.limit),
            Cell::Share(measured.coordinated.mean),
            share(measured.coordinated.spread),
            mean(dice),
            deviation(dice),
            mean(jaccard),
            deviation(jaccard),
        ]);
    }
    table
}

/// Every pair, with its translation and its place in it.
fn each(
    all: &[MeasuredTranslation],
) -> impl Iterator<Item = (&MeasuredTranslation, usize, &MeasuredPair)> {
    let pairs = |compared| move |(pair, measured)| (compared, pair, measured);
    all.iter().flat_map(move |compared| compared.pairs.iter().enumerate().map(pairs(compared)))
}

/// The paper's value, for the language of its texts.
fn reported(compared: &MeasuredTranslation, cell: PaperCell) -> Option<PaperCell> {
    (compared.translation.language == "French").then_some(cell)
}

fn share(value: Option<f64>) -> Cell {
    value.map_or(Cell::Empty, Cell::Share)
}

/// The table with a row for each pair and method.
pub(super) fn data(all: &[MeasuredTranslation]) -> Table {
    let mut table = Table::new(&[
        "text",
        "language",
        "pair",
        "shingles_a",
        "shingles_b",
        "common",
        "method",
        "functions",
        "runs",
        "similarity",
        "spread",
        "least",
        "greatest",
        "expected",
        "milliseconds",
        "paper_similarity",
        "paper_spread",
        "paper_seconds",
    ]);
    for (compared, pair, measured) in each(all) {
        let mut push =
            |method: &str, functions: Option<usize>, of: MethodResult, paper: Option<PaperCell>| {
                let paper = paper.and_then(|cell| reported(compared, cell));
                let sampled = of.sampled.as_ref();
                let row = vec![
                    compared.translation.name.into(),
                    compared.translation.language.into(),
                    name(pair).into(),
                    measured.exact.a.into(),
                    measured.exact.b.into(),
                    measured.exact.shared.into(),
                    method.into(),
                    functions.map_or(Cell::Empty, Cell::from),
                    sampled.map_or(Cell::Empty, |sampled| u64::from(sampled.runs).into()),
                    Cell::Share(of.similarity),
                    share(sampled.and_then(|sampled| sampled.spread)),
                    share(sampled.map(|sampled| sampled.least)),
                    share(sampled.map(|sampled| sampled.greatest)),
                    share(of.expected),
                    of.milliseconds.map_or(Cell::Empty, Cell::from),
                    share(paper.map(|cell| cell.percent / 100.0)),
                    share(paper.and_then(|cell| cell.deviation).map(|percent| percent / 100.0)),
                    paper.map_or(Cell::Empty, |cell| cell.seconds.into()),
                ];
                table.push(row);
            };
        let (times, exact) = (&measured.times, measured.exact.similarity());
        push("direct", None, MethodResult::exact(exact, Some(times.direct)), Some(DIRECT[pair]));
        let by_file =
            MethodResult::exact(measured.by_file.multisets.similarity(), Some(times.by_file));
        push("by file", None, by_file, Some(BY_FILE[pair]));
        push("sets", None, MethodResult::exact(measured.sets.similarity(), None), None);
        push("chance", None, MethodResult::exact(measured.chance, None), None);
        let independent =
            MethodResult::sampled(measured.independent, measured.limit, times.independent);
        push("independent samples", None, independent, Some(SAMPLED[pair]));
        let coordinated = MethodResult::sampled(measured.coordinated, exact, times.coordinated);
        push("coordinated samples", None, coordinated, None);
        for (rum, paper) in measured.rum.iter().zip(RUM) {
            let of = |beside: &SeenAndExpected| {
                MethodResult::sampled(beside.seen, beside.expected, rum.milliseconds)
            };
            push("RUM, simM", Some(rum.functions), of(&rum.dice), Some(paper[pair]));
            push("RUM, sim", Some(rum.functions), of(&rum.jaccard), None);
        }
    }
    table
}

/// The result of a method for a pair.
struct MethodResult {
    similarity: f64,
    sampled: Option<Sampled>,
    expected: Option<f64>,
    milliseconds: Option<f64>,
}

impl MethodResult {
    fn exact(similarity: f64, milliseconds: Option<f64>) -> Self {
        Self { similarity, sampled: None, expected: None, milliseconds }
    }

    fn sampled(sampled: Sampled, expected: f64, milliseconds: f64) -> Self {
        Self {
            similarity: sampled.mean,
            sampled: Some(sampled),
            expected: Some(expected),
            milliseconds: Some(milliseconds),
        }
    }
}

/// A panel for each translation, one for RUM over the number of functions, and one for the times.
pub(super) fn figure(all: &[MeasuredTranslation], title: &str) -> Figure {
    let mut panels: Vec<Panel> = all.iter().map(by_pair).collect();
    if let [first, ..] = all {
        panels.push(over_functions(first));
        panels.push(times(first));
    }
    Figure { title: title.to_owned(), panels }
}

fn mean(x: f64, sampled: &Sampled) -> Point {
    let spread = sampled.spread.unwrap_or(0.0);
    Point::spread(x, sampled.mean, sampled.mean - spread, sampled.mean + spread)
}

fn by_pair(compared: &MeasuredTranslation) -> Panel {
    let pairs = || compared.pairs.iter().enumerate().map(|(at, pair)| (at as f64, pair));
    let dots = |name: &str, point: &dyn Fn(f64, &MeasuredPair) -> Option<Point>| {
        Series::new(name, SeriesKind::Dots, pairs().filter_map(|(x, pair)| point(x, pair)))
    };
    let series = vec![
        dots("exact", &|x, pair| Some(Point::new(x, pair.exact.similarity()))),
        dots("independent samples", &|x, pair| Some(mean(x, &pair.independent))),
        dots("coordinated samples", &|x, pair| Some(mean(x, &pair.coordinated))),
        dots("RUM, simM", &|x, pair| Some(mean(x, &pair.rum.last()?.dice.seen))),
        dots("RUM, sim", &|x, pair| Some(mean(x, &pair.rum.last()?.jaccard.seen))),
        dots("by chance", &|x, pair| Some(Point::new(x, pair.chance))),
    ];
    let translation = &compared.translation;
    let functions = FUNCTIONS[FUNCTIONS.len() - 1];
    Panel {
        title: format!(
            "{} ({}), RUM with {functions} functions",
            translation.name, translation.language
        ),
        x: Axis::of_names("pair of Gospels", (0..compared.pairs.len()).map(short)),
        y: Axis::linear("similarity; bars: one standard deviation").within(0.0, 1.0),
        series,
    }
}

/// A name of a pair that fits beside five others.
fn short(pair: usize) -> String {
    name(pair).replace("Matthew", "Matt.")
}

fn over_functions(compared: &MeasuredTranslation) -> Panel {
    let measured = &compared.pairs[DRAWN];
    let ends = [FUNCTIONS[0] as f64, FUNCTIONS[FUNCTIONS.len() - 1] as f64];
    let of_samples = measured.rum.last().map_or(0.0, |rum| rum.of_samples);
    let level =
        |name: &str, y: f64| Series::new(name, SeriesKind::Dashed, ends.map(|x| Point::new(x, y)));
    let line =
        |name: &str, beside: fn(&super::pair_measurements::RumResult) -> &SeenAndExpected| {
            let points =
                measured.rum.iter().map(|rum| mean(rum.functions as f64, &beside(rum).seen));
            Series::new(name, SeriesKind::Line, points)
        };
    let mut series = vec![
        line("RUM, simM", |rum| &rum.dice),
        line("RUM, sim", |rum| &rum.jaccard),
        level("simM of the samples", 2.0 * of_samples / (1.0 + of_samples)),
        level("independent samples", of_samples),
        level("exact", measured.exact.similarity()),
    ];
    if compared.translation.language == "French" {
        let cells =
            FUNCTIONS.iter().zip(&RUM).map(|(functions, row)| (*functions as f64, row[DRAWN]));
        let points = cells.map(|(x, cell)| {
            let (y, spread) = (cell.percent / 100.0, cell.deviation.unwrap_or(0.0) / 100.0);
            Point::spread(x, y, y - spread, y + spread)
        });
        series.push(Series::new(PAPER, SeriesKind::Dots, points));
    }
    Panel {
        title: format!("{}, {}: RUM on samples", compared.translation.name, name(DRAWN)),
        x: Axis::linear("number of functions").within(4.0, 21.0).whole(),
        y: Axis::linear("similarity; band: one standard deviation"),
        series,
    }
}

fn times(compared: &MeasuredTranslation) -> Panel {
    let all =
        |time: &dyn Fn(&MeasuredPair) -> f64| compared.pairs.iter().map(time).collect::<Vec<_>>();
    let paper =
        |cells: &[PaperCell]| cells.iter().map(|cell| cell.seconds * 1000.0).collect::<Vec<_>>();
    let runs = |sampled: &Sampled| f64::from(sampled.runs);
    // The paper draws one sample, and 50 for RUM. These times are scaled to the same numbers.
    let ours = [
        all(&|pair| pair.times.direct),
        all(&|pair| pair.times.by_file),
        all(&|pair| pair.times.independent / runs(&pair.independent)),
        all(&|pair| {
            pair.rum.last().map_or(0.0, |rum| 50.0 * rum.milliseconds / runs(&rum.dice.seen))
        }),
    ];
    let theirs = [paper(&DIRECT), paper(&BY_FILE), paper(&SAMPLED), paper(&RUM[RUM.len() - 1])];
    let dots = |name: &str, times: [Vec<f64>; 4]| {
        let points = times.into_iter().enumerate().map(|(at, mut times)| {
            times.sort_unstable_by(f64::total_cmp);
            let (least, greatest) = (times[0], times[times.len() - 1]);
            Point::spread(at as f64, times[times.len() / 2], least, greatest)
        });
        Series::new(name, SeriesKind::Dots, points)
    };
    let names = ["direct", "by file", "one sample", "RUM, 50 times"].map(str::to_owned);
    Panel {
        title: "Time of a pair".to_owned(),
        x: Axis::of_names("method", names),
        y: Axis::log("milliseconds; bars: least and greatest"),
        series: vec![dots("here", ours), dots(PAPER, theirs)],
    }
}
