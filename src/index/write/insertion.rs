//! Insertions: options for conflicts, duplicates and passages, and how documents are decided.

use crate::error::{Error, Result};
use crate::index::document::Document;
use crate::index::snapshot::Snapshot;
use crate::index::write::duplicate_rule::DuplicateRule;
use crate::index::write::duplicates::Judge;
use crate::index::write::outcome::{Inserted, OnConflict, Outcome};
use crate::index::write::passages::{PassageJudge, PassageRule};
use crate::index::write::transaction::WriteTxn;
use crate::params::Threshold;
use crate::sketch::Sketcher;
use crate::store::{CandidateLimit, Entry, OwnNumbers, Writer, parallel};
use crate::text::Content;
use std::fmt;
use std::iter::repeat_n;
use std::sync::Arc;

/// The number of candidates with which a new document is compared, unless
/// [`Insertion::max_candidates`] sets another.
pub const DEFAULT_MAX_CANDIDATES: usize = 4096;

/// An insertion of one or more documents, made by [`WriteTxn::insertion`]. Set its options first;
/// then [`document`](Self::document), [`documents`](Self::documents), [`contents`](Self::contents)
/// or [`merge`](Self::merge) runs it.
///
/// Without options, a document replaces the one with the same id. With
/// [`unless_similar`](Self::unless_similar), it is inserted only if no similar document is known.
///
/// Inserting many documents at once gives the same result as inserting them in order, and is
/// faster: one pass looks up their ids, and all threads compare them.
///
/// ```
/// # fn main() -> twindex::Result<()> {
/// # let folder = tempfile::tempdir().expect("a temporary folder");
/// # let index = twindex::Index::create(folder.path().join("u.twx"))?;
/// use twindex::{Inserted, OnConflict, Outcome};
/// let texts = [("1", "A line of some length, said once."),
///              ("2", "Another one, said only once."),
///              ("3", "a line of some length,  said once.")];
/// let mut txn = index.begin_write()?;
/// let outcomes = txn.insertion().unless_similar(0.8).contents(&texts)?;
/// assert_eq!(outcomes[0], Outcome::Inserted(Inserted::Added));
/// assert!(matches!(&outcomes[2], Outcome::Duplicate { of, .. } if of.id == "1"));
///
/// let again = index.prepare("2", "The same id with another text.")?;
/// let outcome = txn.insertion().on_conflict(OnConflict::Skip).document(again)?;
/// assert_eq!(outcome.inserted(), Some(Inserted::Skipped));
/// txn.commit()?;
/// # Ok(())
/// # }
/// ```
#[must_use = "nothing is inserted before `document`, `documents`, `contents` or `merge`"]
pub struct Insertion<'t> {
    pub(super) txn: &'t mut WriteTxn,
    on_conflict: OnConflict,
    threshold: Option<f64>,
    against: &'t [&'t Snapshot],
    estimate: bool,
    max_candidates: usize,
    contained: Option<f64>,
    cuts: bool,
    max_overlap: Option<f64>,
    own: Option<OwnNumbers>,
}

impl fmt::Debug for Insertion<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Insertion")
            .field("on_conflict", &self.on_conflict)
            .field("unless_similar", &self.threshold)
            .field("against", &self.against.len())
            .field("estimate", &self.estimate)
            .field("max_candidates", &self.max_candidates)
            .field("if_contained", &self.contained)
            .field("without_passages", &self.cuts)
            .field("unless_covered", &self.max_overlap)
            .finish_non_exhaustive()
    }
}

