//! Reading and parsing records on other threads while the results are used on this one.

use super::failure::Failure;
use crate::input::{BadRecord, Inputs, Reading, Record};
use crate::text::Shingle;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// What became of one batch of records.
pub(super) struct Parsed<T> {
    pub(super) results: Vec<Result<T, BadRecord>>,
    /// The bytes of input they came from, of compressed files those on disk.
    pub(super) bytes: u64,
}

/// Batches of parsed records, in order.
pub(super) struct Records<T> {
    reader: Option<JoinHandle<()>>,
    receiver: Receiver<Parsed<T>>,
    /// The bytes of all inputs, where that is known.
    pub(super) expected_bytes: Option<u64>,
}

/// Starts reading records for an index of this shingle. `take` is called on all threads; at most
/// two batches wait to be used, so that memory stays bounded.
pub(super) fn start<T: Send + 'static>(
    inputs: Inputs,
    shingle: Shingle,
    take: impl Fn(Record<'_>) -> Result<T, BadRecord> + Send + Sync + 'static,
) -> Result<Records<T>, Failure> {
    let mut reading = Reading::new(inputs);
    let expected_bytes = reading.expected_bytes();
    let (sender, receiver) = sync_channel(2);
    let reader = thread::Builder::new()
        .name("reader".into())
        .spawn(move || {
            while let Some((batch, bytes)) = reading.next() {
                let results = batch.parse(|record| take(fitting(record, shingle)?));
                let parsed = Parsed { results, bytes };
                if sender.send(parsed).is_err() {
                    // The command has ended before its input.
                    break;
                }
            }
        })
        .map_err(|error| anyhow::anyhow!("cannot start a thread: {error}"))?;
    Ok(Records { reader: Some(reader), receiver, expected_bytes })
}

/// Refuses a ready set where nothing would take it apart again.
fn fitting(record: Record<'_>, shingle: Shingle) -> Result<Record<'_>, BadRecord> {
    if record.set && shingle != Shingle::Tokens {
        let cause = format!(
            "a set, but the index cuts texts by {shingle}; create one with --shingle token"
        );
        return Err(BadRecord { place: record.place, cause });
    }
    Ok(record)
}

impl<T> Records<T> {
    /// The next batch; `None` at the end of all inputs or when the command was asked to end.
    pub(super) fn next(&mut self) -> Option<Parsed<T>> {
        loop {
            if super::interrupt::asked() {
                return None;
            }
            match self.receiver.recv_timeout(Duration::from_millis(100)) {
                Ok(parsed) => return Some(parsed),
                Err(RecvTimeoutError::Disconnected) => {
                    // A panic over there must not look like the end of the input.
                    if let Some(Err(panic)) = self.reader.take().map(JoinHandle::join) {
                        std::panic::resume_unwind(panic);
                    }
                    return None;
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}
