//! Tells whether an input still has the same records, with all their fields.

use crate::commands::outputs::kept_output::OutputRecord;
use xxhash_rust::xxh3::xxh3_64;

/// A hash of records in order, with all that an output receives of them. An index knows only their
/// ids and texts, so it does not notice that a label or a date has changed.
///
/// Of rows by columns and of whole files nothing is hashed: the lengths of their files, and their
/// texts, have to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RecordsHash(pub(crate) u64);

impl RecordsHash {
    /// Adds the next record, by its own hash.
    pub(crate) fn add(&mut self, record: u64) {
        /// Spreads each bit over the upper half of a number.
        const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
        self.0 = (self.0.rotate_left(23) ^ record).wrapping_mul(SPREAD);
    }
}

/// The hash of a record, without its line end, which the last one of a file may lack.
pub(crate) fn hash_of(record: &OutputRecord) -> u64 {
    match record {
        OutputRecord::Bytes(bytes) | OutputRecord::Row { bytes, .. } => {
            xxh3_64(bytes.trim_ascii_end())
        }
        OutputRecord::Warc(bytes) => xxh3_64(bytes),
        OutputRecord::Path(_) | OutputRecord::Columns { .. } | OutputRecord::Chosen(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_tells_records_and_their_order_but_no_line_ends() {
        let hash = |lines: &[&'static str]| {
            let mut hash = RecordsHash::default();
            let records = lines.iter().map(|line| OutputRecord::Bytes(line.as_bytes().into()));
            records.for_each(|record| hash.add(hash_of(&record)));
            hash
        };
        assert_eq!(hash(&["{\"a\":1}\n", "{\"b\":2}\r\n"]), hash(&["{\"a\":1}\n", "{\"b\":2}"]));
        assert_ne!(hash(&["{\"a\":1}\n", "{\"b\":2}\n"]), hash(&["{\"b\":2}\n", "{\"a\":1}\n"]));
        assert_ne!(hash(&["{\"a\":1}\n"]), hash(&["{\"a\":3}\n"]));
    }
}
