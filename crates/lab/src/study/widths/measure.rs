//! Compares all pairs of texts at one size of shingles: exactly in two ways, and by estimate.

use super::{Estimated, Functions, Width};
use crate::methods::MinHash;
use crate::study::StudyContext;
use crate::study::timing::{PartTimes, seconds};
use rustc_hash::{FxHashMap, FxHashSet};
use std::hint::black_box;
use twindex::{Normalization, Overlap, Result, Shingle, Shingler};

/// A pair of texts, exactly.
pub(super) struct Pair {
    pub(super) similarity: f64,
    /// The same by a hash set.
    pub(super) by_hash_set: f64,
}

/// The similarity of two sets of shingles: sorted and merged.
pub(super) fn merged(a: &[u64], b: &[u64]) -> f64 {
    let sorted = |hashes: &[u64]| {
        let mut hashes = hashes.to_vec();
        hashes.sort_unstable();
        hashes.dedup();
        hashes
    };
    Overlap::of_sets(&sorted(a), &sorted(b)).similarity()
}

/// The similarity of two sets of shingles: by a hash set of each, as the paper computes it.
pub(super) fn by_hash_set(a: &[u64], b: &[u64]) -> f64 {
    let (a, b): (FxHashSet<u64>, FxHashSet<u64>) =
        (a.iter().copied().collect(), b.iter().copied().collect());
    let common = a.iter().filter(|hash| b.contains(hash)).count();
    let all = a.len() + b.len() - common;
    if all == 0 { 0.0 } else { common as f64 / all as f64 }
}

/// The row numbers of the distinct shingles of each text, from 1 on as they first appear, and the
/// number of rows.
fn rows(hashes: &[Vec<u64>]) -> (Vec<Vec<u64>>, u64) {
    let mut numbers: FxHashMap<u64, u64> = FxHashMap::default();
    let mut rows = Vec::new();
    for text in hashes {
        let mut of_text: Vec<u64> = Vec::with_capacity(text.len());
        for hash in text {
            let next = numbers.len() as u64 + 1;
            of_text.push(*numbers.entry(*hash).or_insert(next));
        }
        of_text.sort_unstable();
        of_text.dedup();
        rows.push(of_text);
    }
    (rows, numbers.len() as u64)
}

/// All pairs of the first `count` numbers.
fn pairs(count: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..count).flat_map(|b| (0..b).map(move |a| (a, b)))
}

pub(super) fn measure(
    texts: &[String],
    size: u16,
    grid: &[usize],
    runs: usize,
    (context, done): (&StudyContext<'_>, (u64, u64)),
) -> Result<Width> {
    context.at(done.0, done.1)?;
    let shingler = Shingler::new(Shingle::chars(size), Normalization::NONE, false, 0)?;
    let hashes: Vec<Vec<u64>> = texts.iter().map(|text| shingler.hashes(text)).collect();
    let (rows, count) = rows(&hashes);
    let exact = pairs(texts.len()).map(|(a, b)| Pair {
        similarity: merged(&hashes[a], &hashes[b]),
        by_hash_set: by_hash_set(&hashes[a], &hashes[b]),
    });
    let exact: Vec<Pair> = exact.collect();
    let timed = |compare: fn(&[u64], &[u64]) -> f64| {
        let of_pair = |(a, b): (usize, usize)| {
            let time = || {
                seconds(|| {
                    black_box(compare(&hashes[a], &hashes[b]));
                })
            };
            (0..runs).map(|_| time()).collect()
        };
        PartTimes::of(pairs(texts.len()).map(of_pair).collect())
    };
    let estimated = |functions: Functions| -> Result<Vec<Estimated>> {
        let rows = (&rows[..], count);
        let of = |number: &usize| estimate(functions, *number, rows, runs, (context, done));
        grid.iter().map(of).collect()
    };
    Ok(Width {
        size,
        pairs: exact,
        exact: [timed(merged), timed(by_hash_set)],
        estimated: Functions::ALL.into_iter().map(estimated).collect::<Result<_>>()?,
    })
}

fn estimate(
    functions: Functions,
    number: usize,
    (texts, rows): (&[Vec<u64>], u64),
    runs: usize,
    (context, done): (&StudyContext<'_>, (u64, u64)),
) -> Result<Estimated> {
    let (mut values, mut times) = (Vec::new(), Vec::new());
    for run in 0..runs as u64 {
        context.at(done.0, done.1)?;
        let seed = context.seed.wrapping_mul(1_000_003).wrapping_add(run);
        let drawn = match functions {
            Functions::Printed => MinHash::as_printed(rows, number, seed)?,
            Functions::Modular => MinHash::of_rows(rows + 1, number, seed)?,
            Functions::Jenkins => MinHash::new(crate::methods::Family::Jenkins, number, seed)?,
        };
        times.push(seconds(|| {
            let signature = |rows: &Vec<u64>| drawn.signature(rows).unwrap_or_default();
            let signatures: Vec<Vec<u64>> = texts.iter().map(signature).collect();
            let similarity =
                |(a, b): (usize, usize)| MinHash::similarity(&signatures[a], &signatures[b]);
            values.extend(pairs(texts.len()).map(similarity));
        }));
    }
    Ok(Estimated { values, time: PartTimes::of(vec![times]) })
}
