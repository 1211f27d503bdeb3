//! Prints the tables and findings of a study as columns, JSON or CSV.

use crate::study::{Cell, Report, Table};
use serde_json::Value;
use twindex_cli::run::failure::Failure;
use twindex_cli::run::global_options::GlobalOptions;
use twindex_cli::run::results_file::ResultsFile;
use twindex_cli::terminal::output::{Results, significant, similarity};

/// Prints the short table, then the findings. `is_one_of_many` puts a line with the name of the
/// study before them.
pub(super) fn print(
    global: &GlobalOptions,
    study: &str,
    report: &Report,
    is_one_of_many: bool,
) -> Result<(), Failure> {
    let mut results = Results::new(global);
    if is_one_of_many && !results.is_aligned() {
        results.heading(&["study", study])?;
    }
    if results.is_aligned() {
        results.text(&format!("{study}: {}\n\n", report.title))?;
    }
    print_table(&mut results, study, &report.table)?;
    for (name, table) in &report.further {
        results.flush()?;
        if results.is_aligned() {
            results.text(&format!("\n{name}\n\n"))?;
        }
        print_table(&mut results, study, table)?;
    }
    results.flush()?;
    if results.is_aligned() {
        for finding in &report.findings {
            let mark = if finding.holds { "yes" } else { "NO " };
            results.text(&format!("\n{mark} {}\n    {}\n", finding.expected, finding.seen))?;
        }
        results.flush()?;
        return Ok(());
    }
    results.heading(&["expected", "seen", "holds"])?;
    for finding in &report.findings {
        let mut fields = vec![
            ("expected", finding.expected.as_str().into()),
            ("seen", finding.seen.as_str().into()),
            ("holds", finding.holds.into()),
        ];
        if results.is_json() {
            fields.insert(0, ("study", study.into()));
        }
        results.line(&fields)?;
    }
    Ok(results.flush()?)
}

/// Prints the names of the columns and the rows.
fn print_table(results: &mut Results, study: &str, table: &Table) -> Result<(), Failure> {
    let names: Vec<&str> = table.columns.iter().map(String::as_str).collect();
    results.heading(&names)?;
    for row in &table.rows {
        let values = row.iter().map(if results.is_json() { value } else { in_column });
        let mut fields: Vec<(&str, Value)> = names.iter().copied().zip(values).collect();
        if results.is_json() {
            fields.insert(0, ("study", study.into()));
        }
        results.line(&fields)?;
    }
    Ok(())
}

fn value(cell: &Cell) -> Value {
    match cell {
        Cell::Text(text) => text.as_str().into(),
        Cell::Count(count) => (*count).into(),
        Cell::Number(number) => significant(*number),
        Cell::Share(share) => similarity(*share),
        Cell::Empty => Value::Null,
    }
}

/// The value in a column, where every share has four decimals.
fn in_column(cell: &Cell) -> Value {
    match cell {
        // Adding 0 avoids a negative zero.
        Cell::Share(share) if share.is_finite() => {
            format!("{:.4}", (share * 10_000.0).round() / 10_000.0 + 0.0).into()
        }
        other => value(other),
    }
}

/// The table as CSV according to RFC 4180, but with lines that end in a line feed alone.
pub(super) fn csv(table: &Table) -> String {
    let mut out = String::new();
    let heading = table.columns.iter().map(|name| quoted(name));
    out.push_str(&heading.collect::<Vec<_>>().join(","));
    out.push('\n');
    for row in &table.rows {
        let cells = row.iter().map(|cell| match in_column(cell) {
            Value::Null => String::new(),
            Value::String(text) => quoted(&text),
            other => other.to_string(),
        });
        out.push_str(&cells.collect::<Vec<_>>().join(","));
        out.push('\n');
    }
    out
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// Writes the text to the file.
pub(super) fn written(mut out: ResultsFile, text: &str) -> Result<ResultsFile, Failure> {
    text.lines().try_for_each(|line| out.line(line))?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_cells_are_quoted_only_if_necessary() {
        let mut table = Table::new(&["name", "a, b"]);
        table.push(vec!["say \"no\"".into(), 0.5.into()]);
        table.push(vec![Cell::Empty, Cell::Share(0.123_456)]);
        table.push(vec![Cell::Share(0.81), Cell::Share(-1e-9)]);
        assert_eq!(csv(&table), "name,\"a, b\"\n\"say \"\"no\"\"\",0.5\n,0.1235\n0.8100,0.0000\n");
    }
}
