//! MinHash with k hash functions: of each, the least value of a set.

use super::families::{
    Family, HashFunction, Jenkins, Modular, Multiplicative, Murmur3, Prime, PrintedModular,
    RowModular, Tabulation, Xxh3,
};
use twindex::MAX_LANES;
use twindex::internals::{LaneHasher, LaneTable};
use twindex::internals::{SplitMix, fmix64};
use twindex::{Error, Result};

/// The least value of the keys under each of the functions: the loop of all families, compiled for each
/// of them. `None` for no keys. Takes a call of each function for each key.
///
/// ```
/// use twindex::methods::{HashFunction, Xxh3, minima};
/// let functions = [Xxh3::new(1), Xxh3::new(2)];
/// let least = minima(&functions, &[3, 4, 3]).expect("keys");
/// assert_eq!(least[1], functions[1].hash(3).min(functions[1].hash(4)));
/// assert_eq!(minima(&functions, &[]), None);
/// ```
pub fn minima<F: HashFunction>(functions: &[F], keys: &[u64]) -> Option<Vec<u64>> {
    functions.iter().map(|function| keys.iter().map(|key| function.hash(*key)).min()).collect()
}

/// MinHash as it is taught: k hash functions of a [family](Family), a signature of the k least values
/// of a set, and the share of equal components as the estimate of the similarity of two sets (Broder
/// 1997).
///
/// The estimate of J has the standard error sqrt(J (1 - J) / k) where the family serves. A signature
/// takes k values for each key, so that the time is the product of both; [`Family::Default`] takes a
/// few nanoseconds a key whatever k is. Keys are any 64-bit numbers: hashes of shingles, or numbers of
/// rows.
///
/// ```
/// use twindex::methods::{Family, MinHash};
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
    functions: Functions,
    count: usize,
}

/// The functions by their type, so that each family has an inner loop of its own.
#[derive(Clone, Debug)]
enum Functions {
    Modular(Vec<Modular>),
    Rows(Vec<RowModular>),
    Printed(Vec<PrintedModular>),
    Jenkins(Vec<Jenkins>),
    Multiplicative(Vec<Multiplicative>),
    Murmur3(Vec<Murmur3>),
    Tabulation(Vec<Tabulation>),
    Xxh3(Vec<Xxh3>),
    Default(Vec<Lanewise>),
}

/// A sketch of the index, whose keys need not be hashes.
#[derive(Clone, Debug)]
struct Lanewise {
    hasher: LaneHasher,
    /// The sketch takes well-mixed hashes, which the index makes of shingles under its seed. Here the
    /// keys are mixed with this word instead.
    salt: u64,
}

impl MinHash {
    /// The most functions there can be: of tabulation, 64 MiB of tables.
    pub const MOST_FUNCTIONS: usize = 4096;

    /// So many functions of a family, from a seed. The first of multiplicative hashing is always that
    /// of the golden ratio. The functions of a seed are the first of a greater number from that seed,
    /// except those of [`Family::Default`].
    ///
    /// The default sketch has 64, 128, 256 or 512 lanes. For another number its components are the
    /// first so many of the next greater sketch, which cost as much as all of them; above 512 they are
    /// those of several sketches.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`] unless the number is between 1 and
    /// [`MOST_FUNCTIONS`](Self::MOST_FUNCTIONS).
    pub fn new(family: Family, count: usize, seed: u64) -> Result<Self> {
        let seeds = seeds(count, seed)?;
        Ok(Self::made(
            count,
            match family {
                Family::Modular => Functions::Modular(seeds.map(Modular::new).collect()),
                Family::Jenkins => Functions::Jenkins(seeds.map(Jenkins::new).collect()),
                Family::Multiplicative => {
                    let first = std::iter::once(Multiplicative::GOLDEN);
                    let functions = first.chain(seeds.map(Multiplicative::new)).take(count);
                    Functions::Multiplicative(functions.collect())
                }
                Family::Murmur3 => Functions::Murmur3(seeds.map(Murmur3::new).collect()),
                Family::Tabulation => Functions::Tabulation(seeds.map(Tabulation::new).collect()),
                Family::Xxh3 => Functions::Xxh3(seeds.map(Xxh3::new).collect()),
                Family::Default => {
                    let widths = widths(count).into_iter().zip(seeds);
                    Functions::Default(
                        widths
                            .map(|(lanes, seed)| Lanewise::new(lanes, seed))
                            .collect::<Result<_>>()?,
                    )
                }
            },
        ))
    }

