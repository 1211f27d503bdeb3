//! Which columns of a matrix are similar: by sketches and bands, and by brute force (Cohen and others 2001,
//! "Finding interesting associations without support pruning", section 3).

use super::Work;
use rayon::prelude::*;
use twindex::candidate_probability;
use twindex::internals::needed_bands;
use twindex::internals::{SplitMix, fmix64};
use twindex::{Error, Result};
use twindex::{Normalization, Shingle, Shingler};
use twindex::{Sketch, Sketcher};

/// Lanes of a column's sketch: the most there are, as columns are few beside transactions.
const LANES: usize = 512;

/// The most lanes of a band. Deeper bands would save candidates only among millions of columns.
const DEEPEST: u32 = 16;

/// What pairs are looked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    /// The least Jaccard similarity of two columns.
    pub(crate) threshold: f64,
    /// The probability with which a pair at the threshold is found, at least.
    pub(crate) recall: f64,
    /// The least number of transactions that have both.
    pub(crate) support: u64,
}

/// Two columns by their numbers, the lesser first, and how many transactions have both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Together {
    pub(crate) a: u32,
    pub(crate) b: u32,
    pub(crate) both: u64,
}

/// What was found, and what it took.
pub(crate) struct Found {
    /// Ascending.
    pub(crate) pairs: Vec<Together>,
    /// The pairs that met in a bucket, all of which were compared.
    pub(crate) candidates: u64,
    pub(crate) bands: Bands,
}

/// So many bands of so many whole lanes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bands {
    pub(crate) bands: usize,
    pub(crate) depth: u32,
    /// The probability that a pair at the threshold meets.
    pub(crate) recall: f64,
}

impl Bands {
    /// The deepest that reach the recall at the threshold. Lanes are compared whole here, not by the byte
    /// that an index stores of them, so that one lane is a band that still tells columns apart.
    ///
    /// # Errors
    ///
    /// [`Error::UnreachableRecall`] where all lanes together do not.
    fn new(wanted: Wanted) -> Result<Self> {
        let (threshold, recall) = (wanted.threshold, wanted.recall);
        for depth in (1..=DEEPEST).rev() {
            let most = LANES / depth as usize;
            let bands = needed_bands(threshold, recall, depth, most);
            if bands <= most {
                let recall = candidate_probability(threshold, depth, bands);
                return Ok(Self { bands, depth, recall });
            }
        }
        Err(Error::UnreachableRecall {
            threshold,
            recall,
            lanes: LANES,
            needed: needed_bands(threshold, recall, 1, 1_000_000),
            available: LANES,
        })
    }
}

/// Whether a pair of columns with so many transactions is one that is wanted, exactly.
fn is_wanted(wanted: Wanted, both: u64, a: usize, b: usize) -> bool {
    both >= wanted.support.max(1) && similarity(both, a, b) >= wanted.threshold
}

/// Jaccard's similarity of two sets of these sizes that share so much; neither is empty.
pub(crate) fn similarity(both: u64, a: usize, b: usize) -> f64 {
    both as f64 / (a as u64 + b as u64 - both) as f64
}

/// Finds pairs of columns by bands of their sketches, and verifies each on the columns themselves. Every column
/// is the ascending numbers of its transactions, of which there are `count`.
///
/// Sketching takes some nanoseconds for each number, comparing as many for each of a candidate.
///
/// # Errors
///
/// [`Error::UnreachableRecall`] for a threshold below about 0.01, and those of the work.
pub(crate) fn find(
    columns: &[Vec<u32>],
    count: u32,
    wanted: Wanted,
    work: &Work<'_>,
) -> Result<Found> {
    let bands = Bands::new(wanted)?;
    let total = bands.bands as u64 + 2;
    work.at(0, total)?;
    // A column in too few transactions cannot have enough in common with another.
    let enough = |column: &u32| columns[*column as usize].len() as u64 >= wanted.support.max(1);
    let numbers: Vec<u32> = (0..columns.len() as u32).filter(enough).collect();
    let sketches = sketches(columns, &numbers, count, work.seed)?;
    let mut candidates = Vec::new();
    let mut settled = 0;
    for band in 0..bands.bands {
        work.at(1 + band as u64, total)?;
        meet(&sketches, band, bands.depth, &mut candidates);
        // Pairs that are much alike meet in most bands: each is kept once.
        if candidates.len() > 2 * settled + 1_000_000 {
            settle(&mut candidates);
            settled = candidates.len();
        }
    }
    settle(&mut candidates);
    work.at(total - 1, total)?;
    let verify = |(x, y): &(u32, u32)| {
        let (a, b) = (numbers[*x as usize], numbers[*y as usize]);
        let (of_a, of_b) = (&columns[a as usize], &columns[b as usize]);
        let both = shared(of_a, of_b);
        is_wanted(wanted, both, of_a.len(), of_b.len()).then_some(Together { a, b, both })
    };
    let pairs = candidates.par_iter().filter_map(verify).collect();
    Ok(Found { pairs, candidates: candidates.len() as u64, bands })
}

