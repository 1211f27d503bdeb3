//! Finds the similar columns of a matrix by sketches and bands, and by brute force (Cohen and
//! others 2001, "Finding interesting associations without support pruning", section 3).

use super::StudyContext;
use rayon::prelude::*;
use twindex::candidate_probability;
use twindex::internals::needed_bands;
use twindex::internals::{SplitMix, fmix64};
use twindex::{Error, Result};
use twindex::{Normalization, Shingle, Shingler};
use twindex::{Sketch, Sketcher};

/// The lanes of a column's sketch: the maximum, because there are far fewer columns than
/// transactions.
const LANES: usize = 512;

/// The most lanes in a band. Deeper bands would save candidates only among millions of columns.
const DEEPEST: u32 = 16;

/// The pairs to find.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PairCriteria {
    /// The least Jaccard similarity of two columns.
    pub(crate) threshold: f64,
    /// The least probability of finding a pair at the threshold.
    pub(crate) recall: f64,
    /// The least number of transactions with both.
    pub(crate) support: u64,
}

/// The numbers of two columns, the smaller first, and the number of transactions with both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ColumnPair {
    pub(crate) a: u32,
    pub(crate) b: u32,
    pub(crate) both: u64,
}

/// The pairs found, and the work to find them.
pub(crate) struct FoundPairs {
    /// The pairs, ascending.
    pub(crate) pairs: Vec<ColumnPair>,
    /// The number of candidate pairs, all of which were compared.
    pub(crate) candidates: u64,
    pub(crate) bands: BandPlan,
}

/// The division of a sketch into bands of whole lanes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BandPlan {
    pub(crate) bands: usize,
    pub(crate) depth: u32,
    /// The probability that a pair at the threshold becomes a candidate.
    pub(crate) recall: f64,
}

