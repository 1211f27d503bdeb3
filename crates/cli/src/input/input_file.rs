//! A file that is read: on this machine, or behind an address.

use crate::remote::{RemoteFile, address};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// An open file.
#[derive(Clone)]
pub(super) enum InputFile {
    Local(Arc<Mutex<File>>),
    Remote(Arc<RemoteFile>),
}

/// Whether a file can be opened.
pub fn is_there(path: &Path) -> bool {
    InputFile::open(path).is_ok()
}

impl From<Arc<RemoteFile>> for InputFile {
    fn from(file: Arc<RemoteFile>) -> Self {
        Self::Remote(file)
    }
}

impl InputFile {
    /// Opens the file at a path or an address.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        Ok(match address(path) {
            Some(address) => Self::Remote(Arc::new(RemoteFile::open(address)?)),
            None => Self::local(File::open(path)?),
        })
    }

    /// A file on this machine.
    pub(super) fn local(file: File) -> Self {
        Self::Local(Arc::new(Mutex::new(file)))
    }

    /// Its length in bytes; `None` if it is a pipe or a device.
    pub(super) fn size(&self) -> io::Result<Option<u64>> {
        Ok(match self {
            Self::Local(file) => {
                let found = file.lock().unwrap_or_else(PoisonError::into_inner).metadata()?;
                found.is_file().then_some(found.len())
            }
            Self::Remote(file) => Some(file.size()),
        })
    }

    /// Reads it from its start to its end.
    pub(super) fn stream(&self) -> io::Result<Box<dyn Read + Send>> {
        Ok(match self {
            Self::Local(file) => {
                Box::new(file.lock().unwrap_or_else(PoisonError::into_inner).try_clone()?)
            }
            Self::Remote(file) => file.stream()?,
        })
    }

    /// Whether it can be read at any place.
    pub(super) fn is_seekable(&self) -> bool {
        match self {
            Self::Local(_) => self.size().is_ok_and(|size| size.is_some()),
            Self::Remote(file) => file.is_seekable(),
        }
    }

    /// Reads bytes at a place, fewer only at the end of the file or of what is read at once.
    #[cfg_attr(not(feature = "tables"), expect(dead_code, reason = "only tables are read so"))]
    pub(super) fn read_at(&self, place: u64, out: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Local(file) => {
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                file.seek(SeekFrom::Start(place))?;
                file.read(out)
            }
            Self::Remote(file) => file.read_at(place, out),
        }
    }
}
