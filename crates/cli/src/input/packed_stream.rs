//! Gives up a compressed stream that has more records than its size can explain. Batches are read
//! before earlier ones are parsed, so more of the stream may have been read by then.

use super::record::BadRecord;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The most records that a compressed stream may have for each of its bytes.
///
/// A byte of zstd can become 30,000 blank lines, and each of them a document of some hundred bytes.
/// Lines of ten bytes that compress a thousand times are 100 for each byte. Logs have longer lines.
const RECORDS_PER_BYTE: u64 = 200;

/// The records that any compressed stream may have, so that a small file of equal lines is read.
const RECORDS_OF_ANY: u64 = 1 << 16;

/// A compressed stream that is being read.
pub(super) struct PackedStream {
    place: String,
    /// The compressed bytes that were read so far.
    bytes: Arc<AtomicU64>,
    is_refused: AtomicBool,
}

impl PackedStream {
    pub(super) fn new(place: String, bytes: Arc<AtomicU64>) -> Arc<Self> {
        Arc::new(Self { place, bytes, is_refused: AtomicBool::new(false) })
    }

    /// Whether its rest is left out.
    pub(super) fn is_refused(&self) -> bool {
        self.is_refused.load(Ordering::Relaxed)
    }

    /// The limit for the batch that was just read.
    pub(super) fn limit(self: &Arc<Self>) -> RecordLimit {
        let bytes = self.bytes.load(Ordering::Relaxed);
        let most = RECORDS_OF_ANY.max(RECORDS_PER_BYTE.saturating_mul(bytes));
        RecordLimit { stream: Arc::clone(self), most }
    }

    /// A limit that the error at the end of the stream cannot exceed.
    pub(super) fn no_limit(self: &Arc<Self>) -> RecordLimit {
        RecordLimit { stream: Arc::clone(self), most: u64::MAX }
    }
}

/// The records that a compressed stream may have up to the end of a batch.
pub struct RecordLimit {
    stream: Arc<PackedStream>,
    most: u64,
}

impl RecordLimit {
    /// Whether the batch is of a stream that was given up at an earlier batch.
    pub fn is_refused(&self) -> bool {
        self.stream.is_refused()
    }
}

/// Counts the records of compressed streams, batch by batch in order.
#[derive(Default)]
pub struct RecordCount {
    /// The stream of the last batch.
    stream: Option<Arc<PackedStream>>,
    records: u64,
}

impl RecordCount {
    /// Takes account of the records of a batch of a compressed stream. Returns why the rest of the
    /// stream is refused, if it is.
    pub fn add(&mut self, limit: &RecordLimit, records: u64) -> Option<BadRecord> {
        let RecordLimit { stream, most } = limit;
        if !self.stream.as_ref().is_some_and(|last| Arc::ptr_eq(last, stream)) {
            *self = Self { stream: Some(Arc::clone(stream)), records: 0 };
        }
        self.records += records;
        if self.records <= *most {
            return None;
        }
        stream.is_refused.store(true, Ordering::Relaxed);
        let cause = format!(
            "has more than {RECORDS_PER_BYTE} records for each of its compressed bytes, so the \
             rest is left out; decompress it first if that is right"
        );
        Some(BadRecord { place: stream.place.clone(), cause })
    }
}