fn settle(candidates: &mut Vec<(u32, u32)>) {
    candidates.sort_unstable();
    candidates.dedup();
}

/// The sketches of these columns, as sets of well-mixed hashes of their numbers.
fn sketches(columns: &[Vec<u32>], numbers: &[u32], count: u32, seed: u64) -> Result<Vec<Sketch>> {
    let shingler = Shingler::new(Shingle::Tokens, Normalization::NONE, false, seed)?;
    let sketcher = Sketcher::new(shingler, LANES, seed)?;
    let key = SplitMix::new(seed).next();
    let hashes: Vec<u64> = (0..count).map(|number| fmix64(key ^ u64::from(number))).collect();
    let sketch = |number: &u32| {
        let column = columns[*number as usize].iter();
        let set: Vec<u64> = column.map(|transaction| hashes[*transaction as usize]).collect();
        // Columns without a transaction were left out.
        sketcher.sketch_of_hashes(&set)
    };
    Ok(numbers.par_iter().filter_map(sketch).collect())
}

/// Adds all pairs of sketches that are equal in a band.
fn meet(sketches: &[Sketch], band: usize, depth: u32, candidates: &mut Vec<(u32, u32)>) {
    let depth = depth as usize;
    let lanes = |number: u32| &sketches[number as usize].lanes()[band * depth..(band + 1) * depth];
    let mut order: Vec<u32> = (0..sketches.len() as u32).collect();
    order.par_sort_unstable_by_key(|number| (lanes(*number), *number));
    for bucket in order.chunk_by(|a, b| lanes(*a) == lanes(*b)) {
        for (at, a) in bucket.iter().enumerate() {
            candidates.extend(bucket[at + 1..].iter().map(|b| (*a, *b)));
        }
    }
}

/// How many elements two sets share, each given in ascending order.
pub(crate) fn shared<T: Ord>(a: &[T], b: &[T]) -> u64 {
    let (mut x, mut y, mut both) = (0, 0, 0);
    while let (Some(left), Some(right)) = (a.get(x), b.get(y)) {
        both += u64::from(left == right);
        x += usize::from(left <= right);
        y += usize::from(right <= left);
    }
    both
}

