//! Reads the inputs of a command: files, directories, standard input.

use super::batch::Batch;
use super::files::WholeFile;
use super::finding::{Finding, Found, Holds};
use super::inputs::{Inputs, is_standard_input};
use super::open_stream::OpenStream;
use super::packed_stream::{PackedStream, RecordLimit};
use super::record::BadRecord;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Reads inputs in order, as batches of raw records.
pub struct Reading {
    inputs: Arc<Inputs>,
    finding: Finding,
    /// A file that waits until the files before it were passed on.
    held_back: Option<Found>,
    open: Option<OpenStream>,
    /// The file of records that is open, or was last.
    file: Option<Arc<Path>>,
    /// An error to report after the files that were found before it.
    bad: Option<BadRecord>,
    /// The bytes of streams that were read since the last batch.
    counter: Arc<AtomicU64>,
    /// The stream that is open, if it is compressed.
    packed: Option<Arc<PackedStream>>,
    /// The limit for the last batch.
    limit: Option<RecordLimit>,
}

/// The most whole files in a batch: enough for all threads.
const FILES: usize = 64;

/// The most bytes of whole files in a batch, but for its last file.
const FILE_BYTES: u64 = 8 << 20;

impl Reading {
    /// Prepares to read these inputs.
    pub fn new(inputs: Inputs) -> Self {
        let inputs = Arc::new(inputs);
        let finding = Finding::new(Arc::clone(&inputs));
        let (held_back, open, file, bad) = (None, None, None, None);
        let (counter, packed, limit) = (Arc::default(), None, None);
        Self { inputs, finding, held_back, open, file, bad, counter, packed, limit }
    }

    /// The limit for the records of the last batch; `None` unless it is of a compressed stream.
    /// When a [`RecordCount`](super::RecordCount) finds that it is exceeded, the stream is given
    /// up.
    pub fn take_limit(&mut self) -> Option<RecordLimit> {
        self.limit.take()
    }

    /// The bytes on disk of all inputs; `None` unless all are files.
    pub fn expected_bytes(&self) -> Option<u64> {
        let sizes = self.inputs.paths.iter().map(|path| {
            let found = std::fs::metadata(path).ok()?;
            found.is_file().then_some(found.len())
        });
        sizes.sum()
    }

    fn next_batch(&mut self) -> Option<Batch> {
        let mut files = Vec::new();
        self.limit = None;
        loop {
            if self.packed.as_ref().is_some_and(|packed| packed.is_refused()) {
                self.open = None;
            }
            match self.open.as_mut().map(OpenStream::next) {
                None => {}
                Some(Ok(Some(batch))) => {
                    self.limit = self.packed.as_ref().map(PackedStream::limit);
                    return Some(batch);
                }
                Some(Ok(None)) => self.open = None,
                Some(Err(bad)) => {
                    self.limit = self.packed.as_ref().map(PackedStream::no_limit);
                    self.open = None;
                    self.bad = Some(bad);
                }
            }
            let bytes: u64 = files.iter().map(|file: &WholeFile| file.size).sum();
            let has_room = files.len() < FILES && bytes < FILE_BYTES;
            if self.bad.is_none() && has_room && self.find_more(&mut files) {
                continue;
            }
            if !files.is_empty() {
                return Some(Batch::Files(files, self.inputs.most));
            }
            return self.bad.take().map(Batch::Bad);
        }
    }

    /// What was found of the inputs since it was asked last, unless they are quiet.
    pub fn notes(&mut self) -> Vec<String> {
        let notes = self.finding.notes();
        if self.inputs.quiet { Vec::new() } else { notes }
    }

    /// The file of records from which the last batch came; `None` for whole files.
    pub fn file(&self) -> Option<&Arc<Path>> {
        self.file.as_ref()
    }

    /// Takes the next input; returns whether to continue before passing on `files`.
    fn find_more(&mut self, files: &mut Vec<WholeFile>) -> bool {
        let found = match self.held_back.take().map(Ok).or_else(|| self.finding.next()) {
            None => return false,
            Some(Ok(found)) => found,
            Some(Err(bad)) => {
                self.file = Some(Arc::from(Path::new(&bad.place)));
                self.bad = Some(bad);
                return false;
            }
        };
        match found.holds {
            Holds::Text { size, fasta } => {
                let encoding = self.inputs.encoding;
                self.file = None;
                let remote = found.remote;
                files.push(WholeFile { path: found.path, remote, size, fasta, encoding });
                true
            }
            // The files before it come first.
            Holds::Records(_) if !files.is_empty() => {
                self.held_back = Some(found);
                false
            }
            Holds::Records(format) => {
                self.file = Some(Arc::from(found.path.as_path()));
                let opened = if is_standard_input(&found.path) && found.root.is_none() {
                    self.inputs.open_standard_input(format, &self.counter)
                } else {
                    self.inputs.open_found(&found, format, &self.counter)
                };
                match opened {
                    Ok((open, bytes)) => {
                        let place = open.place();
                        self.packed = bytes.map(|bytes| PackedStream::new(place.to_owned(), bytes));
                        self.open = Some(open);
                        true
                    }
                    Err(bad) => {
                        self.bad = Some(bad);
                        false
                    }
                }
            }
        }
    }
}

/// Yields the next batch, and the bytes of input that were read for it, before decompression. An
/// input that cannot be read is a batch of its own; reading then continues with the next input.
impl Iterator for Reading {
    type Item = (Batch, u64);

    fn next(&mut self) -> Option<(Batch, u64)> {
        let batch = self.next_batch()?;
        let of_files = match &batch {
            Batch::Files(files, _) => files.iter().map(|file| file.size).sum(),
            _ => 0,
        };
        Some((batch, of_files + self.counter.swap(0, Ordering::Relaxed)))
    }
}

#[cfg(test)]
#[path = "source_tests.rs"]
mod tests;
