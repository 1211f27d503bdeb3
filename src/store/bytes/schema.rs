//! The tables, their keys and the tags of their checksums (`docs/format.md`, section "Tables").

use crate::hash::ID_BITS;
use redb::TableDefinition;

/// The name of the format, at the start of the `format` row.
pub(crate) const MAGIC: [u8; 8] = *b"twindex\0";

/// The newest version of the format that this build reads. It writes no other.
pub const FORMAT_VERSION: u32 = 5;

/// The `format` row of a version.
pub(crate) fn format_row(version: u32) -> Vec<u8> {
    [&MAGIC[..], &version.to_le_bytes()].concat()
}

/// Rows by name: `format`, `settings`, `state`, `dictionary`, `clusters`, and `dedup` with a
/// number.
pub(crate) const META: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("meta");
/// Document number to signature row. Opening an index rebuilds the tail from here.
pub(crate) const SIGNATURES: TableDefinition<'_, u32, &[u8]> = TableDefinition::new("signatures");
/// Document number to document record.
pub(crate) const DOCUMENTS: TableDefinition<'_, u32, &[u8]> = TableDefinition::new("documents");
/// Document number to text row. The table is empty if the index stores no texts.
pub(crate) const TEXTS: TableDefinition<'_, u32, &[u8]> = TableDefinition::new("texts");
/// Document number to fingerprint row. Only an index that finds passages has this table. Opening an
/// index rebuilds the tail from here, too.
pub(crate) const FINGERPRINTS: TableDefinition<'_, u32, &[u8]> =
    TableDefinition::new("fingerprints");
/// Run number and band to run row. Readers ignore fences and chunks of a band without a row here.
pub(crate) const RUNS: TableDefinition<'_, (u32, u8), &[u8]> = TableDefinition::new("runs");
/// Run number and band to the fence keys of its chunks.
pub(crate) const FENCES: TableDefinition<'_, (u32, u8), &[u8]> = TableDefinition::new("fences");
/// Run number, band and chunk number (see `posting_key`) to chunk.
pub(crate) const POSTINGS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("postings");
/// The upper 16 bits of document numbers to a bitmap of the tombstones among these numbers.
pub(crate) const DEAD: TableDefinition<'_, u16, &[u8]> = TableDefinition::new("dead");
/// Document number to cluster row. Only an index that tracks clusters has this table and the next
/// two.
pub(crate) const CLUSTERS: TableDefinition<'_, u32, &[u8]> = TableDefinition::new("clusters");
/// Cluster and document number of each member. The values are empty.
pub(crate) const MEMBERS: TableDefinition<'_, (u64, u32), &[u8]> = TableDefinition::new("members");
/// Commit and document number to change row: the last change of each document.
pub(crate) const CLUSTER_CHANGES: TableDefinition<'_, (u64, u32), &[u8]> =
    TableDefinition::new("cluster changes");

pub(crate) const FORMAT_ROW: &str = "format";
pub(crate) const SETTINGS_ROW: &str = "settings";
pub(crate) const STATE_ROW: &str = "state";
/// The key of the dictionary row, which exists once a dictionary was trained.
pub(crate) const DICTIONARY_ROW: &str = "dictionary";
/// The key of the row that says how far clusters are tracked, if they are.
pub(crate) const CLUSTERS_ROW: &str = "clusters";
/// The prefix of the keys of dedup rows. A number of 16 hexadecimal digits follows.
pub(crate) const DEDUP_ROWS: &str = "dedup ";

/// A table as checksums (by number) and error messages (by name) identify it: `docs/format.md`,
/// section "Checksums".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Table {
    Meta = 1,
    Signatures = 2,
    Documents = 3,
    Texts = 4,
    Runs = 5,
    Fences = 6,
    Postings = 7,
    Dead = 8,
    Fingerprints = 9,
    Clusters = 10,
    Members = 11,
    ClusterChanges = 12,
}

