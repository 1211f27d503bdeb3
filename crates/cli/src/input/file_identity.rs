//! The identity of a file, whichever path or link leads to it.

use crate::remote::{address, is_at_or_below, is_remote, is_same_address};
use std::fs::{File, Metadata};
use std::io::Read;
use std::path::{Path, PathBuf};

/// The identity of a file: device and inode, or its one path without links.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FileIdentity {
    #[cfg(unix)]
    Inode(u64, u64),
    #[cfg(not(unix))]
    Path(std::path::PathBuf),
}

impl FileIdentity {
    /// The identity of a file with this metadata; `None` if it cannot be told.
    #[cfg(unix)]
    pub fn of(_path: &Path, found: &Metadata) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        Some(Self::Inode(found.dev(), found.ino()))
    }

    /// The identity of a file with this metadata; `None` if it cannot be told.
    #[cfg(not(unix))]
    pub fn of(path: &Path, _found: &Metadata) -> Option<Self> {
        path.canonicalize().ok().map(Self::Path)
    }

    /// The identity of the file that a path leads to; `None` if there is none.
    pub fn of_path(path: &Path) -> Option<Self> {
        Self::of(path, &std::fs::metadata(path).ok()?)
    }
}

/// Whether there is an index at a path.
pub fn is_index(path: &Path) -> bool {
    let mut start = [0; twindex::FILE_MAGIC.len()];
    let is_file = std::fs::metadata(path).is_ok_and(|found| found.is_file());
    let read = |mut file: File| file.read_exact(&mut start);
    is_file && File::open(path).and_then(read).is_ok() && start == twindex::FILE_MAGIC
}

/// Whether two paths lead to the same file, also through links, or are one address.
pub fn same_file(a: &Path, b: &Path) -> bool {
    if is_remote(a) {
        return is_same_address(a, b);
    }
    FileIdentity::of_path(a).is_some_and(|a| Some(a) == FileIdentity::of_path(b))
}

/// Whether a path is one of these files, or in one of these folders, and so is read as an input; or
/// the same of addresses.
pub fn is_among(path: &Path, inputs: &[PathBuf]) -> bool {
    if let Some(output) = address(path) {
        let mut inputs = inputs.iter().filter_map(|input| address(input));
        return inputs.any(|input| is_at_or_below(output, input));
    }
    let whole = path.canonicalize().ok();
    let is_in = |folder: &Path| {
        let folder = folder.canonicalize().ok().filter(|folder| folder.is_dir());
        folder.zip(whole.as_ref()).is_some_and(|(folder, whole)| whole.starts_with(folder))
    };
    inputs.iter().any(|input| same_file(path, input) || is_in(input))
}
