//! Opens the file of an index, locks it, and lets redb recover it after an unclean stop.

use crate::error::{Error, Result};
use crate::store::engine::{Engine, Tuning};
use crate::store::identity::NamedFile;
use crate::store::pages::header::{HEADER_BYTES, Header};
use crate::store::pages::page_file::PageFile;
use crate::store::pages::verifier::{PageFault, register};
use crate::store::pages::walk::{Met, Tree, walk};
use crate::store::progress::Watch;
use crate::store::storage_error::{Doing, abandon, fault_error, io_error};
use redb::backends::FileBackend;
use redb::{Database, ReadTransaction, ReadableDatabase, StorageBackend};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::{fs, io};

/// The first bytes of every file of redb.
const REDB_MAGIC: &[u8] = b"redb\x1A\x0A\xA9\x0D\x0A";

/// An open file.
pub(crate) enum File {
    /// With the name under which it was opened; `None` for a simulated disk.
    Writable(Database, Option<NamedFile>),
    ReadOnly(ReadOnlyFile),
    /// The state while the engine is dropped.
    Closed,
}

/// A file that redb believes to write, while [`PageFile`] keeps what it writes in memory.
pub(crate) struct ReadOnlyFile {
    /// `None` while it is dropped.
    database: Option<Database>,
    /// The same file beneath redb.
    pages: FileBackend,
}

impl Drop for ReadOnlyFile {
    fn drop(&mut self) {
        // There is nothing to write, so redb need not prepare it.
        abandon(self.database.take());
    }
}

impl File {
    /// Opens a file for writing and recovers it if it was not closed cleanly.
    pub(crate) fn open_to_write(path: &Path, tuning: Tuning) -> Result<Self> {
        let failed = |error| open_error(redb::Error::Io(error), path);
        let file = fs::OpenOptions::new().read(true).write(true).open(path).map_err(failed)?;
        let named = NamedFile::new(&file, path).map_err(failed)?;
        let file = FileBackend::new(file).map_err(|error| open_error(error.into(), path))?;
        let database = open(PageFile::to_write(file), path, tuning)?;
        // A repair may have replaced the file before redb locked it.
        if !named.has_its_name() {
            return Err(Error::Locked { path: path.to_owned() });
        }
        Ok(Self::Writable(database, Some(named)))
    }

    /// Opens a file for reading. If it was not closed cleanly, it is recovered first, which needs
    /// permission to write.
    pub(crate) fn open_to_read(path: &Path, tuning: Tuning) -> Result<Self> {
        is_plausible(path)?;
        match Self::open_closed(path, tuning) {
            Err(Error::NeedsRepair { .. }) => {
                match Self::open_to_write(path, tuning) {
                    Err(Error::Io { source, .. })
                        if source.kind() == io::ErrorKind::PermissionDenied
                            || source.kind() == io::ErrorKind::ReadOnlyFilesystem =>
                    {
                        return Err(Error::NeedsRepair { path: path.to_owned() });
                    }
                    // Another reader is recovering the file, or has just done so.
                    Err(Error::Locked { .. }) => {}
                    // Closing the file writes that it is clean, unless it is damaged: `load` fails
                    // then.
                    recovered => drop(Engine::load(recovered?, path, tuning)?),
                }
                match Self::open_closed(path, tuning) {
                    // Closing failed: the disk has no space for what it writes, or redb's own pages
                    // are damaged. So the recovered file is read as it is.
                    Err(Error::NeedsRepair { .. }) => match Self::open_to_write(path, tuning)? {
                        Self::Writable(database, _) => {
                            let failed = |error| open_error(redb::Error::Io(error), path);
                            let pages = FileBackend::new(fs::File::open(path).map_err(failed)?);
                            let pages = pages.map_err(|error| open_error(error.into(), path))?;
                            let database = Some(database);
                            Ok(Self::ReadOnly(ReadOnlyFile { database, pages }))
                        }
                        other => Ok(other),
                    },
                    opened => opened,
                }
            }
            opened => opened,
        }
    }

    /// Opens a file for reading that was closed cleanly, and shares it with other readers.
    pub(crate) fn open_closed(path: &Path, tuning: Tuning) -> Result<Self> {
        let failed = |error| open_error(redb::Error::Io(error), path);
        let file = fs::File::open(path).map_err(failed)?;
        let pages = FileBackend::new(file.try_clone().map_err(failed)?);
        let pages = pages.map_err(|error| open_error(error.into(), path))?;
        let database = Some(open(PageFile::to_read(file).map_err(failed)?, path, tuning)?);
        Ok(Self::ReadOnly(ReadOnlyFile { database, pages }))
    }

    /// Verifies every page of a file that is open for reading, redb's own included, which nothing
    /// else reads as a whole. Nobody writes to the file meanwhile.
    pub(crate) fn verify_pages(&self, path: &Path, watch: &mut Watch<'_>) -> Result<()> {
        let Self::ReadOnly(ReadOnlyFile { pages, .. }) = self else { return Ok(()) };
        let failed = |source| io_error(path, "verifying the pages", source);
        let mut bytes = [0; HEADER_BYTES];
        pages.read(0, &mut bytes).map_err(failed)?;
        let Some(slot) = Header::read(&bytes).and_then(|header| header.primary) else {
            return Ok(());
        };
        let walked = walk(pages, Tree::of(&slot), false, &mut |met| match met {
            Met::Fault(fault, _) => Err(fault_error(path, fault)),
            Met::Leaf(_) => watch.advance_now(0),
        });
        walked?.map_err(failed)
    }

    /// Begins a read transaction on the last commit.
    pub(crate) fn begin_read(&self, path: &Path) -> Result<ReadTransaction> {
        let database = match self {
            Self::Writable(database, _) => Some(database),
            Self::ReadOnly(file) => file.database.as_ref(),
            Self::Closed => None,
        };
        let closed = || redb::TransactionError::Storage(redb::StorageError::DatabaseClosed);
        database
            .ok_or_else(closed)
            .and_then(ReadableDatabase::begin_read)
            .doing(path, "starting a read")
    }
}

/// Lets redb open a file.
pub(crate) fn open(file: PageFile, path: &Path, tuning: Tuning) -> Result<Database> {
    let verifier = Arc::clone(file.verifier());
    register(path, &verifier);
    let mut builder = redb::Builder::new();
    let database = builder.set_cache_size(tuning.cache_bytes).create_with_backend(file);
    let database = database.map_err(|error| open_error(error.into(), path))?;
    verifier.set_lenient(false);
    Ok(database)
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

/// Rejects a path that certainly is not an index, before redb opens it.
pub(crate) fn is_plausible(path: &Path) -> Result<()> {
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
        file.take(REDB_MAGIC.len() as u64).read_to_end(&mut start)?;
        Ok(start == REDB_MAGIC)
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
