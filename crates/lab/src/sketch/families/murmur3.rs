//! MurmurHash3 of 32 bits.

use super::HashFunction;

/// MurmurHash3_x86_32 of bytes (A. Appleby 2011, public domain; printed by Bergillos, Rambla,
/// Cabeza 2018, section 6.3). Words are little-endian on every platform. The low 32 bits of the
/// length are mixed in.
///
/// ```
/// assert_eq!(twindex_lab::methods::murmur3_32(b"", 0), 0);
/// assert_eq!(twindex_lab::methods::murmur3_32(b"Hello, world!", 1234), 0xFAF6_CDB3);
/// ```
#[inline]
pub fn murmur3_32(bytes: &[u8], seed: u32) -> u32 {
    let (words, tail) = bytes.as_chunks::<4>();
    let mut hash = words.iter().fold(seed, |hash, word| taken(hash, u32::from_le_bytes(*word)));
    if !tail.is_empty() {
        let mut word = [0; 4];
        word[..tail.len()].copy_from_slice(tail);
        hash ^= scrambled(u32::from_le_bytes(word));
    }
    finished(hash, bytes.len() as u32)
}

#[inline(always)]
const fn scrambled(word: u32) -> u32 {
    word.wrapping_mul(0xCC9E_2D51).rotate_left(15).wrapping_mul(0x1B87_3593)
}

/// The state after another whole word.
#[inline(always)]
const fn taken(hash: u32, word: u32) -> u32 {
    (hash ^ scrambled(word)).rotate_left(13).wrapping_mul(5).wrapping_add(0xE654_6B64)
}

#[inline(always)]
const fn finished(mut hash: u32, length: u32) -> u32 {
    hash ^= length;
    hash ^= hash >> 16;
    hash = hash.wrapping_mul(0x85EB_CA6B);
    hash ^= hash >> 13;
    hash = hash.wrapping_mul(0xC2B2_AE35);
    hash ^ (hash >> 16)
}

/// [`murmur3_32`] of the key's 8 bytes in little-endian order. The seed defines the function.
///
/// ```
/// use twindex_lab::methods::{HashFunction, Murmur3, murmur3_32};
/// assert_eq!(Murmur3::of_seed(9).hash(258), u64::from(murmur3_32(&[2, 1, 0, 0, 0, 0, 0, 0], 9)));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Murmur3 {
    seed: u32,
}

impl Murmur3 {
    /// The function whose seed is the low 32 bits of the word.
    pub const fn new(seed: u64) -> Self {
        Self::of_seed(seed as u32)
    }

    /// The function of a seed.
    pub const fn of_seed(seed: u32) -> Self {
        Self { seed }
    }
}

impl HashFunction for Murmur3 {
    #[inline(always)]
    fn hash(&self, key: u64) -> u64 {
        finished(taken(taken(self.seed, key as u32), (key >> 32) as u32), 8).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Common test vectors of MurmurHash3_x86_32. They cover tails of 0 to 3 bytes.
    #[test]
    fn published_vectors_hold() {
        let cases: [(&[u8], u32, u32); 16] = [
            (b"", 0, 0),
            (b"", 1, 0x514E_28B7),
            (b"", 0xFFFF_FFFF, 0x81F1_6F39),
            (&[0xFF; 4], 0, 0x7629_3B50),
            (&[0x21, 0x43, 0x65, 0x87], 0, 0xF55B_516B),
            (&[0x21, 0x43, 0x65, 0x87], 0x5082_EDEE, 0x2362_F9DE),
            (&[0x21, 0x43, 0x65], 0, 0x7E4A_8634),
            (&[0x21, 0x43], 0, 0xA0F7_B07A),
            (&[0x21], 0, 0x7266_1CF4),
            (&[0; 4], 0, 0x2362_F9DE),
            (&[0; 3], 0, 0x85F0_B427),
            (&[0; 2], 0, 0x30F4_C306),
            (&[0; 1], 0, 0x514E_28B7),
            (b"aaaa", 0x9747_B28C, 0x5A97_808A),
            (b"Hello, world!", 1_234, 0xFAF6_CDB3),
            (b"The quick brown fox jumps over the lazy dog", 0x9747_B28C, 0x2FA8_26CD),
        ];
        for (bytes, seed, expected) in cases {
            let got = murmur3_32(bytes, seed);
            assert_eq!(got, expected, "{bytes:x?} under {seed:#x} gave {got:#010x}");
        }
    }

    #[test]
    fn a_key_is_its_8_bytes() {
        for key in [0, 1, 0x0123_4567_89AB_CDEF, u64::MAX] {
            let of_bytes = murmur3_32(&key.to_le_bytes(), 77);
            assert_eq!(Murmur3::new(77).hash(key), u64::from(of_bytes));
        }
    }
}
