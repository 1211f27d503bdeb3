//! Time to find all similar pairs, by approach and number of documents (Bergillos, Rambla,
//! Cabeza 2018, section 8.3, figure 4).

use super::approach_bench::{
    Approach, ApproachRun, BANDS, Bench, FUNCTIONS, ROWS, pairs_of, threshold,
};
use super::planted_copies::PlantedTexts;
use super::random_texts::{FIFTY_WORDS, random_order};
use super::{
    Axis, Cell, Figure, Finding, Panel, Point, Report, Series, SeriesKind, StudyContext, Table,
};
use crate::sketch::Family;
use twindex::internals::SplitMix;
use twindex::{Error, Result};

const TITLE: &str = "Time to find all similar pairs, by approach and number of documents";

/// The settings of the study.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ApproachesSettings {
    /// The most documents, at least 8.
    pub(crate) docs: usize,
    /// The seconds that an approach may take for one number of documents, extrapolated from smaller
    /// numbers. The three smallest numbers are always measured.
    pub(crate) budget: f64,
    /// The family of the 200 hash functions.
    pub(crate) family: Family,
}

impl Default for ApproachesSettings {
    fn default() -> Self {
        Self { docs: 100_000, budget: 10.0, family: Family::Modular }
    }
}

/// The numbers of random orders of one text, up to the 410 of Bergillos and others 2018.
const ORDERS: [usize; 5] = [25, 50, 100, 200, 410];

/// The fewest planted texts to time.
const LEAST: usize = 90;

/// This many numbers of documents are always timed. Fewer have no slope.
const FEWEST: usize = 3;

/// Runs shorter than this many seconds are repeated, and the shortest counts, because other
/// processes would disturb them.
const SHORT: f64 = 0.2;

/// If the signatures of all pairs are compared in fewer seconds, fixed costs are a part of all
/// times, and nothing is told of them.
const SHORTEST_TOLD: f64 = 0.05;

/// Pairs at least this far above the threshold must practically all be found.
const ABOVE: f64 = 0.05;

/// The runs of each approach on texts of one kind, by number of documents.
struct ApproachRuns {
    texts: &'static str,
    runs: [Vec<ApproachRun>; 4],
    /// The pairs at or above the threshold with their exact similarity, in ascending order of the
    /// second text; empty if they are not known.
    similar: Vec<((u32, u32), f64)>,
}

pub(crate) fn run(settings: &ApproachesSettings, context: &StudyContext<'_>) -> Result<Report> {
    if settings.docs < 8 {
        return Err(Error::InvalidSetting {
            setting: "docs",
            got: settings.docs.to_string(),
            expected: "at least 8, so that there are several numbers of documents to compare",
        });
    }
    let sizes = sizes(settings.docs);
    let total = 4 * (ORDERS.len() + sizes.len()) as u64;
    let mut random = SplitMix::new(context.seed);
    let orders: Vec<usize> = ORDERS.into_iter().filter(|size| *size <= settings.docs).collect();
    let most = orders.last().copied().unwrap_or(0);
    let texts: Vec<String> = (0..most).map(|_| random_order(FIFTY_WORDS, &mut random)).collect();
    let mut bench = Bench::new(&texts, settings.family, context.seed)?;
    let runs = runs(&mut bench, &orders, settings, (context, 0, total))?;
    let of_orders = ApproachRuns { texts: "orders of one text", runs, similar: Vec::new() };

    let planted = PlantedTexts::new(settings.docs, context.seed);
    let mut bench = Bench::new(&planted.texts, settings.family, context.seed)?;
    let done = 4 * ORDERS.len() as u64;
    let runs = self::runs(&mut bench, &sizes, settings, (context, done, total))?;
    let exact = planted.copies.iter().map(|(a, b)| ((*a, *b), bench.similarity(*a, *b)));
    let similar = exact.filter(|(_, similarity)| *similarity >= threshold()).collect();
    Ok(report(&of_orders, &ApproachRuns { texts: "varied texts", runs, similar }))
}

