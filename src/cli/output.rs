//! Result lines on standard output and the summary on standard error.

use super::args::Global;
use super::failure::Failure;
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::borrow::Cow;
use std::io::{self, BufWriter, IsTerminal, Write};

/// Prints result lines: JSON, aligned columns on a terminal, or tab-separated columns.
pub(super) struct Results {
    out: BufWriter<io::Stdout>,
    style: Style,
    /// Rows that wait to be aligned.
    waiting: Vec<Vec<String>>,
    any: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    Json,
    Aligned,
    Tabs,
}

/// So many rows are aligned together; more would make a person wait for the first.
const ALIGNED: usize = 64;

impl Results {
    pub(super) fn new(global: &Global) -> Self {
        let style = match (global.json, io::stdout().is_terminal()) {
            (true, _) => Style::Json,
            (false, true) => Style::Aligned,
            (false, false) => Style::Tabs,
        };
        let out = BufWriter::with_capacity(1 << 16, io::stdout());
        Self { out, style, waiting: Vec::new(), any: false }
    }

    /// Whether anything was printed.
    pub(super) fn any(&self) -> bool {
        self.any
    }

    /// Prints a line of named values.
    pub(super) fn line(&mut self, fields: &[(&str, Value)]) -> Result<(), Failure> {
        self.any = true;
        match self.style {
            Style::Json => {
                serde_json::to_writer(&mut self.out, &Object(fields)).map_err(io::Error::from)?;
                self.out.write_all(b"\n")?;
            }
            Style::Tabs => {
                let cells: Vec<String> = fields.iter().map(|(_, value)| plain(value)).collect();
                writeln!(self.out, "{}", cells.join("\t"))?;
            }
            Style::Aligned => {
                self.waiting.push(fields.iter().map(|(_, value)| plain(value)).collect());
                if self.waiting.len() >= ALIGNED {
                    self.align()?;
                }
            }
        }
        Ok(())
    }

    /// Prints a line of named values and then a list, which may be long: each item as it comes.
    /// On a terminal the values are as wide as `widths` says.
    pub(super) fn line_with_list(
        &mut self,
        fields: &[(&str, Value)],
        widths: &[usize],
        name: &str,
        items: impl Iterator<Item = crate::Result<String>>,
    ) -> Result<(), Failure> {
        self.any = true;
        let separator = match self.style {
            Style::Json => {
                let object = serde_json::to_string(&Object(fields)).map_err(io::Error::from)?;
                let name = Value::from(name);
                write!(self.out, "{},{name}:[", object.strip_suffix('}').unwrap_or(&object))?;
                ","
            }
            Style::Tabs => {
                let cells: Vec<String> = fields.iter().map(|(_, value)| plain(value)).collect();
                write!(self.out, "{}\t", cells.join("\t"))?;
                "\t"
            }
            Style::Aligned => {
                for ((_, value), width) in fields.iter().zip(widths) {
                    write!(self.out, "{:width$}  ", plain(value))?;
                }
                "  "
            }
        };
        for (at, item) in items.enumerate() {
            let item = Value::from(item?);
            let between = if at > 0 { separator } else { "" };
            match self.style {
                Style::Json => write!(self.out, "{between}{item}")?,
                _ => write!(self.out, "{between}{}", plain(&item))?,
            }
        }
        Ok(writeln!(self.out, "{}", if self.style == Style::Json { "]}" } else { "" })?)
    }

    /// Prints one id a line, as it is, to be read by a command. What a terminal would take for
    /// something else is escaped there.
    pub(super) fn id(&mut self, id: &str) -> Result<(), Failure> {
        match self.style {
            Style::Tabs => {
                self.any = true;
                Ok(writeln!(self.out, "{id}")?)
            }
            Style::Json | Style::Aligned => self.line(&[("id", Value::from(id))]),
        }
    }

    /// Whether every line is exact, whatever is in it.
    pub(super) fn is_json(&self) -> bool {
        self.style == Style::Json
    }

    /// Prints one object: as JSON, or a name and a value a line.
    pub(super) fn object(&mut self, fields: &[(&str, Value)]) -> Result<(), Failure> {
        if self.style == Style::Json {
            return self.line(fields);
        }
        for (name, value) in fields {
            self.line(&[("name", Value::from(*name)), ("value", value.clone())])?;
        }
        Ok(())
    }

    fn align(&mut self) -> Result<(), Failure> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let mut table = comfy_table::Table::new();
        table.load_style(comfy_table::presets::NOTHING);
        self.waiting.drain(..).for_each(|row| {
            table.add_row(row);
        });
        for line in table.lines() {
            // Every cell has a space before and after it.
            writeln!(self.out, "{}", line.strip_prefix(' ').unwrap_or(&line).trim_end())?;
        }
        Ok(())
    }

    /// Prints what is still held back. To be called between questions and at the end.
    pub(super) fn flush(&mut self) -> Result<(), Failure> {
        self.align()?;
        Ok(self.out.flush()?)
    }
}

/// Named values as a JSON object that keeps their order.
struct Object<'f>(&'f [(&'f str, Value)]);

impl Serialize for Object<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// The text with control characters escaped as in JSON, so that it breaks no line and no column and
/// tells a terminal nothing. A backslash stays as it is, so that ids of paths can be used again.
pub(super) fn one_line(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            c if c.is_control() => out += &format!("\\u{:04x}", u32::from(c)),
            c => out.push(c),
        }
    }
    out.into()
}

/// A value for people and for `cut`: nothing in it breaks a line or a column.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => one_line(text).into_owned(),
        Value::Object(map) => {
            map.iter().map(|(k, v)| format!("{k} {}", plain(v))).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}

/// A similarity with the four digits that an estimate deserves at most.
pub(super) fn similarity(number: f64) -> Value {
    Value::from((number * 10_000.0).round() / 10_000.0)
}

/// Prints the summary: one JSON object with `--json`, else the given sentence.
pub(super) fn summary(global: &Global, fields: &[(&str, Value)], sentence: &str) {
    if global.quiet {
        return;
    }
    let mut out = io::stderr().lock();
    let _ = match global.json {
        true => match serde_json::to_string(&Object(fields)) {
            Ok(line) => writeln!(out, "{line}"),
            Err(error) => writeln!(out, "{error}"),
        },
        false => writeln!(out, "{}", one_line(sentence)),
    };
}

/// A number with a comma between thousands.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// "1 document", "2 documents".
pub(super) fn count(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(number))
}

/// A number of bytes in the unit that suits it, in powers of 1000.
pub(super) fn bytes(number: u64) -> String {
    match number {
        0..1_000 => format!("{number} B"),
        1_000..1_000_000 => format!("{:.1} kB", number as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", number as f64 / 1e6),
        _ => format!("{:.2} GB", number as f64 / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_thousands() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), text);
        }
        assert_eq!((count(1, "pair"), count(2, "pair")), ("1 pair".into(), "2 pairs".into()));
        assert_eq!(bytes(1_250_000), "1.2 MB");
    }

    #[test]
    fn a_cell_never_breaks_a_line() {
        assert_eq!(plain(&Value::from("a\tb\nc\r")), "a\\tb\\nc\\r");
        assert_eq!(
            plain(&Value::from("\u{1b}[2J\0\u{7f}\u{85}")),
            "\\u001b[2J\\u0000\\u007f\\u0085"
        );
        assert_eq!(plain(&Value::from("C:\\new é")), "C:\\new é");
    }
}
