//! What the name of an output says that it holds.

use crate::run::column_format::ColumnFormat;
use crate::run::compressor::Compressor;
use crate::run::failure::Failure;
use anyhow::anyhow;
use std::path::Path;

/// A format by the name of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedFormat {
    Csv,
    Tsv,
    JsonLines,
    Columns,
    /// One that is not written.
    Unwritten,
}

/// The extensions of formats that people want, and that are not written.
const UNWRITTEN: [&str; 9] = ["avro", "db", "html", "ods", "orc", "sqlite", "xls", "xlsx", "xml"];

impl NamedFormat {
    /// The format that the name of a file tells, without the extension of a compression; `None` if
    /// it tells none.
    pub fn of(path: &Path) -> Option<Self> {
        let whole = path.with_extension("");
        let path = if Compressor::of(path).is_some() { &whole } else { path };
        if ColumnFormat::of(path).is_some() {
            return Some(Self::Columns);
        }
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        match extension.as_str() {
            "csv" => Some(Self::Csv),
            "tsv" => Some(Self::Tsv),
            "jsonl" | "ndjson" => Some(Self::JsonLines),
            other => UNWRITTEN.contains(&other).then_some(Self::Unwritten),
        }
    }
}

/// Fails if the name of a file tells a format that is none of those that `what` is written in.
pub fn check_name(path: &Path, what: &str, written: &[NamedFormat]) -> Result<(), Failure> {
    match NamedFormat::of(path) {
        Some(named) if !written.contains(&named) => {
            let names = written.iter().flat_map(|format| match format {
                NamedFormat::Csv => &[".csv"][..],
                NamedFormat::Tsv => &[".tsv"],
                NamedFormat::JsonLines => &[".jsonl"],
                NamedFormat::Columns => &[".parquet", ".arrow"],
                NamedFormat::Unwritten => &[],
            });
            let names: Vec<&str> = names.copied().collect();
            let path = path.display();
            Err(anyhow!(
                "{path}: its name says another format than {what} can have; end it in {}",
                names.join(", ")
            )
            .into())
        }
        _ => Ok(()),
    }
}
