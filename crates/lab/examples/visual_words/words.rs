//! The codebook: bits become the number of the nearest entry, their visual word.

use crate::features::Bits;
use rayon::prelude::*;
use std::collections::BTreeSet;

/// The number of times entries are moved to the middle of what is nearest to them.
const ROUNDS: usize = 6;

/// Bit patterns that stand for all that are nearer to them than to others.
pub(crate) struct Codebook(Vec<Bits>);

impl Codebook {
    /// At most `count` entries, by k-medians under Hamming distance: the middle of patterns has in
    /// each place the bit that most of them have.
    pub(crate) fn of(mut patterns: Vec<Bits>, count: usize, seed: u64) -> Self {
        fastrand::Rng::with_seed(seed).shuffle(&mut patterns);
        let mut book = Self(patterns.iter().take(count).copied().collect());
        for _ in 0..ROUNDS {
            let nearest: Vec<usize> = patterns.par_iter().map(|bits| book.nearest(bits)).collect();
            let mut sums = vec![([0_u32; 256], 0_u32); book.0.len()];
            for (bits, word) in patterns.iter().zip(nearest) {
                let (ones, members) = &mut sums[word];
                *members += 1;
                for (place, sum) in ones.iter_mut().enumerate() {
                    *sum += (bits[place / 64] >> (place % 64)) as u32 & 1;
                }
            }
            for (entry, (ones, members)) in book.0.iter_mut().zip(sums) {
                if members > 0 {
                    *entry = [0; 4];
                    for (place, sum) in ones.iter().enumerate() {
                        entry[place / 64] |= u64::from(2 * sum > members) << (place % 64);
                    }
                }
            }
        }
        book
    }

    /// The number of the nearest entry; of equally near ones, the first.
    fn nearest(&self, bits: &Bits) -> usize {
        let distance =
            |entry: &Bits| entry.iter().zip(bits).map(|(a, b)| (a ^ b).count_ones()).sum::<u32>();
        let entries = self.0.iter().enumerate();
        entries.min_by_key(|(_, entry)| distance(entry)).map_or(0, |(word, _)| word)
    }

    /// The words of a picture.
    pub(crate) fn words(&self, patterns: &[Bits]) -> BTreeSet<u32> {
        patterns.iter().map(|bits| self.nearest(bits) as u32).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_that_differ_little_have_the_same_word() {
        let mut random = fastrand::Rng::with_seed(5);
        let centres: Vec<Bits> = (0..10).map(|_| [(); 4].map(|()| random.u64(..))).collect();
        let near = |centre: &Bits, random: &mut fastrand::Rng| {
            let mut bits = *centre;
            (0..10).for_each(|_| bits[random.usize(..4)] ^= 1 << random.u32(..64));
            bits
        };
        let patterns = centres.iter().flat_map(|centre| [(); 30].map(|()| *centre)).collect();
        let book = Codebook::of(patterns, 200, 1);
        for centre in &centres {
            let word = book.nearest(centre);
            assert!((0..20).all(|_| book.nearest(&near(centre, &mut random)) == word));
        }
    }
}
