//! SimHash: one bit for each of many random hyperplanes, which tells on which side of it a set
//! lies.
//!
//! Charikar 2002, "Similarity estimation techniques from rounding algorithms", section 3, with the
//! hyperplanes of Manku, Jain, Das Sarma 2007, "Detecting near-duplicates for web crawling": each
//! coordinate of a hyperplane is +1 or -1, according to a bit of the element's hash.

use twindex::internals::{SplitMix, fmix64};
use twindex::{Error, Result};

/// Real weights are scaled so that the greatest becomes 2 to this power.
const WEIGHT_BITS: i32 = 40;

/// Makes [`SimHash`]es with a chosen number of bits (Charikar 2002, section 3, with the hyperplanes
/// of Manku, Jain, Das Sarma 2007).
///
/// ```
/// use twindex_lab::methods::SimHasher;
/// let hasher = SimHasher::new(512, 0)?;
/// let (a, b): (Vec<u64>, Vec<u64>) = ((0..1000).collect(), (200..1200).collect());
/// let (a, b) = (hasher.of_hashes(&a), hasher.of_hashes(&b));
/// // 800 of 1,000 elements are shared: the cosine is 0.8 and Jaccard's similarity 800 / 1,200.
/// let cosine = a.cosine(&b).expect("neither is empty");
/// assert!(cosine.low < 0.8 && 0.8 < cosine.high);
/// let jaccard = a.similarity(&b, (1000, 1000)).expect("neither is empty");
/// assert!(jaccard.low < 2.0 / 3.0 && 2.0 / 3.0 < jaccard.high);
/// # Ok::<(), twindex::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimHasher {
    /// One key for each 64 bits.
    keys: Box<[u64]>,
}

/// The sides of random hyperplanes on which a set lies: 64 to 1,024 bits (Charikar 2002, section
/// 3).
///
/// Two sets lie on different sides of a random hyperplane with a probability of their angle over π.
/// So the share of different bits estimates the angle and its cosine, which is the cosine
/// similarity. [`similarity`](Self::similarity) derives the Jaccard similarity from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimHash {
    words: Box<[u64]>,
    empty: bool,
}

impl SimHasher {
    /// The most bits.
    pub const MAX_BITS: usize = 1024;

    /// Creates a hasher with a number of bits and a seed. Only SimHashes with the same number of
    /// bits and the same seed can be compared.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`] unless the number of bits is a multiple of 64 from 64 to 1,024.
    pub fn new(bits: usize, seed: u64) -> Result<Self> {
        if !(64..=Self::MAX_BITS).contains(&bits) || !bits.is_multiple_of(64) {
            return Err(Error::InvalidSetting {
                setting: "SimHash bits",
                got: bits.to_string(),
                expected: "a multiple of 64 from 64 to 1024",
            });
        }
        let mut random = SplitMix::new(seed);
        Ok(Self { keys: (0..bits / 64).map(|_| random.next()).collect() })
    }

    /// The number of bits.
    pub fn bits(&self) -> usize {
        64 * self.keys.len()
    }

    /// The SimHash of a multiset, given by 64-bit hashes of its elements in any order. The weight
    /// of an element is its number of occurrences; for a set, give each element once. Takes some 5
    /// ns for each element and 64 bits.
    pub fn of_hashes(&self, hashes: &[u64]) -> SimHash {
        self.of_iter(|| hashes.iter().map(|hash| (*hash, 1)))
    }

    /// The SimHash of elements with counts, in any order. Counts of equal elements are added; a
    /// count of 0 means absence. The cost of a count is proportional to its number of binary ones.
    pub fn of_counts(&self, counts: &[(u64, u64)]) -> SimHash {
        self.of_iter(|| counts.iter().copied())
    }

    /// The SimHash of the counts that the function returns at each call.
    fn of_iter<I: Iterator<Item = (u64, u64)>>(&self, counts: impl Fn() -> I) -> SimHash {
        let present = || counts().filter(|(_, count)| *count > 0);
        // A sum of 0 is on neither side. The sign of the element with the least hash then decides.
        let Some(tip) = present().map(|(hash, _)| hash).min() else {
            return SimHash { words: self.keys.iter().map(|_| 0).collect(), empty: true };
        };
        let total = present().map(|(_, count)| u128::from(count)).sum();
        let words = self.keys.iter().map(|key| {
            let mut positive = BitSums::default();
            for (hash, count) in present() {
                positive.add(fmix64(hash ^ key), count);
            }
            positive.majority(total, fmix64(tip ^ key))
        });
        SimHash { words: words.collect(), empty: false }
    }

    /// The SimHash of a weighted set, given by elements with finite weights of at least 0, as
    /// [`Shingler::weights`](twindex::Shingler::weights) returns them.
    ///
    /// Weights are rounded to multiples of 2⁻⁴⁰ of the greatest weight, so that sums depend neither
    /// on the order nor on the platform. Weights below half a unit are ignored. Multiplying all
    /// weights by a power of two changes no bit.
    pub fn of_weights(&self, weights: &[(u64, f64)]) -> SimHash {
        let greatest = weights.iter().fold(0.0, |greatest: f64, x| greatest.max(x.1));
        let unit = 2.0_f64.powi(WEIGHT_BITS);
        let count = |weight: f64| (weight / greatest * unit).round() as u64;
        self.of_iter(|| weights.iter().map(|&(hash, weight)| (hash, count(weight))))
    }
}

impl SimHash {
    /// The number of bits.
    pub fn bits(&self) -> usize {
        64 * self.words.len()
    }

    /// The bits, 64 in each word.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Whether this is the SimHash of the empty set, which lies on no side and is similar to
    /// nothing.
    pub fn is_empty(&self) -> bool {
        self.empty
    }

