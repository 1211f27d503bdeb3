//! Results in a file instead of on standard output: a table by columns, or lines, by its name.

use crate::input::{STANDARD_INPUT, same_file};
use crate::run::column_format::ColumnFormat;
use crate::run::compressor::Compressor;
use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::run::results_columns::Table;
use crate::run::results_file::ResultsFile;
use crate::terminal::escape::cell;
use crate::terminal::output::{Results, ResultsSink, json_line, plain};
use anyhow::anyhow;
use serde_json::Value;
use std::io::{self, Write};
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
    /// name ends in .parquet or .arrow, tab-separated columns if in .tsv, else JSON Lines; text is
    /// compressed if the name ends in .gz or .zst [default: standard output]
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
        let Some(path) = self.output.as_ref().filter(|path| path.as_os_str() != STANDARD_INPUT)
        else {
            return Ok(Results::new(global));
        };
        let name = path.display();
        if same_file(path, index) {
            return Err(anyhow!("{name}: it is the index itself; choose another file").into());
        }
        if inputs.iter().any(|input| same_file(path, input)) {
            return Err(anyhow!("{name}: is an input; write to another file").into());
        }
        refuse_packed(path)?;
        let file = ResultsFile::new(Some(path))?;
        let sink: Box<dyn ResultsSink> = match ColumnFormat::of(path) {
            Some(format) => Box::new(Table::new(path, format, file, columns)?),
            None => Box::new(Lines { file, tabs: is_named_tsv(path) }),
        };
        Ok(Results::to_file(sink))
    }
}

/// Fails if a file would be a table by columns that is compressed as a whole.
pub fn refuse_packed(path: &Path) -> Result<(), Failure> {
    if Compressor::of(path).is_some() && ColumnFormat::of(&path.with_extension("")).is_some() {
        let name = path.display();
        return Err(anyhow!("{name}: is compressed within; leave out its last extension").into());
    }
    Ok(())
}

fn is_named_tsv(path: &Path) -> bool {
    let packed = Compressor::of(path).is_some();
    let path = if packed { path.with_extension("") } else { path.to_owned() };
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("tsv"))
}

/// Results as lines.
struct Lines {
    file: ResultsFile,
    tabs: bool,
}

impl ResultsSink for Lines {
    fn row(&mut self, fields: &[(&str, Value)]) -> io::Result<()> {
        let line = match self.tabs {
            true => {
                let values = fields.iter().flat_map(|(_, value)| match value {
                    Value::Array(items) => items.as_slice(),
                    value => std::slice::from_ref(value),
                });
                values.map(|value| plain(value, cell)).collect::<Vec<_>>().join("\t") + "\n"
            }
            false => json_line(fields)?,
        };
        self.file.write_all(line.as_bytes())
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        self.file.finish()
    }
}
