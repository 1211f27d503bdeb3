//! The default sketch: one pass that throws each hash into a lane and keeps the minimum per lane,
//! with two more rounds and a fallback for lanes that stay empty.
//!
//! Of the Fast Similarity Sketching family (Dahlgaard, Knudsen, Thorup 2017, "Fast similarity
//! sketching", section 2): the cost does not grow with the number of lanes, every lane agrees
//! between two sets with probability equal to their Jaccard similarity, and the lane-wise
//! minimum of two sketches is the sketch of the union.

use crate::error::Result;
use crate::hash::{GOLDEN, SplitMix, fmix64};
use crate::params::{Lanes, MAX_LANES};

/// Rounds that throw a hash into one lane; the first uses the hash itself.
const ROUNDS: u32 = 3;

/// Bits of a lane that hold the value; the two above hold the round.
const VALUE_BITS: u32 = 30;

/// The tag of values that come from the fallback, above those of all rounds.
const FALLBACK: u32 = ROUNDS << VALUE_BITS;

/// A lane that nothing has reached. No value equals it: the fallback's greatest is kept below.
const EMPTY: u32 = u32::MAX;

/// The random constants of a sketch, derived from a seed.
#[derive(Clone, Debug)]
pub struct LaneHasher {
    lanes: Lanes,
    seed: u64,
    /// Multiplier (odd) and addend of each lane's fallback.
    affine: Vec<(u64, u64)>,
}

impl LaneHasher {
    /// The hash functions of so many lanes under a seed.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`](crate::Error::InvalidSetting) for a number of lanes out of range.
    pub fn new(lanes: usize, seed: u64) -> Result<Self> {
        Ok(Self::of(Lanes::new(lanes)?, seed))
    }

    /// The same for a number of lanes that is validated.
    pub(crate) fn of(lanes: Lanes, seed: u64) -> Self {
        // Apart from the shingle hashes' constants, which start from the seed itself.
        let mut words = SplitMix::new(fmix64(seed ^ GOLDEN));
        let seed = words.next();
        let affine = (0..lanes.get()).map(|_| (words.next() | 1, words.next())).collect();
        Self { lanes, seed, affine }
    }

    /// The number of lanes.
    pub const fn lanes(&self) -> usize {
        self.lanes.get()
    }

    /// The same as a validated number.
    pub(crate) const fn width(&self) -> Lanes {
        self.lanes
    }
}

/// The full-width lanes of a set under construction. 2 KiB.
#[derive(Clone, Debug)]
pub struct LaneTable {
    values: [u32; MAX_LANES],
}

impl Default for LaneTable {
    fn default() -> Self {
        Self::new()
    }
}

impl LaneTable {
    /// A table of no hashes.
    pub const fn new() -> Self {
        Self { values: [EMPTY; MAX_LANES] }
    }

    /// Forgets all hashes.
    pub fn clear(&mut self) {
        self.values = [EMPTY; MAX_LANES];
    }

    /// The lanes, after [`finish`](Self::finish).
    pub fn values(&self, lanes: usize) -> &[u32] {
        &self.values[..lanes.min(MAX_LANES)]
    }

    fn has_empty(&self, lanes: Lanes) -> bool {
        self.values(lanes.get()).contains(&EMPTY)
    }

    /// Whether every lane has a value, and all are below this one.
    pub(super) fn is_below(&self, lanes: Lanes, bound: u32) -> bool {
        self.values(lanes.get()).iter().all(|value| *value < bound)
    }

    /// Takes a value into a lane that is its least.
    pub(super) fn lower(&mut self, lane: usize, value: u32) {
        let lane = &mut self.values[lane % MAX_LANES];
        *lane = value.min(*lane);
    }

    /// Takes hashes in round 0. Must see every hash before any other round.
    #[inline]
    pub fn first_round(&mut self, hasher: &LaneHasher, hashes: &[u64]) {
        throw(&mut self.values, hasher.lanes, hashes, 0, None);
    }

