//! Writes to a file that wait for the next sync, so that neighbouring pages are written together.

use redb::StorageBackend;
use std::collections::BTreeMap;
use std::io;
use std::mem::take;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockWriteGuard};

/// The most bytes that wait. With less, fewer pages meet their neighbours; more gains nothing.
const ROOM: usize = 8 << 20;

/// The most bytes that are written together. The kernel keeps them as one piece, and a larger piece
/// costs more later, when a page of it is written anew.
const TOGETHER: usize = 64 << 10;

/// What is written to a file and waits until it is synced. All methods take the same file.
///
/// redb writes the pages of a commit one by one, out of order. A page of 4 KiB that is written
/// alone takes Linux four times as long as one of 16 that are written together, its sync twice as
/// long. Nothing depends on the order of writes between two syncs, and a write that was not synced
/// may be lost anyway. Closing the file drops what was not synced: redb syncs what belongs to a
/// commit, and after an error it closes the file as it is.
#[derive(Debug, Default)]
pub(super) struct GatheredWrites {
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

    /// Forgets what was being written. What is gathered next goes into the same buffer: growing
    /// another one would take longer than filling it.
    fn is_written(&mut self, batch: Arc<Batch>) {
        self.writing = None;
        if let Some(mut written) = Arc::into_inner(batch).filter(|_| self.waiting.is_empty()) {
            written.clear();
            self.waiting = written;
        }
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
    fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.places.clear();
    }

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
        if together.is_empty() { Ok(()) } else { file.write(start, &together) }
    }
}

