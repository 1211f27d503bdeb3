//! Packs the rows of tables into full pages after removals have left gaps in them.

use crate::error::Result;
use crate::store::bytes::schema::{
    CLUSTER_CHANGES, CLUSTERS, DOCUMENTS, FINGERPRINTS, MEMBERS, POSTINGS, SIGNATURES, TEXTS,
};
use crate::store::engine::Engine;
use crate::store::progress::Watch;
use crate::store::storage_error::Doing;
use crate::store::usage::pages;
use crate::store::write::writer::Writer;
use redb::{Key, ReadableTable, ReadableTableMetadata, TableDefinition};
use std::ops::Bound;
use std::sync::Arc;

type Definition<K> = TableDefinition<'static, K, &'static [u8]>;

const PACKING: &str = "packing the pages";

impl Engine {
    /// Packs all tables that have many rows, with a commit after each, unless the watch stops it.
    ///
    /// The file grows meanwhile by as much as the packed table takes.
    pub(crate) fn pack(self: &Arc<Self>, watch: &mut Watch<'_>) -> Result<()> {
        watch.begin("packing pages", 0)?;
        for definition in [DOCUMENTS, SIGNATURES, TEXTS] {
            self.pack_table(definition, watch)?;
        }
        if self.fixed().layout.passages {
            self.pack_table(FINGERPRINTS, watch)?;
        }
        if self.read()?.state.tracking.is_some() {
            self.pack_table(CLUSTERS, watch)?;
            self.pack_table(MEMBERS, watch)?;
            self.pack_table(CLUSTER_CHANGES, watch)?;
        }
        self.pack_table(POSTINGS, watch)
    }

    fn pack_table<K: Key + 'static>(
        self: &Arc<Self>,
        definition: Definition<K>,
        watch: &mut Watch<'_>,
    ) -> Result<()> {
        let mut writer = self.write()?;
        writer.pack(definition, watch)?;
        writer.commit()
    }
}

impl Writer {
    /// Writes the rows of a table into new pages, in the order of their keys, if these take less
    /// space than the pages that the table has.
    fn pack<K: Key + 'static>(
        &mut self,
        definition: Definition<K>,
        watch: &mut Watch<'_>,
    ) -> Result<()> {
        self.change(|writer| {
            if writer.is_loose(definition)? {
                let rows = writer.copy_rows(definition, watch)?;
                writer.touch(rows);
            }
            Ok(())
        })
    }

    /// Whether packing saves more than a fiftieth of a table's pages.
    fn is_loose<K: Key + 'static>(&self, definition: Definition<K>) -> Result<bool> {
        let path = self.path();
        let table = self.txn()?.open_table(definition).doing(path, PACKING)?;
        let taken = pages(&table.stats().doing(path, PACKING)?);
        let key = K::fixed_width().unwrap_or_default();
        let mut packed = PackedPages::default();
        for row in table.iter().doing(path, PACKING)? {
            let (_, value) = row.doing(path, PACKING)?;
            packed.append(key + value.value().len());
        }
        Ok(packed.bytes + taken / 50 < taken)
    }

    /// Copies the rows to a new table that takes the name of the old one. Returns their number.
    fn copy_rows<K: Key + 'static>(
        &self,
        definition: Definition<K>,
        watch: &mut Watch<'_>,
    ) -> Result<u64> {
        let (txn, path) = (self.txn()?, self.path());
        let packed = Definition::<K>::new("packed");
        let rows = {
            let old = txn.open_table(definition).doing(path, PACKING)?;
            let rows = old.len().doing(path, PACKING)?;
            watch.expect(rows)?;
            let mut new = txn.open_table(packed).doing(path, PACKING)?;
            let unbounded = Bound::<K::SelfType<'_>>::Unbounded;
            let mut end = new.upper_bound_mut(unbounded).doing(path, PACKING)?;
            for row in old.iter().doing(path, PACKING)? {
                let (key, value) = row.doing(path, PACKING)?;
                end.insert_before(key.value(), value.value()).doing(path, PACKING)?;
                watch.advance(1)?;
            }
            end.close().doing(path, PACKING)?;
            rows
        };
        txn.delete_table(definition).doing(path, PACKING)?;
        txn.rename_table(packed, definition).doing(path, PACKING)?;
        Ok(rows)
    }
}

/// The leaf pages that rows take when they are appended one after the other.
#[derive(Debug, Default)]
struct PackedPages {
    /// The size of all pages.
    bytes: u64,
    /// What the rows of the last page take of it.
    last: usize,
}

impl PackedPages {
    const PAGE: usize = 4096;
    /// The header of a leaf page: its kind and the number of rows.
    const HEADER: usize = 4;
    /// Where the value of a row ends.
    const ROW_END: usize = 4;

    /// Appends a row whose key and value have this many bytes.
    fn append(&mut self, bytes: usize) {
        let row = bytes + Self::ROW_END;
        if self.last > 0 && self.last + row <= Self::PAGE {
            self.last += row;
            return;
        }
        self.last = Self::HEADER + row;
        // The size of a page is a power of two.
        self.bytes += self.last.next_power_of_two().max(Self::PAGE) as u64;
    }
}
