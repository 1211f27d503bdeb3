//! XXH3 of 64 bits.

use super::HashFunction;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// XXH3-64 of the key's 8 bytes in little-endian order (Y. Collet, xxHash 0.8). The seed defines
/// the function, which is a permutation of all keys.
///
/// ```
/// use twindex_lab::methods::{HashFunction, Xxh3};
/// assert_ne!(Xxh3::new(0).hash(1), Xxh3::new(0).hash(2));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Xxh3 {
    seed: u64,
}

impl Xxh3 {
    /// The function of a seed.
    pub const fn new(seed: u64) -> Self {
        Self { seed }
    }
}

impl HashFunction for Xxh3 {
    #[inline(always)]
    fn hash(&self, key: u64) -> u64 {
        xxh3_64_with_seed(&key.to_le_bytes(), self.seed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use twindex::internals::xxh3;

    /// Golden values pin the hash of texts, which is XXH3-64 with seed 0.
    #[test]
    fn it_is_the_hash_of_the_bytes_that_the_file_format_pins() {
        for key in [0, 1, 0x6162_6364_6566_6768, u64::MAX] {
            assert_eq!(Xxh3::new(0).hash(key), xxh3(&u64::to_le_bytes(key)));
            assert_ne!(Xxh3::new(1).hash(key), Xxh3::new(0).hash(key));
        }
    }
}
