//! Tables that find bit strings at a small Hamming distance: sampled bits, bands, and all choices
//! of blocks.

use twindex::internals::SplitMix;
use twindex::{Error, Result};

/// Tables of some bits of a bit string each. Two strings are candidates if they are equal in all
/// bits of a table.
///
/// - [`sampled`](Self::sampled): the bits of each table are drawn at random (Indyk, Motwani 1998,
///   "Approximate nearest neighbors"; Gionis, Indyk, Motwani 1999). Nothing is certain.
/// - [`bands`](Self::bands): each table has the next bits, as lanes are cut into bands. b bands
///   find every pair that differs in fewer than b bits.
/// - [`blocks`](Self::blocks): the string is cut into blocks, and each choice of all but k of them
///   is a table (Manku, Jain, Das Sarma 2007, section 3). Every pair that differs in at most k
///   bits is found, since k bits lie in at most k blocks. Bands are the case of k = b - 1.
///
/// ```
/// use twindex_lab::methods::HammingTables;
/// // 6 blocks of 64 bits; each of the 20 choices of 3 of them is a table.
/// let tables = HammingTables::blocks(64, 6, 3)?;
/// assert_eq!((tables.len(), tables.certain()), (20, 3));
/// let (a, b) = ([0x1234_5678_9abc_def0], [0x1234_5678_9abc_def0 ^ 0x8000_0010_0000_0001]);
/// assert!(tables.meet(&a, &b));
/// assert_eq!(tables.found(3), 1.0);
/// assert!(tables.found(8) < 0.2);
/// # Ok::<(), twindex::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct HammingTables {
    bits: usize,
    /// The bits of each table.
    tables: Vec<Vec<usize>>,
    law: Law,
}

/// What determines the probability that a pair is found.
#[derive(Clone, Debug)]
enum Law {
    /// All tables are drawn apart.
    Sampled,
    /// At most `dirty` of blocks of these sizes may have a differing bit.
    Blocks { sizes: Vec<usize>, dirty: usize },
}

impl HammingTables {
    /// The most bits of a string. Binomial coefficients of so many are below the greatest double.
    pub const MOST_BITS: usize = 1024;

    /// The most tables.
    pub const MOST_TABLES: usize = 4096;

    /// Draws the bits of each table at random, without repetition within a table.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`] unless there are 1 to [`MOST_BITS`](Self::MOST_BITS) bits, 1 to
    /// [`MOST_TABLES`](Self::MOST_TABLES) tables, and 1 to all bits in a table.
    pub fn sampled(bits: usize, width: usize, tables: usize, seed: u64) -> Result<Self> {
        check(bits, tables)?;
        within("bits of a table", width, bits)?;
        let mut words = SplitMix::new(seed);
        let mut draw = || {
            let mut all: Vec<usize> = (0..bits).collect();
            for at in 0..width {
                let other = at + words.below((bits - at) as u64) as usize;
                all.swap(at, other);
            }
            all.truncate(width);
            all
        };
        Ok(Self { bits, tables: (0..tables).map(|_| draw()).collect(), law: Law::Sampled })
    }

    /// Cuts the string into as many bands of `width` bits as fit. The rest of the bits is not used.
    ///
    /// # Errors
    ///
    /// Those of [`sampled`](Self::sampled).
    pub fn bands(bits: usize, width: usize) -> Result<Self> {
        within("bits of a table", width, bits)?;
        let count = bits / width;
        check(bits, count)?;
        let tables = (0..count).map(|band| (band * width..(band + 1) * width).collect()).collect();
        let law = Law::Blocks { sizes: vec![width; count], dirty: count - 1 };
        Ok(Self { bits, tables, law })
    }

    /// Cuts the string into `blocks` blocks, the first of which may be a bit longer, and makes a
    /// table of each choice of all but `differing` of them.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`] for numbers out of the ranges of [`sampled`](Self::sampled), or
    /// unless there are more blocks than differing ones.
    pub fn blocks(bits: usize, blocks: usize, differing: usize) -> Result<Self> {
        within("blocks", blocks, bits)?;
        if differing >= blocks {
            return Err(Error::InvalidSetting {
                setting: "differing bits",
                got: differing.to_string(),
                expected: "fewer than there are blocks",
            });
        }
        check(bits, choose(blocks, differing) as usize)?;
        let sizes: Vec<usize> =
            (0..blocks).map(|at| bits / blocks + usize::from(at < bits % blocks)).collect();
        let starts: Vec<usize> =
            (0..blocks).map(|at| sizes.iter().take(at).sum::<usize>()).collect();
        let mut choices: Vec<Vec<usize>> = vec![Vec::new()];
        for chosen in 0..blocks - differing {
            let longer = |choice: &Vec<usize>| {
                let from = choice.last().map_or(0, |last| last + 1);
                // Later blocks would leave too few behind them. So every beginning of a choice can
                // be completed, and there are never more beginnings than choices.
                let (choice, more) = (choice.clone(), from..differing + chosen + 1);
                more.map(move |block| choice.iter().copied().chain([block]).collect())
            };
            choices = choices.iter().flat_map(longer).collect::<Vec<Vec<usize>>>();
        }
        let bits_of = |block: usize| starts[block]..starts[block] + sizes[block];
        let tables =
            choices.into_iter().map(|choice| choice.into_iter().flat_map(bits_of).collect());
        let tables = tables.collect();
        Ok(Self { bits, tables, law: Law::Blocks { sizes, dirty: differing } })
    }