/// `docs`, half of it, a quarter and so on, down to `LEAST` but at least four numbers, ascending.
fn sizes(docs: usize) -> Vec<usize> {
    let halves = std::iter::successors(Some(docs), |size| Some(size / 2));
    let mut sizes: Vec<usize> = halves
        .enumerate()
        .take_while(|(at, size)| *at < 4 || *size >= LEAST)
        .map(|(_, size)| size)
        .collect();
    sizes.reverse();
    sizes
}

/// Runs every approach with growing numbers of texts: always the smallest numbers, then as long as
/// the expected time is within the budget.
fn runs(
    bench: &mut Bench<'_>,
    sizes: &[usize],
    settings: &ApproachesSettings,
    (context, before, total): (&StudyContext<'_>, u64, u64),
) -> Result<[Vec<ApproachRun>; 4]> {
    let mut all = [const { Vec::<ApproachRun>::new() }; 4];
    for (number, (approach, runs)) in Approach::ALL.into_iter().zip(&mut all).enumerate() {
        for (at, size) in sizes.iter().enumerate() {
            let seconds = runs.last().map_or(0.0, |last| expected(approach, last, *size));
            if at >= FEWEST && seconds > settings.budget {
                break;
            }
            let done = before + (number * sizes.len() + at) as u64;
            let mut run = || bench.run(approach, *size, &|| context.at(done, total));
            let mut shortest = run()?;
            let repeated = if shortest.seconds() < SHORT { 2 } else { 0 };
            for _ in 0..repeated {
                let other = run()?;
                if other.seconds() < shortest.seconds() {
                    shortest = other;
                }
            }
            runs.push(shortest);
        }
    }
    Ok(all)
}

/// The expected seconds for `documents`, extrapolated from a smaller run.
fn expected(approach: Approach, last: &ApproachRun, documents: usize) -> f64 {
    let growth = documents as f64 / last.documents as f64;
    let power = if approach.compares_all() { growth * growth } else { growth };
    last.preparing * growth + last.comparing * power
}

/// The slope of the least-squares line through the logarithms, over sizes of at least an eighth of
/// the greatest. `None` for fewer than three sizes.
fn slope(runs: &[ApproachRun], seconds: impl Fn(&ApproachRun) -> f64) -> Option<f64> {
    let most = runs.last()?.documents;
    let points: Vec<(f64, f64)> = runs
        .iter()
        .filter(|run| 8 * run.documents >= most && seconds(run) > 0.0)
        .map(|run| ((run.documents as f64).ln(), seconds(run).ln()))
        .collect();
    if points.len() < FEWEST {
        return None;
    }
    let count = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |sum, point| (sum.0 + point.0, sum.1 + point.1));
    let (x, y) = (x / count, y / count);
    let over = |f: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(f).sum::<f64>();
    Some(over(&|p| (p.0 - x) * (p.1 - y)) / over(&|p| (p.0 - x).powi(2)))
}

impl ApproachRuns {
    fn of(&self, approach: Approach) -> &[ApproachRun] {
        &self.runs[approach as usize]
    }

    /// The number of pairs among the texts of a run with at least the similarity `from`, and the
    /// number of those that were found.
    fn found(&self, run: &ApproachRun, from: f64) -> (usize, usize) {
        let here =
            |pair: &&((u32, u32), f64)| (pair.0.1 as usize) < run.documents && pair.1 >= from;
        let among = self.similar.iter().filter(here);
        let found = among.clone().filter(|(pair, _)| run.found.binary_search(pair).is_ok());
        (among.count(), found.count())
    }

    /// The cells of a run: pairs compared, pairs found, and recall.
    fn cells(&self, run: &ApproachRun) -> [Cell; 3] {
        let recall = match self.found(run, 0.0) {
            (0, _) => Cell::Empty,
            (all, found) => Cell::Share(found as f64 / all as f64),
        };
        [run.compared.map_or(Cell::Empty, Cell::Count), run.found.len().into(), recall]
    }
}

