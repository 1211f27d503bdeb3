//! All pairs of similar documents, band by band and bucket by bucket.

use super::block::{Block, Counts, Named};
use super::groups::Groups;
use super::query::Match;
use super::snapshot::Snapshot;
use crate::error::Result;
use crate::estimate::{Agreement, equal_lanes, least_equal_lanes};
use crate::lsh::Probe;
use crate::params::{Confidence, Threshold};
use crate::store::DocNo;
use std::cmp::Ordering;

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
    least: usize,
    /// The ids of the group on the left, read when first needed.
    left: Option<(usize, Vec<Named>)>,
    block: Option<Block>,
    /// The similarity of the pairs of the block, and its interval.
    like: Match,
    confidence: Confidence,
    counts: Option<Counts>,
    left_out: u64,
    failed: bool,
}

impl<'s> Pairs<'s> {
    pub(super) fn new(snapshot: &'s Snapshot, threshold: Threshold) -> Self {
        let settings = snapshot.settings();
        let probe = Probe::new(settings.plan, threshold, settings.recall);
        let lanes = settings.lanes.get();
        Self {
            snapshot,
            groups: Groups::new(snapshot, probe),
            least: least_equal_lanes(threshold.get(), lanes),
            left: None,
            block: None,
            like: Match::estimated(String::new(), 0, lanes),
            confidence: Confidence::DEFAULT,
            counts: None,
            left_out: 0,
            failed: false,
        }
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

    /// The probability with which a pair at the threshold becomes a candidate, at least.
    pub fn recall(&self) -> f64 {
        self.groups.probe().recall()
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
            }
        }
    }

    /// Finds the next two groups of the bucket that are to be reported.
    fn next_block(&mut self) -> Result<bool> {
        while let Some((left, right)) = self.groups.next_two()? {
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
            let (of_left, of_right) = (self.groups.docs(left).len(), self.groups.docs(right).len());
            let all = pairs_of(of_left, (!same).then_some(of_right));
            if let Some(counts) = &self.counts
                && (counts.none_open(self.groups.docs(left))
                    || counts.none_open(self.groups.docs(right)))
            {
                self.left_out += all;
                continue;
            }
            let named = match self.left.take() {
                Some((group, named)) if group == left => named,
                _ => self.named(left)?,
            };
            let others = if same { None } else { Some(self.named(right)?) };
            // Those that were in enough pairs already have no name.
            let of_named = pairs_of(named.len(), others.as_ref().map(Vec::len));
            self.left_out += all - of_named;
            self.block = Some(Block::new(left, named, others, self.counts.is_some()));
            let agreement = Agreement::new(equal, x.len());
            self.like = Match::estimated_at(String::new(), agreement, self.confidence);
            return Ok(true);
        }
        Ok(false)
    }

    /// The documents of a group that may be reported, by id.
    fn named(&self, group: usize) -> Result<Vec<Named>> {
        let view = self.snapshot.view();
        let is_open = |doc: &DocNo| self.counts.as_ref().is_none_or(|counts| counts.is_open(*doc));
        let docs = self.groups.docs(group).iter().copied().filter(is_open);
        let named = docs.map(|doc| Ok(Named { id: view.document(doc)?.id, doc }));
        let mut named = named.collect::<Result<Vec<Named>>>()?;
        named.sort_unstable_by(|a, b| a.id.cmp(&b.id));
        Ok(named)
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
