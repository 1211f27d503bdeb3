//! All pairs of similar documents, band by band and bucket by bucket.

use super::block::{Block, Counts, Named};
use super::groups::Groups;
use super::matches::{Likeness, Match};
use super::snapshot::Snapshot;
use super::verify::Verifier;
use crate::error::Result;
use crate::estimate::{equal_lanes, least_equal_lanes};
use crate::lsh::Probe;
use crate::params::{Confidence, Threshold};
use crate::store::DocNo;
use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use std::collections::VecDeque;

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
    /// The lower end of the similarity's interval, at the confidence that was asked for or 95 %.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
    /// Whether the similarity is exact rather than estimated.
    pub exact: bool,
}

/// The pairs of a snapshot, each once.
///
/// Their order is fixed by the documents alone: the first band in which two meet, their bucket,
/// their signatures (in a bucket of more than 1,024 different ones, square by square of so many),
/// their ids. Documents with equal signatures are compared as one. A pair is reported in the first
/// band where it meets, which its signatures tell, so that no pair has to be remembered.
///
/// Memory: the [cache](crate::IndexOptions::cache_bytes) a second time, for signatures; some 30
/// bytes for each document of the largest bucket; and the ids of two groups of documents with
/// equal signatures.
///
/// ```
/// # fn main() -> twindex::Result<()> {
/// # let folder = tempfile::tempdir().expect("a temporary folder");
/// # let index = twindex::Index::create(folder.path().join("p.twx"))?;
/// # let mut txn = index.begin_write()?;
/// # for id in ["a", "b", "c"] { txn.insert(id, "one text for all of them")?; }
/// # txn.commit()?;
/// let snapshot = index.snapshot()?;
/// let mut pairs = snapshot.pairs(0.9)?.max_per_document(1);
/// assert_eq!(pairs.by_ref().count(), 1);
/// assert_eq!(pairs.left_out(), 2);
/// # Ok(())
/// # }
/// ```
pub struct Pairs<'s> {
    snapshot: &'s Snapshot,
    groups: Groups<'s>,
    threshold: Threshold,
    least: usize,
    recall: f64,
    /// What texts are compared by; `None` for estimates.
    exact: Option<Parted<'s>>,
    /// What was found to be similar and is not reported yet.
    similar: VecDeque<Similar>,
    /// The ids of the documents on the left and the first of them, read when first needed.
    left: Option<(DocNo, Vec<Named>)>,
    block: Option<Block>,
    /// The similarity of the pairs of the block, and its interval.
    like: Match,
    confidence: Confidence,
    counts: Option<Counts>,
    left_out: u64,
    failed: bool,
}

/// Documents that are all similar to all others, or to one another where there are no others.
struct Similar {
    left: Vec<DocNo>,
    right: Option<Vec<DocNo>>,
    likeness: Likeness,
}

/// Groups of equal signatures, parted by what their texts are made of.
struct Parted<'s> {
    verifier: Verifier<'s>,
    /// Those of the bucket that have several documents.
    parts: FxHashMap<usize, Vec<Vec<DocNo>>>,
}

impl<'s> Pairs<'s> {
    pub(super) fn new(snapshot: &'s Snapshot, threshold: Threshold) -> Self {
        let settings = snapshot.settings();
        let probe = Probe::new(settings.plan, threshold, settings.recall);
        let lanes = settings.lanes.get();
        let pairs = Self {
            snapshot,
            groups: Groups::new(snapshot, probe),
            threshold,
            least: least_equal_lanes(threshold.get(), lanes),
            recall: probe.recall(),
            exact: None,
            similar: VecDeque::new(),
            left: None,
            block: None,
            like: Likeness::Exact(0.0).named(String::new(), lanes, Confidence::DEFAULT),
            confidence: Confidence::DEFAULT,
            counts: None,
            left_out: 0,
            failed: false,
        };
        pairs.estimate(false)
    }

