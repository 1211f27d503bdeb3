//! The tables, their keys and the tags of their checksums (`docs/format.md`, section "Tables").

use crate::hash::ID_BITS;
use redb::TableDefinition;

/// The name of the format, at the start of the `format` row.
pub(crate) const MAGIC: [u8; 8] = *b"twindex\0";

/// The version of the format that this build writes, and the newest it reads.
pub const FORMAT_VERSION: u32 = 1;

/// Rows by name: `format`, `settings`, `state`, `dictionary`, and `dedup` with a number.
pub(crate) const META: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("meta");
/// Document number to signature row. The log: what is not in a run yet is rebuilt from here.
pub(crate) const SIGNATURES: TableDefinition<'_, u32, &[u8]> = TableDefinition::new("signatures");
/// Document number to document record.
pub(crate) const DOCUMENTS: TableDefinition<'_, u32, &[u8]> = TableDefinition::new("documents");
/// Document number to text row; empty in an index that stores no texts.
pub(crate) const TEXTS: TableDefinition<'_, u32, &[u8]> = TableDefinition::new("texts");
/// Run number and band to run row. What is not listed here does not exist.
pub(crate) const RUNS: TableDefinition<'_, (u32, u8), &[u8]> = TableDefinition::new("runs");
/// Run number and band to the fences of its chunks.
pub(crate) const FENCES: TableDefinition<'_, (u32, u8), &[u8]> = TableDefinition::new("fences");
/// Run number, band and chunk number (see `posting_key`) to chunk.
pub(crate) const POSTINGS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("postings");
/// The upper half of document numbers to a bitmap of the dead among them.
pub(crate) const DEAD: TableDefinition<'_, u16, &[u8]> = TableDefinition::new("dead");

pub(crate) const FORMAT_ROW: &str = "format";
pub(crate) const SETTINGS_ROW: &str = "settings";
pub(crate) const STATE_ROW: &str = "state";
/// What texts are compressed with; only if they are stored, and once one was learnt.
pub(crate) const DICTIONARY_ROW: &str = "dictionary";
/// What the keys of dedup rows begin with; a number of 16 hexadecimal digits follows.
pub(crate) const DEDUP_ROWS: &str = "dedup ";

/// The table a record is in, as its checksum and error messages know it.
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
}

impl Table {
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
        }
    }
}

/// A document number: given in order of insertion, never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct DocNo(pub(crate) u32);

/// A run number: given in order of creation, never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct RunNo(pub(crate) u32);

/// A band of a run: the bands of lanes are numbered from 0, the band of ids follows the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct BandNo(pub(crate) u8);

/// Chunks that a band of a run may have: 24 bits, some 9 billion entries.
pub(crate) const MAX_CHUNKS: u32 = 1 << 24;

/// The key of a chunk: run number in the upper 32 bits, band in the next 8, chunk in the lower 24.
pub(crate) const fn posting_key(run: RunNo, band: BandNo, chunk: u32) -> u64 {
    (run.0 as u64) << 32 | (band.0 as u64) << 24 | chunk as u64
}

/// The keys of all chunks that a band of a run may have.
pub(crate) const fn posting_keys(run: RunNo, band: BandNo) -> std::ops::RangeInclusive<u64> {
    posting_key(run, band, 0)..=posting_key(run, band, MAX_CHUNKS - 1)
}

/// The run and band that a chunk's key names.
pub(crate) const fn posting_owner(key: u64) -> (RunNo, BandNo) {
    (RunNo((key >> 32) as u32), BandNo((key >> 24) as u8))
}

/// The key of a run or fence row as a number, for its checksum.
pub(crate) const fn run_place(run: RunNo, band: BandNo) -> u64 {
    posting_key(run, band, 0)
}

/// How the bands of an index are laid out: fixed by its settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) bands: u8,
    pub(crate) depth: u8,
}

impl Layout {
    /// The band of ids.
    pub(crate) const fn ids(self) -> BandNo {
        BandNo(self.bands)
    }

    /// All bands, that of ids last.
    pub(crate) fn all(self) -> impl Iterator<Item = BandNo> + Clone {
        (0..=self.bands).map(BandNo)
    }

    /// The number of bands, that of ids included.
    pub(crate) const fn count(self) -> usize {
        self.bands as usize + 1
    }

    /// Whether a filter over fences is of use for a band: short words have few values.
    pub(crate) const fn has_filters(self, band: BandNo) -> bool {
        band.0 == self.bands || self.depth >= 4
    }

    /// The bits of a band's words: 8 for each lane, 40 of an id's hash.
    pub(crate) const fn word_bits(self, band: BandNo) -> u32 {
        if band.0 == self.bands { ID_BITS } else { 8 * self.depth as u32 }
    }

    /// How far a word is shifted to give its fence: its top 4 bytes, or all if it has fewer.
    pub(crate) const fn fence_shift(self, band: BandNo) -> u32 {
        self.word_bits(band).saturating_sub(32)
    }
}
