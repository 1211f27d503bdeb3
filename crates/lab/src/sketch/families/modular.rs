//! Modular hashing: (a x + b) mod p.

use super::{HashFunction, Prime};
use twindex::internals::SplitMix;
use twindex::{Error, Result};

/// A random number below the bound. The bias is less than bound / 2^64.
fn below(bound: u64, words: &mut SplitMix) -> u64 {
    ((u128::from(words.next()) * u128::from(bound)) >> 64) as u64
}

/// The function (a x + b) mod 2^61 - 1, with a from 1 to p - 1 and b from 0 to p - 1 (Carter,
/// Wegman 1979, "Universal classes of hash functions").
///
/// Keys below p are permuted. Greater keys are first reduced modulo p, so up to 9 keys have the
/// same value. Values of two keys are independent, those of three are not. The family is unbiased
/// on random keys, such as hashes. On neighbouring rows it is biased: rows at both ends have the
/// least value more often than rows in the middle.
///
/// ```
/// use twindex_lab::methods::{HashFunction, Modular};
/// let function = Modular::of_numbers(3, 4);
/// assert_eq!(function.hash(5), 19);
/// assert_eq!(function.hash(Modular::PRIME), 4);
/// assert_eq!(function.hash(Modular::PRIME - 1), 1);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Modular {
    factor: u64,
    addend: u64,
}

impl Modular {
    /// The modulus, a Mersenne prime. The remainder takes a shift and an addition instead of a
    /// division.
    pub const PRIME: u64 = (1 << 61) - 1;

    /// The function of a seed.
    pub fn new(seed: u64) -> Self {
        let mut words = SplitMix::new(seed);
        let factor = 1 + below(Self::PRIME - 1, &mut words);
        Self { factor, addend: below(Self::PRIME, &mut words) }
    }

    /// The function (a x + b) mod p, with a and b reduced modulo p.
    pub const fn of_numbers(a: u64, b: u64) -> Self {
        Self { factor: a % Self::PRIME, addend: b % Self::PRIME }
    }

    /// The remainder of a key. 2^61 is 1 modulo p, so the bits above the low 61 are added as they
    /// are.
    #[inline(always)]
    pub(super) const fn reduced(key: u64) -> u64 {
        Self::folded((key & Self::PRIME) + (key >> 61))
    }

    /// (a x + b) mod p for numbers below p.
    #[inline(always)]
    pub(super) const fn value(a: u64, x: u64, b: u64) -> u64 {
        let sum = a as u128 * x as u128 + b as u128;
        Self::folded((sum as u64 & Self::PRIME) + (sum >> 61) as u64)
    }

    /// Reduces a number below 2^62 modulo p.
    #[inline(always)]
    const fn folded(number: u64) -> u64 {
        if number >= Self::PRIME { number - Self::PRIME } else { number }
    }
}

impl HashFunction for Modular {
    #[inline(always)]
    fn hash(&self, key: u64) -> u64 {
        Self::value(self.factor, Self::reduced(key), self.addend)
    }
}

/// The function (a x + b) mod p for row numbers x, where p is the least prime that is not below the
/// number of rows, a is from 1 to p - 1 and b from 0 to p - 1 (Bergillos, Rambla, Cabeza 2018,
/// section 6.1).
///
/// It permutes the rows among p values. If two sets together have all p rows, every row has the
/// least value equally often. Otherwise it is biased like [`Modular`].
///
/// ```
/// use twindex_lab::methods::{HashFunction, Prime, RowModular};
/// let function = RowModular::of_numbers(Prime::at_least(10)?, 3, 4);
/// let mut places: Vec<u64> = (0..11).map(|row| function.hash(row)).collect();
/// places.sort();
/// assert_eq!(places, Vec::from_iter(0..11));
/// # Ok::<(), twindex::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct RowModular {
    prime: u64,
    factor: u64,
    addend: u64,
}

impl RowModular {
    /// The function of a seed.
    pub fn new(prime: Prime, seed: u64) -> Self {
        let (p, mut words) = (u64::from(prime.get()), SplitMix::new(seed));
        let factor = 1 + below(p - 1, &mut words);
        Self { prime: p, factor, addend: below(p, &mut words) }
    }

    /// The function (a x + b) mod p, with a and b reduced modulo p.
    pub fn of_numbers(prime: Prime, a: u32, b: u32) -> Self {
        let p = u64::from(prime.get());
        Self { prime: p, factor: u64::from(a) % p, addend: u64::from(b) % p }
    }
}

impl HashFunction for RowModular {
    #[inline(always)]
    fn hash(&self, key: u64) -> u64 {
        // A row is usually below p, which saves a division. All numbers are below 2^32, so (p -
        // 1)^2 + p - 1 is below 2^64.
        let row = if key < self.prime { key } else { key % self.prime };
        (self.factor * row + self.addend) % self.prime
    }
}

/// The function (k p + m) mod z as printed in Vilaseca, Lacasa, Martín 2018, section 4.2.2: k is
/// the row, p a prime, m a random number below z, and z the number of shingles. It is only for the
/// studies; use [`RowModular`] instead.
///
/// In general z is not prime. If p divides z, there are only z / p values for z rows: p rows share
/// each value, and the map is not a permutation. The source does not say how to choose p. Here each
/// function takes the least prime from a random number below z on, but never z itself, which would
/// map all rows to one value.
///
/// ```
/// use twindex_lab::methods::{HashFunction, Prime, PrintedModular};
/// let function = PrintedModular::of_numbers(Prime::at_least(3)?, 1, 6)?;
/// let values: Vec<u64> = (0..6).map(|row| function.hash(row)).collect();
/// assert_eq!(values, [1, 4, 1, 4, 1, 4]);
/// # Ok::<(), twindex::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct PrintedModular {
    prime: u64,
    addend: u64,
    rows: u64,
}

impl PrintedModular {
    /// The function of a seed for a number of rows.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`](twindex::Error::InvalidSetting) if there are no rows, or more than
    /// [`Prime::MAX`].
    pub fn new(rows: u64, seed: u64) -> Result<Self> {
        Self::check(rows)?;
        let mut words = SplitMix::new(seed);
        // For z = 2 there is no smaller prime.
        let mut drawn = || Prime::at_least(if rows == 2 { 3 } else { below(rows, &mut words) });
        let mut prime = drawn()?;
        // The result is z for the numbers between the previous prime and z, which are at most 3 in
        // 11.
        while u64::from(prime.get()) == rows {
            prime = drawn()?;
        }
        Self::of_numbers(prime, below(rows, &mut words), rows)
    }

    /// The function (k p + m) mod z for these numbers p, m, z.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`](twindex::Error::InvalidSetting) unless z is between 1 and
    /// [`Prime::MAX`].
    pub fn of_numbers(prime: Prime, addend: u64, rows: u64) -> Result<Self> {
        Self::check(rows)?;
        Ok(Self { prime: u64::from(prime.get()) % rows, addend: addend % rows, rows })
    }

    fn check(rows: u64) -> Result<()> {
        if (1..=u64::from(Prime::MAX.get())).contains(&rows) {
            return Ok(());
        }
        Err(Error::InvalidSetting {
            setting: "rows",
            got: rows.to_string(),
            expected: "a whole number from 1 to 4294967291",
        })
    }
}

impl HashFunction for PrintedModular {
    #[inline(always)]
    fn hash(&self, key: u64) -> u64 {
        let row = if key < self.rows { key } else { key % self.rows };
        (row * self.prime + self.addend) % self.rows
    }
}

#[cfg(test)]
#[path = "modular_tests.rs"]
mod tests;
