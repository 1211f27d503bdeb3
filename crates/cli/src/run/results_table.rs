//! Results in a file instead of on standard output: a table by columns, or lines, by its name.

use crate::input::same_file;
use crate::run::column_format::ColumnFormat;
use crate::run::compressor::Compressor;
use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::run::output_names::NamedFormat::{Columns, Csv, JsonLines, Tsv};
use crate::run::output_names::check_name;
use crate::run::over_input::check_no_input;
use crate::run::results_columns::Table;
use crate::run::results_file::{ResultsFile, is_standard_output};
use crate::run::results_lines::Lines;
use crate::terminal::output::{Results, ResultsSink};
use anyhow::{Context, anyhow};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// What a column of results holds.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Text,
    Number,
    Count,
    Flag,
    Texts,
}

/// A column of results: its name, and what it holds.
pub type Column = (&'static str, Kind);

/// Where results go.
#[derive(Debug, clap::Args)]
pub struct ResultsOption {
    /// Write the results to this file, which appears when it is complete: Parquet or Arrow if its
    /// name ends in .parquet or .arrow, CSV with a header if in .csv, tab-separated columns without
    /// one if in .tsv, else JSON Lines; text is compressed if the name ends in .gz or .zst
    /// [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl ResultsOption {
    /// The file, if there is one.
    pub fn file(&self) -> Option<&Path> {
        self.output.as_deref()
    }

    /// Prepares to write results of an index with these columns. Neither the index nor an input may
    /// be the file.
    pub fn results(
        &self,
        global: &GlobalOptions,
        index: &Path,
        inputs: &[PathBuf],
        columns: &[Column],
    ) -> Result<Results, Failure> {
        let Some(path) = self.output.as_ref().filter(|path| !is_standard_output(path)) else {
            return Ok(Results::new(global));
        };
        let name = path.display();
        if same_file(path, index) {
            return Err(anyhow!("{name}: it is the index itself; choose another file").into());
        }
        check_no_input(path, inputs)?;
        check_compression(path)?;
        check_name(path, "results", &[JsonLines, Csv, Tsv, Columns])?;
        let file = ResultsFile::new(Some(path))?;
        let sink: Box<dyn ResultsSink> = match ColumnFormat::of(path) {
            Some(format) => Box::new(Table::new(path, format, file, columns)?),
            None => Box::new(Lines::new(path, file, columns).with_context(|| name.to_string())?),
        };
        Ok(Results::to_file(sink))
    }
}

/// The extensions of compressions that are not written.
const UNWRITTEN: [&str; 7] = ["7z", "br", "bz2", "lz4", "sz", "xz", "zip"];

/// Fails if the name of a file asks for a compression that is not written, or for a table by
/// columns that is compressed as a whole.
pub fn check_compression(path: &Path) -> Result<(), Failure> {
    let is_unwritten =
        |extension: &OsStr| UNWRITTEN.iter().any(|other| extension.eq_ignore_ascii_case(other));
    if path.extension().is_some_and(is_unwritten) {
        let name = path.display();
        return Err(anyhow!("{name}: is written compressed only as .gz or .zst").into());
    }
    if Compressor::of(path).is_some() && ColumnFormat::of(&path.with_extension("")).is_some() {
        let name = path.display();
        return Err(anyhow!("{name}: is compressed within; leave out its last extension").into());
    }
    Ok(())
}
