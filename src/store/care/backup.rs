//! Copies one commit to a new, compact file, while other threads go on writing.

use crate::error::Result;
use crate::store::bytes::clusters::ChangeRow;
use crate::store::bytes::codec::unseal;
use crate::store::bytes::schema::{
    BandNo, CLUSTER_CHANGES, CLUSTERS, DEAD, DOCUMENTS, DocNo, FENCES, FINGERPRINTS, MEMBERS, META,
    POSTINGS, RUNS, RunNo, SIGNATURES, TEXTS, Table, posting_owner, run_row_key,
};
use crate::store::create::{NewFile, already_exists};
use crate::store::progress::Watch;
use crate::store::read::reader::Reader;
use crate::store::state::State;
use crate::store::storage_error::{Doing, damaged, guard};
use crate::store::write::dedup_row;
use redb::{
    Database, Key, ReadableTable, ReadableTableMetadata, TableDefinition, WriteTransaction,
};
use std::fmt::Display;
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;

type Definition<K> = TableDefinition<'static, K, &'static [u8]>;

const READING: &str = "reading the rows to copy";
const WRITING: &str = "writing the copy";

/// Copies the reader's commit to a new file, which gets its name when it is complete.
///
/// The copy verifies the checksum of every row, so damage is an error and is not copied.
pub(crate) fn backup(reader: &Reader, path: &Path, watch: &mut Watch<'_>) -> Result<()> {
    if path.symlink_metadata().is_ok() {
        return Err(already_exists(path));
    }
    let source = reader.engine().path();
    guard(source, || {
        let new = NewFile::begin_like(path, reader.engine().stored(), source)?;
        let mut database = redb::Builder::new()
            .set_cache_size(reader.engine().cache_bytes())
            .open(new.temporary_path())
            .doing(path, WRITING)?;
        let mut copier = Copier { reader, source, path, database: &database, txn: None, bytes: 0 };
        copier.copy_all(watch)?;
        // redb enlarges a growing file in advance; half of it may be unused.
        database.compact().doing(path, WRITING)?;
        drop(database);
        new.finish()
    })
}

/// Copies tables to the new file, in commits of bounded size.
struct Copier<'a, 'w> {
    reader: &'a Reader,
    source: &'a Path,
    path: &'a Path,
    database: &'w Database,
    txn: Option<WriteTransaction>,
    /// Bytes of rows that `txn` has written.
    bytes: usize,
}

impl Copier<'_, '_> {
    /// Bytes of rows per commit, which bounds the memory that redb needs for changed pages.
    const COMMIT_BYTES: usize = 32 << 20;

    fn copy_all(&mut self, watch: &mut Watch<'_>) -> Result<()> {
        let (source, state) = (self.source, Arc::clone(&self.reader.state));
        watch.expect(self.count_rows()?)?;
        for (definition, table) in [(DOCUMENTS, Table::Documents), (SIGNATURES, Table::Signatures)]
        {
            let mut count = 0;
            self.copy_table(definition, watch, |doc, row| {
                count += 1;
                verify(source, row, table, u64::from(doc), doc)
            })?;
            self.reader.expect_count(count)?;
        }
        let mut count = 0;
        self.copy_table(TEXTS, watch, |doc, row| {
            count += 1;
            verify(source, row, Table::Texts, u64::from(doc), doc)
        })?;
        if self.reader.view().has_texts() {
            self.reader.expect_count(count)?;
        }
        if self.reader.view().fixed.layout.passages {
            let mut count = 0;
            self.copy_table(FINGERPRINTS, watch, |doc, row| {
                count += 1;
                verify(source, row, Table::Fingerprints, u64::from(doc), doc)
            })?;
            self.reader.expect_count(count)?;
        }
        let listed = |run, band| state.manifest.get(run).and_then(|run| run.band(band));
        let mut found = RowCounts::default();
        self.copy_table(POSTINGS, watch, |key, row| {
            let (run, band) = posting_owner(key);
            // An unfinished merge leaves unlisted chunks, which are not copied.
            if listed(run, band).is_none() {
                return Ok(false);
            }
            found.chunks += 1;
            verify(source, row, Table::Postings, key, format_args!("{key:#018x}"))
        })?;
        let verify_of_run = |(run, band): (u32, u8), row: &[u8], table| {
            let key = run_row_key(RunNo(run), BandNo(band));
            verify(source, row, table, key, format_args!("run {run} band {band}"))
        };
        self.copy_table(FENCES, watch, |key, row| {
            found.fences += 1;
            verify_of_run(key, row, Table::Fences)
        })?;
        self.copy_table(RUNS, watch, |key, row| {
            found.bands += 1;
            verify_of_run(key, row, Table::Runs)
        })?;
        self.copy_table(DEAD, watch, |number, row| {
            found.dead += 1;
            verify(source, row, Table::Dead, u64::from(number), number)
        })?;
        if state.tracking.is_some() {
            self.copy_table(CLUSTERS, watch, |doc, row| {
                verify(source, row, Table::Clusters, u64::from(doc), doc)
            })?;
            self.copy_table(MEMBERS, watch, |_, _| Ok(true))?;
            self.copy_table(CLUSTER_CHANGES, watch, |(commit, doc), row| {
                let name = format_args!("{commit} {doc}");
                let fault = |fault| damaged(source, Table::ClusterChanges, name, fault);
                ChangeRow::decode(row, commit, DocNo(doc)).map(|_| true).map_err(fault)
            })?;
        }
        let expected = RowCounts::of(&state);
        if found != expected {
            let detail = format!("the tables have {found:?} instead of {expected:?}");
            return Err(damaged(source, Table::Runs, "all", detail));
        }
        self.copy_meta()?;
        self.commit()
    }

