//! All pairs of similar documents, band by band and bucket by bucket.

use super::loaded::LoadedSignatures;
use super::query::Match;
use super::snapshot::Snapshot;
use crate::error::Result;
use crate::estimate::{equal_lanes, least_equal_lanes};
use crate::lsh::{BandPlan, Probe, word};
use crate::params::Threshold;
use crate::store::{BandEntries, BandNo, ChunkTable, DocNo, DocTable, View};
use std::cmp::Ordering;
use std::ops::Range;

/// Two similar documents, the first with the smaller id.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Pair {
    /// The smaller id.
    pub a: String,
    /// The greater id.
    pub b: String,
    /// The Jaccard similarity, from 0 to 1.
    pub similarity: f64,
    /// The lower end of the 95 % interval of the similarity.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
    /// Whether the similarity is exact rather than estimated.
    pub exact: bool,
}

/// The pairs of a snapshot, each once.
///
/// Their order is fixed by the documents alone: the first band in which two meet, their bucket,
/// their signatures, their ids. Documents with equal signatures are compared as one. A pair is
/// reported in the first band where it meets, which its signatures tell, so that no pair has to
/// be remembered. Memory grows with the largest bucket's distinct signatures, not with pairs.
pub struct Pairs<'s> {
    snapshot: &'s Snapshot,
    plan: BandPlan,
    probe: Probe,
    least: usize,
    band: usize,
    entries: Option<BandEntries>,
    /// The first entry of the next bucket.
    ahead: Option<(u64, DocNo)>,
    /// The documents of the bucket that was read last.
    docs: Vec<DocNo>,
    /// Signatures in memory, as many as the cache has room for; read when first needed.
    loaded: Option<LoadedSignatures>,
    bucket: Bucket,
    block: Option<Block>,
    failed: bool,
}

/// Where the lanes of a document of the bucket are.
#[derive(Clone, Copy)]
enum Place {
    /// Among the signatures that are kept in memory.
    Loaded(usize),
    /// Among those that were read for this bucket.
    Read(usize),
}

/// A bucket that is being worked on: each group of equal signatures with itself, then with those
/// after it.
#[derive(Default)]
struct Bucket {
    /// Ordered by lanes, so that equal ones are neighbours, then by number.
    docs: Vec<(Place, DocNo)>,
    /// The lanes that were read for this bucket.
    read: Vec<u8>,
    /// Where each group is in `docs`.
    groups: Vec<Range<usize>>,
    left: usize,
    right: usize,
    /// The ids of the left group, read when first needed.
    left_ids: Option<Vec<String>>,
}

/// Pairs of two groups, or within one, that are being handed out.
struct Block {
    left: Vec<String>,
    /// `None` for pairs within the left group.
    right: Option<Vec<String>>,
    equal: usize,
    at: (usize, usize),
}

impl<'s> Pairs<'s> {
    pub(super) fn new(snapshot: &'s Snapshot, threshold: Threshold) -> Self {
        let settings = snapshot.settings();
        Self {
            snapshot,
            plan: settings.plan,
            probe: Probe::new(settings.plan, threshold, settings.recall),
            least: least_equal_lanes(threshold.get(), settings.lanes.get()),
            band: 0,
            entries: None,
            ahead: None,
            docs: Vec::new(),
            loaded: None,
            bucket: Bucket::default(),
            block: None,
            failed: false,
        }
    }

    /// The probability with which a pair at the threshold becomes a candidate, at least.
    pub fn recall(&self) -> f64 {
        self.probe.recall()
    }

    fn advance(&mut self) -> Result<Option<Pair>> {
        loop {
            if let Some(block) = &mut self.block {
                if let Some(pair) = block.next(self.snapshot.settings().lanes.get()) {
                    return Ok(Some(pair));
                }
                let block = self.block.take();
                if let Some(Block { left, right: Some(_), .. }) = block {
                    self.bucket.left_ids = Some(left);
                }
            }
            if !self.next_block()? && !self.next_bucket()? {
                return Ok(None);
            }
        }
    }

