//! Batches of raw records, parsed on all threads.

use super::blocks::Block;
use super::files;
use super::lines::Stream;
use super::record::{BadRecord, Record};
use super::rows::RowBlock;
use super::table::Table;
use rayon::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;

/// Some raw records, in order.
pub(crate) enum Batch {
    /// Lines of a stream.
    Lines(Stream, Block),
    /// Records of a table.
    Rows(Arc<Table>, RowBlock),
    /// Whole files, each a text, with their sizes when they were found, and the most bytes that are
    /// taken.
    Files(Vec<(PathBuf, u64)>, usize),
    /// Something that cannot be read at all.
    Bad(BadRecord),
}

impl Batch {
    /// The header of the table that its records are of.
    pub(crate) fn header(&self) -> Option<&Arc<[u8]>> {
        match self {
            Self::Rows(table, _) => Some(table.header()),
            _ => None,
        }
    }

    /// Parses every record on all threads, hands each to `take`, and returns what that made of
    /// them, in order. Blank lines between records of JSON or of a table are none.
    pub(crate) fn parse<T: Send>(
        &self,
        take: impl Fn(Record<'_>) -> Result<T, BadRecord> + Sync,
    ) -> Vec<Result<T, BadRecord>> {
        match self {
            Self::Bad(bad) => vec![Err(bad.clone())],
            Self::Files(found, most) => files::read(found, *most, take),
            Self::Lines(stream, block) => {
                if let Some(line) = block.cut {
                    return vec![Err(stream.too_long(line))];
                }
                let records = block
                    .lines()
                    .into_par_iter()
                    .filter_map(|line| stream.record(line).transpose());
                records.map(|record| record.and_then(&take)).collect()
            }
            Self::Rows(table, block) => {
                if let Some(bad) = table.left_out(block) {
                    return vec![Err(bad)];
                }
                let rows = block.rows().into_par_iter();
                let record = |parser: &mut _, row| table.record(parser, row).and_then(&take);
                rows.map_init(|| table.parser(), record).collect()
            }
        }
    }
}
