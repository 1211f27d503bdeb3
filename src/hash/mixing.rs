//! Mixes words and bytes into hashes: of shingles, ids and records.

use std::hash::{BuildHasher, Hasher, RandomState};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// 2^64 divided by the golden ratio, made odd: the increment of the SplitMix64 generator.
pub const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// The finaliser of MurmurHash3 (Appleby 2011): a bijection of 64-bit words in which every input
/// bit affects every output bit.
#[inline(always)]
pub const fn fmix64(mut x: u64) -> u64 {
    x ^= x >> 33;
    x = x.wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    x ^= x >> 33;
    x = x.wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    x ^ (x >> 33)
}

/// The low and the high half of the 128-bit product.
#[inline(always)]
const fn multiply(a: u64, b: u64) -> (u64, u64) {
    let product = (a as u128) * (b as u128);
    (product as u64, (product >> 64) as u64)
}

/// A generator of pseudo-random 64-bit words from a seed (SplitMix64: Steele, Lea, Flood 2014).
#[derive(Debug)]
pub struct SplitMix(u64);

impl SplitMix {
    /// Returns the generator of a seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next word.
    pub const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        fmix64(self.0)
    }

    /// Returns a uniform number below `bound`, which must not be 0.
    ///
    /// The number is the high half of a word times the bound. Words that would make some numbers
    /// more likely than others are rejected (Lemire 2019, "Fast random integer generation in an
    /// interval").
    pub const fn below(&mut self, bound: u64) -> u64 {
        loop {
            let (low, high) = multiply(self.next(), bound);
            if low >= bound || low >= bound.wrapping_neg() % bound {
                return high;
            }
        }
    }
}

/// Hashes the bytes of a shingle under a seed.
///
/// A shingle of up to 8 bytes is one zero-padded word, which is mixed with the length and
/// finalised: distinct shingles of equal length never collide. A shingle of 9 to 16 bytes is two
/// overlapping words, which are mixed by two folded multiplications. A longer shingle is hashed by
/// XXH3-64.
#[derive(Clone, Debug)]
pub struct ShingleHasher {
    seed: u64,
    short: u64,
    low: u64,
    high: u64,
    fold: u64,
}

impl ShingleHasher {
    /// The seed of the hash functions.
    pub(crate) const fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns the hash functions of a seed.
    pub const fn new(seed: u64) -> Self {
        let mut words = SplitMix::new(seed);
        Self {
            seed,
            short: words.next(),
            low: words.next(),
            high: words.next(),
            fold: words.next(),
        }
    }

    /// Returns the hash of a shingle of any length.
    #[inline]
    pub fn hash(&self, shingle: &[u8]) -> u64 {
        match shingle.len() {
            0..=8 => self.short(load_short(shingle), shingle.len()),
            9..=16 => {
                self.medium(load(shingle, 0), load(shingle, shingle.len() - 8), shingle.len())
            }
            _ => xxh3_64_with_seed(shingle, self.seed),
        }
    }

    /// Returns the hash of a shingle of at most 8 bytes, given as a little-endian word that is
    /// padded with zeros.
    #[inline(always)]
    pub const fn short(&self, word: u64, length: usize) -> u64 {
        fmix64(word ^ self.short.wrapping_add((length as u64).wrapping_mul(GOLDEN)))
    }

    /// Returns the hash of a shingle of 9 to 16 bytes, given by its first and its last 8 bytes.
    #[inline(always)]
    pub const fn medium(&self, first: u64, last: u64, length: usize) -> u64 {
        let (a, b) = multiply(first ^ self.low, last ^ self.high);
        let (a, b) = multiply(a ^ self.fold ^ length as u64, b ^ GOLDEN);
        a ^ b
    }

    /// Returns the hash of an occurrence of a shingle in a multiset, from the shingle's hash and
    /// the rank of the occurrence (0 for the first).
    #[inline]
    pub const fn ranked(&self, hash: u64, rank: u32) -> u64 {
        match rank {
            0 => hash,
            _ => fmix64(hash ^ self.fold.wrapping_add((rank as u64).wrapping_mul(GOLDEN))),
        }
    }
}

#[inline(always)]
fn load(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(word)
}

#[inline(always)]
fn load_short(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

/// Returns the XXH3 hash of some bytes, for what nobody gains from making collide.
pub fn xxh3(bytes: &[u8]) -> u64 {
    xxh3_64_with_seed(bytes, 0)
}

/// Returns a key that nobody can guess, from the operating system's source of randomness.
pub(crate) fn random_key() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// The number of bits of an id's hash. Among a million ids, a collision occurs in about every
/// second index and costs the reading of one more record. The other 24 bits of the hash would cost
/// every document 3 bytes.
pub(crate) const ID_BITS: u32 = 40;

/// The hash of an id under the key of the file.
pub(crate) fn id_hash(id: &str, key: u64) -> u64 {
    xxh3_64_with_seed(id.as_bytes(), key) >> (64 - ID_BITS)
}

/// The checksum at the end of a stored record. It depends on `place`, so a record that is stored in
/// the wrong place is detected.
pub(crate) fn checksum(record: &[u8], place: u64) -> u32 {
    xxh3_64_with_seed(record, place) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashing_words_and_hashing_bytes_agree() {
        let hasher = ShingleHasher::new(7);
        let text = b"abcdefghijklmnopqrstuvwxyz";
        for length in 1..=8 {
            let mask = u64::MAX >> (64 - 8 * length);
            assert_eq!(hasher.hash(&text[..length]), hasher.short(load(text, 0) & mask, length));
        }
        for length in 9..=16 {
            assert_eq!(
                hasher.hash(&text[..length]),
                hasher.medium(load(text, 0), load(text, length - 8), length)
            );
        }
    }

    #[test]
    fn occurrences_of_different_rank_have_different_hashes() {
        let hasher = ShingleHasher::new(0);
        let x = hasher.hash(b"abc");
        let mut seen: Vec<u64> = (0..1000).map(|rank| hasher.ranked(x, rank)).collect();
        assert_eq!(seen[0], x);
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 1000);
    }
}
