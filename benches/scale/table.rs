//! `table`: everything, one after the other.

use crate::report::{Row, progress};
use crate::system::scratch;
use crate::{Outcome, change, json, queries, single, underwrite};
use std::path::Path;
use std::process::{Command, Stdio};

pub fn run(count: u64, corpus: &Path) -> Outcome<Vec<Row>> {
    // A missing corpus should not show after half an hour.
    std::fs::File::open(corpus).map_err(|error| format!("{}: {error}", corpus.display()))?;
    let folder = scratch()?;
    let index = folder.path().join("table.twx");
    progress("json");
    let mut rows = json::run(corpus)?;
    progress("ingest");
    rows.extend(ingest(count, &index)?);
    for (name, measure) in [
        ("queries", queries::run as fn(&Path) -> Outcome<Vec<Row>>),
        ("single", single::run),
        ("underwrite", underwrite::run),
        ("change", change::run),
    ] {
        progress(name);
        rows.extend(measure(&index)?);
    }
    Ok(rows)
}

/// Runs `ingest` in a process of its own, whose peak of memory is of nothing else.
fn ingest(count: u64, index: &Path) -> Outcome<Vec<Row>> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("ingest").arg(count.to_string()).arg("--keep").arg(index);
    let output = command.stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(format!("ingest ended with {}", output.status).into());
    }
    Ok(String::from_utf8_lossy(&output.stdout).lines().filter_map(Row::parse).collect())
}
