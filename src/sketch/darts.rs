//! The sketch of a weighted set: DartMinHash, in which each lane keeps the dart of least rank.
//!
//! Each token has a plane of weight and rank, with random darts at a density of one per unit of
//! area. Each dart belongs to one random lane. A set sees the darts below its weight of the token.
//! In each lane, the visible dart of least rank lies uniformly below the weights of the set. So two
//! sets have the same dart in a lane with a probability of the sum of the lesser weights over the
//! sum of the greater weights, independently in each lane.
//!
//! This is the sampler of Christiani 2020, "DartMinHash: Fast sketching for weighted sets" (arXiv
//! 2005.11547, section 3). The plane is divided into cells in another way here, so that the scale
//! of the weights need not be known in advance, and a light token costs one hash for 8 powers of
//! two of the rank.
//!
//! The content of a lane is computed with integers and powers of two alone, so it is the same on
//! every platform.

use super::lanes::LaneTable;
use crate::hash::{GOLDEN, SplitMix, fmix64};
use crate::params::Lanes;

/// The binary logarithm of the number of cells per dart: the number of darts in a cell is Poisson
/// with mean 1/2. With more darts in a cell, more of them lie above the weight of a light token and
/// are wasted; with fewer, there are more cells to visit.
const CELLS: i32 = 1;

/// 2^64 times the probability that a cell has at most 0, 1, 2, ... darts: e^-½ Σ ½^i / i!.
const AT_MOST: [u64; 16] = [
    0x9B45_97E3_7CB0_4FF3,
    0xE8E8_63D5_3B08_77ED,
    0xFC51_16D1_AA9E_81EC,
    0xFF8D_34A6_67E2_2E41,
    0xFFF4_B860_FF8A_A3CB,
    0xFFFF_125A_0EB5_15F3,
    0xFFFF_EF2E_CFF8_9F76,
    0xFFFF_FEF4_DDC6_9700,
    0xFFFF_FFF1_3EA3_7678,
    0xFFFF_FFFF_4405_111B,
    0xFFFF_FFFF_F77D_25A3,
    0xFFFF_FFFF_FFA5_83AA,
    0xFFFF_FFFF_FFFC_8795,
    0xFFFF_FFFF_FFFF_E059,
    0xFFFF_FFFF_FFFF_FEF2,
    0xFFFF_FFFF_FFFF_FFF7,
];

/// The increment between the darts of a cell, which must differ from GOLDEN, that between the cells
/// of a token. It is 2^64 divided by the real root of x^3 = x + 1; GOLDEN is 2^64 divided by the
/// greater root of x^2 = x + 1.
const DART: u64 = 0xC13F_A9A9_02A6_328F;

/// The number of powers of two of the rank in a group. A cell of a light token spans a group.
const GROUP: i32 = 8;

/// The binary logarithm of the rank at which a group begins, in units in which the group ends at
/// 2^45.
const BEGIN: u32 = 45 - GROUP as u32;

/// Ranks below 2^-32 of the rank at which one dart is expected are skipped. At most one signature
/// in 2^31 misses a dart there.
const SKIPPED: i32 = 32;

/// The throwing ends at the latest this many powers of two above the rank at which a lane expects
/// one dart. The probability that a lane has no dart by then is e^-512.
const LAST: i32 = 9;

/// The number that is added to the binary logarithm of a rank to make it positive.
const OFFSET: i32 = 2048;

/// The number of bits of a lane's value below the logarithm.
const FRACTION: u32 = 20;

/// The width of a cell, in the units of a position within it.
const WHOLE: u64 = 1 << 53;

/// The random darts of a seed.
#[derive(Clone, Debug)]
pub(super) struct DartHasher {
    lanes: Lanes,
    seed: u64,
}

/// The ranks that a cell spans.
#[derive(Clone, Copy)]
enum Ranks {
    /// The ranks from this power of two to the next.
    One(i32),
    /// The ranks of the group that begins at this power of two.
    Group(i32),
}

impl DartHasher {
    pub(super) fn new(lanes: Lanes, seed: u64) -> Self {
        // The derivation must differ from those of the constants of shingles and of unweighted
        // lanes.
        Self { lanes, seed: SplitMix::new(fmix64(seed ^ GOLDEN.rotate_left(32))).next() }
    }

