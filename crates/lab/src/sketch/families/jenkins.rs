//! Robert Jenkins' mix of 96 bits.

use super::HashFunction;
use twindex::internals::SplitMix;

/// Mixes three words reversibly, so that every bit of each word affects every bit of the last: nine
/// steps of two subtractions, a shift and an exclusive or (R. Jenkins, "Hash functions", 1997,
/// public domain).
///
/// ```
/// assert_eq!(twindex_lab::methods::jenkins_mix(0, 0, 0), [0, 0, 0]);
/// assert_ne!(twindex_lab::methods::jenkins_mix(0, 0, 1)[2], 1);
/// ```
#[inline(always)]
pub const fn jenkins_mix(mut a: u32, mut b: u32, mut c: u32) -> [u32; 3] {
    a = a.wrapping_sub(b).wrapping_sub(c) ^ (c >> 13);
    b = b.wrapping_sub(c).wrapping_sub(a) ^ (a << 8);
    c = c.wrapping_sub(a).wrapping_sub(b) ^ (b >> 13);
    a = a.wrapping_sub(b).wrapping_sub(c) ^ (c >> 12);
    b = b.wrapping_sub(c).wrapping_sub(a) ^ (a << 16);
    c = c.wrapping_sub(a).wrapping_sub(b) ^ (b >> 5);
    a = a.wrapping_sub(b).wrapping_sub(c) ^ (c >> 3);
    b = b.wrapping_sub(c).wrapping_sub(a) ^ (a << 10);
    c = c.wrapping_sub(a).wrapping_sub(b) ^ (b >> 15);
    [a, b, c]
}

/// A function of the family of [`jenkins_mix`]. Two random words define the function, and the key
/// is the third word (Vilaseca, Lacasa, Martín 2018, section 4.2.2: `mix(p, m, key)`). The value is
/// the last of the mixed words, 32 bits.
///
/// The low half of a 64-bit key is the third word, and its high half is added to the second word.
/// Keys below 2^32, such as row numbers, are mixed as printed.
///
/// ```
/// use twindex_lab::methods::{HashFunction, Jenkins, jenkins_mix};
/// let function = Jenkins::of_words(5, 7);
/// assert_eq!(function.hash(11), u64::from(jenkins_mix(5, 7, 11)[2]));
/// assert_eq!(function.hash((3 << 32) + 11), u64::from(jenkins_mix(5, 7 + 3, 11)[2]));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Jenkins {
    first: u32,
    second: u32,
}

impl Jenkins {
    /// The function of a seed.
    pub fn new(seed: u64) -> Self {
        let word = SplitMix::new(seed).next();
        Self::of_words((word >> 32) as u32, word as u32)
    }

    /// The function of two words.
    pub const fn of_words(first: u32, second: u32) -> Self {
        Self { first, second }
    }
}

impl HashFunction for Jenkins {
    #[inline(always)]
    fn hash(&self, key: u64) -> u64 {
        let second = self.second.wrapping_add((key >> 32) as u32);
        let [_, _, last] = jenkins_mix(self.first, second, key as u32);
        last.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of the macro as its author published it, compiled from C.
    #[test]
    fn the_mix_is_that_of_the_published_macro() {
        for (words, expected) in [
            ([0x0000_0000, 0x0000_0000, 0x0000_0000], [0x0000_0000, 0x0000_0000, 0x0000_0000]),
            ([0x0000_0001, 0x0000_0002, 0x0000_0003], [0x072C_6345, 0x4172_9D0B, 0xB7B4_8902]),
            ([0x9E37_79B9, 0x9E37_79B9, 0x0000_0000], [0x9B2E_C03D, 0xDB2B_69AE, 0xBD49_D10D]),
            ([0xFFFF_FFFF, 0x1234_5678, 0xDEAD_BEEF], [0xFFF4_8655, 0xBB60_A859, 0xB6E3_43D4]),
        ] {
            assert_eq!(jenkins_mix(words[0], words[1], words[2]), expected, "{words:x?}");
        }
    }

    /// In a good mix, each bit of the key flips half of the 32 bits.
    #[test]
    fn every_bit_of_a_key_reaches_the_value() {
        let (function, mut keys) = (Jenkins::new(3), SplitMix::new(4));
        let keys: Vec<u64> = (0..400).map(|_| keys.next()).collect();
        for bit in 0..64 {
            let turned =
                |key: &u64| (function.hash(*key) ^ function.hash(key ^ (1 << bit))).count_ones();
            let mean = f64::from(keys.iter().map(turned).sum::<u32>()) / keys.len() as f64;
            assert!((12.0..20.0).contains(&mean), "bit {bit} flips {mean} of 32");
        }
    }
}
