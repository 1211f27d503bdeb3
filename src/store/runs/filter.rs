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

/// Eight words, in each of which a key sets a bit. Its alignment keeps it within one cache line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(align(32))]
pub(crate) struct Block([u32; 8]);

/// Blocks of a piece of a filter that is built in steps. The piece takes 64 KiB.
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
#[derive(Clone, Debug)]
pub(crate) struct Filter {
    blocks: Vec<Block>,
}

/// Builds a filter, in pieces that are filled one after the other.
#[derive(Clone, Debug)]
pub(crate) struct FilterBuilder {
    /// The blocks. A piece without a fence is empty.
    pieces: Vec<Arc<Vec<Block>>>,
    /// The number of blocks of a piece. The last piece may have fewer.
    piece: usize,
    /// The number of all blocks.
    blocks: usize,
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

impl FilterBuilder {
    /// An empty filter for this many entries of a band, which is built at once: it has one piece,
    /// which becomes the filter.
    pub(crate) fn at_once(layout: Layout, band: BandNo, entries: u64) -> Self {
        Self::new(layout, band, entries, usize::MAX)
    }

    /// An empty filter for this many entries of a band, which is built in steps. Clones share the
    /// pieces. So a merge, which keeps its state from step to step, copies one piece in each step
    /// instead of the filter.
    pub(crate) fn in_steps(layout: Layout, band: BandNo, entries: u64) -> Self {
        Self::new(layout, band, entries, PIECE)
    }

    fn new(layout: Layout, band: BandNo, entries: u64, piece: usize) -> Self {
        let bits = if band == layout.ids() { BITS_PER_ID } else { BITS_PER_ENTRY };
        let blocks = (entries * bits).div_ceil(256).max(1) as usize;
        let piece = piece.min(blocks);
        Self { pieces: vec![Arc::default(); blocks.div_ceil(piece)], piece, blocks, latest: None }
    }

    /// Inserts the fences of entries: their words shifted right by `shift`. Entries are sorted, and
    /// none is less than those of earlier calls.
    pub(crate) fn insert_all(&mut self, mut entries: &[Entry], shift: u32) {
        let piece_of = |entry: &Entry| block((entry.0 >> shift) as u32, self.blocks) / self.piece;
        while let Some(number) = entries.first().map(piece_of) {
            let same = entries.partition_point(|entry| piece_of(entry) == number);
            let (of_piece, others) = entries.split_at(same);
            if let Some(piece) = self.pieces.get_mut(number) {
                let piece = Arc::make_mut(piece);
                let first = number * self.piece;
                piece.resize(self.piece.min(self.blocks - first), Block::default());
                let place = (first, self.blocks, shift);
                self.latest = insert_into(piece, place, self.latest, of_piece);
            }
            entries = others;
        }
    }

    pub(crate) fn into_filter(self) -> Filter {
        let mut pieces = self.pieces.into_iter();
        // The only piece of a filter that was built at once is not copied.
        let mut blocks = pieces.next().map_or_else(Vec::new, Arc::unwrap_or_clone);
        for (number, piece) in (1..).zip(pieces) {
            blocks.reserve_exact(self.blocks - blocks.len());
            blocks.resize(number * self.piece, Block::default());
            blocks.extend_from_slice(&piece);
        }
        blocks.resize(self.blocks, Block::default());
        Filter { blocks }
    }
}

impl Filter {
    /// The memory of a filter for this many entries of a band of lanes, in bytes.
    pub(crate) const fn bytes(entries: u64) -> u64 {
        entries * BITS_PER_ENTRY / 8
    }

    /// The place of the fence of `key`.
    pub(crate) fn place<'a>(&'a self, key: &'a FilterKey) -> FilterPlace<'a> {
        match self.blocks.get(block(key.fence, self.blocks.len())) {
            Some(block) => FilterPlace::Block(block, key),
            None => FilterPlace::Nowhere,
        }
    }
}

/// Where a filter has the bits of a key.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FilterPlace<'a> {
    /// There is no filter, or there are several keys.
    Nowhere,
    Block(&'a Block, &'a FilterKey),
}

impl FilterPlace<'_> {
    /// How often the fence was inserted.
    pub(crate) fn occurrence(&self) -> Occurrence {
        let Self::Block(block, key) = self else { return Occurrence::Unknown };
        // `all` would branch at each word.
        let has = |bits: &[u32; 8]| {
            let words = block.0.iter().zip(bits);
            words.fold(0, |missing, (word, bit)| missing | (!word & bit)) == 0
        };
        match (has(&key.bits), has(&key.repeat_bits)) {
            (false, _) => Occurrence::Never,
            (true, false) => Occurrence::AtMostOnce,
            (true, true) => Occurrence::Unknown,
        }
    }
}

/// The block of a fence in a filter of this many blocks. Fences are spread evenly, so blocks can
/// have the order of fences: writing a run fills one block after the other.
#[inline(always)]
fn block(fence: u32, blocks: usize) -> usize {
    ((u64::from(fence) * blocks as u64) >> 32) as usize
}