    /// Fills the lanes of a weighted set that is not empty. The set is given by distinct hashes
    /// with finite weights above 0, in an order that depends on nothing else. The weights are
    /// scaled in place.
    pub(super) fn throw(&self, table: &mut LaneTable, weights: &mut [(u64, f64)]) {
        let greatest = weights.iter().map(|&(_, weight)| weight).fold(0.0, f64::max);
        let scale = exponent(greatest);
        for (_, weight) in weights.iter_mut() {
            // In two steps, as 2^1074 is no f64. The rounding of the lightest weights is below
            // 2^-1000 of the total.
            *weight = *weight * power(-(scale / 2)) * power(scale / 2 - scale);
        }
        let total: f64 = weights.iter().map(|&(_, weight)| weight).sum();
        // From this power of two on, a lane expects 1 to 2 darts.
        let middle = -scale - exponent(total);
        let fan = self.lanes.log2() as i32;
        let mut group = (middle - fan - SKIPPED).div_euclid(GROUP);
        loop {
            let least = group * GROUP;
            let heavy =
                self.light_part(table, weights, least, power(CELLS + fan + least + GROUP + scale));
            for rank in least..least + GROUP {
                // All darts of lesser ranks have been thrown.
                if table.is_below(self.lanes, tag(rank)) || rank > middle + LAST {
                    return;
                }
                if heavy {
                    self.heavy_part(table, weights, rank, least, power(CELLS + fan + rank + scale));
                }
            }
            group += 1;
        }
    }

    /// Throws the darts of a group of ranks whose weight coordinate is within the first cell.
    /// Returns whether the weight of any token reaches beyond it.
    fn light_part(
        &self,
        table: &mut LaneTable,
        weights: &[(u64, f64)],
        least: i32,
        cells: f64,
    ) -> bool {
        let salt = self.salt(2 * i64::from(least) + 1);
        let mut heavy = false;
        for &(x, weight) in weights {
            let width = (weight * cells).min(1.0);
            heavy |= width == 1.0;
            self.cell(table, fmix64(x ^ salt), 0..part(width), Ranks::Group(least));
        }
        heavy
    }

    /// Throws the darts of one power of two of the rank whose weight coordinate is beyond that
    /// first cell.
    fn heavy_part(
        &self,
        table: &mut LaneTable,
        weights: &[(u64, f64)],
        rank: i32,
        least: i32,
        cells: f64,
    ) {
        let salt = self.salt(2 * i64::from(rank));
        let light = power(rank - least - GROUP);
        for &(x, weight) in weights {
            let width = weight * cells;
            if width <= light {
                continue;
            }
            let first = fmix64(x ^ salt);
            let whole = width as u64;
            let mut start = part(light);
            let mut y = first;
            for cell in 1..=whole {
                self.cell(table, y, start..WHOLE, Ranks::One(rank));
                start = 0;
                y = fmix64(first.wrapping_add(cell.wrapping_mul(GOLDEN)));
            }
            self.cell(table, y, start..part(width - whole as f64), Ranks::One(rank));
        }
    }

    /// Throws the darts of the cell with hash `y`. Only darts at positions in `counted` are
    /// visible.
    #[inline(always)]
    fn cell(&self, table: &mut LaneTable, y: u64, counted: std::ops::Range<u64>, ranks: Ranks) {
        if y >= AT_MOST[0] {
            self.darts(table, y, counted, ranks);
        }
    }

    #[inline(never)]
    fn darts(&self, table: &mut LaneTable, y: u64, counted: std::ops::Range<u64>, ranks: Ranks) {
        let darts = AT_MOST.iter().take_while(|least| y >= **least).count() as u64;
        for dart in 1..=darts {
            let at = fmix64(y.wrapping_add(dart.wrapping_mul(DART)));
            if !counted.contains(&(at >> 11)) {
                continue;
            }
            let z = fmix64(at ^ GOLDEN);
            let lane = z >> (64 - self.lanes.log2());
            let rest = z << self.lanes.log2();
            let value = match ranks {
                Ranks::One(rank) => tag(rank) | (rest >> (64 - FRACTION)) as u32,
                Ranks::Group(least) => {
                    // The rank is uniform from 0 to the end of the group, as the number of darts is
                    // drawn for that area. Darts below the group belong to earlier groups.
                    let rank = rest >> 19;
                    if rank >> BEGIN == 0 {
                        continue;
                    }
                    let log2 = rank.ilog2();
                    tag(least + (log2 - BEGIN) as i32)
                        | (rank << (64 - log2) >> (64 - FRACTION)) as u32
                }
            };
            table.lower(lane as usize, value);
        }
    }

    fn salt(&self, number: i64) -> u64 {
        fmix64(self.seed.wrapping_add((number as u64).wrapping_mul(GOLDEN)))
    }
}

/// The value of a lane for the least rank of this power of two.
const fn tag(rank: i32) -> u32 {
    ((rank + OFFSET) as u32) << FRACTION
}

/// Converts a share of a cell, from 0 to 1, to a position within it, from 0 to `WHOLE`.
fn part(share: f64) -> u64 {
    (share * WHOLE as f64) as u64
}

/// The binary logarithm of a finite number above 0, rounded down.
const fn exponent(number: f64) -> i32 {
    let bits = number.to_bits();
    match (bits >> 52) as i32 {
        0 => 63 - bits.leading_zeros() as i32 - 1074,
        exponent => exponent - 1023,
    }
}

/// 2 to the power of `exponent`, which must be from -1022 to 1023.
const fn power(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

#[cfg(test)]
#[path = "darts_tests.rs"]
mod tests;