    /// Goes on with the further rounds and the fallback while lanes are empty. `visit` must hand
    /// over all hashes of the set each time it is called.
    pub fn finish(&mut self, hasher: &LaneHasher, mut visit: impl FnMut(&mut dyn FnMut(&[u64]))) {
        for round in 1..ROUNDS {
            if !self.has_empty(hasher.lanes) {
                return;
            }
            let salt = hasher.seed.wrapping_add(u64::from(round).wrapping_mul(GOLDEN));
            visit(&mut |hashes| {
                throw(&mut self.values, hasher.lanes, hashes, round, Some(salt));
            });
        }
        // Tags order the rounds, so only lanes that are empty still can take a fallback value.
        let empty: Vec<usize> =
            (0..hasher.lanes.get()).filter(|&lane| self.values[lane] == EMPTY).collect();
        if empty.is_empty() {
            return;
        }
        // A set that leaves lanes empty in three rounds is small, though its text may be long and
        // full of repetitions: these are dropped when they have taken as much room again. Below
        // that they change no minimum, and a list is passed over many times faster than a set.
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
        for lane in empty {
            let (a, b) = hasher.affine[lane];
            let least = distinct.iter().map(|x| a.wrapping_mul(*x).wrapping_add(b)).min();
            if let Some(least) = least {
                let value = FALLBACK | (least >> (64 - VALUE_BITS)) as u32;
                self.values[lane] = value.min(EMPTY - 1);
            }
        }
    }
}

/// Throws each hash, re-mixed with the salt if there is one, into its lane.
fn throw(
    values: &mut [u32; MAX_LANES],
    lanes: Lanes,
    hashes: &[u64],
    round: u32,
    salt: Option<u64>,
) {
    // The number of lanes as a constant makes both shifts constant.
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
    // Whether a lane changes cannot be predicted while a text is young, so nothing branches on it.
    let mut lower = |(lane, value): (usize, u32)| values[lane] = values[lane].min(value);
    match salt {
        None => hashes.iter().for_each(|x| lower(split(*x))),
        Some(salt) => hashes.iter().for_each(|x| lower(split(fmix64(x ^ salt)))),
    }
}

/// The full-width sketch of a non-empty set: what signatures are cut from.
///
/// Four bytes a lane. Two sketches made by the same [`Sketcher`](crate::Sketcher) can be merged;
/// one-byte [`Signature`](crate::Signature)s cannot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sketch {
    lanes: Box<[u32]>,
}

impl Sketch {
    pub(crate) fn new(lanes: &[u32]) -> Self {
        Self { lanes: lanes.into() }
    }

    /// The lanes: a round in the top 2 bits, a value in the other 30. Of a weighted set, a rank: its
    /// binary logarithm plus 2,048 in the top 12 bits, what follows its first binary digit in the
    /// other 20.
    pub fn lanes(&self) -> &[u32] {
        &self.lanes
    }

    /// Makes this the sketch of the union of both sets, exactly; of weighted sets, of the set that has
    /// the greater weight of each token.
    ///
    /// # Panics
    ///
    /// Where the numbers of lanes differ.
    pub fn merge(&mut self, other: &Sketch) {
        assert_eq!(self.lanes.len(), other.lanes.len(), "sketches of different widths");
        for (lane, other) in self.lanes.iter_mut().zip(&other.lanes) {
            *lane = (*lane).min(*other);
        }
    }

    /// The one-byte form of each lane, as it is stored.
    pub fn truncated(&self) -> Box<[u8]> {
        self.lanes.iter().map(|lane| truncate(*lane)).collect()
    }
}

/// The low 8 bits of the re-mixed lane.
#[inline]
pub(crate) const fn truncate(lane: u32) -> u8 {
    fmix64(lane as u64 ^ GOLDEN) as u8
}
