//! A file that is read at any place, from several threads at once.

use crate::input::counted::Count;
use crate::input::input_file::InputFile;
use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::sync::Arc;

/// The bytes that are read at once.
const BUFFER: usize = 64 << 10;

/// A file, or a part of one, and its length in bytes.
#[derive(Clone)]
pub struct Seekable {
    file: InputFile,
    /// Where the part begins.
    start: u64,
    length: u64,
    count: Option<Arc<Count>>,
}

impl Seekable {
    /// Takes a file that can be read at any place. Its bytes are counted as they are read.
    pub(in crate::input) fn new(file: InputFile, count: Option<Arc<Count>>) -> io::Result<Self> {
        let length = file.size()?.unwrap_or_default();
        Ok(Self { file, start: 0, length, count })
    }

    /// Takes a file on this machine.
    pub fn of(file: File) -> io::Result<Self> {
        Self::new(InputFile::local(file), None)
    }

    /// A part of the file, which ends before the file does.
    pub fn part(&self, start: u64, length: u64) -> Self {
        Self { start: self.start + start, length, ..self.clone() }
    }

    /// Copies a stream to a temporary file without a name, because it can be read only once.
    pub fn spooled(start: &[u8], mut rest: impl Read) -> io::Result<Self> {
        let mut file = tempfile::tempfile()?;
        io::Write::write_all(&mut file, start)?;
        io::copy(&mut rest, &mut file)?;
        Self::of(file)
    }

    /// Whether it lies behind an address.
    pub(super) fn is_remote(&self) -> bool {
        matches!(self.file, InputFile::Remote(_))
    }

    /// A copy on this machine.
    pub(super) fn copied(&self) -> io::Result<Self> {
        Self::spooled(&[], self.from(0).take(self.length))
    }

    /// Reads bytes at a place, fewer only at the end of the file.
    fn read_at(&self, place: u64, out: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(self.start + place, out)?;
        if let Some(count) = &self.count {
            count.add_some(read as u64);
        }
        Ok(read)
    }

    /// The file from a place on.
    pub(super) fn from(&self, place: u64) -> From {
        From { file: self.clone(), place }
    }
}

/// A file from a place on.
pub struct From {
    file: Seekable,
    place: u64,
}

impl Read for From {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(self.place, out)?;
        self.place += read as u64;
        Ok(read)
    }
}

impl Length for Seekable {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for Seekable {
    type T = BufReader<From>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(BufReader::with_capacity(BUFFER, self.from(start)))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let end = start.checked_add(length as u64).filter(|end| *end <= self.length);
        if end.is_none() {
            return Err(ParquetError::EOF(format!(
                "{length} bytes at {start} of a file of {} bytes",
                self.length
            )));
        }
        let mut bytes = vec![0; length];
        self.from(start).read_exact(&mut bytes)?;
        Ok(bytes.into())
    }
}
