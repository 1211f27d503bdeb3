//! Counts the bytes of a stream, and compares them with the records that come out of it.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts the bytes of an input. A file is counted as a whole, even if it is not read to its end.
pub(super) struct Count {
    /// The bytes of the file that are not counted yet.
    left: AtomicU64,
    /// The bytes of all inputs since the last batch.
    counter: Arc<AtomicU64>,
}

impl Count {
    /// Takes bytes from those that are not counted yet. Returns how many of them there were.
    fn take(&self, bytes: u64) -> u64 {
        let rest = |left: u64| Some(left.saturating_sub(bytes));
        let before = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, rest);
        before.unwrap_or_default().min(bytes)
    }

    /// Counts the next bytes of a stream, which may be longer than it was.
    fn add(&self, bytes: u64) {
        self.take(bytes);
        self.counter.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Counts bytes of a file that is read in any order, unless the whole file is counted already.
    #[cfg_attr(not(feature = "tables"), expect(dead_code, reason = "only tables are read so"))]
    pub(super) fn add_some(&self, bytes: u64) {
        self.counter.fetch_add(self.take(bytes), Ordering::Relaxed);
    }
}

impl Drop for Count {
    fn drop(&mut self) {
        self.counter.fetch_add(*self.left.get_mut(), Ordering::Relaxed);
    }
}

/// A stream that counts its bytes as they are read.
pub(super) struct Counted {
    stream: Box<dyn Read + Send>,
    count: Arc<Count>,
    /// The bytes of this stream that were read.
    bytes: Arc<AtomicU64>,
}

impl Counted {
    /// Counts a stream. `left` is the size of a file.
    pub(super) fn new(stream: Box<dyn Read + Send>, left: u64, counter: &Arc<AtomicU64>) -> Self {
        let count = Count { left: AtomicU64::new(left), counter: Arc::clone(counter) };
        Self { stream, count: Arc::new(count), bytes: Arc::default() }
    }

    /// What counts the bytes of this stream.
    pub(super) fn count(&self) -> Arc<Count> {
        Arc::clone(&self.count)
    }

    /// The bytes of this stream that were read so far.
    pub(super) fn read_so_far(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.bytes)
    }
}

impl Read for Counted {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.stream.read(out)?;
        self.count.add(read as u64);
        self.bytes.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}
