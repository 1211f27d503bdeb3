//! The iterator over all pairs of similar documents, band by band and bucket by bucket.

use crate::error::Result;
use crate::estimate::{equal_lanes_from, least_equal_lanes};
use crate::index::ask::matches::{Match, Score};
use crate::index::ask::verifier::Verifier;
use crate::index::group::groups::Groups;
use crate::index::group::pair_block::{NamedDoc, PairBlock, PairCounts};
use crate::index::snapshot::Snapshot;
use crate::lsh::Probe;
use crate::params::{Confidence, Threshold};
use crate::store::DocNo;
use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

/// A pair of similar documents.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Pair {
    /// The smaller of the two ids, in byte order.
    pub a: String,
    /// The greater id.
    pub b: String,
    /// The Jaccard similarity, from 0 to 1.
    pub similarity: f64,
    /// The lower end of the confidence interval of the similarity, at the confidence set by
    /// [`Pairs::confidence`]. Equals the similarity if that is exact.
    pub low: f64,
    /// The upper end of the confidence interval.
    pub high: f64,
    /// Whether the similarity was computed exactly from stored texts rather than estimated.
    pub exact: bool,
}

/// An iterator over the similar pairs of a snapshot. Each pair is returned once.
///
/// The order depends on the documents alone. Pairs are sorted by the first band in which the two
/// documents share a bucket, then by bucket, by signatures and by ids. A bucket with more than
/// 1,024 distinct signatures is processed in squares of 1,024 by 1,024.
///
/// Documents with equal signatures are compared as one. The two signatures show which band is the
/// first they share, and the pair is reported only there, so no list of reported pairs is needed.
///
/// Memory: once more the [cache size](crate::IndexOptions::cache_bytes) for signatures, 1.25 times
/// as much if texts are compared, about 30 bytes for each document of the largest bucket, and the
/// ids of two groups of documents with equal signatures.
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
    /// Compares texts; `None` for estimates.
    exact: Option<ContentParts<'s>>,
    /// The two groups that are being compared.
    comparing: Option<Comparing>,
    /// Two groups of the bucket that come next. The pairs that are compared now decide whether the
    /// limit leaves them out.
    undecided: Option<(usize, usize)>,
    /// Similar parts that were found ahead of those being reported.
    ahead: VecDeque<Similar>,
    /// The documents on the left with their ids, and the first of them; read on first use.
    left: Option<(DocNo, Vec<NamedDoc>)>,
    /// The pairs that are being reported.
    block: Option<PairBlock>,
    /// The similarity of all pairs in the block, with its interval.
    block_match: Match,
    confidence: Confidence,
    counts: Option<PairCounts>,
    left_out: u64,
    failed: bool,
}

impl fmt::Debug for Pairs<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pairs")
            .field("snapshot", self.snapshot)
            .field("threshold", &self.threshold)
            .field("left_out", &self.left_out)
            .finish_non_exhaustive()
    }
}

/// Documents with equal signatures, split into parts with equal content. Without texts, there is
/// only one part.
type Parts = Arc<Vec<Vec<DocNo>>>;

/// Compares every part of one group with every part of another, or of the same group.
struct Comparing {
    lefts: Parts,
    /// `None` if the group on the left is compared with itself.
    rights: Option<Parts>,
    /// The next two parts. In a single group, equal values mean the pairs within that part.
    at: (usize, usize),
    /// The number of equal lanes of the two groups.
    equal: usize,
}

/// Two parts that are similar: by estimate, until their texts are compared.
struct Similar {
    lefts: Parts,
    /// `None` for the pairs within the part on the left.
    rights: Option<Parts>,
    at: (usize, usize),
    score: Score,
}

/// Splits the groups of a bucket by their texts.
struct ContentParts<'s> {
    verifier: Verifier<'s>,
    /// The parts of each group with several documents, by group.
    parts: FxHashMap<usize, Parts>,
}

impl<'s> Pairs<'s> {
    pub(crate) fn new(snapshot: &'s Snapshot, threshold: Threshold) -> Self {
        let settings = snapshot.settings();
        let probe = Probe::of(settings.plan, threshold, settings.recall);
        let lanes = settings.lanes.get();
        let pairs = Self {
            snapshot,
            groups: Groups::new(snapshot, probe),
            threshold,
            least: least_equal_lanes(threshold.get(), lanes),
            recall: probe.recall(),
            exact: None,
            comparing: None,
            undecided: None,
            ahead: VecDeque::new(),
            left: None,
            block: None,
            block_match: Score::Exact(0.0).named(String::new(), lanes, Confidence::DEFAULT),
            confidence: Confidence::DEFAULT,
            counts: None,
            left_out: 0,
            failed: false,
        };
        pairs.estimate(false)
    }

