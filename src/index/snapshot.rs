//! A consistent state of an index to ask.

use crate::error::{Error, Result};
use crate::index::ask::bucket_sizes::BucketSizes;
use crate::index::ask::query::Query;
use crate::index::ask::set_sizes::SetSizes;
use crate::index::ask::verify::Margins;
use crate::index::document::DocumentInfo;
use crate::index::group::clusters::Clustering;
use crate::index::group::pairs::Pairs;
use crate::index::write::copies::Documents;
use crate::params::Threshold;
use crate::sketch::{Signature, Sketcher};
use crate::store::{
    CHECKING, CheckReport, ChunkTable, DocNo, DocTable, Reader, Settings, Usage, View, Watch, Work,
    backup, check_watching, time_of,
};
use crate::text::Weights;
use std::collections::VecDeque;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

/// The state of an index after one commit. It stays as it is whatever is written, flushed or
/// merged meanwhile, can be sent to and shared between threads, and keeps the file open.
pub struct Snapshot {
    reader: Reader,
    sketcher: Arc<Sketcher>,
    sizes: SetSizes,
    pub(crate) margins: Margins,
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot")
            .field("path", &self.reader.engine().path())
            .field("documents", &self.len())
            .finish_non_exhaustive()
    }
}

impl Snapshot {
    pub(crate) fn new(reader: Reader, sketcher: Arc<Sketcher>) -> Self {
        Self { reader, sketcher, margins: Margins::default(), sizes: SetSizes::default() }
    }

