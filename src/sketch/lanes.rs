//! The default sketch: one pass throws each hash into a lane and keeps the minimum of each lane.
//! Two more rounds and a fallback fill lanes that stay empty.
//!
//! The method is of the Fast Similarity Sketching family (Dahlgaard, Knudsen, Thorup 2017, "Fast
//! similarity sketching", section 2). The cost does not grow with the number of lanes. Two sets
//! agree in each lane with a probability equal to their Jaccard similarity. The lane-wise minimum
//! of two sketches is the sketch of the union.

use super::lane_value::{EMPTY, VALUE_BITS};
use super::sift::{SIEVE, sift};
use crate::error::Result;
use crate::hash::{GOLDEN, SplitMix, fmix64};
use crate::params::{Lanes, MAX_LANES};
use multiversion::multiversion;

/// The number of rounds that throw each hash into one lane. The first uses the hash itself.
const ROUNDS: u32 = 3;

/// The tag of values that come from the fallback. It is above the tags of all rounds.
const FALLBACK: u32 = ROUNDS << VALUE_BITS;

/// The random constants of a sketch, derived from a seed.
#[derive(Clone, Debug)]
pub struct LaneHasher {
    lanes: Lanes,
    seed: u64,
    /// The seed, mixed.
    mixed: u64,
    /// The multiplier (odd) and addend of each lane's fallback.
    affine: Vec<(u64, u64)>,
}

impl LaneHasher {
    /// Returns the hash functions of a seed for this number of lanes.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`](crate::Error::InvalidSetting) unless there are 64, 128, 256 or 512
    /// lanes.
    pub fn new(lanes: usize, seed: u64) -> Result<Self> {
        Ok(Self::of(Lanes::new(lanes)?, seed))
    }

    /// Like [`new`](Self::new), for a validated number of lanes.
    pub(crate) fn of(lanes: Lanes, seed: u64) -> Self {
        // The constants of the shingle hashes are derived from the seed itself, so these must not
        // be.
        let mut words = SplitMix::new(fmix64(seed ^ GOLDEN));
        let mixed = words.next();
        let affine = (0..lanes.get()).map(|_| (words.next() | 1, words.next())).collect();
        Self { lanes, seed, mixed, affine }
    }

    /// Returns the number of lanes.
    pub const fn lanes(&self) -> usize {
        self.lanes.get()
    }

    /// The number of lanes as a validated number.
    pub(crate) const fn width(&self) -> Lanes {
        self.lanes
    }

    /// The seed of the hash functions.
    pub(crate) const fn seed(&self) -> u64 {
        self.seed
    }
}

/// The full-width lanes of a set under construction. Takes 10 KiB.
#[derive(Clone, Debug)]
pub struct LaneTable {
    values: [u32; MAX_LANES],
    /// For the hashes that are sifted.
    room: [u64; SIEVE],
}

impl Default for LaneTable {
    fn default() -> Self {
        Self::new()
    }
}

impl LaneTable {
    /// Returns a table with all lanes empty.
    pub const fn new() -> Self {
        Self { values: [EMPTY; MAX_LANES], room: [0; SIEVE] }
    }

    /// Makes all lanes empty.
    pub fn clear(&mut self) {
        self.values = [EMPTY; MAX_LANES];
    }

    /// Returns the lanes. They are complete after [`finish`](Self::finish).
    pub fn values(&self, lanes: usize) -> &[u32] {
        &self.values[..lanes.min(MAX_LANES)]
    }

    fn has_empty(&self, lanes: Lanes) -> bool {
        self.values(lanes.get()).contains(&EMPTY)
    }

    /// Whether every lane has a value below `bound`.
    pub(super) fn is_below(&self, lanes: Lanes, bound: u32) -> bool {
        self.values(lanes.get()).iter().all(|value| *value < bound)
    }

    /// Lowers a lane to a value, if the value is less.
    pub(super) fn lower(&mut self, lane: usize, value: u32) {
        let lane = &mut self.values[lane % MAX_LANES];
        *lane = value.min(*lane);
    }

