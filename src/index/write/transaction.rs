//! The write transaction: insert, check and insert, remove, commit.

use crate::error::{Error, Result};
use crate::index::ask::matches::Match;
use crate::index::ask::search::{Exact, Look, near};
use crate::index::ask::verify::Margins;
use crate::index::document::Document;
use crate::index::snapshot::Snapshot;
use crate::params::{Confidence, Threshold};
use crate::sketch::Sketcher;
use crate::store::{Existing, Known, NewDocument, Settings, Writer};
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

/// What to do with a document whose id is in the index with another text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OnConflict {
    /// It replaces the one in the index.
    #[default]
    Replace,
    /// It is left out.
    Skip,
}

/// What check-and-insert did.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// No similar document was known, and it was inserted.
    Inserted(Inserted),
    /// It is similar to this document, the most similar and among equals the earliest, and was
    /// not inserted.
    Duplicate(Match),
}

/// The one write transaction of an index: all of it becomes durable and visible to others at
/// [`commit`](Self::commit), or nothing if it is dropped. It sees its own changes at once.
///
/// ```
/// # fn main() -> twindex::Result<()> {
/// # let folder = tempfile::tempdir().expect("a temporary folder");
/// # let index = twindex::Index::create(folder.path().join("w.twx"))?;
/// use twindex::{Inserted, Outcome};
/// let mut txn = index.begin_write()?;
/// assert_eq!(txn.insert("page-1", "a page about near duplicates")?, Inserted::Added);
/// match txn.insert_unless_similar("page-2", "A page  about near duplicates")? {
///     Outcome::Duplicate(m) => assert_eq!((m.id.as_str(), m.similarity), ("page-1", 1.0)),
///     Outcome::Inserted(_) => unreachable!("case and white space are folded"),
/// }
/// assert!(!txn.remove("page-0")?);
/// txn.commit()?;
/// # Ok(())
/// # }
/// ```
#[must_use = "dropping a transaction undoes it"]
pub struct WriteTxn<'i> {
    pub(crate) writer: Writer<'i>,
    pub(crate) sketcher: &'i Sketcher,
    pub(crate) settings: &'i Settings,
    estimate: bool,
    margins: Margins,
}

impl fmt::Debug for WriteTxn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriteTxn").finish_non_exhaustive()
    }
}

impl<'i> WriteTxn<'i> {
    pub(crate) fn new(writer: Writer<'i>, sketcher: &'i Sketcher, settings: &'i Settings) -> Self {
        Self { writer, sketcher, settings, estimate: false, margins: Margins::default() }
    }

