//! The temporary copy of the index that `dedup --dry-run` writes to.

use crate::commands::dedup::options::Dedup;
use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::run::opening;
use anyhow::Context;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The names of the folders of dry runs begin so.
const PREFIX: &str = "twindex-dry-run-";

/// The file in such a folder that is locked while the run lasts.
const LOCK: &str = "lock";

/// A temporary copy of the index, so that a dry run leaves the index unchanged. Only its owner can
/// read it.
pub(crate) struct DryRun {
    /// The path of the copy.
    pub(crate) index: PathBuf,
    /// Declared before the folder, so that it is closed before the folder is deleted.
    _lock: File,
    /// Deletes the folder when it is dropped.
    _folder: TempDir,
}

impl DryRun {
    /// Copies the index of `args` to a temporary folder. Copies nothing if there is no index yet.
    pub(crate) fn copy_index(global: &GlobalOptions, args: &Dedup) -> Result<Self, Failure> {
        let (folder, lock) = private_folder().context("a temporary folder")?;
        remove_left(folder.path());
        let index = folder.path().join("trial.twx");
        if args.index.symlink_metadata().is_ok() {
            let options = args.settings.options_but_threshold();
            let open =
                opening::open(global, options, |options| options.open_read_only(&args.index))?;
            // A copy of the bytes would be torn if another process wrote them meanwhile.
            let copy = folder.path().join("copy.twx");
            open.snapshot()?.backup(&copy).run()?;
            let place = || index.display().to_string();
            only_for_owner(&copy).with_context(place)?;
            fs::rename(copy, &index).with_context(place)?;
        }
        Ok(Self { index, _lock: lock, _folder: folder })
    }
}

/// Makes a temporary folder that only its owner can enter, and locks it.
fn private_folder() -> io::Result<(TempDir, File)> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o700));
    }
    loop {
        let folder = builder.tempdir()?;
        let path = folder.path().join(LOCK);
        // Another run may take the folder for one that was left, until it is locked.
        match new_file(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            lock => {
                let lock = lock?;
                let is_taken = matches!(lock.try_lock(), Err(fs::TryLockError::WouldBlock));
                if !is_taken && path.exists() {
                    return Ok((folder, lock));
                }
            }
        }
    }
}

/// Creates a file that only its owner can read and write.
fn new_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options.open(path)
}

/// Lets only the owner read and write a file: the copy has the permissions of the index, which may
/// let others read it, or forbid to write.
fn only_for_owner(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(0o600))
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        Ok(())
    }
}

/// Removes the folders beside this one that killed dry runs of the same user have left.
fn remove_left(own: &Path) {
    let Some(parent) = own.parent() else { return };
    // Errors are ignored: the dry run does not depend on this.
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_named = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        if is_named && path != own && is_of_same_owner(&path, own) {
            remove_unlocked(&path);
        }
    }
}

/// Removes a folder unless its run still lasts.
fn remove_unlocked(folder: &Path) {
    match OpenOptions::new().read(true).write(true).open(folder.join(LOCK)) {
        Ok(lock) if lock.try_lock().is_ok() => {
            let _ = fs::remove_dir_all(folder);
        }
        // Its run has not locked it yet, or was killed before: only an empty folder is removed.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let _ = fs::remove_dir(folder);
        }
        _ => {}
    }
}

/// Whether a path is a folder, and no link, that belongs to the owner of another one.
fn is_of_same_owner(path: &Path, own: &Path) -> bool {
    let (Ok(found), Ok(own)) = (fs::symlink_metadata(path), fs::symlink_metadata(own)) else {
        return false;
    };
    #[cfg(unix)]
    let is_same = {
        use std::os::unix::fs::MetadataExt;
        found.uid() == own.uid()
    };
    #[cfg(not(unix))]
    let is_same = own.is_dir();
    found.is_dir() && is_same
}
