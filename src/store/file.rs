//! The file under an index: opened, locked, repaired after an unclean stop.

use crate::error::{Error, Result};
use crate::store::engine::{Engine, Tuning};
use crate::store::storage_error::{Doing, io_error};
use redb::{Database, ReadOnlyDatabase, ReadTransaction, ReadableDatabase};
use std::path::Path;
use std::{fs, io};

/// An open file.
pub(crate) enum File {
    Writable(Database),
    ReadOnly(ReadOnlyDatabase),
    /// Only while the engine is dropped.
    Closed,
}

impl File {
    /// The file to write to, repaired if it was not closed cleanly.
    pub(crate) fn open_to_write(path: &Path, tuning: Tuning) -> Result<Self> {
        let before = identity(path);
        let database = redb::Builder::new().set_cache_size(tuning.cache_bytes).open(path);
        let database = database.map_err(|error| foreign(error.into(), path))?;
        // A repair may have put another file there before this one was locked.
        if identity(path) != before {
            return Err(Error::Locked { path: path.to_owned() });
        }
        Ok(Self::Writable(database))
    }

    /// The file to read from, repaired if it was not closed cleanly.
    pub(crate) fn open_to_read(path: &Path, tuning: Tuning) -> Result<Self> {
        is_plausible(path)?;
        let mut builder = redb::Builder::new();
        builder.set_cache_size(tuning.cache_bytes);
        let open = || builder.open_read_only(path).map_err(redb::Error::from);
        let database = match open() {
            Err(redb::Error::RepairAborted) => {
                match builder.open(path).map_err(redb::Error::from) {
                    Err(redb::Error::Io(error))
                        if error.kind() == io::ErrorKind::PermissionDenied
                            || error.kind() == io::ErrorKind::ReadOnlyFilesystem =>
                    {
                        return Err(Error::NeedsRepair { path: path.to_owned() });
                    }
                    // Another reader is repairing it, or has just done so.
                    Err(redb::Error::DatabaseAlreadyOpen) => {}
                    repaired => {
                        let file = Self::Writable(repaired.map_err(|error| foreign(error, path))?);
                        // Closing it writes to it.
                        drop(Engine::load(file, path, tuning)?);
                    }
                }
                open()
            }
            opened => opened,
        };
        match database {
            // No space is left for what closing it writes, so it is read as it was repaired.
            Err(redb::Error::RepairAborted) => {
                builder.open(path).map(Self::Writable).map_err(|error| foreign(error.into(), path))
            }
            opened => opened.map(Self::ReadOnly).map_err(|error| foreign(error, path)),
        }
    }

    /// A read of the last commit.
    pub(crate) fn begin_read(&self, path: &Path) -> Result<ReadTransaction> {
        match self {
            Self::Writable(database) => database.begin_read(),
            Self::ReadOnly(database) => database.begin_read(),
            Self::Closed => {
                Err(redb::TransactionError::Storage(redb::StorageError::DatabaseClosed))
            }
        }
        .doing(path, "starting a read")
    }
}

/// What tells one file from another of the same name, where the system has such a thing.
#[cfg(unix)]
fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn identity(_: &Path) -> Option<(u64, u64)> {
    None
}

/// Tells apart what is certainly no index before redb looks at it.
pub(crate) fn is_plausible(path: &Path) -> Result<()> {
    let not_an_index =
        |detail: &str| Error::NotAnIndex { path: path.to_owned(), detail: detail.into() };
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(Error::NotFound { path: path.to_owned() })
        }
        Err(error) => Err(io_error(path, "opening", error)),
        Ok(found) if found.is_dir() => Err(not_an_index("it is a directory")),
        Ok(found) if !found.is_file() => Err(not_an_index("it is not a regular file")),
        Ok(found) if found.len() == 0 => Err(not_an_index("it is empty")),
        Ok(_) => Ok(()),
    }
}

/// The error of opening a file: invalid data there means that it is no index.
pub(crate) fn foreign(error: redb::Error, path: &Path) -> Error {
    match error {
        redb::Error::Io(error) if error.kind() == io::ErrorKind::InvalidData => {
            Error::NotAnIndex { path: path.to_owned(), detail: error.to_string() }
        }
        other => match Err::<(), _>(other).doing(path, "opening") {
            Err(error) => error,
            Ok(()) => unreachable!("an error stays an error"),
        },
    }
}
