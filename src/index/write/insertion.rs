//! Insertions: options for conflicts and duplicates, and the outcome for each document.

use crate::error::{Error, Result};
use crate::index::ask::matches::Match;
use crate::index::document::Document;
use crate::index::snapshot::Snapshot;
use crate::index::write::duplicates::{Comparison, Judge};
use crate::index::write::transaction::WriteTxn;
use crate::params::Threshold;
use crate::sketch::Sketcher;
use crate::store::{CandidateLimit, Entry, Existing, OwnNumbers, Writer};
use crate::text::Content;
use rayon::prelude::*;
use std::fmt;

/// The effect of inserting a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Inserted {
    /// The id was new, and the document was added.
    Added,
    /// The document replaced one with the same id and another text.
    Replaced,
    /// The index already has the document with the same id and text. Nothing was written.
    Unchanged,
    /// The index has the id with another text and keeps that document ([`OnConflict::Skip`]).
    Skipped,
}

impl Inserted {
    fn new(existing: Existing, on_conflict: OnConflict) -> Self {
        match existing {
            Existing::Absent => Self::Added,
            Existing::Same(_) => Self::Unchanged,
            Existing::Other(_) if on_conflict == OnConflict::Skip => Self::Skipped,
            Existing::Other(_) => Self::Replaced,
        }
    }

    /// Whether the insertion writes the document.
    fn writes(self) -> bool {
        matches!(self, Self::Added | Self::Replaced)
    }
}

/// The number of candidates with which a new document is compared, unless
/// [`Insertion::max_candidates`] sets another.
pub const DEFAULT_MAX_CANDIDATES: usize = 4096;

/// The policy for a document whose id is in the index with another text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OnConflict {
    /// The new document replaces the one in the index.
    #[default]
    Replace,
    /// The new document is left out.
    Skip,
}

/// The outcome for a document that was passed to an insertion.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The document is not a duplicate, or the insertion did not search for duplicates.
    Inserted(Inserted),
    /// The document is similar to a known one and was not inserted.
    Duplicate {
        /// The most similar document. Ties go to this index before the others, to the others in
        /// their order, and to the document that was inserted first.
        of: Match,
        /// The position in [`Insertion::against`] of the index that has the document, from 0;
        /// `None` for this index.
        against: Option<usize>,
    },
}

impl Outcome {
    /// The effect of the insertion; `None` for a duplicate.
    pub fn inserted(&self) -> Option<Inserted> {
        match self {
            Self::Inserted(inserted) => Some(*inserted),
            Self::Duplicate { .. } => None,
        }
    }
}

/// An insertion of one or more documents, made by [`WriteTxn::insertion`]. Set its options first;
/// then [`document`](Self::document), [`documents`](Self::documents) or
/// [`contents`](Self::contents) runs it.
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
#[must_use = "nothing is inserted before `document`, `documents` or `contents`"]
pub struct Insertion<'t> {
    txn: &'t mut WriteTxn,
    on_conflict: OnConflict,
    threshold: Option<f64>,
    against: &'t [&'t Snapshot],
    estimate: bool,
    max_candidates: usize,
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
            .finish_non_exhaustive()
    }
}

