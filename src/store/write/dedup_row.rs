//! How far a deduplication has come, stored with its documents (`docs/format.md`, section "Dedup row").

use crate::error::Result;
use crate::store::bytes::codec::seal;
use crate::store::bytes::codec::{DecodeError, NumberReader, unseal};
use crate::store::bytes::schema::META;
use crate::store::bytes::schema::{DEDUP_ROWS, Table};
use crate::store::storage_error::Doing;
use crate::store::storage_error::damaged;
use crate::store::write::writer::Writer;
use redb::ReadableTable;
use std::path::Path;

/// How far a deduplication has come whose output is not complete yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DedupMark {
    /// Documents from this number on were inserted by it.
    pub base: u64,
    /// Whether all records have been judged, and only the output has to get its name.
    pub judged: bool,
    /// The records that have been judged.
    pub records: u64,
    /// A hash of them, in order.
    pub input: u64,
    /// The bytes of the output that belong to them, and their hash.
    pub kept: (u64, u64),
    /// The bytes of the audit that belong to them, and their hash.
    pub audit: (u64, u64),
    /// What became of them, as the command counts it.
    pub counts: [u64; 6],
}

impl DedupMark {
    /// The row of the run that has this hash of what was asked for.
    pub(crate) fn encode(&self, run: u64) -> Vec<u8> {
        let Self { base, judged, records, input, kept, audit, counts } = *self;
        let mut row = Vec::with_capacity(128);
        let numbers = [base, u64::from(judged), records, input, kept.0, kept.1, audit.0, audit.1];
        for number in numbers.into_iter().chain(counts) {
            row.extend_from_slice(&number.to_le_bytes());
        }
        seal(row, Table::Meta, run)
    }

    pub(crate) fn decode(sealed: &[u8], run: u64) -> std::result::Result<Self, DecodeError> {
        let mut numbers = NumberReader(unseal(sealed, Table::Meta, run)?);
        let mut mark = Self {
            base: numbers.u64()?,
            judged: match numbers.u64()? {
                0 => false,
                1 => true,
                _ => return Err("it is neither judged nor not"),
            },
            records: numbers.u64()?,
            input: numbers.u64()?,
            kept: (numbers.u64()?, numbers.u64()?),
            audit: (numbers.u64()?, numbers.u64()?),
            counts: [0; 6],
        };
        for count in &mut mark.counts {
            *count = numbers.u64()?;
        }
        numbers.end()?;
        Ok(mark)
    }
}

/// The key of a run's row.
fn key(run: u64) -> String {
    format!("{DEDUP_ROWS}{run:016x}")
}

/// Calls `bad` for each dedup row among the rows of `meta` that cannot be read.
pub(crate) fn for_each_bad(
    meta: &impl ReadableTable<&'static str, &'static [u8]>,
    path: &Path,
    mut bad: impl FnMut(&str, DecodeError),
) -> Result<()> {
    let action = "reading the dedup rows";
    for row in meta.range(DEDUP_ROWS..).doing(path, action)? {
        let (name, row) = row.doing(path, action)?;
        let Some(run) = name.value().strip_prefix(DEDUP_ROWS) else { break };
        let decoded = match u64::from_str_radix(run, 16) {
            Ok(run) if key(run) == name.value() => DedupMark::decode(row.value(), run).map(|_| ()),
            _ => Err("its key names no run"),
        };
        if let Err(fault) = decoded {
            bad(name.value(), fault);
        }
    }
    Ok(())
}

/// Only the command deduplicates in runs.
impl Writer<'_> {
    /// How far a deduplication has come, if its output is not complete.
    pub(crate) fn dedup_mark(&self, run: u64) -> Result<Option<DedupMark>> {
        let (txn, path, action) = (self.txn()?, self.engine.path(), "reading a dedup row");
        let key = key(run);
        self.engine.guard_write(|| {
            let meta = txn.open_table(META).doing(path, action)?;
            let row = meta.get(&*key).doing(path, action)?;
            let mark = row.map(|row| DedupMark::decode(row.value(), run)).transpose();
            mark.map_err(|fault| damaged(path, Table::Meta, &key, fault))
        })
    }

    /// Stores how far a deduplication has come; `None` when its output is complete.
    pub(crate) fn set_dedup_mark(&mut self, run: u64, mark: Option<&DedupMark>) -> Result<()> {
        self.change(|writer| {
            let (txn, path, action) = (writer.txn()?, writer.engine.path(), "writing a dedup row");
            let mut meta = txn.open_table(META).doing(path, action)?;
            match mark {
                Some(mark) => meta.insert(&*key(run), &mark.encode(run)[..]).doing(path, action)?,
                None => meta.remove(&*key(run)).doing(path, action)?,
            };
            Ok(())
        })?;
        self.touch();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::sim::testing::{filled, open};

    #[test]
    fn a_mark_is_there_until_it_is_taken_away() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let engine = filled(&folder, 5);
        let mark = DedupMark { base: 1, records: 2, input: 3, ..DedupMark::default() };
        let mut writer = engine.write().expect("begun");
        assert_eq!(writer.dedup_mark(7).expect("readable"), None);
        writer.set_dedup_mark(7, Some(&mark)).expect("written");
        writer.commit().expect("committed");
        drop(engine);

        let engine = open(&folder);
        let mut writer = engine.write().expect("begun");
        assert_eq!(writer.dedup_mark(8).expect("readable"), None, "that is another run");
        assert_eq!(writer.dedup_mark(7).expect("readable"), Some(mark));
        writer.set_dedup_mark(7, None).expect("written");
        assert_eq!(writer.dedup_mark(7).expect("readable"), None);
        drop(writer);
        let writer = engine.write().expect("begun");
        assert_eq!(writer.dedup_mark(7).expect("readable"), Some(mark), "nothing was committed");
    }
}
