//! Bands of any number of functions: which pairs meet, which are missed, and which meet in vain.
//!
//! Bergillos, Rambla, Cabeza 2018, sections 5.3 and 8.3; Vilaseca, Lacasa, Martín 2018, section
//! 5.2; Rajaraman, Ullman 2011, section 3.4.

use super::Table;
use super::{Axis, Cell, Figure, Finding, Panel, Point, Report, Series, SeriesKind, StudyContext};
use crate::methods::{Family, MinHash};
use std::fmt;
use std::str::FromStr;
use twindex::internals::fmix64;
use twindex::{DEFAULT_RECALL, DEFAULT_THRESHOLD, Result, candidate_probability};
use twindex_cli::run::ranges;

const TITLE: &str = "Bands of any number of functions";

/// A signature cut into bands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    pub(crate) bands: u32,
    /// The functions of a band.
    pub(crate) rows: u32,
}

/// The most functions of a signature.
const MOST: u32 = 4096;

impl Cut {
    /// The probability that two signatures meet in a band.
    fn meet(self, similarity: f64) -> f64 {
        candidate_probability(similarity, self.rows, self.bands as usize)
    }

    /// The similarity that the books' rule takes for the threshold: (1/b)^(1/r).
    fn rule(self) -> f64 {
        (1.0 / f64::from(self.bands)).powf(1.0 / f64::from(self.rows))
    }

    /// The similarity at which every second pair meets.
    fn half(self) -> f64 {
        (1.0 - 0.5_f64.powf(1.0 / f64::from(self.bands))).powf(1.0 / f64::from(self.rows))
    }

    /// The mean probability that a pair is missed, for similarities spread evenly from the
    /// threshold to 1, and that one meets in vain, for those from 0 to it.
    fn errors(self, threshold: f64) -> (f64, f64) {
        let missed = mean(threshold, 1.0, |similarity| 1.0 - self.meet(similarity));
        (missed, mean(0.0, threshold, |similarity| self.meet(similarity)))
    }

    /// All cuts of this many functions that use as many as they can.
    fn all(functions: u32) -> impl Iterator<Item = Self> {
        (1..=functions).map(move |rows| Self { bands: functions / rows, rows })
    }

    /// The one whose rule is closest to the threshold.
    fn by_rule(functions: u32, threshold: f64) -> Self {
        let distance = |cut: &Self| (cut.rule() - threshold).abs();
        let closest = Self::all(functions).min_by(|a, b| distance(a).total_cmp(&distance(b)));
        closest.unwrap_or(Self { bands: functions, rows: 1 })
    }

    /// The one with the deepest bands that finds pairs at the threshold with this probability.
    fn by_recall(functions: u32, threshold: f64, recall: f64) -> Self {
        let deepest = Self::all(functions).filter(|cut| cut.meet(threshold) >= recall).last();
        deepest.unwrap_or(Self { bands: functions, rows: 1 })
    }
}

/// `BANDSxROWS`.
impl FromStr for Cut {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let fault = || format!("expected BANDSxROWS, such as 20x10, of {MOST} functions at most");
        let (bands, rows) = text.split_once('x').ok_or_else(fault)?;
        let number = |text: &str| text.parse::<u32>().ok().filter(|number| *number > 0);
        let (bands, rows) = number(bands).zip(number(rows)).ok_or_else(fault)?;
        if bands.checked_mul(rows).is_some_and(|functions| functions <= MOST) {
            Ok(Self { bands, rows })
        } else {
            Err(fault())
        }
    }
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.bands, self.rows)
    }
}

/// The settings of the study.
#[derive(Clone, Debug)]
pub(crate) struct BandsSettings {
    /// The cuts to compare, besides those that are made of `functions`.
    pub(crate) cuts: Vec<Cut>,
    /// The number of functions to cut by both rules.
    pub(crate) functions: u32,
    pub(crate) threshold: f64,
    /// The least probability of meeting at the threshold, for one of the two rules.
    pub(crate) recall: f64,
    /// The number of times each pair is sketched anew.
    pub(crate) runs: u32,
}

