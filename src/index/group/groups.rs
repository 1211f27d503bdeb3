//! A bucket as groups of equal signatures, of which every two are looked at once.

use crate::error::Result;
use crate::index::group::buckets::Buckets;
use crate::index::group::loaded::LoadedSignatures;
use crate::index::group::order;
use crate::index::snapshot::Snapshot;
use crate::lsh::{Probe, word};
use crate::store::{ChunkTable, DocNo, DocTable, View};
use std::ops::Range;

/// Groups whose signatures are in memory at once, twice. Every two of a bucket are looked at
/// square by square of so many, so that a signature is read from the file for a thousand comparisons. Part
/// of the order of results, therefore no setting.
const SIDE: usize = 1024;

/// All buckets of a probe, grouped.
///
/// Memory: the cache's size again for signatures, and some 30 bytes for each document of the
/// largest bucket.
pub(crate) struct Groups<'s> {
    snapshot: &'s Snapshot,
    buckets: Buckets,
    /// Signatures in memory, as many as the cache has room for; read when first needed.
    loaded: Option<LoadedSignatures>,
    bucket: Bucket,
}

/// A bucket that is being worked on.
struct Bucket {
    /// Ordered by lanes, so that equal ones are neighbours, then by number.
    docs: Vec<DocNo>,
    /// Where each group begins in `docs`.
    starts: Vec<u32>,
    /// The next two groups.
    next: (usize, usize),
    /// Lanes of the groups on the left of the square that is being looked at, and on its right.
    left: Side,
    right: Side,
    side: usize,
}

/// The lanes of neighbouring groups, one signature each.
#[derive(Default)]
struct Side {
    groups: Range<usize>,
    lanes: Vec<u8>,
}

impl<'s> Groups<'s> {
    pub(crate) fn new(snapshot: &'s Snapshot, probe: Probe) -> Self {
        let buckets = Buckets::new(snapshot.settings().plan, probe);
        Self { snapshot, buckets, loaded: None, bucket: Bucket::new(SIDE) }
    }

    pub(crate) fn probe(&self) -> Probe {
        self.buckets.probe()
    }

    /// How many entries were passed since this was asked last.
    pub(crate) fn take_passed(&mut self) -> u64 {
        self.buckets.take_passed()
    }

    /// Whether the bucket is one of the first band, in which equal signatures meet.
    pub(crate) fn in_first_band(&self) -> bool {
        self.buckets.band() == 0
    }

    /// How many groups the bucket has.
    pub(crate) fn len(&self) -> usize {
        self.bucket.starts.len()
    }

    /// The documents of a group of the bucket, by number.
    pub(crate) fn docs(&self, group: usize) -> &[DocNo] {
        self.bucket.docs(group)
    }

    /// The first document of a group of the bucket, for which it stands.
    #[inline]
    pub(crate) fn first(&self, group: usize) -> Option<DocNo> {
        self.bucket.docs.get(*self.bucket.starts.get(group)? as usize).copied()
    }

    /// Goes on to the next bucket of several documents; false after the last.
    pub(crate) fn next_bucket(&mut self) -> Result<bool> {
        let view = self.snapshot.reader().view();
        let loaded = match &mut self.loaded {
            Some(loaded) => loaded,
            none => {
                let lanes = self.snapshot.settings().lanes.get();
                let budget = self.snapshot.reader().engine().cache_bytes();
                none.insert(LoadedSignatures::read(&view, lanes, self.snapshot.len(), budget)?)
            }
        };
        if !self.buckets.next(&view)? {
            return Ok(false);
        }
        self.bucket.fill(&view, loaded, self.buckets.docs())?;
        Ok(true)
    }

    /// The next two groups of the bucket, each also with itself.
    pub(crate) fn next_two(&mut self) -> Result<Option<(usize, usize)>> {
        let Some(loaded) = &self.loaded else { return Ok(None) };
        if let Some(two) = self.bucket.next_in_square() {
            return Ok(Some(two));
        }
        self.bucket.next_square(&self.snapshot.reader().view(), loaded)
    }

    /// The lanes of two groups that were handed out last.
    pub(crate) fn lanes(&self, (left, right): (usize, usize)) -> (&[u8], &[u8]) {
        let width = self.snapshot.settings().lanes.get();
        (self.bucket.left.lanes(left, width), self.bucket.right_side().lanes(right, width))
    }