    /// Finds the next two groups of the bucket that are to be reported.
    fn next_block(&mut self) -> Result<bool> {
        let Self { bucket, loaded: Some(loaded), .. } = self else { return Ok(false) };
        while let Some(left) = bucket.groups.get(bucket.left) {
            let Some(right) = bucket.groups.get(bucket.right) else {
                bucket.left += 1;
                bucket.right = bucket.left;
                bucket.left_ids = None;
                continue;
            };
            let same = bucket.left == bucket.right;
            bucket.right += 1;
            let lanes =
                [left, right].map(|group| bucket.lanes_at(loaded, bucket.docs[group.start].0));
            let candidates = match same {
                // Equal signatures meet in the first band.
                true => self.band == 0 && left.len() > 1,
                false => !met_before(lanes[0], lanes[1], self.band, self.probe.depth()),
            };
            if !candidates {
                continue;
            }
            let equal = equal_lanes(lanes[0], lanes[1]);
            if equal >= self.least {
                let left_ids = match (bucket.left_ids.take(), same) {
                    (Some(ids), false) => ids,
                    _ => ids(self.snapshot, &bucket.docs[left.clone()])?,
                };
                let right_ids = match same {
                    true => None,
                    false => Some(ids(self.snapshot, &bucket.docs[right.clone()])?),
                };
                let at = (0, usize::from(same));
                self.block = Some(Block { left: left_ids, right: right_ids, equal, at });
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reads the next bucket that holds more than one document.
    fn next_bucket(&mut self) -> Result<bool> {
        let view = self.snapshot.reader().view();
        let lanes = self.snapshot.settings().lanes.get();
        let loaded = match &mut self.loaded {
            Some(loaded) => loaded,
            none => {
                let budget = self.snapshot.reader().engine().cache_bytes();
                none.insert(LoadedSignatures::read(&view, lanes, self.snapshot.len(), budget)?)
            }
        };
        while self.band < self.probe.bands() {
            let band = BandNo(self.band as u8);
            let entries = self.entries.get_or_insert_with(|| BandEntries::new(&view, band));
            let first = match self.ahead.take() {
                Some(first) => Some(first),
                None => entries.next(&view)?,
            };
            let Some((word, doc)) = first else {
                self.entries = None;
                self.band += 1;
                continue;
            };
            let range = self.probe.bucket(word, self.plan);
            let docs = &mut self.docs;
            docs.clear();
            docs.push(doc);
            while let Some(entry) = entries.next(&view)? {
                if entry.0 > range.last {
                    self.ahead = Some(entry);
                    break;
                }
                docs.push(entry.1);
            }
            if docs.len() > 1 {
                self.bucket.fill(&view, loaded, docs)?;
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Bucket {
    /// Takes the documents of the next bucket and groups them by signature, in the order of
    /// signatures.
    fn fill<P: ChunkTable, D: DocTable>(
        &mut self,
        view: &View<'_, P, D>,
        loaded: &LoadedSignatures,
        docs: &[DocNo],
    ) -> Result<()> {
        let mut rows = std::mem::take(&mut self.docs);
        let mut groups = std::mem::take(&mut self.groups);
        rows.clear();
        groups.clear();
        *self = Self { read: std::mem::take(&mut self.read), ..Self::default() };
        self.read.clear();
        for &doc in docs {
            let place = match loaded.place(doc) {
                Some(place) => Place::Loaded(place),
                None => {
                    let start = self.read.len();
                    view.with_signature(doc, |lanes, _| self.read.extend_from_slice(lanes))?;
                    Place::Read(start)
                }
            };
            rows.push((place, doc));
        }
        let lanes = |place| self.lanes_at(loaded, place);
        rows.sort_unstable_by(|a, b| lanes(a.0).cmp(lanes(b.0)).then(a.1.cmp(&b.1)));
        let mut start = 0;
        for equals in rows.chunk_by(|a, b| lanes(a.0) == lanes(b.0)) {
            groups.push(start..start + equals.len());
            start += equals.len();
        }
        (self.docs, self.groups) = (rows, groups);
        Ok(())
    }

    fn lanes_at<'b>(&'b self, loaded: &'b LoadedSignatures, place: Place) -> &'b [u8] {
        match place {
            Place::Loaded(place) => loaded.lanes(place),
            Place::Read(start) => &self.read[start..start + loaded.width()],
        }
    }
}

/// The ids of the documents, sorted.
fn ids(snapshot: &Snapshot, docs: &[(Place, DocNo)]) -> Result<Vec<String>> {
    let view = snapshot.view();
    let ids = docs.iter().map(|(_, doc)| Ok(view.document(*doc)?.id));
    let mut ids = ids.collect::<Result<Vec<String>>>()?;
    ids.sort_unstable();
    Ok(ids)
}

/// Whether two signatures share a bucket in a band before this one.
fn met_before(a: &[u8], b: &[u8], band: usize, depth: u32) -> bool {
    (0..band).any(|band| word(a, band, depth) == word(b, band, depth))
}

impl Block {
    fn next(&mut self, lanes: usize) -> Option<Pair> {
        let right = self.right.as_ref().unwrap_or(&self.left);
        if self.at.1 >= right.len() {
            let next = self.at.0 + 1;
            self.at = (next, if self.right.is_some() { 0 } else { next + 1 });
        }
        let (x, y) = (self.left.get(self.at.0)?, right.get(self.at.1)?);
        self.at.1 += 1;
        let (a, b) = match x.cmp(y) {
            Ordering::Greater => (y, x),
            _ => (x, y),
        };
        let Match { similarity, low, high, exact, .. } =
            Match::estimated(String::new(), self.equal, lanes);
        Some(Pair { a: a.clone(), b: b.clone(), similarity, low, high, exact })
    }
}

impl Iterator for Pairs<'_> {
    type Item = Result<Pair>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let next = self.advance().transpose();
        self.failed = matches!(next, Some(Err(_)));
        next
    }
}