/// All wanted pairs with at least one of the sampled columns, by comparing these with every other: no sketch, no
/// band. Ascending. Takes a pass over all columns for each sampled one.
///
/// # Errors
///
/// Those of the work.
pub(crate) fn brute_force(
    columns: &[Vec<u32>],
    count: u32,
    sample: &[u32],
    wanted: Wanted,
    work: &Work<'_>,
) -> Result<Vec<Together>> {
    let mut pairs = Vec::new();
    let mut has = vec![false; count as usize];
    for (done, sampled) in sample.iter().enumerate() {
        work.at(done as u64, sample.len() as u64)?;
        let own = &columns[*sampled as usize];
        own.iter().for_each(|transaction| has[*transaction as usize] = true);
        for (other, column) in (0_u32..).zip(columns) {
            let both = column.iter().filter(|transaction| has[**transaction as usize]).count();
            if other != *sampled && is_wanted(wanted, both as u64, own.len(), column.len()) {
                let (a, b) = (other.min(*sampled), other.max(*sampled));
                pairs.push(Together { a, b, both: both as u64 });
            }
        }
        own.iter().for_each(|transaction| has[*transaction as usize] = false);
    }
    pairs.sort_unstable();
    pairs.dedup();
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use super::super::orders::below;
    use super::*;

    fn wanted(threshold: f64, support: u64) -> Wanted {
        Wanted { threshold, recall: 0.99, support }
    }

    /// Columns of which each second one is made from the one before it by leaving out and adding some.
    fn planted(columns: usize, count: u32, random: &mut SplitMix) -> Vec<Vec<u32>> {
        let mut all = Vec::new();
        for _ in 0..columns / 2 {
            let size = 4 + below(random, 60);
            let own: Vec<u32> = (0..size).map(|_| below(random, u64::from(count)) as u32).collect();
            let changed = below(random, 10);
            let other = own.iter().map(|number| match below(random, 10) < changed {
                true => below(random, u64::from(count)) as u32,
                false => *number,
            });
            for mut column in [own.clone(), other.collect()] {
                column.sort_unstable();
                column.dedup();
                all.push(column);
            }
        }
        all
    }

    #[test]
    fn bands_are_the_deepest_that_reach_the_recall() {
        let bands = |threshold| Bands::new(wanted(threshold, 1)).map(|b| (b.bands, b.depth));
        // 1 - (1 - 0.5^4)^72 is the first above 0.99; of depth 5 the 102 bands that fit reach 0.961 only.
        assert_eq!(bands(0.5).ok(), Some((72, 4)));
        assert_eq!(bands(0.9).ok(), Some((23, 16)));
        assert_eq!(bands(0.02).ok(), Some((228, 1)));
        assert!(matches!(bands(0.005), Err(Error::UnreachableRecall { needed: 919, .. })));
    }

    #[test]
    fn brute_force_is_the_definition() {
        let columns = planted(60, 50, &mut SplitMix::new(5));
        let (wanted, all) = (wanted(0.2, 2), (0..60).collect::<Vec<u32>>());
        let found = brute_force(&columns, 50, &all, wanted, &Work::unwatched(0)).expect("done");
        let mut expected = Vec::new();
        for b in 0..60_usize {
            for a in 0..b {
                let both = columns[a].iter().filter(|n| columns[b].contains(n)).count();
                let union = columns[a].len() + columns[b].len() - both;
                if both >= 2 && both as f64 / union as f64 >= 0.2 {
                    expected.push(Together { a: a as u32, b: b as u32, both: both as u64 });
                }
            }
        }
        expected.sort_unstable();
        assert!(expected.len() > 50, "{}", expected.len());
        assert_eq!(found, expected);
        let some = brute_force(&columns, 50, &[7, 8], wanted, &Work::unwatched(0)).expect("done");
        expected.retain(|pair| [pair.a, pair.b].iter().any(|n| [7, 8].contains(n)));
        assert_eq!(some, expected);
    }

    #[test]
    fn bands_find_what_brute_force_finds_and_nothing_else() {
        let columns = planted(400, 4_000, &mut SplitMix::new(6));
        let all: Vec<u32> = (0..400).collect();
        let (mut known, mut seen) = (0, 0);
        for threshold in [0.3, 0.6, 0.9] {
            let (wanted, work) = (wanted(threshold, 2), Work::unwatched(9));
            let truth = brute_force(&columns, 4_000, &all, wanted, &work).expect("done");
            let found = find(&columns, 4_000, wanted, &work).expect("a recall within reach");
            assert!(found.pairs.iter().all(|pair| truth.binary_search(pair).is_ok()));
            assert!(found.bands.recall >= 0.99);
            // Of 79,800 pairs.
            assert!(found.candidates < 4_000, "at {threshold}: {}", found.candidates);
            (known, seen) = (known + truth.len(), seen + found.pairs.len());
        }
        assert!(known > 150, "{known}");
        // Most are above the threshold, where more than the promised 0.99 are found.
        assert!(seen as f64 >= 0.99 * known as f64, "{seen} of {known}");
    }

    #[test]
    fn a_column_without_transactions_is_similar_to_none() {
        let columns = [vec![], vec![], vec![1, 2], vec![1, 2]];
        let found = find(&columns, 3, wanted(0.5, 0), &Work::unwatched(0)).expect("done");
        assert_eq!(found.pairs, [Together { a: 2, b: 3, both: 2 }]);
    }
}
