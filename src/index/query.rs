//! Queries: which documents are similar to this one?

use super::containment::SizesSearched;
use super::search::{Found, Scored, Sources, search};
use super::snapshot::Snapshot;
use super::top::{Top, search_top};
use crate::error::{Error, Result};
use crate::estimate::{Agreement, Containment, least_equal_lanes};
use crate::lsh::Probe;
use crate::params::{Recall, Threshold};
use crate::sketch::Signature;

/// A document that is similar to the one asked about.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Match {
    /// Its id.
    pub id: String,
    /// Its Jaccard similarity, from 0 to 1.
    pub similarity: f64,
    /// The lower end of the 95 % interval of the similarity.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
    /// Whether the similarity is exact rather than estimated. Estimates have a standard error
    /// of about 0.025 with 256 lanes.
    pub exact: bool,
    /// How much of the shingles asked about it contains, where [`Query::containment`] asked for that.
    pub containment: Option<Containment>,
}

impl Match {
    pub(super) fn estimated(id: String, equal: usize, lanes: usize) -> Self {
        let estimate = Agreement::new(equal, lanes).estimate();
        Self {
            id,
            similarity: estimate.similarity,
            low: estimate.low,
            high: estimate.high,
            exact: false,
            containment: None,
        }
    }
}

/// The answer to a query: matches by falling similarity, or of [`Query::containment`] by falling share
/// that they contain, then by id.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Matches {
    pub(super) matches: Vec<Match>,
    /// The probability with which a document at the threshold became a candidate, at least. 1 for
    /// scans. A candidate is reported when its *estimate* reaches the threshold, so a document
    /// right at the threshold is reported about half the time.
    ///
    /// Of [`Query::top`], where as many as asked for were found: the probability with which a
    /// document as similar as the last of them became a candidate.
    pub recall: f64,
    /// How many documents were compared by signature.
    pub candidates: u64,
    /// Matches that were found and that [`Query::limit`] or [`Query::top`] left out.
    pub left_out: u64,
    /// How documents of different sizes were searched for [`Query::containment`]; `None` of others.
    pub sizes: Option<SizesSearched>,
}

impl Matches {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.matches.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.matches.is_empty()
    }

    /// The matches in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Match> {
        self.matches.iter()
    }

    /// The most similar one.
    pub fn first(&self) -> Option<&Match> {
        self.matches.first()
    }
}

impl IntoIterator for Matches {
    type Item = Match;
    type IntoIter = std::vec::IntoIter<Match>;

    fn into_iter(self) -> Self::IntoIter {
        self.matches.into_iter()
    }
}

impl<'m> IntoIterator for &'m Matches {
    type Item = &'m Match;
    type IntoIter = std::slice::Iter<'m, Match>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// A question to a snapshot, built by value and ended by one of the `by_` verbs.
///
/// ```
/// # fn main() -> twindex::Result<()> {
/// # let folder = tempfile::tempdir().expect("a temporary folder");
/// # let index = twindex::Index::create(folder.path().join("q.twx"))?;
/// # let mut txn = index.begin_write()?;
/// # txn.insert("a", "It was the best of times, it was the worst of times")?;
/// # txn.commit()?;
/// let matches = index
///     .snapshot()?
///     .query()
///     .threshold(0.6)
///     .limit(10)
///     .by_text("It was the best of times, it was the worst of days")?;
/// assert_eq!(matches.first().map(|m| m.id.as_str()), Some("a"));
/// assert!(matches.recall >= 0.99);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use = "a query asks nothing until one of its `by_` methods is called"]
pub struct Query<'s> {
    pub(super) snapshot: &'s Snapshot,
    threshold: Option<f64>,
    recall: Option<f64>,
    pub(super) limit: Option<usize>,
    pub(super) top: Option<usize>,
    pub(super) scan: bool,
    pub(super) all_candidates: bool,
    containment: bool,
    excluded: Option<String>,
}

impl<'s> Query<'s> {
    pub(super) fn new(snapshot: &'s Snapshot) -> Self {
        Self {
            snapshot,
            threshold: None,
            recall: None,
            limit: None,
            top: None,
            scan: false,
            all_candidates: false,
            containment: false,
            excluded: None,
        }
    }

