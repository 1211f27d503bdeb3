//! How fewer bits a lane change the words of the bands: false candidates, and the number of bands
//! that a recall needs.

use super::law::Lanes;
use twindex::internals::needed_bands;
use twindex::{DEFAULT_RECALL, DEFAULT_THRESHOLD};

/// The bits of a band's word in an index with default settings: six lanes of 8 bits.
pub(super) const WORD_BITS: u32 = 48;

/// The lanes of a word in an index with default settings.
pub(super) const DEPTH: u32 = 6;

/// The similarity of documents that have nothing to do with each other but their language, as
/// `twindex plan` assumes it.
pub(super) const BACKGROUND: f64 = 0.05;

/// The most bands that are counted.
const MOST_BANDS: usize = 1_000_000;

/// Words of some lanes of some bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) depth: u32,
    pub(super) bits: u32,
}

impl Word {
    /// The words of this many bits a lane: of six lanes, and of as many lanes as make 48 bits.
    pub(super) fn all(widths: &[u32]) -> Vec<Self> {
        let as_now = widths.iter().map(|bits| Self { depth: DEPTH, bits: *bits });
        let as_long = widths.iter().map(|bits| Self { depth: WORD_BITS / bits, bits: *bits });
        as_now.chain(as_long.filter(|word| word.depth != DEPTH)).collect()
    }

    /// The documents of this similarity, out of `documents`, that share a bucket of one band.
    pub(super) fn candidates(self, documents: f64, similarity: f64) -> f64 {
        documents * Lanes::new(1, self.bits).equal(similarity).powf(f64::from(self.depth))
    }

    /// The bands with which pairs at the default threshold meet with the default recall. As in an
    /// index, lanes that are equal by chance are not counted on.
    pub(super) fn bands(self) -> usize {
        needed_bands(DEFAULT_THRESHOLD, DEFAULT_RECALL, self.depth, MOST_BANDS)
    }
}
