//! Result lines on standard output and the summary on standard error.

use super::aligned::{Painted, aligned, padded};
use super::color::{NAME, VALUE, is_on};
use super::escape::{cell, cell_for_terminal, for_stream, for_terminal};
use super::output_options::OutputOptions;
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::borrow::Cow;
use std::io::{self, BufWriter, IsTerminal, Write};
use twindex::mash_distance;

pub use super::numbers::grouped;

/// Prints result lines: as JSON, as aligned columns on a terminal, or as tab-separated columns.
pub struct Results {
    out: BufWriter<io::Stdout>,
    layout: Layout,
    terminal: bool,
    color: bool,
    /// Rows that wait to be aligned together.
    waiting: Vec<Vec<String>>,
    /// The part of those rows to paint.
    painted: Option<Painted>,
    any: bool,
    /// Takes the results instead of standard output.
    sink: Option<Box<dyn ResultsSink>>,
}

/// Takes results instead of standard output.
pub trait ResultsSink {
    /// Takes a line of named values.
    fn row(&mut self, fields: &[(&str, Value)]) -> io::Result<()>;

    /// Completes the results.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    Json,
    Aligned,
    Tabs,
}

/// The most rows that are aligned together. A reader would wait longer for the first of more.
const ALIGNED: usize = 64;

impl Results {
    /// Prepares to print to standard output.
    pub fn new(options: impl Into<OutputOptions>) -> Self {
        let terminal = io::stdout().is_terminal();
        let layout = match (options.into().json, terminal) {
            (true, _) => Layout::Json,
            (false, true) => Layout::Aligned,
            (false, false) => Layout::Tabs,
        };
        let out = BufWriter::with_capacity(1 << 16, io::stdout());
        let color = layout == Layout::Aligned && is_on(&io::stdout());
        Self {
            out,
            layout,
            terminal,
            color,
            waiting: Vec::new(),
            painted: None,
            any: false,
            sink: None,
        }
    }

    /// Prepares to give results to something else than standard output.
    pub fn to_file(sink: Box<dyn ResultsSink>) -> Self {
        Self {
            out: BufWriter::with_capacity(0, io::stdout()),
            layout: Layout::Json,
            terminal: false,
            color: false,
            waiting: Vec::new(),
            painted: None,
            any: false,
            sink: Some(sink),
        }
    }

    /// Whether results are aligned for a terminal.
    pub fn is_aligned(&self) -> bool {
        self.layout == Layout::Aligned
    }

    /// Whether results have colour.
    pub fn is_colored(&self) -> bool {
        self.color
    }

    /// Whether anything was printed.
    pub fn any(&self) -> bool {
        self.any
    }

    /// Prints a line of named values.
    pub fn line(&mut self, fields: &[(&str, Value)]) -> io::Result<()> {
        self.any = true;
        if let Some(sink) = &mut self.sink {
            return sink.row(fields);
        }
        match self.layout {
            Layout::Json => {
                let line = serde_json::to_string(&NamedValues(fields))?;
                writeln!(self.out, "{}", self.json(&line))?;
            }
            Layout::Tabs => {
                let cells: Vec<String> =
                    fields.iter().map(|(_, value)| plain(value, cell)).collect();
                writeln!(self.out, "{}", cells.join("\t"))?;
            }
            Layout::Aligned => {
                let similarity = fields.iter().position(|(name, _)| *name == "similarity");
                self.painted =
                    self.painted.or(similarity.map(|column| Painted::Column(column, VALUE)));
                let cells = fields.iter().map(|(_, value)| plain(value, cell_for_terminal));
                self.waiting.push(cells.collect());
                if self.waiting.len() >= ALIGNED {
                    self.align()?;
                }
            }
        }
        Ok(())
    }