    /// The rows of the large tables: the total of the progress.
    fn count_rows(&self) -> Result<u64> {
        fn rows<K: Key + 'static>(copier: &Copier<'_, '_>, table: Definition<K>) -> Result<u64> {
            let table = copier.reader.txn.open_table(table).doing(copier.source, READING)?;
            table.len().doing(copier.source, READING)
        }
        let documents = rows(self, DOCUMENTS)? + rows(self, SIGNATURES)? + rows(self, TEXTS)?;
        let fingerprints =
            if self.reader.view().fixed.layout.passages { rows(self, FINGERPRINTS)? } else { 0 };
        Ok(documents + fingerprints + rows(self, POSTINGS)?)
    }

    /// Copies the rows of a table for which `accept` returns true. It fails on a damaged row.
    fn copy_table<K: Key + 'static>(
        &mut self,
        definition: Definition<K>,
        watch: &mut Watch<'_>,
        mut accept: impl FnMut(K::SelfType<'_>, &[u8]) -> Result<bool>,
    ) -> Result<()> {
        let (source, path) = (self.source, self.path);
        let old = self.reader.txn.open_table(definition).doing(source, READING)?;
        let mut rows = old.iter().doing(source, READING)?;
        let mut ended = false;
        while !ended {
            let mut bytes = self.bytes;
            {
                let mut new = self.txn()?.open_table(definition).doing(path, WRITING)?;
                let mut end = new
                    .upper_bound_mut(Bound::<K::SelfType<'_>>::Unbounded)
                    .doing(path, WRITING)?;
                while bytes < Self::COMMIT_BYTES {
                    let Some(row) = rows.next() else {
                        ended = true;
                        break;
                    };
                    let (key, row) = row.doing(source, READING)?;
                    if accept(key.value(), row.value())? {
                        end.insert_before(key.value(), row.value()).doing(path, WRITING)?;
                        bytes += row.value().len();
                    }
                    watch.advance(1)?;
                }
                end.close().doing(path, WRITING)?;
            }
            self.bytes = bytes;
            if self.bytes >= Self::COMMIT_BYTES {
                self.commit()?;
            }
        }
        Ok(())
    }

    /// Copies the table `meta`. Its rows replace those of the new, empty index.
    fn copy_meta(&mut self) -> Result<()> {
        let (source, path) = (self.source, self.path);
        let old = self.reader.txn.open_table(META).doing(source, READING)?;
        let mut new = self.txn()?.open_table(META).doing(path, WRITING)?;
        for row in old.iter().doing(source, READING)? {
            let (name, row) = row.doing(source, READING)?;
            // Opening the index has read the others.
            if let Some(Err(fault)) = dedup_row::decode(name.value(), row.value()) {
                return Err(damaged(source, Table::Meta, name.value(), fault));
            }
            new.insert(name.value(), row.value()).doing(path, WRITING)?;
        }
        Ok(())
    }

    fn txn(&mut self) -> Result<&WriteTransaction> {
        match &mut self.txn {
            Some(txn) => Ok(txn),
            none => {
                let begun = self.database.begin_write().doing(self.path, WRITING)?;
                Ok(none.insert(begun))
            }
        }
    }

    fn commit(&mut self) -> Result<()> {
        self.bytes = 0;
        self.txn.take().map_or(Ok(()), |txn| txn.commit().doing(self.path, WRITING))
    }
}

/// Verifies the checksum of a row. `key` seeds the checksum; errors show `name`.
fn verify(source: &Path, row: &[u8], table: Table, key: u64, name: impl Display) -> Result<bool> {
    unseal(row, table, key).map(|_| true).map_err(|fault| damaged(source, table, name, fault))
}

/// The numbers of rows of runs and tombstones. A misplaced page can hide rows, which shows in the
/// numbers alone.
#[derive(Debug, Default, PartialEq, Eq)]
struct RowCounts {
    bands: u64,
    fences: u64,
    chunks: u64,
    dead: u64,
}

impl RowCounts {
    fn of(state: &State) -> Self {
        let bands = || state.manifest.bands();
        Self {
            bands: bands().count() as u64,
            fences: bands().filter(|band| band.chunks() > 0).count() as u64,
            chunks: state.manifest.chunks(),
            dead: state.tombstones.pieces(),
        }
    }
}

#[cfg(test)]
#[path = "backup_tests.rs"]
mod tests;
