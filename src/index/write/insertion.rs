//! Insertions: what to do on a conflict, what counts as a duplicate, and what became of documents.

use crate::error::{Error, Result};
use crate::index::ask::matches::Match;
use crate::index::document::Document;
use crate::index::snapshot::Snapshot;
use crate::index::write::duplicates::{Comparison, Judge};
use crate::index::write::transaction::WriteTxn;
use crate::params::Threshold;
use crate::sketch::Sketcher;
use crate::store::{Entry, Existing, Writer};
use crate::text::Content;
use rayon::prelude::*;
use std::fmt;

/// What inserting a document did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Inserted {
    /// Its id was new.
    Added,
    /// A document with this id had another text and was replaced.
    Replaced,
    /// A document with this id has the same text. Nothing was written.
    Unchanged,
    /// A document with this id has another text and was kept ([`OnConflict::Skip`]).
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

    /// Whether the document is written.
    fn writes(self) -> bool {
        matches!(self, Self::Added | Self::Replaced)
    }
}

/// What to do with a document whose id is in the index with another text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OnConflict {
    /// It replaces the one in the index.
    #[default]
    Replace,
    /// It is left out.
    Skip,
}

/// What became of a document that was given to an index.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It was no duplicate, or duplicates were not looked for.
    Inserted(Inserted),
    /// It is similar to a document that was known, and was not inserted.
    Duplicate {
        /// The most similar document. Among equals, this index comes before others, which come in
        /// their order, and the earliest inserted comes first.
        of: Match,
        /// Which of the indexes of [`Insertion::against`] has that document, counted from 0;
        /// `None` for this index.
        against: Option<usize>,
    },
}

impl Outcome {
    /// What inserting the document did; `None` for a duplicate.
    pub fn inserted(&self) -> Option<Inserted> {
        match self {
            Self::Inserted(inserted) => Some(*inserted),
            Self::Duplicate { .. } => None,
        }
    }
}

/// An insertion of one document or of many, made by [`WriteTxn::insertion`]. Options come first;
/// [`document`](Self::document), [`documents`](Self::documents) or [`contents`](Self::contents) ends it.
///
/// Without options, a document replaces the one that has its id. With
/// [`unless_similar`](Self::unless_similar) it is inserted only if no similar document is known.
///
/// Many documents go in as if one came after the other, and faster: they are looked up in one
/// sweep and compared on all threads.
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
    again_from: u64,
}

