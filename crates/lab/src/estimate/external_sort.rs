//! Sorts more hashes than fit into memory, as sorted runs in a temporary file.
//!
//! The file has no name, so it disappears with the process, however that ends.

use super::run_merger::RunMerger;
use rayon::prelude::*;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::sync::{Mutex, PoisonError};
use twindex::{Error, Result};

/// The actions named in errors of the temporary file, with advice.
const ACTION: &str = "writing a temporary file, which takes 8 bytes for each shingle of both \
                      texts (to use another folder, set TMPDIR)";
const READING: &str = "reading a temporary file";

/// The bytes of hashes to encode and write at once.
const WRITTEN: usize = 64 << 10;

/// Hashes in ascending order in the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct SortedRun {
    /// The position of the first hash in the file.
    pub(super) start: u64,
    pub(super) hashes: u64,
}

/// A temporary file of sorted runs.
#[derive(Debug)]
pub(super) struct RunFile {
    file: Mutex<File>,
    pub(super) runs: Vec<SortedRun>,
    pub(super) hashes: u64,
}

impl RunFile {
    pub(super) fn new() -> Result<Self> {
        let file = tempfile::tempfile().map_err(|source| failed(ACTION, source))?;
        Ok(Self { file: Mutex::new(file), runs: Vec::new(), hashes: 0 })
    }

    /// Begins a run at the end of the file.
    fn begin(&mut self) {
        self.runs.push(SortedRun { start: self.hashes, hashes: 0 });
    }

    /// Appends to the last run.
    pub(super) fn append(&mut self, hashes: &[u64]) -> Result<()> {
        let mut bytes = Vec::with_capacity(WRITTEN.min(8 * hashes.len()));
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        for some in hashes.chunks(WRITTEN / 8) {
            bytes.clear();
            some.iter().for_each(|hash| bytes.extend_from_slice(&hash.to_le_bytes()));
            file.write_all(&bytes).map_err(|source| failed(ACTION, source))?;
        }
        self.hashes += hashes.len() as u64;
        if let Some(run) = self.runs.last_mut() {
            run.hashes += hashes.len() as u64;
        }
        Ok(())
    }

    /// Reads `count` hashes from position `first` into `out`. `bytes` is a buffer.
    pub(super) fn read(
        &self,
        first: u64,
        count: usize,
        bytes: &mut Vec<u8>,
        out: &mut Vec<u64>,
    ) -> Result<()> {
        bytes.resize(8 * count, 0);
        {
            let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
            file.seek(SeekFrom::Start(8 * first))
                .and_then(|_| file.read_exact(bytes))
                .map_err(|source| failed(READING, source))?;
        }
        out.clear();
        out.extend(bytes.as_chunks::<8>().0.iter().map(|hash| u64::from_le_bytes(*hash)));
        Ok(())
    }

    /// Merges up to `most` runs at a time into one and returns the resulting file. Takes the same
    /// space on disk again, and `memory` bytes of memory.
    pub(super) fn merged(
        &self,
        most: usize,
        memory: usize,
        tell: &mut dyn FnMut(u64) -> Result<()>,
    ) -> Result<Self> {
        let mut fewer = Self::new()?;
        for some in self.runs.chunks(most) {
            fewer.begin();
            let mut merging = RunMerger::new(self, some, memory / (some.len() + 4))?;
            let mut hashes = Vec::new();
            while merging.next(&mut hashes)? {
                fewer.append(&hashes)?;
                tell(hashes.len() as u64)?;
            }
        }
        Ok(fewer)
    }
}

/// Collects hashes and writes them as sorted runs.
pub(super) struct RunSorter {
    buffer: Vec<u64>,
    /// The number of hashes of a run.
    most: usize,
    /// The most hashes that the buffer ever held.
    touched: usize,
    runs: RunFile,
}

impl RunSorter {
    /// Creates a sorter that takes `memory` bytes for the hashes and sorts them in place.
    pub(super) fn new(memory: usize) -> Result<Self> {
        Ok(Self { buffer: Vec::new(), most: memory / 8, touched: 0, runs: RunFile::new()? })
    }

    pub(super) fn take(&mut self, hashes: &[u64]) -> Result<()> {
        let mut rest = hashes;
        while !rest.is_empty() {
            if self.buffer.capacity() == 0 {
                // Reserved at once, since a growing buffer would need twice the memory.
                let reserved = self.buffer.try_reserve_exact(self.most);
                reserved.map_err(|_| Error::InvalidSetting {
                    setting: "memory",
                    got: format!("with {} bytes for hashes", 8 * self.most),
                    expected: "no more than this machine gives",
                })?;
            }
            let (some, later) = rest.split_at(rest.len().min(self.most - self.buffer.len()));
            self.buffer.extend_from_slice(some);
            rest = later;
            self.touched = self.touched.max(self.buffer.len());
            if self.buffer.len() == self.most {
                self.write()?;
            }
        }
        Ok(())
    }

    /// The bytes of memory in use.
    pub(super) fn memory(&self) -> usize {
        8 * self.touched
    }

    fn write(&mut self) -> Result<()> {
        self.buffer.par_sort_unstable();
        self.runs.begin();
        self.runs.append(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    /// Writes the last run and returns all runs.
    pub(super) fn end(mut self) -> Result<RunFile> {
        if !self.buffer.is_empty() {
            self.write()?;
        }
        Ok(self.runs)
    }
}

fn failed(action: &'static str, source: std::io::Error) -> Error {
    Error::Io { path: std::env::temp_dir(), action, source }
}
