//! The stored form of a sketch: one byte a lane and the size of the set.

use crate::error::Result;
use crate::params::Lanes;

/// The least size of the bit map, as a binary logarithm: 8 KiB.
pub(super) const LEAST_BITS: u32 = 16;

/// The largest size of the bit map, as a binary logarithm: 2 MiB.
pub(super) const MOST_BITS: u32 = 24;

/// The number of distinct shingles of a document, in the form of linear counting: the size of a bit
/// map and the number of its bits that stayed zero (Whang, Vander-Zanden, Taylor 1990).
///
/// An index stores these integers and computes the logarithm on reading, so files do not depend on
/// the platform's arithmetic.
///
/// ```
/// use twindex::SetSize;
/// assert_eq!(SetSize::about(1000).estimate(), 1000.0);
/// assert!(SetSize::EMPTY.is_empty());
/// ```
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

    /// Returns a size whose estimate is about this number. Up to 16 million, the two differ by 2 at
    /// most. The greatest estimate is 279,097,919.
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

    /// Returns the estimated number, a whole number. Its standard error is below 0.4 %, and below
    /// 0.1 % for long texts.
    pub fn estimate(self) -> f64 {
        let m = f64::from(1_u32 << self.bits);
        // A full map counts like one with a single zero bit, the greatest finite estimate.
        let zeros = f64::from(self.zeros.max(1));
        (-m * (zeros / m).ln()).round().max(0.0)
    }

    /// Returns whether the set is empty.
    pub fn is_empty(self) -> bool {
        self == Self::EMPTY
    }

    /// Returns the stored form of the size: the number of zero bits in the low 26 bits, the binary
    /// logarithm of the map's size minus 16 in the next 4, and 2 bits of zero.
    pub const fn pack(self) -> u32 {
        self.zeros | (self.bits - LEAST_BITS) << 26
    }

    /// Returns the size with this stored form; `None` for a word that [`pack`](Self::pack) never
    /// returns.
    pub fn unpack(word: u32) -> Option<Self> {
        let bits = LEAST_BITS + (word >> 26);
        let zeros = word & ((1 << 26) - 1);
        let size = Self { bits, zeros };
        // Only the empty set leaves all bits zero, and its map has the least size.
        let possible = bits <= MOST_BITS && (zeros < 1 << bits || size == Self::EMPTY);
        possible.then_some(size)
    }
}

/// The fixed-size summary of a document that an index stores: one byte for each lane, and the size
/// of the document's set.
///
/// [`similarity`](Self::similarity) is meaningful only for two signatures that were made under the
/// same settings, best by the [`Sketcher`](crate::Sketcher) of one index.
///
/// ```
/// use twindex::Signature;
/// let a = Signature::from_lanes([7_u8; 64], 100);
/// assert_eq!(a.similarity(&a).map(|estimate| estimate.similarity), Some(1.0));
/// assert_eq!(Signature::empty(64)?.similarity(&a), None);
/// # Ok::<(), twindex::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Signature {
    lanes: Box<[u8]>,
    size: SetSize,
}

impl Signature {
    /// Returns a signature of stored lanes, one byte each, and the size of the set. An index
    /// refuses a signature with another number of lanes than its own.
    pub fn new(lanes: Box<[u8]>, size: SetSize) -> Self {
        Self { lanes, size }
    }

    /// Returns the signature of the empty set, which is similar to nothing, not even to itself.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`](crate::Error::InvalidSetting) unless there are 64, 128, 256 or 512
    /// lanes.
    pub fn empty(lanes: usize) -> Result<Self> {
        Ok(Self::of_nothing(Lanes::new(lanes)?))
    }

    /// Like [`empty`](Self::empty), for a validated number of lanes.
    pub(crate) fn of_nothing(lanes: Lanes) -> Self {
        Self { lanes: vec![0; lanes.get()].into(), size: SetSize::EMPTY }
    }

    /// Returns a signature of lanes that another program computed, for a set of about `shingles`
    /// elements. With 0 shingles, it is the signature of the empty set.
    ///
    /// Lanes that were not made by a [`Sketcher`](crate::Sketcher) can be compared with each other,
    /// but not with lanes that were.
    pub fn from_lanes(lanes: impl Into<Box<[u8]>>, shingles: u64) -> Self {
        Self { lanes: lanes.into(), size: SetSize::about(shingles) }
    }

    /// Returns the stored lanes, one byte each.
    pub fn lanes(&self) -> &[u8] {
        &self.lanes
    }

    /// Returns the bytes of the signature: a byte for each lane, then 4 bytes for the size of the
    /// set ([`SetSize::pack`], little-endian), as an index stores them. Other programs can keep
    /// them.
    ///
    /// ```
    /// use twindex::Signature;
    /// let signature = Signature::from_lanes([7_u8; 64], 100);
    /// let bytes = signature.to_bytes();
    /// assert_eq!(bytes.len(), 68);
    /// assert_eq!(Signature::from_bytes(&bytes), Some(signature));
    /// assert_eq!(Signature::from_bytes(b"abc"), None);
    /// ```
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.lanes.len() + 4);
        self.append_to(&mut bytes);
        bytes
    }

    /// Appends the [bytes](Self::to_bytes) of the signature to others.
    pub(crate) fn append_to(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.lanes);
        bytes.extend_from_slice(&self.size.pack().to_le_bytes());
    }

    /// Returns the signature with these [bytes](Self::to_bytes); `None` if they are not those of a
    /// signature of 64, 128, 256 or 512 lanes.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (lanes, size) = bytes.split_last_chunk::<4>()?;
        Lanes::new(lanes.len()).ok()?;
        Some(Self::new(lanes.into(), SetSize::unpack(u32::from_le_bytes(*size))?))
    }

    /// Takes the lanes and leaves none.
    pub(crate) fn take_lanes(&mut self) -> Box<[u8]> {
        std::mem::take(&mut self.lanes)
    }

    /// Returns the number of distinct shingles.
    pub fn set_size(&self) -> SetSize {
        self.size
    }

    /// Returns whether the document had no shingle.
    pub fn is_empty(&self) -> bool {
        self.size.is_empty()
    }
}
