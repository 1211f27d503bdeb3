//! Reads a stream in blocks of whole lines.

use super::part::Part;
use bytes::Bytes;
use memchr::{memchr_iter, memrchr};
use std::io::{self, Read};
use std::sync::{Arc, Mutex};

/// The first blocks of a stream hold about this many bytes each, but at least one line.
const FIRST_BLOCK_BYTES: usize = 256 << 10;

/// A later block holds about this many bytes.
const BLOCK_BYTES: usize = 4 << 20;

/// The most lines of a block. A parsed record takes about 500 bytes, however short its line is.
pub(super) const BLOCK_LINES: usize = 1 << 14;

/// The most bytes of a read: they stay in the processor's cache until they are copied to the block.
pub(super) const READ_BYTES: usize = 256 << 10;

/// The bytes of the longest line end, `\r\n`. It does not count towards the length of a line.
pub(super) const END_BYTES: usize = 2;

/// Buffers of blocks that are done, for the next blocks of the stream. Fresh memory costs a page
/// fault for every 4 KiB, which takes longer than to read into it.
#[derive(Default)]
struct Spares(Mutex<Vec<Vec<u8>>>);

impl Spares {
    /// An empty buffer.
    fn take(&self) -> Vec<u8> {
        self.0.lock().ok().and_then(|mut spares| spares.pop()).unwrap_or_default()
    }

    /// Keeps a buffer, unless a long line made it large.
    fn put(&self, mut buffer: Vec<u8>) {
        buffer.clear();
        if (1..=2 * BLOCK_BYTES).contains(&buffer.capacity())
            && let Ok(mut spares) = self.0.lock()
        {
            spares.push(buffer);
        }
    }
}

/// The buffer of a block, until neither the block nor what was read from it needs it.
struct Buffer {
    bytes: Vec<u8>,
    spares: Arc<Spares>,
}

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.spares.put(std::mem::take(&mut self.bytes));
    }
}

/// Some whole lines of a stream.
pub struct Block {
    bytes: Bytes,
    /// The number of the first line, from 1.
    first_line: u64,
    /// The number of a line that is longer than the limit. It was left out, and the block is empty.
    pub cut: Option<u64>,
    /// Whether the block is one text, line ends included.
    whole: bool,
}

/// A line of a block.
#[derive(Clone, Copy, Debug)]
pub struct Line<'b> {
    /// Its number in the stream, from 1.
    pub number: u64,
    /// Without its end (`\n` or `\r\n`).
    pub text: &'b [u8],
    /// The bytes as they were read, with the line end if there is one.
    pub raw: Part<'b>,
}

impl Block {
    /// The lines, or the whole text as one line.
    pub fn lines(&self) -> Vec<Line<'_>> {
        if self.whole && self.cut.is_none() {
            let raw = Part::of(&self.bytes, 0..self.bytes.len());
            return vec![Line { number: self.first_line, text: &self.bytes, raw }];
        }
        let mut lines = Vec::new();
        let mut start = 0;
        let ends = memchr_iter(b'\n', &self.bytes).chain([self.bytes.len()]);
        for (number, end) in (self.first_line..).zip(ends) {
            // Bytes after the last line end are a line; no bytes are none.
            if end < self.bytes.len() || start < end {
                let text = &self.bytes[start..end];
                let text = text.strip_suffix(b"\r").unwrap_or(text);
                let raw = Part::of(&self.bytes, start..self.bytes.len().min(end + 1));
                lines.push(Line { number, text, raw });
            }
            start = end + 1;
        }
        lines
    }
}

/// Reads a stream piece by piece.
pub(super) struct StreamReader<R> {
    stream: R,
    /// The buffer for a read, zeroed once. Reading directly into a block would zero its free space
    /// for every read, and a pipe fills only a small part of it.
    buffer: Vec<u8>,
}

impl<R: Read> StreamReader<R> {
    pub(super) const fn new(stream: R) -> Self {
        Self { stream, buffer: Vec::new() }
    }

