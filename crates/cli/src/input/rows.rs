//! Cuts a table into its records. A line end inside quotes does not end a record.

use super::blocks::{BLOCK_LINES, BlockSize, END_BYTES, StreamReader};
use super::record::BYTE_ORDER_MARK;
use csv_core::{ReadRecordResult, Reader, ReaderBuilder};
use memchr::memchr_iter;
use std::io::{self, Read};
use std::ops::Range;

/// Some whole records of a table.
#[derive(Default)]
pub struct RowBlock {
    bytes: Vec<u8>,
    /// The first line of each record, and its place in the bytes.
    places: Vec<(u64, Range<usize>)>,
    /// The first line of a record that was left out, and why. The block is then empty.
    pub(super) cut: Option<(u64, Cut)>,
}

/// Why a record was left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// It is longer than the limit.
    TooLong,
    /// It has a quote that is never closed.
    OpenQuote,
}

/// A record as it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RawRow<'b> {
    /// The number of its first line, from 1.
    pub(super) line: u64,
    /// Its bytes, with the line end if there is one.
    pub(super) raw: &'b [u8],
}

impl RowBlock {
    pub(super) fn rows(&self) -> Vec<RawRow<'_>> {
        let row = |(line, place): &(u64, Range<usize>)| RawRow {
            line: *line,
            raw: &self.bytes[place.clone()],
        };
        self.places.iter().map(row).collect()
    }
}

/// A parser of records, at the beginning of one. Creating it takes some microseconds. It must not
/// be cloned: `csv-core` 0.1.13 leaves out part of its table.
pub(super) fn parser(delimiter: u8) -> Reader {
    let mut parser = ReaderBuilder::new().delimiter(delimiter).build();
    begin(&mut parser);
    parser
}

/// Resets a parser to the beginning of a record that is not the first.
pub(super) fn begin(parser: &mut Reader) {
    parser.reset();
    // The parser would drop a byte order mark at its very first byte, so it is given a line end.
    parser.read_record(b"\n", &mut [0], &mut [0]);
}

/// Cuts a table into blocks of records.
pub(super) struct RowBlocks<R> {
    source: StreamReader<R>,
    parser: Reader,
    /// The bytes after the last block.
    rest: Vec<u8>,
    /// How many bytes of `rest` the parser has seen.
    seen: usize,
    /// The number of the first line of `rest`.
    line: u64,
    /// Whether the parser has been given any bytes.
    started: bool,
    ended: bool,
    /// The most bytes of a record. It bounds the memory of a block.
    most: usize,
    pub(super) size: BlockSize,
}

impl<R: Read> RowBlocks<R> {
    pub(super) fn new(stream: R, read_already: Vec<u8>, delimiter: u8, most: usize) -> Self {
        Self {
            source: StreamReader::new(stream),
            parser: parser(delimiter),
            rest: read_already,
            seen: 0,
            line: 1,
            started: false,
            ended: false,
            most,
            size: BlockSize::growing(),
        }
    }

    /// Reads the first record, which names the columns, and the bytes before it.
    pub(super) fn header(&mut self) -> io::Result<Option<RowBlock>> {
        self.take(1)
    }

    /// Reads the next records after the header.
    pub(super) fn next(&mut self) -> io::Result<Option<RowBlock>> {
        self.take(BLOCK_LINES)
    }

    fn take(&mut self, most_rows: usize) -> io::Result<Option<RowBlock>> {
        let mut block = RowBlock { bytes: std::mem::take(&mut self.rest), ..RowBlock::default() };
        // The incomplete record begins at `start`. The parser has seen all bytes before `at`.
        let (mut start, mut at) = (0, self.seen);
        let mut more_at_hand = false;
        let size = self.size.next();
        loop {
            self.scan(&mut block, &mut start, &mut at, most_rows);
            let RowBlock { bytes, places, .. } = &mut block;
            if self.ended && places.len() < most_rows && start < bytes.len() {
                if self.ends_here() {
                    places.push((self.line, start..bytes.len()));
                    start = bytes.len();
                } else if places.is_empty() {
                    return Ok(Some(self.left_out(Cut::OpenQuote, &[])));
                }
            }
            let enough = self.ended || !more_at_hand || at >= size;
            if self.ended || !places.is_empty() && (places.len() == most_rows || enough) {
                break;
            }
            if bytes.len() - start > self.most.saturating_add(END_BYTES) {
                if !places.is_empty() {
                    break;
                }
                // Blank lines before it are counted already.
                bytes.drain(..start);
                return self.skip(bytes, at - start).map(Some);
            }
            if places.is_empty() {
                // Blank lines are not kept, however many there are.
                bytes.drain(..start);
                (start, at) = (0, at - start);
            }
            let want = size.saturating_sub(bytes.len()).max(self.size.step());
            let read = self.source.read_some(want, bytes)?;
            (self.ended, more_at_hand) = (read == 0, read == want);
        }
        self.rest = block.bytes.split_off(start);
        self.seen = at.saturating_sub(start);
        Ok((!block.places.is_empty()).then_some(block))
    }