    /// Uses estimates even if the index stores texts. This is faster because no text is read.
    ///
    /// Call it before taking the first pair.
    pub fn estimate(mut self, estimate: bool) -> Self {
        let settings = self.snapshot.settings();
        let (threshold, lanes) = (self.threshold, settings.lanes.get());
        if settings.store_text && !estimate {
            let margin = self.snapshot.margins.of(settings, threshold, settings.recall, false);
            (self.least, self.recall) = (margin.least, margin.recall);
            let verifier = Verifier::new(self.snapshot);
            self.exact = Some(ContentParts { verifier, parts: FxHashMap::default() });
        } else {
            self.least = least_equal_lanes(threshold.get(), lanes);
            self.recall = self.groups.probe().recall();
            self.exact = None;
        }
        self
    }

    /// Limits the number of pairs in which each document is reported to `most`. A pair is left out
    /// if one of its documents has already been reported in `most` pairs.
    ///
    /// Takes 4 bytes of memory per document. With stored texts, it takes some 30 more for each
    /// document of the pairs that are compared at once. For `n` documents with equal signatures,
    /// the iterator examines about `n * most` pairs instead of `n * n`.
    ///
    /// Call it before taking the first pair.
    pub fn max_per_document(mut self, most: u32) -> Self {
        self.counts = Some(PairCounts::new(most));
        self
    }

    /// Sets the probability that the interval from [`Pair::low`] to [`Pair::high`] contains the
    /// true similarity: above 0, below 1. The default is 0.95. It changes the intervals, not which
    /// pairs are reported.
    ///
    /// Call it before taking the first pair.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`](crate::Error::InvalidSetting) for a number out of range.
    pub fn confidence(mut self, confidence: f64) -> Result<Self> {
        self.confidence = Confidence::new(confidence)?;
        Ok(self)
    }

    /// The number of pairs that [`max_per_document`](Self::max_per_document) has left out so far.
    /// The count is complete once the iterator has ended. With stored texts it is an upper bound:
    /// texts of documents that have reached the limit are not compared, so pairs count whose
    /// signatures alone are similar enough to compare them.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// A lower bound on the probability that a pair at the threshold becomes a candidate; with
    /// stored texts, that it is reported. From 0 to 1.
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
                    let Match { similarity, low, high, exact, .. } = self.block_match;
                    return Ok(Some(Pair { a, b, similarity, low, high, exact }));
                }
                self.left = self.block.take().map(PairBlock::into_left);
            }
            let Some(similar) = self.next_similar()? else { return Ok(None) };
            self.begin(&similar)?;
        }
    }

    /// Finds the next two parts that are similar.
    fn next_similar(&mut self) -> Result<Option<Similar>> {
        /// The number of pairs of texts that are compared together, on all threads.
        const AHEAD: usize = 4096;
        if self.exact.is_none() {
            return self.next_candidate();
        }
        while self.ahead.is_empty() {
            self.counts.iter_mut().for_each(PairCounts::expect_nothing);
            let mut candidates = Vec::new();
            while candidates.len() < AHEAD
                && let Some(candidate) = self.next_candidate()?
            {
                if let Some(counts) = &mut self.counts {
                    let (left, right) = candidate.docs();
                    counts.expect(left, right);
                }
                candidates.push(candidate);
            }
            if candidates.is_empty() {
                return Ok(None);
            }
            if let Some(exact) = &mut self.exact {
                self.ahead = exact.verified(candidates, self.threshold.get())?;
            }
        }
        Ok(self.ahead.pop_front())
    }

    /// Finds the next two parts that are similar by estimate. Returns `None` at the end, and while
    /// the pairs that are compared now decide whether the limit leaves the next two out.
    fn next_candidate(&mut self) -> Result<Option<Similar>> {
        loop {
            if let Some(comparing) = &mut self.comparing {
                match comparing.next() {
                    Some(candidate) => return Ok(Some(candidate)),
                    None => self.comparing = None,
                }
            }
            let two = match self.undecided.take() {
                Some(two) => Some(two),
                None => self.groups.next_two()?,
            };
            let Some((left, right)) = two else {
                self.left = None;
                if !self.groups.next_bucket()? {
                    return Ok(None);
                }
                if let Some(exact) = &mut self.exact {
                    exact.parts.clear();
                }
                continue;
            };
            let (x, y) = self.groups.lanes((left, right));
            let same = left == right;
            if same && self.groups.docs(left).len() < 2 {
                continue;
            }
            let Some(equal) = equal_lanes_from(x, y, self.least) else { continue };
            if self.has_reached_limit(left) || self.has_reached_limit(right) {
                // Whether their texts are similar would take long to say, and changes no answer.
                let others = (!same).then(|| self.groups.docs(right).len());
                self.left_out += pairs_of(self.groups.docs(left).len(), others);
                continue;
            }
            if self.may_reach_limit(left) || self.may_reach_limit(right) {
                self.undecided = Some((left, right));
                return Ok(None);
            }
            let lefts = self.parts(left)?;
            let rights = if same { None } else { Some(self.parts(right)?) };
            self.comparing = Some(Comparing { lefts, rights, at: (0, 0), equal });
        }
    }

    /// Whether all documents of a group of the bucket have reached the limit.
    fn has_reached_limit(&self, group: usize) -> bool {
        let docs = self.groups.docs(group);
        self.counts.as_ref().is_some_and(|counts| counts.none_open(docs))
    }

    /// Whether a document of a group may reach the limit by the pairs that are compared now.
    fn may_reach_limit(&self, group: usize) -> bool {
        let docs = self.groups.docs(group);
        self.counts.as_ref().is_some_and(|counts| counts.may_reach_limit(docs))
    }

    /// The parts of a group of the bucket.
    fn parts(&mut self, group: usize) -> Result<Parts> {
        match &mut self.exact {
            Some(exact) => exact.parts(&self.groups, group),
            None => Ok(Arc::new(vec![self.groups.docs(group).to_vec()])),
        }
    }

    /// Begins to report the pairs of two parts, unless all documents on one side have reached the
    /// limit.
    fn begin(&mut self, similar: &Similar) -> Result<()> {
        let (left, right) = similar.docs();
        let all = pairs_of(left.len(), right.map(<[DocNo]>::len));
        if let Some(counts) = &self.counts
            && (counts.none_open(left) || right.is_some_and(|docs| counts.none_open(docs)))
        {
            self.left_out += all;
            return Ok(());
        }
        let Some(first) = left.first().copied() else { return Ok(()) };
        let named = match self.left.take() {
            Some((of, named)) if of == first => named,
            _ => self.named(left)?,
        };
        let others = right.map(|docs| self.named(docs)).transpose()?;
        // `named` drops the documents that have reached the limit.
        let of_named = pairs_of(named.len(), others.as_ref().map(Vec::len));
        self.left_out += all - of_named;
        self.block = Some(PairBlock::new(first, named, others, self.counts.is_some()));
        let lanes = self.snapshot.settings().lanes.get();
        self.block_match = similar.score.named(String::new(), lanes, self.confidence);
        Ok(())
    }

    /// Reads the ids of the documents below the limit, and sorts them by id.
    fn named(&self, docs: &[DocNo]) -> Result<Vec<NamedDoc>> {
        let view = self.snapshot.view();
        let is_open = |doc: &DocNo| self.counts.as_ref().is_none_or(|counts| counts.is_open(*doc));
        let docs = docs.iter().copied().filter(is_open);
        let named = docs.map(|doc| Ok(NamedDoc { id: view.document(doc)?.id, doc }));
        let mut named = named.collect::<Result<Vec<NamedDoc>>>()?;
        named.sort_unstable_by(|a, b| a.id.cmp(&b.id));
        Ok(named)
    }
}

