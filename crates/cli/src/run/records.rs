//! Reading and parsing records on other threads while the results are used on this one.

use crate::input::{BadRecord, Body, Inputs, Reading, Record, WANTS_WEIGHTS, no_sequence};
use crate::run::failure::Failure;
use crate::run::read_ahead::Ahead;
use std::sync::Arc;
use twindex::Shingle;

/// What became of one batch of records.
pub struct Parsed<T> {
    pub results: Vec<Result<T, BadRecord>>,
    /// The header of the table they are of, which may have no other records.
    pub header: Option<Arc<[u8]>>,
    /// The bytes of input they came from, of compressed files those on disk.
    pub bytes: u64,
}

/// Batches of parsed records, in order.
pub struct Records<T> {
    batches: Ahead<Parsed<T>>,
    /// The bytes of all inputs, where that is known.
    pub expected_bytes: Option<u64>,
}

/// Starts reading records for an index of this shingle. `take` is called on all threads.
pub fn start<T: Send + 'static>(
    mut inputs: Inputs,
    shingle: Shingle,
    take: impl Fn(Record<'_>) -> Result<T, BadRecord> + Send + Sync + 'static,
) -> Result<Records<T>, Failure> {
    inputs.sequences = shingle.kmer_width().is_some();
    let weighted = inputs.fields.weighted;
    let mut reading = Reading::new(inputs);
    let expected_bytes = reading.expected_bytes();
    let batches = Ahead::start("reader", move || {
        let (batch, bytes) = reading.next()?;
        let results = batch.parse(|record| take(fitting(record, shingle, weighted)?));
        Some(Parsed { results, header: batch.header().cloned(), bytes })
    })?;
    Ok(Records { batches, expected_bytes })
}

/// Refuses what is not of the index's kind: a ready set where nothing would take it apart again, all
/// but weights where these are compared, and what is no sequence where it would be read as one.
fn fitting(record: Record<'_>, shingle: Shingle, weighted: bool) -> Result<Record<'_>, BadRecord> {
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

impl<T> Records<T> {}

/// The next batch; `None` at the end of all inputs or when the command was asked to end.
impl<T> Iterator for Records<T> {
    type Item = Parsed<T>;

    fn next(&mut self) -> Option<Parsed<T>> {
        self.batches.next()
    }
}
