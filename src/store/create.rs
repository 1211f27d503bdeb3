//! Creates index files: each is complete before it gets its name.

use crate::error::{Error, Result};
use crate::hash::random_key;
use crate::store::bytes::codec::DecodeError;
use crate::store::bytes::record::Counters;
use crate::store::bytes::schema::{
    DEAD, DOCUMENTS, FENCES, FINGERPRINTS, FORMAT_ROW, FORMAT_VERSION, META, POSTINGS, RUNS,
    SETTINGS_ROW, SIGNATURES, STATE_ROW, TEXTS, Table, format_row,
};
use crate::store::bytes::settings_row::StoredSettings;
use crate::store::bytes::time::now;
use crate::store::engine::Engine;
use crate::store::file::{check_named, dangling_link};
use crate::store::identity::NamedFile;
use crate::store::leftover;
use crate::store::settings::Settings;
#[cfg(test)]
use crate::store::sim::disk::Disk;
#[cfg(test)]
use crate::store::storage_error::guard;
use crate::store::storage_error::{Doing, damaged, io_error};
use redb::Database;
use redb::backends::FileBackend;
use std::borrow::Cow;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A new file under a temporary name. It gets its own name when it is complete, so a process that
/// is killed leaves no half-made index.
pub(crate) struct NewFile<'p> {
    file: NamedTempFile,
    folder: PathBuf,
    /// The final name.
    path: &'p Path,
}

impl<'p> NewFile<'p> {
    /// Begins a file with an empty index. Like any new file, it has the permissions that the
    /// user's mask allows.
    pub(crate) fn begin(path: &'p Path, stored: &StoredSettings) -> Result<Self> {
        Self::begin_with_mode(path, stored, 0o666)
    }

    /// Begins a file with an empty index that has no more permissions than the file `other`.
    pub(crate) fn begin_like(
        path: &'p Path,
        stored: &StoredSettings,
        other: &Path,
    ) -> Result<Self> {
        #[cfg(unix)]
        let mode = {
            use std::os::unix::fs::PermissionsExt;
            match fs::metadata(other) {
                // The owner must be able to write the new file, even if `other` is read-only.
                Ok(metadata) => metadata.permissions().mode() & 0o666 | 0o600,
                // A snapshot of a file that was deleted can still be saved.
                Err(error) if error.kind() == io::ErrorKind::NotFound => 0o600,
                Err(error) => return Err(io_error(other, ACTION, error)),
            }
        };
        #[cfg(not(unix))]
        let mode = {
            let _ = other;
            0o600
        };
        Self::begin_with_mode(path, stored, mode)
    }

    fn begin_with_mode(path: &'p Path, stored: &StoredSettings, mode: u32) -> Result<Self> {
        check_named(path)?;
        let failed = |source| io_error(path, ACTION, source);
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        fs::metadata(folder).map_err(|source| match source.kind() {
            // The path of the file would not tell which part of it is missing.
            io::ErrorKind::NotFound => io_error(folder, IN_FOLDER, source),
            _ => failed(source),
        })?;
        leftover::remove_stale(folder);
        let mut builder = tempfile::Builder::new();
        builder.prefix(leftover::PREFIX).suffix(leftover::SUFFIX).rand_bytes(leftover::RANDOM);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(fs::Permissions::from_mode(mode));
        }
        #[cfg(not(unix))]
        let _ = mode;
        let new = builder.tempfile_in(folder).map_err(failed)?;
        let file = new.reopen().map_err(failed)?;
        let file = FileBackend::new(file).doing(path, ACTION)?;
        let database = redb::Builder::new().create_with_backend(file).doing(path, ACTION)?;
        Engine::write_empty_index(&database, stored, path)?;
        Ok(Self { file: new, folder: folder.to_owned(), path })
    }

    /// The path of the file until it has its name.
    pub(crate) fn temporary_path(&self) -> &Path {
        self.file.path()
    }

    /// Gives the file its name. Fails if another file has it.
    pub(crate) fn finish(self) -> Result<()> {
        let Self { file, folder, path } = self;
        // redb writes to the file when it is closed, so the file is synced once more.
        file.as_file().sync_all().map_err(|source| io_error(path, ACTION, source))?;
        file.persist_noclobber(path).map_err(|error| match error.error.kind() {
            io::ErrorKind::AlreadyExists => already_exists(path),
            _ => io_error(path, ACTION, error.error),
        })?;
        sync_folder(&folder).map_err(|source| io_error(path, ACTION, source))
    }

    /// Replaces the file `named`, which has the name, and takes over its owner and permissions.
    /// Replaces nothing if another file has the name by now; the new file is removed then. After
    /// any error, the old file is in its place.
    pub(crate) fn replace(self, named: Option<&NamedFile>) -> Result<()> {
        let Self { file, folder, path } = self;
        let check_name = || named.map_or(Ok(()), |named| named.check(NOT_REPLACED));
        check_name()?;
        let failed = |source| io_error(path, "replacing the old file", source);
        let old = fs::metadata(path).map_err(failed)?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::{MetadataExt, chown};
            // Only root may change the owner. Other users own the old file already.
            let _ = chown(file.path(), Some(old.uid()), Some(old.gid()));
        }
        fs::set_permissions(file.path(), old.permissions()).map_err(failed)?;
        file.as_file().sync_all().map_err(failed)?;
        let opened = if cfg!(unix) { Some(fs::File::open(&folder).map_err(failed)?) } else { None };
        // Nothing but the renaming lies between this check and the end.
        check_name()?;
        file.persist(path).map_err(|error| failed(error.error))?;
        // Makes the new name durable. What comes after the renaming is no error: it would say that
        // the old file is still there, and its caller would remove what goes with the new one.
        let _ = opened.map(|folder| folder.sync_all());
        Ok(())
    }
}

