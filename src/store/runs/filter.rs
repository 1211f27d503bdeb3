//! A Bloom filter over the fences of a band of a run, kept in memory and never stored.
//!
//! It tells which fences the band does not have, and which it has at most once. It is a split
//! block filter (Putze, Sanders, Singler 2009; the form that Parquet uses): a key sets one bit in
//! each of the eight words of one block, so a query touches one cache line.

use crate::hash::fmix64;
use crate::store::bytes::chunk::Entry;
use crate::store::bytes::schema::{BandNo, Layout};
use multiversion::multiversion;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

/// Bits per entry in bands of lanes and of fingerprints. With 10, one absent key in 80 is reported
/// as present.
const BITS_PER_ENTRY: u64 = 10;

/// Bits per entry in the band of ids. With 16, that is one key in 1,000. Each new document asks the
/// filters of all runs for its id, and most ids are new.
const BITS_PER_ID: u64 = 16;

/// Eight words, in each of which a key sets a bit.
type Block = [u32; 8];

/// Blocks of a piece, which takes 64 KiB.
const PIECE: usize = 2048;

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
///
/// Its pieces are filled one after the other, and clones share them. So a merge, which keeps its
/// state from step to step, copies one piece in each step, not the filter.
#[derive(Clone, Debug)]
pub(crate) struct Filter {
    /// The blocks. A piece without a fence is empty.
    pieces: Vec<Arc<Vec<Block>>>,
    /// The number of blocks, those of empty pieces included.
    blocks: u64,
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
    /// An empty filter for this many entries of a band.
    pub(crate) fn new(layout: Layout, band: BandNo, entries: u64) -> Self {
        let bits = if band == layout.ids() { BITS_PER_ID } else { BITS_PER_ENTRY };
        let blocks = (entries * bits).div_ceil(256).max(1);
        let pieces = blocks.div_ceil(PIECE as u64) as usize;
        Self { pieces: vec![Arc::default(); pieces], blocks, latest: None }
    }

    /// The memory of a filter for this many entries of a band of lanes, in bytes.
    pub(crate) const fn bytes(entries: u64) -> u64 {
        entries * BITS_PER_ENTRY / 8
    }

    /// Inserts the fences of entries: their words shifted right by `shift`. Entries are sorted, and
    /// none is less than those of earlier calls.
    pub(crate) fn insert_all(&mut self, mut entries: &[Entry], shift: u32) {
        let fence = |entry: &Entry| (entry.0 >> shift) as u32;
        while let Some(first) = entries.first() {
            let piece = block(fence(first), self.blocks) / PIECE;
            let same = |entry: &Entry| block(fence(entry), self.blocks) / PIECE == piece;
            let (of_piece, others) = entries.split_at(entries.partition_point(same));
            if let Some(piece) = self.pieces.get_mut(piece) {
                let piece = Arc::make_mut(piece);
                piece.resize(PIECE, Block::default());
                if let Some(piece) = piece.first_chunk_mut() {
                    self.latest = insert_into(piece, self.blocks, self.latest, of_piece, shift);
                }
            }
            entries = others;
        }
    }

    /// How often the fence of `key` was inserted.
    pub(crate) fn occurrence(&self, key: &FilterKey) -> Occurrence {
        let at = block(key.fence, self.blocks);
        let piece = self.pieces.get(at / PIECE);
        let Some(block) = piece.and_then(|piece| piece.get(at % PIECE)) else {
            return Occurrence::Never;
        };
        // `all` would branch at each word.
        let has = |bits: &Block| {
            block.iter().zip(bits).fold(0, |missing, (word, bit)| missing | (!word & bit)) == 0
        };
        match (has(&key.bits), has(&key.repeat_bits)) {
            (false, _) => Occurrence::Never,
            (true, false) => Occurrence::AtMostOnce,
            (true, true) => Occurrence::Unknown,
        }
    }
}

/// The block of a fence, of this many. Fences are spread evenly, so blocks can have the order of
/// fences: writing a run fills one block after the other.
#[inline(always)]
fn block(fence: u32, blocks: u64) -> usize {
    ((u64::from(fence) * blocks) >> 32) as usize
}

