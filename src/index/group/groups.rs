//! Divides a bucket into groups of equal signatures and iterates over all pairs of groups.

use crate::error::Result;
use crate::index::group::buckets::Buckets;
use crate::index::group::signature_cache::SignatureCache;
use crate::index::group::sort;
use crate::index::snapshot::Snapshot;
use crate::lsh::{Probe, word};
use crate::store::{DocNo, View};
use multiversion::multiversion;
use std::ops::Range;

/// The number of groups on each side of a square. The pairs of a large bucket are compared square
/// by square, with the signatures of both sides in memory, so one read of a signature serves a
/// thousand comparisons. The value determines the order of results, so it is not a setting.
const SIDE: usize = 1024;

/// All buckets of a probe, grouped.
///
/// Memory: once more the cache size for signatures, and about 30 bytes for each document of the
/// largest bucket.
pub(crate) struct Groups<'s> {
    snapshot: &'s Snapshot,
    buckets: Buckets,
    /// Signatures in memory, up to the cache size; read on first use.
    cache: Option<SignatureCache>,
    bucket: Bucket,
}

/// The current bucket.
struct Bucket {
    /// Its band.
    band: usize,
    /// The number of lanes that make a bucket.
    depth: u32,
    /// Sorted by lanes, which makes equal signatures adjacent, then by number.
    docs: Vec<DocNo>,
    /// The start of each group in `docs`.
    starts: Vec<u32>,
    /// The next pair of groups.
    next: (usize, usize),
    /// The groups of the right side that share an earlier bucket with a group of the left side.
    met: Met,
    /// The left side of the current square.
    left: Side,
    /// The right side of the current square; empty on the diagonal, where both sides are equal.
    right: Side,
    /// The maximum number of groups on a side.
    side: usize,
}

/// The lanes of consecutive groups, one signature each.
#[derive(Default)]
struct Side {
    groups: Range<usize>,
    lanes: Vec<u8>,
    /// The words of all groups in the first band, then those in the second, up to the band before
    /// that of the bucket.
    words: Vec<u64>,
}

/// Which groups of the right side have met a group of the left side in an earlier band.
#[derive(Default)]
struct Met {
    /// The group of the left side.
    left: Option<usize>,
    /// For each group of the right side, not 0 if both have met.
    rights: Vec<u64>,
}

impl<'s> Groups<'s> {
    pub(crate) fn new(snapshot: &'s Snapshot, probe: Probe) -> Self {
        let buckets = Buckets::new(snapshot.settings().plan, probe);
        let bucket = Bucket::new(SIDE, probe.depth());
        Self { snapshot, buckets, cache: None, bucket }
    }

    /// The number of entries read since the last call.
    pub(crate) fn take_passed(&mut self) -> u64 {
        self.buckets.take_passed()
    }

    /// Whether the bucket belongs to the first band, where all equal signatures meet.
    pub(crate) fn in_first_band(&self) -> bool {
        self.buckets.band() == 0
    }

    /// The number of groups in the bucket.
    pub(crate) fn len(&self) -> usize {
        self.bucket.starts.len()
    }

    /// The documents of a group of the bucket, by number.
    pub(crate) fn docs(&self, group: usize) -> &[DocNo] {
        self.bucket.docs(group)
    }

    /// The first document of a group of the bucket, which represents the group.
    #[inline]
    pub(crate) fn first(&self, group: usize) -> Option<DocNo> {
        self.bucket.docs.get(*self.bucket.starts.get(group)? as usize).copied()
    }

    /// Moves to the next bucket with several documents; returns false after the last.
    pub(crate) fn next_bucket(&mut self) -> Result<bool> {
        let view = self.snapshot.reader().view();
        let cache = match &mut self.cache {
            Some(cache) => cache,
            none => {
                let lanes = self.snapshot.settings().lanes.get();
                let budget = self.snapshot.reader().engine().cache_bytes();
                none.insert(SignatureCache::read(&view, lanes, self.snapshot.len(), budget)?)
            }
        };
        if !self.buckets.next(&view)? {
            return Ok(false);
        }
        self.bucket.band = self.buckets.band();
        self.bucket.fill(&view, cache, self.buckets.docs())?;
        Ok(true)
    }

