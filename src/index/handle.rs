//! Handles to an open index, for reading and writing or for reading only.

use crate::error::{Error, Result};
use crate::index::ask::set_sizes::LatestClasses;
use crate::index::ask::verify::Margins;
use crate::index::document::Document;
use crate::index::options::IndexOptions;
use crate::index::snapshot::Snapshot;
use crate::index::track::update::update_clusters;
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
use std::time::{Duration, Instant, SystemTime};

/// An index that is open for reading and writing. Other processes can read it meanwhile.
///
/// Many threads can use it at once, with one [`WriteTxn`] and any number of [`Snapshot`]s. These
/// keep the file open: it is closed when the index and all of them are dropped.
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
    latest_classes: Arc<LatestClasses>,
    /// The options that it was opened with, which say how long to wait for other processes.
    options: IndexOptions,
}

impl fmt::Debug for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Index").field("path", &self.path()).finish_non_exhaustive()
    }
}

impl Index {
    pub(crate) fn new(engine: Arc<Engine>) -> Result<Self> {
        let sketcher = Arc::new(engine.settings().sketcher()?);
        let (latest_classes, options) = (Arc::default(), IndexOptions::new());
        Ok(Self { engine, sketcher, latest_classes, options })
    }

    pub(crate) fn with_options(self, options: IndexOptions) -> Self {
        Self { options, ..self }
    }

    /// Returns default options for creating or opening an index.
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

