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

/// The most records that a compressed stream may have for each of its bytes.
///
/// A byte of zstd can become 30,000 blank lines, and each of them a document of some hundred bytes.
/// Lines of ten bytes that compress a thousand times are 100 for each byte. Logs have longer lines.
const RECORDS_PER_BYTE: u64 = 200;

/// The records that any compressed stream may have, so that a small file of equal lines is read.
const RECORDS_OF_ANY: u64 = 1 << 16;

/// How many records a stream has for its bytes.
#[derive(Default)]
pub(super) struct Density {
    records: u64,
    /// The bytes that were read so far; `None` if the stream is not compressed.
    bytes: Option<Arc<AtomicU64>>,
}

impl Density {
    /// Begins to count the records of a stream. The bytes are those of a compressed stream.
    pub(super) fn of(bytes: Option<Arc<AtomicU64>>) -> Self {
        Self { records: 0, bytes }
    }

    /// Takes account of more records. Returns why the rest of the stream is refused, if it is.
    pub(super) fn add(&mut self, records: u64) -> Option<String> {
        self.records += records;
        let bytes = self.bytes.as_ref()?.load(Ordering::Relaxed);
        let most = RECORDS_OF_ANY.max(RECORDS_PER_BYTE.saturating_mul(bytes));
        (self.records > most).then(|| {
            format!(
                "has more than {RECORDS_PER_BYTE} records for each of its compressed bytes, so the \
                 rest is left out; decompress it first if that is right"
            )
        })
    }
}
