//! Reading and parsing records on other threads while this thread uses the results.

use crate::input::{BadRecord, Body, Inputs, Reading, Record, WANTS_WEIGHTS, no_sequence};
use crate::run::failure::Failure;
use crate::run::read_ahead::ReadAhead;
use std::sync::Arc;
use twindex::Shingle;

/// The results of one batch of records.
pub struct ParsedBatch<T> {
    /// What was made of each record, in order.
    pub results: Vec<Result<T, BadRecord>>,
    /// The header of the table that the records belong to. A table may have no records.
    pub header: Option<Arc<[u8]>>,
    /// The bytes of input that the batch came from, before decompression.
    pub bytes: u64,
}

/// Batches of parsed records, in order.
pub struct Records<T> {
    batches: ReadAhead<ParsedBatch<T>>,
    /// The bytes of all inputs, if known.
    pub expected_bytes: Option<u64>,
}

/// Starts reading records for an index with this shingle. `take` runs on all threads.
pub fn start<T: Send + 'static>(
    mut inputs: Inputs,
    shingle: Shingle,
    take: impl Fn(Record<'_>) -> Result<T, BadRecord> + Send + Sync + 'static,
) -> Result<Records<T>, Failure> {
    inputs.sequences = shingle.kmer_width().is_some();
    let weighted = inputs.fields.weighted;
    let mut reading = Reading::new(inputs);
    let expected_bytes = reading.expected_bytes();
    let batches = ReadAhead::start("reader", move || {
        let (batch, bytes) = reading.next()?;
        let results = batch.parse(|record| take(check_kind(record, shingle, weighted)?));
        Some(ParsedBatch { results, header: batch.header().cloned(), bytes })
    })?;
    Ok(Records { batches, expected_bytes })
}

/// Refuses a record that the index cannot take: a set unless its shingle is `token`, anything but
/// weights if it is weighted, and FASTQ if its shingle is a k-mer.
fn check_kind(
    record: Record<'_>,
    shingle: Shingle,
    weighted: bool,
) -> Result<Record<'_>, BadRecord> {
    let sequence = || shingle.kmer_width().and(record.body.text()).and_then(no_sequence);
    let cause = match record.body {
        Body::Text(_) | Body::Set(_) if weighted => format!("no weights, but {WANTS_WEIGHTS}"),
        Body::Set(_) if shingle != Shingle::Tokens => {
            format!("a set, but the index cuts texts by {shingle}; create one with --shingle token")
        }
        _ => match sequence() {
            Some(cause) => cause.to_owned(),
            None => return Ok(record),
        },
    };
    Err(BadRecord { place: record.place, cause })
}

/// Yields the next batch; `None` at the end of all inputs or after a signal.
impl<T> Iterator for Records<T> {
    type Item = ParsedBatch<T>;

    fn next(&mut self) -> Option<ParsedBatch<T>> {
        self.batches.next()
    }
}