fn report(orders: &ApproachRuns, varied: &ApproachRuns) -> Report {
    let mut table = Table::new(&[
        "texts",
        "approach",
        "documents",
        "seconds",
        "slope",
        "comparing_seconds",
        "comparing_slope",
        "compared",
        "found",
        "recall",
    ]);
    let mut data = Table::new(&[
        "texts",
        "approach",
        "documents",
        "preparing_seconds",
        "comparing_seconds",
        "seconds",
        "compared",
        "found",
        "recall",
    ]);
    for timed in [orders, varied] {
        for approach in Approach::ALL {
            let runs = timed.of(approach);
            let named = [timed.texts, approach.name()].map(Cell::from);
            for run in runs {
                let mut row = Vec::from(named.clone());
                row.push(run.documents.into());
                row.extend([run.preparing, run.comparing, run.seconds()].map(Cell::Number));
                row.extend(timed.cells(run));
                data.push(row);
            }
            let Some(run) = runs.last() else { continue };
            let slope = |seconds: fn(&ApproachRun) -> f64| {
                slope(runs, seconds).map_or(Cell::Empty, Cell::Number)
            };
            let mut row = Vec::from(named);
            row.extend([
                run.documents.into(),
                Cell::Number(run.seconds()),
                slope(ApproachRun::seconds),
            ]);
            row.extend([Cell::Number(run.comparing), slope(|run| run.comparing)]);
            row.extend(timed.cells(run));
            table.push(row);
        }
    }
    let figure = Figure { title: TITLE.to_owned(), panels: vec![panel(orders), panel(varied)] };
    Report {
        title: TITLE.to_owned(),
        table,
        further: Vec::new(),
        data,
        figure,
        findings: findings(varied),
    }
}

fn panel(timed: &ApproachRuns) -> Panel {
    let series = Approach::ALL.into_iter().map(|approach| {
        let points = timed.of(approach).iter();
        let points = points.map(|run| Point::new(run.documents as f64, run.seconds()));
        Series::new(approach.name(), SeriesKind::Line, points)
    });
    Panel {
        title: format!("{}{}", timed.texts[..1].to_uppercase(), &timed.texts[1..]),
        x: Axis::log("documents").whole(),
        y: Axis::log("seconds"),
        series: series.collect(),
    }
}

/// The findings, without those that cannot be told for so few documents.
fn findings(varied: &ApproachRuns) -> Vec<Finding> {
    let mut findings = if times_tell(varied) { of_times(varied) } else { Vec::new() };
    findings.extend(all_known(varied));
    findings.extend(varied.of(Approach::Index).last().and_then(|run| practically_all(varied, run)));
    findings
}

/// Whether the times are those of the comparisons. Slopes need runs with at least [`LEAST`]
/// documents over a factor of eight, and pairs that take longer than fixed costs.
fn times_tell(varied: &ApproachRuns) -> bool {
    let documents = |approach| varied.of(approach).last().map_or(0, |run| run.documents);
    let seconds = |approach| varied.of(approach).last().map_or(0.0, |run| run.comparing);
    Approach::ALL.into_iter().all(|approach| documents(approach) >= 8 * LEAST)
        && seconds(Approach::Signatures) >= SHORTEST_TOLD
}