    /// Whether two signatures share a bucket of an earlier band.
    pub(crate) fn met_before(&self, a: &[u8], b: &[u8]) -> bool {
        let depth = self.probe().depth();
        (0..self.buckets.band()).any(|band| word(a, band, depth) == word(b, band, depth))
    }
}

impl Bucket {
    fn new(side: usize) -> Self {
        let (docs, starts) = (Vec::new(), Vec::new());
        let (left, right) = (Side::default(), Side::default());
        Self { docs, starts, next: (0, 0), left, right, side }
    }

    /// Takes the documents of the next bucket and groups them, in the order of signatures.
    fn fill<P: ChunkTable, D: DocTable>(
        &mut self,
        view: &View<'_, P, D>,
        loaded: &LoadedSignatures,
        docs: &[DocNo],
    ) -> Result<()> {
        self.docs.clear();
        self.next = (0, 0);
        self.left.groups = 0..0;
        self.right.groups = 0..0;
        if docs.len() > self.side {
            self.docs.extend_from_slice(docs);
            let read = |doc, out: &mut Vec<u8>| loaded.append(view, doc, out);
            self.starts = order::sort_by_bytes(&mut self.docs, order::ROOM, read)?;
            return Ok(());
        }
        // All lanes have room in one side of a square.
        let width = loaded.width();
        let Side { lanes: sorted, groups } = &mut self.left;
        let all = &mut self.right.lanes;
        all.clear();
        docs.iter().try_for_each(|doc| loaded.append(view, *doc, all))?;
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
        Ok(())
    }

    fn docs(&self, group: usize) -> &[DocNo] {
        let start = self.starts.get(group).map_or(0, |start| *start as usize);
        let end = self.starts.get(group + 1).map_or(self.docs.len(), |end| *end as usize);
        self.docs.get(start..end).unwrap_or_default()
    }

    /// The right side, which on the diagonal is the left one.
    fn right_side(&self) -> &Side {
        if self.right.groups.is_empty() { &self.left } else { &self.right }
    }

    #[inline]
    fn next_in_square(&mut self) -> Option<(usize, usize)> {
        let (left, right) = self.next;
        if left >= self.left.groups.end {
            return None;
        }
        let rights = &self.right_side().groups;
        let (first, end) = (rights.start, rights.end);
        self.next = match right + 1 < end {
            true => (left, right + 1),
            false => (left + 1, first.max(left + 1)),
        };
        // The last row of the diagonal has nothing after it.
        Some((left, right))
    }

    /// Reads the lanes of the next square and takes its first two groups.
    fn next_square<P: ChunkTable, D: DocTable>(
        &mut self,
        view: &View<'_, P, D>,
        loaded: &LoadedSignatures,
    ) -> Result<Option<(usize, usize)>> {
        let groups = self.starts.len();
        let side = |start: usize| start..groups.min(start + self.side);
        let right = self.right_side().groups.end;
        if right < groups && !self.left.groups.is_empty() {
            let old = std::mem::take(&mut self.right);
            self.right = self.read(view, loaded, side(right), old)?;
            self.next = (self.left.groups.start, self.right.groups.start);
        } else {
            let (left, old) = (side(self.left.groups.end), std::mem::take(&mut self.left));
            self.left = self.read(view, loaded, left, old)?;
            self.right.groups = 0..0;
            self.next = (self.left.groups.start, self.left.groups.start);
        }
        Ok(self.next_in_square())
    }

    fn read<P: ChunkTable, D: DocTable>(
        &self,
        view: &View<'_, P, D>,
        loaded: &LoadedSignatures,
        groups: Range<usize>,
        Side { mut lanes, .. }: Side,
    ) -> Result<Side> {
        lanes.clear();
        for group in groups.clone() {
            let first = self.docs(group).first();
            first.map_or(Ok(()), |doc| loaded.append(view, *doc, &mut lanes))?;
        }
        Ok(Side { groups, lanes })
    }
}

impl Side {
    fn lanes(&self, group: usize, width: usize) -> &[u8] {
        let start = group.saturating_sub(self.groups.start) * width;
        self.lanes.get(start..start + width).unwrap_or_default()
    }
}
