//! Tables by columns in a build without the feature `tables`: they are recognised, and not read.

use super::counted::Count;
use super::input_file::InputFile;
use super::record::{BadRecord, Record, TableHead};
use super::wanted::Head;
use std::convert::Infallible;
use std::io::{self, Read};
use std::sync::Arc;

/// What is said of a table.
pub const NO_TABLES: &str = "this build of twindex reads and writes no Parquet or Arrow; build it \
                             with --features tables";

/// Rows of a table. There are none.
#[derive(Clone, Debug)]
pub enum RowBatch {}

/// The columns of a table. There are none.
pub type RowSchema = Infallible;

impl RowBatch {
    /// Its columns.
    pub fn schema_ref(&self) -> &RowSchema {
        match *self {}
    }
}

/// A cell of a table.
pub fn cell(batch: &RowBatch, _row: usize, _name: &str) -> Option<String> {
    match *batch {}
}

/// Some rows of a table.
pub enum Piece {}

impl Piece {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        match *self {}
    }
}

/// How the rows of a table become records.
pub struct ColumnTable {
    /// The input, for messages.
    pub path: String,
    /// The columns.
    pub schema: RowSchema,
    /// Whether it is a stream of Arrow.
    pub is_stream: bool,
}

impl ColumnTable {
    /// Its columns.
    pub fn head(&self) -> TableHead {
        match self.schema {}
    }

    /// A row as a record.
    pub fn record<'p>(&self, piece: &'p Piece, _row: usize) -> Result<Record<'p>, BadRecord> {
        match *piece {}
    }
}

/// A file that is read at any place.
pub struct Seekable;

impl Seekable {
    /// Takes a file that can be read at any place.
    pub(super) fn new(_file: InputFile, _count: Option<Arc<Count>>) -> io::Result<Self> {
        Ok(Self)
    }

    /// Would copy a stream to a temporary file.
    pub fn spooled(_start: &[u8], _rest: impl Read) -> io::Result<Self> {
        Ok(Self)
    }
}

/// A table that is being read.
pub struct Columns {
    /// How its rows become records.
    pub table: Arc<ColumnTable>,
}

impl Columns {
    /// Fails: the build reads no Parquet.
    pub fn parquet(_file: Seekable, head: &Head) -> Result<Self, BadRecord> {
        Err(BadRecord { place: head.path.clone(), cause: NO_TABLES.to_owned() })
    }

    /// Fails: the build reads no Arrow.
    pub fn arrow(
        _start: Vec<u8>,
        _rest: Box<dyn Read + Send>,
        _whole: Option<Seekable>,
        head: &Head,
    ) -> Result<Self, BadRecord> {
        Err(BadRecord { place: head.path.clone(), cause: NO_TABLES.to_owned() })
    }

    /// The next rows.
    pub fn next(&mut self) -> Result<Option<Piece>, String> {
        match self.table.schema {}
    }
}
