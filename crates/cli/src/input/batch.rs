//! Batches of raw records, and how they are parsed.

use super::blocks::{Block, Line};
use super::columns::{ColumnTable, Piece};
use super::fasta::SequenceBlock;
use super::files::{self, WholeFile};
use super::format::Format;
use super::lines::LineParser;
use super::record::{BadRecord, Record, TableHead};
use super::rows::RowBlock;
use super::share;
use super::table::Table;
use super::warc::{WarcBlock, WarcParser};
use std::sync::Arc;

/// How threads share the work of parsing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// Threads share batches: each parses another one. This is best if a record takes microseconds.
    Batches,
    /// Threads share the records of each batch. This is best if a few records may take long.
    Records,
}

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

    /// The format of its records, unless they are a table by columns.
    pub fn format(&self) -> Option<Format> {
        match self {
            Self::Lines(parser, _) => parser.format(),
            Self::Sequences(..) => Some(Format::FastaRecords),
            Self::Rows(table, _) if table.has_tabs() => Some(Format::Tsv),
            Self::Rows(..) => Some(Format::Csv),
            Self::Warc(..) => Some(Format::Warc),
            Self::Files(..) => Some(Format::Text),
            Self::Columns(..) | Self::Bad(_) => None,
        }
    }

    /// Whether its records are rows of a stream of Arrow.
    pub fn is_arrow_stream(&self) -> bool {
        matches!(self, Self::Columns(table, _) if table.is_stream)
    }

    /// Whether it stands for an input that cannot be read.
    pub fn is_bad(&self) -> bool {
        matches!(self, Self::Bad(_))
    }

    /// Parses the records and passes each to `take`. Returns the results in order. Blank lines
    /// between records of JSON or of a table are no records. Threads always share whole files and
    /// the rows of a piece of a table by columns, which is larger than a block.
    pub fn parse<T: Send>(
        &self,
        sharing: Sharing,
        take: impl Fn(Record<'_>) -> Result<T, BadRecord> + Sync,
    ) -> Vec<Result<T, BadRecord>> {
        let lines = |stream: &LineParser, cut: Option<u64>, lines: Vec<Line<'_>>| {
            if let Some(line) = cut {
                return vec![Err(stream.too_long(line))];
            }
            let record = |line| Some(stream.record(line).transpose()?.and_then(&take));
            each(lines, sharing, record)
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
                let record = |parser: &mut _, row| table.record(parser, row).and_then(&take);
                let rows = block.rows();
                match sharing {
                    Sharing::Batches => {
                        let mut parser = table.parser();
                        rows.into_iter().map(|row| record(&mut parser, row)).collect()
                    }
                    Sharing::Records => share::map_init(rows, || table.parser(), record),
                }
            }
            Self::Warc(parser, block) => {
                if let Some(bad) = parser.left_out(block) {
                    return vec![Err(bad)];
                }
                let record = |raw| Some(parser.record(raw).transpose()?.and_then(&take));
                each(block.records(), sharing, record)
            }
            Self::Columns(table, piece) => {
                let rows = (0..piece.rows()).collect();
                share::map(rows, |row| table.record(piece, row).and_then(&take))
            }
        }
    }
}

/// Applies a function to all items, on all threads if they share records. Keeps what there is, in
/// order.
fn each<I: Send, T: Send>(
    items: Vec<I>,
    sharing: Sharing,
    apply: impl Fn(I) -> Option<T> + Sync + Send,
) -> Vec<T> {
    match sharing {
        Sharing::Batches => items.into_iter().filter_map(apply).collect(),
        Sharing::Records => share::map(items, apply).into_iter().flatten().collect(),
    }
}