    /// The number of different bits. `None` if a set is empty or the numbers of bits differ. Takes
    /// a few nanoseconds.
    pub fn distance(&self, other: &SimHash) -> Option<u32> {
        let comparable = !self.empty && !other.empty && self.words.len() == other.words.len();
        let pairs = self.words.iter().zip(&other.words);
        comparable.then(|| pairs.map(|(a, b)| (a ^ b).count_ones()).sum())
    }
}

/// 64 sums in a transposed layout: bit i of row r is bit r of the i-th sum. A word of 64 bits is
/// added to the 64 sums by a few operations on whole words.
#[derive(Default)]
struct BitSums(Vec<u64>);

impl BitSums {
    /// Adds `count` to each sum whose bit is set in `ones`.
    fn add(&mut self, ones: u64, count: u64) {
        let mut rest = count;
        while rest != 0 {
            let mut row = rest.trailing_zeros() as usize;
            let mut carry = ones;
            while carry != 0 {
                if row >= self.0.len() {
                    self.0.resize(row + 1, 0);
                }
                let kept = self.0[row];
                self.0[row] = kept ^ carry;
                carry &= kept;
                row += 1;
            }
            rest &= rest - 1;
        }
    }

    /// A word with a bit for each sum: 1 if the sum is more than half the total, the bit of `ties`
    /// if it is exactly half.
    fn majority(&self, total: u128, ties: u64) -> u64 {
        (0..64).fold(0, |word, bit| {
            let rows = self.0.iter().enumerate();
            let sum: u128 = rows.map(|(row, ones)| u128::from(ones >> bit & 1) << row).sum();
            let positive = match (2 * sum).cmp(&total) {
                std::cmp::Ordering::Less => 0,
                std::cmp::Ordering::Equal => ties >> bit & 1,
                std::cmp::Ordering::Greater => 1,
            };
            word | positive << bit
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn hasher(bits: usize, seed: u64) -> SimHasher {
        SimHasher::new(bits, seed).expect("a valid number of bits")
    }

    proptest! {
        #[test]
        fn each_bit_is_the_sign_of_a_sum_of_signs(
            counts in proptest::collection::btree_map(any::<u64>(), 0_u64..1 << 40, 1..40),
            seed in any::<u64>(),
        ) {
            let hasher = hasher(128, seed);
            let listed: Vec<(u64, u64)> = counts.clone().into_iter().collect();
            let got = hasher.of_counts(&listed);
            for (key, word) in hasher.keys.iter().zip(got.words()) {
                for bit in 0..64 {
                    let sum: i128 = counts.iter().map(|(hash, count)| {
                        let sign = if fmix64(hash ^ key) >> bit & 1 == 1 { 1 } else { -1 };
                        sign * i128::from(*count)
                    }).sum();
                    prop_assert!(sum == 0 || (word >> bit & 1 == 1) == (sum > 0), "{sum}");
                }
            }
        }

        #[test]
        fn neither_order_nor_a_common_power_of_two_changes_a_bit(
            weights in proptest::collection::btree_map(any::<u64>(), 1e-9..1e9_f64, 1..30),
        ) {
            let hasher = hasher(64, 3);
            let weights: Vec<(u64, f64)> = weights.into_iter().collect();
            let of = |factor: f64| -> Vec<(u64, f64)> {
                weights.iter().rev().map(|(hash, weight)| (*hash, weight * factor)).collect()
            };
            for factor in [0.25, 1.0, 2.0_f64.powi(300)] {
                prop_assert_eq!(hasher.of_weights(&of(factor)), hasher.of_weights(&weights));
            }
        }
    }

    #[test]
    fn one_element_has_the_bits_of_its_hash_and_outweighs_lighter_ones() {
        let hasher = hasher(1024, 9);
        let one = hasher.of_hashes(&[77]);
        let bits: Vec<u64> = hasher.keys.iter().map(|key| fmix64(77 ^ key)).collect();
        assert_eq!(one.words(), bits);
        assert_eq!(hasher.of_weights(&[(77, 1.5), (3, 0.7), (4, 0.7)]), one);
        assert_eq!(hasher.of_counts(&[(77, 3), (3, 1), (4, 1)]), one);
        assert_eq!(hasher.of_hashes(&[77, 3, 77, 77, 4]), one);
    }

    #[test]
    fn ties_are_broken_the_same_way_in_every_order() {
        let hasher = hasher(256, 0);
        // For half of the bits the sum of the two signs is 0.
        assert_eq!(hasher.of_hashes(&[5, 9]), hasher.of_hashes(&[9, 5]));
        assert_eq!(hasher.of_hashes(&[5, 9]).distance(&hasher.of_hashes(&[5])), Some(0));
    }

    #[test]
    fn the_empty_set_has_no_distance() {
        let (hasher, wider) = (hasher(64, 0), hasher(128, 0));
        let (empty, one) = (hasher.of_hashes(&[]), hasher.of_hashes(&[1]));
        assert!(empty.is_empty() && !one.is_empty());
        assert_eq!(hasher.of_weights(&[(1, 0.0)]), empty);
        assert_eq!(
            (empty.distance(&one), one.distance(&empty), empty.distance(&empty)),
            (None, None, None)
        );
        assert_eq!(one.distance(&wider.of_hashes(&[1])), None);
        assert_eq!(one.distance(&one), Some(0));
    }

    #[test]
    fn numbers_of_bits_out_of_range_are_refused() {
        for bad in [0, 1, 63, 65, 100, 1088, usize::MAX] {
            assert!(SimHasher::new(bad, 0).is_err(), "{bad}");
        }
        assert_eq!(hasher(1024, 0).bits(), 1024);
    }
}
