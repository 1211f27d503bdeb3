//! One open index file: opens it, admits one writer, and publishes commits to readers.

use crate::error::{Error, Result};
use crate::store::bytes::schema::{POSTINGS, STATE_ROW, Table};
use crate::store::bytes::settings_row::StoredSettings;
#[cfg(test)]
use crate::store::file::open;
use crate::store::file::{File, TableBytes, check_plausible};
use crate::store::held::Snapshots;
use crate::store::identity::NamedFile;
use crate::store::load;
use crate::store::pages::header::Slot;
#[cfg(test)]
use crate::store::pages::page_file::PageFile;
use crate::store::progress::Watch;
use crate::store::published::Published;
use crate::store::read::fixed::Fixed;
use crate::store::runs::background::BackgroundMerge;
use crate::store::runs::merges::PreparedSteps;
use crate::store::settings::{Settings, SettingsRequest};
#[cfg(test)]
use crate::store::sim::disk::Disk;
use crate::store::state::State;
use crate::store::storage_error::{
    Doing, abandon, damaged, drop_catching_panics, guard, guard_with,
};
use crate::store::tuning::Tuning;
use crate::store::write::turn::Turns;
use redb::Database;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
#[cfg(test)]
use std::time::Duration;

/// One open index file.
pub(crate) struct Engine {
    background_merge: BackgroundMerge,
    pub(super) file: File,
    path: PathBuf,
    settings: Settings,
    stored: StoredSettings,
    tuning: Tuning,
    pub(super) published: Published,
    pub(super) turns: Arc<Turns>,
    /// Whether the remains of unfinished merges of an earlier process have been deleted.
    tidy: AtomicBool,
    /// Set when the storage engine panicked during a write, after which it may be inconsistent.
    broken: AtomicBool,
    /// The snapshots of this process, which others can see; `None` for a simulated disk.
    snapshots: Option<Arc<Snapshots>>,
}

/// The outcome of a commit to a file that has lost its name.
const COMMITTED: &str = "what was committed went to that file, \
                                    not to the one that has the name now, if any";

impl Engine {
    /// Opens the file for reading and writing. Recovers it first if it was not closed cleanly.
    /// Leaves a file of another program, or an index with other settings, untouched.
    pub(crate) fn open(
        path: &Path,
        request: &SettingsRequest,
        tuning: Tuning,
    ) -> Result<Arc<Self>> {
        guard(path, || Self::open_to_write(path, request, tuning))
    }

    /// Opens a new index that has a temporary name, for reading and writing. Errors of reads and
    /// writes tell the `name` that it is to get: nobody knows the other one, and the file is
    /// removed after an error.
    pub(crate) fn open_new(temporary: &Path, name: &Path, tuning: Tuning) -> Result<Arc<Self>> {
        let mut engine = Self::open(temporary, &SettingsRequest::default(), tuning)?;
        if let Some(engine) = Arc::get_mut(&mut engine) {
            name.clone_into(&mut engine.path);
        }
        Ok(engine)
    }

    fn open_to_write(path: &Path, request: &SettingsRequest, tuning: Tuning) -> Result<Arc<Self>> {
        check_plausible(path)?;
        // Opening for writing changes the file, so this first reads the settings. If that is not
        // possible, as after an unclean stop, `ready` checks them after opening.
        let small = Tuning { cache_bytes: 1 << 20, ..tuning };
        match File::open_to_follow(path, small) {
            Ok(file) => {
                request.check(&load::settings(&file.begin_read(path)?, path)?.0, path)?;
            }
            Err(error @ Error::Locked { .. }) => return Err(error),
            Err(_) => {}
        }
        Self::ready(File::open_to_write(path, tuning)?, path, request, tuning)
    }

    /// Makes an engine from an open file, and checks the requested settings.
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

    /// Opens the file for reading. If it was not closed cleanly, this first recovers it, which
    /// needs write access.
    pub(crate) fn open_read_only(
        path: &Path,
        request: &SettingsRequest,
        tuning: Tuning,
    ) -> Result<Arc<Self>> {
        guard(path, || Self::open_to_read(path, request, tuning))
    }