    /// The number of tables.
    #[expect(clippy::len_without_is_empty, reason = "there is always a table")]
    pub fn len(&self) -> usize {
        self.tables.len()
    }

    /// The fewest bits of a table.
    pub fn width(&self) -> usize {
        self.tables.iter().map(Vec::len).min().unwrap_or(0)
    }

    /// The greatest distance at which every pair is found: 0 for sampled bits.
    pub fn certain(&self) -> usize {
        match self.law {
            Law::Sampled => 0,
            Law::Blocks { dirty, .. } => dirty,
        }
    }

    /// The bits of each table of a string, which is given in words, the least bit first.
    ///
    /// # Panics
    ///
    /// If there are too few words.
    pub fn keys(&self, words: &[u64]) -> Vec<Vec<u64>> {
        let bit = |at: usize| words[at / 64] >> (at % 64) & 1;
        let pack = |bits: &[usize]| bits.iter().fold(0, |key, at| key << 1 | bit(*at));
        self.tables.iter().map(|table| table.chunks(64).map(pack).collect()).collect()
    }

    /// Whether two strings are equal in all bits of a table.
    ///
    /// # Panics
    ///
    /// If there are too few words.
    pub fn meet(&self, a: &[u64], b: &[u64]) -> bool {
        self.keys(a).iter().zip(self.keys(b)).any(|(a, b)| *a == b)
    }

    /// The probability that two strings that differ in `distance` bits meet, if all choices of
    /// these bits are equally likely; for sampled bits also over all draws of the tables. 0 if
    /// there are fewer bits.
    ///
    /// Sampled bits: 1 - (1 - C(n - d, r) / C(n, r))^L for L tables of r of n bits. Blocks: of all
    /// C(n, d) choices those that touch at most k blocks, counted block by block.
    pub fn found(&self, distance: usize) -> f64 {
        if distance > self.bits {
            return 0.0;
        }
        match &self.law {
            Law::Sampled => {
                let width = self.width();
                let clean: f64 = (0..width)
                    .map(|at| {
                        self.bits.saturating_sub(distance + at) as f64 / (self.bits - at) as f64
                    })
                    .product();
                1.0 - (1.0 - clean).powi(self.len() as i32)
            }
            Law::Blocks { sizes, dirty } => touched(self.bits, sizes, *dirty, distance),
        }
    }
}

/// The probability that `distance` bits at random touch at most `dirty` blocks of these sizes. Bits
/// beyond the blocks touch none.
fn touched(bits: usize, sizes: &[usize], dirty: usize, distance: usize) -> f64 {
    if distance <= dirty {
        return 1.0;
    }
    // ways[t][d]: the choices of d bits of the blocks so far that touch t of them.
    let mut ways = vec![vec![0.0; distance + 1]; dirty + 1];
    ways[0][0] = 1.0;
    for size in sizes {
        let of_block: Vec<f64> = (0..=*size).map(|some| choose(*size, some)).collect();
        for t in (1..=dirty).rev() {
            let (fewer, same) = ways.split_at_mut(t);
            for (d, now) in same[0].iter_mut().enumerate() {
                let some = 1..=d.min(*size);
                *now += some.map(|some| of_block[some] * fewer[t - 1][d - some]).sum::<f64>();
            }
        }
    }
    let rest = bits - sizes.iter().sum::<usize>();
    let outside = |d: usize| choose(rest, distance - d);
    let all = choose(bits, distance);
    let each = ways.iter().flat_map(|of_t| of_t.iter().enumerate());
    each.map(|(d, ways)| ways / all * outside(d)).sum::<f64>().min(1.0)
}

/// C(n, k) as a double; 0 if k is above n. It divides first, because the greatest coefficients of
/// 1,024 bits leave no room for another factor.
fn choose(n: usize, k: usize) -> f64 {
    if k > n {
        return 0.0;
    }
    (0..k.min(n - k)).fold(1.0, |product, at| product / (at + 1) as f64 * (n - at) as f64).round()
}

fn check(bits: usize, tables: usize) -> Result<()> {
    within("bits", bits, HammingTables::MOST_BITS)?;
    within("tables", tables, HammingTables::MOST_TABLES)
}

fn within(setting: &'static str, got: usize, most: usize) -> Result<()> {
    if (1..=most).contains(&got) {
        return Ok(());
    }
    let expected = match setting {
        "bits" => "a whole number from 1 to 1024",
        "tables" => "a whole number from 1 to 4096",
        "blocks" => "a whole number from 1 to the number of bits",
        _ => "a whole number from 1 to the number of bits",
    };
    Err(Error::InvalidSetting { setting, got: got.to_string(), expected })
}

#[cfg(test)]
#[path = "hamming_tables_tests.rs"]
mod tests;
