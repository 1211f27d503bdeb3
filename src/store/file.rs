//! Opens the file of an index, locks it, and lets redb recover it after an unclean stop.

use crate::error::{Error, Result};
use crate::store::identity::NamedFile;
use crate::store::lock::lock;
use crate::store::pages::header::{FILE_MAGIC, HEADER_BYTES, Header, Slot};
use crate::store::pages::page_file::{PATIENCE, PageFile, Seen};
use crate::store::pages::size::table_bytes;
use crate::store::pages::verifier::{PageFault, register};
use crate::store::pages::walk::{Met, Tree, walk};
use crate::store::progress::Watch;
#[cfg(test)]
use crate::store::sim::disk::Disk;
use crate::store::storage_error::{Doing, abandon, fault_error, io_error};
use crate::store::tuning::Tuning;
use redb::backends::FileBackend;
use redb::{ConcurrencyMode, Database, ReadTransaction, ReadableDatabase, StorageBackend};
use std::io::Read;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use std::{fs, io};

/// An open file.
pub(crate) enum File {
    /// With the name under which it was opened; `None` for a simulated disk.
    Writable(Database, Option<NamedFile>),
    ReadOnly(ReadOnlyFile),
    /// The state while the engine is dropped.
    Closed,
}

/// A file that is open for reading.
pub(crate) struct ReadOnlyFile {
    /// `None` while it is dropped.
    database: Option<Box<dyn ReadableDatabase + Send + Sync>>,
    /// The same file beneath redb. redb's locks belong to it too, so it must not be locked.
    pages: Box<dyn StorageBackend>,
    /// The commit that redb has read last.
    seen: Arc<Seen>,
    /// Held from the reading of a commit until it is known which one it is.
    begin: Mutex<()>,
    /// `None` for a simulated disk.
    named: Option<NamedFile>,
}

impl Drop for ReadOnlyFile {
    fn drop(&mut self) {
        // There is nothing to write, so redb need not prepare it.
        abandon(self.database.take());
    }
}

