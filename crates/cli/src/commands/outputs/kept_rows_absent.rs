//! Kept rows in a build without the feature `tables`: none.

use crate::commands::outputs::kept_output::NewText;
use crate::commands::outputs::partial_file::LengthAndHash;
use crate::input::{NO_TABLES, RowBatch, RowSchema};
use crate::run::column_format::ColumnFormat;
use crate::run::failure::Failure;
use std::path::Path;
use std::sync::Arc;

/// The output of kept rows. There is none.
pub(crate) enum KeptRows {}

impl KeptRows {
    /// Fails: the build writes no tables.
    pub(crate) fn create(path: &Path, _format: ColumnFormat) -> Result<Self, Failure> {
        Err(anyhow::anyhow!("{}: {NO_TABLES}", path.display()).into())
    }

    /// Fails: the build writes no tables.
    pub(crate) fn resume(
        path: &Path,
        format: ColumnFormat,
        _content: LengthAndHash,
    ) -> Result<Option<Self>, Failure> {
        Self::create(path, format).map(Some)
    }

    /// Says that all rows come from one input.
    pub(crate) fn follow(&mut self, _is_stream: bool) {
        match *self {}
    }

    /// Says which columns the rows of the next table have.
    pub(crate) fn begin_table(&mut self, _schema: &RowSchema) -> Result<(), Failure> {
        match *self {}
    }

    /// Whether the rows of a table with these columns can be written.
    pub(crate) fn admits(&self, _schema: &RowSchema) -> bool {
        match *self {}
    }

    /// Writes a row.
    pub(crate) fn write(
        &mut self,
        _batch: &Arc<RowBatch>,
        _row: usize,
        _text: Option<&NewText>,
    ) -> Result<(), Failure> {
        match *self {}
    }

    /// Makes the rows durable.
    pub(crate) fn sync(&mut self) -> Result<LengthAndHash, Failure> {
        match *self {}
    }

    /// Writes all rows to the output.
    pub(crate) fn seal(&mut self) -> Result<LengthAndHash, Failure> {
        match *self {}
    }

    /// Deletes what was written.
    pub(crate) fn discard(self) -> Result<(), Failure> {
        match self {}
    }

    /// Gives the output its name.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        match self {}
    }
}
