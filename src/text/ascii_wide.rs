//! Folds ASCII 64 bytes at a time, on processors that can close gaps within a register (AVX-512
//! VBMI2).
#![cfg(all(target_arch = "x86_64", not(target_feature = "avx512vbmi2")))]

use std::arch::x86_64::*;

/// The bytes of a block.
const BLOCK: usize = 64;

/// Folds the whole blocks at the front of `text` as [`fold_ascii`](super::ascii::fold_ascii) does,
/// as long as `out` has room for a block. Returns the number of bytes read and the number written.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt")]
pub(super) fn fold(
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