impl GatheredWrites {
    fn gathered(&self) -> RwLockWriteGuard<'_, Gathered> {
        self.gathered.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes what is gathered. What could not be written is written again next time. Other pages
    /// are read meanwhile.
    pub(super) fn flush(&self, file: &dyn StorageBackend) -> io::Result<()> {
        if !self.has_gathered.load(Ordering::Acquire) {
            return Ok(());
        }
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let mut gathered = self.gathered();
            if gathered.writing.is_none() && !gathered.waiting.is_empty() {
                gathered.writing = Some(Arc::new(take(&mut gathered.waiting)));
            }
            let Some(batch) = gathered.writing.clone() else {
                self.has_gathered.store(false, Ordering::Release);
                return Ok(());
            };
            drop(gathered);
            batch.write(file)?;
            self.gathered().is_written(batch);
        }
    }

    /// Reads from the file, after what is gathered of these bytes was written.
    pub(super) fn read(
        &self,
        file: &dyn StorageBackend,
        at: u64,
        out: &mut [u8],
    ) -> io::Result<()> {
        if self.has_gathered.load(Ordering::Acquire) {
            let gathered = self.gathered.read().unwrap_or_else(PoisonError::into_inner);
            let overlaps = gathered.overlaps(at, out.len());
            drop(gathered);
            if overlaps {
                self.flush(file)?;
            }
        }
        file.read(at, out)
    }

    /// Gathers a write.
    ///
    /// The header, at the start of the file, does not wait, because other processes read it as soon
    /// as redb gives its lock back. redb syncs all pages of a commit before it writes the header
    /// that publishes them. A page that is large enough by itself does not wait either.
    pub(super) fn write(&self, file: &dyn StorageBackend, at: u64, bytes: &[u8]) -> io::Result<()> {
        loop {
            let mut gathered = self.gathered();
            let waits = at > 0 && bytes.len() < TOGETHER;
            if !waits && !gathered.overlaps(at, bytes.len()) {
                drop(gathered);
                return file.write(at, bytes);
            }
            if waits && gathered.waiting.take(at, bytes) {
                self.has_gathered.store(true, Ordering::Release);
                return Ok(());
            }
            drop(gathered);
            self.flush(file)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::sim::disk::{Call, Disk, DiskFailure, Event};
    use proptest::prelude::*;

    const PAGE: u64 = 512;

    /// A file whose writes are gathered.
    struct File {
        writes: GatheredWrites,
        disk: Disk,
    }

    impl File {
        fn new() -> Self {
            let file = Self { writes: GatheredWrites::default(), disk: Disk::default() };
            file.set_len(64 * PAGE);
            file.disk.record();
            file
        }

        fn set_len(&self, length: u64) {
            self.writes.flush(&self.disk).expect("a flush");
            self.disk.set_len(length).expect("a length");
        }

        fn read(&self, at: u64, length: usize) -> Vec<u8> {
            let mut bytes = vec![0; length];
            self.writes.read(&self.disk, at, &mut bytes).expect("bytes");
            bytes
        }

        fn write(&self, at: u64, bytes: &[u8]) {
            self.writes.write(&self.disk, at, bytes).expect("a write");
        }

        fn flush(&self) {
            self.writes.flush(&self.disk).expect("a flush");
        }
    }

    #[derive(Clone, Debug)]
    enum Act {
        Write(u64, usize, u8),
        Read(u64, usize),
        Resize(u64),
        Flush,
    }

    fn acts() -> impl Strategy<Value = Vec<Act>> {
        let act = prop_oneof![
            8 => (0..32_u64, 1..4_usize, any::<u8>()).prop_map(|(a, b, c)| Act::Write(a, b, c)),
            3 => (0..32_u64, 1..4_usize).prop_map(|(a, b)| Act::Read(a, b)),
            1 => (40..64_u64).prop_map(Act::Resize),
            1 => Just(Act::Flush),
        ];
        proptest::collection::vec(act, 0..200)
    }

    proptest! {
        #[test]
        fn every_read_and_every_flush_finds_what_was_written(acts in acts()) {
            let file = File::new();
            let mut expected = file.disk.bytes();
            for act in acts {
                match act {
                    Act::Write(page, pages, byte) => {
                        let (at, bytes) = (page * PAGE, vec![byte; pages * PAGE as usize]);
                        file.write(at, &bytes);
                        let place = at as usize..at as usize + bytes.len();
                        expected.splice(place, bytes);
                    }
                    Act::Read(page, pages) => {
                        let (at, length) = (page * PAGE, pages * PAGE as usize);
                        let place = at as usize..at as usize + length;
                        prop_assert!(Some(&file.read(at, length)[..]) == expected.get(place));
                    }
                    Act::Resize(pages) => {
                        file.set_len(pages * PAGE);
                        expected.resize((pages * PAGE) as usize, 0);
                    }
                    Act::Flush => {
                        file.flush();
                        prop_assert!(file.disk.bytes() == expected);
                    }
                }
            }
            file.flush();
            prop_assert!(file.disk.bytes() == expected);
        }
    }

    #[test]
    fn neighbours_are_written_together_and_the_header_at_once() {
        let file = File::new();
        for page in [9_u64, 4, 3, 5, 8] {
            file.write(page * PAGE, &[page as u8; PAGE as usize]);
        }
        assert!(file.disk.bytes().iter().all(|byte| *byte == 0));
        file.write(0, &[1; 320]);
        file.flush();
        let events = file.disk.events().into_iter().map(|event| match event {
            Event::Write { at, bytes } => (at / PAGE, bytes.len()),
            _ => (0, 0),
        });
        assert_eq!(events.collect::<Vec<_>>(), [(0, 320), (3, 3 * 512), (8, 2 * 512)]);
    }

    #[test]
    fn what_is_gathered_next_has_the_buffer_of_what_was_written() {
        let file = File::new();
        let buffer = || file.writes.gathered.read().expect("no panic").waiting.bytes.as_ptr();
        file.write(PAGE, &[1; 8 * PAGE as usize]);
        let first = buffer();
        file.flush();
        file.write(20 * PAGE, &[2; PAGE as usize]);
        assert_eq!(buffer(), first);
        file.flush();
        assert_eq!(file.read(20 * PAGE, PAGE as usize), [2; PAGE as usize]);
    }

    #[test]
    fn a_write_that_fails_still_waits() {
        let file = File::new();
        file.write(PAGE, &[7; PAGE as usize]);
        file.write(3 * PAGE, &[8; PAGE as usize]);
        file.disk.set_failure(Some(DiskFailure { call: Call::Write, after: 1, lasting: true }));
        assert!(file.writes.flush(&file.disk).is_err());
        file.disk.set_failure(None);
        assert_eq!(file.read(3 * PAGE, PAGE as usize), [8; PAGE as usize]);
        file.flush();
        assert_eq!(file.disk.bytes().get(PAGE as usize), Some(&7));
    }

    #[test]
    fn what_waits_is_bounded_and_a_large_page_does_not_wait() {
        let file = File::new();
        file.set_len(3 * ROOM as u64);
        file.write(PAGE, &[3; TOGETHER]);
        assert_eq!(file.disk.bytes().get(PAGE as usize), Some(&3));
        let page = [1; TOGETHER / 2];
        for at in (TOGETHER..2 * ROOM).step_by(TOGETHER / 2) {
            file.write(at as u64, &page);
        }
        let waits = file.writes.gathered.read().expect("no panic").waiting.bytes.len();
        assert!(waits <= ROOM, "{waits} bytes");
        file.write(2 * ROOM as u64 - 512, &[2; TOGETHER]);
        file.flush();
        assert_eq!(file.disk.bytes().get(2 * ROOM - 513..2 * ROOM - 511), Some(&[1, 2][..]));
    }
}
