//! The iterator over all pairs of similar documents, band by band and bucket by bucket.

use crate::error::Result;
use crate::estimate::least_equal_lanes;
use crate::index::ask::cache::Cache;
use crate::index::ask::matches::Match;
use crate::index::ask::score::Score;
use crate::index::group::pair_block::{NamedDoc, PairBlock, PairCounts};
use crate::index::group::pair_candidates::{PairCandidates, Similar, pairs_of};
use crate::index::group::pair_texts::{PairTexts, TOGETHER};
use crate::index::snapshot::Snapshot;
use crate::lsh::Probe;
use crate::params::{Confidence, Threshold};
use crate::store::{DocNo, parallel};
use std::cmp::Ordering;
use std::collections::VecDeque;
use std::fmt;
use std::mem::take;

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
/// as much if texts are compared, about 30 bytes for each document of the largest bucket, 8 MiB of
/// ids, and the ids of two groups of documents with equal signatures. If texts are compared, some
/// 200 bytes for each document of the groups that are compared together: 131,072 documents, and the
/// two groups that pass this number.
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
///
/// It borrows the snapshot. To keep both in one value, use a crate such as `self_cell`, or a thread
/// that owns the snapshot and sends the pairs through a channel.
pub struct Pairs<'s> {
    snapshot: &'s Snapshot,
    candidates: PairCandidates<'s>,
    threshold: Threshold,
    recall: f64,
    /// Compares texts; `None` for estimates.
    texts: Option<PairTexts<'s>>,
    /// Groups that were found while the texts of those before were compared.
    gathered: Vec<Similar>,
    /// Similar groups that were found ahead of those being reported.
    ahead: VecDeque<Similar>,
    /// The documents on the left with their ids, and the first of them; read on first use.
    left: Option<(DocNo, Vec<NamedDoc>)>,
    /// The ids of documents that were read recently: most are in several pairs.
    ids: Cache<DocNo, String>,
    /// The pairs that are being reported.
    block: Option<PairBlock>,
    /// The similarity of all pairs in the block, with its interval.
    block_match: Match,
    confidence: Confidence,
    counts: Option<PairCounts>,
    failed: bool,
}

/// The memory for ids, in bytes.
const ID_BYTES: usize = 8 << 20;

impl Snapshot {
    /// Iterates over all pairs of documents with a similarity of at least the threshold: above 0,
    /// at most 1. See [`Pairs`] for order and cost.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`](crate::Error::InvalidSetting) for a threshold out of range.
    pub fn pairs(&self, threshold: f64) -> Result<Pairs<'_>> {
        Ok(Pairs::new(self, Threshold::new(threshold)?))
    }
}

impl fmt::Debug for Pairs<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pairs")
            .field("snapshot", self.snapshot)
            .field("threshold", &self.threshold)
            .field("left_out", &self.left_out())
            .finish_non_exhaustive()
    }
}

impl<'s> Pairs<'s> {
    fn new(snapshot: &'s Snapshot, threshold: Threshold) -> Self {
        let settings = snapshot.settings();
        let probe = Probe::of(settings.plan, threshold, settings.recall);
        let lanes = settings.lanes.get();
        let least = least_equal_lanes(threshold.get(), lanes);
        let pairs = Self {
            snapshot,
            candidates: PairCandidates::new(snapshot, probe, least),
            threshold,
            recall: probe.recall(),
            texts: None,
            gathered: Vec::new(),
            ahead: VecDeque::new(),
            left: None,
            ids: Cache::new(ID_BYTES, 1),
            block: None,
            block_match: Score::Exact(0.0).named(String::new(), lanes, Confidence::DEFAULT),
            confidence: Confidence::DEFAULT,
            counts: None,
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
            (self.candidates.least, self.recall) = (margin.least, margin.recall);
            self.texts = Some(PairTexts::new(self.snapshot, threshold.get()));
        } else {
            self.candidates.least = least_equal_lanes(threshold.get(), lanes);
            self.recall = Probe::of(settings.plan, threshold, settings.recall).recall();
            self.texts = None;
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
        self.counts.as_ref().map_or(0, |counts| counts.left_out)
    }

    /// A lower bound on the probability that a pair at the threshold becomes a candidate; with
    /// stored texts, that it is reported. From 0 to 1.
    pub fn recall(&self) -> f64 {
        self.recall
    }

    fn advance(&mut self) -> Result<Option<Pair>> {
        loop {
            if let Some(block) = &mut self.block {
                let next = block.next(self.counts.as_mut());
                if let Some((x, y)) = next {
                    let (a, b) = match x.id.cmp(&y.id) {
                        Ordering::Greater => (y, x),
                        _ => (x, y),
                    };
                    let (a, b) = (a.id.to_string(), b.id.to_string());
                    let Match { similarity, low, high, exact, .. } = self.block_match;
                    return Ok(Some(Pair { a, b, similarity, low, high, exact }));
                }
                self.left = self.block.take().map(PairBlock::into_left);
            }
            let Some(similar) = self.next_similar()? else { return Ok(None) };
            self.begin(&similar)?;
        }
    }

    /// Finds the next two groups that are similar. While texts are compared, another thread finds
    /// the groups that come next, unless what is reported meanwhile decides about them.
    fn next_similar(&mut self) -> Result<Option<Similar>> {
        let Some(texts) = &mut self.texts else {
            return self.candidates.next(self.counts.as_mut());
        };
        while self.ahead.is_empty() {
            if texts.is_done() {
                if self.gathered.is_empty() && !self.candidates.is_done() {
                    let counts = self.counts.as_mut();
                    self.gathered = self.candidates.next_many(TOGETHER, counts)?;
                }
                if self.gathered.is_empty() {
                    return Ok(None);
                }
                texts.take(take(&mut self.gathered));
            }
            let is_next = self.gathered.is_empty() && !self.candidates.is_done();
            self.ahead = if is_next && self.counts.is_none() {
                let mut gathered = Ok(Vec::new());
                let candidates = &mut self.candidates;
                let gather = || gathered = candidates.next_many(TOGETHER, None);
                let ahead = parallel::both(|| texts.next(), gather);
                self.gathered = gathered?;
                ahead?
            } else {
                texts.next()?
            };
        }
        Ok(self.ahead.pop_front())
    }

    /// Begins to report the pairs of two groups, unless all documents on one side have reached the
    /// limit.
    fn begin(&mut self, similar: &Similar) -> Result<()> {
        let (left, right) = (&*similar.left, similar.right.as_deref());
        if let Some(counts) = &mut self.counts
            && (counts.none_open(left) || right.is_some_and(|docs| counts.none_open(docs)))
        {
            counts.left_out += similar.pairs();
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
        if let Some(counts) = &mut self.counts {
            counts.left_out += similar.pairs() - of_named;
        }
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
        let id = |doc: DocNo| self.ids.get_or(doc, || Ok(view.document(doc)?.id));
        let named = docs.map(|doc| Ok(NamedDoc { id: id(doc)?, doc }));
        let mut named = named.collect::<Result<Vec<NamedDoc>>>()?;
        named.sort_unstable_by(|a, b| a.id.cmp(&b.id));
        Ok(named)
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
