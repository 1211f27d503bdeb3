//! Sorting more hashes than memory holds: sorted runs in a temporary file, which are merged as they are read.
//!
//! The file has no name, so that it goes with the process, however that ends.

use super::merging::Merging;
use rayon::prelude::*;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::sync::{Mutex, PoisonError};
use twindex::{Error, Result};

/// What is being done when the temporary file fails, and what to do about it.
const ACTION: &str = "writing a temporary file, of 8 bytes for each shingle of both texts (TMPDIR names another folder)";
const READING: &str = "reading a temporary file";

/// Bytes of hashes that are made ready to be written at once.
const WRITTEN: usize = 64 << 10;

/// Hashes in ascending order, as they lie in the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    /// The first, counted from the beginning of the file.
    pub(super) start: u64,
    pub(super) hashes: u64,
}

/// A temporary file of sorted runs.
#[derive(Debug)]
pub(super) struct Runs {
    file: Mutex<File>,
    pub(super) runs: Vec<Run>,
    pub(super) hashes: u64,
}

impl Runs {
    pub(super) fn new() -> Result<Self> {
        let file = tempfile::tempfile().map_err(|source| failed(ACTION, source))?;
        Ok(Self { file: Mutex::new(file), runs: Vec::new(), hashes: 0 })
    }

    /// Begins a run, at the end of the file.
    fn begin(&mut self) {
        self.runs.push(Run { start: self.hashes, hashes: 0 });
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

    /// Reads so many hashes from one on, into `out`, by way of `bytes`.
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

    /// The same hashes in fewer runs: each is merged of up to `most` of these. Takes as many bytes on disk
    /// once more, and `memory` bytes of memory.
    pub(super) fn merged(
        &self,
        most: usize,
        memory: usize,
        tell: &mut dyn FnMut(u64) -> Result<()>,
    ) -> Result<Self> {
        let mut fewer = Self::new()?;
        for some in self.runs.chunks(most) {
            fewer.begin();
            let mut merging = Merging::new(self, some, memory / (some.len() + 4))?;
            let mut hashes = Vec::new();
            while merging.next(&mut hashes)? {
                fewer.append(&hashes)?;
                tell(hashes.len() as u64)?;
            }
        }
        Ok(fewer)
    }
}

/// Gathers hashes as they come and puts them into runs.
pub(super) struct Sorter {
    buffer: Vec<u64>,
    /// So many hashes are a run.
    most: usize,
    /// The most hashes that there were.
    touched: usize,
    runs: Runs,
}

impl Sorter {
    /// A sorter that takes `memory` bytes for the hashes, and no more to sort them.
    pub(super) fn new(memory: usize) -> Result<Self> {
        Ok(Self { buffer: Vec::new(), most: memory / 8, touched: 0, runs: Runs::new()? })
    }

    pub(super) fn take(&mut self, hashes: &[u64]) -> Result<()> {
        let mut rest = hashes;
        while !rest.is_empty() {
            if self.buffer.capacity() == 0 {
                // Once, as a buffer that grows is there twice.
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

    /// Bytes that are in use.
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

    /// All hashes as runs.
    pub(super) fn end(mut self) -> Result<Runs> {
        if !self.buffer.is_empty() {
            self.write()?;
        }
        Ok(self.runs)
    }
}

fn failed(action: &'static str, source: std::io::Error) -> Error {
    Error::Io { path: std::env::temp_dir(), action, source }
}