    /// Repairs an index if it is damaged. See [`IndexOptions::repair`].
    ///
    /// # Errors
    ///
    /// Those of [`IndexOptions::repair`].
    pub fn repair(path: impl AsRef<Path>) -> Work<'static, Repair> {
        Self::options().repair(path)
    }

    /// The path under which the index was opened.
    pub fn path(&self) -> &Path {
        self.engine.path()
    }

    /// The settings with which the index was created.
    pub fn settings(&self) -> &Settings {
        self.engine.settings()
    }

    /// The sketcher that makes the signatures of this index.
    pub fn sketcher(&self) -> &Sketcher {
        &self.sketcher
    }

    /// Sketches a document for a later insertion. Any number of threads may do this at once.
    ///
    /// # Errors
    ///
    /// - [`Error::InvalidId`] for an id of 0 or more than 4,096 bytes.
    /// - [`Error::NotWeights`], [`Error::UnexpectedWeights`] or [`Error::UnexpectedTokens`] for
    ///   content of a kind that the index does not take.
    pub fn prepare<'c>(
        &self,
        id: impl Into<String>,
        content: impl Into<Content<'c>>,
    ) -> Result<Document> {
        Document::prepare(id, content, &self.sketcher, self.settings())
    }

    /// Starts a write transaction. An index has at most one at a time, so this waits until the
    /// current one ends, on whichever thread it is.
    ///
    /// A thread that holds the current transaction would wait for ever, so it gets
    /// [`Error::WriteInProgress`] instead. The index assumes that the transaction is on the thread
    /// that used it last: the thread that began it or last called one of its methods. After a
    /// transaction moves to another thread, and until that thread uses it:
    ///
    /// - The old thread still gets [`Error::WriteInProgress`].
    /// - The new thread waits for ever if it calls `begin_write` first.
    ///
    /// A program that moves transactions between threads should use
    /// [`try_begin_write`](Self::try_begin_write), which never waits, or
    /// [`begin_write_within`](Self::begin_write_within). So should tasks of the global pool of
    /// rayon: the transaction shares its work with that pool, and waits for ever if all threads of
    /// the pool wait for the transaction.
    ///
    /// # Errors
    ///
    /// [`Error::WriteInProgress`] if this thread holds the transaction; [`Error::Storage`] if an
    /// earlier write found damage; [`Error::Moved`] if the file was moved, deleted or replaced, as
    /// an earlier commit may have told.
    pub fn begin_write(&self) -> Result<WriteTxn> {
        Ok(WriteTxn::new(self.engine.write()?, Arc::clone(&self.sketcher)))
    }

    /// Starts a write transaction like [`begin_write`](Self::begin_write), but waits at most for
    /// this time. Returns `None` if the current transaction has not ended by then.
    ///
    /// Transactions of other processes are not waited for here: an index that is open to be written
    /// keeps other writers out. How long opening waits for them is
    /// [`IndexOptions::wait`](crate::IndexOptions::wait).
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// # fn main() -> twindex::Result<()> {
    /// # let folder = tempfile::tempdir().expect("a temporary folder");
    /// # let index = twindex::Index::create(folder.path().join("t.twx"))?;
    /// match index.begin_write_within(Duration::from_secs(5))? {
    ///     Some(txn) => txn.commit()?,
    ///     None => println!("another thread has been writing for five seconds"),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`begin_write`](Self::begin_write).
    pub fn begin_write_within(&self, wait: Duration) -> Result<Option<WriteTxn>> {
        // A time that no clock can tell never comes.
        let Some(deadline) = Instant::now().checked_add(wait) else {
            return self.begin_write().map(Some);
        };
        let writer = self.engine.write_until(deadline)?;
        Ok(writer.map(|writer| WriteTxn::new(writer, Arc::clone(&self.sketcher))))
    }

    /// Starts a write transaction without waiting. Returns `None` if there already is one, on this
    /// thread or on another.
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
    /// [`Error::Storage`] if an earlier write found damage; [`Error::Moved`] if the file was moved,
    /// deleted or replaced, as an earlier commit may have told.
    pub fn try_begin_write(&self) -> Result<Option<WriteTxn>> {
        let writer = self.engine.try_write()?;
        Ok(writer.map(|writer| WriteTxn::new(writer, Arc::clone(&self.sketcher))))
    }

    /// Takes a snapshot of the state after the last commit. Later writes do not change it. Never
    /// waits for a writer, and takes a few microseconds.
    ///
    /// While a snapshot lives, the space of deleted data cannot be reused, so a long-lived snapshot
    /// makes the file grow.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] or [`Error::Damaged`] if the file cannot be read.
    pub fn snapshot(&self) -> Result<Snapshot> {
        Ok(Snapshot::new(self.engine.read()?, Arc::clone(&self.sketcher), &self.latest_classes))
    }

    /// Checks all invariants of the file format on the current state. See [`Snapshot::check`].
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

    /// Merges all runs into one, drops removed documents from it, packs the rows of documents into
    /// full pages, and returns the free space to the file system. Takes about as long as reading
    /// the file and writing all band entries, and after many removals as long as writing the whole
    /// file twice. Memory is bounded. The file grows meanwhile: by the size of all band entries,
    /// and of the table that is packed.
    ///
    /// Progress counts merged band entries and packed rows. The work cannot be stopped during the
    /// first phase, which verifies the pages, and the last one, which shrinks the file. The file is
    /// shrunk while no other process has a snapshot; this waits for that as long as opening
    /// [waits](IndexOptions::wait). Other processes can take no snapshot until it is shrunk.
    ///
    /// A service that compacts while it answers keeps the `Index` in the thread that writes. The
    /// threads that read open a [`ReadOnlyIndex`] of the same path, which works within one process
    /// too.
    ///
    /// # Errors
    ///
    /// - [`Error::WriteInProgress`] while any thread has a write transaction.
    /// - [`Error::SnapshotsLive`] while snapshots exist in this process.
    /// - [`Error::NotShrunk`] while other processes, or a [`ReadOnlyIndex`] of this one, have
    ///   snapshots. Everything else is done: compact again, or close the index, which returns a
    ///   part of the space.
    /// - [`Error::Damaged`] if a page does not match its checksum. Nothing was changed then.
    /// - [`Error::Interrupted`] if the caller stopped the work. Finished merges and packed tables
    ///   stay; query results do not change.
    pub fn compact(&mut self) -> Work<'_, ()> {
        Work::new(|tell| self.compact_telling(tell))
    }

    fn compact_telling(&mut self, tell: &mut Tell<'_>) -> Result<()> {
        const COMPACTING: (&str, &str) =
            ("compacting", "query results are unchanged, compact again to finish");
        let path = self.path().to_owned();
        let mut watch = Watch::new(&path, COMPACTING, tell);
        watch.begin("verifying pages", 0)?;
        // On a damaged file, the storage engine's search for free pages might never end.
        self.alone()?.verify()?;
        self.engine.finish_merges(&mut watch)?;
        let mut writer = self.engine.write()?;
        let entries = writer.begin_compaction()?;
        writer.commit()?;
        watch.begin("merging runs", entries)?;
        self.engine.finish_merges(&mut watch)?;
        self.engine.pack(&mut watch)?;
        watch.begin("shrinking the file", 0)?;
        let options = self.options.clone();
        match options.patience.open(|| self.alone()?.shrink()) {
            Err(Error::Locked { path }) => Err(Error::NotShrunk { path }),
            shrunk => shrunk,
        }
    }

    /// Removes the documents that were inserted before `time`, and returns their number. Times are
    /// compared in whole seconds, rounded down: a document inserted in the same second as `time`
    /// stays.
    ///
    /// Reads all document records. Commits after every 100,000 removals, so memory is bounded, and
    /// this thread must not hold a write transaction. Progress counts removed documents out of all
    /// documents. The work can be stopped before each commit. It waits while another thread has the
    /// write transaction.
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
    /// After each error, the documents removed by earlier commits stay removed.
    ///
    /// - [`Error::WriteInProgress`] if this thread holds a write transaction.
    /// - [`Error::Damaged`], [`Error::Io`] or [`Error::Storage`] if reading or writing fails.
    /// - [`Error::Interrupted`] if the caller stopped the work. The last [`Progress::done`] is the
    ///   number of removed documents.
    pub fn remove_inserted_before(&self, time: SystemTime) -> Work<'_, u64> {
        Work::new(move |tell| {
            const REMOVING: (&str, &str) = (
                "removing old documents",
                "the documents removed so far stay removed, run it again to remove the rest",
            );
            let seconds = seconds_of(time);
            let total = self.snapshot()?.len();
            let (mut removed, mut next) = (0, Some(DocNo(0)));
            let margins = Margins::default();
            while let Some(from) = next {
                if tell(Progress { phase: "", done: removed, total }).is_break() {
                    let (action, outcome) = REMOVING;
                    let path = self.path().to_owned();
                    return Err(Error::Interrupted { path, action, outcome });
                }
                let mut writer = self.engine.write()?;
                let (more, after) = writer.remove_inserted_before(seconds, from)?;
                let mut unwatched = unwatched;
                let mut watch = Watch::new(self.path(), ("clustering", ""), &mut unwatched);
                update_clusters(&mut writer, &self.sketcher, &margins, &mut watch)?;
                writer.commit()?;
                removed += more;
                next = after;
            }
            Ok(removed)
        })
    }

    /// The engine, if no write transaction and no snapshot uses it.
    fn alone(&mut self) -> Result<&mut Engine> {
        if self.engine.is_written() {
            return Err(Error::WriteInProgress);
        }
        let count = Arc::strong_count(&self.engine) - 1;
        Arc::get_mut(&mut self.engine).ok_or(Error::SnapshotsLive { count })
    }

    /// [Flushes](Self::flush) the index and closes the file.
    ///
    /// Dropping the index also closes the file but leaves the flush to the next writer. Until then,
    /// opening takes up to a tenth of a second longer, and queries are slightly slower.
    ///
    /// This waits while another thread has the write transaction.
    ///
    /// # Errors
    ///
    /// [`Error::WriteInProgress`] if this thread holds the write transaction; [`Error::Moved`] if
    /// the file has lost its name; [`Error::Io`] or [`Error::Storage`] if writing fails.
    pub fn close(self) -> Result<()> {
        self.flush()
    }

    /// Finishes running merges and writes the memtable to a sorted run.
    ///
    /// A program that exits without dropping the index should call this first, so that the next
    /// opening is fast. Committed data is durable without it.
    ///
    /// This waits while another thread has the write transaction.
    ///
    /// # Errors
    ///
    /// Those of [`close`](Self::close).
    pub fn flush(&self) -> Result<()> {
        let mut writer = self.engine.write()?;
        writer.flush_for_close()?;
        writer.commit()?;
        let mut watch = unwatched;
        self.engine.finish_merges(&mut Watch::new(self.path(), ("closing", ""), &mut watch))?;
        self.engine.check_name()
    }
}

