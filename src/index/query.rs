//! Queries: which documents are similar to this one?

use super::search::{Found, Scored, Sources, search};
use super::snapshot::Snapshot;
use super::top::{Top, search_top};
use crate::error::{Error, Result};
use crate::estimate::{Agreement, least_equal_lanes};
use crate::lsh::Probe;
use crate::params::{Confidence, Recall, Threshold};
use crate::sketch::Signature;

/// A document that is similar to the one asked about.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Match {
    /// Its id.
    pub id: String,
    /// Its Jaccard similarity, from 0 to 1.
    pub similarity: f64,
    /// The lower end of the similarity's interval, at the confidence that was asked for or 95 %.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
    /// Whether the similarity is exact rather than estimated. Estimates have a standard error
    /// of about 0.025 with 256 lanes.
    pub exact: bool,
}

impl Match {
    pub(super) fn estimated(id: String, equal: usize, lanes: usize) -> Self {
        Self::estimated_at(id, Agreement::new(equal, lanes), Confidence::DEFAULT)
    }

    pub(super) fn estimated_at(id: String, agreement: Agreement, confidence: Confidence) -> Self {
        let estimate = agreement.estimate_at(confidence);
        Self {
            id,
            similarity: estimate.similarity,
            low: estimate.low,
            high: estimate.high,
            exact: false,
        }
    }
}

/// The answer to a query: matches by falling similarity, then by id.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Matches {
    matches: Vec<Match>,
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
    snapshot: &'s Snapshot,
    threshold: Option<f64>,
    recall: Option<f64>,
    confidence: Option<f64>,
    limit: Option<usize>,
    top: Option<usize>,
    scan: bool,
    all_candidates: bool,
    excluded: Option<String>,
}

impl<'s> Query<'s> {
    pub(super) fn new(snapshot: &'s Snapshot) -> Self {
        Self {
            snapshot,
            threshold: None,
            recall: None,
            confidence: None,
            limit: None,
            top: None,
            scan: false,
            all_candidates: false,
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

    /// The probability with which [`Match::low`] and [`Match::high`] enclose the true similarity:
    /// above 0, below 1; default is 0.95. It changes what is said of matches, not which there are.
    pub fn confidence(mut self, confidence: f64) -> Self {
        self.confidence = Some(confidence);
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

    /// Leaves the document with this id out of the answer.
    pub fn excluding(mut self, id: impl Into<String>) -> Self {
        self.excluded = Some(id.into());
        self
    }

    /// Finds documents similar to a text. An empty text is similar to nothing.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`] for a threshold or recall out of range, [`Error::NotWeights`] for a text
    /// asked of an index of weights, [`Error::Damaged`], [`Error::Io`].
    pub fn by_text(self, text: &str) -> Result<Matches> {
        let signature = self.snapshot.sketcher().signature_of_text(text)?;
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
        let confidence = self.confidence.map_or(Ok(Confidence::DEFAULT), Confidence::new)?;
        let least = match self.all_candidates {
            true => 0,
            false => least_equal_lanes(threshold.get(), lanes),
        };
        let view = self.snapshot.view();
        let excluded = match &self.excluded {
            Some(id) => view.find(id)?.map(|(doc, _)| doc),
            None => None,
        };
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
        self.name(found, lanes, confidence, promised)
    }

    /// Orders what was found and reads the ids of what is reported.
    fn name(
        &self,
        found: Found,
        lanes: usize,
        confidence: Confidence,
        recall: f64,
    ) -> Result<Matches> {
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
                let (id, agreement) = (view.document(doc)?.id, Agreement::new(equal, lanes));
                matches.push(Match::estimated_at(id, agreement, confidence));
            }
            if let Some(equals) = matches.get_mut(start..) {
                equals.sort_unstable_by(|a, b| a.id.cmp(&b.id));
            }
        }
        matches.truncate(limit);
        let left_out = (scored.len() - matches.len()) as u64;
        Ok(Matches { matches, recall, candidates, left_out })
    }
}