/// Inserts the fences of entries, which are their words shifted by `shift`, into the piece that
/// holds their blocks. The piece begins at block `first` of the `blocks` of the filter. Returns the
/// last fence.
#[multiversion(targets("x86_64+avx2"))]
fn insert_into(
    piece: &mut [Block],
    (first, blocks, shift): (usize, usize, u32),
    mut latest: Option<u32>,
    entries: &[Entry],
) -> Option<u32> {
    for (word, _) in entries {
        let fence = (word >> shift) as u32;
        let hash = FilterKey::hash(fence);
        let bits = if latest.replace(fence) == Some(fence) {
            FilterKey::repeat_bits(hash)
        } else {
            FilterKey::bits(hash)
        };
        if let Some(block) = piece.get_mut(block(fence, blocks).wrapping_sub(first)) {
            block.0.iter_mut().zip(bits).for_each(|(word, bit)| *word |= bit);
        }
    }
    latest
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

    #[inline(always)]
    fn hash(fence: u32) -> u64 {
        fmix64(u64::from(fence) + 1)
    }

    /// One bit in each word of a block.
    #[inline(always)]
    fn bits(hash: u64) -> [u32; 8] {
        // Unlike `map` of an array, a loop is inlined wherever this is.
        let mut bits = SALTS;
        for bit in &mut bits {
            *bit = 1 << ((hash as u32).wrapping_mul(*bit) >> 27);
        }
        bits
    }

    #[inline(always)]
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
    use crate::store::bytes::schema::DocNo;

    const LAYOUT: Layout = Layout { bands: 2, depth: 6, passages: false };

    /// A filter of these ascending fences, which come in entries of words of 48 bits, a few in each
    /// call.
    fn filter_of(fences: &[u32], band: BandNo) -> Filter {
        let [at_once, in_steps] = builders(fences, band).map(FilterBuilder::into_filter);
        assert!(at_once.blocks == in_steps.blocks, "the same filter");
        at_once
    }

    fn builders(fences: &[u32], band: BandNo) -> [FilterBuilder; 2] {
        let entry = |fence: &u32| (u64::from(*fence) << 16, DocNo(0));
        let entries: Vec<Entry> = fences.iter().map(entry).collect();
        let builders = [FilterBuilder::at_once, FilterBuilder::in_steps];
        let mut builders = builders.map(|build| build(LAYOUT, band, entries.len() as u64));
        for builder in &mut builders {
            entries.chunks(500).for_each(|some| builder.insert_all(some, 16));
        }
        builders
    }

    #[test]
    fn the_filter_of_ids_is_wrong_once_in_a_thousand_times() {
        let mut words = SplitMix::new(3);
        let mut inside: Vec<u32> = (0..200_000).map(|_| words.next() as u32).collect();
        inside.sort_unstable();
        let filter = filter_of(&inside, LAYOUT.ids());
        let outside =
            (0..200_000).map(|_| filter.place(&FilterKey::new(words.next() as u32)).occurrence());
        let wrong = outside.filter(|found| *found != Occurrence::Never).count();
        assert!((50..400).contains(&wrong), "{wrong} of 200,000 absent fences found");
    }

    #[test]
    fn clones_share_all_pieces_but_the_one_that_is_being_filled() {
        let fences: Vec<u32> = (0..400_000_u32).map(|n| n << 13).collect();
        let [_, filter] = builders(&fences, BandNo(0));
        let new = 399_999 << 13 | 1;
        let mut clone = filter.clone();
        clone.insert_all(&[(u64::from(new) << 16, DocNo(0))], 16);
        let pairs = filter.pieces.iter().zip(&clone.pieces);
        let shared = pairs.map(|(one, other)| Arc::ptr_eq(one, other)).filter(|same| *same).count();
        assert_eq!((shared, filter.pieces.len()), (filter.pieces.len() - 1, 8));
        let [old, clone] = [filter, clone].map(FilterBuilder::into_filter);
        let has = |filter: &Filter, fence: u32| {
            filter.place(&FilterKey::new(fence)).occurrence() != Occurrence::Never
        };
        assert!(fences.iter().all(|fence| has(&old, *fence) && has(&clone, *fence)));
        assert!(has(&clone, new) && !has(&old, new), "the former state is as it was");
    }

    #[test]
    fn inserted_fences_are_found_and_others_rarely() {
        for entries in [0, 1, 100, 50_000] {
            let mut words = SplitMix::new(entries);
            let mut inside: Vec<u32> = (0..entries).map(|_| words.next() as u32).collect();
            inside.sort_unstable();
            let filter = filter_of(&inside, BandNo(0));
            let occurrence = |fence: u32| filter.place(&FilterKey::new(fence)).occurrence();
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
            match filter.place(&FilterKey::new(fence)).occurrence() {
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