    /// Finds the ends of records in the bytes that the parser has not seen.
    fn scan(&mut self, block: &mut RowBlock, start: &mut usize, at: &mut usize, most_rows: usize) {
        let RowBlock { bytes, places, .. } = block;
        // The byte after `\r` decides where the line end ends.
        let held_back = usize::from(!self.ended && bytes.last() == Some(&b'\r'));
        let until = bytes.len() - held_back;
        if !self.started {
            if bytes.len() < BYTE_ORDER_MARK.len() && !self.ended {
                return;
            }
            self.started = true;
            *at = if bytes.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
        }
        while places.len() < most_rows && *at < until {
            if *at == *start && matches!(bytes[*at], b'\r' | b'\n') {
                // A blank line is no record.
                self.line += u64::from(ends_line(bytes, *at));
                (*start, *at) = (*start + 1, *at + 1);
                continue;
            }
            let (seen, ended) = see(&mut self.parser, &bytes[*at..until]);
            *at += seen;
            if ended {
                if bytes[*at - 1] == b'\r' && bytes.get(*at) == Some(&b'\n') {
                    *at += 1;
                }
                places.push((self.line, *start..*at));
                self.line += lines(&bytes[*start..*at]);
                // A record may end in `\r` alone.
                self.line += u64::from(bytes[*at - 1] == b'\r');
                *start = *at;
            }
        }
    }

    /// Whether the current record may end with the stream. It may not inside quotes.
    fn ends_here(&mut self) -> bool {
        see(&mut self.parser, b"\n").1
    }

    /// Skips a record that is too long. `bytes` is its beginning; the parser has seen the first
    /// `seen` bytes.
    fn skip(&mut self, bytes: &mut Vec<u8>, seen: usize) -> io::Result<RowBlock> {
        let mut piece = bytes.split_off(seen);
        let mut block = self.left_out(Cut::TooLong, bytes);
        bytes.clear();
        loop {
            let (seen, ended) = see(&mut self.parser, &piece);
            self.line += lines(&piece[..seen]);
            if ended {
                self.rest = piece.split_off(seen);
                return Ok(block);
            }
            piece.drain(..seen);
            if piece.is_empty() && self.source.read_some(64 << 10, &mut piece)? == 0 {
                self.ended = true;
                if !self.ends_here() {
                    block.cut = block.cut.map(|(line, _)| (line, Cut::OpenQuote));
                }
                return Ok(block);
            }
        }
    }

    /// Leaves out a record that consists of these bytes.
    fn left_out(&mut self, cut: Cut, bytes: &[u8]) -> RowBlock {
        let line = self.line;
        self.line += lines(bytes);
        self.seen = 0;
        RowBlock { cut: Some((line, cut)), ..RowBlock::default() }
    }
}

/// Whether a byte is the last one of a line end: `\n`, or `\r` alone.
fn ends_line(bytes: &[u8], at: usize) -> bool {
    bytes[at] == b'\n' || bytes.get(at + 1) != Some(&b'\n')
}

fn lines(bytes: &[u8]) -> u64 {
    memchr_iter(b'\n', bytes).count() as u64
}

