//! The space that snapshots keep from being used again, and since when: of all processes.
//!
//! redb locks a byte for each commit that a process reads. Beside it, each snapshot locks a byte
//! for the second in which it was taken. The bytes lie far behind the end of the file, and the
//! system unlocks those of a process that ends, so nothing is left of it.

use crate::store::bytes::time::now;
use crate::store::lock::lock;
use crate::store::pages::header::{HEADER_BYTES, Header, Slot};
use crate::store::pages::page::{Named, PageNumber, STORAGE, Shape};
use crate::store::pages::walk::{Met, Tree, walk};
use redb::StorageBackend;
use redb::backends::FileBackend;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::ops::Bound;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// The byte of the first second of 1970.
const SECONDS: u64 = 1 << 61;
/// The byte of redb's commit 0.
const COMMITS: u64 = (1 << 62) + 1024;
/// redb's table of pages that a commit has freed, by the number of the commit.
const FREED: &[u8] = b"data_pages_unreachable";

/// What snapshots keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HeldSpace {
    pub(crate) bytes: u64,
    /// When the oldest snapshot was taken, in seconds since 1970.
    pub(crate) since: i64,
}

/// The snapshots of this process, for which it locks bytes.
#[derive(Debug)]
pub(crate) struct Snapshots {
    file: FileBackend,
    /// The number of snapshots by the second in which they were taken.
    taken: Mutex<BTreeMap<u64, usize>>,
}

/// A snapshot, as long as it lives.
#[derive(Debug)]
pub(crate) struct SnapshotMark {
    snapshots: Arc<Snapshots>,
    second: u64,
}

impl Snapshots {
    /// Opens the file once more, so that its locks are apart from those of redb.
    pub(crate) fn open(path: &Path) -> io::Result<Arc<Self>> {
        let file = FileBackend::new(fs::File::open(path)?).map_err(io::Error::other)?;
        Ok(Arc::new(Self { file, taken: Mutex::default() }))
    }

    /// Marks a snapshot that is taken now.
    pub(crate) fn mark(self: &Arc<Self>) -> SnapshotMark {
        let second = u64::try_from(now()).unwrap_or(0);
        let mut taken = lock(&self.taken);
        let count = taken.entry(second).or_insert(0);
        *count += 1;
        if *count == 1 {
            // Where bytes cannot be locked, nobody tells others of a snapshot.
            let (first, end) = byte(SECONDS + second);
            let _ = self.file.try_lock_shared_range(first, end);
        }
        SnapshotMark { snapshots: Arc::clone(self), second }
    }

    fn unmark(&self, second: u64) {
        let mut taken = lock(&self.taken);
        let Some(count) = taken.get_mut(&second) else { return };
        *count -= 1;
        if *count == 0 {
            taken.remove(&second);
            let (first, end) = byte(SECONDS + second);
            let _ = self.file.unlock_range(first, end);
        }
    }

    /// What snapshots of all processes keep. `None` if there are none, and if a commit comes in
    /// between: redb's list of free pages may then not be read.
    pub(crate) fn held(&self) -> io::Result<Option<HeldSpace>> {
        let Some(slot) = self.header()?.and_then(|header| header.primary) else { return Ok(None) };
        // The locks of redb in this process are those of another opening, so they are found too.
        let Some(oldest) = self.lowest(COMMITS, slot.id)? else { return Ok(None) };
        let present = u64::try_from(now()).unwrap_or(0);
        let own = lock(&self.taken).keys().next().copied();
        let others = self.lowest(SECONDS, present)?;
        let Some(since) = own.into_iter().chain(others).min() else { return Ok(None) };
        let bytes = self.freed_after(oldest, &slot)?;
        let is_last = self.header()?.is_some_and(|header| header.is_last(&slot));
        let since = i64::try_from(since).unwrap_or(i64::MAX);
        Ok(Some(HeldSpace { bytes, since }).filter(|_| is_last))
    }

