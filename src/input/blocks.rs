//! Reading a stream in blocks of whole lines.

use memchr::{memchr_iter, memrchr};
use std::io::{self, Read};

/// A block holds about so many bytes, and a whole line at the least.
const BLOCK_BYTES: usize = 4 << 20;

/// The longest line that is taken; a longer one is reported and left out.
pub(crate) const MOST_LINE_BYTES: usize = 1 << 30;

/// Some whole lines of a stream.
pub(crate) struct Block {
    bytes: Vec<u8>,
    /// The number of the first line, from 1.
    first_line: u64,
    /// Whether the last line was too long and its rest is left out.
    pub(crate) cut: bool,
    /// Whether all of it is one text, line ends and all.
    pub(super) whole: bool,
}

impl Block {
    /// The lines with their numbers, without their ends (`\n` or `\r\n`).
    pub(crate) fn lines(&self) -> Vec<(u64, &[u8])> {
        if self.whole {
            return vec![(self.first_line, &self.bytes)];
        }
        let mut lines = Vec::new();
        let mut start = 0;
        let ends = memchr_iter(b'\n', &self.bytes).chain([self.bytes.len()]);
        for (number, end) in (self.first_line..).zip(ends) {
            // What follows the last line end is a line only if there is something.
            if end < self.bytes.len() || start < end {
                let line = &self.bytes[start..end];
                lines.push((number, line.strip_suffix(b"\r").unwrap_or(line)));
            }
            start = end + 1;
        }
        lines
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }
}

/// Cuts a stream into blocks.
pub(crate) struct Blocks<R> {
    stream: R,
    /// Where bytes are read to, once zeroed: room in a block would have to be for each read, which
    /// from a pipe gives far less than there is room for.
    buffer: Vec<u8>,
    /// The beginning of a line whose end was not read yet.
    rest: Vec<u8>,
    next_line: u64,
    ended: bool,
    whole: bool,
    pub(super) block_bytes: usize,
    pub(super) most_line_bytes: usize,
}

impl<R: Read> Blocks<R> {
    pub(crate) fn new(stream: R, read_already: Vec<u8>) -> Self {
        Self {
            stream,
            buffer: Vec::new(),
            rest: read_already,
            next_line: 1,
            ended: false,
            whole: false,
            block_bytes: BLOCK_BYTES,
            most_line_bytes: MOST_LINE_BYTES,
        }
    }

    /// Takes the whole stream as one text.
    pub(crate) fn whole(stream: R) -> Self {
        Self { whole: true, ..Self::new(stream, Vec::new()) }
    }

    pub(crate) fn next(&mut self) -> io::Result<Option<Block>> {
        let mut bytes = std::mem::take(&mut self.rest);
        let (mut searched, mut last_end, mut cut) = (0, None, false);
        // A stream that delivers slowly is handed on as it comes, not held until a block is full,
        // but never less than a line.
        let mut more_at_hand = false;
        loop {
            if !self.whole {
                let found = memrchr(b'\n', &bytes[searched..]);
                last_end = found.map(|at| searched + at + 1).or(last_end);
                searched = bytes.len();
            }
            match last_end {
                Some(end) if self.ended || !more_at_hand || end >= self.block_bytes / 2 => {
                    if !self.ended {
                        self.rest = bytes.split_off(end);
                    }
                    break;
                }
                None if bytes.len() > self.most_line_bytes => {
                    self.skip_line()?;
                    bytes.truncate(64);
                    cut = true;
                    break;
                }
                _ if self.ended => break,
                _ => {}
            }
            let want = self.block_bytes.saturating_sub(bytes.len()).max(self.block_bytes / 64);
            let read = self.read_some(want, &mut bytes)?;
            (self.ended, more_at_hand) = (read == 0, read == want);
        }
        if bytes.is_empty() {
            return Ok(None);
        }
        let first_line = self.next_line;
        let ends = memchr_iter(b'\n', &bytes).count() as u64;
        self.next_line += ends + u64::from(cut);
        Ok(Some(Block { bytes, first_line, cut, whole: self.whole }))
    }

    /// Reads on to the end of a line, keeping only what follows it. A whole text has no lines.
    fn skip_line(&mut self) -> io::Result<()> {
        let mut bytes = Vec::new();
        loop {
            bytes.clear();
            if self.read_some(64 << 10, &mut bytes)? == 0 {
                self.ended = true;
                return Ok(());
            }
            if let Some(end) = memchr::memchr(b'\n', &bytes).filter(|_| !self.whole) {
                self.rest = bytes.split_off(end + 1);
                return Ok(());
            }
        }
    }

    /// Appends up to `want` bytes; returns how many, 0 at the end.
    fn read_some(&mut self, want: usize, out: &mut Vec<u8>) -> io::Result<usize> {
        if self.buffer.len() < want {
            self.buffer.resize(want, 0);
        }
        loop {
            match self.stream.read(&mut self.buffer[..want]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
                Ok(read) => {
                    out.extend_from_slice(&self.buffer[..read]);
                    return Ok(read);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream that gives a few bytes at a time.
    struct Drip<'a>(&'a [u8], usize);

    impl Read for Drip<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(self.0.len()).min(out.len());
            out[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    fn lines(text: &[u8], drip: usize) -> Vec<(u64, String)> {
        let mut blocks = Blocks::new(Drip(text, drip), Vec::new());
        let mut out = Vec::new();
        while let Some(block) = blocks.next().expect("memory can be read") {
            for (number, line) in block.lines() {
                out.push((number, String::from_utf8_lossy(line).into_owned()));
            }
        }
        out
    }

    #[test]
    fn lines_are_numbered_whatever_the_blocks() {
        let text = b"one\r\ntwo\n\nfour";
        let expected: Vec<(u64, String)> =
            [(1, "one"), (2, "two"), (3, ""), (4, "four")].map(|(n, l)| (n, l.into())).into();
        for drip in 1..20 {
            assert_eq!(lines(text, drip), expected, "{drip} bytes at a time");
        }
        assert_eq!(lines(b"a\n", 1), [(1, "a".to_owned())]);
        assert_eq!(lines(b"", 1), []);
    }

    #[test]
    fn a_line_that_is_too_long_is_left_out_and_the_next_one_read() {
        let text = [&b"short\n"[..], &vec![b'x'; 300_000], b"\nlast\n"].concat();
        let mut blocks = Blocks::new(&text[..], Vec::new());
        blocks.most_line_bytes = 100_000;
        let mut seen = Vec::new();
        while let Some(block) = blocks.next().expect("memory can be read") {
            for (number, line) in block.lines() {
                seen.push((number, line.len(), block.cut));
            }
        }
        assert_eq!(seen.first().map(|line| line.1), Some(5));
        assert_eq!(seen.last(), Some(&(3, 4, false)));
    }
}
