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
use std::ops::Range;
use std::path::Path;

/// The numbers of the documents that a run has inserted. Other writers may have inserted documents
/// between its commits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct OwnNumbers {
    /// Ranges in ascending order that neither overlap nor touch.
    ranges: Vec<Range<u64>>,
}

impl OwnNumbers {
    /// Adds numbers, which must be above all others.
    pub(crate) fn add(&mut self, numbers: Range<u64>) {
        match self.ranges.last_mut() {
            _ if numbers.is_empty() => {}
            Some(last) if last.end == numbers.start => last.end = numbers.end,
            _ => self.ranges.push(numbers),
        }
    }

    /// The number after the last one; 0 if there are none.
    pub(crate) fn end(&self) -> u64 {
        self.ranges.last().map_or(0, |last| last.end)
    }

    pub(crate) fn contains(&self, number: u64) -> bool {
        let after = self.ranges.partition_point(|range| range.start <= number);
        let range = after.checked_sub(1).and_then(|at| self.ranges.get(at));
        range.is_some_and(|range| range.contains(&number))
    }

    /// Reads the ranges that are left in a row.
    fn decode(mut numbers: NumberReader<'_>) -> std::result::Result<Self, DecodeError> {
        let mut ranges: Vec<Range<u64>> = Vec::new();
        while numbers.end().is_err() {
            let range = numbers.u64()?..numbers.u64()?;
            let free = ranges.last().is_none_or(|last| last.end < range.start);
            if range.is_empty() || !free {
                return Err("its ranges of numbers do not ascend");
            }
            ranges.push(range);
        }
        Ok(Self { ranges })
    }
}

/// How far a deduplication is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum DedupStage {
    /// It judges documents.
    #[default]
    Judging,
    /// All documents have been judged, and only the output remains to be completed.
    Judged,
    /// The output is complete. The number is a hash of what the caller compares with later, and of
    /// how many documents had been removed from the index.
    Finished(u64),
}

/// The progress of a deduplication.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DedupRow {
    pub(crate) stage: DedupStage,
    /// The number of judged documents.
    pub(crate) documents: u64,
    /// A hash of the judged documents in order.
    pub(crate) input: u64,
    /// Ten numbers of the caller, whose meaning the index does not know.
    pub(crate) notes: [u64; 10],
    /// The documents that the run has inserted. None are stored of a finished run.
    pub(crate) own: OwnNumbers,
}

impl DedupRow {
    /// Encodes the row of the run with this number.
    pub(crate) fn encode(&self, run: u64) -> Vec<u8> {
        let Self { stage, documents, input, notes, own } = self;
        let mut row = Vec::with_capacity(128);
        let ranges = own.ranges.iter().flat_map(|range| [range.start, range.end]);
        let (stage, end) = match stage {
            DedupStage::Judging => (0, ranges.collect()),
            DedupStage::Judged => (1, ranges.collect()),
            DedupStage::Finished(circumstances) => (2, vec![*circumstances]),
        };
        for number in [stage, *documents, *input].into_iter().chain(*notes).chain(end) {
            row.extend_from_slice(&number.to_le_bytes());
        }
        seal(row, Table::Meta, run)
    }

    pub(crate) fn decode(sealed: &[u8], run: u64) -> std::result::Result<Self, DecodeError> {
        let mut numbers = NumberReader(unseal(sealed, Table::Meta, run)?);
        let stage = numbers.u64()?;
        let mut row = Self {
            stage: DedupStage::Judging,
            documents: numbers.u64()?,
            input: numbers.u64()?,
            notes: [0; 10],
            own: OwnNumbers::default(),
        };
        for note in &mut row.notes {
            *note = numbers.u64()?;
        }
        match stage {
            0 => row.own = OwnNumbers::decode(numbers)?,
            1 => (row.stage, row.own) = (DedupStage::Judged, OwnNumbers::decode(numbers)?),
            2 => {
                row.stage = DedupStage::Finished(numbers.u64()?);
                numbers.end()?;
            }
            _ => return Err("its stage is not 0, 1 or 2"),
        }
        Ok(row)
    }
}

/// The key of a run's row.
fn key(run: u64) -> String {
    format!("{DEDUP_ROWS}{run:016x}")
}

