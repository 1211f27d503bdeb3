//! Which words a band of a run certainly does not have, and which it has once at most: a Bloom
//! filter in memory, never stored.
//!
//! A split block filter (Putze, Sanders, Singler 2009; the form that Parquet uses): a key sets
//! one bit in each of the eight words of one block, so that asking touches one cache line.

use crate::hash::fmix64;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// Bits for each entry: with 10, one absent key in 80 is taken for present.
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

/// A set of fences (`Layout::fence_shift`) that may answer yes wrongly, and no never.
///
/// A key that is inserted twice sets eight more bits of its block, so that asking also tells keys
/// that are there once.
#[derive(Clone, Debug)]
pub(crate) struct Filter {
    blocks: Vec<[u32; 8]>,
    latest: Option<u32>,
}

/// How often a fence was inserted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Occurs {
    Never,
    /// At most once.
    Once,
    Unknown,
}

impl Filter {
    pub(crate) fn new(entries: u64) -> Self {
        let blocks = (entries * BITS_PER_ENTRY).div_ceil(256).max(1);
        Self { blocks: vec![[0; 8]; blocks as usize], latest: None }
    }

    /// The memory that a filter for so many entries takes, in bytes.
    pub(crate) const fn bytes(entries: u64) -> u64 {
        entries * BITS_PER_ENTRY / 8
    }

    /// The block of a fence. Fences are spread evenly, so their order can be that of the blocks:
    /// a run that is written fills one block after the other.
    fn block(&self, fence: u32) -> usize {
        ((u64::from(fence) * self.blocks.len() as u64) >> 32) as usize
    }

    /// Takes a fence; equal ones must follow each other.
    pub(crate) fn insert(&mut self, fence: u32) {
        let hash = FilterKey::hash(fence);
        let bits = match self.latest.replace(fence) == Some(fence) {
            true => FilterKey::again(hash),
            false => FilterKey::bits(hash),
        };
        let block = self.block(fence);
        if let Some(block) = self.blocks.get_mut(block) {
            block.iter_mut().zip(bits).for_each(|(word, bit)| *word |= bit);
        }
    }

    pub(crate) fn occurs(&self, key: &FilterKey) -> Occurs {
        let Some(block) = self.blocks.get(self.block(key.fence)) else { return Occurs::Unknown };
        // Not `all`, which would branch at each word.
        let has = |bits: &[u32; 8]| {
            block.iter().zip(bits).fold(0, |missing, (word, bit)| missing | (!word & bit)) == 0
        };
        match (has(&key.bits), has(&key.again)) {
            (false, _) => Occurs::Never,
            (true, false) => Occurs::Once,
            (true, true) => Occurs::Unknown,
        }
    }
}

/// A fence as every filter looks for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FilterKey {
    fence: u32,
    bits: [u32; 8],
    /// The bits of a fence that is there at least twice.
    again: [u32; 8],
}

impl FilterKey {
    pub(crate) fn new(fence: u32) -> Self {
        let hash = Self::hash(fence);
        Self { fence, bits: Self::bits(hash), again: Self::again(hash) }
    }

    fn hash(fence: u32) -> u64 {
        fmix64(u64::from(fence) + 1)
    }

    /// One bit in each word of a block.
    fn bits(hash: u64) -> [u32; 8] {
        SALTS.map(|salt| 1 << ((hash as u32).wrapping_mul(salt) >> 27))
    }

    fn again(hash: u64) -> [u32; 8] {
        Self::bits(hash >> 32)
    }
}

/// The filter of a band of a run, if it has one yet, and how many searches had none.
#[derive(Debug, Default)]
pub(crate) struct FilterSlot {
    filter: OnceLock<Filter>,
    missed: AtomicU32,
}

impl Clone for FilterSlot {
    fn clone(&self) -> Self {
        Self { filter: self.filter.clone(), missed: AtomicU32::new(0) }
    }
}

impl FilterSlot {
    pub(crate) fn get(&self) -> Option<&Filter> {
        self.filter.get()
    }

    pub(crate) fn set(&self, filter: Filter) {
        // Whoever came first made the same.
        let _ = self.filter.set(filter);
    }

    /// Notes a search that had no filter. Says yes once, when they have cost as much as reading
    /// everything in order would, so that a command with one question does not pay for a filter.
    pub(crate) fn is_worth_building(&self, chunks: u32) -> bool {
        // A page of its own costs some eight times as much as the next one.
        const RANDOM_TO_SEQUENTIAL: u32 = 8;
        let enough = (chunks / RANDOM_TO_SEQUENTIAL).max(16);
        self.missed.fetch_add(1, Ordering::Relaxed) == enough
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::SplitMix;

    #[test]
    fn a_filter_finds_what_it_holds_and_hardly_ever_anything_else() {
        for entries in [0, 1, 100, 50_000] {
            let mut words = SplitMix::new(entries);
            let mut filter = Filter::new(entries);
            let mut inside: Vec<u32> = (0..entries).map(|_| words.next() as u32).collect();
            inside.sort_unstable();
            inside.iter().for_each(|fence| filter.insert(*fence));
            let occurs = |fence: u32| filter.occurs(&FilterKey::new(fence));
            assert!(inside.iter().all(|fence| occurs(*fence) != Occurs::Never));
            let outside = (0..100_000).filter(|_| occurs(words.next() as u32) != Occurs::Never);
            let wrong = outside.count();
            assert!(wrong < 2_500, "{wrong} of 100,000 taken for present among {entries}");
        }
    }

    #[test]
    fn what_is_there_twice_is_never_taken_for_once() {
        let mut words = SplitMix::new(7);
        let mut inside: Vec<(u32, usize)> =
            (0..20_000).map(|n| (words.next() as u32, 1 + usize::from(n % 4 == 0))).collect();
        inside.sort_unstable();
        inside.dedup_by_key(|(fence, _)| *fence);
        let mut filter = Filter::new(25_000);
        for &(fence, times) in &inside {
            (0..times).for_each(|_| filter.insert(fence));
        }
        let occurs = |fence: u32| filter.occurs(&FilterKey::new(fence));
        let (mut single, mut unknown) = (0, 0);
        for &(fence, times) in &inside {
            match occurs(fence) {
                Occurs::Never => panic!("{fence} is there"),
                Occurs::Once => assert_eq!(times, 1),
                Occurs::Unknown if times == 1 => unknown += 1,
                Occurs::Unknown => {}
            }
            single += usize::from(times == 1);
        }
        assert!(unknown * 20 < single, "{unknown} of {single} not known to be there once");
    }
}
