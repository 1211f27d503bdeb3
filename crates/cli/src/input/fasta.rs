//! Cuts FASTA into its records. Each begins with a line that begins with `>`.

use super::blocks::{BLOCK_LINES, BlockSize, Line, StreamReader};
use super::record::BYTE_ORDER_MARK;
use memchr::{memchr, memchr_iter, memchr2};
use std::io::{self, Read};
use std::ops::Range;

const FASTQ: &str =
    "is FASTQ, which is not read; convert it to FASTA, for instance with `seqtk seq -a`";
const NO_FASTA: &str =
    "is no FASTA: text comes before the first line that begins with >; see --format";

/// Some whole records.
#[derive(Default)]
pub struct SequenceBlock {
    bytes: Vec<u8>,
    /// The first line of each record, and its place in the bytes.
    places: Vec<(u64, Range<usize>)>,
    /// The first line of a record that is longer than the limit. It was left out, and the block is
    /// empty.
    pub(super) cut: Option<u64>,
}

impl SequenceBlock {
    /// The records, each as one `Line`: its text is the record without the line ends after it.
    pub(super) fn records(&self) -> Vec<Line<'_>> {
        let record = |(number, place): &(u64, Range<usize>)| {
            let raw = &self.bytes[place.clone()];
            Line { number: *number, text: raw.trim_ascii_end(), raw: raw.into() }
        };
        self.places.iter().map(record).collect()
    }
}

/// The line that cannot be FASTA, and why.
type NoFasta = (u64, &'static str);

/// Searches incoming bytes for the first record. Blank lines and comments, which begin with `;`,
/// may come before it. No byte is searched twice, however long a line is.
struct Beginning {
    /// The number of the current line, and where it begins.
    line: u64,
    start: usize,
    /// All bytes before this one were searched. The current line is a comment or blank so far.
    seen: usize,
    comment: bool,
}

impl Beginning {
    const fn new() -> Self {
        Self { line: 1, start: 0, seen: 0, comment: false }
    }

    /// Searches the new bytes; returns where the first record begins once it is found.
    fn look(&mut self, bytes: &[u8]) -> Result<Option<usize>, NoFasta> {
        loop {
            let rest = bytes.get(self.seen..).unwrap_or_default();
            let next = if self.comment {
                memchr2(b'\n', b'\r', rest)
            } else {
                rest.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b'\x0C'))
            };
            let Some(at) = next.map(|next| self.seen + next) else {
                self.seen = bytes.len();
                return Ok(None);
            };
            self.seen = at + 1;
            match bytes[at] {
                end @ (b'\n' | b'\r') => {
                    self.line += u64::from(end == b'\n');
                    (self.start, self.comment) = (self.seen, false);
                }
                b'>' if at == self.start => return Ok(Some(at)),
                b';' if at == self.start => self.comment = true,
                b'@' if at == self.start => return Err((self.line, FASTQ)),
                _ => return Err((self.line, NO_FASTA)),
            }
        }
    }

    /// Forgets the lines before the current one; returns their number of bytes.
    fn forget(&mut self) -> usize {
        self.seen -= self.start;
        std::mem::take(&mut self.start)
    }
}

/// Checks that a whole text is FASTA or empty.
pub(super) fn check(text: &[u8]) -> Result<(), &'static str> {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    Beginning::new().look(text).map(|_| ()).map_err(|(_, cause)| cause)
}

/// Why a text cannot be cut into k-mers. Only FASTQ is recognized.
pub fn no_sequence(text: &str) -> Option<&'static str> {
    // Any other text that is no FASTA is taken as a bare sequence.
    check(text.as_bytes()).err().filter(|cause| *cause == FASTQ)
}

/// The id of a record: the first word of its first line, which begins with `>`.
pub(super) fn id(record: &str) -> Option<&str> {
    let header = record.lines().next().and_then(|line| line.split('\r').next());
    header?.strip_prefix('>')?.split_whitespace().next()
}

/// Cuts a stream into records, in blocks.
pub(super) struct SequenceBlocks<R> {
    source: StreamReader<R>,
    /// The bytes after the last block. Once the first record is found, they begin with a record.
    rest: Vec<u8>,
    /// The number of the first line of `rest`.
    line: u64,
    ended: bool,
    /// The most bytes of a record, line ends included. It bounds the memory of a block.
    most: usize,
    pub(super) size: BlockSize,
}

impl<R: Read> SequenceBlocks<R> {
    pub(super) fn new(stream: R, read_already: Vec<u8>, most: usize) -> Self {
        Self {
            source: StreamReader::new(stream),
            rest: read_already,
            line: 1,
            ended: false,
            most,
            size: BlockSize::growing(),
        }
    }

