//! Batches of raw records, each parsed by one thread.

use super::blocks::{Block, Line};
use super::columns::{ColumnTable, Piece};
use super::fasta::SequenceBlock;
use super::files::{self, WholeFile};
use super::lines::LineParser;
use super::record::{BadRecord, Record, TableHead};
use super::rows::RowBlock;
use super::table::Table;
use super::warc::{WarcBlock, WarcParser};
use std::sync::Arc;

/// Some raw records, in order.
pub enum Batch {
    /// Lines of a stream.
    Lines(LineParser, Block),
    /// Records of FASTA.
    Sequences(LineParser, SequenceBlock),
    /// Records of a table.
    Rows(Arc<Table>, RowBlock),
    /// Records of WARC.
    Warc(WarcParser, WarcBlock),
    /// Rows of a table by columns.
    Columns(Arc<ColumnTable>, Piece),
    /// Whole files, each of them a text, and the most bytes of a text.
    Files(Vec<WholeFile>, usize),
    /// An input that cannot be read at all.
    Bad(BadRecord),
}

impl Batch {
    /// The head of the table that the records belong to.
    pub fn head(&self) -> Option<TableHead> {
        match self {
            Self::Rows(table, _) => Some(TableHead::Text(Arc::clone(table.header()))),
            Self::Columns(table, _) => Some(table.head()),
            _ => None,
        }
    }

    /// Whether it stands for an input that cannot be read.
    pub fn is_bad(&self) -> bool {
        matches!(self, Self::Bad(_))
    }

    /// Parses the records and passes each to `take`. Returns the results in order. Blank lines
    /// between records of JSON or of a table are no records. Only whole files are read on all
    /// threads: other batches are parsed at the same time.
    pub fn parse<T: Send>(
        &self,
        take: impl Fn(Record<'_>) -> Result<T, BadRecord> + Sync,
    ) -> Vec<Result<T, BadRecord>> {
        let lines = |stream: &LineParser, cut: Option<u64>, lines: Vec<Line<'_>>| {
            if let Some(line) = cut {
                return vec![Err(stream.too_long(line))];
            }
            let records = lines.into_iter().filter_map(|line| stream.record(line).transpose());
            records.map(|record| record.and_then(&take)).collect()
        };
        match self {
            Self::Bad(bad) => vec![Err(bad.clone())],
            Self::Files(found, most) => files::read(found, *most, take),
            Self::Lines(stream, block) => lines(stream, block.cut, block.lines()),
            Self::Sequences(stream, block) => lines(stream, block.cut, block.records()),
            Self::Rows(table, block) => {
                if let Some(bad) = table.left_out(block) {
                    return vec![Err(bad)];
                }
                let mut parser = table.parser();
                let record = |row| table.record(&mut parser, row).and_then(&take);
                block.rows().into_iter().map(record).collect()
            }
            Self::Warc(parser, block) => {
                if let Some(bad) = parser.left_out(block) {
                    return vec![Err(bad)];
                }
                let records = block.records().into_iter();
                let records = records.filter_map(|raw| parser.record(raw).transpose());
                records.map(|record| record.and_then(&take)).collect()
            }
            Self::Columns(table, piece) => {
                (0..piece.rows()).map(|row| table.record(piece, row).and_then(&take)).collect()
            }
        }
    }
}
