//! How much room an index will need, from the sizes of its rows (`docs/format.md`, sections "Records"
//! and "Chunks") and of the storage's pages.

use crate::error::Result;
use crate::hash::ID_BITS;
use crate::lsh::BandPlan;
use crate::params::Lanes;
use crate::store::bytes::chunk::{HEADER_BYTES, MAX_BYTES};
use crate::store::bytes::codec::CHECKSUM_BYTES;

/// Bytes a document that a compacted index of some size will take, by what they are for.
///
/// Words are taken to be spread evenly and no two documents to be alike; similar documents share words
/// and take less. Within a few per cent of a file that was built and compacted, but for the first some
/// 100 kB that every file has.
///
/// ```
/// use twindex::{BandPlan, Space};
/// let plan = BandPlan::new(0.8, 0.99, 256)?;
/// let space = Space::new(plan, 256, 1_000_000, 20)?;
/// assert!(space.total() - space.documents < 405.0);
/// # Ok::<(), twindex::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Space {
    /// The signature's row.
    pub signatures: f64,
    /// The entries in the bands of lanes.
    pub postings: f64,
    /// The entry in the band of ids.
    pub ids: f64,
    /// The document's record: id, hash and length of the text, time.
    pub documents: f64,
}

/// A page of the storage.
const PAGE: usize = 4096;

/// What a leaf page has beside its rows: kind and number of rows.
const LEAF_HEADER: usize = 4;

/// What a leaf page has for each row beside key and value: where the value ends.
const ROW_END: usize = 4;

/// What a branch page has for each page below, beside a key: its number and checksum.
const CHILD: usize = 8 + 16;

/// The document record without its id: version, the id's length, text hash, text length, time, and
/// the checksum.
const RECORD: usize = 1 + 8 + 8 + 8 + 8 + CHECKSUM_BYTES;

impl Space {
    /// The room for each of so many documents with ids of so many bytes.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`](crate::Error::InvalidSetting) for a number of lanes out of range.
    pub fn new(plan: BandPlan, lanes: usize, documents: u64, id_bytes: usize) -> Result<Self> {
        let lanes = Lanes::new(lanes)?;
        let documents = documents.max(1);
        let signature = lanes.get() + 4 + CHECKSUM_BYTES;
        Ok(Self {
            signatures: row(4, signature),
            postings: plan.bands() as f64 * entry(8 * plan.depth(), documents),
            ids: entry(ID_BITS, documents),
            documents: row(4, RECORD + id_bytes),
        })
    }

    /// All of it.
    pub fn total(self) -> f64 {
        self.signatures + self.postings + self.ids + self.documents
    }
}

/// The bytes of a row with its share of pages, in a table that was filled in order of keys: leaves
/// are full, and the branches above have one child more or less than fit.
fn row(key: usize, value: usize) -> f64 {
    let in_a_leaf = ((PAGE - LEAF_HEADER) / (key + value + ROW_END)).max(1);
    let pages = 1.0 + branches(key);
    pages * PAGE as f64 / in_a_leaf as f64
}

/// Branch pages for each leaf.
fn branches(key: usize) -> f64 {
    let children = (PAGE / (CHILD + key)) as f64;
    1.0 / (children - 1.0)
}

/// The bytes of one of `documents` entries of a band whose words have so many bits, in one run.
fn entry(word_bits: u32, documents: u64) -> f64 {
    let number_bits = bits(documents as f64 - 1.0);
    let columns = 8.0 * (MAX_BYTES - HEADER_BYTES - CHECKSUM_BYTES) as f64;
    // A chunk of n entries spans the n-th part of all words; the less it spans, the more it holds.
    let mut entries = 0.0_f64;
    for _ in 0..8 {
        let span = (word_bits as f64).exp2() * (entries / documents as f64).min(1.0);
        entries = (columns / (bits(span) + number_bits).max(1.0)).floor();
    }
    if entries >= documents as f64 {
        // A single chunk, in a page with others.
        let bits = f64::from(word_bits) + number_bits;
        let rest = 8 + ROW_END + HEADER_BYTES + CHECKSUM_BYTES;
        return bits / 8.0 + rest as f64 / documents as f64;
    }
    // Its page, and 4 bytes for its fence.
    ((1.0 + branches(8)) * PAGE as f64 + 4.0) / entries
}

/// The binary digits of a number.
fn bits(number: f64) -> f64 {
    if number < 1.0 { 0.0 } else { number.log2().floor() + 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::{Recall, Threshold};

    #[test]
    fn the_default_index_takes_what_was_measured_of_ten_million_documents() -> Result<()> {
        let plan = BandPlan::of(Threshold::DEFAULT, Recall::DEFAULT, Lanes::DEFAULT)?;
        let space = Space::new(plan, 256, 10_000_000, 20)?;
        for (got, seen) in [(space.signatures, 275.0), (space.postings, 118.0), (space.ids, 6.5)] {
            assert!((got / seen - 1.0).abs() < 0.05, "{got} for {seen}");
        }
        Ok(())
    }
}
