//! The write transaction: insert, check and insert, remove, commit.

use crate::error::{Error, Result};
use crate::index::ask::search::Look;
use crate::index::ask::verify::Margins;
use crate::index::document::Document;
use crate::index::snapshot::Snapshot;
use crate::index::write::insertion::{Inserted, Insertion, Outcome};
use crate::params::Threshold;
use crate::sketch::Sketcher;
use crate::store::{Settings, Writer};
use crate::text::Content;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

/// The one write transaction of an index: all of it becomes durable and visible to others at
/// [`commit`](Self::commit), or nothing if it is dropped. It sees its own changes at once.
///
/// It holds the index open and can be moved to another thread. [`Index::begin_write`] says how a
/// moved transaction and a thread that begins a second one go together.
///
/// [`Index::begin_write`]: crate::Index::begin_write
///
/// ```
/// # fn main() -> twindex::Result<()> {
/// # let folder = tempfile::tempdir().expect("a temporary folder");
/// # let index = twindex::Index::create(folder.path().join("w.twx"))?;
/// use twindex::{Inserted, Outcome};
/// let mut txn = index.begin_write()?;
/// assert_eq!(txn.insert("page-1", "a page about near duplicates")?, Inserted::Added);
/// match txn.insert_unless_similar("page-2", "A page  about near duplicates")? {
///     Outcome::Duplicate { of, .. } => assert_eq!(of.id, "page-1"),
///     _ => unreachable!("case and white space are folded"),
/// }
/// assert!(!txn.remove("page-0")?);
/// txn.commit()?;
/// # Ok(())
/// # }
/// ```
#[must_use = "dropping a transaction undoes it"]
pub struct WriteTxn {
    writer: Writer,
    sketcher: Arc<Sketcher>,
    margins: Margins,
}

impl fmt::Debug for WriteTxn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriteTxn").finish_non_exhaustive()
    }
}

impl WriteTxn {
    pub(crate) fn new(writer: Writer, sketcher: Arc<Sketcher>) -> Self {
        Self { writer, sketcher, margins: Margins::default() }
    }

