//! A snapshot: a consistent, immutable state of an index that answers queries.

use crate::error::{Error, Result};
use crate::index::ask::set_sizes::{LatestClasses, SetSizes};
use crate::index::ask::text_cache::TextCache;
use crate::index::ask::verify::Margins;
use crate::index::document::DocumentInfo;
use crate::sketch::{Signature, Sketcher};
use crate::store::{
    CHECKING, CheckReport, DocNo, Reader, Settings, Usage, View, Watch, Work, backup,
    check_watching, network_file_system, time_of,
};
use crate::text::Weights;
use std::collections::VecDeque;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

/// The state of an index after one commit.
///
/// Later writes, flushes and merges do not change a snapshot. It can be sent to other threads and
/// shared between them, and it keeps the file open.
pub struct Snapshot {
    reader: Reader,
    sketcher: Arc<Sketcher>,
    sizes: SetSizes,
    pub(crate) margins: Margins,
    /// Texts that were compared for their passages.
    pub(crate) texts: TextCache,
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
    pub(crate) fn new(
        reader: Reader,
        sketcher: Arc<Sketcher>,
        latest_classes: &Arc<LatestClasses>,
    ) -> Self {
        let sizes = SetSizes::new(latest_classes);
        let texts = TextCache::new(TextCache::USUAL_BYTES, reader.engine().settings());
        let margins = Margins::default();
        Self { reader, sketcher, sizes, margins, texts }
    }

    pub(crate) fn view(&self) -> View<'_> {
        self.reader.view()
    }

    pub(crate) fn reader(&self) -> &Reader {
        &self.reader
    }

    pub(crate) fn sizes(&self) -> &SetSizes {
        &self.sizes
    }

    /// The settings with which the index was created.
    pub fn settings(&self) -> &Settings {
        self.reader.engine().settings()
    }

    /// The number of the commit that this snapshot shows. Each commit has a greater number than the
    /// one before, whichever process made it.
    ///
    /// ```
    /// # fn main() -> twindex::Result<()> {
    /// # let folder = tempfile::tempdir().expect("a temporary folder");
    /// # let index = twindex::Index::create(folder.path().join("c.twx"))?;
    /// let before = index.snapshot()?.commit_number();
    /// let mut txn = index.begin_write()?;
    /// txn.insert("a", "some text")?;
    /// txn.commit()?;
    /// assert!(index.snapshot()?.commit_number() > before);
    /// # Ok(())
    /// # }
    /// ```
    pub fn commit_number(&self) -> u64 {
        self.reader.state.counters.commit
    }

    /// The version of the file's format. The next commit makes an older one
    /// [`FORMAT_VERSION`](crate::FORMAT_VERSION).
    pub fn format_version(&self) -> u32 {
        self.reader.state.format
    }

    /// The time at which the index was created, in whole seconds, rounded down.
    pub fn created(&self) -> SystemTime {
        time_of(self.reader.engine().created())
    }

    /// The sketcher that makes the signatures of this index.
    pub fn sketcher(&self) -> &Sketcher {
        &self.sketcher
    }

    /// The number of documents.
    pub fn len(&self) -> u64 {
        self.reader.len()
    }

    /// Whether there are no documents.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the index has a document with this id.
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

    /// The facts that the index stores about a document; `None` if no document has this id.
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

    /// The raw text of a document. `None` if no document has this id, and for weighted sets, whose
    /// content [`weights`](Self::weights) returns.
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
    /// [`Error::NoTexts`](crate::Error::NoTexts) if the index stores no texts;
    /// [`Error::Damaged`](crate::Error::Damaged) or [`Error::Io`](crate::Error::Io) if the file
    /// cannot be read.
    pub fn text(&self, id: &str) -> Result<Option<String>> {
        let view = self.view();
        if !view.has_texts() {
            return Err(Error::NoTexts { path: self.path().to_owned() });
        }
        let found = view.find(id)?.filter(|_| !self.settings().weighted);
        found.map(|(doc, _)| view.text(doc)).transpose()
    }

    /// The weights of a document, from an index of weighted sets that stores texts. `None` if no
    /// document has this id, and for a text, which [`text`](Self::text) returns.
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
        let damaged = |_| view.damaged_text(doc, "not the stored form of a weighted set");
        weights.map(Some).map_err(damaged)
    }

    /// Iterates over all ids in order of insertion.
    pub fn ids(&self) -> Ids<'_> {
        Ids { snapshot: self, next: Some(DocNo(0)), block: VecDeque::new(), seen: 0 }
    }

    /// Writes a copy of this snapshot to a new file. Writers may change the index meanwhile; their
    /// changes are not in the copy.
    ///
    /// The copy has all the data of the snapshot, document numbers included, and no free space.
    /// Every record is verified during the copy, and the copy is durable when this returns. Takes
    /// about as long as copying the file, and at most twice the cache size in memory. Progress
    /// counts rows.
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
    /// No copy is left behind after an error.
    ///
    /// - [`Error::AlreadyExists`](crate::Error::AlreadyExists) if the path exists.
    /// - [`Error::Damaged`](crate::Error::Damaged) or [`Error::Io`](crate::Error::Io) if reading or
    ///   writing fails.
    /// - [`Error::Interrupted`](crate::Error::Interrupted) if the caller stopped the work.
    pub fn backup(&self, path: impl AsRef<Path>) -> Work<'_, ()> {
        let path = path.as_ref().to_owned();
        Work::new(move |tell| {
            let mut watch = Watch::new(&path, ("copying", "there is no copy"), tell);
            backup(&self.reader, &path, &mut watch)
        })
    }

    /// Checks all invariants of the file format. Reads the whole file. Progress counts documents
    /// and chunks of band entries.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`](crate::Error::Damaged) for the first page that does not match its
    /// checksum: the report lists what is wrong in whole pages. [`Error::Io`](crate::Error::Io) if
    /// the file cannot be read, or [`Error::Interrupted`](crate::Error::Interrupted) if the caller
    /// stopped the work.
    pub fn check(&self) -> Work<'_, CheckReport> {
        Work::new(|tell| {
            let mut watch = Watch::new(self.path(), CHECKING, tell);
            check_watching(&self.reader, &mut watch)
        })
    }

    /// The path under which the index was opened.
    pub fn path(&self) -> &Path {
        self.reader.engine().path()
    }

    /// The type of the network file system that holds the index, such as `nfs4`. Its locks and its
    /// cache depend on a server, so an index there should be used from one machine only. `None` on
    /// local file systems, and where the operating system does not tell (it does on Linux).
    pub fn network_file_system(&self) -> Option<String> {
        let named = self.reader.engine().named()?;
        network_file_system(named.absolute())
    }

    /// The space that each part of the index takes in the file.
    ///
    /// This reads about one page in a hundred if the index is open for reading, and all pages of
    /// the tables if it is open for writing or the file system cannot lock parts of a file.
    ///
    /// # Errors
    ///
    /// [`Error::Io`](crate::Error::Io).
    pub fn usage(&self) -> Result<Usage> {
        self.reader.usage()
    }
}

/// An iterator over the ids of a snapshot's documents, in order of insertion.
#[derive(Debug)]
pub struct Ids<'s> {
    snapshot: &'s Snapshot,
    /// The number from which to read the next block; `None` after the end or an error.
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