impl Table {
    pub(crate) const ALL: [Self; 12] = [
        Self::Meta,
        Self::Signatures,
        Self::Documents,
        Self::Texts,
        Self::Runs,
        Self::Fences,
        Self::Postings,
        Self::Dead,
        Self::Fingerprints,
        Self::Clusters,
        Self::Members,
        Self::ClusterChanges,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Meta => "meta",
            Self::Signatures => "signatures",
            Self::Documents => "documents",
            Self::Texts => "texts",
            Self::Runs => "runs",
            Self::Fences => "fences",
            Self::Postings => "postings",
            Self::Dead => "dead",
            Self::Fingerprints => "fingerprints",
            Self::Clusters => "clusters",
            Self::Members => "members",
            Self::ClusterChanges => "cluster changes",
        }
    }
}

/// A document number: assigned in order of insertion, never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct DocNo(pub(crate) u32);

/// A run number: assigned in order of creation, never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct RunNo(pub(crate) u32);

/// The number of a band: lane bands count from 0, the id band follows the last of them, then the
/// band of fingerprints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct BandNo(pub(crate) u8);

/// Writers give the document numbers below this one. The last number of 32 bits stands for no
/// document in maps that memory holds.
pub(crate) const DOCUMENT_NUMBERS: u64 = u32::MAX as u64;

/// The most chunks that a band of a run may have: 24 bits, some 9 billion entries.
pub(crate) const MAX_CHUNKS: u32 = 1 << 24;

/// The key of a chunk: run number in the upper 32 bits, band in the next 8, chunk in the lower 24.
pub(crate) const fn posting_key(run: RunNo, band: BandNo, chunk: u32) -> u64 {
    (run.0 as u64) << 32 | (band.0 as u64) << 24 | chunk as u64
}

/// The range of keys of a band of a run.
pub(crate) const fn posting_keys(run: RunNo, band: BandNo) -> std::ops::RangeInclusive<u64> {
    posting_key(run, band, 0)..=posting_key(run, band, MAX_CHUNKS - 1)
}

/// The run and band in the key of a chunk.
pub(crate) const fn posting_owner(key: u64) -> (RunNo, BandNo) {
    (RunNo((key >> 32) as u32), BandNo((key >> 24) as u8))
}

/// The key of a run or fence row as a number, which seeds its checksum.
pub(crate) const fn run_row_key(run: RunNo, band: BandNo) -> u64 {
    posting_key(run, band, 0)
}

/// The layout of the bands of an index, which its settings fix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The number of lane bands.
    pub(crate) bands: u8,
    /// The lanes in a word.
    pub(crate) depth: u8,
    /// Whether there is a band of fingerprints.
    pub(crate) passages: bool,
}

impl Layout {
    /// The id band.
    pub(crate) const fn ids(self) -> BandNo {
        BandNo(self.bands)
    }

    /// The band of fingerprints, in which a document has any number of entries.
    pub(crate) const fn fingerprints(self) -> Option<BandNo> {
        if self.passages { Some(BandNo(self.bands + 1)) } else { None }
    }

    /// All bands: those of lanes, of ids, of fingerprints.
    pub(crate) fn all(self) -> impl Iterator<Item = BandNo> + Clone {
        (0..self.count() as u8).map(BandNo)
    }

    /// The number of all bands.
    pub(crate) const fn count(self) -> usize {
        self.bands as usize + 1 + self.passages as usize
    }

    /// Whether a filter over fences is useful for a band. Short words have few values, so nearly
    /// all occur.
    pub(crate) const fn has_filters(self, band: BandNo) -> bool {
        band.0 >= self.bands || self.depth >= 4
    }

    /// The bits of a band's words: 8 for each lane, the 40 of an id hash, the 32 of a fingerprint.
    pub(crate) const fn word_bits(self, band: BandNo) -> u32 {
        if band.0 < self.bands {
            8 * self.depth as u32
        } else if band.0 == self.bands {
            ID_BITS
        } else {
            32
        }
    }

    /// A word shifted right by this is its fence: its top 4 bytes, or the whole word if it has
    /// fewer (`docs/format.md`, section "Words, bands, fences").
    pub(crate) const fn fence_shift(self, band: BandNo) -> u32 {
        self.word_bits(band).saturating_sub(32)
    }
}