    /// Inserts a document under an id, replacing what was there.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidId`] for an id of 0 or more than 4,096 bytes, [`Error::NotWeights`],
    /// [`Error::UnexpectedWeights`] or [`Error::UnexpectedTokens`] for content of another kind than
    /// the index takes, which leave the transaction usable; those of [`Insertion::documents`].
    pub fn insert<'c>(&mut self, id: &str, content: impl Into<Content<'c>>) -> Result<Inserted> {
        let document = Document::prepare(id, content, &self.sketcher, self.settings())?;
        let outcome = self.insertion().document(document)?;
        // Without a threshold nothing is a duplicate.
        Ok(outcome.inserted().unwrap_or(Inserted::Skipped))
    }

    /// Inserts a document unless one of at least the index's threshold is known, in the index or
    /// earlier in this transaction: [`Insertion::unless_similar`].
    ///
    /// # Errors
    ///
    /// Those of [`insert`](Self::insert).
    pub fn insert_unless_similar<'c>(
        &mut self,
        id: &str,
        content: impl Into<Content<'c>>,
    ) -> Result<Outcome> {
        let document = Document::prepare(id, content, &self.sketcher, self.settings())?;
        let threshold = self.settings().threshold();
        self.insertion().unless_similar(threshold).document(document)
    }

    /// Begins an insertion of prepared documents or of many texts, with a policy for conflicts, a
    /// threshold of duplicates, and other indexes to compare with.
    pub fn insertion(&mut self) -> Insertion<'_> {
        Insertion::new(self)
    }

    /// Where what is similar to a document is looked for.
    pub(super) fn look(&self, threshold: Threshold, verifies: bool) -> Look {
        Look::new(self.settings(), &self.margins, threshold, verifies)
    }

    pub(super) fn settings(&self) -> &Settings {
        self.writer.engine().settings()
    }

    pub(super) fn shared_sketcher(&self) -> Arc<Sketcher> {
        Arc::clone(&self.sketcher)
    }

    /// The transaction of the store; this thread has it now.
    pub(super) fn writer(&self) -> &Writer {
        self.writer.used();
        &self.writer
    }

    /// The same, to be changed.
    pub(super) fn writer_mut(&mut self) -> &mut Writer {
        self.writer.used();
        &mut self.writer
    }

    /// Removes a document; returns whether there was one with this id.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`], [`Error::Io`] or [`Error::Storage`], where nothing was removed.
    pub fn remove(&mut self, id: &str) -> Result<bool> {
        self.writer_mut().remove(id)
    }

    /// Removes the documents with these ids; returns how many of them there were. Faster than one
    /// by one: they are looked up in one sweep.
    ///
    /// # Errors
    ///
    /// Those of [`remove`](Self::remove).
    pub fn remove_batch(&mut self, ids: &[impl AsRef<str>]) -> Result<u64> {
        let ids: Vec<&str> = ids.iter().map(AsRef::as_ref).collect();
        self.writer_mut().remove_all(&ids)
    }

    /// Sets the time of insertion of the documents with these ids to now; returns how many of them
    /// there were. A document that has a later time, as after the clock was set back, keeps it.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`], [`Error::Io`] or [`Error::Storage`], after which the transaction cannot
    /// be committed.
    pub fn renew_batch(&mut self, ids: &[impl AsRef<str>]) -> Result<u64> {
        let ids: Vec<&str> = ids.iter().map(AsRef::as_ref).collect();
        self.writer_mut().renew_all(&ids)
    }

    /// The next automatic id, `#1`, `#2` and so on: this index never gives one twice, nor one that
    /// a document was given by hand.
    ///
    /// Documents [without an id](Document::without_id) are given theirs when they are inserted.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] or [`Error::Damaged`].
    pub fn auto_id(&mut self) -> Result<String> {
        loop {
            let id = self.writer_mut().auto_id();
            if !self.contains(&id)? {
                return Ok(id);
            }
        }
    }

    /// Gives the documents that have no id the next automatic ones, in their order. An id of an
    /// earlier document among these is not given again.
    ///
    /// Inserting documents does this too; it is for who wants to know the ids.
    ///
    /// ```
    /// # fn main() -> twindex::Result<()> {
    /// # let folder = tempfile::tempdir().expect("a temporary folder");
    /// # let index = twindex::Index::create(folder.path().join("n.twx"))?;
    /// let mut documents = vec![
    ///     index.prepare("#1", "named by hand")?,
    ///     index.prepare("?", "not named")?.without_id(),
    /// ];
    /// let mut txn = index.begin_write()?;
    /// txn.give_ids(&mut documents)?;
    /// assert_eq!(documents[1].id(), "#2");
    /// txn.insertion().documents(documents)?;
    /// txn.commit()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Io`] or [`Error::Damaged`].
    pub fn give_ids(&mut self, documents: &mut [Document]) -> Result<()> {
        // Ids that look like automatic ones and may not be in the index yet. Only those before a
        // document count, so that it does not matter which are in one batch.
        let mut given: HashSet<String> = HashSet::new();
        for document in documents {
            if document.id.starts_with('#') {
                given.insert(document.id.clone());
            } else if document.id.is_empty() {
                document.id = loop {
                    let id = self.auto_id()?;
                    if !given.contains(&id) {
                        break id;
                    }
                };
            }
        }
        Ok(())
    }

    /// Whether there is a document with this id, this transaction's changes included.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] or [`Error::Damaged`].
    pub fn contains(&self, id: &str) -> Result<bool> {
        self.writer().contains(id)
    }

    /// The number of documents, this transaction's changes included.
    pub fn len(&self) -> u64 {
        self.writer().len()
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
    pub(super) fn batch_size(&self) -> usize {
        self.writer().batch_size()
    }

    /// Whether the documents of another index can be inserted.
    pub(super) fn takes(&self, source: &Snapshot) -> Result<()> {
        self.settings().same(self.writer().path(), source.settings(), source.path())
    }

    pub(super) fn fits(&self, document: &Document) -> Result<()> {
        let settings = self.settings();
        document.is_of_kind(settings)?;
        let (expected, got) = (settings.lanes.get(), document.signature().lanes().len());
        match expected == got {
            true if settings.store_text && document.stored_text().is_none() => {
                Err(Error::MissingText { id: document.id().to_owned() })
            }
            true => Ok(()),
            false => Err(Error::SignatureMismatch { expected, got }),
        }
    }
}