    fn open_to_read(path: &Path, request: &SettingsRequest, tuning: Tuning) -> Result<Arc<Self>> {
        // Loads a recovered file, because that fails if the file is damaged.
        let close = |recovered| Self::load(recovered, path, tuning).map(drop);
        Self::ready(File::open_to_read(path, tuning, close)?, path, request, tuning)
    }

    pub(crate) fn load(file: File, path: &Path, tuning: Tuning) -> Result<Self> {
        let (settings, stored, state) = match Self::read_state(&file, path, &tuning) {
            Ok(loaded) => loaded,
            Err(error) => {
                // Closing would write to a file that may be damaged.
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
            published: Published::new(state),
            turns: Arc::default(),
            tidy: AtomicBool::new(false),
            broken: AtomicBool::new(false),
            snapshots: Snapshots::open(path).ok(),
        })
    }

    /// Reads the settings and the state, which stay in memory.
    fn read_state(
        file: &File,
        path: &Path,
        tuning: &Tuning,
    ) -> Result<(Settings, StoredSettings, State)> {
        let txn = file.begin_read(path)?;
        let (settings, stored) = load::settings(&txn, path)?;
        let state = load::state(&txn, Fixed::new(path, (&settings, &stored), tuning))?;
        Ok((settings, stored, state))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The time at which the index was created, in seconds since 1970.
    pub(crate) fn created(&self) -> i64 {
        self.stored.created
    }

    pub(crate) fn stored(&self) -> &StoredSettings {
        &self.stored
    }

    /// The size of the page cache in bytes.
    pub(crate) fn cache_bytes(&self) -> usize {
        self.tuning.cache_bytes
    }

    pub(crate) fn tuning(&self) -> &Tuning {
        &self.tuning
    }

    pub(crate) fn fixed(&self) -> Fixed<'_> {
        Fixed::new(&self.path, (&self.settings, &self.stored), &self.tuning)
    }

    /// The snapshots of this process, which others can see; `None` for a simulated disk.
    pub(crate) fn snapshots(&self) -> Option<&Arc<Snapshots>> {
        self.snapshots.as_ref()
    }

    /// Verifies every page of a reader's commit, if the file is open for reading.
    pub(crate) fn verify_pages(&self, commit: Option<&Slot>, watch: &mut Watch<'_>) -> Result<()> {
        self.file.verify_pages((&self.path, self.tuning), commit, watch)
    }

    /// The bytes of the tables of a reader's commit, if the file is open for reading.
    pub(crate) fn table_bytes(&self, commit: Option<&Slot>) -> Result<Option<TableBytes>> {
        self.file.table_bytes(&self.path, commit)
    }

    /// Whether there is a write transaction.
    pub(crate) fn is_written(&self) -> bool {
        self.turns.is_taken()
    }

