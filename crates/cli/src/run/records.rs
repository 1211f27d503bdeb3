//! Reading and parsing records on other threads while this thread uses the results.

use crate::input::{
    BadRecord, Batch, Body, Format, Inputs, Reading, Record, RecordCount, RecordLimit, RecordName,
    Sharing, TableHead, WANTS_WEIGHTS, no_sequence, too_long_normalized,
};
use crate::run::bad_records::BadRecords;
use crate::run::failure::Failure;
use crate::run::read_ahead::ReadAhead;
use crate::run::task_pool::{PoolTask, TaskPool};
use crate::terminal::interrupt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use twindex::{Settings, Shingle};

/// What is said of a stream without ids.
const UNNAMED: &str = "standard input: records without an id are numbered #1, #2 and so on, so a \
                       second run of the same stream has new ids; --id hash names them by their \
                       text, --id-prefix P by their line";

/// The most batches that are parsed or wait while one is used. With one for each thread, all
/// threads are busy during a commit, which takes as long as some batches.
const MOST_AHEAD: usize = 16;

/// What a batch of records comes from.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// The file of records, as it was named or found; `None` for whole texts.
    pub file: Option<Arc<Path>>,
    /// The head of the table that the records belong to. A table may have no records.
    pub head: Option<TableHead>,
    /// The format of the records, if it is known and no table by columns.
    pub format: Option<Format>,
    /// Whether the file is a stream of Arrow.
    pub is_stream: bool,
    /// Whether the file could not be read, or not further.
    pub unread: bool,
}

impl Source {
    /// Whether the records of both can be written without telling them apart.
    fn is_like(&self, other: &Self) -> bool {
        let Self { file, head, unread, .. } = self;
        *file == other.file && *unread == other.unread && head.is_some() == other.head.is_some()
    }

