//! The results: error over similarity, precision over recall, and the comparison with theory.

use super::bands;
use super::experiment::{JudgedPair, SimhashSettings};
use super::sketch_kinds::SketchKind;
use crate::study::methods::mean_and_spread;
use crate::study::{Axis, Cell, Figure, Finding, Panel, Point, Report, Series, SeriesKind, Table};

/// The number of parts of the range from 0 to 1 over which errors are averaged.
const PARTS: usize = 20;

/// The number of steps of recall, from 1/2, 21/40 and so on to 1.
const RECALLS: usize = 20;

/// The mean of a number, or the root mean square of errors, and the standard deviation over the
/// runs.
#[derive(Clone, Copy)]
struct MeanAndSpread {
    mean: f64,
    spread: f64,
}

impl MeanAndSpread {
    /// `None` if no run has the number.
    fn of(all: &[f64]) -> Option<Self> {
        let (mean, spread) = (!all.is_empty()).then(|| mean_and_spread(all))?;
        Some(Self { mean, spread: spread.unwrap_or(0.0) })
    }

    fn point(self, x: f64) -> Point {
        Point::spread(x, self.mean, (self.mean - self.spread).max(0.0), self.mean + self.spread)
    }
}

/// The results of one kind of sketch.
struct SketchResults {
    kept: SketchKind,
    name: String,
    /// The root mean square error in each part, if it has pairs.
    errors: Vec<Option<MeanAndSpread>>,
    /// The theoretical error in each part.
    theory: Vec<f64>,
    /// The precision at each recall, if a run has pairs to find.
    precision: Vec<Option<MeanAndSpread>>,
}

pub(super) fn report(
    settings: &SimhashSettings,
    kinds: &[SketchKind],
    runs: &[Vec<JudgedPair>],
) -> Report {
    let seen: Vec<SketchResults> =
        kinds.iter().enumerate().map(|(at, kept)| look(settings, *kept, at, runs)).collect();
    let title = format!(
        "SimHash and MinHash in {} bytes: pairs of {} words, {} runs of {}",
        settings.bytes, settings.words, settings.runs, settings.pairs
    );
    Report {
        title: title.clone(),
        table: table(&seen),
        further: Vec::new(),
        data: data(&seen),
        figure: Figure {
            title,
            panels: vec![
                precision_panel(settings, &seen),
                error_panel(&seen),
                bands::panel(kinds, settings.bytes, settings.threshold),
            ],
        },
        findings: findings(&seen),
    }
}

fn look(
    settings: &SimhashSettings,
    kept: SketchKind,
    at: usize,
    runs: &[Vec<JudgedPair>],
) -> SketchResults {
    let errors = (0..PARTS).map(|part| {
        let squares = |run: &Vec<JudgedPair>| -> Vec<f64> {
            let inside = run.iter().filter(|pair| part_of(pair.similarity) == part);
            inside.map(|pair| (pair.estimates[at] - pair.similarity).powi(2)).collect()
        };
        let by_run: Vec<Vec<f64>> =
            runs.iter().map(squares).filter(|squares| !squares.is_empty()).collect();
        let root_mean = |squares: &[f64]| mean_and_spread(squares).0.sqrt();
        let of_runs: Vec<f64> = by_run.iter().map(|squares| root_mean(squares)).collect();
        let MeanAndSpread { spread, .. } = MeanAndSpread::of(&of_runs)?;
        // Over the pairs of all runs: the mean of the roots of several runs would be too low.
        Some(MeanAndSpread { mean: root_mean(&by_run.concat()), spread })
    });
    let threshold = settings.threshold;
    let curves: Vec<Vec<f64>> = runs.iter().map(|run| precision(run, at, threshold)).collect();
    let at_recall = |number: usize| {
        let all: Vec<f64> = curves.iter().filter_map(|curve| curve.get(number).copied()).collect();
        MeanAndSpread::of(&all)
    };
    SketchResults {
        kept,
        name: kept.name(settings.bytes),
        errors: errors.collect(),
        theory: (0..PARTS).map(|part| kept.theory(middle(part), settings.bytes)).collect(),
        precision: (0..=RECALLS).map(at_recall).collect(),
    }
}

