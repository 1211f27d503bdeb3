//! How far a deduplication has come, stored with its documents (`docs/format.md`, section "Dedup row").

use super::codec::{Fault, Numbers, seal, unseal};
use super::fault::{Doing, damaged};
use super::schema::{DEDUP_ROW, META, Table};
use super::writer::Writer;
use crate::error::Result;
use redb::ReadableTable;
use std::path::Path;

/// How far a deduplication has come that is not finished yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DedupMark {
    /// A hash of what was asked for: another run does not go on with this one.
    pub(crate) run: u64,
    /// The records that have been judged.
    pub(crate) records: u64,
    /// A hash of them, in order.
    pub(crate) input: u64,
    /// The bytes of the output that belong to them.
    pub(crate) kept_bytes: u64,
    /// The bytes of the audit that belong to them.
    pub(crate) audit_bytes: u64,
    /// What became of them, as the command counts it.
    pub(crate) counts: [u64; 6],
}

impl DedupMark {
    /// The place of its checksum among the rows of `meta`.
    const PLACE: u64 = 2;

    pub(super) fn encode(&self) -> Vec<u8> {
        let Self { run, records, input, kept_bytes, audit_bytes, counts } = self;
        let mut row = Vec::with_capacity(96);
        for number in [run, records, input, kept_bytes, audit_bytes].into_iter().chain(counts) {
            row.extend_from_slice(&number.to_le_bytes());
        }
        seal(row, Table::Meta, Self::PLACE)
    }

    pub(super) fn decode(sealed: &[u8]) -> std::result::Result<Self, Fault> {
        let mut numbers = Numbers(unseal(sealed, Table::Meta, Self::PLACE)?);
        let mut mark = Self {
            run: numbers.u64()?,
            records: numbers.u64()?,
            input: numbers.u64()?,
            kept_bytes: numbers.u64()?,
            audit_bytes: numbers.u64()?,
            counts: [0; 6],
        };
        for count in &mut mark.counts {
            *count = numbers.u64()?;
        }
        numbers.end()?;
        Ok(mark)
    }
}

/// The dedup row among the rows of `meta`, and why it cannot be read.
pub(super) fn find(
    meta: &impl ReadableTable<&'static str, &'static [u8]>,
    path: &Path,
) -> Result<std::result::Result<Option<DedupMark>, Fault>> {
    let row = meta.get(DEDUP_ROW).doing(path, "reading the dedup row")?;
    Ok(row.map(|row| DedupMark::decode(row.value())).transpose())
}

impl Writer<'_> {
    /// How far a deduplication has come, if one is not finished.
    pub(crate) fn dedup_mark(&self) -> Result<Option<DedupMark>> {
        let (txn, path) = (self.txn()?, self.engine.path());
        self.engine.guard_write(|| {
            let meta = txn.open_table(META).doing(path, "reading the dedup row")?;
            find(&meta, path)?.map_err(|fault| damaged(path, Table::Meta, DEDUP_ROW, fault))
        })
    }

    /// Stores how far a deduplication has come; `None` when it is finished.
    pub(crate) fn set_dedup_mark(&mut self, mark: Option<&DedupMark>) -> Result<()> {
        self.change(|writer| {
            let (txn, path, action) =
                (writer.txn()?, writer.engine.path(), "writing the dedup row");
            let mut meta = txn.open_table(META).doing(path, action)?;
            match mark {
                Some(mark) => meta.insert(DEDUP_ROW, &mark.encode()[..]).doing(path, action)?,
                None => meta.remove(DEDUP_ROW).doing(path, action)?,
            };
            Ok(())
        })?;
        self.touch();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{filled, open};
    use super::*;

    #[test]
    fn a_mark_is_there_until_it_is_taken_away() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let engine = filled(&folder, 5);
        let mark = DedupMark { run: 1, records: 2, input: 3, ..DedupMark::default() };
        let mut writer = engine.write().expect("begun");
        assert_eq!(writer.dedup_mark().expect("readable"), None);
        writer.set_dedup_mark(Some(&mark)).expect("written");
        writer.commit().expect("committed");
        drop(engine);

        let engine = open(&folder);
        let mut writer = engine.write().expect("begun");
        assert_eq!(writer.dedup_mark().expect("readable"), Some(mark));
        writer.set_dedup_mark(None).expect("written");
        assert_eq!(writer.dedup_mark().expect("readable"), None);
        drop(writer);
        let writer = engine.write().expect("begun");
        assert_eq!(writer.dedup_mark().expect("readable"), Some(mark), "nothing was committed");
    }
}
