//! The open index, for writing or for reading only.

use crate::error::{Error, Result};
use crate::index::document::Document;
use crate::index::options::IndexOptions;
use crate::index::snapshot::Snapshot;
use crate::index::write::transaction::WriteTxn;
use crate::sketch::Sketcher;
use crate::store::{CheckReport, DocNo, Engine, Progress, Repair, Settings, Watch, unwatched};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

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
    pub fn repair(path: impl AsRef<Path>) -> Result<Repair> {
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

    /// Sketches a text, on any thread, to be inserted later.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidId`] for an id of 0 or more than 4,096 bytes.
    pub fn prepare(&self, id: impl Into<String>, text: &str) -> Result<Document> {
        Document::prepare(id, text, &self.sketcher, self.settings())
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

    /// Walks all invariants of the file format. Reads the whole file.
    ///
    /// # Errors
    ///
    /// [`Error::Io`]. Damage is no error here but a violation in the report.
    pub fn check(&self) -> Result<CheckReport> {
        crate::store::check(&self.engine.read()?)
    }

    /// Merges all runs into one, forgets what was removed, and gives the space back to the file
    /// system. Takes about as long as reading the file and writing all postings; memory stays
    /// bounded.
    ///
    /// # Errors
    ///
    /// [`Error::WriteInProgress`] while there is a write transaction, on whichever thread;
    /// [`Error::SnapshotsLive`] while snapshots are in use. [`Error::Damaged`] where a page
    /// does not have its checksum; then nothing is changed.
    pub fn compact(&mut self) -> Result<()> {
        self.compact_watched(unwatched)
    }

    /// Compacts the index, telling how many band entries are merged and how many there are, and stops
    /// when it is told to: after a step of a fraction of a second, but neither while the pages are
    /// verified at first nor while the file is shrunk at last.
    ///
    /// ```
    /// # fn main() -> twindex::Result<()> {
    /// # let folder = tempfile::tempdir().expect("a temporary folder");
    /// # let mut index = twindex::Index::create(folder.path().join("c.twx"))?;
    /// use std::ops::ControlFlow;
    /// use std::time::{Duration, Instant};
    /// let start = Instant::now();
    /// let compacted = index.compact_watched(|_| match start.elapsed() {
    ///     time if time < Duration::from_secs(60) => ControlFlow::Continue(()),
    ///     _ => ControlFlow::Break(()),
    /// });
    /// match compacted {
    ///     Err(twindex::Error::Interrupted { .. }) => println!("the rest another time"),
    ///     other => other?,
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`compact`](Self::compact). [`Error::Interrupted`]: what was merged stays merged, and
    /// no answer has changed.
    pub fn compact_watched(
        &mut self,
        mut watch: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<()> {
        let path = self.path().to_owned();
        const COMPACTING: (&str, &str) =
            ("compacting", "no answer has changed, compact it again for the rest");
        let mut watch = Watch::new(&path, COMPACTING, &mut watch);
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

    /// Removes the documents that were inserted before this time, in seconds since 1970; returns how
    /// many there were. One that was inserted in that very second stays.
    ///
    /// It commits every 100,000 removals, so that this thread must have no write transaction
    /// open, and memory stays bounded. Reads all document records.
    ///
    /// ```
    /// # fn main() -> twindex::Result<()> {
    /// # let folder = tempfile::tempdir().expect("a temporary folder");
    /// # let index = twindex::Index::create(folder.path().join("e.twx"))?;
    /// use std::time::{Duration, SystemTime, UNIX_EPOCH};
    /// const NINETY_DAYS: Duration = Duration::from_secs(90 * 24 * 3600);
    /// let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    /// let removed = index.remove_inserted_before((now - NINETY_DAYS).as_secs() as i64)?;
    /// # assert_eq!(removed, 0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::WriteInProgress`]; [`Error::Damaged`], [`Error::Io`] or [`Error::Storage`], where the
    /// batches that are committed stay removed.
    pub fn remove_inserted_before(&self, seconds: i64) -> Result<u64> {
        self.remove_inserted_before_watched(seconds, |_| ControlFlow::Continue(()))
    }

    /// As [`remove_inserted_before`](Self::remove_inserted_before), telling after each commit how many
    /// documents are removed, and stopping when it is told to. That is no error: the result says how
    /// many were removed until then.
    ///
    /// # Errors
    ///
    /// Those of [`remove_inserted_before`](Self::remove_inserted_before).
    pub fn remove_inserted_before_watched(
        &self,
        seconds: i64,
        mut watch: impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<u64> {
        let (mut removed, mut next) = (0, Some(DocNo(0)));
        while let Some(from) = next {
            if watch(removed).is_break() {
                break;
            }
            let mut writer = self.engine.write()?;
            let (more, after) = writer.remove_inserted_before(seconds, from)?;
            writer.commit()?;
            removed += more;
            next = after;
        }
        Ok(removed)
    }

    /// The engine, if neither a write transaction nor a snapshot uses it.
    fn alone(&mut self) -> Result<&mut Engine> {
        if self.engine.is_written() {
            return Err(Error::WriteInProgress);
        }
        let count = Arc::strong_count(&self.engine) - 1;
        Arc::get_mut(&mut self.engine).ok_or(Error::SnapshotsLive { count })
    }

    /// Finishes merges under way, writes band entries that are in memory only, and closes the file.
    /// Dropping the index closes it too and leaves both to the next writer: until then opening
    /// takes up to a tenth of a second longer, and queries a little.
    ///
    /// # Errors
    ///
    /// [`Error::WriteInProgress`] where this thread has the write transaction; [`Error::Io`] or
    /// [`Error::Storage`].
    pub fn close(self) -> Result<()> {
        self.finish()
    }

    /// Does what closing does, and leaves the index open.
    #[doc(hidden)]
    pub fn finish(&self) -> Result<()> {
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

    /// Walks all invariants of the file format. Reads the whole file.
    ///
    /// # Errors
    ///
    /// [`Error::Io`]. Damage is no error here but a violation in the report.
    pub fn check(&self) -> Result<CheckReport> {
        crate::store::check(&self.engine.read()?)
    }
}