fn part_of(similarity: f64) -> usize {
    ((similarity * PARTS as f64) as usize).min(PARTS - 1)
}

fn middle(part: usize) -> f64 {
    (part as f64 + 0.5) / PARTS as f64
}

fn recall(number: usize) -> f64 {
    0.5 + number as f64 / (2 * RECALLS) as f64
}

/// The precision at each recall, for the highest cut of the estimates that reaches it. Empty if
/// there are no pairs to find.
fn precision(run: &[JudgedPair], at: usize, threshold: f64) -> Vec<f64> {
    let mut order: Vec<(f64, bool)> =
        run.iter().map(|pair| (pair.estimates[at], pair.similarity >= threshold)).collect();
    order.sort_by(|x, y| y.0.total_cmp(&x.0));
    let all = order.iter().filter(|pair| pair.1).count();
    if all == 0 {
        return Vec::new();
    }
    let (mut curve, mut found, mut right) = (Vec::new(), 0_usize, 0_usize);
    // Equal estimates are on the same side of every cut.
    for equals in order.chunk_by(|x, y| x.0 == y.0) {
        found += equals.len();
        right += equals.iter().filter(|pair| pair.1).count();
        while curve.len() <= RECALLS && right as f64 >= recall(curve.len()) * all as f64 {
            curve.push(right as f64 / found as f64);
        }
    }
    curve
}

fn table(seen: &[SketchResults]) -> Table {
    let parts = [2, 9, 15, 18];
    let mut columns: Vec<String> = vec!["sketch".to_owned()];
    columns.extend(parts.map(|part| format!("error at {:.3}", middle(part))));
    columns.extend([8, 16, 18].map(|number| format!("precision at recall {:.2}", recall(number))));
    let mut table = Table { columns, rows: Vec::new() };
    for one in seen {
        let mut row = vec![Cell::from(one.name.as_str())];
        let mean = |of: Option<MeanAndSpread>| of.map_or(Cell::Empty, |of| Cell::Share(of.mean));
        row.extend(parts.map(|part| mean(one.errors[part])));
        row.extend([8, 16, 18].map(|number| mean(one.precision[number])));
        table.push(row);
    }
    table
}

fn data(seen: &[SketchResults]) -> Table {
    let mut data = Table::new(&["what", "sketch", "x", "mean", "spread", "theory"]);
    for one in seen {
        for (part, error) in one.errors.iter().enumerate() {
            let Some(error) = error else { continue };
            data.push(vec![
                "error at similarity".into(),
                one.name.as_str().into(),
                Cell::Number(middle(part)),
                Cell::Number(error.mean),
                Cell::Number(error.spread),
                Cell::Number(one.theory[part]),
            ]);
        }
        for (number, precision) in one.precision.iter().enumerate() {
            let Some(precision) = precision else { continue };
            data.push(vec![
                "precision at recall".into(),
                one.name.as_str().into(),
                Cell::Number(recall(number)),
                Cell::Number(precision.mean),
                Cell::Number(precision.spread),
                Cell::Empty,
            ]);
        }
    }
    data
}

fn precision_panel(settings: &SimhashSettings, seen: &[SketchResults]) -> Panel {
    let curve = |one: &SketchResults| {
        let points = one.precision.iter().enumerate();
        let point = |(number, precision): (usize, &Option<MeanAndSpread>)| {
            let point = (*precision)?.point(recall(number));
            Some(Point { spread: point.spread.map(|(low, high)| (low, high.min(1.0))), ..point })
        };
        Series::new(&one.name, SeriesKind::Line, points.filter_map(point))
    };
    Panel {
        title: format!("Finding pairs of similarity {} and more", settings.threshold),
        x: Axis::linear("recall: share of these pairs that is found").within(0.5, 1.0),
        y: Axis::linear("precision: share of what is found that is right").within(0.4, 1.0),
        series: seen.iter().map(curve).collect(),
    }
}

