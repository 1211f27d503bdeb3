//! What was measured, as rows of one table.

use crate::Outcome;
use std::time::Duration;

/// One figure.
pub struct Row {
    what: String,
    figure: String,
    reach: String,
}

impl Row {
    pub fn new(what: impl Into<String>, figure: impl Into<String>) -> Self {
        Self { what: what.into(), figure: figure.into(), reach: String::new() }
    }

    /// States what is to be reached, and says so if it was not.
    pub fn reach(mut self, target: impl Into<String>, reached: bool) -> Self {
        self.reach = target.into();
        if !reached {
            self.figure += " (missed)";
        }
        self
    }

    /// A time that is to be at most this long.
    pub fn within(what: impl Into<String>, took: Duration, most: Duration) -> Self {
        Self::new(what, time(took)).reach(format!("<= {}", short(most)), took <= most)
    }

    /// A rate of documents.
    pub fn rate(what: impl Into<String>, documents: u64, took: Duration) -> Self {
        Self::new(what, format!("{} documents/s", grouped(per_second(documents, took))))
    }

    /// Reads a row that `print` printed; other lines are none.
    pub fn parse(line: &str) -> Option<Self> {
        let cells: Vec<&str> = line.strip_prefix('|')?.split('|').map(str::trim).collect();
        match cells[..] {
            ["what" | "---", ..] => None,
            [what, figure, reach, ""] => {
                Some(Self { what: what.into(), figure: figure.into(), reach: reach.into() })
            }
            _ => None,
        }
    }
}

/// Prints rows as a Markdown table.
#[expect(clippy::print_stdout, reason = "a program that reports what it measured")]
pub fn print(rows: &[Row]) {
    println!("| what | figure | to reach |\n|---|---|---|");
    for Row { what, figure, reach } in rows {
        println!("| {what} | {figure} | {reach} |");
    }
}

/// Prints a line before the table.
#[expect(clippy::print_stdout, reason = "a program that reports what it measured")]
pub fn heading(line: &str) {
    println!("{line}\n");
}

/// Says on standard error what is going on.
#[expect(clippy::print_stderr, reason = "long runs that show they are alive")]
pub fn progress(line: &str) {
    eprintln!("scale: {line}");
}

/// The time that so large a share of the runs stayed below. Sorts them.
pub fn quantile(times: &mut [Duration], share: f64) -> Outcome<Duration> {
    times.sort_unstable();
    let at = (times.len().saturating_sub(1) as f64 * share) as usize;
    Ok(*times.get(at).ok_or("nothing was measured")?)
}

pub fn median(times: &mut [Duration]) -> Outcome<Duration> {
    quantile(times, 0.5)
}

pub fn per_second(number: u64, took: Duration) -> u64 {
    (number as f64 / took.as_secs_f64().max(1e-9)) as u64
}

/// A measured time in the unit that suits it.
pub fn time(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        ..1e-3 => format!("{:.1} us", seconds * 1e6),
        ..1.0 => format!("{:.1} ms", seconds * 1e3),
        _ => format!("{seconds:.2} s"),
    }
}

/// A time somebody chose, without digits that say nothing.
fn short(time: Duration) -> String {
    match time.as_micros() {
        micros @ ..1_000 => format!("{micros} us"),
        micros @ ..1_000_000 => format!("{} ms", micros / 1_000),
        micros => format!("{} s", micros / 1_000_000),
    }
}

/// A number with a comma between thousands.
pub fn grouped(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        _ => format!("{},{:03}", grouped(number / 1_000), number % 1_000),
    }
}