    /// Throws hashes in round 0, without those that are too great to lower a lane. All hashes of
    /// the set must be thrown before [`finish`](Self::finish).
    #[inline]
    pub fn first_round(&mut self, hasher: &LaneHasher, hashes: &[u64]) {
        let lanes = hasher.lanes;
        for hashes in hashes.chunks(SIEVE) {
            let values = &self.values[..lanes.get()];
            let hashes = sift(hashes, values, lanes.log2(), &mut self.room);
            throw(&mut self.values, lanes, hashes, 0, None);
        }
    }

    /// Runs the further rounds and the fallback, until no lane is empty. Each call of `visit` must
    /// pass all hashes of the set to its argument.
    pub fn finish(&mut self, hasher: &LaneHasher, mut visit: impl FnMut(&mut dyn FnMut(&[u64]))) {
        for round in 1..ROUNDS {
            if !self.has_empty(hasher.lanes) {
                return;
            }
            let salt = hasher.mixed.wrapping_add(u64::from(round).wrapping_mul(GOLDEN));
            visit(&mut |hashes| {
                throw(&mut self.values, hasher.lanes, hashes, round, Some(salt));
            });
        }
        // The tag of the fallback is above all others, so only empty lanes can take its values.
        // It is unpredictable which lanes are empty, so there is no branch.
        let (mut empty, mut count) = ([0; MAX_LANES], 0);
        for (lane, value) in self.values(hasher.lanes.get()).iter().enumerate() {
            empty[count] = lane;
            count += usize::from(*value == EMPTY);
        }
        let empty = &empty[..count];
        if empty.is_empty() {
            return;
        }
        // A set that leaves lanes empty after three rounds is small, but its text may be long and
        // repetitive. Repetitions are removed whenever the list has doubled. A few repetitions do
        // no harm: they change no minimum, and a list is scanned many times faster than a hash set.
        const FEW: usize = 1 << 12;
        let mut distinct: Vec<u64> = Vec::new();
        let mut room = FEW;
        visit(&mut |hashes| {
            distinct.extend_from_slice(hashes);
            if distinct.len() >= room {
                distinct.sort_unstable();
                distinct.dedup();
                room = FEW + 2 * distinct.len();
            }
        });
        let Some(first) = distinct.first().copied() else { return };
        // Whole vector registers: repetitions change no minimum.
        distinct.resize(distinct.len().next_multiple_of(8), first);
        for &lane in empty {
            let least = least_affine(&distinct, hasher.affine[lane]);
            let value = FALLBACK | (least >> (64 - VALUE_BITS)) as u32;
            self.values[lane] = value.min(EMPTY - 1);
        }
    }
}

/// The least a * x + b of all hashes x; the greatest number if there are none.
#[multiversion(targets("x86_64+avx512f+avx512dq"))]
fn least_affine(hashes: &[u64], (a, b): (u64, u64)) -> u64 {
    // A fold of numbers, unlike `min` of an iterator, is done in vector registers.
    hashes.iter().fold(u64::MAX, |least, x| least.min(a.wrapping_mul(*x).wrapping_add(b)))
}

/// Throws each hash into its lane. With a salt, the hash is mixed again first.
#[multiversion(targets("x86_64+avx512f+avx512dq+bmi1+bmi2", "x86_64+bmi1+bmi2"))]
fn throw(
    values: &mut [u32; MAX_LANES],
    lanes: Lanes,
    hashes: &[u64],
    round: u32,
    salt: Option<u64>,
) {
    // A constant number of lanes makes both shifts constant.
    match lanes.log2() {
        6 => throw_into::<6>(values, hashes, round, salt),
        7 => throw_into::<7>(values, hashes, round, salt),
        8 => throw_into::<8>(values, hashes, round, salt),
        _ => throw_into::<9>(values, hashes, round, salt),
    }
}