    /// Appends up to `want` bytes; returns how many, 0 at the end.
    pub(super) fn read_some(&mut self, want: usize, out: &mut Vec<u8>) -> io::Result<usize> {
        if self.buffer.len() < want {
            // Fresh memory is zero already, and costs nothing until it is read into.
            self.buffer = vec![0; want];
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

/// The approximate size of the next block of a stream.
///
/// A block is parsed by one thread. The first blocks are small, so that all threads have work soon
/// and the first results come early. Large blocks cost less for each record.
pub(super) struct BlockSize {
    bytes: usize,
    most: usize,
    /// The number of blocks of this size so far.
    blocks: usize,
}

impl BlockSize {
    pub(super) const fn growing() -> Self {
        Self { bytes: FIRST_BLOCK_BYTES, most: BLOCK_BYTES, blocks: 0 }
    }

    /// The same size for all blocks.
    #[cfg(any(test, fuzzing))]
    pub(super) const fn fixed(bytes: usize) -> Self {
        Self { bytes, most: bytes, blocks: 0 }
    }

    /// The size of the next block, in bytes.
    pub(super) fn next(&mut self) -> usize {
        if self.blocks >= 2 * rayon::current_num_threads() {
            self.bytes = (2 * self.bytes).min(self.most);
            self.blocks = 0;
        }
        self.blocks += 1;
        self.bytes
    }

    /// The bytes of a read beyond the size of a block, in a long record.
    pub(super) const fn step(&self) -> usize {
        self.most / 64
    }
}

/// Cuts a stream into blocks of lines.
pub struct Blocks<R> {
    source: StreamReader<R>,
    /// The bytes after the last block, usually the beginning of a line.
    rest: Vec<u8>,
    spares: Arc<Spares>,
    next_line: u64,
    ended: bool,
    whole: bool,
    /// The most bytes of a line, or of the whole text. It bounds the memory of a block.
    most: usize,
    pub(super) size: BlockSize,
}

impl<R: Read> Blocks<R> {
    /// Cuts a stream into lines. `read_already` is its beginning, `most` the longest line.
    pub fn new(stream: R, read_already: Vec<u8>, most: usize) -> Self {
        Self {
            source: StreamReader::new(stream),
            rest: read_already,
            spares: Arc::default(),
            next_line: 1,
            ended: false,
            whole: false,
            most,
            size: BlockSize::growing(),
        }
    }

    /// Takes the whole stream as one text of at most `most` bytes.
    pub fn whole(stream: R, read_already: Vec<u8>, most: usize) -> Self {
        Self { whole: true, ..Self::new(stream, read_already, most) }
    }

    /// Reads the next block; `None` at the end of the stream.
    pub fn read_block(&mut self) -> io::Result<Option<Block>> {
        let mut bytes = std::mem::take(&mut self.rest);
        let size = self.size.next();
        let (mut searched, mut last_end) = (0, None);
        // Lines of a slow stream are passed on as they come: a block need not be full.
        let mut more_at_hand = false;
        loop {
            if !self.whole {
                let found = memrchr(b'\n', &bytes[searched..]);
                last_end = found.map(|at| searched + at + 1).or(last_end);
                searched = bytes.len();
            }
            match last_end {
                Some(_) if self.ended || !more_at_hand || bytes.len() >= size => break,
                None if bytes.len() > self.most.saturating_add(END_BYTES) => {
                    return self.skip_too_long().map(Some);
                }
                _ if self.ended => break,
                _ => {}
            }
            let missing = size.saturating_sub(bytes.len()).max(self.size.step());
            if more_at_hand {
                bytes.reserve(missing);
            }
            let want = missing.min(READ_BYTES);
            let read = self.source.read_some(want, &mut bytes)?;
            (self.ended, more_at_hand) = (read == 0, read == want);
        }
        if bytes.is_empty() {
            return Ok(None);
        }
        let first_line = self.next_line;
        if !self.whole {
            // Counting line ends is several times as fast as finding each of them.
            let mut ends = memchr_iter(b'\n', &bytes);
            let all = ends.clone().count();
            let (lines, end) = if all > BLOCK_LINES {
                (BLOCK_LINES, ends.nth(BLOCK_LINES - 1).map(|at| at + 1))
            } else {
                (all, last_end)
            };
            if lines < all || !self.ended {
                let end = end.unwrap_or_default();
                self.rest = self.spares.take();
                self.rest.extend_from_slice(&bytes[end..]);
                bytes.truncate(end);
            }
            self.next_line += lines as u64;
        }
        Ok(Some(self.block(bytes, first_line, None)))
    }

    /// Skips a line or a whole text that is too long, and keeps only the bytes after it.
    fn skip_too_long(&mut self) -> io::Result<Block> {
        if self.whole {
            self.ended = true;
        } else {
            self.skip_line()?;
        }
        let line = self.next_line;
        self.next_line += 1;
        Ok(self.block(Vec::new(), line, Some(line)))
    }

    fn block(&self, bytes: Vec<u8>, first_line: u64, cut: Option<u64>) -> Block {
        let spares = Arc::clone(&self.spares);
        let bytes = Bytes::from_owner(Buffer { bytes, spares });
        Block { bytes, first_line, cut, whole: self.whole }
    }

    /// Reads to the end of the line, and keeps only the bytes after it.
    fn skip_line(&mut self) -> io::Result<()> {
        let mut bytes = Vec::new();
        loop {
            bytes.clear();
            if self.source.read_some(64 << 10, &mut bytes)? == 0 {
                self.ended = true;
                return Ok(());
            }
            if let Some(end) = memchr::memchr(b'\n', &bytes) {
                self.rest = bytes.split_off(end + 1);
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::drip::Drip;

    /// The lines with their numbers.
    fn lines(text: &[u8], drip: usize, most: usize) -> Vec<(u64, String)> {
        let mut blocks = Blocks::new(Drip::new(text, drip), Vec::new(), most);
        let mut out = Vec::new();
        while let Some(block) = blocks.read_block().expect("memory can be read") {
            assert!(block.lines().len() <= BLOCK_LINES);
            out.extend(block.cut.map(|number| (number, "left out".to_owned())));
            for Line { number, text, .. } in block.lines() {
                out.push((number, String::from_utf8_lossy(text).into_owned()));
            }
        }
        out
    }

    fn numbered<'a>(lines: impl IntoIterator<Item = &'a str>) -> Vec<(u64, String)> {
        (1..).zip(lines.into_iter().map(str::to_owned)).collect()
    }

    #[test]
    fn lines_are_numbered_whatever_the_blocks() {
        let text = b"one\r\ntwo\n\nfour";
        for drip in 1..20 {
            let expected = numbered(["one", "two", "", "four"]);
            assert_eq!(lines(text, drip, 1_000), expected, "{drip} bytes at a time");
        }
        assert_eq!(lines(b"a\n", 1, 1_000), numbered(["a"]));
        assert_eq!(lines(b"", 1, 1_000), []);
    }

    #[test]
    fn all_lines_together_are_the_stream_byte_for_byte() {
        for text in [&b"one\r\ntwo\n\n\rfour\r"[..], b"\n\n", b"a", b""] {
            let mut blocks = Blocks::new(Drip::new(text, 3), Vec::new(), 1_000);
            let mut out = Vec::new();
            while let Some(block) = blocks.read_block().expect("memory can be read") {
                block.lines().iter().for_each(|line| out.extend_from_slice(&line.raw));
            }
            assert_eq!(out, text);
        }
    }

    /// With small reads, a large file takes many times as long: 340 bytes at a time took another
    /// program 65 minutes where large reads take 99 seconds.
    #[test]
    fn a_file_is_read_in_large_pieces() {
        struct Counting<'a>(&'a [u8], &'a mut u64);
        impl Read for Counting<'_> {
            fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
                *self.1 += 1;
                self.0.read(out)
            }
        }
        for line in [24, 24 << 20] {
            let text = ("x".repeat(line - 1) + "\n").repeat((24 << 20) / line);
            let mut reads = 0;
            let mut blocks =
                Blocks::new(Counting(text.as_bytes(), &mut reads), Vec::new(), 1 << 30);
            while blocks.read_block().expect("memory can be read").is_some() {}
            assert!(
                reads < 500,
                "lines of {line} bytes: {} MiB in {reads} reads",
                text.len() >> 20
            );
        }
    }

    #[test]
    fn many_short_lines_are_several_blocks() {
        let count = 3 * BLOCK_LINES + 5;
        for end in ["", "\n"] {
            let text = vec!["x"; count].join("\n") + end;
            assert_eq!(lines(text.as_bytes(), 1 << 20, 1_000), numbered(vec!["x"; count]));
        }
        let blank = "\n".repeat(count);
        assert_eq!(lines(blank.as_bytes(), 1 << 20, 1_000), numbered(vec![""; count]));
    }

    #[test]
    fn a_line_that_is_too_long_is_left_out_and_the_next_one_read() {
        let long = "x".repeat(300_000);
        let text = format!("short\n{long}\nlast\n{long}");
        for drip in [1_000, 70_000, 1 << 20] {
            let mut found = lines(text.as_bytes(), drip, 100_000);
            // A long line that came together with its end is passed on: the parser checks its
            // length.
            found.iter_mut().filter(|line| line.1 == long).for_each(|line| {
                line.1 = "left out".into();
            });
            assert_eq!(found, numbered(["short", "left out", "last", "left out"]), "{drip}");
        }
    }

    #[test]
    fn a_whole_text_that_is_too_long_is_left_out() {
        for (most, cut) in [(300_000, None), (299_990, Some(1))] {
            let text = "line\n".repeat(60_000);
            let mut blocks = Blocks::whole(text.as_bytes(), Vec::new(), most);
            let block = blocks.read_block().expect("memory can be read").expect("a block");
            assert_eq!((block.cut, block.lines().len()), (cut, usize::from(cut.is_none())));
            assert!(blocks.read_block().expect("memory can be read").is_none());
        }
    }
}
