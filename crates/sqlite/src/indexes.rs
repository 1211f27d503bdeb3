//! The indexes that a connection reads. They stay open, so that a query costs no opening.

use crate::error::of_library;
use rusqlite::Result;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use twindex::{ReadOnlyIndex, Snapshot};

/// The path from the root.
fn absolute(path: &str) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| PathBuf::from(path))
}

#[derive(Clone, Default)]
pub(crate) struct Indexes(Arc<Mutex<HashMap<PathBuf, Arc<ReadOnlyIndex>>>>);

impl Indexes {
    /// The last commit of the index at a path.
    pub(crate) fn snapshot(&self, path: &str) -> Result<Arc<Snapshot>> {
        // The same relative path may mean another file after the program has changed its folder.
        let path = absolute(path);
        if let Some(Ok(snapshot)) = self.known(&path).map(|index| index.snapshot()) {
            return Ok(Arc::new(snapshot));
        }
        // What has failed is not used again: the file may have been replaced or mended.
        self.forget(&path);
        #[cfg(unix)]
        crate::databases::refuse_database(&path)?;
        let snapshot = self.open(path).and_then(|index| index.snapshot());
        snapshot.map(Arc::new).map_err(of_library)
    }

    /// Opens an index that could not be read anew when it is next asked.
    pub(crate) fn has_failed(&self, path: &str) {
        self.forget(&absolute(path));
    }

    fn forget(&self, path: &Path) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(path);
    }

    fn known(&self, path: &Path) -> Option<Arc<ReadOnlyIndex>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(path).cloned()
    }

    fn open(&self, path: PathBuf) -> twindex::Result<Arc<ReadOnlyIndex>> {
        // Above this number, indexes are opened anew: each takes memory and a file handle.
        const OPEN: usize = 16;
        let index = Arc::new(ReadOnlyIndex::open(&path)?);
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if open.len() >= OPEN {
            open.clear();
        }
        open.insert(path, Arc::clone(&index));
        Ok(index)
    }
}
