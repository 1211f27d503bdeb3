//! Queries: which documents are similar to this one?

use crate::error::{Error, Result};
use crate::estimate::least_equal_lanes;
use crate::index::ask::containment::Asked;
use crate::index::ask::matches::{Likeness, Match, Matches};
use crate::index::ask::search::{SearchResult, Sources, search};
use crate::index::ask::top::{ByEstimate, ByText, Top, search_top};
use crate::index::ask::verify::{Elements, verified};
use crate::index::snapshot::Snapshot;
use crate::lsh::Probe;
use crate::params::{Confidence, Recall, Threshold};
use crate::sketch::Signature;
use crate::store::DocNo;
use crate::text::Content;

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
    pub(crate) snapshot: &'s Snapshot,
    threshold: Option<f64>,
    recall: Option<f64>,
    confidence: Option<f64>,
    pub(crate) limit: Option<usize>,
    pub(crate) top: Option<usize>,
    pub(crate) scan: bool,
    pub(crate) all_candidates: bool,
    estimate: bool,
    containment: bool,
    excluded: Option<String>,
}

impl<'s> Query<'s> {
    pub(crate) fn new(snapshot: &'s Snapshot) -> Self {
        Self {
            snapshot,
            threshold: None,
            recall: None,
            confidence: None,
            limit: None,
            top: None,
            scan: false,
            all_candidates: false,
            estimate: false,
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

    /// Finds documents that contain at least the threshold's share of what is asked about: with Q its
    /// shingles and X those of a document, |Q ∩ X| / |Q| instead of |Q ∩ X| / |Q ∪ X|. So a chapter is
    /// found in a book, however much larger that is.
    ///
    /// A document whose share is the threshold is compared with the recall, at least. Where texts are
    /// stored it is reported if its share is at least the threshold indeed, and missed no more often than the
    /// recall allows; candidates are then verified whose equal lanes leave that open.
    ///
    /// Without texts it is reported where its estimated share reaches the threshold. **Such estimates are coarse** where a document is much
    /// larger than what is asked about: see [`Containment`](crate::Containment), and [`Match::containment`] for the interval.
    /// Of documents that contain just the threshold, half are reported; of those far larger, many that
    /// contain somewhat less are, and many that contain all are not, so ask at a threshold two errors lower
    /// and take the intervals into account.
    ///
    /// Documents are classed by size, and each class is searched at the depth that the least similarity in
    /// it allows; classes for which the bands of the index are too few are scanned, which
    /// [`Matches::sizes`] tells. The first such query of a [`Snapshot`] reads all signatures to learn the
    /// sizes of all documents, which take 4 bytes of memory each, as long as the snapshot
    /// lives; each query reads what it scans.
    ///
    /// [`top`](Self::top) and [`limit`](Self::limit) keep those that contain most. Of an index of weights it
    /// is an error, as only their number is stored, not their sum.
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

    /// Goes by estimates although the index stores texts: faster, as no text is read.
    pub fn estimate(mut self, estimate: bool) -> Self {
        self.estimate = estimate;
        self
    }

    /// Finds documents similar to a text. An empty text is similar to nothing.
    ///
    /// # Errors
    ///
    /// Those of [`by_content`](Self::by_content).
    pub fn by_text(self, text: &str) -> Result<Matches> {
        self.by_content(text)
    }

    /// Finds documents similar to a text, a set of tokens or a weighted set. An empty one is similar
    /// to nothing.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`] for a threshold or recall out of range and for
    /// [`containment`](Self::containment) of weights; [`Error::NotWeights`],
    /// [`Error::UnexpectedWeights`] or [`Error::UnexpectedTokens`] for content of another kind than
    /// the index takes; [`Error::Damaged`], [`Error::Io`].
    pub fn by_content<'c>(self, content: impl Into<Content<'c>>) -> Result<Matches> {
        let (content, sketcher) = (content.into(), self.snapshot.sketcher());
        let signature = sketcher.signature(content)?;
        let elements = self.verifies().then(|| Elements::of(content, sketcher)).transpose()?;
        self.ask(&signature, elements.as_ref())
    }

    /// Finds documents similar to the one with this id, itself left out; `None` where there is no
    /// such document.
    ///
    /// ```
    /// # fn main() -> twindex::Result<()> {
    /// # let folder = tempfile::tempdir().expect("a temporary folder");
    /// # let index = twindex::Index::create(folder.path().join("q.twx"))?;
    /// # let snapshot = index.snapshot()?;
    /// match snapshot.query().by_id("page-1")? {
    ///     None => println!("there is no page-1"),
    ///     Some(matches) => matches.iter().for_each(|m| println!("{} {:.2}", m.id, m.similarity)),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`by_content`](Self::by_content).
    pub fn by_id(self, id: &str) -> Result<Option<Matches>> {
        let view = self.snapshot.view();
        let Some((doc, _)) = view.find(id)? else { return Ok(None) };
        let signature =
            view.with_signature(doc, |lanes, size| Signature::new(lanes.into(), size))?;
        let elements =
            self.verifies().then(|| Elements::read(&view, self.snapshot.sketcher(), doc));
        let elements = elements.transpose()?;
        self.excluding(id).ask(&signature, elements.as_ref()).map(Some)
    }

    /// Finds documents similar to the one with this signature, by estimates: there is no text to
    /// verify them with.
    ///
    /// # Errors
    ///
    /// Those of [`by_content`](Self::by_content), and [`Error::SignatureMismatch`].
    pub fn by_signature(self, signature: &Signature) -> Result<Matches> {
        let lanes = self.snapshot.settings().lanes.get();
        match signature.lanes().len() == lanes {
            true => self.ask(signature, None),
            false => {
                Err(Error::SignatureMismatch { expected: lanes, got: signature.lanes().len() })
            }
        }
    }

    /// Whether answers are to be exact.
    fn verifies(&self) -> bool {
        self.snapshot.settings().store_text && !self.estimate && !self.all_candidates
    }

    /// Finds what is similar; exactly if elements are given.
    fn ask(&self, signature: &Signature, elements: Option<&Elements>) -> Result<Matches> {
        let settings = self.snapshot.settings();
        let threshold = self.threshold.map_or(Ok(settings.threshold), Threshold::new)?;
        let recall = self.recall.map_or(Ok(settings.recall), Recall::new)?;
        let confidence = self.confidence.map_or(Ok(Confidence::DEFAULT), Confidence::new)?;
        let view = self.snapshot.view();
        let excluded = match &self.excluded {
            Some(id) => view.find(id)?.map(|(doc, _)| doc),
            None => None,
        };
        if self.containment {
            if settings.weighted {
                return Err(Error::InvalidSetting {
                    setting: "containment",
                    got: "of weights".to_owned(),
                    expected: "an index of sets or multisets, as sums of weights are not stored",
                });
            }
            let asked = Asked { signature, elements, threshold, recall, confidence, excluded };
            return self.containing(asked);
        }
        let probe = Probe::of(settings.plan, threshold, recall);
        let met = if self.scan { 1.0 } else { probe.recall() };
        let (least, promised) = match elements {
            Some(_) => {
                let margin = self.snapshot.margins.of(settings, threshold, recall, self.scan);
                (margin.least, margin.recall)
            }
            None if self.all_candidates => (0, met),
            None => (least_equal_lanes(threshold.get(), settings.lanes.get()), met),
        };
        if signature.is_empty() {
            return Ok(Matches { recall: promised, ..Matches::default() });
        }
        let lanes = signature.lanes();
        if let (Some(count), false) = (self.top, self.scan) {
            let top = Top { count, floor: threshold, least, recall, excluded };
            if let Some(elements) = elements {
                let mut ranking = ByText::new(&view, self.snapshot.sketcher(), elements, top);
                let (found, promised) = search_top(&view, lanes, settings.plan, top, &mut ranking)?;
                let exact = ranking.verified.into_iter().map(Likeness::exact).collect();
                return self.name(exact, found.candidates, confidence, promised);
            }
            let mut ranking = ByEstimate { count, lanes: settings.lanes };
            let (found, promised) = search_top(&view, lanes, settings.plan, top, &mut ranking)?;
            let estimated = found.scored.into_iter().map(Likeness::estimated).collect();
            return self.name(estimated, found.candidates, confidence, promised);
        }
        let sources = match self.scan {
            true => Sources::Everything,
            false => Sources::Buckets(settings.plan, probe),
        };
        let SearchResult { mut scored, candidates } = search(&view, lanes, sources, least)?;
        scored.retain(|(_, doc)| Some(*doc) != excluded);
        let found = match elements {
            Some(elements) => {
                let sketcher = self.snapshot.sketcher();
                verified(&view, sketcher, elements, &scored, threshold.get())?
                    .into_iter()
                    .map(Likeness::exact)
                    .collect()
            }
            None => scored.into_iter().map(Likeness::estimated).collect(),
        };
        self.name(found, candidates, confidence, promised)
    }

    /// Orders what was found and reads the ids of what is reported.
    fn name(
        &self,
        mut found: Vec<(Likeness, DocNo)>,
        candidates: u64,
        confidence: Confidence,
        recall: f64,
    ) -> Result<Matches> {
        let lanes = self.snapshot.settings().lanes.get();
        let view = self.snapshot.view();
        found.sort_unstable_by(|a, b| b.0.order(a.0));
        let limit = self.limit.unwrap_or(usize::MAX).min(self.top.unwrap_or(usize::MAX));
        let mut matches: Vec<Match> = Vec::with_capacity(found.len().min(limit));
        // Ids order documents of equal similarity, so only these need all their ids read.
        for equals in found.chunk_by(|a, b| a.0.order(b.0).is_eq()) {
            if matches.len() >= limit {
                break;
            }
            let start = matches.len();
            for &(likeness, doc) in equals {
                matches.push(likeness.named(view.document(doc)?.id, lanes, confidence));
            }
            if let Some(equals) = matches.get_mut(start..) {
                equals.sort_unstable_by(|a, b| a.id.cmp(&b.id));
            }
        }
        matches.truncate(limit);
        let left_out = (found.len() - matches.len()) as u64;
        Ok(Matches { matches, recall, candidates, left_out, sizes: None })
    }
}