/// Gives bytes to the parser until a record ends. Returns how many it took, and whether a record
/// ended.
fn see(parser: &mut Reader, bytes: &[u8]) -> (usize, bool) {
    // The contents of the fields are not needed here.
    let (mut fields, mut ends) = ([0; 4096], [0; 256]);
    let mut seen = 0;
    while seen < bytes.len() {
        let (found, read, _, _) = parser.read_record(&bytes[seen..], &mut fields, &mut ends);
        seen += read;
        if found == ReadRecordResult::Record {
            return (seen, true);
        }
    }
    (seen, false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Records with their lines, or why one was left out, read so many bytes at a time.
    fn cut(text: &[u8], drip: usize, most: usize) -> Vec<(u64, Result<Vec<u8>, Cut>)> {
        struct Drip<'a>(&'a [u8], usize);
        impl Read for Drip<'_> {
            fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
                let count = self.1.min(out.len());
                (&mut self.0).take(count as u64).read(out)
            }
        }
        let mut rows = RowBlocks::new(Drip(text, drip), Vec::new(), b',', most);
        rows.size = BlockSize::fixed(64);
        let mut out = Vec::new();
        let mut next = rows.header();
        while let Some(block) = next.expect("memory can be read") {
            assert_eq!(block.cut.is_some(), block.rows().is_empty());
            out.extend(block.cut.map(|(line, cut)| (line, Err(cut))));
            out.extend(block.rows().iter().map(|row| (row.line, Ok(row.raw.to_vec()))));
            next = rows.next();
        }
        out
    }

    fn whole(rows: &[(u64, &str)]) -> Vec<(u64, Result<Vec<u8>, Cut>)> {
        rows.iter().map(|(line, row)| (*line, Ok(row.as_bytes().to_vec()))).collect()
    }

    #[test]
    fn a_record_ends_at_a_line_end_outside_quotes() {
        let text = "id,text\r\na,\"x\r\ny\"\"\n\"\r\n\r\n\nb,\"\"\nc,d\"e\n\"\",\rf,g";
        let expected = whole(&[
            (1, "id,text\r\n"),
            (2, "a,\"x\r\ny\"\"\n\"\r\n"),
            (7, "b,\"\"\n"),
            (8, "c,d\"e\n"),
            (9, "\"\",\r"),
            (10, "f,g"),
        ]);
        for drip in 1..70 {
            assert_eq!(cut(text.as_bytes(), drip, 100), expected, "{drip}");
        }
    }

    #[test]
    fn a_byte_order_mark_stays_with_the_header() {
        for header in ["\u{feff}\"id\",\"te\nxt\"\n", "\u{feff}\n\nid,text\n"] {
            let text = format!("{header}a,b\n\u{feff},c\n");
            let line = 1 + lines(header.as_bytes());
            let expected = whole(&[(1, header), (line, "a,b\n"), (line + 1, "\u{feff},c\n")]);
            for drip in 1..9 {
                assert_eq!(cut(text.as_bytes(), drip, 100), expected, "{drip}");
            }
        }
    }

    #[test]
    fn a_quote_that_nothing_closes_is_the_last_record() {
        let text = "id,text\na,b\nc,\"d\ne,f\n";
        for drip in 1..30 {
            let mut expected = whole(&[(1, "id,text\n"), (2, "a,b\n")]);
            expected.push((3, Err(Cut::OpenQuote)));
            assert_eq!(cut(text.as_bytes(), drip, 100), expected);
            expected[2].1 = Err(Cut::OpenQuote);
            assert_eq!(cut(text.as_bytes(), drip, 3)[2..], expected[2..], "also if too long");
        }
    }

    #[test]
    fn a_record_that_is_too_long_is_left_out_and_the_next_one_read() {
        let long = "x\n".repeat(100_000);
        let text = format!("id,text\r\na,\"{long}\"\r\nb,c\r\n");
        for drip in [7, 1_000, 1 << 20] {
            let found = cut(text.as_bytes(), drip, 1_000);
            let last = (100_003, Ok(b"b,c\r\n".to_vec()));
            assert_eq!(found[1..], [(2, Err(Cut::TooLong)), last], "{drip}");
        }
    }

    #[test]
    fn blank_lines_before_a_record_that_is_too_long_are_counted_once() {
        let text = format!("id,text\n\n\r\n\na,{}\n\nb,c\n", "x".repeat(500));
        for drip in (1..80).chain([1_000]) {
            let found = cut(text.as_bytes(), drip, 100);
            let last = (7, Ok(b"b,c\n".to_vec()));
            assert_eq!(found[1..], [(5, Err(Cut::TooLong)), last], "{drip}");
        }
    }

    proptest! {
        #[test]
        fn all_records_together_are_the_table(
            text in "[ab,\"\r\n]{0,60}", drip in 1_usize..80
        ) {
            let all = cut(text.as_bytes(), drip, 1_000);
            // A record with an open quote is left out.
            let open = all.iter().any(|row| row.1 == Err(Cut::OpenQuote));
            let joined: Vec<u8> =
                all.into_iter().flat_map(|row| row.1.unwrap_or_default()).collect();
            let mut text = text.into_bytes();
            if open {
                text = cut(&[&text[..], b"\""].concat(), drip, 1_000)
                    .into_iter()
                    .flat_map(|row| row.1.unwrap_or_default())
                    .collect();
                prop_assert!(text.starts_with(&joined));
            } else {
                // Blank lines are dropped, so the rest differs only in line ends.
                let plain = |bytes: &[u8]| -> Vec<u8> {
                    bytes.iter().copied().filter(|byte| !matches!(byte, b'\r' | b'\n')).collect()
                };
                prop_assert_eq!(plain(&joined), plain(&text));
                if !text.windows(2).any(|two| matches!(two, b"\n\n" | b"\n\r" | b"\r\r"))
                    && !matches!(text.first(), Some(b'\r' | b'\n'))
                {
                    prop_assert_eq!(joined, text);
                }
            }
        }
    }
}
