//! Sifts hashes: leaves out those that are too great to lower any lane, where that pays.

use super::lane_value::EMPTY;
#[cfg(all(target_arch = "x86_64", not(target_feature = "avx512f")))]
use super::lane_value::VALUE_BITS;
use multiversion::multiversion;
use multiversion::target::match_target;

/// The most hashes that are sifted at once.
pub(super) const SIEVE: usize = 1024;

/// The hashes that may lower one of the lanes, in their order. There are at most [`SIEVE`] of them.
/// A hash is thrown into a lane by its first `lane_bits` bits; its value is in the next bits.
/// `room` holds the hashes if any are left out.
///
/// Without AVX2, this returns all hashes: to pick some of them would take as long as to throw them
/// all.
#[multiversion(targets("x86_64+avx512f+bmi1+bmi2+popcnt", "x86_64+avx2+bmi1+bmi2+popcnt"))]
pub(super) fn sift<'a>(
    hashes: &'a [u64],
    lanes: &[u32],
    lane_bits: u32,
    room: &'a mut [u64; SIEVE],
) -> &'a [u64] {
    debug_assert!(hashes.len() <= SIEVE);
    // The first hashes of a text meet empty lanes. Short texts have no others.
    if lanes.first() == Some(&EMPTY) {
        return hashes;
    }
    // A fold of numbers is done in vector registers.
    let greatest = lanes.iter().fold(0, |greatest, lane| greatest.max(*lane));
    // Not used where nothing is sifted.
    let _ = (greatest, lane_bits, &room);
    let kept = match_target! {
        "x86_64+avx512f" => avx512::keep(hashes, greatest, lane_bits, room),
        "x86_64+avx2+popcnt" => avx2::keep(hashes, greatest, lane_bits, room),
        _ => None,
    };
    match kept {
        Some(kept) => &room[..kept],
        None => hashes,
    }
}

// Each of the functions below moves those hashes to the front of `room` that are less than the
// greatest lane, and returns their number. If that would not pay, it returns `None`.
//
// If all of the program is compiled for such a processor, the version of `sift` for any processor
// goes this way, too, and could not call the function without `unsafe`. In its place is one that
// does nothing.

#[cfg(all(target_arch = "x86_64", not(target_feature = "avx512f")))]
mod avx512 {
    use super::{SIEVE, bound, keep_each};
    use crate::sketch::lane_value::VALUE_BITS;
    use std::arch::x86_64::*;

    /// The greatest value of lanes at which hashes are sifted: then at least a quarter is left out.
    const MOST_SIFTED: u32 = 3 << (VALUE_BITS - 2);

    #[inline]
    #[target_feature(enable = "avx512f,bmi1,bmi2,popcnt")]
    pub fn keep(
        hashes: &[u64],
        greatest: u32,
        skipped: u32,
        room: &mut [u64; SIEVE],
    ) -> Option<usize> {
        if greatest > MOST_SIFTED {
            return None;
        }
        let shift = _mm512_set1_epi64(skipped.into());
        let bound_8 = _mm512_set1_epi64(bound(greatest).cast_signed());
        let (vectors, rest) = hashes.as_chunks::<8>();
        let mut kept = 0;
        for vector in vectors {
            let hashes = bytemuck::must_cast(*vector);
            let below = _mm512_cmplt_epu64_mask(_mm512_sllv_epi64(hashes, shift), bound_8);
            // There is room: no more hashes are kept than were sifted.
            if let Some(room) = room[kept..].first_chunk_mut::<8>() {
                *room = bytemuck::must_cast(_mm512_maskz_compress_epi64(below, hashes));
            }
            kept += below.count_ones() as usize;
        }
        Some(keep_each(rest, greatest, skipped, room, kept))
    }
}

#[cfg(all(target_arch = "x86_64", not(target_feature = "avx2")))]
mod avx2 {
    use super::{SIEVE, bound, keep_each};
    use crate::sketch::lane_value::VALUE_BITS;
    use std::arch::x86_64::*;