/// Inserts the fences of entries into the piece that holds their blocks. Returns the last of them.
#[multiversion(targets("x86_64+avx2"))]
fn insert_into(
    piece: &mut [Block; PIECE],
    blocks: u64,
    mut latest: Option<u32>,
    entries: &[Entry],
    shift: u32,
) -> Option<u32> {
    for (word, _) in entries {
        let fence = (word >> shift) as u32;
        let hash = FilterKey::hash(fence);
        let bits = match latest.replace(fence) == Some(fence) {
            true => FilterKey::repeat_bits(hash),
            false => FilterKey::bits(hash),
        };
        if let Some(block) = piece.get_mut(block(fence, blocks) % PIECE) {
            block.iter_mut().zip(bits).for_each(|(word, bit)| *word |= bit);
        }
    }
    latest
}

/// A fence with its bits, computed once to query many filters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FilterKey {
    fence: u32,
    bits: Block,
    /// The bits that a second insertion sets.
    repeat_bits: Block,
}

impl FilterKey {
    pub(crate) fn new(fence: u32) -> Self {
        let hash = Self::hash(fence);
        Self { fence, bits: Self::bits(hash), repeat_bits: Self::repeat_bits(hash) }
    }

    #[inline(always)]
    fn hash(fence: u32) -> u64 {
        fmix64(u64::from(fence) + 1)
    }

    /// One bit in each word of a block.
    #[inline(always)]
    fn bits(hash: u64) -> Block {
        SALTS.map(|salt| 1 << ((hash as u32).wrapping_mul(salt) >> 27))
    }

    #[inline(always)]
    fn repeat_bits(hash: u64) -> Block {
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
    use crate::store::bytes::schema::DocNo;

    const LAYOUT: Layout = Layout { bands: 2, depth: 6, passages: false };

    /// A filter of these ascending fences, which come in entries of words of 48 bits, a few in each
    /// call.
    fn filter_of(fences: &[u32], band: BandNo) -> Filter {
        let entry = |fence: &u32| (u64::from(*fence) << 16, DocNo(0));
        let entries: Vec<Entry> = fences.iter().map(entry).collect();
        let mut filter = Filter::new(LAYOUT, band, entries.len() as u64);
        entries.chunks(500).for_each(|some| filter.insert_all(some, 16));
        filter
    }

    #[test]
    fn the_filter_of_ids_is_wrong_once_in_a_thousand_times() {
        let mut words = SplitMix::new(3);
        let mut inside: Vec<u32> = (0..200_000).map(|_| words.next() as u32).collect();
        inside.sort_unstable();
        let filter = filter_of(&inside, LAYOUT.ids());
        let outside = (0..200_000).map(|_| filter.occurrence(&FilterKey::new(words.next() as u32)));
        let wrong = outside.filter(|found| *found != Occurrence::Never).count();
        assert!((50..400).contains(&wrong), "{wrong} of 200,000 absent fences found");
    }

    #[test]
    fn clones_share_all_pieces_but_the_one_that_is_being_filled() {
        let fences: Vec<u32> = (0..400_000_u32).map(|n| n << 13).collect();
        let filter = filter_of(&fences, BandNo(0));
        let mut clone = filter.clone();
        clone.insert_all(&[((399_999_u64 << 13 | 1) << 16, DocNo(0))], 16);
        let pairs = filter.pieces.iter().zip(&clone.pieces);
        let shared = pairs.map(|(one, other)| Arc::ptr_eq(one, other)).filter(|same| *same).count();
        assert_eq!((shared, filter.pieces.len()), (filter.pieces.len() - 1, 8));
    }

    #[test]
    fn inserted_fences_are_found_and_others_rarely() {
        for entries in [0, 1, 100, 50_000] {
            let mut words = SplitMix::new(entries);
            let mut inside: Vec<u32> = (0..entries).map(|_| words.next() as u32).collect();
            inside.sort_unstable();
            let filter = filter_of(&inside, BandNo(0));
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
        let repeated = inside.iter().flat_map(|(fence, times)| [*fence].repeat(*times));
        let filter = filter_of(&repeated.collect::<Vec<u32>>(), BandNo(0));
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
