//! Reading and parsing records on other threads while the results are used on this one.

use super::ahead::Ahead;
use super::failure::Failure;
use crate::input::{BadRecord, Inputs, Reading, Record, no_sequence};
use crate::text::Shingle;
use std::sync::Arc;

/// What became of one batch of records.
pub(super) struct Parsed<T> {
    pub(super) results: Vec<Result<T, BadRecord>>,
    /// The header of the table they are of, which may have no other records.
    pub(super) header: Option<Arc<[u8]>>,
    /// The bytes of input they came from, of compressed files those on disk.
    pub(super) bytes: u64,
}

/// Batches of parsed records, in order.
pub(super) struct Records<T> {
    batches: Ahead<Parsed<T>>,
    /// The bytes of all inputs, where that is known.
    pub(super) expected_bytes: Option<u64>,
}

/// Starts reading records for an index of this shingle. `take` is called on all threads.
pub(super) fn start<T: Send + 'static>(
    mut inputs: Inputs,
    shingle: Shingle,
    take: impl Fn(Record<'_>) -> Result<T, BadRecord> + Send + Sync + 'static,
) -> Result<Records<T>, Failure> {
    inputs.sequences = shingle.kmer_width().is_some();
    let mut reading = Reading::new(inputs);
    let expected_bytes = reading.expected_bytes();
    let batches = Ahead::start("reader", move || {
        let (batch, bytes) = reading.next()?;
        let results = batch.parse(|record| take(fitting(record, shingle)?));
        Some(Parsed { results, header: batch.header().cloned(), bytes })
    })?;
    Ok(Records { batches, expected_bytes })
}

/// Refuses a ready set where nothing would take it apart again, and what is no sequence where it
/// would be read as one.
fn fitting(record: Record<'_>, shingle: Shingle) -> Result<Record<'_>, BadRecord> {
    if record.set && shingle != Shingle::Tokens {
        let cause = format!(
            "a set, but the index cuts texts by {shingle}; create one with --shingle token"
        );
        return Err(BadRecord { place: record.place, cause });
    }
    let wrong = shingle.kmer_width().and_then(|_| no_sequence(&record.text));
    if let Some(cause) = wrong.map(str::to_owned) {
        return Err(BadRecord { place: record.place, cause });
    }
    Ok(record)
}

impl<T> Records<T> {
    /// The next batch; `None` at the end of all inputs or when the command was asked to end.
    pub(super) fn next(&mut self) -> Option<Parsed<T>> {
        self.batches.next()
    }
}