impl BandPlan {
    /// Plans the deepest bands that reach the recall at the threshold. Lanes are compared whole
    /// here, unlike in an index, which stores only a byte of each. So a band of a single lane still
    /// distinguishes columns.
    ///
    /// # Errors
    ///
    /// [`Error::UnreachableRecall`] if even bands of single lanes do not reach it.
    fn new(wanted: PairCriteria) -> Result<Self> {
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

/// Whether a pair of columns of these sizes meets the criteria, exactly.
fn is_wanted(wanted: PairCriteria, both: u64, a: usize, b: usize) -> bool {
    both >= wanted.support.max(1) && similarity(both, a, b) >= wanted.threshold
}

/// The Jaccard similarity of two non-empty sets of these sizes that share `both` elements.
pub(crate) fn similarity(both: u64, a: usize, b: usize) -> f64 {
    both as f64 / (a as u64 + b as u64 - both) as f64
}

/// Finds pairs of columns by bands of their sketches, and verifies each pair on the columns
/// themselves. A column is the ascending list of the numbers of its transactions, which are below
/// `count`.
///
/// Sketching takes some nanoseconds for each number of a column. Comparing a candidate takes as
/// much for each number of its columns.
///
/// # Errors
///
/// [`Error::UnreachableRecall`] for a threshold below about 0.01, and those of the context.
pub(crate) fn find(
    columns: &[Vec<u32>],
    count: u32,
    wanted: PairCriteria,
    context: &StudyContext<'_>,
) -> Result<FoundPairs> {
    let bands = BandPlan::new(wanted)?;
    let total = bands.bands as u64 + 2;
    context.at(0, total)?;
    // A column with fewer transactions than the least support cannot be part of a pair.
    let enough = |column: &u32| columns[*column as usize].len() as u64 >= wanted.support.max(1);
    let numbers: Vec<u32> = (0..columns.len() as u32).filter(enough).collect();
    let sketches = sketches(columns, &numbers, count, context.seed)?;
    let mut candidates = Vec::new();
    let mut settled = 0;
    for band in 0..bands.bands {
        context.at(1 + band as u64, total)?;
        meet(&sketches, band, bands.depth, &mut candidates);
        // Very similar pairs meet in most bands. Duplicates are removed from time to time.
        if candidates.len() > 2 * settled + 1_000_000 {
            settle(&mut candidates);
            settled = candidates.len();
        }
    }
    settle(&mut candidates);
    context.at(total - 1, total)?;
    let verify = |(x, y): &(u32, u32)| {
        let (a, b) = (numbers[*x as usize], numbers[*y as usize]);
        let (of_a, of_b) = (&columns[a as usize], &columns[b as usize]);
        let both = shared(of_a, of_b);
        is_wanted(wanted, both, of_a.len(), of_b.len()).then_some(ColumnPair { a, b, both })
    };
    let pairs = candidates.par_iter().filter_map(verify).collect();
    Ok(FoundPairs { pairs, candidates: candidates.len() as u64, bands })
}

fn settle(candidates: &mut Vec<(u32, u32)>) {
    candidates.sort_unstable();
    candidates.dedup();
}

/// The sketches of these columns, from well-mixed hashes of their transaction numbers.
fn sketches(columns: &[Vec<u32>], numbers: &[u32], count: u32, seed: u64) -> Result<Vec<Sketch>> {
    let shingler = Shingler::new(Shingle::Tokens, Normalization::NONE, false, seed)?;
    let sketcher = Sketcher::new(shingler, LANES, seed)?;
    let key = SplitMix::new(seed).next();
    let hashes: Vec<u64> = (0..count).map(|number| fmix64(key ^ u64::from(number))).collect();
    let sketch = |number: &u32| {
        let column = columns[*number as usize].iter();
        let set: Vec<u64> = column.map(|transaction| hashes[*transaction as usize]).collect();
        // Empty columns were left out before.
        sketcher.sketch_of_hashes(&set)
    };
    Ok(numbers.par_iter().filter_map(sketch).collect())
}

/// Adds all pairs of sketches with an equal band.
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

/// The number of elements that two ascending sets share.
pub(crate) fn shared<T: Ord>(a: &[T], b: &[T]) -> u64 {
    let (mut x, mut y, mut both) = (0, 0, 0);
    while let (Some(left), Some(right)) = (a.get(x), b.get(y)) {
        both += u64::from(left == right);
        x += usize::from(left <= right);
        y += usize::from(right <= left);
    }
    both
}

/// All pairs that meet the criteria and have at least one sampled column, ascending. Compares each
/// sampled column with all others, without sketches and bands, in one pass over all columns.
///
/// # Errors
///
/// Those of the context.
pub(crate) fn brute_force(
    columns: &[Vec<u32>],
    count: u32,
    sample: &[u32],
    wanted: PairCriteria,
    context: &StudyContext<'_>,
) -> Result<Vec<ColumnPair>> {
    let mut pairs = Vec::new();
    let mut has = vec![false; count as usize];
    for (done, sampled) in sample.iter().enumerate() {
        context.at(done as u64, sample.len() as u64)?;
        let own = &columns[*sampled as usize];
        own.iter().for_each(|transaction| has[*transaction as usize] = true);
        for (other, column) in (0_u32..).zip(columns) {
            let both = column.iter().filter(|transaction| has[**transaction as usize]).count();
            if other != *sampled && is_wanted(wanted, both as u64, own.len(), column.len()) {
                let (a, b) = (other.min(*sampled), other.max(*sampled));
                pairs.push(ColumnPair { a, b, both: both as u64 });
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
    use super::super::random_texts::below;
    use super::*;

    fn wanted(threshold: f64, support: u64) -> PairCriteria {
        PairCriteria { threshold, recall: 0.99, support }
    }

    /// Columns of which every second one is a changed copy of the one before.
    fn planted(columns: usize, count: u32, random: &mut SplitMix) -> Vec<Vec<u32>> {
        let mut all = Vec::new();
        for _ in 0..columns / 2 {
            let size = 4 + below(random, 60);
            let own: Vec<u32> = (0..size).map(|_| below(random, u64::from(count)) as u32).collect();
            let changed = below(random, 10);
            let other = own.iter().map(|number| {
                if below(random, 10) < changed {
                    below(random, u64::from(count)) as u32
                } else {
                    *number
                }
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
        let bands = |threshold| BandPlan::new(wanted(threshold, 1)).map(|b| (b.bands, b.depth));
        // 1 - (1 - 0.5^4)^72 is the first value above 0.99. With depth 5, the 102 possible bands
        // reach only 0.961.
        assert_eq!(bands(0.5).ok(), Some((72, 4)));
        assert_eq!(bands(0.9).ok(), Some((23, 16)));
        assert_eq!(bands(0.02).ok(), Some((228, 1)));
        assert!(matches!(bands(0.005), Err(Error::UnreachableRecall { needed: 919, .. })));
    }

    #[test]
    fn brute_force_agrees_with_the_definition() {
        let columns = planted(60, 50, &mut SplitMix::new(5));
        let (wanted, all) = (wanted(0.2, 2), (0..60).collect::<Vec<u32>>());
        let found =
            brute_force(&columns, 50, &all, wanted, &StudyContext::unwatched(0)).expect("done");
        let mut expected = Vec::new();
        for b in 0..60_usize {
            for a in 0..b {
                let both = columns[a].iter().filter(|n| columns[b].contains(n)).count();
                let union = columns[a].len() + columns[b].len() - both;
                if both >= 2 && both as f64 / union as f64 >= 0.2 {
                    expected.push(ColumnPair { a: a as u32, b: b as u32, both: both as u64 });
                }
            }
        }
        expected.sort_unstable();
        assert!(expected.len() > 50, "{}", expected.len());
        assert_eq!(found, expected);
        let some =
            brute_force(&columns, 50, &[7, 8], wanted, &StudyContext::unwatched(0)).expect("done");
        expected.retain(|pair| [pair.a, pair.b].iter().any(|n| [7, 8].contains(n)));
        assert_eq!(some, expected);
    }

    #[test]
    fn bands_find_the_pairs_of_brute_force_and_no_others() {
        let columns = planted(400, 4_000, &mut SplitMix::new(6));
        let all: Vec<u32> = (0..400).collect();
        let (mut known, mut seen) = (0, 0);
        for threshold in [0.3, 0.6, 0.9] {
            let (wanted, context) = (wanted(threshold, 2), StudyContext::unwatched(9));
            let truth = brute_force(&columns, 4_000, &all, wanted, &context).expect("done");
            let found = find(&columns, 4_000, wanted, &context).expect("a recall within reach");
            assert!(found.pairs.iter().all(|pair| truth.binary_search(pair).is_ok()));
            assert!(found.bands.recall >= 0.99);
            // There are 79,800 pairs.
            assert!(found.candidates < 4_000, "at {threshold}: {}", found.candidates);
            (known, seen) = (known + truth.len(), seen + found.pairs.len());
        }
        assert!(known > 150, "{known}");
        // Most pairs are above the threshold, where the recall is higher than the promised 0.99.
        assert!(seen as f64 >= 0.99 * known as f64, "{seen} of {known}");
    }

    #[test]
    fn an_empty_column_is_similar_to_none() {
        let columns = [vec![], vec![], vec![1, 2], vec![1, 2]];
        let found = find(&columns, 3, wanted(0.5, 0), &StudyContext::unwatched(0)).expect("done");
        assert_eq!(found.pairs, [ColumnPair { a: 2, b: 3, both: 2 }]);
    }
}
