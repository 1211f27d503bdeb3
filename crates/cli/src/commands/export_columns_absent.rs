//! An export as a table by columns in a build without the feature `tables`: none.

use crate::input::NO_TABLES;
use crate::run::column_format::ColumnFormat;
use crate::run::results_file::ResultsFile;
use std::io;
use twindex::{Document, Snapshot};

/// Documents on their way to a file. There are none.
pub(crate) enum DocumentTable {}

impl DocumentTable {
    /// Fails: the build writes no tables.
    pub(crate) fn new(
        _format: ColumnFormat,
        _file: ResultsFile,
        _snapshot: &Snapshot,
        _settings: String,
    ) -> io::Result<Self> {
        Err(io::Error::new(io::ErrorKind::Unsupported, NO_TABLES))
    }

    /// Adds a document.
    pub(crate) fn add(&mut self, _document: &Document) -> anyhow::Result<()> {
        match *self {}
    }

    /// Completes the table.
    pub(crate) fn finish(self) -> io::Result<ResultsFile> {
        match self {}
    }
}
