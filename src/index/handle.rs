//! The open index, for writing or for reading only.

use crate::error::{Error, Result};
use crate::index::document::Document;
use crate::index::options::IndexOptions;
use crate::index::snapshot::Snapshot;
use crate::index::write::transaction::WriteTxn;
use crate::sketch::Sketcher;
use crate::store::{
    CHECKING, CheckReport, DocNo, Engine, Progress, Repair, Settings, Tell, Watch, Work,
    check_watching, seconds_of, unwatched,
};
use crate::text::Content;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

/// An index that is open for reading and writing.
///
/// It is used from many threads at once: one [`WriteTxn`] and any number of [`Snapshot`]s, which
/// hold the file open. Dropping the index closes the file, once the last of them is dropped too.
///
/// ```
/// # fn main() -> twindex::Result<()> {
/// # let folder = tempfile::tempdir().expect("a temporary folder");
/// # let path = folder.path().join("pages.twx");
/// use twindex::Index;
/// let index = Index::create(&path)?;
/// let mut txn = index.begin_write()?;
/// txn.insert("a", "the quick brown fox jumps over the lazy dog by the river bank")?;
/// txn.insert("b", "the quick brown fox jumps over the lazy dog by the river banks")?;
/// txn.commit()?;
///
/// let snapshot = index.snapshot()?;
/// let pairs: Vec<_> = snapshot.pairs(0.8)?.collect::<Result<_, _>>()?;
/// assert_eq!((pairs[0].a.as_str(), pairs[0].b.as_str()), ("a", "b"));
/// # Ok(())
/// # }
/// ```
pub struct Index {
    engine: Arc<Engine>,
    sketcher: Arc<Sketcher>,
}

impl fmt::Debug for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Index").field("path", &self.path()).finish_non_exhaustive()
    }
}

impl Index {
    pub(crate) fn new(engine: Arc<Engine>) -> Result<Self> {
        let sketcher = Arc::new(engine.settings().sketcher()?);
        Ok(Self { engine, sketcher })
    }

    /// Options to create or open an index with.
    pub fn options() -> IndexOptions {
        IndexOptions::new()
    }

