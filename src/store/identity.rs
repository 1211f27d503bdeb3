//! Which file a name leads to: the file that is open, or another one that was put in its place.

use crate::error::{Error, Result};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Device and inode, which distinguish a file from another of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileIdentity {
    device: u64,
    inode: u64,
}

impl FileIdentity {
    /// `None` on systems without devices and inodes.
    #[cfg(unix)]
    fn of(found: &fs::Metadata) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        Some(Self { device: found.dev(), inode: found.ino() })
    }

    #[cfg(not(unix))]
    fn of(_: &fs::Metadata) -> Option<Self> {
        None
    }
}

/// An open file and the name under which it was opened. Remembers both, not the file itself.
#[derive(Clone, Debug)]
pub(crate) struct NamedFile {
    /// The path for messages, as the caller gave it.
    path: PathBuf,
    /// The same path from the root, so that it stays valid if the process changes its folder.
    absolute: PathBuf,
    identity: Option<FileIdentity>,
}

impl NamedFile {
    /// Remembers an open file and its name.
    pub(crate) fn new(file: &fs::File, path: &Path) -> io::Result<Self> {
        let absolute = std::path::absolute(path)?;
        let identity = FileIdentity::of(&file.metadata()?);
        Ok(Self { path: path.to_owned(), absolute, identity })
    }

    /// The path from the root.
    pub(crate) fn absolute(&self) -> &Path {
        &self.absolute
    }

    /// Whether the name still leads to the file. An error other than absence says nothing about it:
    /// a process may lose the permission to search a folder while a file in it is open.
    pub(crate) fn has_its_name(&self) -> bool {
        let Some(identity) = self.identity else { return true };
        match fs::metadata(&self.absolute) {
            Ok(found) => FileIdentity::of(&found) == Some(identity),
            Err(error) => {
                !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
            }
        }
    }

    /// Fails if the name leads to no file or to another one. `outcome` says what was done.
    pub(crate) fn check(&self, outcome: &'static str) -> Result<()> {
        if self.has_its_name() {
            Ok(())
        } else {
            Err(Error::Moved { path: self.path.clone(), outcome })
        }
    }
}
