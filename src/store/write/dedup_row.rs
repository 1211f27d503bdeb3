//! The progress of a deduplication, stored with its documents (`docs/format.md`, "Dedup row").

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

/// The progress of a deduplication whose output is not complete yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DedupRow {
    /// The first document number that the run may have inserted.
    pub(crate) base: u64,
    /// Whether all documents have been judged and only the output remains to be completed.
    pub(crate) judged: bool,
    /// The number of judged documents.
    pub(crate) documents: u64,
    /// A hash of the judged documents in order.
    pub(crate) input: u64,
    /// The caller's notes. The command stores the length and hash of the output, the length and
    /// hash of the audit file, and six counts.
    pub(crate) notes: [u64; 10],
}

impl DedupRow {
    /// Encodes the row of the run with this number.
    pub(crate) fn encode(&self, run: u64) -> Vec<u8> {
        let Self { base, judged, documents, input, notes } = *self;
        let mut row = Vec::with_capacity(128);
        for number in [base, u64::from(judged), documents, input].into_iter().chain(notes) {
            row.extend_from_slice(&number.to_le_bytes());
        }
        seal(row, Table::Meta, run)
    }

    pub(crate) fn decode(sealed: &[u8], run: u64) -> std::result::Result<Self, DecodeError> {
        let mut numbers = NumberReader(unseal(sealed, Table::Meta, run)?);
        let mut row = Self {
            base: numbers.u64()?,
            judged: match numbers.u64()? {
                0 => false,
                1 => true,
                _ => return Err("its judged flag is neither 0 nor 1"),
            },
            documents: numbers.u64()?,
            input: numbers.u64()?,
            notes: [0; 10],
        };
        for note in &mut row.notes {
            *note = numbers.u64()?;
        }
        numbers.end()?;
        Ok(row)
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
            Ok(run) if key(run) == name.value() => DedupRow::decode(row.value(), run).map(|_| ()),
            _ => Err("its key is not the number of a run"),
        };
        if let Err(fault) = decoded {
            bad(name.value(), fault);
        }
    }
    Ok(())
}

impl Writer {
    /// The stored progress of a deduplication; `None` if there is none.
    pub(crate) fn dedup_row(&self, run: u64) -> Result<Option<DedupRow>> {
        let (txn, path, action) = (self.txn()?, self.path(), "reading a dedup row");
        let key = key(run);
        self.engine().guard_write(|| {
            let meta = txn.open_table(META).doing(path, action)?;
            let row = meta.get(&*key).doing(path, action)?;
            let row = row.map(|row| DedupRow::decode(row.value(), run)).transpose();
            row.map_err(|fault| damaged(path, Table::Meta, &key, fault))
        })
    }

    /// Stores the progress of a deduplication, or deletes it if `row` is `None`.
    pub(crate) fn set_dedup_row(&mut self, run: u64, row: Option<&DedupRow>) -> Result<()> {
        self.change(|writer| {
            let (txn, path, action) = (writer.txn()?, writer.path(), "writing a dedup row");
            let mut meta = txn.open_table(META).doing(path, action)?;
            match row {
                Some(row) => meta.insert(&*key(run), &row.encode(run)[..]).doing(path, action)?,
                None => meta.remove(&*key(run)).doing(path, action)?,
            };
            Ok(())
        })?;
        self.touch(1);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::sim::testing::{filled, open};

    #[test]
    fn a_row_is_stored_until_it_is_deleted() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let engine = filled(&folder, 5);
        let stored = DedupRow { base: 1, documents: 2, input: 3, ..DedupRow::default() };
        let mut writer = engine.write().expect("begun");
        assert_eq!(writer.dedup_row(7).expect("readable"), None);
        writer.set_dedup_row(7, Some(&stored)).expect("written");
        writer.commit().expect("committed");
        drop(engine);

        let engine = open(&folder);
        let mut writer = engine.write().expect("begun");
        assert_eq!(writer.dedup_row(8).expect("readable"), None, "that is another run");
        assert_eq!(writer.dedup_row(7).expect("readable"), Some(stored));
        writer.set_dedup_row(7, None).expect("written");
        assert_eq!(writer.dedup_row(7).expect("readable"), None);
        drop(writer);
        let writer = engine.write().expect("begun");
        assert_eq!(writer.dedup_row(7).expect("readable"), Some(stored), "nothing was committed");
    }
}