/// The bytes of the pages of tables, by name.
pub(crate) type TableBytes = Vec<(&'static str, u64)>;

/// A read transaction.
pub(crate) struct Pinned {
    pub(crate) txn: ReadTransaction,
    /// redb's commit, if the file is open for reading only.
    pub(crate) commit: Option<Slot>,
}

impl File {
    /// Opens a file for writing and recovers it if it was not closed cleanly.
    pub(crate) fn open_to_write(path: &Path, tuning: Tuning) -> Result<Self> {
        let failed = |error| open_error(redb::Error::Io(error), path);
        let file = fs::OpenOptions::new().read(true).write(true).open(path).map_err(failed)?;
        let named = NamedFile::new(&file, path).map_err(failed)?;
        let backend = || file.try_clone().and_then(backend).map_err(failed);
        let database = open(|| Ok(PageFile::to_write(backend()?)), path, tuning)?;
        // A repair may have replaced the file before redb locked it.
        if !named.has_its_name() {
            return Err(Error::Locked { path: path.to_owned() });
        }
        Ok(Self::Writable(database, Some(named)))
    }

    /// Opens a file for reading, beside other readers and a writer. If an earlier version did not
    /// close it cleanly, it is recovered first, which needs permission to write. `close` closes a
    /// file that was recovered, and fails if it is damaged.
    pub(crate) fn open_to_read(
        path: &Path,
        tuning: Tuning,
        close: impl FnOnce(Self) -> Result<()>,
    ) -> Result<Self> {
        check_plausible(path)?;
        match Self::open_to_follow(path, tuning) {
            Err(Error::NeedsRecovery { .. }) => {
                match Self::open_to_write(path, tuning) {
                    Err(Error::Io { source, .. })
                        if source.kind() == io::ErrorKind::PermissionDenied
                            || source.kind() == io::ErrorKind::ReadOnlyFilesystem =>
                    {
                        return Err(Error::NeedsRecovery { path: path.to_owned() });
                    }
                    // Another process is recovering the file, or has just done so.
                    Err(Error::Locked { .. }) => {}
                    // Closing the file writes that it is clean, unless it is damaged.
                    recovered => close(recovered?)?,
                }
                match Self::open_to_follow(path, tuning) {
                    // Closing failed: the disk has no space for what it writes, or redb's own pages
                    // are damaged. So the recovered file is read as it is.
                    Err(Error::NeedsRecovery { .. }) => match Self::open_to_write(path, tuning)? {
                        Self::Writable(database, named) => {
                            let failed = |error| open_error(redb::Error::Io(error), path);
                            let pages = fs::File::open(path).and_then(backend).map_err(failed)?;
                            let file = ReadOnlyFile::new(database, pages, Arc::default(), named);
                            Ok(Self::ReadOnly(file))
                        }
                        other => Ok(other),
                    },
                    opened => opened,
                }
            }
            opened => opened,
        }
    }

    /// Opens a file for reading that needs no recovery. Changes nothing.
    pub(crate) fn open_to_follow(path: &Path, tuning: Tuning) -> Result<Self> {
        let failed = |error| open_error(redb::Error::Io(error), path);
        let file = fs::File::open(path).map_err(failed)?;
        let named = NamedFile::new(&file, path).map_err(failed)?;
        let clone = || file.try_clone().and_then(backend).map_err(failed);
        Self::follow_with(&clone, Some(named), (path, tuning), PATIENCE)
    }

    /// Opens the file on a disk for reading, as another process would.
    #[cfg(test)]
    pub(crate) fn follow(
        disk: &Disk,
        path: &Path,
        tuning: Tuning,
        patience: Duration,
    ) -> Result<Self> {
        Self::follow_with(&|| Ok(disk.clone()), None, (path, tuning), patience)
    }

    fn follow_with<B: StorageBackend>(
        backend: &dyn Fn() -> Result<B>,
        named: Option<NamedFile>,
        (path, tuning): (&Path, Tuning),
        patience: Duration,
    ) -> Result<Self> {
        let seen: Arc<Seen> = Arc::default();
        let database = in_best_mode(path, &|builder| {
            let file = if builder.shares {
                PageFile::to_follow(backend()?, Arc::clone(&seen), patience)
            } else {
                PageFile::to_read_alone(backend()?)
            };
            register(path, file.verifier());
            Ok(builder.with_cache(tuning).open_read_only_with_backend(file))
        })?;
        Ok(Self::ReadOnly(ReadOnlyFile::new(database, backend()?, seen, named)))
    }

    /// Verifies every page of a commit in a file that is open for reading, redb's own included,
    /// which nothing else reads as a whole. Without a commit, it is the last one, and nobody writes
    /// to the file meanwhile.
    pub(crate) fn verify_pages(
        &self,
        (path, tuning): (&Path, Tuning),
        commit: Option<&Slot>,
        watch: &mut Watch<'_>,
    ) -> Result<()> {
        let Self::ReadOnly(file) = self else { return Ok(()) };
        let failed = |source| io_error(path, "verifying the pages", source);
        let last = file.header().map_err(failed)?.and_then(|header| header.primary);
        let Some(slot) = commit.copied().or(last) else { return Ok(()) };
        let tables = Slot { system: None, ..slot };
        let walked = walk(&*file.pages, Tree::of(&tables), false, &mut |met| match met {
            Met::Fault(fault, _) => Err(fault_error(path, fault)),
            Met::Leaf(_) => watch.advance_now(0),
        });
        walked?.map_err(failed)?;
        // The next commit reuses the pages of redb's own tables, whoever reads. So a fault in them
        // counts if no commit has come.
        let storage = Slot { tables: None, ..slot };
        let mut found = None;
        let walked = walk(&*file.pages, Tree::of(&storage), false, &mut |met| {
            if let Met::Fault(fault, _) = met {
                found.get_or_insert(fault);
            }
            watch.advance_now(0)
        });
        walked?.map_err(failed)?;
        let header = file.header().map_err(failed)?;
        let is_last = header.is_some_and(|header| header.is_last(&slot));
        if let Some(fault) = found.filter(|_| is_last) {
            return Err(fault_error(path, fault));
        }
        if header.is_some_and(|header| header.is_unclean) {
            Self::try_recovery(path, tuning)
        } else {
            Ok(())
        }
    }

    /// The bytes of the pages of each table of a commit, by name. `None` if the file is open for
    /// writing, where nothing but redb tells where its pages are.
    pub(crate) fn table_bytes(
        &self,
        path: &Path,
        commit: Option<&Slot>,
    ) -> Result<Option<TableBytes>> {
        let (Self::ReadOnly(file), Some(commit)) = (self, commit) else { return Ok(None) };
        let failed = |error: io::Error| match error.downcast::<PageFault>() {
            Ok(fault) => fault_error(path, fault),
            Err(source) => io_error(path, "measuring the tables", source),
        };
        table_bytes(&*file.pages, commit).map(Some).map_err(failed)
    }

    /// Recovers a file that was not closed cleanly, unless a process writes to it or this one may
    /// not. Readers need no recovery, but damage beyond their pages would keep writers out.
    fn try_recovery(path: &Path, tuning: Tuning) -> Result<()> {
        match Self::open_to_write(path, tuning) {
            Ok(_) | Err(Error::Locked { .. }) => Ok(()),
            Err(Error::Io { source, .. })
                if [
                    io::ErrorKind::PermissionDenied,
                    io::ErrorKind::ReadOnlyFilesystem,
                    io::ErrorKind::NotFound,
                ]
                .contains(&source.kind()) =>
            {
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Begins a read transaction on the last commit.
    pub(crate) fn begin_read(&self, path: &Path) -> Result<ReadTransaction> {
        Ok(self.pin(path)?.txn)
    }

    /// The file that is open, and its name.
    pub(crate) fn named(&self) -> Option<&NamedFile> {
        match self {
            Self::Writable(_, named) | Self::ReadOnly(ReadOnlyFile { named, .. }) => named.as_ref(),
            Self::Closed => None,
        }
    }

    /// Begins a read transaction on the last commit, and tells which one it is.
    pub(crate) fn pin(&self, path: &Path) -> Result<Pinned> {
        let closed = || redb::TransactionError::Storage(redb::StorageError::DatabaseClosed);
        let pinned = match self {
            Self::Writable(database, _) => {
                database.begin_read().map(|txn| Pinned { txn, commit: None })
            }
            Self::ReadOnly(ReadOnlyFile { database: Some(database), seen, begin, .. }) => {
                let _begin = lock(begin);
                database.begin_read().map(|txn| Pinned { txn, commit: seen.get() })
            }
            _ => Err(closed()),
        };
        pinned.doing(path, "starting a read")
    }
}

impl ReadOnlyFile {
    fn new(
        database: impl ReadableDatabase + Send + Sync + 'static,
        pages: impl StorageBackend,
        seen: Arc<Seen>,
        named: Option<NamedFile>,
    ) -> Self {
        let (database, pages) = (Some(Box::new(database) as _), Box::new(pages));
        Self { database, pages, seen, begin: Mutex::new(()), named }
    }

    /// The header as it is now; `None` if another process was writing it.
    fn header(&self) -> io::Result<Option<Header>> {
        let mut bytes = [0; HEADER_BYTES];
        self.pages.read(0, &mut bytes)?;
        Ok(Header::read(&bytes))
    }
}

fn backend(file: fs::File) -> io::Result<FileBackend> {
    FileBackend::new(file).map_err(io::Error::other)
}

/// Lets redb open a file for writing.
pub(crate) fn open(
    pages: impl Fn() -> Result<PageFile>,
    path: &Path,
    tuning: Tuning,
) -> Result<Database> {
    in_best_mode(path, &|builder| {
        let file = pages()?;
        let verifier = Arc::clone(file.verifier());
        register(path, &verifier);
        let opened = builder.with_cache(tuning).create_with_backend(file);
        verifier.set_lenient(false);
        Ok(opened)
    })
}

/// redb's options for opening a file, and whether other processes may have it open.
struct Opening {
    builder: redb::Builder,
    shares: bool,
}

impl Opening {
    fn with_cache(&mut self, tuning: Tuning) -> &redb::Builder {
        self.builder.set_cache_size(tuning.cache_bytes)
    }
}

/// Lets redb open a file so that others may read while one writes. On systems that cannot lock
/// single bytes of a file, one may write or many may read.
fn in_best_mode<T>(
    path: &Path,
    open: &dyn Fn(&mut Opening) -> Result<std::result::Result<T, redb::DatabaseError>>,
) -> Result<T> {
    for (mode, shares) in
        [(ConcurrencyMode::SingleWriter, true), (ConcurrencyMode::ExclusiveWriter, false)]
    {
        let mut builder = redb::Builder::new();
        builder.set_concurrency_mode(mode);
        match open(&mut Opening { builder, shares })? {
            Err(redb::DatabaseError::Storage(redb::StorageError::Unsupported)) if shares => {}
            opened => return opened.map_err(|error| open_error(error.into(), path)),
        }
    }
    Err(open_error(redb::Error::Unsupported, path))
}

/// The error for a symbolic link that leads to no file.
pub(crate) fn dangling_link(path: &Path) -> Option<Error> {
    let target = fs::read_link(path).ok()?;
    let is_missing = fs::metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
    is_missing.then(|| {
        let target = target.display();
        let detail = format!("it is a link to {target}, which does not exist; remove the link");
        Error::NotAnIndex { path: path.to_owned(), detail }
    })
}

/// Rejects the empty path: the errors of the system would name no file.
pub(crate) fn check_named(path: &Path) -> Result<()> {
    if path.as_os_str().is_empty() {
        let (setting, got, expected) = ("path", "\"\"".to_owned(), "the name of a file");
        return Err(Error::InvalidSetting { setting, got, expected });
    }
    Ok(())
}

/// Rejects a path that certainly is not an index, before redb opens it.
pub(crate) fn check_plausible(path: &Path) -> Result<()> {
    check_named(path)?;
    let not_an_index =
        |detail: &str| Error::NotAnIndex { path: path.to_owned(), detail: detail.into() };
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(dangling_link(path).unwrap_or(Error::NotFound { path: path.to_owned() }));
        }
        Err(error) => return Err(io_error(path, "opening", error)),
        Ok(metadata) if metadata.is_dir() => return Err(not_an_index("it is a directory")),
        Ok(metadata) if !metadata.is_file() => {
            return Err(not_an_index("it is not a regular file"));
        }
        Ok(metadata) if metadata.len() == 0 => return Err(not_an_index("it is empty")),
        Ok(_) => {}
    }
    // A file that cannot be read, or is locked, gives its error when redb opens it.
    let begins_well = fs::File::open(path).and_then(|file| {
        let mut start = Vec::new();
        file.take(FILE_MAGIC.len() as u64).read_to_end(&mut start)?;
        Ok(start == FILE_MAGIC)
    });
    match begins_well {
        Ok(false) => Err(not_an_index("it does not begin as an index does")),
        _ => Ok(()),
    }
}

/// Converts an error of opening a file. Invalid data means that the file is not an index.
pub(crate) fn open_error(error: redb::Error, path: &Path) -> Error {
    match error {
        redb::Error::Io(error)
            if error.kind() == io::ErrorKind::InvalidData
                && !error.get_ref().is_some_and(|source| source.is::<PageFault>()) =>
        {
            Error::NotAnIndex { path: path.to_owned(), detail: "it has no valid header".into() }
        }
        redb::Error::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            let detail = "it is cut short within its header; restore a copy".into();
            Error::NotAnIndex { path: path.to_owned(), detail }
        }
        other => match Err::<(), _>(other).doing(path, "opening") {
            Err(error) => error,
            Ok(()) => unreachable!("an error stays an error"),
        },
    }
}
