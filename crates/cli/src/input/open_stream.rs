//! A stream of records that is open, and its next batch.

use super::batch::Batch;
use super::blocks::Blocks;
use super::columns::Columns;
use super::compression::DecompressedRest;
use super::counted::Counted;
use super::fasta::SequenceBlocks;
use super::lines::LineParser;
use super::record::BadRecord;
use super::rows::{RowBlock, RowBlocks};
use super::table::Table;
use super::warc::{WarcBlocks, WarcParser};
use std::io;
use std::sync::Arc;

type CountedRest = DecompressedRest<Counted>;

/// A stream that is being read.
pub(super) enum OpenStream {
    Lines(LineParser, Box<Blocks<CountedRest>>),
    Sequences(LineParser, Box<SequenceBlocks<CountedRest>>),
    /// A table, and whether its header was passed on. The header has a batch of its own, so that a
    /// table without rows has one, too.
    Rows(Arc<Table>, Box<RowBlocks<CountedRest>>, bool),
    Warc(WarcParser, Box<WarcBlocks<CountedRest>>),
    Columns(Columns),
}

impl OpenStream {
    /// The input, for messages.
    pub(super) fn place(&self) -> &str {
        match self {
            Self::Lines(parser, _) | Self::Sequences(parser, _) => &parser.path,
            Self::Rows(table, ..) => &table.path,
            Self::Warc(parser, _) => &parser.path,
            Self::Columns(columns) => &columns.table.path,
        }
    }

    /// The next batch of records; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Batch>, BadRecord> {
        let cause = |error: io::Error| error.to_string();
        let batch = match self {
            Self::Lines(parser, blocks) => {
                let batch = |block| Batch::Lines(parser.clone(), block);
                blocks.read_block().map(|block| block.map(batch)).map_err(cause)
            }
            Self::Sequences(parser, sequences) => {
                let batch = |block| Batch::Sequences(parser.clone(), block);
                sequences.next().map(|block| block.map(batch)).map_err(cause)
            }
            Self::Rows(table, rows, begun) => {
                let block = if std::mem::replace(begun, true) {
                    rows.next()
                } else {
                    Ok(Some(RowBlock::default()))
                };
                let batch = |block| Batch::Rows(Arc::clone(table), block);
                block.map(|block| block.map(batch)).map_err(cause)
            }
            Self::Warc(parser, records) => {
                let batch = |block| Batch::Warc(parser.clone(), block);
                records.next().map(|block| block.map(batch)).map_err(cause)
            }
            Self::Columns(columns) => {
                let piece = columns.next();
                let batch = |piece| Batch::Columns(Arc::clone(&columns.table), piece);
                piece.map(|piece| piece.map(batch))
            }
        };
        batch.map_err(|cause| BadRecord { place: self.place().to_owned(), cause })
    }
}
