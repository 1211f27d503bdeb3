//! One open index: opening it, the one writer, publishing commits to readers.

use crate::error::{Error, Result};
use crate::store::bytes::schema::{POSTINGS, STATE_ROW, Table};
#[cfg(test)]
use crate::store::file::open_error;
use crate::store::file::{File, is_plausible};
use crate::store::load;
use crate::store::progress::Watch;
use crate::store::read::reader::Reader;
use crate::store::read::view::Fixed;
use crate::store::runs::background::BackgroundMerge;
use crate::store::runs::merge::PreparedSteps;
use crate::store::settings::{Settings, SettingsRequest, StoredSettings};
#[cfg(test)]
use crate::store::sim::disk::Disk;
use crate::store::state::State;
use crate::store::storage_error::{
    Doing, abandon, damaged, drop_catching_panics, guard, guard_with,
};
use crate::store::write::turn::{Turn, Turns};
use crate::store::write::writer::Writer;
use redb::{Database, DatabaseError, ReadableDatabase};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// How an open index behaves; nothing of it is stored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tuning {
    /// The page cache, in bytes.
    pub(crate) cache_bytes: usize,
    /// The tail becomes a run when it has so many documents.
    pub(crate) flush_documents: usize,
    /// So many runs of a tier are merged into one of the next.
    pub(crate) merge_runs: usize,
    /// Merging goes on in steps of at least so many entries.
    pub(crate) merge_step: u64,
    /// From so many changes on a commit also saves what makes recovery quick, which a commit of
    /// few would feel: it triples the latency.
    pub(crate) quick_repair_from: u64,
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            cache_bytes: 64 << 20,
            flush_documents: 1 << 16,
            merge_runs: 8,
            merge_step: 1 << 16,
            quick_repair_from: 64,
        }
    }
}

/// The states that a new reader may find in the file: the last commit's, and during a commit
/// also the next one's.
struct Published {
    current: Arc<State>,
    next: Option<Arc<State>>,
}

/// One open index file.
pub(crate) struct Engine {
    background_merge: BackgroundMerge,
    file: File,
    path: PathBuf,
    settings: Settings,
    stored: StoredSettings,
    tuning: Tuning,
    published: Mutex<Published>,
    turns: Arc<Turns>,
    /// Whether what an earlier process left of its merges has been deleted.
    tidy: AtomicBool,
    /// Set when the storage panicked while it wrote: it may be in no state to write again.
    broken: AtomicBool,
}

/// How much the file holds, in bytes by table, and in which state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// The size of the file.
    pub file_bytes: u64,
    /// Pages of signatures.
    pub signature_bytes: u64,
    /// Pages of document records: ids, hashes, lengths, times.
    pub document_bytes: u64,
    /// Pages of band entries.
    pub posting_bytes: u64,
    /// Bytes of pages that hold texts.
    pub text_bytes: u64,
    /// Live documents.
    pub documents: u64,
    /// Removed documents whose band entries are not purged yet.
    pub dead: u64,
    /// Documents whose band entries are in memory and in no run yet.
    pub tail: u64,
    /// Runs, those of unfinished merges included.
    pub runs: u64,
    /// Commits so far.
    pub commits: u64,
}

pub(crate) fn now() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(i64::MAX))
}