    /// Goes by estimates although the index stores texts: faster, as no text is read.
    ///
    /// To be called before the first pair is taken.
    pub fn estimate(mut self, estimate: bool) -> Self {
        let settings = self.snapshot.settings();
        let (threshold, lanes) = (self.threshold, settings.lanes.get());
        if settings.store_text && !estimate {
            let margin = self.snapshot.margins.of(settings, threshold, settings.recall, false);
            (self.least, self.recall) = (margin.least, margin.recall);
            let verifier = Verifier::new(self.snapshot);
            self.exact = Some(Parted { verifier, parts: FxHashMap::default() });
        } else {
            self.least = least_equal_lanes(threshold.get(), lanes);
            self.recall = self.groups.probe().recall();
            self.exact = None;
        }
        self
    }

    /// Reports each document in at most so many pairs: a pair is reported if, when its turn comes,
    /// neither has been in so many. Takes 4 bytes a document; of `n` documents with equal
    /// signatures, about `n * most` pairs are looked at instead of `n * n`.
    ///
    /// To be called before the first pair is taken.
    pub fn max_per_document(mut self, most: u32) -> Self {
        self.counts = Some(Counts::new(most));
        self
    }

    /// Sets the probability with which [`Pair::low`] and [`Pair::high`] enclose the true similarity:
    /// above 0, below 1; default is 0.95. It changes what is said of pairs, not which there are.
    ///
    /// To be called before the first pair is taken.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`](crate::Error::InvalidSetting) for another number.
    pub fn confidence(mut self, confidence: f64) -> Result<Self> {
        self.confidence = Confidence::new(confidence)?;
        Ok(self)
    }

    /// How many pairs [`max_per_document`](Self::max_per_document) left out so far; all of them once
    /// there are no more pairs.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// The probability with which a pair at the threshold becomes a candidate, at least; with stored
    /// texts, with which it is reported.
    pub fn recall(&self) -> f64 {
        self.recall
    }

    fn advance(&mut self) -> Result<Option<Pair>> {
        loop {
            if let Some(block) = &mut self.block {
                let next = block.next(self.counts.as_mut(), &mut self.left_out);
                if let Some((x, y)) = next {
                    let (a, b) = match x.id.cmp(&y.id) {
                        Ordering::Greater => (y, x),
                        _ => (x, y),
                    };
                    let (a, b) = (a.id.clone(), b.id.clone());
                    let Match { similarity, low, high, exact, .. } = self.like;
                    return Ok(Some(Pair { a, b, similarity, low, high, exact }));
                }
                self.left = self.block.take().map(Block::into_left);
            }
            if !self.next_block()? {
                self.left = None;
                if !self.groups.next_bucket()? {
                    return Ok(None);
                }
                if let Some(exact) = &mut self.exact {
                    exact.parts.clear();
                }
            }
        }
    }

    /// Finds the next documents of the bucket that are to be reported.
    fn next_block(&mut self) -> Result<bool> {
        loop {
            while let Some(similar) = self.similar.pop_front() {
                if self.begin(similar)? {
                    return Ok(true);
                }
            }
            let Some((left, right)) = self.groups.next_two()? else { return Ok(false) };
            let (x, y) = self.groups.lanes((left, right));
            let same = left == right;
            let met = match same {
                true => !self.groups.in_first_band() || self.groups.docs(left).len() < 2,
                false => self.groups.met_before(x, y),
            };
            if met {
                continue;
            }
            let equal = equal_lanes(x, y);
            if equal < self.least {
                continue;
            }
            match &mut self.exact {
                Some(exact) => {
                    let least = self.threshold.get();
                    exact.compare(&self.groups, (left, right), least, &mut self.similar)?;
                }
                None => self.similar.push_back(Similar {
                    left: self.groups.docs(left).to_vec(),
                    right: (!same).then(|| self.groups.docs(right).to_vec()),
                    likeness: Likeness::Estimated(equal),
                }),
            }
        }
    }

