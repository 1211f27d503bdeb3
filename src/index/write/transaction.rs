//! The write transaction: removes documents, gives ids, and commits.

use crate::error::{Error, Result};
use crate::index::ask::exact_text::ElementCache;
use crate::index::ask::search::SearchPlan;
use crate::index::ask::text_cache::TextCache;
use crate::index::ask::verify::Margins;
use crate::index::document::Document;
use crate::index::snapshot::Snapshot;
use crate::index::track::cluster_ids::ClusterEvent;
use crate::index::track::update::update_clusters;
use crate::params::Threshold;
use crate::sketch::Sketcher;
use crate::store::{Settings, Watch, Writer, unwatched};
use crate::text::Content;
use std::collections::HashSet;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// A write transaction. An index has at most one at a time.
///
/// [`commit`](Self::commit) makes all changes durable and visible to others at once; dropping the
/// transaction undoes them. The transaction itself sees its changes immediately.
///
/// It keeps the file open and can be moved to another thread. [`Index::begin_write`] describes what
/// happens if that thread then begins a second one.
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
    pub(super) limited: u64,
    /// Texts that were compared for their passages.
    pub(super) texts: Arc<TextCache>,
    /// Elements of texts that were compared as a whole.
    pub(super) elements: Arc<ElementCache>,
}

impl fmt::Debug for WriteTxn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriteTxn").finish_non_exhaustive()
    }
}

impl WriteTxn {
    pub(crate) fn new(writer: Writer, sketcher: Arc<Sketcher>) -> Self {
        let elements = Arc::new(ElementCache::of_bytes(writer.cache_bytes()));
        let texts = TextCache::new(TextCache::USUAL_BYTES, writer.engine().settings());
        Self {
            writer,
            sketcher,
            margins: Default::default(),
            limited: 0,
            texts: Arc::new(texts),
            elements,
        }
    }

