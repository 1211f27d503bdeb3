//! What documents are read from, as it is typed.

use crate::input::{Fields, Format, Inputs};
use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};

/// What documents are read from.
#[derive(Debug, Args)]
#[command(next_help_heading = "Input")]
pub(super) struct Input {
    /// What inputs hold; auto goes by name, and for standard input by its first character
    #[arg(long, value_enum, default_value_t = InputFormat::Auto)]
    format: InputFormat,
    /// The field of a JSON record that holds its id
    #[arg(long, value_name = "NAME", default_value = "id")]
    id_field: String,
    /// The field of a JSON record that holds its text
    #[arg(long, value_name = "NAME", default_value = "text")]
    text_field: String,
    /// Name records of standard input that have no id P:LINE, not #1, #2, ...
    #[arg(long, value_name = "P", value_parser = NonEmptyStringValueParser::new())]
    id_prefix: Option<String>,
    /// The most bytes of a record; longer ones are reported and left out, without being held
    /// in memory. A record is a line, a text file, or standard input as one text
    #[arg(long, value_name = "SIZE", default_value = LONGEST, value_parser = size)]
    max_record: usize,
}

impl Input {
    pub(super) fn of(&self, paths: &[PathBuf], index: &Path) -> Inputs {
        Inputs {
            paths: paths.to_vec(),
            format: match self.format {
                InputFormat::Auto => Format::Auto,
                InputFormat::Text => Format::Text,
                InputFormat::Lines => Format::Lines,
                InputFormat::Jsonl => Format::JsonLines,
            },
            fields: Fields { id: self.id_field.clone(), text: self.text_field.clone() },
            id_prefix: self.id_prefix.clone(),
            most: self.max_record,
            leave_out: vec![index.to_owned()],
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum InputFormat {
    /// .jsonl and .ndjson files are jsonl, other files text, standard input jsonl or lines
    Auto,
    /// Each file is one document; its id is its path
    Text,
    /// Each line is one document; its id is path:line
    Lines,
    /// Each line is a JSON object with an id and a text
    Jsonl,
}

/// The most bytes of a record where nothing is said: the longest texts that people index on purpose.
pub(super) const LONGEST: &str = "128M";

/// A number of bytes, with K, M or G for their 1,024s.
pub(super) fn size(text: &str) -> Result<usize, &'static str> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" => Some(1),
        "K" | "k" => Some(1 << 10),
        "M" | "m" => Some(1 << 20),
        "G" | "g" => Some(1 << 30),
        _ => None,
    };
    let bytes = digits.parse::<usize>().ok().zip(unit).and_then(|(n, unit)| n.checked_mul(unit));
    bytes.filter(|bytes| *bytes > 0).ok_or("expected a number of bytes, as 100000, 64K, 128M or 2G")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_bytes_or_have_a_unit() {
        for (text, bytes) in [("1", 1), ("64K", 65_536), ("128m", 134_217_728), ("3G", 3 << 30)] {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for bad in ["", "0", "0K", "K", "-1", "1.5M", "1 K", "1KB", "99999999999G", "1é"] {
            assert!(size(bad).is_err(), "{bad}");
        }
    }
}