    /// Adds this source to those before it, unless it is like the last of them.
    pub fn add_to(self, sources: &mut Vec<Self>) {
        if sources.last().is_none_or(|last| !last.is_like(&self)) {
            sources.push(self);
        }
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
    batches: ReadAhead<ReadBatch<T>>,
    /// The bytes of all inputs, if known.
    pub expected_bytes: Option<u64>,
    bad_records: BadRecords,
    /// The records of compressed streams, and the batch that stands for the rest of one.
    count: RecordCount,
    refused: Option<ParsedBatch<T>>,
    /// Whether to say that records have no ids.
    says_unnamed: bool,
}

/// A batch that was read.
struct ReadBatch<T> {
    source: Source,
    bytes: u64,
    /// What was found of the inputs.
    notes: Vec<String>,
    limit: Option<RecordLimit>,
    /// What its records will be; `None` after the last batch.
    records: Option<PoolTask<ParsedRecords<T>>>,
}

/// What became of the records of a batch.
struct ParsedRecords<T> {
    good: Vec<T>,
    bad: Vec<BadRecord>,
    has_unnamed: bool,
}

/// What is done with each record.
struct Parser<F> {
    settings: Settings,
    weighted: bool,
    id_hash: bool,
    /// The most bytes of a record.
    most: usize,
    sharing: Sharing,
    take: F,
}

/// Starts reading records for an index with these settings. `take` runs on all threads, and takes
/// microseconds.
///
/// One thread reads. A pool parses a few batches at once, each of them on one thread. When a batch
/// was shared among threads, one that waited for another part of it began the next batch in the
/// meantime, so batches came late and several at once. It is not the pool on which the library
/// shares its work, because that work would wait until all earlier batches are parsed.
pub fn start<T: Send + 'static>(
    inputs: Inputs,
    settings: &Settings,
    take: impl Fn(Record<'_>) -> Result<T, BadRecord> + Send + Sync + 'static,
) -> Result<Records<T>, Failure> {
    let sharing = if rayon::current_num_threads() <= MOST_AHEAD {
        Sharing::Batches
    } else {
        // There are fewer batches than threads.
        Sharing::Records
    };
    start_sharing(sharing, inputs, settings, take)
}

/// As [`start`], for a `take` that may take long: threads share the records of each batch.
pub fn start_long<T: Send + 'static>(
    inputs: Inputs,
    settings: &Settings,
    take: impl Fn(Record<'_>) -> Result<T, BadRecord> + Send + Sync + 'static,
) -> Result<Records<T>, Failure> {
    start_sharing(Sharing::Records, inputs, settings, take)
}

fn start_sharing<T: Send + 'static>(
    sharing: Sharing,
    mut inputs: Inputs,
    settings: &Settings,
    take: impl Fn(Record<'_>) -> Result<T, BadRecord> + Send + Sync + 'static,
) -> Result<Records<T>, Failure> {
    inputs.sequences = settings.shingle.kmer_width().is_some();
    let says_unnamed = !inputs.quiet;
    let bad_records = BadRecords::new(inputs.encoding.is_some());
    let parser = Arc::new(Parser {
        settings: *settings,
        weighted: inputs.fields.weighted,
        id_hash: inputs.id_hash,
        most: inputs.most,
        sharing,
        take,
    });
    let pool = TaskPool::start("parser")?;
    let mut reading = Reading::new(inputs);
    let expected_bytes = reading.expected_bytes();
    let ahead = rayon::current_num_threads().clamp(2, MOST_AHEAD);
    let mut has_ended = false;
    let batches = ReadAhead::with_queue("reader", ahead, move || {
        if has_ended {
            return None;
        }
        let next = reading.next();
        let notes = reading.notes();
        let Some((batch, bytes)) = next else {
            has_ended = true;
            let source = Source::default();
            return Some(ReadBatch { source, bytes: 0, notes, limit: None, records: None });
        };
        let source = Source {
            file: reading.file().cloned(),
            head: batch.head(),
            format: batch.format(),
            is_stream: batch.is_arrow_stream(),
            unread: batch.is_bad(),
        };
        let parser = Arc::clone(&parser);
        let records = Some(pool.run(move || parser.parse(&batch)));
        Some(ReadBatch { source, bytes, notes, limit: reading.take_limit(), records })
    })?;
    Ok(Records {
        batches,
        expected_bytes,
        bad_records,
        count: RecordCount::default(),
        refused: None,
        says_unnamed,
    })
}

impl<F> Parser<F> {
    /// Parses the records of a batch.
    fn parse<T: Send>(&self, batch: &Batch) -> ParsedRecords<T>
    where
        F: Fn(Record<'_>) -> Result<T, BadRecord> + Sync,
    {
        let has_unnamed = AtomicBool::new(false);
        let parse = |record: Record<'_>| {
            let mut record = check(record, &self.settings, self.weighted, self.most)?;
            if self.id_hash {
                record.name = RecordName::Id(record.body.content().text_hash().to_string());
            }
            if record.name == RecordName::Automatic {
                has_unnamed.store(true, Ordering::Relaxed);
            }
            (self.take)(record)
        };
        let mut good = Vec::new();
        let mut bad = Vec::new();
        for result in batch.parse(self.sharing, parse) {
            match result {
                Ok(record) => good.push(record),
                Err(record) => bad.push(record),
            }
        }
        ParsedRecords { good, bad, has_unnamed: has_unnamed.into_inner() }
    }
}

impl<T> Records<T> {
    /// The result for a batch whose records are parsed, or for the end.
    fn batch_result(
        &mut self,
        batch: ReadBatch<T>,
        records: Option<ParsedRecords<T>>,
    ) -> Option<ParsedBatch<T>> {
        let ReadBatch { source, bytes, notes, limit, .. } = batch;
        let Some(ParsedRecords { good, bad, has_unnamed }) = records else {
            let messages: Vec<_> = self.bad_records.finish().into_iter().chain(notes).collect();
            let last = ParsedBatch { messages, ..ParsedBatch::default() };
            return (!last.messages.is_empty()).then_some(last);
        };
        let mut parsed = ParsedBatch { good, source, bytes, messages: notes, failed: 0 };
        for bad in bad {
            parsed.failed += 1;
            parsed.messages.extend(self.bad_records.add(&bad));
        }
        if self.says_unnamed && has_unnamed {
            self.says_unnamed = false;
            parsed.messages.push(UNNAMED.to_owned());
        }
        if let Some(bad) = limit.and_then(|limit| self.count.add(&limit, parsed.records())) {
            let file = parsed.source.file.clone();
            let source = Source { file, unread: true, ..Source::default() };
            let messages = self.bad_records.add(&bad);
            self.refused = Some(ParsedBatch { failed: 1, messages, source, ..Default::default() });
        }
        Some(parsed)
    }
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
        if let Some(refused) = self.refused.take().filter(|_| !interrupt::asked()) {
            return Some(refused);
        }
        loop {
            let mut batch = self.batches.next()?;
            let records = match batch.records.take() {
                Some(task) => Some(task.wait()?),
                None => None,
            };
            // A refused batch was read before its stream was given up. It has no notes, because
            // these come with the first batch of an input.
            let is_refused = batch.limit.as_ref().is_some_and(RecordLimit::is_refused);
            if !is_refused {
                return self.batch_result(batch, records);
            }
        }
    }
}