/// An index that is open for reading only. Any number of processes can read it at the same time,
/// also while one process writes to it. Each [snapshot](Self::snapshot) shows the last commit.
///
/// It needs no permission to write to the file, and it keeps nobody from writing.
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
    latest_classes: Arc<LatestClasses>,
}

impl fmt::Debug for ReadOnlyIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadOnlyIndex").field("path", &self.path()).finish_non_exhaustive()
    }
}

impl ReadOnlyIndex {
    pub(crate) fn new(engine: Arc<Engine>) -> Result<Self> {
        let sketcher = Arc::new(engine.settings().sketcher()?);
        Ok(Self { engine, sketcher, latest_classes: Arc::default() })
    }

    /// Opens an index for reading.
    ///
    /// # Errors
    ///
    /// Those of [`IndexOptions::open_read_only`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        IndexOptions::new().open_read_only(path)
    }

    /// The path under which the index was opened.
    pub fn path(&self) -> &Path {
        self.engine.path()
    }

    /// The settings with which the index was created.
    pub fn settings(&self) -> &Settings {
        self.engine.settings()
    }

    /// The sketcher that makes the signatures of this index.
    pub fn sketcher(&self) -> &Sketcher {
        &self.sketcher
    }

    /// Takes a snapshot of the last commit of any process, which answers queries. What is in memory
    /// is brought up to date with what was committed since the snapshot before: this takes
    /// microseconds if nothing was, and a few milliseconds after a thousand documents.
    ///
    /// While a snapshot lives, the space of deleted data cannot be reused, by any process:
    /// [`Usage::held_bytes`](crate::Usage::held_bytes) tells how much that is.
    ///
    /// # Errors
    ///
    /// - [`Error::Moved`] if another file has the name by now, as after a repair or a rebuild. Open
    ///   the index again. Snapshots that were taken before stay valid.
    /// - [`Error::Locked`] if another process shrinks the file and takes longer than 5 seconds.
    /// - [`Error::Io`] or [`Error::Damaged`] if the file cannot be read.
    pub fn snapshot(&self) -> Result<Snapshot> {
        Ok(Snapshot::new(self.engine.read()?, Arc::clone(&self.sketcher), &self.latest_classes))
    }

    /// Checks all invariants of the file format on the current state. See [`Snapshot::check`].
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