    /// Runs work that writes. If the storage engine panics, no further writes are allowed.
    pub(crate) fn guard_write<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        guard_with(&self.path, || self.set_broken(), work)
    }

    /// Whether the remains of unfinished merges of an earlier process have been deleted.
    pub(crate) fn is_tidy(&self) -> bool {
        self.tidy.load(Ordering::Acquire)
    }

    pub(crate) fn set_broken(&self) {
        self.broken.store(true, Ordering::Release);
    }

    /// Whether the storage engine has panicked during a write.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Acquire)
    }

    /// Commits the transaction and publishes its state. Then checks that the file still has its
    /// name, so that nobody takes a commit to a deleted file for durable.
    pub(crate) fn publish(&self, txn: redb::WriteTransaction, state: State) -> Result<()> {
        let state = Arc::new(state);
        let commit = || self.guard_write(|| txn.commit().doing(&self.path, "committing"));
        self.published.commit(&state, commit)?;
        self.tidy.store(true, Ordering::Release);
        self.merge_ahead(state);
        self.check_name()
    }

    /// Fails if the path leads to no file, or to another one than the file that is open.
    pub(crate) fn check_name(&self) -> Result<()> {
        self.named().map_or(Ok(()), |named| named.check(COMMITTED))
    }

    /// The file that is open, and its name.
    pub(crate) fn named(&self) -> Option<&NamedFile> {
        self.file.named()
    }

    /// Lets a background thread prepare the next merge step, if another commit of this size will
    /// need one.
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

    /// Takes the merge step that the background thread has prepared.
    pub(crate) fn merged_ahead(&self) -> Result<PreparedSteps> {
        self.background_merge.take(&self.path)
    }

    /// Verifies the checksum of every page and the list of free pages. No one else may use the
    /// engine meanwhile.
    pub(crate) fn verify(&mut self) -> Result<()> {
        let action = "verifying the pages";
        self.alone(|database, path| database.check_integrity().doing(path, action).map(|_| ()))
            .and_then(|()| self.check_commit())
            .inspect_err(|_| self.set_broken())
    }

    /// Checks that the file still shows the last commit. The verification rolls a damaged commit
    /// back to the one before.
    fn check_commit(&self) -> Result<()> {
        let found = load::counters(&self.file.begin_read(&self.path)?, &self.path)?.commit;
        let expected = self.published.current().counters.commit;
        if found == expected {
            return Ok(());
        }
        let detail = format!("the last commit, {expected}, is damaged; {found} is intact");
        Err(damaged(&self.path, Table::Meta, STATE_ROW, detail))
    }

    /// Moves free space to the end of the file and truncates it. No one else may use the engine
    /// meanwhile.
    pub(crate) fn shrink(&mut self) -> Result<()> {
        let action = "shrinking the file";
        self.alone(|database, path| database.compact().doing(path, action).map(|_| ()))
    }

    fn alone(&mut self, work: impl FnOnce(&mut Database, &Path) -> Result<()>) -> Result<()> {
        // Ends the background merge, which reads the file.
        drop(self.background_merge.take(&self.path));
        let Self { file: File::Writable(database, _), path, broken, .. } = self else {
            return Ok(());
        };
        guard_with(path, || broken.store(true, Ordering::Release), || work(database, path))
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // Ends the background merge, which reads the file.
        drop(self.background_merge.take(&self.path));
        let file = std::mem::replace(&mut self.file, File::Closed);
        // If closing fails, the next opening recovers the file.
        if self.is_broken() {
            abandon(file);
        } else {
            let _ = drop_catching_panics(file);
        }
    }
}

/// Opens indexes on a simulated disk that tests can break.
#[cfg(test)]
impl Engine {
    /// Opens the index on the disk for reading and writing.
    pub(crate) fn open_on(disk: &Disk, tuning: Tuning) -> Result<Arc<Self>> {
        let path = Path::new(Disk::NAME);
        guard(path, || {
            let database = open(|| Ok(PageFile::to_write(disk.clone())), path, tuning)?;
            let file = File::Writable(database, None);
            Self::ready(file, path, &SettingsRequest::default(), tuning)
        })
    }

    /// Opens an index for reading and writing so that no other process can have it open, as a
    /// measure of what sharing costs.
    pub(crate) fn open_alone(path: &Path, tuning: Tuning) -> Result<Arc<Self>> {
        let file = redb::backends::FileBackend::new(
            std::fs::OpenOptions::new().read(true).write(true).open(path).expect("a file"),
        );
        let pages = PageFile::to_write(file.expect("a backend"));
        let mut builder = redb::Builder::new();
        let database = builder.set_cache_size(tuning.cache_bytes).create_with_backend(pages);
        let file = File::Writable(database.doing(path, "opening")?, None);
        Self::ready(file, path, &SettingsRequest::default(), tuning)
    }

    /// Opens the index on the disk for reading, as another process would. Waits for no lock.
    pub(crate) fn follow_on(disk: &Disk, tuning: Tuning) -> Result<Arc<Self>> {
        let path = Path::new(Disk::NAME);
        guard(path, || {
            let file = File::follow(disk, path, tuning, Duration::ZERO)?;
            Self::ready(file, path, &SettingsRequest::default(), tuning)
        })
    }
}
