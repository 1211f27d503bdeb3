//! Error of the estimate over the number of hash functions, by family.

use super::{Axis, Figure, Panel, Report, Table, Work};
use crate::error::Result;

#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {}

pub(crate) fn run(_settings: &Settings, work: &Work<'_>) -> Result<Report> {
    work.at(0, 1)?;
    let panel = Panel {
        title: String::new(),
        x: Axis::linear("x"),
        y: Axis::linear("y"),
        series: Vec::new(),
    };
    Ok(Report {
        title: "Error of the estimate over the number of hash functions, by family".to_owned(),
        table: Table::new(&["name"]),
        data: Table::new(&["name"]),
        figure: Figure {
            title: "Error of the estimate over the number of hash functions, by family".to_owned(),
            panels: vec![panel],
        },
        findings: Vec::new(),
    })
}