impl Default for BandsSettings {
    fn default() -> Self {
        Self {
            // 200 functions are cut so by Bergillos et al.; 256 by the rule for .8.
            cuts: vec![Cut { bands: 20, rows: 10 }, Cut { bands: 16, rows: 16 }],
            functions: 200,
            threshold: DEFAULT_THRESHOLD,
            recall: DEFAULT_RECALL,
            runs: 300,
        }
    }
}

/// The similarities of the simulated pairs, and the elements of both sets together.
const SIMULATED: [f64; 7] = [0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95];
const UNION: u64 = 200;

/// How often pairs of one similarity met.
struct Met {
    cut: Cut,
    similarity: f64,
    share: f64,
}

pub(crate) fn run(settings: &BandsSettings, context: &StudyContext<'_>) -> Result<Report> {
    let threshold = ranges::threshold(settings.threshold)?;
    let recall = ranges::recall(settings.recall)?;
    let by_rule = Cut::by_rule(settings.functions, threshold);
    let by_recall = Cut::by_recall(settings.functions, threshold, recall);
    let mut cuts = Vec::new();
    for cut in settings.cuts.iter().chain([&by_rule, &by_recall]) {
        if !cuts.contains(cut) {
            cuts.push(*cut);
        }
    }
    let met = simulate(&cuts, settings.runs, context)?;
    let columns =
        ["bands", "rows", "functions", "rule", "at_rule", "half", "recall", "missed", "extra"];
    let mut table = Table::new(&columns);
    for cut in &cuts {
        let (missed, extra) = cut.errors(threshold);
        table.push(vec![
            u64::from(cut.bands).into(),
            u64::from(cut.rows).into(),
            u64::from(cut.bands * cut.rows).into(),
            Cell::Share(cut.rule()),
            Cell::Share(cut.meet(cut.rule())),
            Cell::Share(cut.half()),
            Cell::Share(cut.meet(threshold)),
            Cell::Share(missed),
            Cell::Share(extra),
        ]);
    }
    let figure = figure(&cuts, &met, threshold);
    let findings = findings(&cuts, &met, settings.runs, (by_rule, by_recall), (threshold, recall));
    let title = format!("{TITLE}, at threshold {threshold}");
    Ok(Report {
        title,
        table,
        further: Vec::new(),
        data: Table::of_points(&figure),
        figure,
        findings,
    })
}

/// Sketches pairs of each similarity anew and again, and counts those that meet in a band.
fn simulate(cuts: &[Cut], runs: u32, context: &StudyContext<'_>) -> Result<Vec<Met>> {
    let most = cuts.iter().map(|cut| cut.bands * cut.rows).max().unwrap_or(1) as usize;
    let all: Vec<u64> = (0..UNION).map(fmix64).collect();
    let mut met = vec![vec![0_u32; SIMULATED.len()]; cuts.len()];
    for run in 0..runs {
        context.at(run.into(), runs.into())?;
        let functions = MinHash::new(Family::Xxh3, most, context.seed_of(run))?;
        for (at, similarity) in SIMULATED.into_iter().enumerate() {
            // The elements that only one set has are shared out between them.
            let apart = UNION - (similarity * UNION as f64).round() as u64;
            let (first, second) = ((apart / 2) as usize, (apart - apart / 2) as usize);
            let sets = [&all[..all.len() - second], &all[first..]];
            let [a, b] = sets.map(|keys| functions.signature(keys).unwrap_or_default());
            for (cut, met) in cuts.iter().zip(&mut met) {
                let used = (cut.bands * cut.rows) as usize;
                let of = |signature: &[u64]| -> Vec<Vec<u64>> {
                    let bands = signature[..used].chunks(cut.rows as usize);
                    bands.map(<[u64]>::to_vec).collect()
                };
                met[at] += u32::from(of(&a).iter().zip(&of(&b)).any(|(a, b)| a == b));
            }
        }
    }
    context.at(runs.into(), runs.into())?;
    let shares = cuts.iter().zip(met).flat_map(|(cut, met)| {
        let share = move |(similarity, met): (f64, u32)| Met {
            cut: *cut,
            similarity,
            share: f64::from(met) / f64::from(runs),
        };
        SIMULATED.into_iter().zip(met).map(share)
    });
    Ok(shares.collect())
}