    /// Prints a line of named values and a list. The list may be long: each item is written as it
    /// arrives. On a terminal, `widths` gives the widths of the values.
    pub fn line_with_list<E: From<io::Error>>(
        &mut self,
        fields: &[(&str, Value)],
        widths: &[usize],
        name: &str,
        items: impl Iterator<Item = Result<String, E>>,
    ) -> Result<(), E> {
        self.any = true;
        if let Some(sink) = &mut self.sink {
            let items = items.map(|item| item.map(Value::from)).collect::<Result<Vec<_>, E>>()?;
            let fields = fields.iter().cloned().chain([(name, Value::from(items))]);
            return Ok(sink.row(&fields.collect::<Vec<_>>())?);
        }
        let separator = match self.layout {
            Layout::Json => {
                let object =
                    serde_json::to_string(&NamedValues(fields)).map_err(io::Error::from)?;
                let name = Value::from(name);
                let object = self.json(object.strip_suffix('}').unwrap_or(&object));
                write!(self.out, "{object},{name}:[")?;
                ","
            }
            Layout::Tabs => {
                let cells: Vec<String> =
                    fields.iter().map(|(_, value)| plain(value, cell)).collect();
                write!(self.out, "{}\t", cells.join("\t"))?;
                "\t"
            }
            Layout::Aligned => {
                let widths = widths.iter().copied().chain(std::iter::repeat(0));
                for ((_, value), width) in fields.iter().zip(widths) {
                    write!(self.out, "{}  ", padded(&plain(value, cell_for_terminal), width))?;
                }
                "  "
            }
        };
        for (at, item) in items.enumerate() {
            let item = Value::from(item?);
            let between = if at > 0 { separator } else { "" };
            match self.layout {
                Layout::Json => {
                    write!(self.out, "{between}{}", self.json(&item.to_string()))?;
                }
                Layout::Tabs => write!(self.out, "{between}{}", plain(&item, cell))?,
                Layout::Aligned => {
                    write!(self.out, "{between}{}", plain(&item, cell_for_terminal))?;
                }
            }
        }
        Ok(writeln!(self.out, "{}", if self.layout == Layout::Json { "]}" } else { "" })?)
    }

    /// Prints an id as it is, with a NUL at its end.
    pub fn id0(&mut self, id: &str) -> io::Result<()> {
        if id.contains('\0') {
            let name = id.escape_debug();
            let message = format!("{name}: an id with a NUL cannot end with one; leave out -0");
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        self.any = true;
        write!(self.out, "{id}\0")
    }

    /// Whether results are JSON, so that a reader can restore every value exactly.
    pub fn is_json(&self) -> bool {
        self.layout == Layout::Json
    }

    /// Prints one object: as JSON, or with a name and a value on each line.
    pub fn object(&mut self, fields: &[(&str, Value)]) -> io::Result<()> {
        if self.layout == Layout::Json {
            return self.line(fields);
        }
        self.painted = Some(Painted::Column(0, NAME));
        for (name, value) in fields {
            self.line(&[("name", Value::from(*name)), ("value", value.clone())])?;
        }
        Ok(())
    }

    /// Prints the names of the columns that follow. JSON needs none: every line has its names.
    pub fn heading(&mut self, names: &[&str]) -> io::Result<()> {
        if self.layout == Layout::Json {
            return Ok(());
        }
        self.align()?;
        self.painted = Some(Painted::Heading);
        self.line(&names.iter().map(|name| (*name, Value::from(*name))).collect::<Vec<_>>())
    }

    /// Prints a text unchanged.
    pub fn text(&mut self, text: &str) -> io::Result<()> {
        self.align()?;
        self.out.write_all(text.as_bytes())
    }

    /// JSON for this output. A terminal gets more escapes, which do not change its meaning.
    fn json<'j>(&self, json: &'j str) -> Cow<'j, str> {
        if self.terminal { for_terminal(json) } else { json.into() }
    }

    /// Aligns and writes the rows that wait.
    fn align(&mut self) -> io::Result<()> {
        let painted = self.painted.take().filter(|_| self.color);
        for line in aligned(&std::mem::take(&mut self.waiting), painted) {
            writeln!(self.out, "{line}")?;
        }
        Ok(())
    }

    /// Completes the results: a file gets its name.
    pub fn finish(mut self) -> io::Result<()> {
        self.flush()?;
        self.sink.map_or(Ok(()), |sink| sink.finish())
    }

    /// Writes everything that is still buffered to standard output. Call it between queries.
    pub fn flush(&mut self) -> io::Result<()> {
        self.align()?;
        self.out.flush()
    }
}