    /// The next pair of groups in the bucket that share no bucket in an earlier band. In the first
    /// band, every group is also paired with itself.
    pub(crate) fn next_two(&mut self) -> Result<Option<(usize, usize)>> {
        let Some(cache) = &self.cache else { return Ok(None) };
        loop {
            if let Some(two) = self.bucket.next_in_square() {
                return Ok(Some(two));
            }
            if !self.bucket.next_square(&self.snapshot.reader().view(), cache)? {
                return Ok(None);
            }
        }
    }

    /// The lanes of the two groups that [`next_two`](Self::next_two) returned last.
    pub(crate) fn lanes(&self, (left, right): (usize, usize)) -> (&[u8], &[u8]) {
        let width = self.snapshot.settings().lanes.get();
        (self.bucket.left.lanes(left, width), self.bucket.right_side().lanes(right, width))
    }
}

impl Bucket {
    fn new(side: usize, depth: u32) -> Self {
        let (docs, starts, met) = (Vec::new(), Vec::new(), Met::default());
        let (left, right) = (Side::default(), Side::default());
        Self { band: 0, depth, docs, starts, next: (0, 0), met, left, right, side }
    }

    /// Takes the documents of the next bucket and groups them by signature, in lane order.
    fn fill(&mut self, view: &View<'_>, cache: &SignatureCache, docs: &[DocNo]) -> Result<()> {
        self.docs.clear();
        self.next = (0, 0);
        self.met.left = None;
        self.left.groups = 0..0;
        self.right.groups = 0..0;
        if docs.len() > self.side {
            self.docs.extend_from_slice(docs);
            let read = |doc, out: &mut Vec<u8>| cache.append(view, doc, out);
            self.starts = sort::sort_by_bytes(&mut self.docs, sort::ROOM, read)?;
            return Ok(());
        }
        // The lanes of the whole bucket fit in one side of a square.
        let width = cache.width();
        let Side { lanes: sorted, groups, .. } = &mut self.left;
        let all = &mut self.right.lanes;
        all.clear();
        docs.iter().try_for_each(|doc| cache.append(view, *doc, all))?;
        let mut rows: Vec<(&[u8], DocNo)> =
            all.chunks_exact(width).zip(docs.iter().copied()).collect();
        rows.sort_unstable();
        self.starts.clear();
        sorted.clear();
        for equals in rows.chunk_by(|a, b| a.0 == b.0) {
            self.starts.push(self.docs.len() as u32);
            self.docs.extend(equals.iter().map(|row| row.1));
            sorted.extend(equals.first().map(|row| row.0).unwrap_or_default());
        }
        *groups = 0..self.starts.len();
        // A single group meets no other group.
        if self.starts.len() > 1 {
            self.left.find_words(self.band, self.depth, width);
        }
        Ok(())
    }

    fn docs(&self, group: usize) -> &[DocNo] {
        let start = self.starts.get(group).map_or(0, |start| *start as usize);
        let end = self.starts.get(group + 1).map_or(self.docs.len(), |end| *end as usize);
        self.docs.get(start..end).unwrap_or_default()
    }

    /// The right side of the square; on the diagonal, this is the left side.
    fn right_side(&self) -> &Side {
        if self.right.groups.is_empty() { &self.left } else { &self.right }
    }

    /// The next pair of the square; `None` at its end.
    #[inline]
    fn next_in_square(&mut self) -> Option<(usize, usize)> {
        loop {
            let (left, right) = self.next;
            if left >= self.left.groups.end {
                return None;
            }
            // On the diagonal, both sides are the same.
            let is_diagonal = self.right.groups.is_empty();
            let rights = if is_diagonal { &self.left } else { &self.right };
            if self.met.left != Some(left) {
                self.met.find(&self.left, left, rights, self.band, is_diagonal);
            }
            let rights = rights.groups.start;
            let row = self.met.rights.get(right.saturating_sub(rights)..).unwrap_or_default();
            if let Some(skipped) = row.iter().position(|met| *met == 0) {
                let right = right + skipped;
                self.next = (left, right + 1);
                return Some((left, right));
            }
            self.next = (left + 1, rights.max(left + 1));
        }
    }