fn error_panel(seen: &[SketchResults]) -> Panel {
    let mut series = Vec::new();
    for one in seen {
        let points = one.errors.iter().enumerate();
        let points = points.filter_map(|(part, error)| Some((*error)?.point(middle(part))));
        series.push(Series::new(&one.name, SeriesKind::Line, points));
    }
    for one in seen {
        let points = one.theory.iter().enumerate();
        let points = points.map(|(part, error)| Point::new(middle(part), *error));
        series.push(Series::new(&one.name, SeriesKind::Dashed, points));
    }
    Panel {
        title: "Error of the estimate (dashed: theory; band: deviation over runs)".to_owned(),
        x: Axis::linear("Jaccard similarity").within(0.0, 1.0),
        y: Axis::linear("root mean square error").within(0.0, 0.1),
        series,
    }
}

fn findings(seen: &[SketchResults]) -> Vec<Finding> {
    let of = |kept: SketchKind| seen.iter().find(|one| one.kept == kept);
    let (Some(simhash), Some(bytes)) = (of(SketchKind::SimHash), of(SketchKind::Bytes)) else {
        return Vec::new();
    };
    let mut findings = vec![exact(seen)];
    findings.extend(near(simhash, bytes));
    findings.extend(far(simhash, bytes));
    findings.extend(precise(
        "at the threshold SimHash is at least as precise as MinHash with one-byte lanes",
        simhash,
        bytes,
    ));
    findings.extend(of(SketchKind::Bits).and_then(|bits| {
        let expected = "MinHash with one-bit lanes is at least as precise as SimHash";
        precise(expected, bits, simhash)
    }));
    findings
}

/// The finding that one kind is at least as precise as the other at recall 0.9, within one standard
/// deviation. `None` if there are no pairs to find.
fn precise(expected: &str, one: &SketchResults, other: &SketchResults) -> Option<Finding> {
    let (a, b) = (one.precision[16]?, other.precision[16]?);
    let seen = format!("precision {:.3} and {:.3} at recall 0.9", a.mean, b.mean);
    Some(Finding::new(expected, a.mean >= b.mean - b.spread, seen))
}

/// The mean error over those parts that have one, if any.
fn error(one: &SketchResults, parts: std::ops::Range<usize>) -> Option<f64> {
    let all: Vec<f64> = parts.filter_map(|part| Some(one.errors[part]?.mean)).collect();
    (!all.is_empty()).then(|| mean_and_spread(&all).0)
}

fn near(simhash: &SketchResults, bytes: &SketchResults) -> Option<Finding> {
    let top = PARTS * 4 / 5..PARTS;
    let (a, b) = (error(simhash, top.clone())?, error(bytes, top)?);
    let expected = "near duplicates, J from 0.8 on: the error of SimHash is smaller than that of \
                    MinHash with one-byte lanes, by a factor of about √(π/2 √(1 - J)), which is \
                    0.7 at 0.9";
    let seen = format!("errors {a:.4} and {b:.4}, a factor of {:.2}", a / b);
    Some(Finding::new(expected, a < b, seen))
}

/// `None` if no texts are so dissimilar.
fn far(simhash: &SketchResults, bytes: &SketchResults) -> Option<Finding> {
    let low = 0..PARTS / 20;
    let (a, b) = (error(simhash, low.clone())?, error(bytes, low)?);
    let expected = "unrelated texts, J below 0.05: the error of MinHash with one-byte lanes is \
                    smaller than that of SimHash";
    Some(Finding::new(expected, b < a, format!("errors {b:.4} for MinHash and {a:.4} for SimHash")))
}