impl Comparing {
    /// The next two parts.
    fn next(&mut self) -> Option<Similar> {
        loop {
            let (left, right) = self.at;
            let rights = self.rights.as_ref().unwrap_or(&self.lefts);
            let (x, Some(y)) = (self.lefts.get(left)?, rights.get(right)) else {
                let next = left + 1;
                self.at = (next, if self.rights.is_some() { 0 } else { next });
                continue;
            };
            self.at.1 += 1;
            let within = self.rights.is_none() && left == right;
            if x.is_empty() || y.is_empty() || within && x.len() < 2 {
                continue;
            }
            let (lefts, score) = (Arc::clone(&self.lefts), Score::Estimated(self.equal));
            let rights = (!within).then(|| Arc::clone(rights));
            return Some(Similar { lefts, rights, at: (left, right), score });
        }
    }
}

impl Similar {
    /// A document of either side.
    fn firsts(&self) -> Option<(DocNo, DocNo)> {
        let (left, right) = self.docs();
        Some((*left.first()?, *right.unwrap_or(left).first()?))
    }

    /// The documents on the left, and those on the right unless both sides are the same part.
    fn docs(&self) -> (&[DocNo], Option<&[DocNo]>) {
        let (left, right) = self.at;
        (&self.lefts[left], self.rights.as_ref().map(|rights| &rights[right][..]))
    }
}

impl ContentParts<'_> {
    /// The candidates whose exact similarity is at least `least`.
    fn verified(&mut self, candidates: Vec<Similar>, least: f64) -> Result<VecDeque<Similar>> {
        let pairs: Vec<(DocNo, DocNo)> = candidates.iter().filter_map(Similar::firsts).collect();
        let compared = self.verifier.similarities(&pairs)?;
        let scored = candidates.into_iter().zip(compared);
        let similar = scored.filter(|(_, similarity)| *similarity >= least);
        let score = |(similar, similarity)| Similar { score: Score::Exact(similarity), ..similar };
        Ok(similar.map(score).collect())
    }

    /// The parts of a group of the bucket.
    fn parts(&mut self, groups: &Groups<'_>, group: usize) -> Result<Parts> {
        if let Some(parts) = self.parts.get(&group) {
            return Ok(Arc::clone(parts));
        }
        let docs = groups.docs(group);
        let parts = Arc::new(self.verifier.split_by_content(docs)?);
        // A single document is trivially one part, so it takes no entry.
        if docs.len() > 1 {
            self.parts.insert(group, Arc::clone(&parts));
        }
        Ok(parts)
    }
}

/// The number of pairs between two groups, or within one.
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
