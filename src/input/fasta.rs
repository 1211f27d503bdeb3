//! Cutting FASTA into its records: each begins with a line that begins with `>`.

use super::blocks::{BLOCK_BYTES, BLOCK_LINES, Line, Source};
use super::record::BYTE_ORDER_MARK;
use memchr::{memchr, memchr_iter, memchr2};
use std::io::{self, Read};
use std::ops::Range;

const FASTQ: &str = "is FASTQ, which is not read; make FASTA of it, as `seqtk seq -a` does";
const NO_FASTA: &str =
    "is no FASTA: a sequence comes before the first line that begins with >; see --format";

/// Some whole records.
#[derive(Default)]
pub(crate) struct SequenceBlock {
    bytes: Vec<u8>,
    /// The line at which each begins, and where it is.
    places: Vec<(u64, Range<usize>)>,
    /// The record that begins at this line is longer than the limit and was left out; there is
    /// nothing else.
    pub(super) cut: Option<u64>,
}

impl SequenceBlock {
    /// The records, each as a line of many: as its text without the line ends behind it.
    pub(super) fn records(&self) -> Vec<Line<'_>> {
        let record = |(number, place): &(u64, Range<usize>)| {
            let raw = &self.bytes[place.clone()];
            Line { number: *number, text: raw.trim_ascii_end(), raw }
        };
        self.places.iter().map(record).collect()
    }
}

/// Why what follows cannot be FASTA, and the line that says so.
type NoFasta = (u64, &'static str);

/// What the lines before the first record say.
enum Start {
    /// A record begins at this byte and line.
    Record(usize, u64),
    /// Nothing yet: the first bytes are lines of which there are so many.
    Nothing(usize, u64),
}

/// Looks for the first record. Blank lines and comments, which begin with `;`, may come before it.
/// Unless `ended`, the last line may not be complete.
fn start(bytes: &[u8], mut line: u64, ended: bool) -> Result<Start, NoFasta> {
    let mut at = 0;
    loop {
        let rest = &bytes[at..];
        let end = memchr2(b'\n', b'\r', rest);
        let this = &rest[..end.unwrap_or(rest.len())];
        match (this.first(), this.trim_ascii().first()) {
            (Some(b'>'), _) => return Ok(Start::Record(at, line)),
            (Some(b';'), _) | (_, None) => {}
            (Some(b'@'), _) => return Err((line, FASTQ)),
            _ => return Err((line, NO_FASTA)),
        }
        match end {
            Some(end) => {
                line += u64::from(rest[end] == b'\n');
                at += end + 1;
            }
            None => return Ok(Start::Nothing(if ended { bytes.len() } else { at }, line)),
        }
    }
}

/// Checks that a whole text is FASTA, or that there is nothing in it.
pub(super) fn check(text: &[u8]) -> Result<(), &'static str> {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    start(text, 1, true).map(|_| ()).map_err(|(_, cause)| cause)
}

/// Why a text that is to be cut into k-mers cannot be a sequence, if that shows.
pub(crate) fn no_sequence(text: &str) -> Option<&'static str> {
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    text.starts_with('@').then_some(FASTQ)
}

/// The id of a record: the first word of its first line, which begins with `>`.
pub(super) fn id(record: &str) -> Option<&str> {
    let header = record.lines().next().and_then(|line| line.split('\r').next());
    header?.strip_prefix('>')?.split_whitespace().next()
}

/// Cuts a stream into records, in blocks.
pub(super) struct Sequences<R> {
    source: Source<R>,
    /// What was read after the last block; from the first record on it begins with one.
    rest: Vec<u8>,
    /// The line at which the rest begins.
    line: u64,
    ended: bool,
    /// The most bytes of a record, line ends and all. It bounds the memory of a block.
    most: usize,
    /// About so many bytes are a block.
    pub(super) block_bytes: usize,
}

impl<R: Read> Sequences<R> {
    pub(super) fn new(stream: R, read_already: Vec<u8>, most: usize) -> Self {
        Self {
            source: Source::new(stream),
            rest: read_already,
            line: 1,
            ended: false,
            most,
            block_bytes: BLOCK_BYTES,
        }
    }

    /// Passes over what comes before the first record. To be called once, at first.
    pub(super) fn begin(&mut self) -> io::Result<Result<(), NoFasta>> {
        while self.rest.len() < BYTE_ORDER_MARK.len() && self.read()? {}
        if self.rest.starts_with(BYTE_ORDER_MARK) {
            self.rest.drain(..BYTE_ORDER_MARK.len());
        }
        loop {
            match start(&self.rest, self.line, self.ended) {
                Err(none) => return Ok(Err(none)),
                Ok(Start::Record(at, line)) => {
                    self.rest.drain(..at);
                    self.line = line;
                    return Ok(Ok(()));
                }
                Ok(Start::Nothing(seen, line)) => {
                    self.rest.drain(..seen);
                    self.line = line;
                    if self.ended {
                        return Ok(Ok(()));
                    }
                    if self.rest.len() > self.most {
                        return Ok(Err((line, "a line before the first record is too long")));
                    }
                }
            }
            self.read()?;
        }
    }

    /// Reads on; returns whether there was more.
    fn read(&mut self) -> io::Result<bool> {
        self.ended = self.source.read_some(64 << 10, &mut self.rest)? == 0;
        Ok(!self.ended)
    }

    pub(super) fn next(&mut self) -> io::Result<Option<SequenceBlock>> {
        let mut bytes = std::mem::take(&mut self.rest);
        // Where records begin, the first at 0; all before `seen` was looked at.
        let (mut starts, mut seen) = (vec![0], 1);
        let mut more_at_hand = false;
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
            let enough = self.ended || !more_at_hand || bytes.len() >= self.block_bytes;
            if self.ended || starts.len() > BLOCK_LINES || complete && enough {
                break;
            }
            if bytes.len() - open > self.most {
                match complete {
                    true => break,
                    false => return self.skip(&bytes).map(Some),
                }
            }
            let want = self.block_bytes.saturating_sub(bytes.len()).max(self.block_bytes / 64);
            let read = self.source.read_some(want, &mut bytes)?;
            (self.ended, more_at_hand) = (read == 0, read == want);
        }
        if bytes.is_empty() {
            return Ok(None);
        }
        match self.ended && starts.len() <= BLOCK_LINES {
            true => starts.push(bytes.len()),
            false => self.rest = bytes.split_off(starts.last().copied().unwrap_or_default()),
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

    /// Passes over a record that is too long, of which there are these bytes.
    fn skip(&mut self, begun: &[u8]) -> io::Result<SequenceBlock> {
        let block = SequenceBlock { cut: Some(self.line), ..SequenceBlock::default() };
        self.line += lines(begun);
        // The last byte tells whether the next one begins a line.
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

/// Where the next record begins, from `from` on, which is not the beginning.
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