#[inline(always)]
fn throw_into<const BITS: u32>(
    values: &mut [u32; MAX_LANES],
    hashes: &[u64],
    round: u32,
    salt: Option<u64>,
) {
    let tag = round << VALUE_BITS;
    let split = |x: u64| {
        let value = tag | ((x << BITS) >> (64 - VALUE_BITS)) as u32;
        ((x >> (64 - BITS)) as usize % MAX_LANES, value)
    };
    // At the beginning of a text it is unpredictable whether a lane changes, so there is no branch.
    let mut lower = |(lane, value): (usize, u32)| values[lane] = values[lane].min(value);
    let Some(salt) = salt else {
        hashes.iter().for_each(|x| lower(split(*x)));
        return;
    };
    // Rows of hashes are mixed in vector registers.
    const ROW: usize = 32;
    let (rows, rest) = hashes.as_chunks::<ROW>();
    let mut mixed = [0; ROW];
    for row in rows {
        for (mixed, x) in mixed.iter_mut().zip(row) {
            *mixed = fmix64(x ^ salt);
        }
        mixed.iter().for_each(|x| lower(split(*x)));
    }
    rest.iter().for_each(|x| lower(split(fmix64(x ^ salt))));
}

/// The full-width sketch of a non-empty set, with four bytes a lane. A
/// [`Signature`](crate::Signature) keeps one byte of each lane.
///
/// Two sketches made by the same [`Sketcher`](crate::Sketcher) can be merged; signatures cannot.
///
/// ```
/// use twindex::{Normalization, Shingle, Shingler, Sketcher};
/// let shingler = Shingler::new(Shingle::words(1), Normalization::default(), false, 0)?;
/// let sketcher = Sketcher::new(shingler, 64, 0)?;
/// let mut union = sketcher.sketch("one two")?.expect("not empty");
/// union.merge(&sketcher.sketch("two three")?.expect("not empty"));
/// assert_eq!(Some(union), sketcher.sketch("one two three")?);
/// # Ok::<(), twindex::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sketch {
    lanes: Box<[u32]>,
}

impl Sketch {
    pub(crate) fn new(lanes: &[u32]) -> Self {
        Self { lanes: lanes.into() }
    }

    /// Returns the lanes.
    ///
    /// A lane holds a round in the top 2 bits and a value in the other 30. A lane of a weighted set
    /// holds a rank: its binary logarithm plus 2,048 in the top 12 bits, and the digits after its
    /// first binary digit in the other 20.
    pub fn lanes(&self) -> &[u32] {
        &self.lanes
    }

    /// Makes this the exact sketch of the union of both sets. The union of weighted sets has the
    /// greater weight of each token.
    ///
    /// # Panics
    ///
    /// If the numbers of lanes differ.
    pub fn merge(&mut self, other: &Sketch) {
        assert_eq!(self.lanes.len(), other.lanes.len(), "sketches of different widths");
        for (lane, other) in self.lanes.iter_mut().zip(&other.lanes) {
            *lane = (*lane).min(*other);
        }
    }

    /// Returns the lanes in the one-byte form in which an index stores them.
    pub fn truncated(&self) -> Box<[u8]> {
        truncate_all(&self.lanes)
    }
}

/// The one-byte forms of lanes.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+avx512bw"))]
pub(super) fn truncate_all(lanes: &[u32]) -> Box<[u8]> {
    let mut truncated = vec![0; lanes.len()].into_boxed_slice();
    for (byte, lane) in truncated.iter_mut().zip(lanes) {
        *byte = truncate(*lane);
    }
    truncated
}

/// The one-byte form of a lane: the low 8 bits after mixing.
#[inline(always)]
pub(crate) const fn truncate(lane: u32) -> u8 {
    fmix64(lane as u64 ^ GOLDEN) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_hold_the_least_value_of_the_hashes_thrown_into_them() -> Result<()> {
        let mut words = SplitMix::new(7);
        let hashes: Vec<u64> = (0..100_000).map(|_| words.next()).collect();
        for lanes in [64_u32, 128, 256, 512] {
            let hasher = LaneHasher::new(lanes as usize, 0)?;
            let bits = lanes.trailing_zeros();
            let (mut table, mut least) = (LaneTable::new(), vec![EMPTY; lanes as usize]);
            // Blocks before and after most hashes are left out, whole and partial.
            for block in hashes.chunks(700) {
                table.first_round(&hasher, block);
                for hash in block {
                    let least = &mut least[(hash >> (64 - bits)) as usize];
                    *least = (*least).min(((hash << bits) >> (64 - VALUE_BITS)) as u32);
                }
                assert_eq!(table.values(lanes as usize), least);
            }
        }
        Ok(())
    }
}
