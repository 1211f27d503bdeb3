//! Reads JSON strings many bytes at a time, in registers whose gaps are closed.
//!
//! Each function reads a string from the front of `bytes`, and writes what it stands for to the
//! front of `out`. It stops before the closing quotation mark, before an escape of other than two
//! bytes, before what does not belong in a string, and if less than a block is left of either. It
//! returns the number of bytes read and the number written.
//!
//! If all of the program is compiled for such a processor, the version of the caller for any
//! processor goes this way, too, and could not call the function without `unsafe`. In its place is
//! one that reads nothing.
#![cfg(target_arch = "x86_64")]

#[cfg(not(target_feature = "avx512vbmi2"))]
pub(super) mod avx512 {
    //! Blocks of 64 bytes: AVX-512 VBMI2 closes gaps in one instruction.

    use super::super::json_string::ESCAPED;
    use std::arch::x86_64::*;

    const BLOCK: usize = 64;

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt")]
    pub fn unescape(bytes: &[u8], out: &mut [u8]) -> (usize, usize) {
        let (halves, _) = ESCAPED.as_chunks::<BLOCK>();
        let [low, high] = [halves[0], halves[1]].map(bytemuck::must_cast);
        let mut read = 0;
        let mut written = 0;
        while let Some(block) = bytes[read..].first_chunk::<BLOCK>()
            && let Some(room) = out[written..].first_chunk_mut::<BLOCK>()
        {
            let block = bytemuck::must_cast(*block);
            let escapes = super::escapes(equal(block, b'\\'));
            let escaped = escapes << 1;
            let character = _mm512_permutex2var_epi8(low, block, high);
            let unknown = _mm512_movepi8_mask(block) | _mm512_testn_epi8_mask(character, character);
            let control = _mm512_cmplt_epu8_mask(block, splat(b' '));
            let marks = equal(block, b'"') | control;
            let last = escapes & (1 << (BLOCK - 1));
            let stops = marks & !escaped | (escaped & unknown) >> 1 | last;
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
}

#[cfg(not(target_feature = "avx2"))]
pub(super) mod avx2 {
    //! Blocks of 32 bytes: a table tells how the gaps of eight bytes are closed.

    use super::super::json_string::ESCAPED;
    use std::arch::x86_64::*;

    const BLOCK: usize = 32;

    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    pub fn unescape(bytes: &[u8], out: &mut [u8]) -> (usize, usize) {
        let mut read = 0;
        let mut written = 0;
        while let Some(block) = bytes[read..].first_chunk::<BLOCK>()
            && let Some(room) = out[written..].first_chunk_mut::<BLOCK>()
        {
            let block = bytemuck::must_cast(*block);
            let escapes = super::escapes(mask(equal(block, splat(b'\\'))).into()) as u32;
            let escaped = escapes << 1;
            let slot = slots(block);
            let unknown = !mask(equal(look_up(LETTERS, slot), block));
            let control = equal(_mm256_min_epu8(block, splat(b' ' - 1)), block);
            let marks = mask(_mm256_or_si256(equal(block, splat(b'"')), control));
            let last = escapes & (1 << (BLOCK - 1));
            let stops = marks & !escaped | (escaped & unknown) >> 1 | last;
            let taken = stops.trailing_zeros();
            let kept = _bzhi_u32(!escapes, taken);
            let block = _mm256_blendv_epi8(block, look_up(CHARACTERS, slot), spread(escaped));
            written += pack(block, kept, room);
            read += taken as usize;
            // An escape that begins at the end of a block is left to the next.
            if (taken as usize) < BLOCK - 1 {
                break;
            }
        }
        (read, written)
    }

    /// What is added to the high half of a letter, by its low half, to give each letter that stands
    /// for a character after a backslash a slot of its own.
    const SHIFTS: [u8; 16] = [0, 0, 0, 0, 4, 0, 2, 0, 0, 0, 0, 0, 8, 0, 3, 8];

    /// The letter of each slot. Slots of no letter have a backslash, whose own slot is another.
    const LETTERS: [u8; 16] = {
        let mut letters = [b'\\'; 16];
        let mut taken = [false; 16];
        let mut byte = 0;
        while byte < ESCAPED.len() {
            if ESCAPED[byte] != 0 {
                let slot = SHIFTS[byte % 16] as usize + byte / 16;
                assert!(!taken[slot], "two letters in one slot");
                (letters[slot], taken[slot]) = (byte as u8, true);
            }
            byte += 1;
        }
        letters
    };

    /// The character that the letter of each slot stands for.
    const CHARACTERS: [u8; 16] = {
        let mut characters = [0; 16];
        let mut slot = 0;
        while slot < characters.len() {
            characters[slot] = ESCAPED[LETTERS[slot] as usize];
            slot += 1;
        }
        characters
    };

    /// The slot of each byte. Bytes that are no such letters have some slot, too.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn slots(block: __m256i) -> __m256i {
        let high = _mm256_and_si256(_mm256_srli_epi16::<4>(block), splat(0xF));
        _mm256_add_epi8(look_up(SHIFTS, block), high)
    }

    /// The entry of the table for the low half of each byte; 0 for bytes from 128.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn look_up(table: [u8; 16], bytes: __m256i) -> __m256i {
        _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(bytemuck::must_cast(table)), bytes)
    }

    /// A byte of ones for each bit that is set.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn spread(bits: u32) -> __m256i {
        let byte_of_bit = bytemuck::must_cast([[0_u8; 8], [1; 8], [2; 8], [3; 8]]);
        let bytes = _mm256_shuffle_epi8(_mm256_set1_epi32(bits.cast_signed()), byte_of_bit);
        let bit_of_byte = bytemuck::must_cast([[1_u8, 2, 4, 8, 16, 32, 64, 128]; 4]);
        equal(_mm256_and_si256(bytes, bit_of_byte), bit_of_byte)
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
            let set = bit / 8;
            let place = bit % 8;
            if set >> place & 1 == 1 {
                packed[set] = packed[set] << 8 | place as u64;
            }
        }
        packed
    };

    #[inline]
    #[target_feature(enable = "avx2")]
    fn equal(left: __m256i, right: __m256i) -> __m256i {
        _mm256_cmpeq_epi8(left, right)
    }

    /// The high bit of each byte.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn mask(bytes: __m256i) -> u32 {
        _mm256_movemask_epi8(bytes).cast_unsigned()
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn splat(byte: u8) -> __m256i {
        _mm256_set1_epi8(byte.cast_signed())
    }
}

/// The backslashes that begin an escape: the first, third and so on of each run.
#[cfg(not(all(target_feature = "avx512vbmi2", target_feature = "avx2")))]
#[inline]
fn escapes(backslashes: u64) -> u64 {
    const ODD: u64 = 0xAAAA_AAAA_AAAA_AAAA;
    // As in simdjson: what is carried out of a run tells whether it has an odd length.
    ((backslashes << 1 | ODD).wrapping_sub(backslashes) ^ ODD) & backslashes
}

#[cfg(target_feature = "avx512vbmi2")]
pub(super) use nothing as avx512;
#[cfg(target_feature = "avx2")]
#[allow(unused_imports, reason = "a build with AVX-512 makes no choice at run time")]
pub(super) use nothing as avx2;

#[cfg(any(target_feature = "avx512vbmi2", target_feature = "avx2"))]
pub(super) mod nothing {
    pub fn unescape(_: &[u8], _: &mut [u8]) -> (usize, usize) {
        (0, 0)
    }
}
