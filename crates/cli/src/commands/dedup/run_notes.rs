//! The ten numbers that the index stores with the progress of a run of `dedup`.

use crate::commands::dedup::counts::Counts;
use crate::commands::outputs::partial_file::LengthAndHash;
use twindex::DedupRun;
use xxhash_rust::xxh3::xxh3_64;

/// What a run of `dedup` stores with its progress.
#[derive(Clone, Copy)]
pub(crate) struct RunNotes {
    /// The length and hash of the output; of a folder, and of an order of preference, those of the
    /// file that tells how far the output is, until the run has ended.
    pub(crate) kept: LengthAndHash,
    /// The length and hash of the file that keeps the audit.
    pub(crate) audit: LengthAndHash,
    /// The outcomes so far.
    pub(crate) counts: Counts,
    /// Whether the run may replace its output by less: it was begun with --restart.
    pub(crate) may_replace: bool,
    /// Whether the run was stopped because it would replace too many documents.
    pub(crate) refused: bool,
}

/// The flags in the number of duplicates.
const MAY_REPLACE: u64 = 1 << 63;
const REFUSED: u64 = 1 << 62;

/// The lower half of a stored number.
const HALF: u64 = u32::MAX as u64;

impl RunNotes {
    /// The notes of a run that has judged nothing.
    pub(crate) fn at_begin(may_replace: bool) -> Self {
        let nothing = (0, xxh3_64(b""));
        let counts = Counts::default();
        Self { kept: nothing, audit: nothing, counts, may_replace, refused: false }
    }

    /// Reads the notes that a run has stored.
    pub(crate) fn of(run: &DedupRun) -> Self {
        Self::decode(run.notes())
    }

    /// Returns the numbers to store: length and hash of the output, length and hash of the audit,
    /// and the counts.
    ///
    /// Some numbers are two: the lower half of each number is what earlier versions store there,
    /// the upper half is a count that they do not know. Added, replaced and known documents are
    /// fewer than 2^32, as an index holds no more; other counts are cut off there.
    ///
    /// | number | lower half | upper half |
    /// |---|---|---|
    /// | 4 | added | the lower half of the bytes that were cut |
    /// | 5 | replaced | the upper half of them |
    /// | 6 | unchanged | records that were cut |
    /// | 8 | empty | spared |
    ///
    /// Number 7, the duplicates, has two flags: bit 63 says that the run may replace its output by
    /// less, bit 62 that it was refused because it would replace too many documents.
    pub(crate) fn encode(&self) -> [u64; 10] {
        let Self { kept, audit, counts, may_replace, refused } = *self;
        let Counts { added, replaced, unchanged, duplicates, empty, bytes, .. } = counts;
        let Counts { spared, cut, cut_bytes, limited: _, .. } = counts;
        let both = |low: u64, high: u64| low.min(HALF) | high.min(HALF) << 32;
        let flag = |bit: u64, is_set: bool| if is_set { bit } else { 0 };
        [
            kept.0,
            kept.1,
            audit.0,
            audit.1,
            both(added, cut_bytes & HALF),
            both(replaced, cut_bytes >> 32),
            both(unchanged, cut),
            duplicates | flag(MAY_REPLACE, may_replace) | flag(REFUSED, refused),
            both(empty, spared),
            bytes,
        ]
    }

    /// Reads stored numbers.
    pub(crate) fn decode(numbers: [u64; 10]) -> Self {
        let [kept_bytes, kept_hash, audit_bytes, audit_hash, counts @ ..] = numbers;
        let [added, replaced, unchanged, duplicates, empty, bytes] = counts;
        let counts = Counts {
            added: added & HALF,
            replaced: replaced & HALF,
            unchanged: unchanged & HALF,
            duplicates: duplicates & !(MAY_REPLACE | REFUSED),
            empty: empty & HALF,
            bytes,
            spared: empty >> 32,
            cut: unchanged >> 32,
            cut_bytes: added >> 32 | replaced >> 32 << 32,
            limited: 0,
        };
        Self {
            kept: (kept_bytes, kept_hash),
            audit: (audit_bytes, audit_hash),
            counts,
            may_replace: duplicates & MAY_REPLACE != 0,
            refused: duplicates & REFUSED != 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Notes in which all counts differ, and the bytes that were cut need both halves.
    fn notes() -> RunNotes {
        let counts = Counts {
            added: 0x11,
            replaced: 0x22,
            unchanged: 0x33,
            duplicates: 0x44,
            empty: 0x55,
            bytes: 0x66,
            spared: 0x77,
            cut: 0x88,
            cut_bytes: 0x99_0000_00AA,
            limited: 0xBB,
        };
        RunNotes { kept: (1, 2), audit: (3, 4), counts, may_replace: false, refused: false }
    }

    #[test]
    fn the_stored_numbers_are_these() {
        let numbers = [
            1,
            2,
            3,
            4,
            0x0000_00AA_0000_0011,
            0x0000_0099_0000_0022,
            0x0000_0088_0000_0033,
            0x44,
            0x0000_0077_0000_0055,
            0x66,
        ];
        assert_eq!(notes().encode(), numbers);
        let duplicates = |notes: RunNotes| notes.encode()[7];
        assert_eq!(duplicates(RunNotes { may_replace: true, ..notes() }), 0x8000_0000_0000_0044);
        assert_eq!(duplicates(RunNotes { refused: true, ..notes() }), 0x4000_0000_0000_0044);
        let begun = [0, 0x2D06_8005_38D3_94C2, 0, 0x2D06_8005_38D3_94C2, 0, 0, 0, 1 << 63, 0, 0];
        assert_eq!(RunNotes::at_begin(true).encode(), begun);
    }

    #[test]
    fn counts_too_large_for_half_a_number_are_cut_off() {
        let counts = Counts { empty: 1 << 32, spared: u64::MAX, ..notes().counts };
        assert_eq!(RunNotes { counts, ..notes() }.encode()[8], u64::MAX);
    }

    #[test]
    fn numbers_that_were_read_are_stored_again_as_they_were() {
        for numbers in [[0; 10], [u64::MAX; 10], [0x0123_4567_89AB_CDEF; 10], notes().encode()] {
            assert_eq!(RunNotes::decode(numbers).encode(), numbers);
        }
        let read = RunNotes::decode(RunNotes { refused: true, ..notes() }.encode());
        assert!(read.refused && !read.may_replace);
        let Counts { added, replaced, unchanged, duplicates, empty, bytes, .. } = read.counts;
        let Counts { spared, cut, cut_bytes, limited, .. } = read.counts;
        let counts = [added, replaced, unchanged, duplicates, empty, bytes];
        assert_eq!(counts, [0x11, 0x22, 0x33, 0x44, 0x55, 0x66]);
        assert_eq!([spared, cut, cut_bytes, limited], [0x77, 0x88, 0x99_0000_00AA, 0]);
    }
}
