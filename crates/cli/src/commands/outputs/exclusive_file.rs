//! A file that one run writes at a time: opened without following links, and locked.

use crate::input::FileIdentity;
use crate::run::failure::Failure;
use anyhow::{Context, anyhow};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;

/// Creates an empty file. A file that an earlier run has left is removed first: it may have other
/// names, so it is not emptied.
///
/// # Errors
///
/// Fails if another run writes the file, or if the name is that of a link, a folder or a device.
pub(crate) fn create(path: &Path) -> Result<File, Failure> {
    let place = || path.display().to_string();
    loop {
        if let Some(left) = open(path)? {
            fs::remove_file(path).with_context(place)?;
            drop(left);
        }
        match OpenOptions::new().read(true).write(true).create_new(true).open(path) {
            // Another run was faster.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            created => {
                let file = created.with_context(place)?;
                lock(&file, path)?;
                if has_name(&file, path) {
                    return Ok(file);
                }
            }
        }
    }
}

/// Opens the file that an earlier run has left; `None` if there is none. Writes nothing.
///
/// # Errors
///
/// Those of [`create`].
pub(super) fn open(path: &Path) -> Result<Option<File>, Failure> {
    let place = || path.display().to_string();
    loop {
        let found = match fs::symlink_metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            found => found.with_context(place)?,
        };
        if !found.is_file() {
            return Err(anyhow!(
                "{}: is a link or no file, so it is not written to; remove it, or name another \
                 output",
                place()
            )
            .into());
        }
        match OpenOptions::new().read(true).write(true).open(path) {
            // Another run has just given it its final name.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            opened => {
                let file = opened.with_context(place)?;
                lock(&file, path)?;
                if has_name(&file, path) {
                    return Ok(Some(file));
                }
            }
        }
    }
}

/// Locks a file until it is closed. On file systems without locks, nothing keeps two runs apart.
fn lock(file: &File, path: &Path) -> Result<(), Failure> {
    match file.try_lock() {
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(anyhow!(
            "{}: another run is writing it; wait until it has finished, or name another output",
            path.display()
        )
        .into()),
    }
}

/// Whether the name belongs to this file, and not to a link to it.
fn has_name(file: &File, path: &Path) -> bool {
    let (Ok(open), Ok(named)) = (file.metadata(), fs::symlink_metadata(path)) else {
        return false;
    };
    FileIdentity::of(path, &open) == FileIdentity::of(path, &named)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cause(result: Result<impl Sized, Failure>) -> String {
        match result {
            Err(Failure::Error(error)) => format!("{error:#}"),
            _ => "none".to_owned(),
        }
    }

    #[test]
    fn two_runs_never_have_one_file() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("out.part");
        let first = create(&path).ok().expect("created");
        for error in [cause(create(&path)), cause(open(&path))] {
            assert!(error.contains("another run is writing it"), "{error}");
        }
        drop(first);
        assert!(open(&path).ok().flatten().is_some());
        assert!(create(&path).is_ok());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_never_followed_and_a_file_of_two_names_keeps_its_content() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (path, target) = (folder.path().join("out.part"), folder.path().join("target"));
        fs::write(&target, "of somebody else").expect("written");
        for leads_to in ["target", "nowhere"] {
            std::os::unix::fs::symlink(leads_to, &path).expect("a link");
            for error in [cause(create(&path)), cause(open(&path))] {
                assert!(error.contains("is a link"), "{error}");
            }
            fs::remove_file(&path).expect("removed");
        }
        fs::hard_link(&target, &path).expect("a second name");
        assert!(create(&path).is_ok());
        assert_eq!(fs::read_to_string(&target).expect("there"), "of somebody else");
        assert!(!folder.path().join("nowhere").exists());
    }
}