    /// Skips the bytes before the first record. Call it once, before the first block.
    pub(super) fn begin(&mut self) -> io::Result<Result<(), NoFasta>> {
        while self.rest.len() < BYTE_ORDER_MARK.len() && self.read()? {}
        if self.rest.starts_with(BYTE_ORDER_MARK) {
            self.rest.drain(..BYTE_ORDER_MARK.len());
        }
        let mut beginning = Beginning::new();
        loop {
            match beginning.look(&self.rest) {
                Err(none) => return Ok(Err(none)),
                Ok(Some(at)) => {
                    self.rest.drain(..at);
                    self.line = beginning.line;
                    return Ok(Ok(()));
                }
                Ok(None) if self.ended => {
                    self.rest.clear();
                    return Ok(Ok(()));
                }
                Ok(None) => {}
            }
            self.rest.drain(..beginning.forget());
            if self.rest.len() > self.most {
                let cause = "a line before the first record is too long";
                return Ok(Err((beginning.line, cause)));
            }
            self.read()?;
        }
    }

    /// Reads a piece; returns whether there was one.
    fn read(&mut self) -> io::Result<bool> {
        self.ended = self.source.read_some(64 << 10, &mut self.rest)? == 0;
        Ok(!self.ended)
    }

    /// Reads the next block; `None` at the end of the stream.
    pub(super) fn next(&mut self) -> io::Result<Option<SequenceBlock>> {
        let mut bytes = std::mem::take(&mut self.rest);
        // The places where records begin, the first at 0. All bytes before `seen` were searched.
        let (mut starts, mut seen) = (vec![0], 1);
        let mut more_at_hand = false;
        let size = self.size.next();
        loop {
            while starts.len() <= BLOCK_LINES {
                match next_start(&bytes, seen) {
                    Some(start) => {
                        starts.push(start);
                        seen = start + 1;
                    }
                    None => {
                        seen = seen.max(bytes.len());
                        break;
                    }
                }
            }
            let open = starts.last().copied().unwrap_or_default();
            let complete = starts.len() > 1;
            let enough = self.ended || !more_at_hand || bytes.len() >= size;
            if self.ended || starts.len() > BLOCK_LINES || complete && enough {
                break;
            }
            if bytes.len() - open > self.most {
                if complete { break } else { return self.skip(&bytes).map(Some) }
            }
            let want = size.saturating_sub(bytes.len()).max(self.size.step());
            let read = self.source.read_some(want, &mut bytes)?;
            (self.ended, more_at_hand) = (read == 0, read == want);
        }
        if bytes.is_empty() {
            return Ok(None);
        }
        if self.ended && starts.len() <= BLOCK_LINES {
            starts.push(bytes.len());
        } else {
            self.rest = bytes.split_off(starts.last().copied().unwrap_or_default());
        }
        let mut block = SequenceBlock { bytes, ..SequenceBlock::default() };
        for place in starts.windows(2) {
            let place = place[0]..place[1];
            let line = self.line;
            self.line += lines(&block.bytes[place.clone()]);
            block.places.push((line, place));
        }
        Ok(Some(block))
    }

    /// Skips a record that is too long. `begun` is its beginning.
    fn skip(&mut self, begun: &[u8]) -> io::Result<SequenceBlock> {
        let block = SequenceBlock { cut: Some(self.line), ..SequenceBlock::default() };
        self.line += lines(begun);
        // The last byte decides whether the next one begins a line.
        let mut piece = begun[begun.len() - 1..].to_vec();
        loop {
            let old = piece.len();
            if self.source.read_some(64 << 10, &mut piece)? == 0 {
                self.ended = true;
                return Ok(block);
            }
            if let Some(start) = next_start(&piece, old) {
                self.line += lines(&piece[old..start]);
                self.rest = piece.split_off(start);
                return Ok(block);
            }
            self.line += lines(&piece[old..]);
            piece.drain(..piece.len() - 1);
        }
    }
}

/// Where the next record begins, at `from` or later. `from` must not be 0.
fn next_start(bytes: &[u8], from: usize) -> Option<usize> {
    let mut from = from;
    loop {
        let at = from + memchr(b'>', bytes.get(from..)?)?;
        if matches!(bytes[at - 1], b'\n' | b'\r') {
            return Some(at);
        }
        from = at + 1;
    }
}

fn lines(bytes: &[u8]) -> u64 {
    memchr_iter(b'\n', bytes).count() as u64
}

#[cfg(test)]
#[path = "fasta_tests.rs"]
mod tests;