    pub(crate) fn view(&self) -> View<'_, impl ChunkTable + use<>, impl DocTable + use<>> {
        self.reader.view()
    }

    pub(crate) fn reader(&self) -> &Reader {
        &self.reader
    }

    pub(crate) fn sizes(&self) -> &SetSizes {
        &self.sizes
    }

    /// What the index was created with.
    pub fn settings(&self) -> &Settings {
        self.reader.engine().settings()
    }

    /// The version of the file format.
    pub fn format_version(&self) -> u32 {
        crate::store::FORMAT_VERSION
    }

    /// When the index was created, in whole seconds, rounded down.
    pub fn created(&self) -> SystemTime {
        time_of(self.reader.engine().created())
    }

    /// The sketcher that makes this index's signatures.
    pub fn sketcher(&self) -> &Sketcher {
        &self.sketcher
    }

    /// The number of documents.
    pub fn len(&self) -> u64 {
        self.reader.len()
    }

    /// Whether there is no document.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A question about similar documents.
    pub fn query(&self) -> Query<'_> {
        Query::new(self)
    }

    /// All pairs of documents with an estimated similarity of at least the threshold, one after
    /// the other. See [`Pairs`] for their order.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`](crate::Error::InvalidSetting) for a threshold out of range.
    pub fn pairs(&self, threshold: f64) -> Result<Pairs<'_>> {
        Ok(Pairs::new(self, Threshold::new(threshold)?))
    }

    /// Clusters of documents with an estimated similarity of at least the threshold. See
    /// [`Clustering`] for what makes a cluster.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`](crate::Error::InvalidSetting) for a threshold out of range.
    pub fn clusters(&self, threshold: f64) -> Result<Clustering<'_>> {
        Ok(Clustering::new(self, Threshold::new(threshold)?))
    }

    /// Whether there is a document with this id.
    ///
    /// ```
    /// # fn main() -> twindex::Result<()> {
    /// # let folder = tempfile::tempdir().expect("a temporary folder");
    /// # let index = twindex::Index::create(folder.path().join("c.twx"))?;
    /// let mut txn = index.begin_write()?;
    /// txn.insert("a", "some text")?;
    /// txn.commit()?;
    /// let snapshot = index.snapshot()?;
    /// assert!(snapshot.contains("a")? && !snapshot.contains("b")?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`](crate::Error::Damaged) or [`Error::Io`](crate::Error::Io).
    pub fn contains(&self, id: &str) -> Result<bool> {
        Ok(self.view().find(id)?.is_some())
    }

    /// What is known of a document; `None` where there is none with this id.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`](crate::Error::Damaged) or [`Error::Io`](crate::Error::Io).
    pub fn get(&self, id: &str) -> Result<Option<DocumentInfo>> {
        let view = self.view();
        let Some((doc, record)) = view.find(id)? else { return Ok(None) };
        let signature =
            view.with_signature(doc, |lanes, size| Signature::new(lanes.into(), size))?;
        Ok(Some(DocumentInfo::new(record, signature)))
    }

    /// The raw text of a document; `None` where there is none with this id, and for weights
    /// ([`weights`](Self::weights)).
    ///
    /// ```
    /// # fn main() -> twindex::Result<()> {
    /// # let folder = tempfile::tempdir().expect("a temporary folder");
    /// let options = twindex::Index::options().store_text(true);
    /// let index = options.create(folder.path().join("texts.twx"))?;
    /// let mut txn = index.begin_write()?;
    /// txn.insert("a", "Call me  Ishmael.")?;
    /// txn.commit()?;
    /// assert_eq!(index.snapshot()?.text("a")?.as_deref(), Some("Call me  Ishmael."));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::NoTexts`](crate::Error::NoTexts) where the index stores no texts;
    /// [`Error::Damaged`](crate::Error::Damaged) or [`Error::Io`](crate::Error::Io).
    pub fn text(&self, id: &str) -> Result<Option<String>> {
        let view = self.view();
        if !view.has_texts() {
            return Err(Error::NoTexts { path: self.path().to_owned() });
        }
        let found = view.find(id)?.filter(|_| !self.settings().weighted);
        found.map(|(doc, _)| view.text(doc)).transpose()
    }

    /// The weights of a document, from an index of weighted sets that stores texts; `None` where there
    /// is none with this id, and for a text ([`text`](Self::text)).
    ///
    /// ```
    /// # fn main() -> twindex::Result<()> {
    /// # let folder = tempfile::tempdir().expect("a temporary folder");
    /// use twindex::{Index, Weights};
    /// let options = Index::options().weighted(true).store_text(true);
    /// let index = options.create(folder.path().join("weights.twx"))?;
    /// let weights = Weights::new([("sea", 2.5), ("ship", 0.5)])?;
    /// let mut txn = index.begin_write()?;
    /// txn.insert("a", &weights)?;
    /// txn.commit()?;
    /// assert_eq!(index.snapshot()?.weights("a")?, Some(weights));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`text`](Self::text).
    pub fn weights(&self, id: &str) -> Result<Option<Weights>> {
        let view = self.view();
        if !view.has_texts() {
            return Err(Error::NoTexts { path: self.path().to_owned() });
        }
        let found = view.find(id)?.filter(|_| self.settings().weighted);
        let Some((doc, _)) = found else { return Ok(None) };
        let weights = Weights::from_stored(&view.text(doc)?);
        let damaged = |_| view.damaged_text(doc, "not the text of a weighted set");
        weights.map(Some).map_err(damaged)
    }

    /// All ids in order of insertion.
    pub fn ids(&self) -> Ids<'_> {
        Ids { snapshot: self, next: Some(DocNo(0)), block: VecDeque::new(), seen: 0 }
    }

    /// All documents in order of insertion, ready to be inserted into an index of equal settings.
    pub fn documents(&self) -> Documents<'_> {
        Documents::new(self)
    }

    /// Writes a copy of the index, as this snapshot sees it, to a new file. Others may write to the
    /// index meanwhile; what they write is not in the copy.
    ///
    /// The copy has all that the index has, down to the numbers of documents, and no free space
    /// between. Every record is verified on the way, and all of it is on the disk when this returns.
    /// Takes about as long as copying the file; memory stays within twice the cache. It counts rows.
    ///
    /// ```
    /// # fn main() -> twindex::Result<()> {
    /// # let folder = tempfile::tempdir().expect("a temporary folder");
    /// # let path = folder.path().join("b.twx");
    /// # let copy = folder.path().join("copy.twx");
    /// let index = twindex::Index::create(path)?;
    /// index.snapshot()?.backup(&copy).run()?;
    /// assert!(twindex::ReadOnlyIndex::open(&copy)?.check().run()?.is_clean());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::AlreadyExists`](crate::Error::AlreadyExists) where anything is at the path,
    /// [`Error::Damaged`](crate::Error::Damaged), [`Error::Io`](crate::Error::Io),
    /// [`Error::Interrupted`](crate::Error::Interrupted). There is no copy then.
    pub fn backup(&self, path: impl AsRef<Path>) -> Work<'_, ()> {
        let path = path.as_ref().to_owned();
        Work::new(move |tell| {
            let mut watch = Watch::new(&path, ("copying", "there is no copy"), tell);
            backup(&self.reader, &path, &mut watch)
        })
    }

    /// Walks all invariants of the file format. Reads the whole file. It counts documents and
    /// chunks of band entries.
    ///
    /// # Errors
    ///
    /// [`Error::Io`](crate::Error::Io), [`Error::Interrupted`](crate::Error::Interrupted). Damage is
    /// no error here but a violation in the report.
    pub fn check(&self) -> Work<'_, CheckReport> {
        Work::new(|tell| {
            let mut watch = Watch::new(self.path(), CHECKING, tell);
            check_watching(&self.reader, &mut watch)
        })
    }

    /// The path that the index was opened under.
    pub fn path(&self) -> &Path {
        self.reader.engine().path()
    }

    /// How much space is used for what.
    ///
    /// # Errors
    ///
    /// [`Error::Io`](crate::Error::Io).
    pub fn usage(&self) -> Result<Usage> {
        self.reader.usage()
    }

    /// How many documents the buckets of the first so many bands hold; of all with `usize::MAX`.
    ///
    /// Reads the postings of these bands, on all threads: some 90 ns an entry, which is 90 ms of one core
    /// for each band of a million documents.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`](crate::Error::Damaged) or [`Error::Io`](crate::Error::Io).
    pub fn bucket_sizes(&self, bands: usize) -> Result<BucketSizes> {
        BucketSizes::count(self, bands)
    }
}

/// The ids of a snapshot's documents, in order of insertion.
#[derive(Debug)]
pub struct Ids<'s> {
    snapshot: &'s Snapshot,
    /// Where to read on; `None` after the end or an error.
    next: Option<DocNo>,
    block: VecDeque<String>,
    seen: u64,
}

impl Iterator for Ids<'_> {
    type Item = Result<String>;

    fn next(&mut self) -> Option<Self::Item> {
        const BLOCK: usize = 1024;
        if self.block.is_empty() {
            let from = self.next.take()?;
            match self.snapshot.view().documents_from(from, BLOCK) {
                Err(error) => return Some(Err(error)),
                Ok(records) => {
                    self.seen += records.len() as u64;
                    let last = records.last().map(|(doc, _)| *doc);
                    self.next = last.and_then(|doc| doc.0.checked_add(1)).map(DocNo);
                    self.block.extend(records.into_iter().map(|(_, record)| record.id));
                    if self.next.is_none() {
                        let counted = self.snapshot.reader().expect_count(self.seen);
                        if let Err(error) = counted {
                            return Some(Err(error));
                        }
                    }
                }
            }
        }
        self.block.pop_front().map(Ok)
    }
}
