//! The sketch of a weighted set: darts thrown at the weights, of which each lane keeps the first.
//!
//! For each token, darts lie at random, one per unit of area, in a plane of weight and rank, each in
//! one lane. A set sees the darts below its weight of the token. The dart of least rank that it sees in
//! a lane is anywhere below its weights with equal chance, so two sets have the same one with a
//! probability of the sum of the lesser weights over the sum of the greater ones, in each lane apart
//! from the others. That is the sampler of Christiani 2020, "DartMinHash: Fast sketching for weighted
//! sets" (arXiv 2005.11547, section 3); which part of the plane is thrown at together is chosen
//! otherwise, so that no scale of weights has to be known beforehand and light tokens cost one hash
//! for 8 powers of two of the rank.
//!
//! Only integers and powers of two decide what is in a lane, so that every platform gets the same.

use super::lanes::LaneTable;
use crate::hash::{GOLDEN, SplitMix, fmix64};
use crate::params::Lanes;

/// The binary logarithm of cells for a dart: the darts of a cell are Poisson with mean 1/2. More
/// in a cell are more that lie above the weight of a light token, fewer are more cells.
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

/// Tells the darts of a cell from the cells of a token: 2^64 divided by the real root of x^3 = x + 1, as
/// GOLDEN is by the greater root of x^2 = x + 1.
const DART: u64 = 0xC13F_A9A9_02A6_328F;

/// Powers of two of the rank that a light token has in one cell.
const GROUP: i32 = 8;

/// The binary logarithm of the rank at which a group begins, in units of which its end has 2^45.
const BEGIN: u32 = 45 - GROUP as u32;

/// Ranks below 2^-32 of where one dart is expected are passed over: at most one signature in 2^31
/// misses a dart there.
const PASSED_OVER: i32 = 32;

/// Powers of two of the rank, above that where a lane expects one dart, after which the throwing ends
/// in any case. A lane without a dart until then has the probability e^-512.
const LAST: i32 = 9;

/// Added to the binary logarithm of a rank, so that it is positive.
const OFFSET: i32 = 2048;

/// Bits of a lane's value below the logarithm.
const FRACTION: u32 = 20;

/// The unit of the part of a cell that lies below a weight.
const WHOLE: u64 = 1 << 53;

/// Throws darts under a seed.
#[derive(Clone, Debug)]
pub(super) struct DartHasher {
    lanes: Lanes,
    seed: u64,
}

/// Where the darts of a cell lie, by rank.
#[derive(Clone, Copy)]
enum Ranks {
    /// From this power of two to the next.
    One(i32),
    /// From this power of two over so many as a group has.
    Group(i32),
}

impl DartHasher {
    pub(super) fn new(lanes: Lanes, seed: u64) -> Self {
        // Apart from the constants of shingles and of the lanes of sets.
        Self { lanes, seed: SplitMix::new(fmix64(seed ^ GOLDEN.rotate_left(32))).next() }
    }

    /// Fills the lanes of a weighted set that is not empty, given by distinct hashes and finite weights
    /// above 0 in an order that depends on them alone. Scales the weights.
    pub(super) fn throw(&self, table: &mut LaneTable, weights: &mut [(u64, f64)]) {
        let greatest = weights.iter().map(|&(_, weight)| weight).fold(0.0, f64::max);
        let scale = exponent(greatest);
        for (_, weight) in weights.iter_mut() {
            // In two steps, as 2^1074 is no f64. What is lost of the lightest is below 2^-1000 of all.
            *weight = *weight * power(-(scale / 2)) * power(scale / 2 - scale);
        }
        let total: f64 = weights.iter().map(|&(_, weight)| weight).sum();
        // Ranks at which a lane expects 1 to 2 darts begin here.
        let middle = -scale - exponent(total);
        let fan = self.lanes.log2() as i32;
        let mut group = (middle - fan - PASSED_OVER).div_euclid(GROUP);
        loop {
            let least = group * GROUP;
            let heavy =
                self.light_part(table, weights, least, power(CELLS + fan + least + GROUP + scale));
            for rank in least..least + GROUP {
                // All darts of lesser ranks are thrown.
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

    /// Throws the darts of a group of ranks whose weight is below the width of one cell; returns
    /// whether a token weighs more.
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

    /// Throws the darts of one power of two of the rank whose weight is not below that width.
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

    /// Throws the darts of a cell that is hashed to `y`; those count that lie in this part of it.
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
                    // Evenly from 0 to the end of the group, so that the cell's area is the one its
                    // number of darts is drawn for. What lies below the group counts in those before.
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

/// What a lane holds for the least rank of this power of two.
const fn tag(rank: i32) -> u32 {
    ((rank + OFFSET) as u32) << FRACTION
}

/// A part of a cell, from 0 to 1, in units of which a cell has `WHOLE`.
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

/// 2 to this power, which is between -1022 and 1023.
const fn power(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

#[cfg(test)]
#[path = "darts_tests.rs"]
mod tests;
