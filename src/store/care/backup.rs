//! A copy of one commit in a new file, packed, while others go on writing.

use crate::error::{Error, Result};
use crate::store::bytes::codec::unseal;
use crate::store::bytes::schema::{
    BandNo, DEAD, DOCUMENTS, FENCES, META, POSTINGS, RUNS, RunNo, SIGNATURES, TEXTS, Table,
    posting_owner, run_place,
};
use crate::store::create::NewFile;
use crate::store::progress::Watch;
use crate::store::read::reader::Reader;
use crate::store::state::State;
use crate::store::storage_error::{Doing, damaged, guard};
use redb::{
    Database, Key, ReadableTable, ReadableTableMetadata, TableDefinition, WriteTransaction,
};
use std::fmt::Display;
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;

type Definition<K> = TableDefinition<'static, K, &'static [u8]>;

const READING: &str = "reading what is copied";
const WRITING: &str = "writing the copy";

/// Writes what the reader sees to a new file, which gets its name when it is complete.
///
/// Every record is checked on the way, so that damage is an error and is not copied.
pub(crate) fn backup(reader: &Reader, path: &Path, watch: &mut Watch<'_>) -> Result<()> {
    if path.symlink_metadata().is_ok() {
        return Err(Error::AlreadyExists { path: path.to_owned() });
    }
    let source = reader.engine().path();
    guard(source, || {
        let new = NewFile::begin_like(path, reader.engine().stored(), source)?;
        let mut database = redb::Builder::new()
            .set_cache_size(reader.engine().cache_bytes())
            .open(new.place())
            .doing(path, WRITING)?;
        let mut copy = Copy { reader, source, path, database: &database, txn: None, bytes: 0 };
        copy.all(watch)?;
        // The storage takes space for a file that grows, half of it for nothing.
        database.compact().doing(path, WRITING)?;
        drop(database);
        new.finish()
    })
}

/// The way of the rows into the new file.
struct Copy<'a, 'w> {
    reader: &'a Reader,
    source: &'a Path,
    path: &'a Path,
    database: &'w Database,
    txn: Option<WriteTransaction>,
    /// What the transaction holds.
    bytes: usize,
}

impl Copy<'_, '_> {
    /// Bytes of rows in one commit: it bounds what the storage remembers of pages.
    const COMMIT: usize = 32 << 20;

    fn all(&mut self, watch: &mut Watch<'_>) -> Result<()> {
        let (source, state) = (self.source, Arc::clone(&self.reader.state));
        watch.expect(self.rows()?)?;
        for (definition, table) in [(DOCUMENTS, Table::Documents), (SIGNATURES, Table::Signatures)]
        {
            let mut found = 0;
            self.table(definition, watch, |doc, row| {
                found += 1;
                sealed(source, row, table, u64::from(doc), doc)
            })?;
            self.reader.counted(found)?;
        }
        let mut found = 0;
        self.table(TEXTS, watch, |doc, row| {
            found += 1;
            sealed(source, row, Table::Texts, u64::from(doc), doc)
        })?;
        if self.reader.view().has_texts() {
            self.reader.counted(found)?;
        }
        let listed = |run, band| state.manifest.get(run).and_then(|run| run.band(band));
        let mut found = Content::default();
        self.table(POSTINGS, watch, |key, row| {
            let (run, band) = posting_owner(key);
            // Chunks of a merge that is not finished do not exist.
            if listed(run, band).is_none() {
                return Ok(false);
            }
            found.chunks += 1;
            sealed(source, row, Table::Postings, key, format_args!("{key:#018x}"))
        })?;
        let of_run = |(run, band): (u32, u8), row: &[u8], table| {
            let place = run_place(RunNo(run), BandNo(band));
            sealed(source, row, table, place, format_args!("run {run} band {band}"))
        };
        self.table(FENCES, watch, |key, row| {
            found.fences += 1;
            of_run(key, row, Table::Fences)
        })?;
        self.table(RUNS, watch, |key, row| {
            found.bands += 1;
            of_run(key, row, Table::Runs)
        })?;
        self.table(DEAD, watch, |number, row| {
            found.dead += 1;
            sealed(source, row, Table::Dead, u64::from(number), number)
        })?;
        let due = Content::of(&state);
        if found != due {
            let detail = format!("there are {found:?}, expected {due:?}");
            return Err(damaged(source, Table::Runs, "all", detail));
        }
        self.meta()?;
        self.commit()
    }

    /// All rows that are to be read.
    fn rows(&self) -> Result<u64> {
        fn rows<K: Key + 'static>(copy: &Copy<'_, '_>, table: Definition<K>) -> Result<u64> {
            let table = copy.reader.txn.open_table(table).doing(copy.source, READING)?;
            table.len().doing(copy.source, READING)
        }
        let documents = rows(self, DOCUMENTS)? + rows(self, SIGNATURES)? + rows(self, TEXTS)?;
        Ok(documents + rows(self, POSTINGS)?)
    }

    /// Copies the rows of a table that `judge` finds whole and wants.
    fn table<K: Key + 'static>(
        &mut self,
        definition: Definition<K>,
        watch: &mut Watch<'_>,
        mut judge: impl FnMut(K::SelfType<'_>, &[u8]) -> Result<bool>,
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
                while bytes < Self::COMMIT {
                    let Some(row) = rows.next() else {
                        ended = true;
                        break;
                    };
                    let (key, row) = row.doing(source, READING)?;
                    let wanted = judge(key.value(), row.value())?;
                    if wanted {
                        end.insert_before(key.value(), row.value()).doing(path, WRITING)?;
                        bytes += row.value().len();
                    }
                    watch.advance(1)?;
                }
                end.close().doing(path, WRITING)?;
            }
            self.bytes = bytes;
            if self.bytes >= Self::COMMIT {
                self.commit()?;
            }
        }
        Ok(())
    }

    /// Copies the rows that say what the index is, which are there already as those of an empty one.
    fn meta(&mut self) -> Result<()> {
        let (source, path) = (self.source, self.path);
        let old = self.reader.txn.open_table(META).doing(source, READING)?;
        let mut new = self.txn()?.open_table(META).doing(path, WRITING)?;
        for row in old.iter().doing(source, READING)? {
            let (name, row) = row.doing(source, READING)?;
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

/// Checks the checksum of a record that is to be copied.
fn sealed(source: &Path, row: &[u8], table: Table, place: u64, key: impl Display) -> Result<bool> {
    unseal(row, table, place).map(|_| true).map_err(|fault| damaged(source, table, key, fault))
}

/// How many rows an index has of runs and of the dead: a page that was replaced can hide some.
#[derive(Debug, Default, PartialEq, Eq)]
struct Content {
    bands: u64,
    fences: u64,
    chunks: u64,
    dead: u64,
}

impl Content {
    fn of(state: &State) -> Self {
        let bands = || state.manifest.bands();
        Self {
            bands: bands().count() as u64,
            fences: bands().filter(|band| band.chunks() > 0).count() as u64,
            chunks: state.manifest.chunks(),
            dead: state.dead.pieces(),
        }
    }
}
