//! Reading and parsing records on other threads while this thread uses the results.

use crate::input::{
    BadRecord, Body, Inputs, Reading, Record, RecordName, TableHead, WANTS_WEIGHTS, no_sequence,
    too_long_normalized,
};
use crate::run::bad_records::BadRecords;
use crate::run::failure::Failure;
use crate::run::read_ahead::ReadAhead;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use twindex::{Settings, Shingle};

/// What is said of a stream without ids.
const UNNAMED: &str = "standard input: records without an id are numbered #1, #2 and so on, so a \
                       second run of the same stream has new ids; --id hash names them by their \
                       text, --id-prefix P by their line";

/// What a batch of records comes from.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// The file of records, as it was named or found; `None` for whole texts.
    pub file: Option<Arc<Path>>,
    /// The head of the table that the records belong to. A table may have no records.
    pub head: Option<TableHead>,
    /// Whether the file could not be read, or not further.
    pub unread: bool,
}

impl Source {
    /// Whether the records of both can be written without telling them apart.
    pub fn is_like(&self, other: &Self) -> bool {
        let Self { file, head, unread } = self;
        *file == other.file && *unread == other.unread && head.is_some() == other.head.is_some()
    }
}

/// The results of one batch of records.
pub struct ParsedBatch<T> {
    /// What was made of each good record, in order.
    pub good: Vec<T>,
    /// The number of bad records.
    pub failed: u64,
    /// What to print about bad records: ten of a file, then how many more it had.
    pub messages: Vec<String>,
    /// What the records come from.
    pub source: Source,
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
        Self {
            good: Vec::new(),
            failed: 0,
            messages: Vec::new(),
            source: Source::default(),
            bytes: 0,
        }
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
    let (weighted, id_hash) = (inputs.fields.weighted, inputs.id_hash);
    let (mut says_unnamed, is_encoded) = (!inputs.quiet, inputs.encoding.is_some());
    let mut reading = Reading::new(inputs);
    let expected_bytes = reading.expected_bytes();
    let mut bad_records = BadRecords::default();
    let batches = ReadAhead::start("reader", move || {
        let Some((batch, bytes)) = reading.next() else {
            let messages: Vec<_> =
                bad_records.finish().into_iter().chain(reading.notes()).collect();
            let last = ParsedBatch { messages, ..ParsedBatch::default() };
            return (!last.messages.is_empty()).then_some(last);
        };
        let (head, unread) = (batch.head(), batch.is_bad());
        let source = Source { file: reading.file().cloned(), head, unread };
        let mut parsed = ParsedBatch { source, bytes, ..ParsedBatch::default() };
        parsed.messages.extend(reading.notes());
        let has_unnamed = AtomicBool::new(false);
        let parse = |record: Record<'_>| {
            let mut record = check(record, &settings, weighted, most)?;
            if id_hash {
                record.name = RecordName::Id(record.body.content().text_hash().to_string());
            }
            if record.name == RecordName::Automatic {
                has_unnamed.store(true, Ordering::Relaxed);
            }
            take(record)
        };
        for result in batch.parse(parse) {
            match result {
                Ok(good) => parsed.good.push(good),
                Err(mut bad) => {
                    if !is_encoded && bad.is_in_another_encoding() {
                        bad.cause += "; say --encoding latin1 if it is Latin-1";
                    }
                    parsed.failed += 1;
                    parsed.messages.extend(bad_records.add(&bad));
                }
            }
        }
        if says_unnamed && has_unnamed.into_inner() {
            says_unnamed = false;
            parsed.messages.push(UNNAMED.to_owned());
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
