//! What a build without the feature `remote` says of addresses.

use super::{Looked, Seen};
use std::fs::File;
use std::io::{self, Read};

/// A file behind an address. There is none.
pub enum RemoteFile {}

impl RemoteFile {
    /// Opens the file at an address.
    pub fn open(_address: &str) -> io::Result<Self> {
        Err(unsupported())
    }

    /// Its length in bytes.
    pub fn size(&self) -> u64 {
        match *self {}
    }

    /// Reads it from its start to its end.
    pub fn stream(&self) -> io::Result<Box<dyn Read + Send>> {
        match *self {}
    }

    /// Whether it can be read at any place.
    pub fn is_seekable(&self) -> bool {
        match *self {}
    }

    /// Reads bytes at a place.
    pub fn read_at(&self, _place: u64, _out: &mut [u8]) -> io::Result<usize> {
        match *self {}
    }
}

/// What an address leads to.
pub fn look(_address: &str) -> io::Result<Looked> {
    Err(unsupported())
}

/// What is at an address.
pub fn seen(_address: &str) -> io::Result<Seen> {
    Err(unsupported())
}

/// Fails if a file cannot be copied to an address.
pub fn check_writable(_address: &str) -> io::Result<()> {
    Err(unsupported())
}

/// Copies a file to an address.
pub fn upload(_file: &mut File, _address: &str, _stop: fn() -> bool) -> io::Result<()> {
    Err(unsupported())
}

fn unsupported() -> io::Error {
    let message = "this build of twindex reads and writes no addresses; build it with \
                   --features remote";
    io::Error::new(io::ErrorKind::Unsupported, message)
}
