//! The law of the estimate, the coverage of intervals, and the laws of affine maps and stacked
//! rows.
//!
//! Dembele, Lo 2017, "The exact probability law for the approximated similarity from the minhashing
//! method".

mod affine_bias;
mod interval_coverage;
mod rum_moments;
mod simulated_estimates;

use super::{Figure, Finding, Panel, Report, StudyContext, Table};
use crate::estimate::EstimateLaw;
use twindex::Result;

#[derive(Clone, Debug)]
pub(crate) struct LawSettings {
    /// J of the two simulated sets, rounded to a multiple of 1/rows.
    pub(crate) similarity: f64,
    /// The number of hash functions or maps, k, from 1 to 10,000.
    pub(crate) functions: u32,
    /// The rows of the matrix, that is, elements of the union, from 2 to 10,000.
    pub(crate) rows: u32,
    /// The number of runs of each simulation, at least 100.
    pub(crate) runs: u32,
}

impl Default for LawSettings {
    fn default() -> Self {
        Self { similarity: 0.8, functions: 128, rows: 100, runs: 4_000 }
    }
}

impl LawSettings {
    /// The number of common rows.
    fn shared(&self) -> u32 {
        (self.similarity * f64::from(self.rows)).round() as u32
    }

    /// J, rounded to what the number of rows allows.
    fn reached(&self) -> f64 {
        f64::from(self.shared()) / f64::from(self.rows)
    }

    /// The values of a simulated estimate: one for each row and function.
    fn steps(&self) -> u64 {
        u64::from(self.rows) * u64::from(self.functions)
    }
}

/// The result of one part of the study.
struct LawPart {
    panels: Vec<Panel>,
    findings: Vec<Finding>,
}

pub(crate) fn run(settings: &LawSettings, context: &StudyContext<'_>) -> Result<Report> {
    // Checks the similarity, from which the number of shared rows follows.
    EstimateLaw::new(settings.functions, settings.similarity)?;
    // Stacked rows take about half the time, and the simulation of the law most of the rest.
    context.at(0, 20)?;
    let simulated = simulated_estimates::run(settings, context)?;
    context.at(7, 20)?;
    let (covered, table) = interval_coverage::run(settings)?;
    context.at(8, 20)?;
    let affine = affine_bias::run(context.seed)?;
    let stacked = rum_moments::run(settings, context)?;
    context.at(20, 20)?;
    let title = "The law of the estimate, and how often intervals hold";
    let (mut panels, mut findings) = (Vec::new(), Vec::new());
    for part in [simulated, covered, affine, stacked] {
        panels.extend(part.panels);
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

/// The mean and the variance, with divisor n, of some numbers.
fn moments(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    (mean, values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count)
}

#[cfg(test)]
#[path = "law_tests.rs"]
mod tests;