impl<'t> Insertion<'t> {
    pub(super) fn new(txn: &'t mut WriteTxn) -> Self {
        Self {
            txn,
            on_conflict: OnConflict::default(),
            threshold: None,
            against: &[],
            estimate: false,
            max_candidates: DEFAULT_MAX_CANDIDATES,
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
    /// most buckets with the document are compared, which a similar document does; then those that
    /// were inserted first. At most 131,072 documents of a bucket are read.
    ///
    /// The limit bounds the time that a document takes when someone has filled its buckets on
    /// purpose, or when very many documents are nearly similar. A duplicate beyond the limit is
    /// missed; [`WriteTxn::limited`] counts the documents for which that is possible.
    pub fn max_candidates(self, most: usize) -> Self {
        Self { max_candidates: most, ..self }
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
    /// [`Error::InvalidSetting`] and [`Error::SettingMismatch`], as for
    /// [`documents`](Self::documents).
    pub fn recall(&self) -> Result<f64> {
        Ok(self.comparison()?.map_or(1.0, |comparison| comparison.recall()))
    }

    /// The parameters of the comparison; `None` without a threshold.
    fn comparison(&self) -> Result<Option<Comparison<'t>>> {
        let Some(threshold) = self.threshold else {
            return match self.against.len() {
                0 => Ok(None),
                others => Err(Error::InvalidSetting {
                    setting: "against",
                    got: format!("{others} indexes"),
                    expected: "a threshold set by unless_similar as well",
                }),
            };
        };
        let threshold = Threshold::new(threshold)?;
        if self.max_candidates == 0 {
            return Err(Error::InvalidSetting {
                setting: "max_candidates",
                got: "0".to_owned(),
                expected: "at least 1",
            });
        }
        let limit = CandidateLimit { compared: self.max_candidates };
        let verifies = self.txn.settings().store_text && !self.estimate;
        let search_plan = self.txn.search_plan(threshold, verifies);
        let (settings, against) = (self.txn.settings(), self.against);
        Comparison::new(settings, search_plan, verifies, threshold, against, limit)
            .map(|comparison| Some(comparison.of_run(self.own.clone())))
    }

    /// Inserts a document. A document without an id gets the next automatic one.
    ///
    /// # Errors
    ///
    /// Those of [`documents`](Self::documents).
    pub fn document(self, document: Document) -> Result<Outcome> {
        let outcomes = self.documents(vec![document])?;
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
    /// - [`Error::InvalidSetting`] for a threshold or a number of candidates out of range, or for
    ///   [`against`](Self::against) without a threshold.
    /// - [`Error::SettingMismatch`] if the signatures of another index are not comparable.
    /// - [`Error::SignatureMismatch`] for a signature with another number of lanes.
    /// - [`Error::MissingText`] for a document without a text if the index stores texts.
    /// - [`Error::NotWeights`] or [`Error::UnexpectedWeights`] for a document of the wrong kind.
    ///
    /// After [`Error::Full`], [`Error::Damaged`], [`Error::Io`] or [`Error::Storage`], the
    /// transaction cannot be committed if the insertion had already begun to write.
    pub fn documents(self, mut documents: Vec<Document>) -> Result<Vec<Outcome>> {
        let comparison = self.comparison()?;
        let Self { txn, on_conflict, .. } = self;
        documents.iter().try_for_each(|document| txn.fits(document))?;
        txn.give_ids(&mut documents)?;
        let sketcher = txn.shared_sketcher();
        let writer = txn.writer_mut();
        let mut limited = 0;
        let mut outcomes = Vec::with_capacity(documents.len());
        while !documents.is_empty() {
            let later = documents.split_off(documents.len().min(writer.batch_size()));
            let compared = comparison.as_ref().map(|comparison| (comparison, &*sketcher));
            let inserted = insert(writer, documents, on_conflict, compared, &mut outcomes);
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
    /// Those of [`Index::prepare`](crate::Index::prepare), which leave the transaction as it was,
    /// and those of [`documents`](Self::documents).
    pub fn contents<I, T>(self, contents: &[(I, T)]) -> Result<Vec<Outcome>>
    where
        I: AsRef<str> + Sync,
        T: Sync,
        for<'c> &'c T: Into<Content<'c>>,
    {
        let sketcher = self.txn.shared_sketcher();
        let settings = self.txn.settings();
        let prepare =
            |(id, content): &(I, T)| Document::prepare(id.as_ref(), content, &sketcher, settings);
        let documents: Result<Vec<Document>> = contents.par_iter().map(prepare).collect();
        self.documents(documents?)
    }
}

/// Inserts the documents of one batch; `compared` finds the duplicates among them. Returns the
/// number of documents that were compared with only some of their candidates.
fn insert(
    writer: &mut Writer,
    documents: Vec<Document>,
    on_conflict: OnConflict,
    compared: Option<(&Comparison<'_>, &Sketcher)>,
    outcomes: &mut Vec<Outcome>,
) -> Result<u64> {
    let mut batch = writer.batch(documents)?;
    let mut judge = match compared {
        Some((comparison, sketcher)) => {
            let writes = |existing| Inserted::new(existing, on_conflict).writes();
            Some(Judge::of(&mut batch, comparison, sketcher, writes)?)
        }
        None => None,
    };
    while let Some(entry) = batch.next()? {
        outcomes.push(decide(entry, on_conflict, judge.as_mut())?);
    }
    batch.finish()?;
    Ok(judge.map_or(0, |judge| judge.limited()))
}

/// Inserts or skips one document of a batch.
fn decide(
    mut entry: Entry<'_, '_>,
    on_conflict: OnConflict,
    judge: Option<&mut Judge<'_>>,
) -> Result<Outcome> {
    let inserted = Inserted::new(entry.existing(), on_conflict);
    if let Some(judge) = judge
        && let Some(duplicate) = judge.judge(&mut entry, inserted.writes())?
    {
        entry.skip();
        return Ok(duplicate);
    }
    match inserted.writes() {
        true => entry.insert()?,
        false => entry.skip(),
    }
    Ok(Outcome::Inserted(inserted))
}
