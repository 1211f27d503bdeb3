//! What a check reports: violations of the invariants of `docs/format.md`.

use std::fmt;

/// An invariant of the file format, numbered as in `docs/format.md`.
///
/// Invariants 1 and 2 are missing here: they concern the rows that opening reads, so they hold for
/// every index that opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum Invariant {
    /// The counters agree with the tables.
    Counters = 3,
    /// `signatures` and `documents` have the same keys.
    SameRows = 4,
    /// Every record is whole: its checksum matches and its fields are in range.
    Records = 5,
    /// A document with a tombstone has no rows.
    Dead = 6,
    /// Ids have 1 to 4,096 bytes, and no two documents have the same id.
    Ids = 7,
    /// The runs that have a band cover disjoint ranges of documents below `flushed_upto`.
    Ranges = 8,
    /// A listed band has all its chunks, and as many entries as its run row says.
    Chunks = 9,
    /// Entries ascend, the fence of a chunk is that of its first word, and the documents of entries
    /// lie in the range of the run.
    Order = 10,
    /// Each live flushed document has one entry in every band, under its word, and one under each
    /// of its fingerprints. All other entries are of removed documents.
    Entries = 11,
    /// `texts` has the text of every document, or is empty if texts are not stored.
    Texts = 12,
    /// `fingerprints` has the fingerprints of every document, if the index finds passages.
    Fingerprints = 13,
    /// The tables of tracked clusters agree with each other and with the documents.
    Clusters = 14,
}

impl Invariant {
    /// The number in `docs/format.md`.
    pub const fn number(self) -> u8 {
        self as u8
    }
}

/// A violation of an invariant.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// The invariant that does not hold.
    pub invariant: Invariant,
    /// The table and key, or the run and band.
    pub place: String,
    /// What is wrong.
    pub detail: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invariant {}: {}: {}", self.invariant.number(), self.place, self.detail)
    }
}

/// The result of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckReport {
    /// The first thousand violations.
    pub violations: Vec<Violation>,
    /// The number of all violations.
    pub violation_count: u64,
    /// The number of live documents that were read.
    pub documents: u64,
    /// The number of band entries that were read. The ids are a band too, and so are fingerprints.
    pub entries: u64,
    /// The number of unlisted chunks, which an unfinished merge leaves. They are no violation: the
    /// first commit of the next process deletes them.
    pub unlisted_chunks: u64,
}

impl CheckReport {
    /// Whether there are no violations.
    pub fn is_clean(&self) -> bool {
        self.violation_count == 0
    }

    pub(crate) fn add(
        &mut self,
        invariant: Invariant,
        place: impl fmt::Display,
        detail: impl fmt::Display,
    ) {
        const MAX_REPORTED: usize = 1000;
        self.violation_count += 1;
        if self.violations.len() < MAX_REPORTED {
            let (place, detail) = (place.to_string(), detail.to_string());
            self.violations.push(Violation { invariant, place, detail });
        }
    }
}
