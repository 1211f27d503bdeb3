//! Simple tabulation hashing.

use super::HashFunction;
use twindex::internals::SplitMix;

/// The exclusive or of 8 random words, one for each byte of the key, from 8 tables of 256 words
/// (Zobrist 1970; Pătraşcu, Thorup 2012, "The power of simple tabulation hashing"). Values of three
/// keys are independent, those of four are not. The relative bias of a minimum of n keys of 8 bytes
/// is at most O(log^2 n / n^(1/8)).
///
/// A function takes 16 KiB of tables, which should fit the processor's cache.
///
/// ```
/// use twindex_lab::methods::{HashFunction, Tabulation};
/// let function = Tabulation::new(0);
/// // Four keys that differ in two bytes cancel out, so their values are not independent.
/// let all = [0x0000, 0x0001, 0x0100, 0x0101].map(|key| function.hash(key));
/// assert_eq!(all.into_iter().fold(0, |sum, word| sum ^ word), 0);
/// ```
#[derive(Clone, Debug)]
pub struct Tabulation {
    tables: Box<[[u64; 256]; 8]>,
}

impl Tabulation {
    /// The function of a seed.
    pub fn new(seed: u64) -> Self {
        let mut words = SplitMix::new(seed);
        let mut tables = Box::new([[0; 256]; 8]);
        tables.iter_mut().flatten().for_each(|word| *word = words.next());
        Self { tables }
    }
}

impl HashFunction for Tabulation {
    #[inline(always)]
    fn hash(&self, key: u64) -> u64 {
        let bytes = key.to_le_bytes().into_iter();
        self.tables.iter().zip(bytes).fold(0, |sum, (table, byte)| sum ^ table[usize::from(byte)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_a_table_of_its_own() {
        let function = Tabulation::new(5);
        let mut words = SplitMix::new(5);
        let drawn: Vec<u64> = (0..2_048).map(|_| words.next()).collect();
        let key = 0x0807_0605_0403_0201_u64;
        let expected = (0..8).fold(0, |sum, byte| sum ^ drawn[256 * byte + byte + 1]);
        assert_eq!(function.hash(key), expected);
    }
}
