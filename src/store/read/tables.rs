//! The tables that a view reads, in a read or a write transaction.

use crate::error::Result;
use crate::store::bytes::chunk::Chunk;
use crate::store::bytes::schema::Table;
use crate::store::storage_error::{Doing, damaged};
use redb::{AccessGuard, Key, Range, ReadableTable, StorageError};
use std::borrow::Borrow;
use std::ops::{Bound, RangeBounds};
use std::path::Path;

/// The bytes of a row.
type Row<'t> = AccessGuard<'t, &'static [u8]>;

/// A table of numbered rows, in a read or a write transaction.
///
/// What reads a table takes `&dyn Rows`, so that it is compiled once and not once for each kind of
/// transaction. Next to a search in the tree, such a call costs nothing.
pub(crate) trait Rows<K: Key + 'static>: Sync {
    /// The row of a number.
    fn get(&self, number: K) -> Result<Option<Row<'_>>, StorageError>;

    /// The rows between two numbers, in ascending order.
    fn between(
        &self,
        bounds: (Bound<K>, Bound<K>),
    ) -> Result<Range<'_, K, &'static [u8]>, StorageError>;
}

impl<K, T> Rows<K> for T
where
    K: for<'k> Key<SelfType<'k> = K> + Borrow<K> + 'static,
    T: ReadableTable<K, &'static [u8]> + Sync,
{
    fn get(&self, number: K) -> Result<Option<Row<'_>>, StorageError> {
        ReadableTable::get(self, number)
    }

    fn between(
        &self,
        bounds: (Bound<K>, Bound<K>),
    ) -> Result<Range<'_, K, &'static [u8]>, StorageError> {
        self.range(bounds)
    }
}

impl<K: Key + Copy + 'static> dyn Rows<K> + '_ {
    /// The rows of a range of numbers, in ascending order.
    pub(crate) fn range(
        &self,
        numbers: impl RangeBounds<K>,
    ) -> Result<Range<'_, K, &'static [u8]>, StorageError> {
        self.between((numbers.start_bound().cloned(), numbers.end_bound().cloned()))
    }

    /// All rows, in ascending order of their numbers.
    pub(crate) fn iter(&self) -> Result<Range<'_, K, &'static [u8]>, StorageError> {
        self.between((Bound::Unbounded, Bound::Unbounded))
    }
}

/// Opens the chunk with this key and calls `read` with it.
pub(crate) fn with_chunk<T>(
    path: &Path,
    postings: &dyn Rows<u64>,
    key: u64,
    read: impl FnOnce(&Chunk<'_>) -> T,
) -> Result<T> {
    let fault = |detail| damaged(path, Table::Postings, format!("{key:#018x}"), detail);
    let row = postings.get(key).doing(path, "reading postings")?;
    let row = row.ok_or_else(|| fault("its row is missing"))?;
    Chunk::open(row.value(), key).map(|chunk| read(&chunk)).map_err(fault)
}
