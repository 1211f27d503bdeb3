//! Streams that come in small pieces, for tests and fuzzing.

use std::io::{self, Read};

/// A stream that gives at most so many bytes at a time, and may be interrupted before each read.
pub(super) struct Drip<R> {
    rest: R,
    size: usize,
    interrupts: bool,
    interrupted: bool,
}

impl<R: Read> Drip<R> {
    pub(super) fn new(rest: R, size: usize) -> Self {
        Self { rest, size, interrupts: false, interrupted: false }
    }

    /// The same, with an interruption before each read.
    pub(super) fn interrupted(rest: R, size: usize) -> Self {
        Self { interrupts: true, ..Self::new(rest, size) }
    }
}

impl<R: Read> Read for Drip<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.interrupted = self.interrupts && !self.interrupted;
        if self.interrupted {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let count = self.size.min(out.len());
        (&mut self.rest).take(count as u64).read(out)
    }
}
