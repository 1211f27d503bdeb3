//! The queue of processes that wait to write to a file: first come, first served.
//!
//! A place in the queue is a locked byte far behind the end of the file. A process begins at the
//! last place and moves up by locking the next place before it leaves its own, so nobody overtakes
//! it. Whoever has the first place tries to open the file. The system unlocks the byte of a process
//! that ends.

use redb::StorageBackend;
use redb::backends::FileBackend;
use std::fs;
use std::ops::Bound;
use std::path::Path;

/// The byte of the first place. redb's own locks begin after the last place.
const FIRST: u64 = (1 << 62) - PLACES;
/// More processes than this wait in no particular order for the last place.
const PLACES: u64 = 64;

fn bytes(places: std::ops::Range<u64>) -> (Bound<u64>, Bound<u64>) {
    (Bound::Included(FIRST + places.start), Bound::Excluded(FIRST + places.end))
}

/// The place of this process in the queue of a file.
#[derive(Debug)]
pub(crate) struct Place {
    file: FileBackend,
    /// The place; `PLACES` before the process has one.
    at: u64,
}

impl Place {
    /// Joins the queue of a file. `None` if the file cannot be opened to be written.
    pub(crate) fn join(path: &Path) -> Option<Self> {
        let file = fs::OpenOptions::new().read(true).write(true).open(path).ok()?;
        Some(Self { file: FileBackend::new(file).ok()?, at: PLACES })
    }

    /// Whether nobody else is in the queue.
    pub(crate) fn is_alone(&self) -> bool {
        let (first, end) = bytes(0..PLACES);
        // Where bytes cannot be locked, there is no queue.
        !matches!(self.file.query_lock_range(first, end), Ok(true))
    }

    /// Moves up as far as places are free. Returns whether this is the first place.
    pub(crate) fn move_up(&mut self) -> bool {
        while let Some(next) = self.at.checked_sub(1) {
            let (first, end) = bytes(next..self.at);
            match self.file.try_lock_range(first, end) {
                Ok(true) => {}
                Ok(false) => return false,
                Err(_) => return true,
            }
            let (first, end) = bytes(self.at..self.at + 1);
            if self.at < PLACES && self.file.unlock_range(first, end).is_err() {
                return true;
            }
            self.at = next;
        }
        true
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // Closing the file would unlock it too.
        let _ = self.file.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_overtaken_and_one_who_leaves_lets_the_next_one_move_up() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("file");
        fs::write(&path, "some bytes").expect("written");
        let join = || Place::join(&path).expect("joined");
        let (mut one, mut two, mut three) = (join(), join(), join());
        assert!(one.is_alone());
        assert!(one.move_up() && !two.move_up() && !three.move_up());
        assert!(!three.is_alone());
        drop(one);
        assert!(!three.move_up(), "the second one is before it");
        assert!(two.move_up());
        drop(two);
        assert!(three.move_up());
    }
}
