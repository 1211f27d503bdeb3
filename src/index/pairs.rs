//! All pairs of similar documents, band by band and bucket by bucket.

use super::query::Match;
use super::snapshot::Snapshot;
use crate::error::Result;
use crate::estimate::{equal_lanes, least_equal_lanes};
use crate::lsh::{BAND_LANES, BandPlan, Probe};
use crate::params::Threshold;
use crate::store::{BandEntries, BandNo, DocNo};
use std::cmp::Ordering;
use std::collections::BTreeMap;

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
    bucket: Bucket,
    block: Option<Block>,
    failed: bool,
}

/// Documents with one and the same signature.
struct Group {
    lanes: Box<[u8]>,
    docs: Vec<DocNo>,
}

/// A bucket that is being worked on: each group with itself, then with those after it.
#[derive(Default)]
struct Bucket {
    groups: Vec<Group>,
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
        let bucket = &mut self.bucket;
        while let Some(left) = bucket.groups.get(bucket.left) {
            let Some(right) = bucket.groups.get(bucket.right) else {
                bucket.left += 1;
                bucket.right = bucket.left;
                bucket.left_ids = None;
                continue;
            };
            let same = bucket.left == bucket.right;
            bucket.right += 1;
            let wanted = match same {
                // Equal signatures meet in the first band.
                true => self.band == 0 && left.docs.len() > 1,
                false => {
                    !met_before(&left.lanes, &right.lanes, self.band, self.probe.depth())
                        && equal_lanes(&left.lanes, &right.lanes) >= self.least
                }
            };
            if wanted {
                let left_ids = match (bucket.left_ids.take(), same) {
                    (Some(ids), false) => ids,
                    _ => ids(self.snapshot, &left.docs)?,
                };
                let right_ids = match same {
                    true => None,
                    false => Some(ids(self.snapshot, &right.docs)?),
                };
                self.block = Some(Block {
                    left: left_ids,
                    right: right_ids,
                    equal: equal_lanes(&left.lanes, &right.lanes),
                    at: (0, usize::from(same)),
                });
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reads the next bucket that holds more than one document.
    fn next_bucket(&mut self) -> Result<bool> {
        let view = self.snapshot.reader().view();
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
            let mut docs = vec![doc];
            while let Some(entry) = entries.next(&view)? {
                if entry.0 > range.last {
                    self.ahead = Some(entry);
                    break;
                }
                docs.push(entry.1);
            }
            if docs.len() > 1 {
                self.bucket = Bucket::read(self.snapshot, &docs)?;
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Bucket {
    /// Groups documents by signature, in the order of signatures.
    fn read(snapshot: &Snapshot, docs: &[DocNo]) -> Result<Self> {
        let view = snapshot.view();
        let mut groups: BTreeMap<Box<[u8]>, Vec<DocNo>> = BTreeMap::new();
        for &doc in docs {
            view.with_signature(doc, |lanes, _| match groups.get_mut(lanes) {
                Some(docs) => docs.push(doc),
                None => {
                    groups.insert(lanes.into(), vec![doc]);
                }
            })?;
        }
        let groups = groups.into_iter().map(|(lanes, docs)| Group { lanes, docs }).collect();
        Ok(Self { groups, ..Self::default() })
    }
}

/// The ids of the documents, sorted.
fn ids(snapshot: &Snapshot, docs: &[DocNo]) -> Result<Vec<String>> {
    let view = snapshot.view();
    let ids = docs.iter().map(|doc| Ok(view.document(*doc)?.id));
    let mut ids = ids.collect::<Result<Vec<String>>>()?;
    ids.sort_unstable();
    Ok(ids)
}

/// Whether two signatures share a bucket in a band before this one.
fn met_before(a: &[u8], b: &[u8], band: usize, depth: u32) -> bool {
    let depth = depth as usize;
    a.chunks(BAND_LANES)
        .zip(b.chunks(BAND_LANES))
        .take(band)
        .any(|(a, b)| a.get(..depth) == b.get(..depth))
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
