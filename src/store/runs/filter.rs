//! A Bloom filter over the fences of a band of a run, kept in memory and never stored.
//!
//! It tells which fences the band does not have, and which it has at most once. It is a split
//! block filter (Putze, Sanders, Singler 2009; the form that Parquet uses): a key sets one bit in
//! each of the eight words of one block, so a query touches one cache line.

use crate::hash::fmix64;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// Bits per entry. With 10, one absent key in 80 is reported as present.
const BITS_PER_ENTRY: u64 = 10;

/// Odd numbers that spread one hash over the eight words of a block.
const SALTS: [u32; 8] = [
    0x47B6_137B,
    0x4497_4D91,
    0x8824_AD5B,
    0xA2B7_289D,
    0x7054_95C7,
    0x2DF1_424B,
    0x9EFC_4947,
    0x5C6B_FB31,
];

/// An approximate set of fences (`Layout::fence_shift`): false positives, no false negatives.
///
/// A second insertion of a fence sets eight more bits of its block, so the filter also recognises
/// fences that occur only once.
#[derive(Clone, Debug)]
pub(crate) struct Filter {
    blocks: Vec<[u32; 8]>,
    /// The fence of the last insertion.
    latest: Option<u32>,
}

/// How often a fence was inserted, as far as the filter can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Occurrence {
    Never,
    AtMostOnce,
    Unknown,
}

impl Filter {
    pub(crate) fn new(entries: u64) -> Self {
        let blocks = (entries * BITS_PER_ENTRY).div_ceil(256).max(1);
        Self { blocks: vec![[0; 8]; blocks as usize], latest: None }
    }

    /// The memory of a filter for this many entries, in bytes.
    pub(crate) const fn bytes(entries: u64) -> u64 {
        entries * BITS_PER_ENTRY / 8
    }

    /// The block of a fence. Fences are spread evenly, so blocks can have the order of fences:
    /// writing a run fills one block after the other.
    fn block(&self, fence: u32) -> usize {
        ((u64::from(fence) * self.blocks.len() as u64) >> 32) as usize
    }

    /// Inserts a fence. Equal fences must follow each other.
    pub(crate) fn insert(&mut self, fence: u32) {
        let hash = FilterKey::hash(fence);
        let bits = match self.latest.replace(fence) == Some(fence) {
            true => FilterKey::repeat_bits(hash),
            false => FilterKey::bits(hash),
        };
        let block = self.block(fence);
        if let Some(block) = self.blocks.get_mut(block) {
            block.iter_mut().zip(bits).for_each(|(word, bit)| *word |= bit);
        }
    }

    /// How often the fence of `key` was inserted.
    pub(crate) fn occurrence(&self, key: &FilterKey) -> Occurrence {
        let Some(block) = self.blocks.get(self.block(key.fence)) else {
            return Occurrence::Unknown;
        };
        // `all` would branch at each word.
        let has = |bits: &[u32; 8]| {
            block.iter().zip(bits).fold(0, |missing, (word, bit)| missing | (!word & bit)) == 0
        };
        match (has(&key.bits), has(&key.repeat_bits)) {
            (false, _) => Occurrence::Never,
            (true, false) => Occurrence::AtMostOnce,
            (true, true) => Occurrence::Unknown,
        }
    }
}

/// A fence with its bits, computed once to query many filters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FilterKey {
    fence: u32,
    bits: [u32; 8],
    /// The bits that a second insertion sets.
    repeat_bits: [u32; 8],
}

impl FilterKey {
    pub(crate) fn new(fence: u32) -> Self {
        let hash = Self::hash(fence);
        Self { fence, bits: Self::bits(hash), repeat_bits: Self::repeat_bits(hash) }
    }

    fn hash(fence: u32) -> u64 {
        fmix64(u64::from(fence) + 1)
    }

    /// One bit in each word of a block.
    fn bits(hash: u64) -> [u32; 8] {
        SALTS.map(|salt| 1 << ((hash as u32).wrapping_mul(salt) >> 27))
    }

    fn repeat_bits(hash: u64) -> [u32; 8] {
        Self::bits(hash >> 32)
    }
}

/// The filter of a band of a run. It is built when enough searches would have used it.
#[derive(Debug, Default)]
pub(crate) struct LazyFilter {
    filter: OnceLock<Filter>,
    /// Searches that found no filter.
    searches_without: AtomicU32,
}

impl Clone for LazyFilter {
    fn clone(&self) -> Self {
        Self { filter: self.filter.clone(), searches_without: AtomicU32::new(0) }
    }
}

impl LazyFilter {
    pub(crate) fn get(&self) -> Option<&Filter> {
        self.filter.get()
    }

    pub(crate) fn set(&self, filter: Filter) {
        // If another thread was faster, its filter is equal.
        let _ = self.filter.set(filter);
    }

    /// Counts a search without a filter and returns whether to build the filter now.
    ///
    /// It returns true once: when these searches have cost as much as reading the band in order.
    /// So a process that asks one question does not pay for a filter.
    pub(crate) fn is_worth_building(&self, chunks: u32) -> bool {
        // Reading a page at random costs about eight times as much as reading the next page.
        const RANDOM_TO_SEQUENTIAL: u32 = 8;
        let enough = (chunks / RANDOM_TO_SEQUENTIAL).max(16);
        self.searches_without.fetch_add(1, Ordering::Relaxed) == enough
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::SplitMix;

    #[test]
    fn inserted_fences_are_found_and_others_rarely() {
        for entries in [0, 1, 100, 50_000] {
            let mut words = SplitMix::new(entries);
            let mut filter = Filter::new(entries);
            let mut inside: Vec<u32> = (0..entries).map(|_| words.next() as u32).collect();
            inside.sort_unstable();
            inside.iter().for_each(|fence| filter.insert(*fence));
            let occurrence = |fence: u32| filter.occurrence(&FilterKey::new(fence));
            assert!(inside.iter().all(|fence| occurrence(*fence) != Occurrence::Never));
            let outside = (0..100_000).map(|_| occurrence(words.next() as u32));
            let wrong = outside.filter(|found| *found != Occurrence::Never).count();
            assert!(wrong < 2_500, "{wrong} of 100,000 absent fences found among {entries}");
        }
    }

    #[test]
    fn a_fence_inserted_twice_is_never_reported_as_at_most_once() {
        let mut words = SplitMix::new(7);
        let mut inside: Vec<(u32, usize)> =
            (0..20_000).map(|n| (words.next() as u32, 1 + usize::from(n % 4 == 0))).collect();
        inside.sort_unstable();
        inside.dedup_by_key(|(fence, _)| *fence);
        let mut filter = Filter::new(25_000);
        for &(fence, times) in &inside {
            (0..times).for_each(|_| filter.insert(fence));
        }
        let (mut single, mut unknown) = (0, 0);
        for &(fence, times) in &inside {
            match filter.occurrence(&FilterKey::new(fence)) {
                Occurrence::Never => panic!("{fence} was inserted"),
                Occurrence::AtMostOnce => assert_eq!(times, 1),
                Occurrence::Unknown if times == 1 => unknown += 1,
                Occurrence::Unknown => {}
            }
            single += usize::from(times == 1);
        }
        assert!(unknown * 20 < single, "{unknown} of {single} single fences reported as unknown");
    }
}