/// Calls `visit` for each dedup row among the rows of `meta`, with its key and what it holds: the
/// number of the run and its progress, or why it cannot be read.
pub(crate) fn for_each(
    meta: &impl ReadableTable<&'static str, &'static [u8]>,
    path: &Path,
    mut visit: impl FnMut(&str, std::result::Result<(u64, DedupRow), DecodeError>),
) -> Result<()> {
    let action = "reading the dedup rows";
    for row in meta.range(DEDUP_ROWS..).doing(path, action)? {
        let (name, row) = row.doing(path, action)?;
        let Some(decoded) = decode(name.value(), row.value()) else { break };
        visit(name.value(), decoded);
    }
    Ok(())
}

/// The number of a run and its progress, or why they cannot be read, from a row of `meta` and its
/// key. `None` if it is no dedup row.
pub(crate) fn decode(
    name: &str,
    row: &[u8],
) -> Option<std::result::Result<(u64, DedupRow), DecodeError>> {
    let run = name.strip_prefix(DEDUP_ROWS)?;
    Some(match u64::from_str_radix(run, 16) {
        Ok(run) if key(run) == name => DedupRow::decode(row, run).map(|row| (run, row)),
        _ => Err("its key is not the number of a run"),
    })
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

    /// The stored progress of all deduplications, each with its number.
    pub(crate) fn dedup_rows(&self) -> Result<Vec<(u64, DedupRow)>> {
        let (txn, path, action) = (self.txn()?, self.path(), "reading the dedup rows");
        self.engine().guard_write(|| {
            let meta = txn.open_table(META).doing(path, action)?;
            let mut rows = Vec::new();
            for_each(&meta, path, |name, decoded| {
                rows.push(decoded.map_err(|fault| damaged(path, Table::Meta, name, fault)));
            })?;
            rows.into_iter().collect()
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
    fn own_numbers_are_those_added_and_no_others() {
        let mut own = OwnNumbers::default();
        for numbers in [3..5, 5..5, 5..6, 9..12, 20..21] {
            own.add(numbers);
        }
        let found: Vec<u64> = (0..30).filter(|number| own.contains(*number)).collect();
        assert_eq!(found, [3, 4, 5, 9, 10, 11, 20]);
        assert_eq!(own.ranges.len(), 3);
        let row = DedupRow { own, ..DedupRow::default() };
        assert_eq!(DedupRow::decode(&row.encode(7), 7), Ok(row));
    }

    #[test]
    fn every_stage_is_read_back_and_another_one_is_damage() {
        for stage in [DedupStage::Judging, DedupStage::Judged, DedupStage::Finished(5)] {
            let row = DedupRow { stage, documents: 2, ..DedupRow::default() };
            assert_eq!(DedupRow::decode(&row.encode(7), 7), Ok(row));
        }
        let row = [&3_u64.to_le_bytes()[..], &[0; 12 * 8]].concat();
        assert!(DedupRow::decode(&seal(row, Table::Meta, 7), 7).is_err());
    }

    #[test]
    fn ranges_that_do_not_ascend_are_damage() {
        for ranges in [&[(3, 3)][..], &[(3, 5), (5, 6)], &[(3, 5), (1, 2)]] {
            let ranges = ranges.iter().map(|(first, end)| *first..*end).collect();
            let row = DedupRow { own: OwnNumbers { ranges }, ..DedupRow::default() };
            assert!(DedupRow::decode(&row.encode(7), 7).is_err(), "{row:?}");
        }
    }

    #[test]
    fn a_row_is_stored_until_it_is_deleted() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let engine = filled(&folder, 5);
        let stored = DedupRow { documents: 2, input: 3, ..DedupRow::default() };
        let mut writer = engine.write().expect("begun");
        assert_eq!(writer.dedup_row(7).expect("readable"), None);
        writer.set_dedup_row(7, Some(&stored)).expect("written");
        writer.commit().expect("committed");
        drop(engine);

        let engine = open(&folder);
        let mut writer = engine.write().expect("begun");
        assert_eq!(writer.dedup_row(8).expect("readable"), None, "that is another run");
        assert_eq!(writer.dedup_row(7).expect("readable"), Some(stored.clone()));
        assert_eq!(writer.dedup_rows().expect("readable"), [(7, stored.clone())]);
        writer.set_dedup_row(7, None).expect("written");
        assert_eq!(writer.dedup_row(7).expect("readable"), None);
        drop(writer);
        let writer = engine.write().expect("begun");
        assert_eq!(writer.dedup_row(7).expect("readable"), Some(stored), "nothing was committed");
    }
}