    /// Inserts a document under an id, replacing what was there.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidId`] for an id of 0 or more than 4,096 bytes, and [`Error::NotWeights`],
    /// [`Error::UnexpectedWeights`] or [`Error::UnexpectedTokens`] for content of another kind than
    /// the index takes, which leave the transaction usable; [`Error::Full`]; [`Error::Io`] or
    /// [`Error::Storage`], after which it cannot be committed.
    pub fn insert<'c>(&mut self, id: &str, content: impl Into<Content<'c>>) -> Result<Inserted> {
        let document = Document::prepare(id, content, self.sketcher, self.settings)?;
        self.insert_document(document, OnConflict::Replace)
    }

    /// Inserts a prepared document.
    ///
    /// # Errors
    ///
    /// Those of [`insert`](Self::insert), and [`Error::SignatureMismatch`].
    pub fn insert_document(
        &mut self,
        document: Document,
        on_conflict: OnConflict,
    ) -> Result<Inserted> {
        self.fits(&document)?;
        self.put(document.0, None, on_conflict)
    }

    /// Inserts many documents, as if one after the other, sketching them on all threads. The results
    /// are in the order of the documents.
    ///
    /// # Errors
    ///
    /// Those of [`insert`](Self::insert).
    pub fn insert_batch<I, T>(&mut self, documents: &[(I, T)]) -> Result<Vec<Inserted>>
    where
        I: AsRef<str> + Sync,
        T: Sync,
        for<'t> &'t T: Into<Content<'t>>,
    {
        let (sketcher, settings) = (self.sketcher, self.settings);
        let prepared: Vec<Document> = documents
            .par_iter()
            .map(|(id, content)| Document::prepare(id.as_ref(), content, sketcher, settings))
            .collect::<Result<_>>()?;
        self.insert_documents(prepared, OnConflict::Replace)
    }

    /// Inserts many prepared documents, as if one after the other. Faster than one by one: what
    /// the index has under their ids is looked up in one sweep.
    ///
    /// # Errors
    ///
    /// Those of [`insert_document`](Self::insert_document).
    pub fn insert_documents(
        &mut self,
        documents: Vec<Document>,
        on_conflict: OnConflict,
    ) -> Result<Vec<Inserted>> {
        documents.iter().try_for_each(|document| self.fits(document))?;
        let mut rest: Vec<NewDocument> = documents.into_iter().map(|document| document.0).collect();
        let mut results = Vec::with_capacity(rest.len());
        while !rest.is_empty() {
            let later = rest.split_off(rest.len().min(self.writer.batch()));
            let ids: Vec<&str> = rest.iter().map(|document| document.id.as_str()).collect();
            let known = self.writer.known(&ids)?;
            self.put_batch(rest, known, on_conflict, &mut results).inspect_err(|_| {
                // What gave way may have nothing in its place yet.
                self.writer.fail();
            })?;
            rest = later;
        }
        Ok(results)
    }

    /// Inserts documents of which `known` says what the index had under their ids. They are
    /// written together, but that the second of an id comes after the first.
    fn put_batch(
        &mut self,
        documents: Vec<NewDocument>,
        known: Vec<Known>,
        on_conflict: OnConflict,
        results: &mut Vec<Inserted>,
    ) -> Result<()> {
        let mut waiting: Vec<NewDocument> = Vec::new();
        for (document, known) in documents.into_iter().zip(known) {
            if known == Known::Repeated {
                self.writer.insert_all(std::mem::take(&mut waiting))?;
            }
            let done = self.make_way(&document, Some(known), on_conflict)?;
            if matches!(done, Inserted::Added | Inserted::Replaced) {
                waiting.push(document);
            }
            results.push(done);
        }
        self.writer.insert_all(waiting)
    }

    /// Inserts a document unless one of at least the index's threshold is known, in the index
    /// or earlier in this transaction. A document with the same id does not count as similar: if
    /// its text is the same the result is [`Inserted::Unchanged`], else it is replaced or, if
    /// another document is similar, kept.
    ///
    /// # Errors
    ///
    /// Those of [`insert`](Self::insert).
    pub fn insert_unless_similar<'c>(
        &mut self,
        id: &str,
        content: impl Into<Content<'c>>,
    ) -> Result<Outcome> {
        let document = Document::prepare(id, content, self.sketcher, self.settings)?;
        self.insert_document_unless_similar(document, self.settings.threshold.get())
    }

    /// As [`insert_unless_similar`](Self::insert_unless_similar) for a prepared document and a
    /// threshold of its own.
    ///
    /// # Errors
    ///
    /// Those of [`insert_document`](Self::insert_document), and [`Error::InvalidSetting`] for a
    /// threshold out of range.
    pub fn insert_document_unless_similar(
        &mut self,
        document: Document,
        threshold: f64,
    ) -> Result<Outcome> {
        self.fits(&document)?;
        let threshold = Threshold::new(threshold)?;
        let document = document.0;
        let own = match self.writer.compare(&document, None)? {
            Existing::Same(_) => return Ok(Outcome::Inserted(Inserted::Unchanged)),
            Existing::Other(doc) => Some(doc),
            Existing::Absent => None,
        };
        if !document.signature.is_empty() {
            let (look, sketcher) = (self.look(threshold), self.sketcher);
            let text = document.text.as_deref().filter(|_| self.verifies());
            let exact = text.map(|text| Exact { text, sketcher, threshold: threshold.get() });
            let lanes = document.signature.lanes();
            let duplicate = self.writer.read(|view| {
                let found = near(view, lanes, look, exact, 1, |doc| Some(doc) != own)?;
                let best = found.into_iter().next().map(|(likeness, doc)| {
                    let id = view.document(doc)?.id;
                    Ok(likeness.named(id, lanes.len(), Confidence::DEFAULT))
                });
                best.transpose()
            })?;
            if let Some(duplicate) = duplicate {
                return Ok(Outcome::Duplicate(duplicate));
            }
        }
        self.put(document, None, OnConflict::Replace).map(Outcome::Inserted)
    }

    /// Has check-and-insert go by estimates, although the index stores texts: faster, as no text is
    /// read.
    pub fn set_estimate(&mut self, estimate: bool) {
        self.estimate = estimate;
    }

    /// Whether check-and-insert is exact.
    pub(crate) fn verifies(&self) -> bool {
        self.settings.store_text && !self.estimate
    }

    /// Where what is similar to a document is looked for.
    pub(crate) fn look(&self, threshold: Threshold) -> Look {
        Look::new(self.settings, &self.margins, threshold, self.verifies())
    }

    /// Removes a document; returns whether there was one with this id.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`], [`Error::Io`] or [`Error::Storage`], where nothing was removed.
    pub fn remove(&mut self, id: &str) -> Result<bool> {
        self.writer.remove(id)
    }

    /// Removes the documents with these ids; returns how many of them there were. Faster than one
    /// by one: they are looked up in one sweep.
    ///
    /// # Errors
    ///
    /// Those of [`remove`](Self::remove).
    pub fn remove_batch(&mut self, ids: &[impl AsRef<str>]) -> Result<u64> {
        let ids: Vec<&str> = ids.iter().map(AsRef::as_ref).collect();
        self.writer.remove_all(&ids)
    }

    /// Sets the time of insertion of the documents with these ids to now; returns how many of them
    /// there were. A document that has a later time, as after the clock was set back, keeps it.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`], [`Error::Io`] or [`Error::Storage`], after which the transaction cannot be
    /// committed.
    pub fn renew_batch(&mut self, ids: &[impl AsRef<str>]) -> Result<u64> {
        let ids: Vec<&str> = ids.iter().map(AsRef::as_ref).collect();
        self.writer.renew_all(&ids)
    }

    /// The next automatic id, `#1`, `#2` and so on: this index never gives one twice, nor one that
    /// a document was given by hand.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] or [`Error::Damaged`].
    pub fn auto_id(&mut self) -> Result<String> {
        loop {
            let id = self.writer.auto_id();
            if !self.contains(&id)? {
                return Ok(id);
            }
        }
    }

    /// Whether there is a document with this id, this transaction's changes included.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] or [`Error::Damaged`].
    pub fn contains(&self, id: &str) -> Result<bool> {
        self.writer.contains(id)
    }

    /// The number of documents, this transaction's changes included.
    pub fn len(&self) -> u64 {
        self.writer.len()
    }

    /// Whether there is no document.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Makes all changes durable, then visible. Once it has returned, they survive a crash of
    /// the process and of the machine. Takes at least the time in which the disk confirms a write.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] or [`Error::Storage`]: nothing was changed.
    pub fn commit(self) -> Result<()> {
        self.writer.commit()
    }

    /// Undoes all changes, as dropping the transaction does.
    pub fn abort(self) {}

    /// Documents that are best inserted together.
    pub(crate) fn batch(&self) -> usize {
        self.writer.batch()
    }

    /// Whether the documents of another index can be inserted.
    pub(crate) fn takes(&self, source: &Snapshot) -> Result<()> {
        self.settings.same(self.writer.path(), source.settings(), source.path())
    }

    pub(crate) fn fits(&self, document: &Document) -> Result<()> {
        document.is_of_kind(self.settings)?;
        let (expected, got) = (self.settings.lanes.get(), document.signature().lanes().len());
        match expected == got {
            true if self.settings.store_text && document.stored_text().is_none() => {
                Err(Error::MissingText { id: document.id().to_owned() })
            }
            true => Ok(()),
            false => Err(Error::SignatureMismatch { expected, got }),
        }
    }

    fn put(
        &mut self,
        document: NewDocument,
        known: Option<Known>,
        on_conflict: OnConflict,
    ) -> Result<Inserted> {
        let done = self.make_way(&document, known, on_conflict)?;
        if matches!(done, Inserted::Added | Inserted::Replaced) {
            self.writer.insert(document)?;
        }
        Ok(done)
    }

    /// Removes what a document replaces, and says what inserting it is: it is to be inserted if it
    /// is added or replaces another.
    fn make_way(
        &mut self,
        document: &NewDocument,
        known: Option<Known>,
        on_conflict: OnConflict,
    ) -> Result<Inserted> {
        Ok(match self.writer.compare(document, known)? {
            Existing::Same(_) => Inserted::Unchanged,
            Existing::Absent => Inserted::Added,
            Existing::Other(_) if on_conflict == OnConflict::Skip => Inserted::Skipped,
            Existing::Other(doc) => {
                self.writer.remove_number(doc);
                Inserted::Replaced
            }
        })
    }
}
