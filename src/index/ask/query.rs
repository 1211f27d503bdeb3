//! The query builder: finds the documents that are similar to a given one.

use crate::error::{Error, Result};
use crate::index::ask::matches::Matches;
use crate::index::ask::passage_search::PassageSearch;
use crate::index::ask::verify::AskedText;
use crate::index::snapshot::Snapshot;
use crate::sketch::Signature;
use crate::store::CandidateLimit;
use crate::text::Content;

/// A query to a snapshot. The setters take it by value; one of the `by_` methods runs it.
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
#[must_use = "a query does not run until one of its `by_` methods is called"]
pub struct Query<'s> {
    pub(crate) snapshot: &'s Snapshot,
    pub(super) threshold: Option<f64>,
    pub(super) recall: Option<f64>,
    pub(super) confidence: Option<f64>,
    pub(super) limit: Option<usize>,
    pub(super) top: Option<usize>,
    pub(super) scan: bool,
    pub(super) all_candidates: bool,
    estimate: bool,
    pub(super) containment: bool,
    pub(super) excluded: Vec<String>,
    max_candidates: Option<usize>,
}

impl Snapshot {
    /// Starts a query for similar documents.
    pub fn query(&self) -> Query<'_> {
        Query::new(self)
    }
}

impl<'s> Query<'s> {
    fn new(snapshot: &'s Snapshot) -> Self {
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
            excluded: Vec::new(),
            max_candidates: None,
        }
    }

    /// Sets the minimum similarity to report: above 0, at most 1. The default is the threshold of
    /// the index. Below that, the bands of the index may not reach the requested recall;
    /// [`Matches::recall`] is the recall that they reach.
    pub fn threshold(mut self, threshold: f64) -> Self {
        self.threshold = Some(threshold);
        self
    }

    /// Sets the minimum probability of finding a document at the threshold: above 0, below 1. The
    /// default is the recall of the index.
    pub fn recall(mut self, recall: f64) -> Self {
        self.recall = Some(recall);
        self
    }

    /// Sets the probability that the interval from [`Match::low`](crate::Match::low) to
    /// [`Match::high`](crate::Match::high) contains the true similarity: above 0, below 1. The
    /// default is 0.95. It changes the intervals, not which documents match.
    pub fn confidence(mut self, confidence: f64) -> Self {
        self.confidence = Some(confidence);
        self
    }

    /// Reports at most `limit` matches, the most similar ones. Of equally similar documents, those
    /// that were inserted first are reported. All matches are found and counted
    /// ([`Matches::left_out`]). If the index has very many exact copies of what is asked, that
    /// takes long; use [`top`](Self::top) there. If it has very many different near copies, both
    /// compare all of them, unless [`max_candidates`](Self::max_candidates) bounds the query.
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Finds the `count` most similar documents whose similarity is at least the threshold. Of
    /// equally similar documents, those that were inserted first are reported.
    ///
    /// With a low threshold this is cheaper than a query without `top`. It searches the deepest
    /// buckets first, then shallower ones, and stops once a document as similar as the last one
    /// found would have been a candidate with the requested recall. [`Matches::recall`] is the
    /// recall for such a document or, if fewer than `count` were found, for one at the threshold.
    /// If the index has very many copies of what is asked, it reads the first ones and stops,
    /// unless many others are among them. A document that was replaced or merged counts as inserted
    /// then.
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

    /// Compares at most this many candidates: at least 1. By default, all are compared. If there
    /// are more, those that share the most buckets with the query are compared, because similar
    /// documents share many; in a tie, those that were inserted first. At most 131,072 documents of
    /// a bucket are read. Documents that are [left out](Self::excluding) do not count.
    ///
    /// This bounds the time of a query whose buckets are crowded: 100,000 near copies of what is
    /// asked take seconds, above all if texts are compared. [`Matches::limited`] tells whether
    /// candidates may have been left out; a similar document may then be missing, and
    /// [`Matches::recall`] holds only for those that were compared.
    ///
    /// A [containment](Self::containment) query bounds what it finds in buckets, and compares all
    /// documents of the sizes that it scans. If passages answer it, the documents with the most
    /// fingerprints of the query are compared, as by [`PassageQuery::max_candidates`].
    ///
    /// [`PassageQuery::max_candidates`]: crate::PassageQuery::max_candidates
    ///
    /// ```
    /// # fn main() -> twindex::Result<()> {
    /// # let folder = tempfile::tempdir().expect("a temporary folder");
    /// # let index = twindex::Index::create(folder.path().join("m.twx"))?;
    /// # let mut txn = index.begin_write()?;
    /// for number in 0..100 {
    ///     txn.insert(&format!("copy-{number}"), "one and the same text")?;
    /// }
    /// # txn.commit()?;
    /// let found =
    ///     index.snapshot()?.query().max_candidates(10).by_text("one and the same text")?;
    /// assert_eq!((found.len(), found.limited), (10, true));
    /// # Ok(())
    /// # }
    /// ```
    pub fn max_candidates(mut self, most: usize) -> Self {
        self.max_candidates = Some(most);
        self
    }

    /// Compares the query with every document instead of searching buckets. This costs 10 ns per
    /// document plus the time to read all signatures.
    ///
    /// If the index stores texts, every document at or above the threshold is found. A text is not
    /// read only if its signature rules it out: a document at the threshold would have such a
    /// signature with a probability below 10⁻¹². Without texts, every document is estimated.
    pub fn scan(mut self, scan: bool) -> Self {
        self.scan = scan;
        self
    }

    /// Reports every document that was compared, whatever its estimate. This serves to verify
    /// candidates by other means, or to measure recall.
    pub fn all_candidates(mut self, all: bool) -> Self {
        self.all_candidates = all;
        self
    }

    /// Finds documents that contain a large share of the query, however large they are: a chapter
    /// finds the book.
    ///
    /// With Q the shingles of the query and X those of a document, the threshold applies to the
    /// containment |Q ∩ X| / |Q| instead of the Jaccard similarity |Q ∩ X| / |Q ∪ X|. A document
    /// whose containment equals the threshold becomes a candidate with at least the requested
    /// recall.
    ///
    /// If the index stores texts, the candidates whose equal lanes leave the answer open are
    /// verified. A document is then reported only if its exact containment reaches the threshold,
    /// and missed no more often than the recall allows.
    ///
    /// Without texts, the containment is estimated. **The estimate is coarse** if the document is
    /// much larger than the query: see [`Containment`](crate::Containment), and
    /// [`Match::containment`](crate::Match::containment) for the interval. A document that bands
    /// can reach is reported if its estimated containment reaches the threshold, so half of the
    /// documents exactly at the threshold are reported. A larger one is reported if it contains the
    /// threshold's share with a probability of at least 1/2 and its interval says something: the
    /// interval does not begin at 0 and is no wider than 3/5 of what the document has room for. The
    /// shares of all such documents that the query compares are the prior for each of them, because
    /// the one of 10,000 documents with the most equal lanes often has them by chance. So these
    /// answers depend on what else is in the index.
    /// [`SizesSearched::undecidable`](crate::SizesSearched) counts the documents that are so large
    /// that only stored texts can answer.
    ///
    /// Documents are divided into classes by size. Each class is searched at the depth that the
    /// smallest similarity in it allows. A class for which the index has too few bands is scanned;
    /// [`Matches::sizes`] reports this. The first containment query of an open index reads all
    /// signatures to learn the sizes, which take 4 bytes of memory per document from then on. That
    /// of a later [`Snapshot`] reads only new signatures. It reads all of them if an empty document
    /// was removed since, or if the index has dropped what it kept of a removed document, as a
    /// flush or a merge does. So does that of a snapshot that is older than one asked before.
    /// Each query reads the signatures that it scans.
    ///
    /// **With [passages](crate::IndexOptions::passages)** the answer is another one: how much of
    /// the query lies in passages that the document shares. It is exact with stored texts, and
    /// misses no passage of the index's length, so the recall is 1 and nothing is scanned. Without
    /// texts, fingerprints give bounds: a document is reported if its upper bound reaches the
    /// threshold, so none is missed, and its share is the middle of the bounds. Queries that are
    /// shorter than a passage, by signature or by the id of a document without a stored text, and
    /// those with [`scan`](Self::scan), are answered as above.
    ///
    /// Matches are sorted by the lower end of their interval, then by the share.
    /// [`top`](Self::top) and [`limit`](Self::limit) keep the first ones.
    /// An index of weighted sets answers with an error, because it stores the number of weights and
    /// not their sum.
    ///
    /// ```
    /// # fn main() -> twindex::Result<()> {
    /// # let folder = tempfile::tempdir().expect("a temporary folder");
    /// # let index = twindex::Index::create(folder.path().join("c.twx"))?;
    /// # let mut txn = index.begin_write()?;
    /// # let text = "It was the best of times, it was the worst of times, it was the age of \
    /// #     wisdom";
    /// # txn.insert("a", text)?;
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

    /// Leaves the document with this id out of the result. May be called for several.
    ///
    /// ```
    /// # fn main() -> twindex::Result<()> {
    /// # let folder = tempfile::tempdir().expect("a temporary folder");
    /// # let index = twindex::Index::create(folder.path().join("e.twx"))?;
    /// # let mut txn = index.begin_write()?;
    /// for id in ["a", "b", "c"] {
    ///     txn.insert(id, "one and the same text")?;
    /// }
    /// # txn.commit()?;
    /// let snapshot = index.snapshot()?;
    /// let found = snapshot.query().excluding("b").by_id("a")?.expect("it is there");
    /// assert_eq!(found.iter().map(|found| &*found.id).collect::<Vec<_>>(), ["c"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn excluding(mut self, id: impl Into<String>) -> Self {
        self.excluded.push(id.into());
        self
    }

    /// Uses estimates even if the index stores texts. This is faster because no text is read.
    pub fn estimate(mut self, estimate: bool) -> Self {
        self.estimate = estimate;
        self
    }

    /// Finds documents similar to a text. An empty text matches nothing.
    ///
    /// # Errors
    ///
    /// Those of [`by_content`](Self::by_content).
    pub fn by_text(self, text: &str) -> Result<Matches> {
        self.by_content(text)
    }

    /// Finds documents similar to a text, a set of tokens or a weighted set. Empty content matches
    /// nothing.
    ///
    /// # Errors
    ///
    /// - [`Error::InvalidSetting`] if the threshold, the recall, the confidence or
    ///   [`max_candidates`](Self::max_candidates) is out of range, if a
    ///   [`scan`](Self::scan) is to compare only some candidates, and for a
    ///   [`containment`](Self::containment) query to an index of weighted sets.
    /// - [`Error::NotWeights`], [`Error::UnexpectedWeights`] or [`Error::UnexpectedTokens`] for
    ///   content of a kind that the index does not take.
    /// - [`Error::Damaged`] or [`Error::Io`] if the file cannot be read.
    pub fn by_content<'c>(self, content: impl Into<Content<'c>>) -> Result<Matches> {
        let (content, sketcher) = (content.into(), self.snapshot.sketcher());
        let signature = sketcher.signature(content)?;
        let text = self.verifies().then(|| AskedText::of(content, sketcher)).transpose()?;
        let passages = match content {
            Content::Weights(_) => None,
            text => self.search_of_passages(&text.stored()),
        };
        self.ask(&signature, text.as_ref(), passages.as_ref())
    }

    /// Finds documents similar to the one with this id, which is itself left out. Returns `None` if
    /// the index has no such document.
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
        self.checked()?;
        self.candidate_limit()?;
        let view = self.snapshot.view();
        let Some((doc, _)) = view.find(id)? else { return Ok(None) };
        let signature =
            view.with_signature(doc, |lanes, size| Signature::new(lanes.into(), size))?;
        let text = self.verifies().then(|| AskedText::read(&view, self.snapshot.sketcher(), doc));
        let text = text.transpose()?;
        let passages = if view.has_texts() && self.containment {
            self.search_of_passages(&view.text(doc)?)
        } else {
            None
        };
        self.excluding(id).ask(&signature, text.as_ref(), passages.as_ref()).map(Some)
    }

    /// Finds documents similar to the one with this signature. The similarities are estimates,
    /// because there is no text to verify them with.
    ///
    /// Nothing in a signature tells its shingle or its seed: one that was made with others than
    /// those of the index gives wrong answers without an error.
    ///
    /// # Errors
    ///
    /// Those of [`by_content`](Self::by_content), and [`Error::SignatureMismatch`] for a signature
    /// with another number of lanes than the index has.
    pub fn by_signature(self, signature: &Signature) -> Result<Matches> {
        let lanes = self.snapshot.settings().lanes.get();
        if signature.lanes().len() == lanes {
            self.ask(signature, None, None)
        } else {
            Err(Error::SignatureMismatch { expected: lanes, got: signature.lanes().len() })
        }
    }

    /// How many candidates are compared; an error if the number is out of range.
    pub(super) fn candidate_limit(&self) -> Result<Option<CandidateLimit>> {
        let limit = self.max_candidates.map(CandidateLimit::new).transpose()?;
        if let (Some(limit), true) = (limit, self.scan) {
            return Err(Error::InvalidSetting {
                setting: "max_candidates",
                got: limit.compared.to_string(),
                expected: "no limit with a scan, which compares every document",
            });
        }
        Ok(limit)
    }

    /// Whether the query verifies candidates with stored texts.
    fn verifies(&self) -> bool {
        self.snapshot.settings().store_text && !self.estimate && !self.all_candidates
    }

    /// The search for passages that answers a containment query, if it can.
    fn search_of_passages(&self, text: &str) -> Option<PassageSearch<'s>> {
        if !self.containment || self.scan || self.all_candidates {
            return None;
        }
        let search = PassageSearch::new(self.snapshot.sketcher(), text, self.verifies());
        search.filter(PassageSearch::can_share)
    }
}