/// The findings on times.
fn of_times(varied: &ApproachRuns) -> Vec<Finding> {
    let slope_of = |approach, seconds: fn(&ApproachRun) -> f64| slope(varied.of(approach), seconds);
    let tell = |slope: Option<f64>| match slope {
        Some(slope) => format!("{slope:.2}"),
        None => "unknown with fewer than three numbers of documents".to_owned(),
    };
    let within = |slope: Option<f64>, least: f64, most: f64| {
        slope.is_some_and(|slope| least <= slope && slope <= most)
    };
    let exact = slope_of(Approach::Exact, |run| run.comparing);
    let mut findings = vec![Finding::new(
        "exact, all pairs: comparing is quadratic, every pair in about the same time",
        quadratic(varied.of(Approach::Exact)),
        format!("slope {} of comparing", tell(exact)),
    )];

    let comparing = slope_of(Approach::Signatures, |run| run.comparing);
    let whole = slope_of(Approach::Signatures, ApproachRun::seconds);
    let a_pair = |approach: Approach| {
        let run = varied.of(approach).last();
        run.map_or(0.0, |run| 1e9 * run.comparing / run.compared.unwrap_or(1).max(1) as f64)
    };
    let (by_sets, by_signatures) = (a_pair(Approach::Exact), a_pair(Approach::Signatures));
    findings.push(Finding::new(
        "signatures, all pairs: comparing is quadratic, with a constant several times smaller",
        quadratic(varied.of(Approach::Signatures)) && 3.0 * by_signatures < by_sets,
        format!(
            "slope {} of comparing, {} in total; {by_signatures:.0} ns for each pair instead of \
             {by_sets:.0}",
            tell(comparing),
            tell(whole),
        ),
    ));
    for approach in [Approach::Banding, Approach::Index] {
        let slope = slope_of(approach, ApproachRun::seconds);
        findings.push(Finding::new(
            format!("{}: near linear, a slope of about 1", approach.name()),
            within(slope, 0.6, 1.3),
            format!("slope {}", tell(slope)),
        ));
    }
    findings
}

/// The range of slopes of the time to compare all pairs. The amount of work has slope 2. With eight
/// times as many documents, a pair can take up to three times as long, because the data no longer
/// fits the processor's caches, or less than half as long, because fixed costs matter less: 2 + ln
/// 3 / ln 8 and 2 - ln 2.3 / ln 8. Powers of 1.5 and 3 are outside.
const QUADRATIC: (f64, f64) = (1.6, 2.53);

/// Whether every pair was compared, each in about the same time.
fn quadratic(runs: &[ApproachRun]) -> bool {
    let all = |run: &ApproachRun| run.compared == Some(pairs_of(run.documents));
    let (least, most) = QUADRATIC;
    let slope = slope(runs, |run| run.comparing);
    runs.iter().all(all) && slope.is_some_and(|slope| (least..=most).contains(&slope))
}

/// The finding that the planted pairs are exactly the similar pairs. `None` if none was planted.
fn all_known(varied: &ApproachRuns) -> Option<Finding> {
    let run = varied.of(Approach::Exact).last()?;
    let (all, found) = varied.found(run, 0.0);
    let others = run.found.len() - found;
    (all > 0).then(|| {
        Finding::new(
            "exact, all pairs: finds every similar pair that was planted, and no other",
            found == all && others == 0,
            format!("{found} of {all} among {} texts, and {others} others", run.documents),
        )
    })
}