    /// Makes a document of content, for an insertion into this index.
    pub(super) fn prepare<'c>(
        &self,
        id: &str,
        content: impl Into<Content<'c>>,
    ) -> Result<Document> {
        Document::prepare(id, content, &self.sketcher, self.settings())
    }

    /// The plan by which the index is searched for documents similar to a new one.
    pub(super) fn search_plan(&self, threshold: Threshold, verifies: bool) -> SearchPlan {
        SearchPlan::new(self.settings(), &self.margins, threshold, verifies)
    }

    pub(super) fn path(&self) -> &Path {
        self.writer().path()
    }

    pub(super) fn settings(&self) -> &Settings {
        self.writer.engine().settings()
    }

    pub(super) fn shared_sketcher(&self) -> Arc<Sketcher> {
        Arc::clone(&self.sketcher)
    }

    /// The transaction of the store. Records that this thread holds it.
    pub(in crate::index) fn writer(&self) -> &Writer {
        self.writer.note_use();
        &self.writer
    }

    /// The transaction of the store, for changes. Records that this thread holds it.
    pub(in crate::index) fn writer_mut(&mut self) -> &mut Writer {
        self.writer.note_use();
        &mut self.writer
    }

    /// The number of documents that this transaction has inserted although it compared them with
    /// only some of their candidates ([`Insertion::max_candidates`]). One of them may be a
    /// duplicate of a document beyond the limit.
    ///
    /// [`Insertion::max_candidates`]: crate::Insertion::max_candidates
    pub fn limited(&self) -> u64 {
        self.limited
    }

    /// Removes the document with this id. Returns whether there was one.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`], [`Error::Io`] or [`Error::Storage`] if the index cannot be read. Nothing
    /// was removed then.
    pub fn remove(&mut self, id: &str) -> Result<bool> {
        self.writer_mut().remove(id)
    }

    /// Removes the documents with these ids. Returns how many there were. This is faster than
    /// removing one at a time, because one pass looks up all ids.
    ///
    /// # Errors
    ///
    /// Those of [`remove`](Self::remove).
    pub fn remove_batch(&mut self, ids: &[impl AsRef<str>]) -> Result<u64> {
        let ids: Vec<&str> = ids.iter().map(AsRef::as_ref).collect();
        self.writer_mut().remove_all(&ids)
    }

    /// Sets the insertion time of the documents with these ids to now. Returns how many there were.
    /// A document with a later time, for instance because the clock was set back, keeps it.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`], [`Error::Io`] or [`Error::Storage`] if reading or writing fails. The
    /// transaction cannot be committed then.
    pub fn renew_batch(&mut self, ids: &[impl AsRef<str>]) -> Result<u64> {
        let ids: Vec<&str> = ids.iter().map(AsRef::as_ref).collect();
        self.writer_mut().renew_all(&ids)
    }

    /// Returns the next automatic id: `#1`, `#2` and so on. Never returns an id that a document
    /// already has, or that a committed transaction has got. The ids of a transaction that was not
    /// committed come again.
    ///
    /// An insertion calls this for documents [without an id](Document::without_id).
    ///
    /// # Errors
    ///
    /// [`Error::Io`] or [`Error::Damaged`] if the index cannot be read.
    pub fn auto_id(&mut self) -> Result<String> {
        loop {
            let id = self.writer_mut().auto_id();
            if !self.contains(&id)? {
                return Ok(id);
            }
        }
    }

    /// Gives the next automatic ids to the documents without an id, in order. Does not reuse the id
    /// of an earlier document in the slice.
    ///
    /// An insertion does this too. Call it to know the ids beforehand.
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
    /// [`Error::Io`] or [`Error::Damaged`] if the index cannot be read.
    pub fn give_ids(&mut self, documents: &mut [Document]) -> Result<()> {
        // Ids in the form of automatic ones that may not be in the index yet. Only those of earlier
        // documents count, so the result does not depend on how the input is divided into batches.
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

    /// Whether there is a document with this id, including this transaction's changes.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] or [`Error::Damaged`] if the index cannot be read.
    pub fn contains(&self, id: &str) -> Result<bool> {
        self.writer().contains(id)
    }

    /// The number of documents, including this transaction's changes.
    pub fn len(&self) -> u64 {
        self.writer().len()
    }

    /// Whether there are no documents.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Makes all changes durable, then visible. After it returns, they survive a crash of the
    /// process and of the machine. Takes at least the time of one disk sync.
    ///
    /// # Errors
    ///
    /// - [`Error::Io`] or [`Error::Storage`] if writing fails. The index is unchanged then.
    /// - [`Error::Moved`] if the path of the index leads to another file by now, or to none. The
    ///   changes are committed to the file that is open.
    pub fn commit(mut self) -> Result<()> {
        self.update_clusters()?;
        self.writer.commit()
    }

    /// Brings the tracked clusters up to date with the changes so far, and returns what happened
    /// to them. [`commit`](Self::commit) does this too; call it before to know the events. Does
    /// nothing if the index [tracks](crate::Index::track_clusters) no clusters.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`], [`Error::Io`] or [`Error::Storage`] if reading or writing fails. The
    /// transaction cannot be committed then.
    pub fn update_clusters(&mut self) -> Result<Vec<ClusterEvent>> {
        let path = self.path().to_owned();
        let mut tell = unwatched;
        self.update_clusters_watching(&mut Watch::new(&path, ("clustering", ""), &mut tell))
    }

    pub(in crate::index) fn update_clusters_watching(
        &mut self,
        watch: &mut Watch<'_>,
    ) -> Result<Vec<ClusterEvent>> {
        update_clusters(&mut self.writer, &self.sketcher, &self.margins, watch)
    }

    /// Undoes all changes, as dropping the transaction does.
    pub fn abort(self) {}

    /// The number of documents that is best inserted together.
    pub(super) fn batch_size(&self) -> usize {
        self.writer().batch_size()
    }

    /// Checks that the documents of another index can be inserted into this one.
    pub(super) fn check_source(&self, source: &Snapshot) -> Result<()> {
        self.settings().check_same(self.writer().path(), source.settings(), source.path())
    }

    pub(super) fn check_document(&self, document: &Document) -> Result<()> {
        let settings = self.settings();
        document.check_made_for(settings)?;
        let (expected, got) = (settings.lanes.get(), document.signature().lanes().len());
        if expected != got {
            return Err(Error::SignatureMismatch { expected, got });
        }
        if settings.store_text && document.stored_text().is_none() {
            return Err(Error::MissingText { id: document.id().to_owned() });
        }
        if settings.winnowing.is_some() && document.fingerprints.is_none() {
            return Err(Error::MissingFingerprints { id: document.id().to_owned() });
        }
        let made_for = document.winnowing.filter(|_| settings.winnowing.is_some());
        if made_for.is_some() && made_for != settings.winnowing {
            let detail = "they are for passages of another length";
            return Err(Error::InvalidFingerprints { detail });
        }
        Ok(())
    }
}