fn findings(
    cuts: &[Cut],
    met: &[Met],
    runs: u32,
    (by_rule, by_recall): (Cut, Cut),
    (threshold, recall): (f64, f64),
) -> Vec<Finding> {
    let deviation = |one: &Met| {
        let expected = one.cut.meet(one.similarity);
        // One pair more or less is no deviation.
        let error = (expected * (1.0 - expected) / f64::from(runs)).sqrt();
        ((one.share - expected).abs() - 1.0 / f64::from(runs)).max(0.0) / error.max(1e-9)
    };
    let worst = met.iter().map(deviation).fold(0.0, f64::max);
    let mut findings = vec![Finding::new(
        "pairs meet as often as 1 - (1 - s^r)^b says",
        worst < 4.5,
        format!(
            "{} shares of {runs} differ by at most {worst:.1} of their standard errors",
            met.len()
        ),
    )];
    // (1 - 1/b)^b is close to 1/e for many bands.
    let many: Vec<&Cut> = cuts.iter().filter(|cut| cut.bands >= 10).collect();
    let at_rule = |cut: &&&Cut| cut.meet(cut.rule());
    let expected = 1.0 - 1.0 / std::f64::consts::E;
    if let (Some(least), Some(most)) = (
        many.iter().map(|cut| at_rule(&cut)).reduce(f64::min),
        many.iter().map(|cut| at_rule(&cut)).reduce(f64::max),
    ) {
        findings.push(Finding::new(
            "at (1/b)^(1/r) not half of the pairs meet, but 1 - 1/e of them",
            (least - expected).abs() < 0.03 && (most - expected).abs() < 0.03,
            format!("{least:.3} to {most:.3} with 10 bands and more"),
        ));
    }
    let (of_rule, of_recall) = (by_rule.errors(threshold), by_recall.errors(threshold));
    if by_recall.meet(threshold) >= recall && by_rule != by_recall {
        findings.push(Finding::new(
            "bands by the rule miss more pairs above the threshold than bands by recall, and meet \
             less often in vain",
            of_rule.0 > of_recall.0 && of_rule.1 < of_recall.1,
            format!(
                "{by_rule} misses {:.4} and {:.4} meet in vain; {by_recall} {:.4} and {:.4}",
                of_rule.0, of_rule.1, of_recall.0, of_recall.1
            ),
        ));
    }
    findings
}

fn figure(cuts: &[Cut], met: &[Met], threshold: f64) -> Figure {
    let steps = || (0..=200).map(|step| f64::from(step) / 200.0);
    let name = |cut: &Cut| format!("{} bands of {}", cut.bands, cut.rows);
    let mut curves: Vec<Series> = Vec::new();
    for cut in cuts {
        let points = steps().map(|similarity| Point::new(similarity, cut.meet(similarity)));
        curves.push(Series::new(name(cut), SeriesKind::Line, points));
        let dots = met.iter().filter(|one| one.cut == *cut);
        let dots = dots.map(|one| Point::new(one.similarity, one.share));
        curves.push(Series::new(name(cut), SeriesKind::Dots, dots));
    }
    let wrong = |cut: &Cut| {
        let wrong = |similarity: f64| {
            if similarity < threshold { cut.meet(similarity) } else { 1.0 - cut.meet(similarity) }
        };
        let points = steps().map(|similarity| Point::new(similarity, wrong(similarity)));
        Series::new(name(cut), SeriesKind::Line, points)
    };
    let similarity = || Axis::linear("similarity").within(0.0, 1.0);
    let line = || {
        let ends = [0.0, 1.0].map(|height| Point::new(threshold, height));
        Series::new("threshold", SeriesKind::Dashed, ends)
    };
    let panel = |title: &str, y: &str, series: Vec<Series>| Panel {
        title: title.to_owned(),
        x: similarity(),
        y: Axis::linear(y).within(0.0, 1.0),
        series: series.into_iter().chain([line()]).collect(),
    };
    let panels = vec![
        panel("Pairs that meet: theory (lines) and simulation (dots)", "share of pairs", curves),
        panel(
            "False positives below the threshold, false negatives above",
            "share of pairs",
            cuts.iter().map(wrong).collect(),
        ),
    ];
    Figure { title: TITLE.to_owned(), panels }
}