/// The finding that an index reaches the promised recall, which the bands of the source do not.
/// `None` if there are no such pairs.
fn practically_all(varied: &ApproachRuns, run: &ApproachRun) -> Option<Finding> {
    let from = threshold() + ABOVE;
    let (all, found) = varied.found(run, from);
    if all == 0 {
        return None;
    }
    // Three standard deviations of the number found at a recall of 0.99.
    let slack = 3.0 * (0.99 * 0.01 * all as f64).sqrt();
    let banding = varied.of(Approach::Banding).last().map(|run| varied.found(run, from));
    let (known, banded) = banding.unwrap_or((0, 0));
    Some(Finding::new(
        format!("twindex: finds at least 0.99 of the pairs from {from:.3} on"),
        found as f64 >= 0.99 * all as f64 - slack,
        format!("{found} of {all}; {BANDS} bands of {ROWS} of {FUNCTIONS}: {banded} of {known}"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> ApproachesSettings {
        ApproachesSettings { docs: 200, budget: 60.0, family: Family::Default }
    }

    #[test]
    fn every_approach_finds_the_planted_copies() {
        let report = run(&small(), &StudyContext::unwatched(1)).expect("done");
        // Four numbers of orders and four of varied texts; the greatest are printed.
        assert_eq!((report.table.rows.len(), report.data.rows.len()), (8, 4 * (4 + 4)));
        // Times of so few documents are not meaningful, but the pairs found are.
        let finding = |start: &str| {
            report
                .findings
                .iter()
                .find(|finding| finding.expected.starts_with(start))
                .expect("told")
        };
        for start in ["exact, all pairs: finds", "twindex: finds"] {
            let finding = finding(start);
            assert!(finding.holds, "{}: {}", finding.expected, finding.seen);
        }
        let recall = |row: &Vec<Cell>| match row.last() {
            Some(Cell::Share(recall)) => *recall,
            other => panic!("no recall: {other:?}"),
        };
        let varied = &report.table.rows[4..];
        assert_eq!(recall(&varied[0]), 1.0);
        // For pairs exactly at the threshold, half of the estimates are below it.
        assert!(varied[1..].iter().all(|row| recall(row) > 0.6), "{varied:?}");
    }

    #[test]
    fn a_study_of_few_documents_has_no_finding_that_fails() {
        for docs in [8, 30, 100, 500] {
            let settings = ApproachesSettings { docs, ..small() };
            let report = run(&settings, &StudyContext::unwatched(3)).expect("done");
            for finding in &report.findings {
                assert!(finding.holds, "{docs}: {}: {}", finding.expected, finding.seen);
            }
        }
    }

    #[test]
    fn slopes_are_those_of_powers() {
        let run = |documents: usize, power: f64| ApproachRun {
            documents,
            preparing: 0.0,
            comparing: 3e-6 * (documents as f64).powf(power),
            compared: None,
            found: Vec::new(),
        };
        for power in [0.5, 1.0, 2.0] {
            let mut runs: Vec<ApproachRun> = [1000, 2000, 4000, 8000].map(|n| run(n, power)).into();
            // This size is too small to be included.
            runs.insert(0, run(10, 9.0));
            let got = slope(&runs, ApproachRun::seconds).expect("four sizes");
            assert!((got - power).abs() < 1e-9, "{got}");
            assert_eq!(slope(&runs[..2], ApproachRun::seconds), None);
        }
    }

    #[test]
    fn quadratic_means_all_pairs_in_about_the_same_time() {
        let runs = |power: f64| -> Vec<ApproachRun> {
            let run = |documents: usize| ApproachRun {
                documents,
                preparing: 0.0,
                comparing: 3e-8 * (documents as f64).powf(power),
                compared: Some(pairs_of(documents)),
                found: Vec::new(),
            };
            [1000, 2000, 4000, 8000].map(run).into()
        };
        for (power, holds) in [(1.0, false), (1.5, false), (2.0, true), (2.4, true), (3.0, false)] {
            assert_eq!(quadratic(&runs(power)), holds, "{power}");
        }
        let mut fewer = runs(2.0);
        fewer[3].compared = Some(pairs_of(8000) - 1);
        assert!(!quadratic(&fewer));
        assert!(!quadratic(&runs(2.0)[..2]), "too few to tell");
    }

    #[test]
    fn numbers_of_documents_are_halves_down_to_about_a_hundred() {
        assert_eq!(sizes(100_000)[..5], [97, 195, 390, 781, 1562]);
        assert_eq!(sizes(100_000).last(), Some(&100_000));
        assert_eq!(sizes(100), [12, 25, 50, 100]);
    }

    #[test]
    fn an_approach_stops_when_it_would_take_too_long() {
        let report =
            run(&ApproachesSettings { budget: 0.0, ..small() }, &StudyContext::unwatched(1))
                .expect("done");
        assert_eq!(report.data.rows.len(), 8 * FEWEST, "the least numbers of documents");
        assert!(report.findings.iter().all(|finding| !finding.seen.contains("unknown")));
    }
}
