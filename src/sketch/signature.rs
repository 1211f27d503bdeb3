//! The stored form of a sketch: one byte a lane, and the size of the set.

use super::count::{LEAST_BITS, MOST_BITS};
use crate::error::Result;
use crate::params::Lanes;

/// The number of distinct shingles of a document, as linear counting remembers it: how many bits
/// of a map of `2^bits` stayed zero.
///
/// Integers are stored and the logarithm is taken on reading, so that files do not depend on the
/// platform's arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SetSize {
    bits: u32,
    zeros: u32,
}

impl SetSize {
    /// The size of the empty set.
    pub const EMPTY: SetSize = SetSize { bits: LEAST_BITS, zeros: 1 << LEAST_BITS };

    pub(crate) const fn from_zeros(bits: u32, zeros: u32) -> Self {
        Self { bits, zeros }
    }

    /// The size that estimates to this number as nearly as can be.
    pub fn about(number: u64) -> Self {
        if number == 0 {
            return Self::EMPTY;
        }
        let fits = |bits: &u32| number as f64 <= f64::from(1_u32 << bits);
        let bits = (LEAST_BITS..=MOST_BITS).find(fits).unwrap_or(MOST_BITS);
        let m = f64::from(1_u32 << bits);
        let zeros = (m * (-(number as f64) / m).exp()).round() as u32;
        Self { bits, zeros: zeros.min((1 << bits) - 1) }
    }

    /// The estimated number, a whole one. Its standard error is below 0.4 % (1 in a thousand
    /// for long texts).
    pub fn estimate(self) -> f64 {
        let m = f64::from(1_u32 << self.bits);
        // A full map counts as one bit left: the most it can tell apart.
        let zeros = f64::from(self.zeros.max(1));
        (-m * (zeros / m).ln()).round().max(0.0)
    }

    /// Whether the set is empty.
    pub fn is_empty(self) -> bool {
        self == Self::EMPTY
    }

    /// One word that stands for the size, as it is stored: zeros in the low 26 bits, the binary
    /// logarithm of the bitmap less 16 in the next 4, 2 bits of zero.
    pub const fn pack(self) -> u32 {
        self.zeros | (self.bits - LEAST_BITS) << 26
    }

    /// The size that [`pack`](Self::pack) made this word of; `None` for a word that it never makes.
    pub fn unpack(word: u32) -> Option<Self> {
        let bits = LEAST_BITS + (word >> 26);
        let zeros = word & ((1 << 26) - 1);
        let size = Self { bits, zeros };
        // Only the empty set leaves a map untouched, and it has a map of the least size.
        let possible = bits <= MOST_BITS && (zeros < 1 << bits || size == Self::EMPTY);
        possible.then_some(size)
    }
}

/// What an index remembers of a document: one byte for each lane, and the size of its set.
///
/// Signatures compare ([`similarity`](Self::similarity)) only with signatures made under the same
/// settings, best by the [`Sketcher`](crate::Sketcher) of the same index.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Signature {
    lanes: Box<[u8]>,
    size: SetSize,
}

impl Signature {
    /// A signature of stored lanes, a byte each, and the size of the set. An index refuses one whose
    /// number of lanes is not its own.
    pub fn new(lanes: Box<[u8]>, size: SetSize) -> Self {
        Self { lanes, size }
    }

    /// The signature of the empty set, which is similar to nothing, not even to itself.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`](crate::Error::InvalidSetting) for a number of lanes out of range.
    pub fn empty(lanes: usize) -> Result<Self> {
        Ok(Self::of_nothing(Lanes::new(lanes)?))
    }

    /// The same for a number of lanes that is validated.
    pub(crate) fn of_nothing(lanes: Lanes) -> Self {
        Self { lanes: vec![0; lanes.get()].into(), size: SetSize::EMPTY }
    }

    /// A signature of ready lanes, as another program may have computed and kept them, of a set
    /// of about `shingles` elements; of 0, it is that of the empty set.
    ///
    /// Lanes made in another way than by a [`Sketcher`](crate::Sketcher) with equal settings
    /// compare with each other, but not with its signatures.
    pub fn from_lanes(lanes: impl Into<Box<[u8]>>, shingles: u64) -> Self {
        Self { lanes: lanes.into(), size: SetSize::about(shingles) }
    }

    /// The stored lanes.
    pub fn lanes(&self) -> &[u8] {
        &self.lanes
    }

    /// The lanes and then the packed set size, little-endian: as in a stored row. There is room
    /// for a checksum.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.lanes.len() + 8);
        bytes.extend_from_slice(&self.lanes);
        bytes.extend_from_slice(&self.size.pack().to_le_bytes());
        bytes
    }

    pub(crate) fn into_lanes(self) -> Box<[u8]> {
        self.lanes
    }

    /// The number of distinct shingles.
    pub fn set_size(&self) -> SetSize {
        self.size
    }

    /// Whether the document had no shingle at all.
    pub fn is_empty(&self) -> bool {
        self.size.is_empty()
    }
}
