//! Keeps the extension from opening databases of SQLite.
//!
//! On POSIX systems a process loses all locks of a file when it closes any descriptor of it. If the
//! extension opened the database by mistake and closed it again, other processes could write to it
//! in the middle of a transaction.

use crate::error::failure;
use rusqlite::Result;
use std::collections::HashSet;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError};

/// What a database begins with.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// The databases that were found, which are still open and so stay the same files.
static FOUND: OnceLock<Mutex<HashSet<(u64, u64)>>> = OnceLock::new();

/// Fails if the file at a path belongs to a database. An empty file may become one.
pub(crate) fn refuse_database(path: &Path) -> Result<()> {
    let refused = |what: &str| {
        let path = path.display();
        Err(failure(format!("{path}: {what}, not a twindex index; name another file")))
    };
    let name = path.to_string_lossy();
    if ["-journal", "-wal", "-shm"].iter().any(|suffix| name.ends_with(suffix)) {
        return refused("has the name of a file that belongs to a database of SQLite");
    }
    let Ok(data) = fs::metadata(path) else { return Ok(()) };
    if !data.is_file() {
        return Ok(());
    }
    if data.len() == 0 {
        return refused("is empty");
    }
    let identity = identity(&data);
    let mut found =
        FOUND.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    if found.contains(&identity) {
        return refused("is a database of SQLite");
    }
    let Ok(mut file) = File::open(path) else { return Ok(()) };
    let mut first = [0; MAGIC.len()];
    if file.read_exact(&mut first).is_ok() && first == *MAGIC {
        // It must not be closed.
        std::mem::forget(file);
        found.insert(identity);
        return refused("is a database of SQLite");
    }
    Ok(())
}

fn identity(data: &fs::Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    (data.dev(), data.ino())
}
