//! Writes to a file that wait for the next sync, so that neighbouring pages are written together.

use redb::{BackendError, StorageBackend};
use std::collections::BTreeMap;
use std::io;
use std::mem::take;
use std::ops::{Bound, Range};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockWriteGuard};

/// The most bytes that wait. With less, fewer pages meet their neighbours; more gains nothing.
const ROOM: usize = 8 << 20;

/// The most bytes that are written together. The kernel keeps them as one piece, and a larger piece
/// costs more later, when a page of it is written anew.
const TOGETHER: usize = 64 << 10;

/// A file whose writes wait until it is synced.
///
/// redb writes the pages of a commit one by one, out of order. A page of 4 KiB that is written
/// alone takes Linux four times as long as one of 16 that are written together, its sync twice
/// as long. Nothing depends on the order of writes between two syncs, and a write that was not synced
/// may be lost anyway.
#[derive(Debug)]
pub(super) struct GatheredWrites {
    file: Box<dyn StorageBackend>,
    gathered: RwLock<Gathered>,
    /// Whoever has it writes to the file, so that batches are written one after the other.
    turn: Mutex<()>,
    /// Whether something is gathered. It changes under the lock of `gathered`.
    has_gathered: AtomicBool,
}

/// Writes that are not all in the file.
#[derive(Debug, Default)]
struct Gathered {
    waiting: Batch,
    /// What is being written, or could not be. It came before all that waits.
    writing: Option<Arc<Batch>>,
}

impl Gathered {
    /// Whether some of these bytes of the file are not in it yet.
    fn overlaps(&self, at: u64, length: usize) -> bool {
        let batches = [Some(&self.waiting), self.writing.as_deref()];
        batches.into_iter().flatten().any(|batch| batch.overlaps(at, length))
    }
}

/// Writes that go to the file together.
#[derive(Debug, Default)]
struct Batch {
    bytes: Vec<u8>,
    /// Where each write goes, and where its bytes are. No two of them overlap in the file.
    places: BTreeMap<u64, Range<usize>>,
}

impl Batch {
    fn overlaps(&self, at: u64, length: usize) -> bool {
        let last = self.places.range(..at + length as u64).next_back();
        last.is_some_and(|(start, bytes)| start + bytes.len() as u64 > at)
    }

    /// Takes a write, if there is room and if it does not overlap one of another place or length.
    fn take(&mut self, at: u64, bytes: &[u8]) -> bool {
        if let Some(place) = self.places.get(&at).filter(|place| place.len() == bytes.len()) {
            if let Some(earlier) = self.bytes.get_mut(place.clone()) {
                earlier.copy_from_slice(bytes);
            }
            return true;
        }
        if self.bytes.len() + bytes.len() > ROOM || self.overlaps(at, bytes.len()) {
            return false;
        }
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        self.places.insert(at, start..self.bytes.len());
        true
    }

    /// Writes all in the order of the file, neighbours together.
    fn write(&self, file: &dyn StorageBackend) -> io::Result<()> {
        let (mut start, mut together) = (0, Vec::with_capacity(TOGETHER));
        for (at, place) in &self.places {
            let bytes = self.bytes.get(place.clone()).unwrap_or_default();
            let follows = start + together.len() as u64 == *at;
            if !follows || together.len() + bytes.len() > TOGETHER {
                if !together.is_empty() {
                    file.write(start, &together)?;
                }
                together.clear();
                start = *at;
            }
            together.extend_from_slice(bytes);
        }
        match together.is_empty() {
            true => Ok(()),
            false => file.write(start, &together),
        }
    }
}

impl GatheredWrites {
    pub(super) fn new(file: impl StorageBackend) -> Self {
        Self {
            file: Box::new(file),
            gathered: RwLock::default(),
            turn: Mutex::default(),
            has_gathered: AtomicBool::new(false),
        }
    }

    fn gathered(&self) -> RwLockWriteGuard<'_, Gathered> {
        self.gathered.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes what is gathered. What could not be written is written again next time. Other pages
    /// are read meanwhile.
    fn write_gathered(&self) -> io::Result<()> {
        if !self.has_gathered.load(Ordering::Acquire) {
            return Ok(());
        }
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let mut gathered = self.gathered();
            if gathered.writing.is_none() && !gathered.waiting.places.is_empty() {
                gathered.writing = Some(Arc::new(take(&mut gathered.waiting)));
            }
            let Some(batch) = gathered.writing.clone() else {
                self.has_gathered.store(false, Ordering::Release);
                return Ok(());
            };
            drop(gathered);
            batch.write(&*self.file)?;
            self.gathered().writing = None;
        }
    }
}

impl StorageBackend for GatheredWrites {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read(&self, at: u64, out: &mut [u8]) -> io::Result<()> {
        if self.has_gathered.load(Ordering::Acquire) {
            let gathered = self.gathered.read().unwrap_or_else(PoisonError::into_inner);
            let overlaps = gathered.overlaps(at, out.len());
            drop(gathered);
            if overlaps {
                self.write_gathered()?;
            }
        }
        self.file.read(at, out)
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.write_gathered()?;
        self.file.set_len(length)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.write_gathered()?;
        self.file.sync_data()
    }

    /// The header, at the start of the file, does not wait, because other processes read it as soon
    /// as redb gives its lock back. redb syncs all pages of a commit before it writes the header
    /// that publishes them. A page that is large enough by itself does not wait either.
    fn write(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        loop {
            let mut gathered = self.gathered();
            let waits = at > 0 && bytes.len() < TOGETHER;
            if !waits && !gathered.overlaps(at, bytes.len()) {
                drop(gathered);
                return self.file.write(at, bytes);
            }
            if waits && gathered.waiting.take(at, bytes) {
                self.has_gathered.store(true, Ordering::Release);
                return Ok(());
            }
            drop(gathered);
            self.write_gathered()?;
        }
    }

