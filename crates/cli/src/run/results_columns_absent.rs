//! Results as a table by columns in a build without the feature `tables`: none.

use crate::input::NO_TABLES;
use crate::run::column_format::ColumnFormat;
use crate::run::failure::Failure;
use crate::run::results_file::ResultsFile;
use crate::run::results_table::Column;
use crate::terminal::output::ResultsSink;
use serde_json::Value;
use std::io;
use std::path::Path;

/// Results as a table. There is none.
pub enum Table {}

impl Table {
    /// Fails: the build writes no tables.
    pub fn new(
        path: &Path,
        _format: ColumnFormat,
        _file: ResultsFile,
        _columns: &[Column],
    ) -> Result<Self, Failure> {
        Err(anyhow::anyhow!("{}: {NO_TABLES}", path.display()).into())
    }
}

impl ResultsSink for Table {
    fn row(&mut self, _fields: &[(&str, Value)]) -> io::Result<()> {
        match *self {}
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        match *self {}
    }
}