    /// Reads the lanes of the next square; returns false after the last.
    fn next_square(&mut self, view: &View<'_>, cache: &SignatureCache) -> Result<bool> {
        self.met.left = None;
        let groups = self.starts.len();
        let side = |start: usize| start..groups.min(start + self.side);
        let right = self.right_side().groups.end;
        if right < groups && !self.left.groups.is_empty() {
            let old = std::mem::take(&mut self.right);
            self.right = self.read(view, cache, side(right), old)?;
            self.next = (self.left.groups.start, self.right.groups.start);
        } else {
            let (left, old) = (side(self.left.groups.end), std::mem::take(&mut self.left));
            self.left = self.read(view, cache, left, old)?;
            self.right.groups = 0..0;
            self.next = (self.left.groups.start, self.left.groups.start);
        }
        Ok(!self.left.groups.is_empty())
    }

    fn read(
        &self,
        view: &View<'_>,
        cache: &SignatureCache,
        groups: Range<usize>,
        mut side: Side,
    ) -> Result<Side> {
        let Side { lanes, .. } = &mut side;
        lanes.clear();
        for group in groups.clone() {
            let first = self.docs(group).first();
            first.map_or(Ok(()), |doc| cache.append(view, *doc, lanes))?;
        }
        side.groups = groups;
        side.find_words(self.band, self.depth, cache.width());
        Ok(side)
    }
}

impl Side {
    fn lanes(&self, group: usize, width: usize) -> &[u8] {
        let start = group.saturating_sub(self.groups.start) * width;
        self.lanes.get(start..start + width).unwrap_or_default()
    }

    /// Computes the words of all groups in the bands before `band`.
    fn find_words(&mut self, band: usize, depth: u32, width: usize) {
        let Self { lanes, words, .. } = self;
        words.clear();
        for band in 0..band {
            words.extend(lanes.chunks_exact(width).map(|lanes| word(lanes, band, depth)));
        }
    }
}

impl Met {
    /// Finds the groups of the right side that agree with a group of the left side in a word of the
    /// bands before `band`. Looks at one band after the other, so that vector registers compare
    /// many groups at once: in a large bucket of near copies, nearly all pairs have met before.
    ///
    /// On the diagonal, each group is paired with later ones only, as it has met itself.
    fn find(
        &mut self,
        left_side: &Side,
        left: usize,
        right_side: &Side,
        band: usize,
        is_diagonal: bool,
    ) {
        /// The fewest groups for which this is faster than looking at one group after the other.
        const FEW: usize = 8;
        self.left = Some(left);
        self.rights.clear();
        if band == 0 {
            self.rights.resize(right_side.groups.len(), 0);
            return;
        }
        let at = left.saturating_sub(left_side.groups.start);
        let first = if is_diagonal { at + 1 } else { 0 };
        self.rights.resize(first, 1);
        self.rights.resize(right_side.groups.len(), 0);
        let marks = self.rights.get_mut(first..).unwrap_or_default();
        if marks.is_empty() {
            return;
        }
        let own = left_side.words.chunks_exact(left_side.groups.len());
        let rights = right_side.words.chunks_exact(right_side.groups.len());
        if marks.len() < FEW {
            for (mark, right) in marks.iter_mut().zip(first..) {
                let mut bands = own.clone().zip(rights.clone());
                *mark = bands.any(|(own, words)| own.get(at) == words.get(right)).into();
            }
            return;
        }
        for (own, words) in own.zip(rights) {
            if let (Some(own), Some(words)) = (own.get(at), words.get(first..)) {
                mark_equal(marks, words, *own);
            }
        }
    }
}

/// Marks the places where a word occurs.
#[multiversion(targets("x86_64+avx2", "x86_64+sse4.2", "aarch64+neon"))]
fn mark_equal(marks: &mut [u64], words: &[u64], word: u64) {
    for (mark, other) in marks.iter_mut().zip(words) {
        *mark |= u64::from(*other == word);
    }
}
