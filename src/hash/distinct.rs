//! Sorts hashes, which are spread evenly over all 64-bit words.

use multiversion::multiversion;

/// Below this number of hashes, a plain sort is faster.
const MIN_HASHES: usize = 64;

/// Returns the distinct hashes in ascending order.
///
/// The hashes are first distributed by their leading bits over about as many buckets as there are
/// hashes, so that each is within a few places of its own. Then neighbours are exchanged and
/// repetitions are dropped without branches, which the processor would predict badly. This takes a
/// third of the time of a plain sort. Hashes that are not spread evenly cost no more than a plain
/// sort and the distribution.
pub(crate) fn distinct(mut hashes: Vec<u64>) -> Vec<u64> {
    if hashes.len() < MIN_HASHES {
        hashes.sort_unstable();
    } else {
        hashes = distributed(&hashes);
        exchange_neighbours(&mut hashes);
        move_to_places(&mut hashes);
    }
    drop_repeated(&mut hashes);
    // Giving a little memory back takes longer than it is worth.
    if hashes.capacity() > hashes.len() + hashes.len() / 4 {
        hashes.shrink_to_fit();
    }
    hashes
}

/// The hashes in the order of their leading bits. Buckets with many hashes are sorted.
fn distributed(hashes: &[u64]) -> Vec<u64> {
    /// The most leading bits: the counts of all buckets then stay in the second-level cache.
    const MAX_BITS: u32 = 16;
    /// The most hashes of a bucket that are not sorted by themselves.
    const FEW: usize = 16;
    let bits = hashes.len().ilog2().min(MAX_BITS);
    let bucket = |hash: u64| (hash >> (64 - bits)) as usize;
    let mut ends = vec![0_usize; (1 << bits) + 1];
    hashes.iter().for_each(|hash| ends[bucket(*hash) + 1] += 1);
    let (mut sum, mut most) = (0, 0);
    for end in &mut ends {
        most = most.max(*end);
        sum += *end;
        *end = sum;
    }
    // Each entry is now where its bucket starts, and moves to where it ends.
    let mut sorted = vec![0; hashes.len()];
    for hash in hashes {
        let place = &mut ends[bucket(*hash)];
        sorted[*place] = *hash;
        *place += 1;
    }
    if most > FEW {
        let mut start = 0;
        for end in ends {
            if end - start > FEW {
                sorted[start..end].sort_unstable();
            }
            start = end;
        }
    }
    sorted
}

/// Puts neighbours in order, three times: nearly all hashes that are one or two places from their
/// own get there.
#[multiversion(targets(
    "x86_64+avx512f+avx512vl+avx512dq+avx512bw+bmi1+bmi2",
    "x86_64+avx2+bmi1+bmi2"
))]
fn exchange_neighbours(hashes: &mut [u64]) {
    for from in [0, 1, 0] {
        let hashes = hashes.get_mut(from..).unwrap_or_default();
        for [a, b] in hashes.as_chunks_mut().0 {
            (*a, *b) = ((*a).min(*b), (*a).max(*b));
        }
    }
}

/// Sorts hashes that are nearly sorted: moves each one in front of the greater ones before it.
fn move_to_places(hashes: &mut [u64]) {
    let mut greatest = 0;
    for at in 0..hashes.len() {
        let hash = hashes[at];
        if hash >= greatest {
            greatest = hash;
            continue;
        }
        let mut place = at;
        while place > 0 && hashes[place - 1] > hash {
            hashes[place] = hashes[place - 1];
            place -= 1;
        }
        hashes[place] = hash;
    }
}

/// Keeps one of equal neighbours.
fn drop_repeated(hashes: &mut Vec<u64>) {
    let Some(first) = hashes.first() else { return };
    let (mut last, mut kept) = (*first, 1);
    for at in 1..hashes.len() {
        let hash = hashes[at];
        kept += usize::from(hash != last);
        hashes[kept - 1] = hash;
        last = hash;
    }
    hashes.truncate(kept);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::fmix64;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn hashes_are_sorted_and_distinct(
            count in 0_u64..3_000,
            // Few different hashes, or hashes whose leading bits are all zero.
            different in 1_u64..5_000,
            leading in 0_u32..64,
        ) {
            let hash = |i: u64| fmix64(fmix64(i) % different) >> leading;
            let hashes: Vec<u64> = (0..count).map(hash).collect();
            let expected: BTreeSet<u64> = hashes.iter().copied().collect();
            prop_assert_eq!(distinct(hashes), Vec::from_iter(expected));
        }
    }

    #[test]
    fn the_ends_of_the_range_are_kept() {
        let hashes: Vec<u64> = (0..100).flat_map(|i| [i, u64::MAX - i, u64::MAX, 0]).collect();
        let sorted = distinct(hashes);
        assert_eq!((sorted.len(), sorted[0], sorted[199]), (200, 0, u64::MAX));
    }
}
