//! Keeps the extension from opening databases of SQLite.
//!
//! On POSIX systems a process loses all locks of a file when it closes any descriptor of it. If the
//! extension opened the database by mistake and closed it again, other processes could write to it
//! in the middle of a transaction.

use crate::error::failure;
use rusqlite::Result;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, TryLockError};

/// What a database begins with.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// A file, whatever its name.
type Identity = (u64, u64);

/// The databases that were found, which are still open and so stay the same files.
static FOUND: Mutex<BTreeSet<Identity>> = Mutex::new(BTreeSet::new());

/// Those that were found, unless another thread looks at them. Waits for nobody: a forked child has
/// a copy of the lock, and if a thread of its parent had locked it, nobody unlocks the copy.
fn found() -> Option<MutexGuard<'static, BTreeSet<Identity>>> {
    match FOUND.try_lock() {
        Ok(found) => Some(found),
        Err(TryLockError::Poisoned(found)) => Some(found.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

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
    if found().is_some_and(|found| found.contains(&identity)) {
        return refused("is a database of SQLite");
    }
    let Ok(mut file) = File::open(path) else { return Ok(()) };
    let mut first = [0; MAGIC.len()];
    if file.read_exact(&mut first).is_ok() && first == *MAGIC {
        // It must not be closed. One that cannot be noted is opened again the next time.
        std::mem::forget(file);
        if let Some(mut found) = found() {
            found.insert(identity);
        }
        return refused("is a database of SQLite");
    }
    Ok(())
}

fn identity(data: &fs::Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    (data.dev(), data.ino())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::Duration;

    #[test]
    fn a_database_is_refused_while_another_thread_has_the_lock() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("database");
        fs::write(&path, b"SQLite format 3\0 and more").expect("written");
        let _locked = FOUND.lock().expect("locked");
        let (send, refused) = channel();
        thread::spawn(move || send.send(refuse_database(&path).is_err()));
        let refused = refused.recv_timeout(Duration::from_secs(20));
        assert_eq!(refused, Ok(true), "it waits for a thread that a forked child does not have");
    }
}