    /// So many functions (a x + b) mod p, p the least prime that is not below the number of rows: the
    /// modular family for keys that are numbers of rows ([`RowModular`]).
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`] where there are more rows than [`Prime::MAX`], and for such a number
    /// of functions as [`new`](Self::new) refuses.
    pub fn of_rows(rows: u64, count: usize, seed: u64) -> Result<Self> {
        let prime = Prime::at_least(rows)?;
        let functions = seeds(count, seed)?.map(|seed| RowModular::new(prime, seed));
        Ok(Self::made(count, Functions::Rows(functions.collect())))
    }

    /// So many functions (k p + m) mod z of the printed form, z the number of rows
    /// ([`PrintedModular`]): for comparison only.
    ///
    /// # Errors
    ///
    /// Those of [`of_rows`](Self::of_rows), and [`Error::InvalidSetting`] for no rows.
    pub fn as_printed(rows: u64, count: usize, seed: u64) -> Result<Self> {
        let functions = seeds(count, seed)?.map(|seed| PrintedModular::new(rows, seed));
        Ok(Self::made(count, Functions::Printed(functions.collect::<Result<_>>()?)))
    }

    fn made(count: usize, functions: Functions) -> Self {
        Self { functions, count }
    }

    /// The number of functions: k.
    pub const fn functions(&self) -> usize {
        self.count
    }

    /// The least value of the keys under each function. Keys may come in any order and be repeated.
    /// `None` for no keys: the empty set is similar to nothing.
    pub fn signature(&self, keys: &[u64]) -> Option<Vec<u64>> {
        match &self.functions {
            Functions::Modular(functions) => minima(functions, keys),
            Functions::Rows(functions) => minima(functions, keys),
            Functions::Printed(functions) => minima(functions, keys),
            Functions::Jenkins(functions) => minima(functions, keys),
            Functions::Multiplicative(functions) => minima(functions, keys),
            Functions::Murmur3(functions) => minima(functions, keys),
            Functions::Tabulation(functions) => minima(functions, keys),
            Functions::Xxh3(functions) => minima(functions, keys),
            Functions::Default(_) if keys.is_empty() => None,
            Functions::Default(sketches) => {
                let lanes = sketches.iter().flat_map(|sketch| sketch.lanes_of(keys));
                Some(lanes.take(self.count).collect())
            }
        }
    }

    /// The share of components that are equal: the estimate of the similarity of two sets, from the
    /// signatures that the same functions made of them.
    ///
    /// # Panics
    ///
    /// Where the signatures have different lengths, or none.
    pub fn similarity(a: &[u64], b: &[u64]) -> f64 {
        assert!(a.len() == b.len() && !a.is_empty(), "{} and {} components", a.len(), b.len());
        a.iter().zip(b).filter(|(x, y)| x == y).count() as f64 / a.len() as f64
    }
}

/// The seeds of so many functions.
fn seeds(count: usize, seed: u64) -> Result<impl Iterator<Item = u64>> {
    if !(1..=MinHash::MOST_FUNCTIONS).contains(&count) {
        return Err(Error::InvalidSetting {
            setting: "hash functions",
            got: count.to_string(),
            expected: "a whole number from 1 to 4096",
        });
    }
    // Apart from the words that start from the seed itself.
    let mut words = SplitMix::new(fmix64(!seed));
    Ok((0..count).map(move |_| words.next()))
}

/// The sketches that have so many lanes between them, or the next greater number.
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

impl Lanewise {
    fn new(lanes: usize, seed: u64) -> Result<Self> {
        let mut words = SplitMix::new(seed);
        Ok(Self { hasher: LaneHasher::new(lanes, words.next())?, salt: words.next() })
    }

    /// The lanes of the keys, of which there is one at least.
    fn lanes_of(&self, keys: &[u64]) -> Vec<u64> {
        // A block at a time, so that it stays in the processor's nearest cache.
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