    /// The length of the file, whatever its name leads to by now.
    pub(crate) fn file_bytes(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn header(&self) -> io::Result<Option<Header>> {
        let mut bytes = [0; HEADER_BYTES];
        self.file.read(0, &mut bytes)?;
        Ok(Header::read(&bytes))
    }

    /// The least number of which others have locked the byte.
    fn lowest(&self, base: u64, greatest: u64) -> io::Result<Option<u64>> {
        let is_locked = |first: u64, last: u64| {
            let (start, end) = (Bound::Included(base + first), Bound::Included(base + last));
            match self.file.query_lock_range(start, end) {
                Ok(locked) => Ok(locked),
                Err(redb::BackendError::Io(error)) => Err(error),
                Err(_) => Ok(false),
            }
        };
        let (mut low, mut high) = (0, greatest);
        if !is_locked(low, high)? {
            return Ok(None);
        }
        while low < high {
            let middle = low + (high - low) / 2;
            if is_locked(low, middle)? { high = middle } else { low = middle + 1 }
        }
        Ok(Some(low))
    }

    /// The bytes of the pages that commits after this one have freed.
    fn freed_after(&self, oldest: u64, slot: &Slot) -> io::Result<u64> {
        let storage = Slot { tables: None, ..*slot };
        let mut freed: Option<(Named, Shape)> = None;
        let met = walk(&self.file, Tree::of(&storage), false, &mut |met| {
            if let Met::Leaf(leaf) = met {
                let tables = leaf.page.tables().find(|(name, ..)| *name == FREED);
                freed = freed.or(tables.map(|(_, root, shape)| (root, shape)));
            }
            Ok(())
        });
        met.map_err(io::Error::other)??;
        let Some((root, shape)) = freed else { return Ok(0) };
        let mut bytes = 0;
        let tree = Tree { root, table: STORAGE, shape };
        let met = walk(&self.file, vec![tree], false, &mut |met| {
            if let Met::Leaf(leaf) = met {
                let rows = leaf.page.rows().filter(|(key, _)| number(key) > Some(oldest));
                bytes += rows.map(|(_, pages)| pages_of(pages)).sum::<u64>();
            }
            Ok(())
        });
        met.map_err(io::Error::other)??;
        Ok(bytes)
    }
}

impl Drop for Snapshots {
    fn drop(&mut self) {
        let _ = self.file.close();
    }
}

impl Drop for SnapshotMark {
    fn drop(&mut self) {
        self.snapshots.unmark(self.second);
    }
}

fn byte(at: u64) -> (Bound<u64>, Bound<u64>) {
    (Bound::Included(at), Bound::Included(at))
}

fn number(bytes: &[u8]) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(..8)?.try_into().ok()?))
}

/// The bytes of the pages in a list: their number in 2 bytes, and 8 bytes a page.
fn pages_of(list: &[u8]) -> u64 {
    let count = list.get(..2).and_then(|count| Some(u16::from_le_bytes(count.try_into().ok()?)));
    let pages = list.get(2..).unwrap_or_default().chunks_exact(8).take(count.unwrap_or(0).into());
    let length = |page: &[u8]| {
        let bytes = PageNumber(number(page)?).bytes()?;
        Some(bytes.end - bytes.start)
    };
    pages.filter_map(length).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::sim::testing::{filled, insert};

    #[test]
    fn a_snapshot_holds_what_later_commits_free_until_it_is_dropped() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let engine = filled(&folder, 500);
        // A merge that is still prepared reads an earlier commit, and holds what that has.
        drop(engine.merged_ahead().expect("prepared"));
        let snapshots = Snapshots::open(&folder.path().join("x.twx")).expect("opened");
        assert_eq!(snapshots.held().expect("read"), None);
        let before = now();
        let reader = engine.read().expect("a reader");
        let held = snapshots.held().expect("read").expect("a snapshot");
        assert_eq!(held.bytes, 0);
        insert(&engine, 0..500);
        let held = snapshots.held().expect("read").expect("a snapshot");
        assert!(held.bytes > 100_000, "{held:?}");
        assert!((before..=now()).contains(&held.since), "{held:?}");
        drop(reader);
        assert_eq!(snapshots.held().expect("read"), None);
    }
}
