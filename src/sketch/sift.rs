//! Sifts hashes: leaves out those that are too great to lower any lane.

use multiversion::multiversion;
use multiversion::target::match_target;

/// The most hashes that are sifted at once.
pub(super) const SIEVE: usize = 512;

/// Moves those hashes to the front of `kept` that are less than `bound` when the first `skipped`
/// bits are left out, in their order. Returns their number.
#[multiversion(targets("x86_64+avx512f+bmi1+bmi2+popcnt"))]
pub(super) fn sift(hashes: &[u64], skipped: u32, bound: u64, kept: &mut [u64; SIEVE]) -> usize {
    let hashes = &hashes[..hashes.len().min(SIEVE)];
    let (sifted, mut count) = match_target! {
        "x86_64+avx512f" => avx512::sift(hashes, skipped, bound, kept),
        _ => (0, 0),
    };
    for &hash in &hashes[sifted..] {
        kept[count % SIEVE] = hash;
        count += usize::from(hash << skipped < bound);
    }
    count
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::SIEVE;
    use std::arch::x86_64::*;

    /// [`sift`](super::sift) of whole vectors. Also returns the number of hashes that were sifted.
    #[inline]
    #[target_feature(enable = "avx512f,bmi1,bmi2,popcnt")]
    pub(super) fn sift(
        hashes: &[u64],
        skipped: u32,
        bound: u64,
        kept: &mut [u64; SIEVE],
    ) -> (usize, usize) {
        let (vectors, _) = hashes.as_chunks::<8>();
        let (shift, bound) =
            (_mm512_set1_epi64(skipped.into()), _mm512_set1_epi64(bound.cast_signed()));
        let mut count = 0;
        for vector in vectors {
            let hashes = bytemuck::must_cast(*vector);
            let below = _mm512_cmplt_epu64_mask(_mm512_sllv_epi64(hashes, shift), bound);
            // There is room: no more are kept than were sifted.
            if let Some(room) = kept[count..].first_chunk_mut::<8>() {
                *room = bytemuck::must_cast(_mm512_maskz_compress_epi64(below, hashes));
            }
            count += below.count_ones() as usize;
        }
        (vectors.len() * 8, count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::SplitMix;

    #[test]
    fn hashes_below_the_bound_are_kept_in_order() {
        let mut words = SplitMix::new(1);
        for count in (0..40).chain([SIEVE - 1, SIEVE]) {
            let hashes: Vec<u64> = (0..count).map(|_| words.next()).collect();
            for bound in [0, 1 << 40, 1 << 62, words.next(), u64::MAX] {
                for skipped in [6, 9] {
                    let mut kept = [0; SIEVE];
                    let number = sift(&hashes, skipped, bound, &mut kept);
                    let below = hashes.iter().copied().filter(|hash| hash << skipped < bound);
                    assert_eq!(kept[..number], below.collect::<Vec<_>>(), "{count} {bound}");
                }
            }
        }
    }
}
