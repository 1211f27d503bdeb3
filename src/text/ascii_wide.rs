//! Folds ASCII many bytes at a time, in registers whose gaps are closed.
//!
//! Each function folds the whole blocks at the front of `text` as
//! [`fold_ascii`](super::ascii::fold_ascii) does, as long as `out` has room for a block. It returns
//! the number of bytes read and the number written.
//!
//! If all of the program is compiled for such a processor, the version of the caller for any
//! processor goes this way, too, and could not call the function without `unsafe`. In its place is
//! one that reads nothing.
#![cfg(target_arch = "x86_64")]

#[cfg(not(target_feature = "avx512vbmi2"))]
pub(super) mod avx512 {
    //! Blocks of 64 bytes: AVX-512 VBMI2 closes gaps in one instruction.

    use std::arch::x86_64::*;

    const BLOCK: usize = 64;

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt")]
    pub fn fold(
        text: &[u8],
        lower: bool,
        after_space: &mut bool,
        out: &mut [u8],
    ) -> (usize, usize) {
        let (blocks, _) = text.as_chunks::<BLOCK>();
        let (mut read, mut written) = (0, 0);
        for block in blocks {
            let Some(room) = out[written..].first_chunk_mut::<BLOCK>() else { break };
            let block = bytemuck::must_cast(*block);
            let spaces = within(block, b'\t', b'\r') | within(block, b' ', b' ');
            let block = _mm512_mask_mov_epi8(block, spaces, splat(b' '));
            let capitals = if lower { within(block, b'A', b'Z') } else { 0 };
            let block = _mm512_mask_add_epi8(block, capitals, block, splat(b'a' - b'A'));
            let doubled = spaces & (spaces << 1 | u64::from(*after_space));
            *after_space = spaces >> (BLOCK - 1) != 0;
            *room = bytemuck::must_cast(_mm512_maskz_compress_epi8(!doubled, block));
            read += BLOCK;
            written += (!doubled).count_ones() as usize;
        }
        (read, written)
    }

    /// The bytes from `first` to `last`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn within(block: __m512i, first: u8, last: u8) -> u64 {
        _mm512_cmple_epu8_mask(_mm512_sub_epi8(block, splat(first)), splat(last - first))
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn splat(byte: u8) -> __m512i {
        _mm512_set1_epi8(byte.cast_signed())
    }
}

#[cfg(not(target_feature = "avx2"))]
pub(super) mod avx2 {
    //! Blocks of 32 bytes: a table tells how the gaps of eight bytes are closed.

    use std::arch::x86_64::*;

    const BLOCK: usize = 32;

    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    pub fn fold(
        text: &[u8],
        lower: bool,
        after_space: &mut bool,
        out: &mut [u8],
    ) -> (usize, usize) {
        let (blocks, _) = text.as_chunks::<BLOCK>();
        let (mut read, mut written) = (0, 0);
        let case = splat(if lower { b'a' - b'A' } else { 0 });
        for block in blocks {
            let Some(room) = out[written..].first_chunk_mut::<BLOCK>() else { break };
            let block = bytemuck::must_cast(*block);
            let spaces = _mm256_or_si256(within(block, b'\t', b'\r'), within(block, b' ', b' '));
            let block = _mm256_blendv_epi8(block, splat(b' '), spaces);
            let capitals = within(block, b'A', b'Z');
            let block = _mm256_add_epi8(block, _mm256_and_si256(capitals, case));
            let spaces = _mm256_movemask_epi8(spaces).cast_unsigned();
            let doubled = spaces & (spaces << 1 | u32::from(*after_space));
            *after_space = spaces >> (BLOCK - 1) != 0;
            read += BLOCK;
            written += pack(block, !doubled, room);
        }
        (read, written)
    }

    /// The bytes from `first` to `last`, both ASCII.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn within(block: __m256i, first: u8, last: u8) -> __m256i {
        let from = _mm256_cmpgt_epi8(block, splat(first - 1));
        _mm256_and_si256(from, _mm256_cmpgt_epi8(splat(last + 1), block))
    }

    /// Moves the bytes that are kept to the front of `out`, and returns their number.
    #[inline]
    #[target_feature(enable = "avx2,popcnt")]
    fn pack(block: __m256i, kept: u32, out: &mut [u8; BLOCK]) -> usize {
        let words: [i64; BLOCK / 8] = bytemuck::must_cast(block);
        let mut written = 0;
        for (word, kept) in words.into_iter().zip(kept.to_le_bytes()) {
            let order = _mm_cvtsi64_si128(PACKED[usize::from(kept)].cast_signed());
            let packed = _mm_cvtsi128_si64(_mm_shuffle_epi8(_mm_cvtsi64_si128(word), order));
            // There is room: each word before this one gave eight bytes at most.
            if let Some(room) = out[written..].first_chunk_mut() {
                *room = packed.to_le_bytes();
            }
            written += kept.count_ones() as usize;
        }
        written
    }

    /// For each set of eight bytes, the places of those that are in it.
    const PACKED: [u64; 256] = {
        let mut packed = [0; 256];
        let mut bit = 256 * 8;
        while bit > 0 {
            bit -= 1;
            let (set, place) = (bit / 8, bit % 8);
            if set >> place & 1 == 1 {
                packed[set] = packed[set] << 8 | place as u64;
            }
        }
        packed
    };

    #[inline]
    #[target_feature(enable = "avx2")]
    fn splat(byte: u8) -> __m256i {
        _mm256_set1_epi8(byte.cast_signed())
    }
}

#[cfg(target_feature = "avx512vbmi2")]
pub(super) use nothing as avx512;
#[cfg(target_feature = "avx2")]
#[allow(unused_imports, reason = "a build with AVX-512 makes no choice at run time")]
pub(super) use nothing as avx2;

#[cfg(any(target_feature = "avx512vbmi2", target_feature = "avx2"))]
pub(super) mod nothing {
    pub fn fold(_: &[u8], _: bool, _: &mut bool, _: &mut [u8]) -> (usize, usize) {
        (0, 0)
    }
}