    /// The least similarity to report: above 0, at most 1; default is the index's own. Below
    /// that the bands may not reach the recall: [`Matches::recall`] says what they give.
    pub fn threshold(mut self, threshold: f64) -> Self {
        self.threshold = Some(threshold);
        self
    }

    /// The probability to find a document at the threshold, at least; default is the index's own.
    pub fn recall(mut self, recall: f64) -> Self {
        self.recall = Some(recall);
        self
    }

    /// Reports at most so many matches, the most similar.
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Finds the most similar documents, so many, with a similarity of at least the threshold. Of
    /// equally similar ones those with the smallest ids are reported.
    ///
    /// Cheaper than the threshold alone where that is low: buckets are searched from the deepest to
    /// shallower ones only until a document as similar as the last one found would have been met
    /// with the recall. [`Matches::recall`] says what holds for it, and with fewer matches for a
    /// document at the threshold.
    ///
    /// ```
    /// # fn main() -> twindex::Result<()> {
    /// # let folder = tempfile::tempdir().expect("a temporary folder");
    /// # let index = twindex::Index::create(folder.path().join("t.twx"))?;
    /// # let mut txn = index.begin_write()?;
    /// # txn.insert("a", "It was the best of times, it was the worst of times")?;
    /// # txn.insert("b", "It was the best of times, it was the worst of all times")?;
    /// # txn.commit()?;
    /// let nearest = index
    ///     .snapshot()?
    ///     .query()
    ///     .threshold(0.2)
    ///     .top(1)
    ///     .by_text("It was the best of times, it was the worst of times")?;
    /// assert_eq!(nearest.first().map(|m| m.id.as_str()), Some("a"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn top(mut self, count: usize) -> Self {
        self.top = Some(count);
        self
    }

    /// Compares with every document instead of looking into buckets: finds all, at 10 ns a
    /// document and the time to read all signatures.
    pub fn scan(mut self, scan: bool) -> Self {
        self.scan = scan;
        self
    }

    /// Reports every document that was compared, whatever its estimate: to verify candidates
    /// by other means, or to measure recall.
    pub fn all_candidates(mut self, all: bool) -> Self {
        self.all_candidates = all;
        self
    }

    /// Finds documents that contain at least the threshold's share of what is asked about: with Q its
    /// shingles and X those of a document, |Q ∩ X| / |Q| instead of |Q ∩ X| / |Q ∪ X|. So a chapter is
    /// found in a book, however much larger that is.
    ///
    /// A document whose share is the threshold is compared with the recall, at least, and reported where
    /// its estimated share reaches the threshold. **Such estimates are coarse** where a document is much
    /// larger than what is asked about: see [`Containment`], and [`Match::containment`] for the interval.
    /// Of documents that contain just the threshold, half are reported; of those far larger, many that
    /// contain somewhat less are, and many that contain all are not, so ask at a threshold two errors lower
    /// and take the intervals into account.
    ///
    /// Documents are classed by size, and each class is searched at the depth that the least similarity in
    /// it allows; classes for which the bands of the index are too few are scanned, which
    /// [`Matches::sizes`] tells. The first such query of a [`Snapshot`] reads all signatures to learn the
    /// sizes of all documents, some 0.1 us and 4 bytes of memory a document, as long as the snapshot
    /// lives; each query reads what it scans.
    ///
    /// [`top`](Self::top) and [`limit`](Self::limit) keep those that contain most.
    ///
    /// ```
    /// # fn main() -> twindex::Result<()> {
    /// # let folder = tempfile::tempdir().expect("a temporary folder");
    /// # let index = twindex::Index::create(folder.path().join("c.twx"))?;
    /// # let mut txn = index.begin_write()?;
    /// # txn.insert("a", "It was the best of times, it was the worst of times, it was the age of wisdom")?;
    /// # txn.commit()?;
    /// let snapshot = index.snapshot()?;
    /// let quoted = "it was the worst of times, it was the age";
    /// assert!(snapshot.query().threshold(0.7).by_text(quoted)?.is_empty());
    /// let found = snapshot.query().threshold(0.7).containment(true).by_text(quoted)?;
    /// let share = found.first().and_then(|m| m.containment).map(|c| c.share);
    /// assert!(share.is_some_and(|share| share > 0.9));
    /// # Ok(())
    /// # }
    /// ```
    pub fn containment(mut self, containment: bool) -> Self {
        self.containment = containment;
        self
    }

    /// Leaves the document with this id out of the answer.
    pub fn excluding(mut self, id: impl Into<String>) -> Self {
        self.excluded = Some(id.into());
        self
    }

    /// Finds documents similar to a text. An empty text is similar to nothing.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`] for a threshold or recall out of range, [`Error::Damaged`],
    /// [`Error::Io`].
    pub fn by_text(self, text: &str) -> Result<Matches> {
        let signature = self.snapshot.sketcher().signature(text);
        self.by_signature(&signature)
    }

    /// Finds documents similar to the one with this id, itself left out; `None` where there is no
    /// such document.
    ///
    /// # Errors
    ///
    /// Those of [`by_text`](Self::by_text).
    pub fn by_id(self, id: &str) -> Result<Option<Matches>> {
        match self.snapshot.get(id)? {
            Some(document) => self.excluding(id).by_signature(&document.signature).map(Some),
            None => Ok(None),
        }
    }

    /// Finds documents similar to the one with this signature.
    ///
    /// # Errors
    ///
    /// Those of [`by_text`](Self::by_text), and [`Error::SignatureMismatch`].
    pub fn by_signature(self, signature: &Signature) -> Result<Matches> {
        let settings = self.snapshot.settings();
        let lanes = settings.lanes.get();
        if signature.lanes().len() != lanes {
            return Err(Error::SignatureMismatch { expected: lanes, got: signature.lanes().len() });
        }
        let threshold = self.threshold.map_or(Ok(settings.threshold), Threshold::new)?;
        let recall = self.recall.map_or(Ok(settings.recall), Recall::new)?;
        let least = match self.all_candidates {
            true => 0,
            false => least_equal_lanes(threshold.get(), lanes),
        };
        let view = self.snapshot.view();
        let excluded = match &self.excluded {
            Some(id) => view.find(id)?.map(|(doc, _)| doc),
            None => None,
        };
        if self.containment {
            return self.containing(signature, threshold, recall, excluded);
        }
        let probe = Probe::new(settings.plan, threshold, recall);
        let (mut found, promised) = match (signature.is_empty(), self.scan, self.top) {
            (true, true, _) => (Found::default(), 1.0),
            (true, false, _) => (Found::default(), probe.recall()),
            (false, true, _) => {
                (search(&view, signature.lanes(), Sources::Everything, least)?, 1.0)
            }
            (false, false, None) => {
                let sources = Sources::Buckets(settings.plan, probe);
                (search(&view, signature.lanes(), sources, least)?, probe.recall())
            }
            (false, false, Some(count)) => {
                let top = Top { count, floor: threshold, least, recall, excluded };
                search_top(&view, signature.lanes(), settings.plan, top)?
            }
        };
        found.scored.retain(|(_, doc)| Some(*doc) != excluded);
        self.name(found, lanes, promised)
    }

    /// Orders what was found and reads the ids of what is reported.
    fn name(&self, found: Found, lanes: usize, recall: f64) -> Result<Matches> {
        let Found { mut scored, candidates } = found;
        let view = self.snapshot.view();
        scored.sort_unstable_by(|a, b| b.cmp(a));
        let limit = self.limit.unwrap_or(usize::MAX).min(self.top.unwrap_or(usize::MAX));
        let mut matches: Vec<Match> = Vec::with_capacity(scored.len().min(limit));
        // Ids order documents of equal similarity, so only these need all their ids read.
        for equals in scored.chunk_by(|a, b| a.0 == b.0) {
            if matches.len() >= limit {
                break;
            }
            let start = matches.len();
            for &(equal, doc) in equals as &[Scored] {
                matches.push(Match::estimated(view.document(doc)?.id, equal, lanes));
            }
            if let Some(equals) = matches.get_mut(start..) {
                equals.sort_unstable_by(|a, b| a.id.cmp(&b.id));
            }
        }
        matches.truncate(limit);
        let left_out = (scored.len() - matches.len()) as u64;
        Ok(Matches { matches, recall, candidates, left_out, sizes: None })
    }
}