impl WriteTxn {
    /// Inserts a document, or replaces the one with the same id.
    ///
    /// # Errors
    ///
    /// - [`Error::InvalidId`] for an id of 0 or more than 4,096 bytes.
    /// - [`Error::NotWeights`], [`Error::UnexpectedWeights`] or [`Error::UnexpectedTokens`] for
    ///   content of a kind that the index does not take.
    /// - Those of [`Insertion::documents`].
    ///
    /// The first two leave the transaction usable.
    pub fn insert<'c>(&mut self, id: &str, content: impl Into<Content<'c>>) -> Result<Inserted> {
        let document = self.prepare(id, content)?;
        let outcome = self.insertion().document(document)?;
        // Without a threshold, no document is a duplicate.
        Ok(outcome.inserted().unwrap_or(Inserted::Skipped))
    }

    /// Inserts a document unless a similar one is known, in the index or earlier in this
    /// transaction. The threshold is that of the index. See [`Insertion::unless_similar`].
    ///
    /// # Errors
    ///
    /// Those of [`insert`](Self::insert).
    pub fn insert_unless_similar<'c>(
        &mut self,
        id: &str,
        content: impl Into<Content<'c>>,
    ) -> Result<Outcome> {
        let document = self.prepare(id, content)?;
        let threshold = self.settings().threshold();
        self.insertion().unless_similar(threshold).document(document)
    }

    /// Begins an insertion with options: a policy for conflicts, a threshold for duplicates, and
    /// other indexes to compare with.
    pub fn insertion(&mut self) -> Insertion<'_> {
        Insertion::new(self)
    }
}

impl<'t> Insertion<'t> {
    fn new(txn: &'t mut WriteTxn) -> Self {
        Self {
            txn,
            on_conflict: OnConflict::default(),
            threshold: None,
            against: &[],
            estimate: false,
            max_candidates: DEFAULT_MAX_CANDIDATES,
            contained: None,
            cuts: false,
            max_overlap: None,
            own: None,
        }
    }

    /// Sets the policy for a document whose id is in the index with another text. The default is
    /// [`OnConflict::Replace`].
    pub fn on_conflict(self, on_conflict: OnConflict) -> Self {
        Self { on_conflict, ..self }
    }

    /// Leaves out a document if another one has at least this similarity to it: above 0, at most 1.
    /// Compares with the documents in the index, those inserted earlier in this transaction, and
    /// those in the indexes passed to [`against`](Self::against).
    ///
    /// The signatures of the latest documents are kept in memory from then on, at most 32 MiB; if
    /// texts are compared, the shingles of recent ones too, up to 1.25 times the
    /// [cache size](crate::IndexOptions::cache_bytes).
    ///
    /// A document with the same id does not count as similar. If it has the same text, the new
    /// document is [`Inserted::Unchanged`]. If it has another text,
    /// [`on_conflict`](Self::on_conflict) decides; but if a third document is similar to the new
    /// one, the old one stays.
    pub fn unless_similar(self, threshold: f64) -> Self {
        Self { threshold: Some(threshold), ..self }
    }