    /// What was not synced is not written any more: redb syncs what belongs to a commit, and after
    /// an error it closes the file as it is.
    fn close(&self) -> io::Result<()> {
        self.file.close()
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.try_lock_range(start, end)
    }

    fn try_lock_shared_range(
        &self,
        start: Bound<u64>,
        end: Bound<u64>,
    ) -> Result<bool, BackendError> {
        self.file.try_lock_shared_range(start, end)
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.lock_range(start, end)
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.lock_shared_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.unlock_range(start, end)
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.query_lock_range(start, end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::sim::disk::{Call, Disk, DiskFailure, Event};
    use proptest::prelude::*;

    const PAGE: u64 = 512;

    fn file() -> (GatheredWrites, Disk) {
        let disk = Disk::default();
        let file = GatheredWrites::new(disk.clone());
        file.set_len(64 * PAGE).expect("a length");
        disk.record();
        (file, disk)
    }

    fn read(file: &GatheredWrites, at: u64, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        file.read(at, &mut bytes).expect("bytes");
        bytes
    }

    #[derive(Clone, Debug)]
    enum Act {
        Write(u64, usize, u8),
        Read(u64, usize),
        Resize(u64),
        Sync,
    }

    fn acts() -> impl Strategy<Value = Vec<Act>> {
        let act = prop_oneof![
            8 => (0..32_u64, 1..4_usize, any::<u8>()).prop_map(|(a, b, c)| Act::Write(a, b, c)),
            3 => (0..32_u64, 1..4_usize).prop_map(|(a, b)| Act::Read(a, b)),
            1 => (40..64_u64).prop_map(Act::Resize),
            1 => Just(Act::Sync),
        ];
        proptest::collection::vec(act, 0..200)
    }

    proptest! {
        #[test]
        fn every_read_and_every_sync_finds_what_was_written(acts in acts()) {
            let (file, disk) = file();
            let mut expected = disk.bytes();
            for act in acts {
                match act {
                    Act::Write(page, pages, byte) => {
                        let (at, bytes) = (page * PAGE, vec![byte; pages * PAGE as usize]);
                        file.write(at, &bytes).expect("a write");
                        let place = at as usize..at as usize + bytes.len();
                        expected.splice(place, bytes);
                    }
                    Act::Read(page, pages) => {
                        let (at, length) = (page * PAGE, pages * PAGE as usize);
                        let place = at as usize..at as usize + length;
                        prop_assert!(Some(&read(&file, at, length)[..]) == expected.get(place));
                    }
                    Act::Resize(pages) => {
                        file.set_len(pages * PAGE).expect("a length");
                        expected.resize((pages * PAGE) as usize, 0);
                    }
                    Act::Sync => {
                        file.sync_data().expect("a sync");
                        prop_assert!(disk.bytes() == expected);
                    }
                }
            }
            file.sync_data().expect("a sync");
            file.close().expect("closed");
            prop_assert!(disk.bytes() == expected);
        }
    }

    #[test]
    fn neighbours_are_written_together_and_the_header_at_once() {
        let (file, disk) = file();
        for page in [9_u64, 4, 3, 5, 8] {
            file.write(page * PAGE, &[page as u8; PAGE as usize]).expect("a write");
        }
        assert!(disk.bytes().iter().all(|byte| *byte == 0));
        file.write(0, &[1; 320]).expect("a write");
        file.sync_data().expect("a sync");
        let events = disk.events().into_iter().map(|event| match event {
            Event::Write { at, bytes } => (at / PAGE, bytes.len()),
            _ => (0, 0),
        });
        assert_eq!(events.collect::<Vec<_>>(), [(0, 320), (3, 3 * 512), (8, 2 * 512), (0, 0)]);
    }

    #[test]
    fn a_write_that_fails_still_waits() {
        let (file, disk) = file();
        file.write(PAGE, &[7; PAGE as usize]).expect("a write");
        file.write(3 * PAGE, &[8; PAGE as usize]).expect("a write");
        disk.set_failure(Some(DiskFailure { call: Call::Write, after: 1, lasting: true }));
        assert!(file.sync_data().is_err());
        disk.set_failure(None);
        assert_eq!(read(&file, 3 * PAGE, PAGE as usize), [8; PAGE as usize]);
        file.sync_data().expect("a sync");
        assert_eq!(disk.bytes().get(PAGE as usize), Some(&7));
    }

    #[test]
    fn what_waits_is_bounded_and_a_large_page_does_not_wait() {
        let (file, disk) = file();
        file.set_len(3 * ROOM as u64).expect("a length");
        file.write(PAGE, &[3; TOGETHER]).expect("a write");
        assert_eq!(disk.bytes().get(PAGE as usize), Some(&3));
        let page = [1; TOGETHER / 2];
        for at in (TOGETHER..2 * ROOM).step_by(TOGETHER / 2) {
            file.write(at as u64, &page).expect("a write");
        }
        let waits = file.gathered.read().expect("no panic").waiting.bytes.len();
        assert!(waits <= ROOM, "{waits} bytes");
        file.write(2 * ROOM as u64 - 512, &[2; TOGETHER]).expect("a write over one that waits");
        file.sync_data().expect("a sync");
        assert_eq!(disk.bytes().get(2 * ROOM - 513..2 * ROOM - 511), Some(&[1, 2][..]));
    }
}