/// The mean of a function over an interval, by Simpson's rule; 0 for an empty interval.
fn mean(from: f64, to: f64, of: impl Fn(f64) -> f64) -> f64 {
    const PAIRS: u32 = 1000;
    if to <= from {
        return 0.0;
    }
    let step = (to - from) / f64::from(2 * PAIRS);
    let weighted = (0..=2 * PAIRS).map(|at| {
        let weight = match at {
            0 => 1.0,
            at if at == 2 * PAIRS => 1.0,
            at if at % 2 == 1 => 4.0,
            _ => 2.0,
        };
        weight * of(from + step * f64::from(at))
    });
    weighted.sum::<f64>() / f64::from(6 * PAIRS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_are_read_as_they_are_written() {
        assert_eq!("20x10".parse(), Ok(Cut { bands: 20, rows: 10 }));
        for bad in ["", "20", "x10", "20x", "0x5", "20x0", "100x100", "20 x 10", "-2x5"] {
            assert!(bad.parse::<Cut>().is_err(), "{bad}");
        }
    }

    #[test]
    fn the_chance_to_meet_is_that_of_all_outcomes() {
        // Each of four functions agrees or not: 16 outcomes of two bands of two.
        let cut = Cut { bands: 2, rows: 2 };
        for similarity in [0.1, 0.5, 0.9] {
            let chance = |outcome: u32| -> f64 {
                let agrees = |at: u32| outcome >> at & 1 == 1;
                let meets = agrees(0) && agrees(1) || agrees(2) && agrees(3);
                let of = |at: u32| if agrees(at) { similarity } else { 1.0 - similarity };
                if meets { (0..4).map(of).product() } else { 0.0 }
            };
            let expected: f64 = (0..16).map(chance).sum();
            assert!((cut.meet(similarity) - expected).abs() < 1e-12);
        }
        assert!((cut.meet(cut.half()) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn means_are_those_of_closed_forms() {
        assert!((mean(0.0, 1.0, |x| x * x) - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!(mean(1.0, 1.0, |_| 1.0), 0.0);
        // One band of r rows: s^r, whose integral is 1 / (r + 1).
        let (_, extra) = Cut { bands: 1, rows: 3 }.errors(1.0);
        assert!((extra - 0.25).abs() < 1e-9, "{extra}");
    }

    #[test]
    fn both_rules_choose_the_best_of_all_cuts() {
        for (functions, threshold) in [(200, 0.8), (256, 0.5), (90, 0.7)] {
            let by_rule = Cut::by_rule(functions, threshold);
            let by_recall = Cut::by_recall(functions, threshold, 0.99);
            for rows in 1..=functions {
                let cut = Cut { bands: functions / rows, rows };
                let distance = |cut: Cut| (cut.rule() - threshold).abs();
                assert!(distance(by_rule) <= distance(cut), "{by_rule} {cut}");
                assert!(cut.meet(threshold) < 0.99 || cut.rows <= by_recall.rows);
            }
        }
        assert_eq!(Cut::by_rule(200, 0.8), Cut { bands: 16, rows: 12 });
    }

    #[test]
    fn every_seed_draws_other_functions() {
        let shares = |seed| {
            let cuts = [Cut { bands: 20, rows: 10 }];
            let met = simulate(&cuts, 64, &StudyContext::unwatched(seed)).expect("valid");
            met.iter().map(|one| one.share).collect::<Vec<f64>>()
        };
        assert_eq!(shares(0), shares(0));
        assert_ne!(shares(0), shares(1));
    }

    #[test]
    fn findings_hold_and_wrong_shares_are_noticed() {
        let settings = BandsSettings { runs: 100, ..BandsSettings::default() };
        let report = run(&settings, &StudyContext::unwatched(1)).expect("well-formed");
        assert_eq!(report.findings.len(), 3);
        assert!(report.findings.iter().all(|finding| finding.holds));
        let cut = Cut { bands: 20, rows: 10 };
        let met = [Met { cut, similarity: 0.9, share: 0.5 }];
        let found = findings(&[cut], &met, 100, (cut, cut), (0.8, 0.99));
        assert!(!found[0].holds);
    }
}
