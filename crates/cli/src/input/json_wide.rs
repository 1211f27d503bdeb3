//! Reads JSON strings 64 bytes at a time, on processors that can close gaps within a register
//! (AVX-512 VBMI2).
#![cfg(all(target_arch = "x86_64", not(target_feature = "avx512vbmi2")))]

use super::json_string::ESCAPED;
use std::arch::x86_64::*;

/// The bytes of a block.
const BLOCK: usize = 64;

/// Reads a string from the front of `bytes`, and writes what it stands for to the front of `out`.
/// Stops before the closing quotation mark, before an escape of other than two bytes, before what
/// does not belong in a string, and if less than a block is left of either. Returns the number of
/// bytes read and the number written.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt")]
pub(super) fn unescape(bytes: &[u8], out: &mut [u8]) -> (usize, usize) {
    let (halves, _) = ESCAPED.as_chunks::<BLOCK>();
    let [low, high] = [halves[0], halves[1]].map(bytemuck::must_cast);
    let (mut read, mut written) = (0, 0);
    while let Some(block) = bytes[read..].first_chunk::<BLOCK>()
        && let Some(room) = out[written..].first_chunk_mut::<BLOCK>()
    {
        let block = bytemuck::must_cast(*block);
        let escapes = escapes(equal(block, b'\\'));
        let escaped = escapes << 1;
        let character = _mm512_permutex2var_epi8(low, block, high);
        let wrong =
            escaped & (_mm512_movepi8_mask(block) | _mm512_testn_epi8_mask(character, character));
        let control = _mm512_cmplt_epu8_mask(block, splat(b' '));
        let stops =
            (equal(block, b'"') | control) & !escaped | wrong >> 1 | escapes & (1 << (BLOCK - 1));
        let taken = stops.trailing_zeros();
        let kept = _bzhi_u64(!escapes, taken);
        let block = _mm512_mask_mov_epi8(block, escaped, character);
        *room = bytemuck::must_cast(_mm512_maskz_compress_epi8(kept, block));
        read += taken as usize;
        written += kept.count_ones() as usize;
        // An escape that begins at the end of a block is left to the next.
        if (taken as usize) < BLOCK - 1 {
            break;
        }
    }
    (read, written)
}

/// The backslashes that begin an escape: the first, third and so on of each run.
#[inline]
fn escapes(backslashes: u64) -> u64 {
    const ODD: u64 = 0xAAAA_AAAA_AAAA_AAAA;
    // As in simdjson: what is carried out of a run tells whether it has an odd length.
    ((backslashes << 1 | ODD).wrapping_sub(backslashes) ^ ODD) & backslashes
}

/// The bytes that are equal to `byte`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn equal(block: __m512i, byte: u8) -> u64 {
    _mm512_cmpeq_epi8_mask(block, splat(byte))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn splat(byte: u8) -> __m512i {
    _mm512_set1_epi8(byte.cast_signed())
}