    /// The greatest value of lanes at which hashes are sifted: then at least half is left out.
    const MOST_SIFTED: u32 = 1 << (VALUE_BITS - 1);

    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    pub fn keep(
        hashes: &[u64],
        greatest: u32,
        skipped: u32,
        room: &mut [u64; SIEVE],
    ) -> Option<usize> {
        if greatest > MOST_SIFTED {
            return None;
        }
        // Numbers are compared with their signs, so the order is that of the numbers halved.
        let shift = _mm_cvtsi64_si128(skipped.into());
        let bound_4 = _mm256_set1_epi64x((bound(greatest) >> 1).cast_signed());
        let (vectors, rest) = hashes.as_chunks::<4>();
        let mut kept = 0;
        for vector in vectors {
            let hashes = bytemuck::must_cast(*vector);
            let halves = _mm256_srli_epi64::<1>(_mm256_sll_epi64(hashes, shift));
            let below = _mm256_castsi256_pd(_mm256_cmpgt_epi64(bound_4, halves));
            let below = _mm256_movemask_pd(below) as usize;
            // There is room: no more hashes are kept than were sifted.
            if let Some(room) = room[kept..].first_chunk_mut::<4>() {
                let order = bytemuck::must_cast(PACKED[below]);
                *room = bytemuck::must_cast(_mm256_permutevar8x32_epi32(hashes, order));
            }
            kept += below.count_ones() as usize;
        }
        Some(keep_each(rest, greatest, skipped, room, kept))
    }

    /// For each set of four hashes, the places of the halves of those that are in it.
    const PACKED: [[u32; 8]; 16] = {
        let mut packed = [[0; 8]; 16];
        let mut set = 0;
        while set < packed.len() {
            let (mut place, mut kept) = (0, 0);
            while place < 4 {
                if set >> place & 1 == 1 {
                    packed[set][2 * kept] = 2 * place;
                    packed[set][2 * kept + 1] = 2 * place + 1;
                    kept += 1;
                }
                place += 1;
            }
            set += 1;
        }
        packed
    };
}

/// The least hash that is not kept, without the bits that are skipped.
#[cfg(all(target_arch = "x86_64", not(target_feature = "avx512f")))]
fn bound(greatest: u32) -> u64 {
    u64::from(greatest) << (64 - VALUE_BITS)
}

/// Keeps hashes one by one, behind `kept` others.
#[cfg(all(target_arch = "x86_64", not(target_feature = "avx512f")))]
fn keep_each(
    hashes: &[u64],
    greatest: u32,
    skipped: u32,
    room: &mut [u64; SIEVE],
    mut kept: usize,
) -> usize {
    for &hash in hashes {
        room[kept % SIEVE] = hash;
        kept += usize::from(hash << skipped < bound(greatest));
    }
    kept
}

#[cfg(all(target_arch = "x86_64", target_feature = "avx512f"))]
use nothing as avx512;
#[cfg(all(target_arch = "x86_64", target_feature = "avx2"))]
#[allow(unused_imports, reason = "a build with AVX-512 makes no choice at run time")]
use nothing as avx2;

#[cfg(all(target_arch = "x86_64", any(target_feature = "avx512f", target_feature = "avx2")))]
mod nothing {
    use super::SIEVE;

    pub fn keep(_: &[u64], _: u32, _: u32, _: &mut [u64; SIEVE]) -> Option<usize> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::SplitMix;
    use crate::sketch::lane_value::VALUE_BITS;

    #[test]
    fn no_hash_that_lowers_a_lane_is_left_out_nor_the_order_changed() {
        let (mut words, mut least) = (SplitMix::new(1), usize::MAX);
        for count in (0..40).chain([511, SIEVE - 1, SIEVE]) {
            let hashes: Vec<u64> = (0..count).map(|_| words.next()).collect();
            for greatest in [0, 1 << 20, 1 << 28, 3 << 28, 1 << 30, u32::MAX] {
                for lane_bits in [6, 9] {
                    let (lanes, mut room) = ([greatest / 2, greatest, 0], [0; SIEVE]);
                    let sifted = sift(&hashes, &lanes, lane_bits, &mut room);
                    least = if count == SIEVE { least.min(sifted.len()) } else { least };
                    let lowers =
                        |hash: &u64| (((hash << lane_bits) >> (64 - VALUE_BITS)) as u32) < greatest;
                    // What is left out lowers nothing; what is kept is a subsequence.
                    let of = |hashes: &[u64]| -> Vec<u64> {
                        hashes.iter().copied().filter(lowers).collect()
                    };
                    assert_eq!(of(sifted), of(&hashes), "{count} {greatest}");
                    assert!(sifted.len() == hashes.len() || sifted.iter().all(lowers));
                }
            }
        }
        if can_sift() {
            assert_eq!(least, 0, "no hash is less than 0");
        }
    }

    /// Whether hashes are sifted on this processor.
    fn can_sift() -> bool {
        #[cfg(all(target_arch = "x86_64", not(target_feature = "avx512f")))]
        return is_x86_feature_detected!("avx512vbmi2")
            && is_x86_feature_detected!("avx512vpopcntdq")
            && is_x86_feature_detected!("gfni")
            && is_x86_feature_detected!("vaes")
            || cfg!(not(target_feature = "avx2"))
                && is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("bmi2");
        #[cfg(not(all(target_arch = "x86_64", not(target_feature = "avx512f"))))]
        false
    }
}