    /// Creates an index with default settings.
    ///
    /// # Errors
    ///
    /// Those of [`IndexOptions::create`].
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        Self::options().create(path)
    }

    /// Opens an index for reading and writing.
    ///
    /// # Errors
    ///
    /// Those of [`IndexOptions::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::options().open(path)
    }

    /// Repairs an index, if anything is wrong with it: see [`IndexOptions::repair`].
    ///
    /// # Errors
    ///
    /// Those of [`IndexOptions::repair`].
    pub fn repair(path: impl AsRef<Path>) -> Work<'static, Repair> {
        Self::options().repair(path)
    }

    /// The path it was opened under.
    pub fn path(&self) -> &Path {
        self.engine.path()
    }

    /// What it was created with.
    pub fn settings(&self) -> &Settings {
        self.engine.settings()
    }

    /// The sketcher that makes this index's signatures.
    pub fn sketcher(&self) -> &Sketcher {
        &self.sketcher
    }

    /// Sketches a document, on any thread, to be inserted later.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidId`] for an id of 0 or more than 4,096 bytes; [`Error::NotWeights`],
    /// [`Error::UnexpectedWeights`] or [`Error::UnexpectedTokens`] for content of another kind than
    /// the index takes.
    pub fn prepare<'c>(
        &self,
        id: impl Into<String>,
        content: impl Into<Content<'c>>,
    ) -> Result<Document> {
        Document::prepare(id, content, &self.sketcher, self.settings())
    }

    /// Starts the write transaction, of which there is one at a time. Waits for the one before to
    /// end, on whichever thread that is.
    ///
    /// A thread that has the transaction itself would wait for ever, so it is told
    /// [`Error::WriteInProgress`]. The transaction is taken to be on the thread that used it last;
    /// beginning it and each call of its methods is a use. So a transaction that was moved to
    /// another thread counts there from its first use on. Until then:
    ///
    /// - The thread that gave it away is still told [`Error::WriteInProgress`].
    /// - The thread that was given it, and begins another before it uses this one, waits for
    ///   itself.
    ///
    /// Where transactions change threads, [`try_begin_write`](Self::try_begin_write) never waits.
    ///
    /// # Errors
    ///
    /// [`Error::WriteInProgress`] where this thread has the transaction; [`Error::Storage`] where an
    /// earlier write met damage.
    pub fn begin_write(&self) -> Result<WriteTxn> {
        Ok(WriteTxn::new(self.engine.write()?, Arc::clone(&self.sketcher)))
    }

    /// Starts the write transaction if there is none; `None` if there is one, on this thread or on
    /// another. Never waits for it.
    ///
    /// ```
    /// # fn main() -> twindex::Result<()> {
    /// # let folder = tempfile::tempdir().expect("a temporary folder");
    /// # let index = twindex::Index::create(folder.path().join("t.twx"))?;
    /// let txn = index.begin_write()?;
    /// assert!(index.try_begin_write()?.is_none());
    /// drop(txn);
    /// assert!(index.try_begin_write()?.is_some());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Storage`] where an earlier write met damage.
    pub fn try_begin_write(&self) -> Result<Option<WriteTxn>> {
        let writer = self.engine.try_write()?;
        Ok(writer.map(|writer| WriteTxn::new(writer, Arc::clone(&self.sketcher))))
    }

    /// The state after the last commit, unchanged for as long as the snapshot lives. Never waits
    /// for a writer. A few microseconds.
    ///
    /// A snapshot that lives long keeps the space of what was deleted meanwhile, so that the
    /// file grows.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] or [`Error::Damaged`].
    pub fn snapshot(&self) -> Result<Snapshot> {
        Ok(Snapshot::new(self.engine.read()?, Arc::clone(&self.sketcher)))
    }

    /// Walks all invariants of the file format: see [`Snapshot::check`], which does it for the
    /// state that a snapshot has.
    ///
    /// # Errors
    ///
    /// Those of [`Snapshot::check`].
    pub fn check(&self) -> Work<'_, CheckReport> {
        Work::new(|tell| {
            let mut watch = Watch::new(self.path(), CHECKING, tell);
            check_watching(&self.engine.read()?, &mut watch)
        })
    }

    /// Merges all runs into one, forgets what was removed, and gives the space back to the file
    /// system. Takes about as long as reading the file and writing all postings; memory stays
    /// bounded.
    ///
    /// It counts band entries that are merged. It cannot be stopped while the pages are verified
    /// at first, nor while the file is shrunk at last.
    ///
    /// # Errors
    ///
    /// [`Error::WriteInProgress`] while there is a write transaction, on whichever thread;
    /// [`Error::SnapshotsLive`] while snapshots are in use. [`Error::Damaged`] where a page
    /// does not have its checksum; then nothing is changed. [`Error::Interrupted`]: what was merged
    /// stays merged, and no answer has changed.
    pub fn compact(&mut self) -> Work<'_, ()> {
        Work::new(|tell| self.compact_telling(tell))
    }

    fn compact_telling(&mut self, tell: &mut Tell<'_>) -> Result<()> {
        const COMPACTING: (&str, &str) =
            ("compacting", "no answer has changed, compact it again for the rest");
        let path = self.path().to_owned();
        let mut watch = Watch::new(&path, COMPACTING, tell);
        watch.expect(0)?;
        // On a damaged file the storage might never end to look for free pages.
        self.alone()?.verify()?;
        self.engine.finish_merges(&mut watch)?;
        let mut writer = self.engine.write()?;
        let entries = writer.begin_compaction()?;
        writer.commit()?;
        watch.expect(entries)?;
        self.engine.finish_merges(&mut watch)?;
        watch.expect(0)?;
        self.alone()?.shrink()
    }

    /// Removes the documents that were inserted before this time; returns how many there were.
    /// Times are compared in whole seconds, rounded down: one that was inserted in the second of
    /// `time` stays.
    ///
    /// It commits every 100,000 removals, so that this thread must have no write transaction open,
    /// and memory stays bounded. Reads all document records. It counts documents that are removed, of
    /// all that the index has, and can be stopped before each commit.
    ///
    /// ```
    /// # fn main() -> twindex::Result<()> {
    /// # let folder = tempfile::tempdir().expect("a temporary folder");
    /// # let index = twindex::Index::create(folder.path().join("e.twx"))?;
    /// use std::time::{Duration, SystemTime};
    /// const NINETY_DAYS: Duration = Duration::from_secs(90 * 24 * 3600);
    /// let removed = index.remove_inserted_before(SystemTime::now() - NINETY_DAYS).run()?;
    /// # assert_eq!(removed, 0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::WriteInProgress`]; [`Error::Damaged`], [`Error::Io`] or [`Error::Storage`].
    /// [`Error::Interrupted`]: the last [`Progress::done`] says how many documents were removed.
    /// In each case the batches that are committed stay removed.
    pub fn remove_inserted_before(&self, time: SystemTime) -> Work<'_, u64> {
        Work::new(move |tell| {
            const REMOVING: (&str, &str) = (
                "removing old documents",
                "what was removed stays removed, remove them again for the rest",
            );
            let seconds = seconds_of(time);
            let total = self.snapshot()?.len();
            let (mut removed, mut next) = (0, Some(DocNo(0)));
            while let Some(from) = next {
                if tell(Progress { done: removed, total }).is_break() {
                    let (action, outcome) = REMOVING;
                    let path = self.path().to_owned();
                    return Err(Error::Interrupted { path, action, outcome });
                }
                let mut writer = self.engine.write()?;
                let (more, after) = writer.remove_inserted_before(seconds, from)?;
                writer.commit()?;
                removed += more;
                next = after;
            }
            Ok(removed)
        })
    }

    /// The engine, if neither a write transaction nor a snapshot uses it.
    fn alone(&mut self) -> Result<&mut Engine> {
        if self.engine.is_written() {
            return Err(Error::WriteInProgress);
        }
        let count = Arc::strong_count(&self.engine) - 1;
        Arc::get_mut(&mut self.engine).ok_or(Error::SnapshotsLive { count })
    }

    /// [Flushes](Self::flush) the index and closes the file. Dropping the index closes it too and
    /// leaves the rest to the next writer: until then opening takes up to a tenth of a second
    /// longer, and queries a little.
    ///
    /// # Errors
    ///
    /// [`Error::WriteInProgress`] where this thread has the write transaction; [`Error::Io`] or
    /// [`Error::Storage`].
    pub fn close(self) -> Result<()> {
        self.flush()
    }

    /// Finishes merges under way, and writes band entries that are in memory only. A program that
    /// exits without dropping the index calls it before, so that the next opening is fast; nothing
    /// that is committed depends on it.
    ///
    /// # Errors
    ///
    /// Those of [`close`](Self::close).
    pub fn flush(&self) -> Result<()> {
        let mut writer = self.engine.write()?;
        writer.flush_for_close()?;
        writer.commit()?;
        let mut watch = unwatched;
        self.engine.finish_merges(&mut Watch::new(self.path(), ("closing", ""), &mut watch))
    }
}

