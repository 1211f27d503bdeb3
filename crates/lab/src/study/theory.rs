//! The theory of the law paper: the event of its equation 18, the disjoint rows of equation 19 and
//! case D, and the rate of theorem 2.
//!
//! Dembele, Lo 2017, "The exact probability law for the approximated similarity from the minhashing
//! method", sections 3.III and 3.IV.

mod collisions;
mod disjoint_rows;
mod sample_rate;

use super::{Cell, Figure, Finding, Panel, Report, StudyContext, Table};
use twindex::{Error, Result};

#[derive(Clone, Debug)]
pub(crate) struct TheorySettings {
    /// The number of maps of a matrix, k.
    pub(crate) maps: u32,
    /// The number of runs of each simulation.
    pub(crate) runs: u32,
}

impl Default for TheorySettings {
    fn default() -> Self {
        Self { maps: 20, runs: 400 }
    }
}

/// The result of one part of the study.
struct TheoryPart {
    panel: Panel,
    findings: Vec<Finding>,
}

pub(crate) fn run(settings: &TheorySettings, context: &StudyContext<'_>) -> Result<Report> {
    let wrong = |setting, got: u32, expected| Error::InvalidSetting {
        setting,
        got: got.to_string(),
        expected,
    };
    if !(1..=1_000).contains(&settings.maps) {
        return Err(wrong("maps", settings.maps, "a whole number from 1 to 1000"));
    }
    if !(100..=100_000).contains(&settings.runs) {
        return Err(wrong("runs", settings.runs, "a whole number from 100 to 100000"));
    }
    context.at(0, 3)?;
    let rows = disjoint_rows::run(settings, context)?;
    context.at(1, 3)?;
    let collisions = collisions::run(settings, context)?;
    context.at(2, 3)?;
    let (rate, table) = sample_rate::run(settings, context)?;
    context.at(3, 3)?;
    let title = "Disjoint rows, colliding rows, and the rate of samples";
    let (mut panels, mut findings) = (Vec::new(), Vec::new());
    for part in [rows, collisions, rate] {
        panels.push(part.panel);
        findings.extend(part.findings);
    }
    let figure = Figure { title: title.to_owned(), panels };
    Ok(Report {
        title: title.to_owned(),
        table,
        further: Vec::new(),
        data: Table::of_points(&figure),
        figure,
        findings,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_findings_hold_and_all_points_are_numbers() {
        for (seed, maps) in [(3, 20), (4, 1), (5, 200)] {
            let settings = TheorySettings { maps, runs: 200 };
            let report = run(&settings, &StudyContext::unwatched(seed)).expect("a report");
            for finding in &report.findings {
                assert!(finding.holds, "{}: {}", finding.expected, finding.seen);
            }
            let points = report.figure.panels.iter().flat_map(|p| &p.series);
            let mut points = points.flat_map(|series| &series.points);
            assert!(points.all(|p| p.x.is_finite() && p.y.is_finite()));
        }
    }

    #[test]
    fn settings_out_of_range_are_refused() {
        for (maps, runs) in [(0, 400), (1_001, 400), (20, 99)] {
            let settings = TheorySettings { maps, runs };
            assert!(run(&settings, &StudyContext::unwatched(0)).is_err(), "{settings:?}");
        }
    }
}