    /// Begins to report documents; false if none of them may be reported again.
    fn begin(&mut self, similar: Similar) -> Result<bool> {
        let Similar { left, right, likeness } = similar;
        let all = pairs_of(left.len(), right.as_ref().map(Vec::len));
        if let Some(counts) = &self.counts
            && (counts.none_open(&left)
                || right.as_ref().is_some_and(|docs| counts.none_open(docs)))
        {
            self.left_out += all;
            return Ok(false);
        }
        let Some(first) = left.first().copied() else { return Ok(false) };
        let named = match self.left.take() {
            Some((of, named)) if of == first => named,
            _ => self.named(&left)?,
        };
        let others = right.map(|docs| self.named(&docs)).transpose()?;
        // Those that were in enough pairs already have no name.
        let of_named = pairs_of(named.len(), others.as_ref().map(Vec::len));
        self.left_out += all - of_named;
        self.block = Some(Block::new(first, named, others, self.counts.is_some()));
        let lanes = self.snapshot.settings().lanes.get();
        self.like = likeness.named(String::new(), lanes, self.confidence);
        Ok(true)
    }

    /// Those of the documents that may be reported, by id.
    fn named(&self, docs: &[DocNo]) -> Result<Vec<Named>> {
        let view = self.snapshot.view();
        let is_open = |doc: &DocNo| self.counts.as_ref().is_none_or(|counts| counts.is_open(*doc));
        let docs = docs.iter().copied().filter(is_open);
        let named = docs.map(|doc| Ok(Named { id: view.document(doc)?.id, doc }));
        let mut named = named.collect::<Result<Vec<Named>>>()?;
        named.sort_unstable_by(|a, b| a.id.cmp(&b.id));
        Ok(named)
    }
}

impl Parted<'_> {
    /// Finds the parts of two groups, or of one, that are similar.
    fn compare(
        &mut self,
        groups: &Groups<'_>,
        (left, right): (usize, usize),
        threshold: f64,
        similar: &mut VecDeque<Similar>,
    ) -> Result<()> {
        let (lefts, rights) = (self.take(groups, left)?, self.take(groups, right)?);
        for (at, x) in lefts.iter().enumerate() {
            if left == right && x.len() > 1 {
                let (left, likeness) = (x.clone(), Likeness::Exact(1.0));
                similar.push_back(Similar { left, right: None, likeness });
            }
            // Within a group every two parts are compared once.
            for y in rights.iter().skip(if left == right { at + 1 } else { 0 }) {
                let (Some(a), Some(b)) = (x.first(), y.first()) else { continue };
                let similarity = self.verifier.similarity(*a, *b)?;
                if similarity >= threshold {
                    let (left, right) = (x.clone(), Some(y.clone()));
                    let likeness = Likeness::Exact(similarity);
                    similar.push_back(Similar { left, right, likeness });
                }
            }
        }
        self.keep(left, lefts);
        self.keep(right, rights);
        Ok(())
    }

    /// The parts of a group of the bucket.
    fn take(&mut self, groups: &Groups<'_>, group: usize) -> Result<Vec<Vec<DocNo>>> {
        match self.parts.get(&group) {
            Some(parts) => Ok(parts.clone()),
            None => self.verifier.alike(groups.docs(group)),
        }
    }

    fn keep(&mut self, group: usize, parts: Vec<Vec<DocNo>>) {
        // That one document is one part needs no remembering.
        if parts.iter().map(Vec::len).sum::<usize>() > 1 {
            self.parts.entry(group).or_insert(parts);
        }
    }
}

/// How many pairs there are between two groups, or within one.
fn pairs_of(left: usize, right: Option<usize>) -> u64 {
    let left = left as u64;
    match right {
        Some(right) => left * right as u64,
        None => left * left.saturating_sub(1) / 2,
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
