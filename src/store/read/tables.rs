//! The tables that a view reads, in a read or a write transaction.

use crate::error::Result;
use crate::store::bytes::chunk::Chunk;
use crate::store::bytes::schema::Table;
use crate::store::storage_error::{Doing, damaged};
use redb::ReadableTable;
use std::path::Path;

/// A table with document numbers as keys, in a read or a write transaction.
pub(crate) trait DocTable: ReadableTable<u32, &'static [u8]> {}
impl<T: ReadableTable<u32, &'static [u8]>> DocTable for T {}

/// The table of chunks, in a read or a write transaction.
pub(crate) trait ChunkTable: ReadableTable<u64, &'static [u8]> {}
impl<T: ReadableTable<u64, &'static [u8]>> ChunkTable for T {}

/// Opens the chunk with this key and calls `read` with it.
pub(crate) fn with_chunk<T>(
    path: &Path,
    postings: &impl ChunkTable,
    key: u64,
    read: impl FnOnce(&Chunk<'_>) -> T,
) -> Result<T> {
    let fault = |detail| damaged(path, Table::Postings, format!("{key:#018x}"), detail);
    let row = postings.get(key).doing(path, "reading postings")?;
    let row = row.ok_or_else(|| fault("its row is missing"))?;
    Chunk::open(row.value(), key).map(|chunk| read(&chunk)).map_err(fault)
}
