//! Sifts hashes: leaves out those that are too great to lower any lane, where that pays.

use multiversion::multiversion;
#[cfg(not(target_feature = "avx512f"))]
use multiversion::target::match_target;

/// The most hashes that are sifted at once.
pub(super) const SIEVE: usize = 1024;

/// The hashes that may lower one of the lanes, in their order. There are at most [`SIEVE`] of them.
/// A hash is thrown into a lane by its first `lane_bits` bits; its value is in the next bits. `room`
/// holds the hashes if any are left out.
///
/// Without AVX-512, this returns all hashes: to pick some of them would take as long as to throw
/// them all.
#[multiversion(targets("x86_64+avx512f+bmi1+bmi2+popcnt"))]
pub(super) fn sift<'a>(
    hashes: &'a [u64],
    lanes: &[u32],
    lane_bits: u32,
    room: &'a mut [u64; SIEVE],
) -> &'a [u64] {
    debug_assert!(hashes.len() <= SIEVE);
    // Not used where nothing is sifted.
    let _ = (lanes, lane_bits, &room);
    // If all of the program is compiled for AVX-512, nothing is chosen here, and the function for
    // AVX-512 could not be called without `unsafe`.
    #[cfg(target_feature = "avx512f")]
    let sifted = None;
    #[cfg(not(target_feature = "avx512f"))]
    let sifted = match_target! {
        "x86_64+avx512f" => Some(avx512::sift(hashes, lanes, lane_bits, room)),
        _ => None,
    };
    sifted.unwrap_or(hashes)
}

#[cfg(all(target_arch = "x86_64", not(target_feature = "avx512f")))]
mod avx512 {
    use super::SIEVE;
    use crate::sketch::lanes::VALUE_BITS;
    use std::arch::x86_64::*;

    /// The greatest value of lanes at which hashes are sifted: then at least a quarter is left out.
    const MOST_SIFTED: u32 = 3 << (VALUE_BITS - 2);

    /// [`super::sift`] on processors that can.
    #[inline]
    #[target_feature(enable = "avx512f,bmi1,bmi2,popcnt")]
    pub(super) fn sift<'a>(
        hashes: &'a [u64],
        lanes: &[u32],
        lane_bits: u32,
        room: &'a mut [u64; SIEVE],
    ) -> &'a [u64] {
        // A fold of numbers is done in vector registers.
        let greatest = lanes.iter().fold(0, |greatest, lane| greatest.max(*lane));
        if greatest > MOST_SIFTED {
            return hashes;
        }
        let kept = keep(hashes, lane_bits, u64::from(greatest) << (64 - VALUE_BITS), room);
        &room[..kept]
    }

    /// Moves those hashes to the front of `room` that are less than `bound` when the first
    /// `skipped` bits are left out. Returns their number.
    #[inline]
    #[target_feature(enable = "avx512f,bmi1,bmi2,popcnt")]
    fn keep(hashes: &[u64], skipped: u32, bound: u64, room: &mut [u64; SIEVE]) -> usize {
        let shift = _mm512_set1_epi64(skipped.into());
        let bound_8 = _mm512_set1_epi64(bound.cast_signed());
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
        for &hash in rest {
            room[kept % SIEVE] = hash;
            kept += usize::from(hash << skipped < bound);
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::SplitMix;
    use crate::sketch::lanes::VALUE_BITS;

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
            && is_x86_feature_detected!("vaes");
        #[cfg(not(all(target_arch = "x86_64", not(target_feature = "avx512f"))))]
        false
    }
}