const ACTION: &str = "creating the index";

/// The action that fails if the folder of the new file is missing.
const IN_FOLDER: &str = "creating the index in this folder, which does not exist; make it first";

/// The outcome if the file to be replaced has lost its name.
const NOT_REPLACED: &str = "nothing was replaced, and the new file was removed; \
                            run it again on the file where it is now";

/// The error for a path at which there is something already.
pub(crate) fn already_exists(path: &Path) -> Error {
    dangling_link(path).unwrap_or_else(|| Error::AlreadyExists { path: path.to_owned() })
}

/// Resolves a symbolic link, so that replacing the file leaves the link in place.
pub(crate) fn resolve_link(path: &Path) -> Cow<'_, Path> {
    let is_link = path.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink());
    let target = if is_link { fs::canonicalize(path).ok() } else { None };
    target.map_or(Cow::Borrowed(path), Cow::Owned)
}

impl Engine {
    /// Creates a file with an empty index and a random key for the hashes of ids.
    pub(crate) fn create(path: &Path, settings: &Settings) -> Result<()> {
        Self::create_with_key(path, settings, random_key())
    }

    /// Creates a file with an empty index and this key for the hashes of ids. The key should be
    /// secret, so that nobody can choose ids with equal hashes.
    pub(crate) fn create_with_key(path: &Path, settings: &Settings, id_key: u64) -> Result<()> {
        if path.symlink_metadata().is_ok() {
            return Err(already_exists(path));
        }
        NewFile::begin(path, &StoredSettings::new(settings, id_key, now()))?.finish()
    }

    fn write_empty_index(database: &Database, stored: &StoredSettings, path: &Path) -> Result<()> {
        let txn = database.begin_write().doing(path, ACTION)?;
        {
            let mut meta = txn.open_table(META).doing(path, ACTION)?;
            meta.insert(FORMAT_ROW, &format_row(FORMAT_VERSION)[..]).doing(path, ACTION)?;
            let fault = |fault: DecodeError| damaged(path, Table::Meta, SETTINGS_ROW, fault);
            meta.insert(SETTINGS_ROW, &stored.encode().map_err(fault)?[..]).doing(path, ACTION)?;
            meta.insert(STATE_ROW, &Counters::default().encode()[..]).doing(path, ACTION)?;
            let fingerprints = stored.has_passages().then_some(FINGERPRINTS);
            for table in [SIGNATURES, DOCUMENTS, TEXTS].into_iter().chain(fingerprints) {
                txn.open_table(table).doing(path, ACTION)?;
            }
            for table in [RUNS, FENCES] {
                txn.open_table(table).doing(path, ACTION)?;
            }
            txn.open_table(POSTINGS).doing(path, ACTION)?;
            txn.open_table(DEAD).doing(path, ACTION)?;
        }
        txn.commit().doing(path, ACTION)
    }

    /// Writes an empty index to an empty disk.
    #[cfg(test)]
    pub(crate) fn create_on(disk: Disk, settings: &Settings, id_key: u64) -> Result<()> {
        let path = Path::new(Disk::NAME);
        guard(path, || {
            let database = redb::Builder::new().create_with_backend(disk);
            let database = database.doing(path, ACTION)?;
            Self::write_empty_index(&database, &StoredSettings::new(settings, id_key, now()), path)
        })
    }
}

/// Syncs a folder, which makes a new directory entry durable.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { fs::File::open(folder)?.sync_all() } else { Ok(()) }
}
