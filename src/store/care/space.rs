//! Estimates the size of an index from the sizes of its rows (`docs/format.md`, sections "Records"
//! and "Chunks") and of redb's pages.

use crate::error::Result;
use crate::hash::ID_BITS;
use crate::lsh::BandPlan;
use crate::params::Lanes;
use crate::store::bytes::chunk::{HEADER_BYTES, MAX_BYTES};
use crate::store::bytes::codec::CHECKSUM_BYTES;

/// The estimated size of a compacted index, in bytes per document, by purpose.
///
/// The estimate assumes that words are spread evenly and that no two documents are similar; similar
/// documents share words and need less space. It is within a few per cent of the size of a built
/// and compacted file, without the first 100 kB or so that every file has.
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
    /// The signature row.
    pub signatures: f64,
    /// The entries in the lane bands.
    pub postings: f64,
    /// The entry in the id band.
    pub ids: f64,
    /// The document record: id, hash and length of the text, time.
    pub documents: f64,
}

/// The size of a page of redb.
const PAGE: usize = 4096;

/// The header of a leaf page: its kind and the number of rows.
const LEAF_HEADER: usize = 4;

/// The bytes of a leaf page for each row, besides key and value: where the value ends.
const ROW_END: usize = 4;

/// The bytes of a branch page for each child page, besides the key: its number and checksum.
const CHILD: usize = 8 + 16;

/// The document record without its id: version, length of the text (128 bytes to 16 KiB), time,
/// text hash, checksum.
const RECORD: usize = 1 + 2 + 5 + 16 + CHECKSUM_BYTES;

impl Space {
    /// Estimates an index of this many documents, whose ids have `id_bytes` bytes.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`](crate::Error::InvalidSetting) for a number of lanes out of range.
    pub fn new(plan: BandPlan, lanes: usize, documents: u64, id_bytes: usize) -> Result<Self> {
        let lanes = Lanes::new(lanes)?;
        let documents = documents.max(1);
        let signature = lanes.get() + 4 + CHECKSUM_BYTES;
        Ok(Self {
            signatures: row_bytes(4, signature),
            postings: plan.bands() as f64 * entry_bytes(8 * plan.depth(), documents),
            ids: entry_bytes(ID_BITS, documents),
            documents: row_bytes(4, RECORD + id_bytes),
        })
    }

    /// The sum of all fields.
    pub fn total(self) -> f64 {
        self.signatures + self.postings + self.ids + self.documents
    }
}

/// The bytes of a row and its share of pages, in a table that was filled in the order of its keys.
/// Leaf pages are then full, and branch pages nearly so.
fn row_bytes(key: usize, value: usize) -> f64 {
    let rows_per_leaf = ((PAGE - LEAF_HEADER) / (key + value + ROW_END)).max(1);
    let pages = 1.0 + branches_per_leaf(key);
    pages * PAGE as f64 / rows_per_leaf as f64
}

/// The number of branch pages per leaf page.
fn branches_per_leaf(key: usize) -> f64 {
    let children = (PAGE / (CHILD + key)) as f64;
    1.0 / (children - 1.0)
}

/// The bytes of an entry in a band of one run, with `documents` entries and words of `word_bits`.
fn entry_bytes(word_bits: u32, documents: u64) -> f64 {
    let number_bits = bits(documents as f64 - 1.0);
    let columns = 8.0 * (MAX_BYTES - HEADER_BYTES - CHECKSUM_BYTES) as f64;
    // A chunk with n of N entries spans the fraction n/N of all words. The span determines the
    // bits of a word, and so n: eight rounds of iteration converge.
    let mut entries = 0.0_f64;
    for _ in 0..8 {
        let span = (word_bits as f64).exp2() * (entries / documents as f64).min(1.0);
        entries = (columns / (bits(span) + number_bits).max(1.0)).floor();
    }
    if entries >= documents as f64 {
        // A single chunk, which shares its page with other chunks.
        let bits = f64::from(word_bits) + number_bits;
        let rest = 8 + ROW_END + HEADER_BYTES + CHECKSUM_BYTES;
        return bits / 8.0 + rest as f64 / documents as f64;
    }
    // A chunk takes one page and 4 bytes for its fence.
    ((1.0 + branches_per_leaf(8)) * PAGE as f64 + 4.0) / entries
}

/// The number of binary digits of the integer part.
fn bits(number: f64) -> f64 {
    if number < 1.0 { 0.0 } else { number.log2().floor() + 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::{Recall, Threshold};

    #[test]
    fn the_estimate_for_ten_million_documents_is_near_the_measured_size() -> Result<()> {
        let plan = BandPlan::of(Threshold::DEFAULT, Recall::DEFAULT, Lanes::DEFAULT)?;
        let space = Space::new(plan, 256, 10_000_000, 20)?;
        let measured = [(space.signatures, 275.0), (space.postings, 118.0), (space.ids, 6.5)];
        for (estimated, measured) in measured {
            assert!((estimated / measured - 1.0).abs() < 0.05, "{estimated} for {measured}");
        }
        Ok(())
    }
}