    /// Also compares with the documents of other indexes. Needs
    /// [`unless_similar`](Self::unless_similar).
    pub fn against(self, others: &'t [&'t Snapshot]) -> Self {
        Self { against: others, ..self }
    }

    /// Uses estimates even if the index stores texts. This is faster because no text is read.
    pub fn estimate(self, estimate: bool) -> Self {
        Self { estimate, ..self }
    }

    /// Compares a document with at most this many candidates of the index, and of each other index:
    /// at least 1; [`DEFAULT_MAX_CANDIDATES`] by default. If there are more, those that share the
    /// most buckets with the document are compared, because similar documents share many; in a tie,
    /// those that were inserted first. At most 131,072 documents of a bucket are read. If many
    /// documents that are inserted together share a crowded bucket, those that are not similar are
    /// usually ruled out at once. They do not count towards the limit.
    ///
    /// The limit bounds the time that a document takes when someone has filled its buckets on
    /// purpose, or when very many documents are nearly similar. A duplicate beyond the limit is
    /// missed; [`WriteTxn::limited`] counts the documents for which that is possible.
    pub fn max_candidates(self, most: usize) -> Self {
        Self { max_candidates: most, ..self }
    }

    /// Leaves out a similar document only if the known one contains at least this share of it, above
    /// 0 and at most 1: of its set of shingles, or of the sum of its weights. It is computed from
    /// texts. Any other document is inserted, and its outcome is [`Outcome::Spared`]. Needs
    /// [`unless_similar`](Self::unless_similar), and texts in this index and the others.
    pub fn if_contained(self, share: f64) -> Self {
        Self { contained: Some(share), ..self }
    }

    /// Cuts out of each document the passages that are known: that a document of the index has, one
    /// inserted earlier in this transaction, or the document itself at an earlier place that does
    /// not overlap. The rest is inserted under the id, and the outcome is [`Outcome::Cut`]. If only
    /// white space is left, nothing is inserted, and it is [`Outcome::Covered`].
    ///
    /// Passages are found as by [`Snapshot::known_passages`], and cut out as by
    /// [`KnownPassages::without`](crate::KnownPassages::without). What a cut joins is not looked at
    /// again. A document with the same id does not count as known; if it has the text that is left,
    /// the document is [`Inserted::Unchanged`].
    ///
    /// Needs an index that keeps texts and finds [passages](crate::IndexOptions::passages). Whole
    /// documents are not compared, so this cannot be combined with
    /// [`unless_similar`](Self::unless_similar).
    ///
    /// ```
    /// # fn main() -> twindex::Result<()> {
    /// # let folder = tempfile::tempdir().expect("a temporary folder");
    /// use twindex::{Index, Outcome};
    /// let options = Index::options().passages(25).store_text(true);
    /// let index = options.create(folder.path().join("c.twx"))?;
    /// let texts = [("1", "The first page. All rights are reserved by nobody."),
    ///              ("2", "Another page. All rights are reserved by nobody.")];
    /// let mut txn = index.begin_write()?;
    /// let outcomes = txn.insertion().without_passages().contents(&texts)?;
    /// let Outcome::Cut { text, known, .. } = &outcomes[1] else { panic!("{outcomes:?}") };
    /// assert_eq!((text.as_str(), known.passages()[0].of.as_str()), ("Another ", "1"));
    /// # txn.commit()
    /// # }
    /// ```
    pub fn without_passages(self) -> Self {
        Self { cuts: true, ..self }
    }

    /// Leaves out a document if more than this share of it is known, from 0 to 1: if it lies in
    /// passages as those of [`without_passages`](Self::without_passages). The outcome is
    /// [`Outcome::Covered`]. Other documents are inserted whole, unless passages are cut out.
    pub fn unless_covered(self, share: f64) -> Self {
        Self { max_overlap: Some(share), ..self }
    }

    /// Makes a repeated document (same id, same text) a duplicate of itself if it has one of these
    /// numbers, which a run has inserted or inserts now. Any other is unchanged.
    pub(super) fn of_run(self, own: OwnNumbers) -> Self {
        Self { own: Some(own), ..self }
    }

    pub(super) fn txn(&mut self) -> &mut WriteTxn {
        self.txn
    }

    /// A lower bound on the probability that a document at the threshold is found, in this index
    /// and in each of the others; from 0 to 1. With stored texts, a document that is found is
    /// always a duplicate. Returns 1 without [`unless_similar`](Self::unless_similar).
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`], [`Error::UnequalSettings`] and the like, as for
    /// [`documents`](Self::documents).
    pub fn recall(&self) -> Result<f64> {
        self.passage_rule()?;
        Ok(self.duplicate_rule()?.map_or(1.0, |rule| rule.recall()))
    }

    /// Whether documents are compared with others.
    pub(super) fn judges(&self) -> bool {
        self.threshold.is_some() || self.cuts || self.max_overlap.is_some()
    }

    /// What is done about passages; `None` if nothing is.
    fn passage_rule(&self) -> Result<Option<PassageRule>> {
        if !self.cuts && self.max_overlap.is_none() {
            return Ok(None);
        }
        let most = self.max_overlap.unwrap_or(1.0);
        let wrong =
            |setting, got: String, expected| Error::InvalidSetting { setting, got, expected };
        if self.threshold.is_some() {
            let got = "as well".to_owned();
            return Err(wrong("unless_similar", got, "either similarity or passages"));
        }
        if !(0.0..=1.0).contains(&most) {
            return Err(wrong("unless_covered", most.to_string(), "a share from 0 to 1"));
        }
        let (path, settings) = (self.txn.path(), self.txn.settings());
        match (settings.winnowing, settings.store_text) {
            (None, _) => Err(Error::NoPassages { path: path.to_owned() }),
            (_, false) => Err(Error::NoTexts { path: path.to_owned() }),
            _ => {
                let (own, texts) = (self.own.clone(), Arc::clone(&self.txn.texts));
                Ok(Some(PassageRule { cuts: self.cuts, most, own, texts }))
            }
        }
    }

    /// The parameters of the comparison; `None` without a threshold.
    fn duplicate_rule(&self) -> Result<Option<DuplicateRule<'t>>> {
        let limit = CandidateLimit::new(self.max_candidates)?;
        let Some(threshold) = self.threshold else {
            let (setting, got) = match (self.against.len(), self.contained) {
                (0, None) => return Ok(None),
                (0, Some(share)) => ("if_contained", share.to_string()),
                (others, _) => ("against", format!("{others} indexes")),
            };
            let expected = "a threshold set by unless_similar as well";
            return Err(Error::InvalidSetting { setting, got, expected });
        };
        let threshold = Threshold::new(threshold)?;
        if let (Some(share), true) = (self.contained, self.estimate) {
            return Err(Error::InvalidSetting {
                setting: "if_contained",
                got: share.to_string(),
                expected: "texts that are compared, not estimates",
            });
        }
        let verifies = self.txn.settings().store_text && !self.estimate;
        let search_plan = self.txn.search_plan(threshold, verifies);
        let elements = verifies.then(|| Arc::clone(&self.txn.elements));
        for other in self.against {
            self.txn.settings().check_comparable(
                self.txn.path(),
                other.settings(),
                other.path(),
            )?;
        }
        let sketcher = self.txn.shared_sketcher();
        let against = self.against;
        let rule = DuplicateRule::new(search_plan, sketcher, elements, threshold, against, limit)
            .of_run(self.own.clone());
        match self.contained {
            Some(share) => rule.if_contained(share, self.txn.path()).map(Some),
            None => Ok(Some(rule)),
        }
    }

    /// Inserts a document. A document without an id gets the next automatic one.
    ///
    /// # Errors
    ///
    /// Those of [`documents`](Self::documents). [`Error::RefusedDocument`] is not among them: the
    /// error is its source.
    pub fn document(self, document: Document) -> Result<Outcome> {
        let outcomes = self.documents(vec![document]).map_err(Error::of_single_document)?;
        // `documents` returns one outcome per document, so the default is never used.
        Ok(outcomes.into_iter().next().unwrap_or(Outcome::Inserted(Inserted::Skipped)))
    }

    /// Inserts documents in order. Documents without an id get the next automatic ones. Returns the
    /// outcomes in the same order.
    ///
    /// # Errors
    ///
    /// These errors leave the transaction unchanged:
    ///
    /// - [`Error::InvalidSetting`] for a threshold, a share or a number of candidates out of range,
    ///   and for options that need others or exclude them.
    /// - [`Error::NoPassages`] and [`Error::NoTexts`] if an option needs passages or texts that an
    ///   index does not keep.
    /// - [`Error::UnequalSettings`] if the signatures of another index are not comparable.
    /// - [`Error::SketchedOtherwise`] for a document that a sketcher with other settings has made.
    /// - [`Error::MissingText`] for a document without a text if the index stores texts.
    /// - [`Error::MissingFingerprints`] for a document without fingerprints if the index finds
    ///   passages.
    /// - [`Error::RefusedDocument`] for the first document that is refused for a reason that does
    ///   not name it. Its source is one of the three above for a document without an id;
    ///   [`Error::SignatureMismatch`] for a signature with another number of lanes;
    ///   [`Error::InvalidFingerprints`] for fingerprints of other settings; [`Error::NotWeights`]
    ///   or [`Error::UnexpectedWeights`] for a document of the wrong kind.
    ///
    /// After [`Error::Full`], [`Error::Damaged`], [`Error::Io`] or [`Error::Storage`], the
    /// transaction cannot be committed if the insertion had already begun to write.
    pub fn documents(mut self, documents: Vec<Document>) -> Result<Vec<Outcome>> {
        self.insert(documents)
    }

    /// Inserts documents as [`documents`](Self::documents) does.
    pub(super) fn insert(&mut self, mut documents: Vec<Document>) -> Result<Vec<Outcome>> {
        let duplicate_rule = self.duplicate_rule()?;
        let passage_rule = self.passage_rule()?;
        let Self { txn, on_conflict, .. } = self;
        for (place, document) in documents.iter().enumerate() {
            let checked = txn.check_document(document);
            checked.map_err(|error| error.of_document(place, document.id()))?;
        }
        txn.give_ids(&mut documents)?;
        let sketcher = txn.shared_sketcher();
        let writer = txn.writer_mut();
        let mut limited = 0;
        let mut outcomes = Vec::with_capacity(documents.len());
        while !documents.is_empty() {
            let later = documents.split_off(documents.len().min(writer.batch_size()));
            let judging = match (&duplicate_rule, &passage_rule) {
                (Some(rule), _) => Judging::Similar(rule),
                (None, Some(rule)) => Judging::Passages(rule, &sketcher),
                (None, None) => Judging::Nothing,
            };
            let inserted = insert(writer, documents, *on_conflict, judging, &mut outcomes);
            if inserted.is_err() && !outcomes.is_empty() {
                // The error does not tell the caller how many documents were inserted.
                writer.fail();
            }
            limited += inserted?;
            documents = later;
        }
        txn.limited += limited;
        Ok(outcomes)
    }

    /// Sketches contents on all threads and inserts them. Takes pairs of an id and a text,
    /// [`Weights`](crate::Weights) or [`Tokens`](crate::Tokens).
    ///
    /// # Errors
    ///
    /// [`Error::RefusedDocument`] for the first content that [`Index::prepare`
    /// ](crate::Index::prepare) refuses; its source is the error of that method, and the
    /// transaction is as it was. Those of [`documents`](Self::documents).
    pub fn contents<I, T>(self, contents: &[(I, T)]) -> Result<Vec<Outcome>>
    where
        I: AsRef<str> + Sync,
        T: Sync,
        for<'c> &'c T: Into<Content<'c>>,
    {
        let sketcher = self.txn.shared_sketcher();
        let settings = self.txn.settings();
        let prepare = |(place, (id, content)): (usize, &(I, T))| {
            let document = Document::prepare(id.as_ref(), content, &sketcher, settings);
            document.map_err(|error| error.of_document(place, id.as_ref()))
        };
        let documents = parallel::map(contents.iter().enumerate().collect(), true, prepare);
        self.documents(documents.into_iter().collect::<Result<_>>()?)
    }
}

/// What documents are compared by.
#[derive(Clone, Copy)]
enum Judging<'c> {
    Nothing,
    Similar(&'c DuplicateRule<'c>),
    Passages(&'c PassageRule, &'c Sketcher),
}

/// What decides about the documents of a batch.
enum Judges<'c> {
    Nothing,
    Similar(Judge<'c>),
    Passages(PassageJudge<'c>),
}

/// Inserts the documents of one batch. Returns the number of documents that were compared with only
/// some of their candidates.
fn insert(
    writer: &mut Writer,
    documents: Vec<Document>,
    on_conflict: OnConflict,
    judging: Judging<'_>,
    outcomes: &mut Vec<Outcome>,
) -> Result<u64> {
    let mut batch = writer.batch(documents)?;
    let writes = |existing| Inserted::new(existing, on_conflict).writes();
    let mut judges = match judging {
        Judging::Nothing => {
            let new = batch.insert_if_new()?;
            outcomes.extend(repeat_n(Outcome::Inserted(Inserted::Added), new));
            Judges::Nothing
        }
        Judging::Similar(rule) => Judges::Similar(Judge::compare_batch(&mut batch, rule, writes)?),
        Judging::Passages(rule, sketcher) => {
            Judges::Passages(PassageJudge::compare_batch(&mut batch, rule, sketcher, writes)?)
        }
    };
    while let Some(entry) = batch.next()? {
        let inserted = Inserted::new(entry.existing(), on_conflict);
        outcomes.push(match &mut judges {
            Judges::Nothing => decide(entry, inserted, None)?,
            Judges::Similar(judge) => {
                let mut entry = entry;
                let outcome = judge.judge(&mut entry, inserted)?;
                decide(entry, inserted, outcome)?
            }
            Judges::Passages(judge) => judge.decide(entry, inserted)?,
        });
    }
    batch.finish()?;
    Ok(match judges {
        Judges::Nothing => 0,
        Judges::Similar(judge) => judge.limited(),
        Judges::Passages(judge) => judge.limited(),
    })
}

/// Inserts or skips one document of a batch. Its outcome is given if more can be said than the
/// effect of the insertion.
fn decide(entry: Entry<'_, '_>, inserted: Inserted, outcome: Option<Outcome>) -> Result<Outcome> {
    let outcome = outcome.unwrap_or(Outcome::Inserted(inserted));
    if outcome.inserted().is_some_and(Inserted::writes) {
        entry.insert()?;
    } else {
        entry.skip();
    }
    Ok(outcome)
}
