//! Counts the bytes of a stream, and compares them with the records that come out of it.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A stream that counts its bytes as they are read. A file is counted as a whole, even if it is not
/// read to its end.
pub(super) struct Counted {
    stream: Box<dyn Read + Send>,
    /// The bytes of the file that are not counted yet.
    left: u64,
    /// The bytes of all streams since the last batch.
    counter: Arc<AtomicU64>,
    /// The bytes of this stream that were read.
    bytes: Arc<AtomicU64>,
}

impl Counted {
    /// Counts a stream. `left` is the size of a file.
    pub(super) fn new(stream: Box<dyn Read + Send>, left: u64, counter: &Arc<AtomicU64>) -> Self {
        Self { stream, left, counter: Arc::clone(counter), bytes: Arc::default() }
    }

    /// The bytes of this stream that were read so far.
    pub(super) fn bytes(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.bytes)
    }
}

impl Read for Counted {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.stream.read(out)?;
        self.left = self.left.saturating_sub(read as u64);
        self.counter.fetch_add(read as u64, Ordering::Relaxed);
        self.bytes.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.counter.fetch_add(self.left, Ordering::Relaxed);
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