/// Named values, serialized as a JSON object in this order.
struct NamedValues<'f>(&'f [(&'f str, Value)]);

impl Serialize for NamedValues<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// Named values as a line of JSON.
pub fn json_line(fields: &[(&str, Value)]) -> io::Result<String> {
    Ok(serde_json::to_string(&NamedValues(fields))? + "\n")
}

/// A value as a cell of a table. `escaped` keeps it from breaking the line or the column.
pub fn plain(value: &Value, escaped: fn(&str) -> Cow<'_, str>) -> String {
    match value {
        Value::String(text) => escaped(text).into_owned(),
        Value::Object(map) => {
            let named = map.iter().map(|(name, value)| format!("{name} {}", plain(value, escaped)));
            named.collect::<Vec<_>>().join(", ")
        }
        Value::Null => "-".to_owned(),
        // JSON may have these escapes anywhere in a list.
        Value::Array(_) => for_terminal(&value.to_string()).into_owned(),
        other => other.to_string(),
    }
}

/// An estimate, rounded to four decimal places.
pub fn similarity(number: f64) -> Value {
    // Adding zero turns negative zero into zero.
    Value::from((number * 10_000.0).round() / 10_000.0 + 0.0)
}

/// A recall, rounded to four decimal places. It is a promise, so only what is as good as certain is
/// shown as 1.
pub fn rounded_recall(number: f64) -> Value {
    const CERTAIN: f64 = 1.0 - 1e-9;
    similarity(if number < CERTAIN { number.min(0.9999) } else { number })
}

/// An exact value, rounded to six decimal places.
pub fn rounded(number: f64) -> Value {
    // Adding zero turns negative zero into zero.
    Value::from((number * 1e6).round() / 1e6 + 0.0)
}

/// The similarity of a match or pair: exact ones show more digits.
pub fn likeness(number: f64, exact: bool) -> Value {
    if exact { rounded(number) } else { similarity(number) }
}

/// The Mash distance of two genomes whose k-mers have this similarity. It is tiny for close
/// strains.
pub fn distance(similarity: f64, kmer_width: u16) -> (&'static str, Value) {
    ("distance", significant(mash_distance(similarity, kmer_width)))
}

/// A number of any size, rounded to six significant digits.
pub fn significant(number: f64) -> Value {
    Value::from(format!("{number:.5e}").parse().unwrap_or(number))
}

/// Prints the summary: one JSON object with `--json`, else the given sentence.
pub fn summary(options: impl Into<OutputOptions>, fields: &[(&str, Value)], sentence: &str) {
    let options = options.into();
    if options.quiet {
        return;
    }
    let mut out = io::stderr().lock();
    let _ = if options.json {
        match serde_json::to_string(&NamedValues(fields)) {
            Ok(line) => writeln!(out, "{}", for_stream(&io::stderr(), &line)),
            Err(error) => writeln!(out, "{error}"),
        }
    } else {
        writeln!(out, "{}", for_stream(&io::stderr(), sentence))
    };
}

/// Prints a drawing that belongs to a summary, for people at a terminal.
pub fn drawing(options: impl Into<OutputOptions>, text: &str) {
    let OutputOptions { json, quiet, .. } = options.into();
    if !json && !quiet && io::stderr().is_terminal() {
        let _ = writeln!(io::stderr(), "{text}");
    }
}

/// Seconds, rounded to whole milliseconds, as in summaries.
pub fn whole_millis(seconds: f64) -> Value {
    ((seconds * 1000.0).round() / 1000.0).into()
}

/// The counts that are not zero, to continue a sentence: ", 2 replaced, 1 failed".
pub fn listed(counts: &[(u64, &str)]) -> String {
    let some = counts.iter().filter(|(number, _)| *number > 0);
    some.map(|(number, what)| format!(", {} {what}", grouped(*number))).collect()
}

/// "1 document", "2 documents".
pub fn count(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(number))
}

/// "1 match", "2 matches".
pub fn count_as(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

/// A number of bytes in B, kB, MB or GB, which are powers of 1000.
pub fn bytes(number: u64) -> String {
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
    fn numbers_keep_the_digits_that_count() {
        let printed = |number: Value| number.to_string();
        assert_eq!(printed(significant(1.234_567_8e-12)), "1.23457e-12");
        assert_eq!(printed(significant(1.0 / 3.0)), "0.333333");
        assert_eq!(printed(similarity(-1e-9)), "0.0");
        assert_eq!(printed(similarity(-0.123_46)), "-0.1235");
        assert_eq!(printed(rounded_recall(0.992_281)), "0.9923");
        assert_eq!(printed(rounded_recall(0.999_99)), "0.9999");
        assert_eq!(printed(rounded_recall(1.0 - 1e-12)), "1.0");
    }

    #[test]
    fn a_cell_never_breaks_a_line() {
        assert_eq!(plain(&Value::from("a\tb\nc\r"), cell), "a\\tb\\nc\\r");
        assert_eq!(
            plain(&Value::from("\u{1b}[2J\0\u{7f}\u{85}"), cell),
            "\\u001b[2J\\u0000\\u007f\\u0085"
        );
        assert_eq!(plain(&Value::from("C:\\New é"), cell), "C:\\New é");
        let list = Value::from(vec!["a\u{9b}31m", "\u{202e}b"]);
        assert_eq!(plain(&list, cell), "[\"a\\u009b31m\",\"\\u202eb\"]");
    }
}
