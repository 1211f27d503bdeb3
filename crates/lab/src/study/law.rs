//! The law of the estimate, how often intervals hold, and what affine maps and stacked rows make of
//! it.
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
    /// J of the two sets of the simulation; the nearest that so many rows have.
    pub(crate) similarity: f64,
    /// Hash functions or maps: k, from 1 to 10,000.
    pub(crate) functions: u32,
    /// Rows of the matrix: elements of the union, from 2 to 10,000.
    pub(crate) rows: u32,
    /// How often each simulation is run, from 100 on.
    pub(crate) runs: u32,
}

impl Default for LawSettings {
    fn default() -> Self {
        Self { similarity: 0.8, functions: 128, rows: 100, runs: 4_000 }
    }
}

impl LawSettings {
    /// How many rows of all are of both sets.
    fn shared(&self) -> u32 {
        (self.similarity * f64::from(self.rows)).round() as u32
    }

    /// J, as far as the number of rows allows.
    fn reached(&self) -> f64 {
        f64::from(self.shared()) / f64::from(self.rows)
    }
}

/// What one part of the study found.
struct LawPart {
    panels: Vec<Panel>,
    findings: Vec<Finding>,
}

pub(crate) fn run(settings: &LawSettings, context: &StudyContext<'_>) -> Result<Report> {
    // No number of shared rows could be made of what is no similarity.
    EstimateLaw::new(settings.functions, settings.similarity)?;
    // Stacked rows take about half the time, simulation of the law most of the rest.
    context.at(0, 20)?;
    let simulated = simulated_estimates::run(settings, context.seed)?;
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
    Ok(Report { title: title.to_owned(), table, data: Table::of_points(&figure), figure, findings })
}

/// Mean and variance (over n) of some numbers.
fn moments(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    (mean, values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count)
}

#[cfg(test)]
#[path = "law_tests.rs"]
mod tests;