/// An index that is open for reading only, beside any number of other readers.
///
/// ```no_run
/// use twindex::ReadOnlyIndex;
/// let index = ReadOnlyIndex::open("pages.twx")?;
/// for m in index.snapshot()?.query().limit(10).by_text("Some text to look for.")? {
///     println!("{:.3} {}", m.similarity, m.id);
/// }
/// # Ok::<(), twindex::Error>(())
/// ```
pub struct ReadOnlyIndex {
    engine: Arc<Engine>,
    sketcher: Arc<Sketcher>,
}

impl fmt::Debug for ReadOnlyIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadOnlyIndex").field("path", &self.path()).finish_non_exhaustive()
    }
}

impl ReadOnlyIndex {
    pub(crate) fn new(engine: Arc<Engine>) -> Result<Self> {
        let sketcher = Arc::new(engine.settings().sketcher()?);
        Ok(Self { engine, sketcher })
    }

    /// Opens an index for reading.
    ///
    /// # Errors
    ///
    /// Those of [`IndexOptions::open_read_only`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        IndexOptions::new().open_read_only(path)
    }

    /// The path it was opened under.
    pub fn path(&self) -> &Path {
        self.engine.path()
    }

    /// What it was created with.
    pub fn settings(&self) -> &Settings {
        self.engine.settings()
    }

    /// The sketcher that makes this index's signatures.
    pub fn sketcher(&self) -> &Sketcher {
        &self.sketcher
    }

    /// The state of the index.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] or [`Error::Damaged`].
    pub fn snapshot(&self) -> Result<Snapshot> {
        Ok(Snapshot::new(self.engine.read()?, Arc::clone(&self.sketcher)))
    }

    /// Walks all invariants of the file format: see [`Snapshot::check`], which does it for the
    /// state that a snapshot has.
    ///
    /// # Errors
    ///
    /// Those of [`Snapshot::check`].
    pub fn check(&self) -> Work<'_, CheckReport> {
        Work::new(|tell| {
            let mut watch = Watch::new(self.path(), CHECKING, tell);
            check_watching(&self.engine.read()?, &mut watch)
        })
    }
}
