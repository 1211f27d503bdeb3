//! Reading and parsing records on other threads while this thread uses the results.

use crate::input::{
    BadRecord, Body, Inputs, Reading, Record, WANTS_WEIGHTS, no_sequence, too_long_normalized,
};
use crate::run::bad_records::BadRecords;
use crate::run::failure::Failure;
use crate::run::read_ahead::ReadAhead;
use std::sync::Arc;
use twindex::{Settings, Shingle};

/// The results of one batch of records.
pub struct ParsedBatch<T> {
    /// What was made of each good record, in order.
    pub good: Vec<T>,
    /// The number of bad records.
    pub failed: u64,
    /// What to print about bad records: ten of a file, then how many more it had.
    pub messages: Vec<String>,
    /// The header of the table that the records belong to. A table may have no records.
    pub header: Option<Arc<[u8]>>,
    /// The bytes of input that the batch came from, before decompression.
    pub bytes: u64,
}

impl<T> ParsedBatch<T> {
    /// The number of all records, good and bad.
    pub fn records(&self) -> u64 {
        self.good.len() as u64 + self.failed
    }
}

impl<T> Default for ParsedBatch<T> {
    fn default() -> Self {
        Self { good: Vec::new(), failed: 0, messages: Vec::new(), header: None, bytes: 0 }
    }
}

/// Batches of parsed records, in order.
pub struct Records<T> {
    batches: ReadAhead<ParsedBatch<T>>,
    /// The bytes of all inputs, if known.
    pub expected_bytes: Option<u64>,
}

/// Starts reading records for an index with these settings. `take` runs on all threads.
pub fn start<T: Send + 'static>(
    mut inputs: Inputs,
    settings: &Settings,
    take: impl Fn(Record<'_>) -> Result<T, BadRecord> + Send + Sync + 'static,
) -> Result<Records<T>, Failure> {
    let settings = *settings;
    let most = inputs.most;
    inputs.sequences = settings.shingle.kmer_width().is_some();
    let weighted = inputs.fields.weighted;
    let mut reading = Reading::new(inputs);
    let expected_bytes = reading.expected_bytes();
    let mut bad_records = BadRecords::default();
    let batches = ReadAhead::start("reader", move || {
        let Some((batch, bytes)) = reading.next() else {
            let last = bad_records.finish()?;
            return Some(ParsedBatch { messages: vec![last], ..ParsedBatch::default() });
        };
        let mut parsed =
            ParsedBatch { header: batch.header().cloned(), bytes, ..ParsedBatch::default() };
        for result in batch.parse(|record| take(check(record, &settings, weighted, most)?)) {
            match result {
                Ok(good) => parsed.good.push(good),
                Err(bad) => {
                    parsed.failed += 1;
                    parsed.messages.extend(bad_records.add(&bad));
                }
            }
        }
        reading.took(parsed.records());
        Some(parsed)
    })?;
    Ok(Records { batches, expected_bytes })
}

/// Refuses a record that the index cannot take: a set unless its shingle is `token`, anything but
/// weights if it is weighted, FASTQ if its shingle is a k-mer, and what normalisation makes longer
/// than a record may be.
fn check<'r>(
    record: Record<'r>,
    settings: &Settings,
    weighted: bool,
    most: usize,
) -> Result<Record<'r>, BadRecord> {
    let Settings { shingle, normalization, .. } = *settings;
    let sequence = || shingle.kmer_width().and(record.body.text()).and_then(no_sequence);
    let cause = match record.body {
        Body::Text(_) | Body::Set(_) if weighted => format!("no weights, but {WANTS_WEIGHTS}"),
        Body::Set(_) if shingle != Shingle::Tokens => {
            format!("a set, but the index cuts texts by {shingle}; create one with --shingle token")
        }
        _ => match sequence() {
            Some(cause) => cause.to_owned(),
            None if record.body.exceeds(normalization.form, most) => too_long_normalized(most),
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
