//! MinHash with k hash functions: the least value of a set under each function.

use super::families::{
    Family, HashFunction, Jenkins, Modular, Multiplicative, Murmur3, Polynomial, Prime,
    PrintedModular, RowModular, Tabulation, Xxh3,
};
use twindex::MAX_LANES;
use twindex::internals::{LaneHasher, LaneTable};
use twindex::internals::{SplitMix, fmix64};
use twindex::{Error, Result};

/// The least value of the keys under each function; `None` if there are no keys. All families use
/// this loop, compiled for each of them. It calls each function once for each key.
///
/// ```
/// use twindex_lab::methods::{HashFunction, Xxh3, minima};
/// let functions = [Xxh3::new(1), Xxh3::new(2)];
/// let least = minima(&functions, &[3, 4, 3]).expect("keys");
/// assert_eq!(least[1], functions[1].hash(3).min(functions[1].hash(4)));
/// assert_eq!(minima(&functions, &[]), None);
/// ```
pub fn minima<F: HashFunction>(functions: &[F], keys: &[u64]) -> Option<Vec<u64>> {
    functions.iter().map(|function| keys.iter().map(|key| function.hash(*key)).min()).collect()
}

/// Textbook MinHash (Broder 1997). k hash functions of a [family](Family) give a set a signature of
/// k least values. The share of equal components estimates the similarity of two sets.
///
/// The estimate of J has the standard error sqrt(J (1 - J) / k) if the family is unbiased for the
/// keys. A signature takes k hash values for each key; [`Family::Default`] takes a few nanoseconds
/// for each key whatever k is. Keys are any 64-bit numbers, such as hashes of shingles or row
/// numbers.
///
/// ```
/// use twindex_lab::methods::{Family, MinHash};
/// let functions = MinHash::new(Family::Murmur3, 200, 1)?;
/// let a = functions.signature(&Vec::from_iter(0..80)).expect("not empty");
/// let b = functions.signature(&Vec::from_iter(20..100)).expect("not empty");
/// let estimate = MinHash::similarity(&a, &b);
/// assert!((estimate - 0.6).abs() < 0.14, "{estimate}");
/// assert_eq!(functions.signature(&[]), None);
/// # Ok::<(), twindex::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct MinHash {
    functions: FamilyFunctions,
    count: usize,
}

/// The functions by family, so that each family has its own inner loop.
#[derive(Clone, Debug)]
enum FamilyFunctions {
    Modular(Vec<Modular>),
    Polynomial(Vec<Polynomial>),
    Rows(Vec<RowModular>),
    Printed(Vec<PrintedModular>),
    Jenkins(Vec<Jenkins>),
    Multiplicative(Vec<Multiplicative>),
    Murmur3(Vec<Murmur3>),
    Tabulation(Vec<Tabulation>),
    Xxh3(Vec<Xxh3>),
    Default(Vec<IndexSketch>),
}

/// The sketch of an index, for keys that need not be hashes.
#[derive(Clone, Debug)]
struct IndexSketch {
    hasher: LaneHasher,
    /// The sketch needs well-mixed hashes. An index hashes shingles under its seed; here the keys
    /// are mixed with this word.
    salt: u64,
}

impl MinHash {
    /// The most functions. With tabulation hashing, so many take 64 MiB of tables.
    pub const MOST_FUNCTIONS: usize = 4096;

    /// Draws `count` functions of a family from a seed. With the same seed, a smaller number of
    /// functions is a prefix of a greater one, except for [`Family::Default`].
    ///
    /// The default sketch has 64, 128, 256 or 512 lanes. For other numbers, the components are the
    /// first lanes of the next greater sketch, at the cost of that sketch. Above 512, several
    /// sketches are combined.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`] unless `count` is between 1 and
    /// [`MOST_FUNCTIONS`](Self::MOST_FUNCTIONS).
    pub fn new(family: Family, count: usize, seed: u64) -> Result<Self> {
        let seeds = seeds(count, seed)?;
        Ok(Self::made(
            count,
            match family {
                Family::Modular => FamilyFunctions::Modular(seeds.map(Modular::new).collect()),
                Family::Polynomial(independence) => {
                    let drawn = seeds.map(|seed| Polynomial::new(independence, seed));
                    FamilyFunctions::Polynomial(drawn.collect())
                }
                Family::Jenkins => FamilyFunctions::Jenkins(seeds.map(Jenkins::new).collect()),
                Family::Multiplicative => {
                    FamilyFunctions::Multiplicative(seeds.map(Multiplicative::new).collect())
                }
                Family::Murmur3 => FamilyFunctions::Murmur3(seeds.map(Murmur3::new).collect()),
                Family::Tabulation => {
                    FamilyFunctions::Tabulation(seeds.map(Tabulation::new).collect())
                }
                Family::Xxh3 => FamilyFunctions::Xxh3(seeds.map(Xxh3::new).collect()),
                Family::Default => {
                    let widths = widths(count).into_iter().zip(seeds);
                    FamilyFunctions::Default(
                        widths
                            .map(|(lanes, seed)| IndexSketch::new(lanes, seed))
                            .collect::<Result<_>>()?,
                    )
                }
            },
        ))
    }