impl fmt::Debug for Insertion<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Insertion")
            .field("on_conflict", &self.on_conflict)
            .field("unless_similar", &self.threshold)
            .field("against", &self.against.len())
            .field("estimate", &self.estimate)
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
            again_from: u64::MAX,
        }
    }

    /// What to do with a document whose id is in the index with another text;
    /// [`OnConflict::Replace`] if this is not said.
    pub fn on_conflict(self, on_conflict: OnConflict) -> Self {
        Self { on_conflict, ..self }
    }

    /// Leaves a document out if one of at least this similarity is known: in the index, earlier in
    /// this transaction, or in an index of [`against`](Self::against).
    ///
    /// A document with the same id does not count as similar. If its text is the same, the new one
    /// is [`Inserted::Unchanged`]. Else [`on_conflict`](Self::on_conflict) decides, and a document
    /// that is to be replaced stays if another document is similar to the new one.
    pub fn unless_similar(self, threshold: f64) -> Self {
        Self { threshold: Some(threshold), ..self }
    }

    /// Also compares with the documents of other indexes. Needs
    /// [`unless_similar`](Self::unless_similar).
    pub fn against(self, others: &'t [&'t Snapshot]) -> Self {
        Self { against: others, ..self }
    }

    /// Goes by estimates although the index stores texts: faster, as no text is read.
    pub fn estimate(self, estimate: bool) -> Self {
        Self { estimate, ..self }
    }

    /// Takes a document that comes again with its id and its text for a duplicate of itself, if it
    /// has this number or a later one; an earlier one is unchanged.
    pub(super) fn again_from(self, number: u64) -> Self {
        Self { again_from: number, ..self }
    }

    pub(super) fn txn(&mut self) -> &mut WriteTxn {
        self.txn
    }

    /// The probability with which a document at the threshold is found here and in each of the
    /// other indexes, at least. With stored texts it is then a duplicate for certain. 1 without
    /// [`unless_similar`](Self::unless_similar).
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`] and [`Error::SettingMismatch`], as for
    /// [`documents`](Self::documents).
    pub fn recall(&self) -> Result<f64> {
        Ok(self.comparison()?.map_or(1.0, |comparison| comparison.recall()))
    }

    /// How documents are compared; `None` where they are not.
    fn comparison(&self) -> Result<Option<Comparison<'t>>> {
        let Some(threshold) = self.threshold else {
            return match self.against.len() {
                0 => Ok(None),
                others => Err(Error::InvalidSetting {
                    setting: "against",
                    got: format!("{others} indexes"),
                    expected: "a threshold with it, by unless_similar",
                }),
            };
        };
        let threshold = Threshold::new(threshold)?;
        let verifies = self.txn.settings().store_text && !self.estimate;
        let look = self.txn.look(threshold, verifies);
        Comparison::new(self.txn.settings(), look, verifies, threshold, self.against)
            .map(|comparison| Some(comparison.again_from(self.again_from)))
    }

    /// Inserts a document. One without an id is given the next automatic one.
    ///
    /// # Errors
    ///
    /// Those of [`documents`](Self::documents).
    pub fn document(self, document: Document) -> Result<Outcome> {
        let outcomes = self.documents(vec![document])?;
        // There is an outcome for each document.
        Ok(outcomes.into_iter().next().unwrap_or(Outcome::Inserted(Inserted::Skipped)))
    }

    /// Inserts documents as if one came after the other. Those without an id are given the next
    /// automatic ones. The outcomes are in the order of the documents.
    ///
    /// # Errors
    ///
    /// These leave the transaction as it was: [`Error::InvalidSetting`] for a threshold out of
    /// range, or `against` without a threshold; [`Error::SettingMismatch`] for an index whose
    /// signatures do not compare with those of this one; [`Error::SignatureMismatch`];
    /// [`Error::MissingText`]; [`Error::NotWeights`] and [`Error::UnexpectedWeights`].
    ///
    /// After [`Error::Full`], [`Error::Damaged`], [`Error::Io`] or [`Error::Storage`] the
    /// transaction cannot be committed, unless nothing of this insertion was done yet.
    pub fn documents(self, mut documents: Vec<Document>) -> Result<Vec<Outcome>> {
        let comparison = self.comparison()?;
        let Self { txn, on_conflict, .. } = self;
        documents.iter().try_for_each(|document| txn.fits(document))?;
        txn.give_ids(&mut documents)?;
        let sketcher = txn.shared_sketcher();
        let writer = txn.writer_mut();
        let mut outcomes = Vec::with_capacity(documents.len());
        while !documents.is_empty() {
            let later = documents.split_off(documents.len().min(writer.batch_size()));
            let compared = comparison.as_ref().map(|comparison| (comparison, &*sketcher));
            let inserted = insert(writer, documents, on_conflict, compared, &mut outcomes);
            if inserted.is_err() && !outcomes.is_empty() {
                // The caller cannot know how many are in.
                writer.fail();
            }
            inserted?;
            documents = later;
        }
        Ok(outcomes)
    }

    /// Inserts contents under their ids, sketching them on all threads: pairs of an id and a text,
    /// of an id and [`Weights`](crate::Weights), or of an id and [`Tokens`](crate::Tokens).
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

/// Inserts the documents of one batch, compared where duplicates are looked for.
fn insert(
    writer: &mut Writer,
    documents: Vec<Document>,
    on_conflict: OnConflict,
    compared: Option<(&Comparison<'_>, &Sketcher)>,
    outcomes: &mut Vec<Outcome>,
) -> Result<()> {
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
    batch.finish()
}

/// Decides about one document of a batch.
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