fn exact(seen: &[SketchResults]) -> Finding {
    // Outside this range estimates are cut off, or the error changes much within a part.
    let inside = PARTS * 3 / 10..PARTS * 9 / 10;
    let ratios = |one: &SketchResults| -> Vec<f64> {
        let ratio = |part: usize| Some(one.errors[part]?.mean / one.theory[part]);
        inside.clone().filter_map(ratio).collect()
    };
    let mean = |one: &SketchResults| mean_and_spread(&ratios(one)).0;
    // If a set has not many more elements than lanes, the errors are smaller than by the binomial
    // law.
    let fits = |one: &SketchResults| match one.kept {
        SketchKind::SimHash | SketchKind::Bytes => (0.9..1.1).contains(&mean(one)),
        SketchKind::Bits => (0.7..1.1).contains(&mean(one)),
    };
    let each = seen.iter().map(|one| format!("{:.2} ({})", mean(one), one.name));
    Finding::new(
        "errors agree with theory, J from 0.3 to 0.9; many lanes on short texts have smaller ones",
        seen.iter().all(fits),
        format!("average ratios to theory: {}", each.collect::<Vec<_>>().join(", ")),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(pairs: &[(f64, f64)]) -> Vec<JudgedPair> {
        let judged = |&(similarity, estimate): &(f64, f64)| JudgedPair {
            similarity,
            estimates: vec![estimate],
        };
        pairs.iter().map(judged).collect()
    }

    #[test]
    fn precision_is_taken_at_the_highest_cut_that_reaches_the_recall() {
        let run = judged(&[(0.9, 0.9), (0.2, 0.8), (0.85, 0.7), (0.3, 0.7), (0.1, 0.1)]);
        let curve = precision(&run, 0, 0.8);
        assert_eq!(curve.len(), RECALLS + 1);
        // One of the two pairs is found without a false one. Both are found only with two false
        // ones, one of which has an equal estimate.
        assert_eq!((curve[0], curve[1], curve[RECALLS]), (1.0, 0.5, 0.5));
        assert!(precision(&run, 0, 0.95).is_empty());
    }

    /// The results of two equal runs of pairs, given by similarity and estimate.
    fn seen(kept: SketchKind, pairs: &[(f64, f64)]) -> SketchResults {
        let runs = [judged(pairs), judged(pairs)];
        look(&SimhashSettings::default(), kept, 0, &runs)
    }

    /// One pair a run, with the errors 0 and .1: the mean of both runs' roots would be .05.
    #[test]
    fn the_root_mean_square_error_is_that_over_the_pairs_of_all_runs() {
        let runs = [judged(&[(0.51, 0.51)]), judged(&[(0.52, 0.62)])];
        let seen = look(&SimhashSettings::default(), SketchKind::SimHash, 0, &runs);
        let error = seen.errors[part_of(0.51)].expect("a part with pairs");
        assert!((error.mean - 0.005_f64.sqrt()).abs() < 1e-12, "{}", error.mean);
        assert!((error.spread - 0.005_f64.sqrt()).abs() < 1e-12, "{}", error.spread);
        assert!(seen.errors[0].is_none());
    }

    #[test]
    fn equal_precision_is_enough() {
        let (right, wrong) = ([(0.9, 0.9), (0.2, 0.2)], [(0.9, 0.2), (0.2, 0.9)]);
        let (simhash, bytes) = (seen(SketchKind::SimHash, &right), seen(SketchKind::Bytes, &right));
        let worse = seen(SketchKind::SimHash, &wrong);
        let holds = |one: &SketchResults| precise("", one, &bytes).map(|finding| finding.holds);
        assert_eq!((holds(&simhash), holds(&worse)), (Some(true), Some(false)));
    }

    #[test]
    fn without_pairs_to_find_there_is_no_precision() {
        let none = seen(SketchKind::SimHash, &[(0.2, 0.2), (0.3, 0.1)]);
        assert!(precise("", &none, &none).is_none());
        assert!(none.precision.iter().all(Option::is_none));
        let empty = |row: &Vec<Cell>| matches!(row.last(), Some(Cell::Empty));
        assert!(table(&[none]).rows.iter().all(empty));
    }

    #[test]
    fn parts_divide_the_similarities() {
        assert_eq!(
            (part_of(0.0), part_of(0.049), part_of(0.05), part_of(1.0)),
            (0, 0, 1, PARTS - 1)
        );
        assert_eq!((recall(0), recall(16), recall(RECALLS)), (0.5, 0.9, 1.0));
    }
}