    /// Draws `count` functions (a x + b) mod p, where p is the least prime that is not below the
    /// number of rows: the modular family for row numbers ([`RowModular`]).
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`] if there are more rows than [`Prime::MAX`], or if
    /// [`new`](Self::new) would refuse the number of functions.
    pub fn of_rows(rows: u64, count: usize, seed: u64) -> Result<Self> {
        let prime = Prime::at_least(rows)?;
        let functions = seeds(count, seed)?.map(|seed| RowModular::new(prime, seed));
        Ok(Self::made(count, FamilyFunctions::Rows(functions.collect())))
    }

    /// Draws `count` functions (k p + m) mod z as printed, where z is the number of rows
    /// ([`PrintedModular`]). For comparison only.
    ///
    /// # Errors
    ///
    /// Those of [`of_rows`](Self::of_rows), and [`Error::InvalidSetting`] for no rows.
    pub fn as_printed(rows: u64, count: usize, seed: u64) -> Result<Self> {
        let functions = seeds(count, seed)?.map(|seed| PrintedModular::new(rows, seed));
        Ok(Self::made(count, FamilyFunctions::Printed(functions.collect::<Result<_>>()?)))
    }

    fn made(count: usize, functions: FamilyFunctions) -> Self {
        Self { functions, count }
    }

    /// The number of functions, k.
    pub const fn functions(&self) -> usize {
        self.count
    }

    /// The least value of the keys under each function. Keys may come in any order and be repeated.
    /// `None` if there are no keys: the empty set is similar to nothing.
    pub fn signature(&self, keys: &[u64]) -> Option<Vec<u64>> {
        match &self.functions {
            FamilyFunctions::Modular(functions) => minima(functions, keys),
            FamilyFunctions::Polynomial(functions) => minima(functions, keys),
            FamilyFunctions::Rows(functions) => minima(functions, keys),
            FamilyFunctions::Printed(functions) => minima(functions, keys),
            FamilyFunctions::Jenkins(functions) => minima(functions, keys),
            FamilyFunctions::Multiplicative(functions) => minima(functions, keys),
            FamilyFunctions::Murmur3(functions) => minima(functions, keys),
            FamilyFunctions::Tabulation(functions) => minima(functions, keys),
            FamilyFunctions::Xxh3(functions) => minima(functions, keys),
            FamilyFunctions::Default(_) if keys.is_empty() => None,
            FamilyFunctions::Default(sketches) => {
                let lanes = sketches.iter().flat_map(|sketch| sketch.lanes_of(keys));
                Some(lanes.take(self.count).collect())
            }
        }
    }

    /// Estimates the similarity of two sets by the share of equal components of their signatures,
    /// which must come from the same functions.
    ///
    /// # Panics
    ///
    /// If the signatures have different lengths or are empty.
    pub fn similarity(a: &[u64], b: &[u64]) -> f64 {
        assert!(a.len() == b.len() && !a.is_empty(), "{} and {} components", a.len(), b.len());
        a.iter().zip(b).filter(|(x, y)| x == y).count() as f64 / a.len() as f64
    }
}

/// The seeds of `count` functions.
fn seeds(count: usize, seed: u64) -> Result<impl Iterator<Item = u64>> {
    if !(1..=MinHash::MOST_FUNCTIONS).contains(&count) {
        return Err(Error::InvalidSetting {
            setting: "hash functions",
            got: count.to_string(),
            expected: "a whole number from 1 to 4096",
        });
    }
    // The mixing separates these words from those that start from the seed itself.
    let mut words = SplitMix::new(fmix64(!seed));
    Ok((0..count).map(move |_| words.next()))
}

/// The numbers of lanes of the sketches that together have at least `count` lanes.
fn widths(count: usize) -> Vec<usize> {
    let mut left = count;
    let mut widths = Vec::new();
    while left > 0 {
        let wide = left.next_power_of_two().clamp(64, MAX_LANES);
        widths.push(wide);
        left = left.saturating_sub(wide);
    }
    widths
}

impl IndexSketch {
    fn new(lanes: usize, seed: u64) -> Result<Self> {
        let mut words = SplitMix::new(seed);
        Ok(Self { hasher: LaneHasher::new(lanes, words.next())?, salt: words.next() })
    }

    /// The lanes of the keys; there must be at least one key.
    fn lanes_of(&self, keys: &[u64]) -> Vec<u64> {
        // Keys are mixed in blocks that fit the processor's nearest cache.
        const BLOCK: usize = 512;
        let mut mixed = [0; BLOCK];
        let mut visit = |sink: &mut dyn FnMut(&[u64])| {
            for block in keys.chunks(BLOCK) {
                let mixed = &mut mixed[..block.len()];
                mixed.iter_mut().zip(block).for_each(|(to, key)| *to = fmix64(key ^ self.salt));
                sink(mixed);
            }
        };
        let mut table = LaneTable::new();
        visit(&mut |hashes| table.first_round(&self.hasher, hashes));
        table.finish(&self.hasher, visit);
        table.values(self.hasher.lanes()).iter().map(|lane| u64::from(*lane)).collect()
    }
}

#[cfg(test)]
#[path = "minhash_tests.rs"]
mod tests;