/// A lock whose holder panicked is as good as any: the values behind ours are replaced whole.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Engine {
    /// Opens the file for reading and writing, repairing it first if it was not closed cleanly.
    /// A file of another program, or an index with other settings, is left untouched.
    pub(crate) fn open(
        path: &Path,
        request: &SettingsRequest,
        tuning: Tuning,
    ) -> Result<Arc<Self>> {
        guard(path, || Self::open_to_write(path, request, tuning))
    }

    fn open_to_write(path: &Path, request: &SettingsRequest, tuning: Tuning) -> Result<Arc<Self>> {
        is_plausible(path)?;
        // Opening for writing writes to the file, so it is looked at first. Where that is not
        // possible, as after an unclean stop, the checks come after opening.
        match redb::Builder::new().set_cache_size(1 << 20).open_read_only(path) {
            Ok(database) => {
                let txn = database.begin_read().doing(path, "opening")?;
                request.check(&load::settings(&txn, path)?.0, path)?;
            }
            Err(DatabaseError::DatabaseAlreadyOpen) => {
                return Err(Error::Locked { path: path.to_owned() });
            }
            Err(_) => {}
        }
        Self::ready(File::open_to_write(path, tuning)?, path, request, tuning)
    }

    /// Takes an open file into use.
    fn ready(
        file: File,
        path: &Path,
        request: &SettingsRequest,
        tuning: Tuning,
    ) -> Result<Arc<Self>> {
        let engine = Self::load(file, path, tuning)?;
        request.check(&engine.settings, path)?;
        Ok(Arc::new(engine))
    }

    /// Opens the file for reading. If it was not closed cleanly it is repaired once, which needs
    /// permission to write.
    pub(crate) fn open_read_only(
        path: &Path,
        request: &SettingsRequest,
        tuning: Tuning,
    ) -> Result<Arc<Self>> {
        guard(path, || Self::open_to_read(path, request, tuning))
    }

    fn open_to_read(path: &Path, request: &SettingsRequest, tuning: Tuning) -> Result<Arc<Self>> {
        Self::ready(File::open_to_read(path, tuning)?, path, request, tuning)
    }

    pub(crate) fn load(file: File, path: &Path, tuning: Tuning) -> Result<Self> {
        let (settings, stored, state) = match Self::loaded(&file, path) {
            Ok(loaded) => loaded,
            Err(error) => {
                // Closing would write to what may be damaged.
                abandon(file);
                return Err(error);
            }
        };
        Ok(Self {
            background_merge: BackgroundMerge::default(),
            file,
            path: path.to_owned(),
            settings,
            stored,
            tuning,
            published: Mutex::new(Published { current: Arc::new(state), next: None }),
            turns: Arc::default(),
            tidy: AtomicBool::new(false),
            broken: AtomicBool::new(false),
        })
    }

    /// What is kept in memory of a file.
    fn loaded(file: &File, path: &Path) -> Result<(Settings, StoredSettings, State)> {
        let txn = file.begin_read(path)?;
        let (settings, stored) = load::settings(&txn, path)?;
        let state = load::state(&txn, Fixed::new(path, &settings, &stored))?;
        Ok((settings, stored, state))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Seconds since 1970 when the index was created.
    pub(crate) fn created(&self) -> i64 {
        self.stored.created
    }

    pub(crate) fn stored(&self) -> &StoredSettings {
        &self.stored
    }

    /// The memory for pages that were read, in bytes.
    pub(crate) fn cache_bytes(&self) -> usize {
        self.tuning.cache_bytes
    }

    pub(crate) fn tuning(&self) -> &Tuning {
        &self.tuning
    }

    pub(crate) fn fixed(&self) -> Fixed<'_> {
        Fixed::new(&self.path, &self.settings, &self.stored)
    }

    /// A reader of the last commit, without waiting for one that is under way.
    pub(crate) fn read(self: &Arc<Self>) -> Result<Reader> {
        guard(&self.path, || self.read_published())
    }

    fn read_published(self: &Arc<Self>) -> Result<Reader> {
        let (txn, state) = {
            // While the lock is held nothing can be published, so the file shows the current
            // state or, when its commit is just done, the next.
            let published = lock(&self.published);
            let txn = self.file.begin_read(&self.path)?;
            let commit = load::counters(&txn, &self.path)?.commit;
            let states = [Some(&published.current), published.next.as_ref()];
            let state = states
                .into_iter()
                .flatten()
                .find(|state| state.counters.commit == commit)
                .cloned()
                .ok_or_else(|| {
                    damaged(&self.path, Table::Meta, STATE_ROW, "changed by another process")
                })?;
            (txn, state)
        };
        Reader::new(Arc::clone(self), txn, state)
    }

    /// Starts the one write transaction; waits for the one before to end.
    pub(crate) fn write(self: &Arc<Self>) -> Result<Writer> {
        let database = self.database()?;
        let turn = self.turns.wait().ok_or(Error::WriteInProgress)?;
        self.begin(database, turn)
    }

    /// Starts the one write transaction, if there is none.
    pub(crate) fn try_write(self: &Arc<Self>) -> Result<Option<Writer>> {
        let database = self.database()?;
        self.turns.take().map(|turn| self.begin(database, turn)).transpose()
    }

    /// Whether there is a write transaction.
    pub(crate) fn is_written(&self) -> bool {
        self.turns.is_taken()
    }

    /// The file, if it may be written to.
    fn database(&self) -> Result<&Database> {
        match &self.file {
            File::Writable(database) => Ok(database),
            _ => Err(Error::Storage {
                path: self.path.clone(),
                action: "writing",
                detail: "it was opened for reading only".into(),
            }),
        }
    }

    fn begin(self: &Arc<Self>, database: &Database, turn: Turn) -> Result<Writer> {
        if self.is_broken() {
            return Err(Error::Storage {
                path: self.path.clone(),
                action: "starting a write",
                detail: "an earlier write met damage".into(),
            });
        }
        let begin = || database.begin_write().doing(&self.path, "starting a write");
        let txn = self.guard_write(begin)?;
        let state = Arc::clone(&lock(&self.published).current);
        Ok(Writer::new(Arc::clone(self), turn, txn, state))
    }

    /// Does what writes; if the storage panics, nothing is written any more.
    pub(crate) fn guard_write<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        guard_with(&self.path, || self.set_broken(), work)
    }

    /// Whether nothing is left of merges that an earlier process did not finish.
    pub(crate) fn is_tidy(&self) -> bool {
        self.tidy.load(Ordering::Acquire)
    }

    pub(crate) fn set_broken(&self) {
        self.broken.store(true, Ordering::Release);
    }

    /// Whether the storage has panicked while it wrote.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Acquire)
    }

    /// Commits the transaction and publishes the state that belongs to it.
    pub(crate) fn publish(&self, txn: redb::WriteTransaction, state: State) -> Result<()> {
        let state = Arc::new(state);
        lock(&self.published).next = Some(Arc::clone(&state));
        let committed = self.guard_write(|| txn.commit().doing(&self.path, "committing"));
        let mut published = lock(&self.published);
        published.next = None;
        committed?;
        published.current = Arc::clone(&state);
        drop(published);
        self.tidy.store(true, Ordering::Release);
        self.merge_ahead(state);
        Ok(())
    }

    /// Lets another thread prepare the next step of merging, if the next commit of this size will
    /// take one.
    fn merge_ahead(&self, state: Arc<State>) {
        let step = self.tuning.merge_step;
        if state.merges.is_empty() || state.merge_credit + state.merge_pace < step {
            return;
        }
        let postings = self
            .file
            .begin_read(&self.path)
            .and_then(|txn| txn.open_table(POSTINGS).doing(&self.path, "merging runs"));
        if let Ok(postings) = postings {
            let budget = state.merge_pace.max(step);
            self.background_merge.start(postings, self.fixed(), state, budget);
        }
    }

    /// What was prepared of the next step of merging.
    pub(crate) fn merged_ahead(&self) -> Result<PreparedSteps> {
        self.background_merge.take(&self.path)
    }

    /// Goes on with merges until none is left, or it is told to stop, a commit after the other.
    pub(crate) fn finish_merges(self: &Arc<Self>, watch: &mut Watch<'_>) -> Result<()> {
        loop {
            let mut writer = self.write()?;
            let merged = writer.merge_some()?;
            writer.commit()?;
            match merged {
                Some(entries) => watch.advance(entries)?,
                None => return Ok(()),
            }
        }
    }

    /// Verifies the checksum of every page, and which pages are free. Nobody else may use the
    /// engine.
    pub(crate) fn verify(&mut self) -> Result<()> {
        let action = "verifying the pages";
        self.alone(|database, path| database.check_integrity().doing(path, action).map(|_| ()))
            .and_then(|()| self.is_at_its_commit())
            .inspect_err(|_| self.set_broken())
    }

    /// Where the last commit was not whole, verifying goes back to the one before.
    fn is_at_its_commit(&self) -> Result<()> {
        let found = load::counters(&self.file.begin_read(&self.path)?, &self.path)?.commit;
        let expected = lock(&self.published).current.counters.commit;
        if found == expected {
            return Ok(());
        }
        let detail = format!("the last commit, {expected}, is not whole; {found} is the last");
        Err(damaged(&self.path, Table::Meta, STATE_ROW, detail))
    }

    /// Moves free space to the end of the file and cuts it off. Nobody else may use the engine.
    pub(crate) fn shrink(&mut self) -> Result<()> {
        let action = "shrinking the file";
        self.alone(|database, path| database.compact().doing(path, action).map(|_| ()))
    }

    fn alone(&mut self, work: impl FnOnce(&mut Database, &Path) -> Result<()>) -> Result<()> {
        // What waits there reads the file.
        drop(self.background_merge.take(&self.path));
        let Self { file: File::Writable(database), path, broken, .. } = self else { return Ok(()) };
        guard_with(path, || broken.store(true, Ordering::Release), || work(database, path))
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // What waits there reads the file.
        drop(self.background_merge.take(&self.path));
        let file = std::mem::replace(&mut self.file, File::Closed);
        // A file that is not closed well is repaired when it is opened next.
        if self.is_broken() {
            abandon(file);
        } else {
            let _ = drop_catching_panics(file);
        }
    }
}

/// On a storage that tests can break.
#[cfg(test)]
impl Engine {
    /// Opens what is on the disk for reading and writing.
    pub(crate) fn open_on(disk: Disk, tuning: Tuning) -> Result<Arc<Self>> {
        let path = Path::new(Disk::NAME);
        guard(path, || {
            let database = redb::Builder::new()
                .set_cache_size(tuning.cache_bytes)
                .create_with_backend(disk)
                .map_err(|error| open_error(error.into(), path))?;
            Self::ready(File::Writable(database), path, &SettingsRequest::default(), tuning)
        })
    }
}
