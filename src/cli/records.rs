//! Reading and parsing records on other threads while the results are used on this one.

use super::ahead::Ahead;
use super::failure::Failure;
use crate::input::{BadRecord, Inputs, Reading, Record};

/// What became of one batch of records.
pub(super) struct Parsed<T> {
    pub(super) results: Vec<Result<T, BadRecord>>,
    /// The bytes of input they came from.
    pub(super) bytes: u64,
}

/// Batches of parsed records, in order.
pub(super) struct Records<T> {
    batches: Ahead<Parsed<T>>,
    /// The bytes of all inputs, where that is known.
    pub(super) expected_bytes: Option<u64>,
}

/// Starts reading. `take` is called on all threads.
pub(super) fn start<T: Send + 'static>(
    inputs: Inputs,
    take: impl Fn(Record<'_>) -> Result<T, BadRecord> + Send + Sync + 'static,
) -> Result<Records<T>, Failure> {
    let mut reading = Reading::new(inputs);
    let expected_bytes = reading.expected_bytes();
    let batches = Ahead::start("reader", move || {
        let batch = reading.next()?;
        Some(Parsed { results: batch.parse(&take), bytes: batch.len() as u64 })
    })?;
    Ok(Records { batches, expected_bytes })
}

impl<T> Records<T> {
    /// The next batch; `None` at the end of all inputs or when the command was asked to end.
    pub(super) fn next(&mut self) -> Option<Parsed<T>> {
        self.batches.next()
    }
}
