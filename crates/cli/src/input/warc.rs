//! Records of WARC (ISO 28500), of which those that hold a text are documents: pages as crawlers
//! store them, and the plain texts of WET.

use super::blocks::{BLOCK_LINES, BlockSize, READ_BYTES, StreamReader};
use super::encoding::decoded;
use super::record::{BadRecord, Body, Naming, RawRecord, Record, RecordName, too_long};
use super::text_form::TextForm;
use memchr::memmem;
use std::io::{self, Read};
use std::ops::Range;

/// The field that names a record, unless another one is asked for.
const RECORD_ID: &str = "WARC-Record-ID";

/// The most bytes of the head of a record.
const LONGEST_HEAD: usize = 64 << 10;

/// Some whole records.
#[derive(Default)]
pub struct WarcBlock {
    bytes: Vec<u8>,
    /// Each record's number, head and body.
    places: Vec<(u64, Range<usize>, Range<usize>)>,
    /// The number of a record that was left out because it is too long. The block is then empty.
    pub(super) cut: Option<u64>,
}

/// A record as it was read.
#[derive(Clone, Copy)]
pub struct RawWarc<'b> {
    number: u64,
    head: Head<'b>,
    body: &'b [u8],
    raw: &'b [u8],
}

impl WarcBlock {
    pub(super) fn records(&self) -> Vec<RawWarc<'_>> {
        let record = |(number, head, body): &(u64, Range<usize>, Range<usize>)| RawWarc {
            number: *number,
            head: Head(&self.bytes[head.clone()]),
            body: &self.bytes[body.clone()],
            raw: &self.bytes[head.start..body.end],
        };
        self.places.iter().map(record).collect()
    }
}

/// The head of a record or of an HTTP response: a line, then fields.
#[derive(Clone, Copy)]
struct Head<'b>(&'b [u8]);

impl<'b> Head<'b> {
    /// The value of a field, whatever the case of its name.
    fn get(self, name: &str) -> Option<&'b str> {
        let lines = self.0.split(|byte| *byte == b'\n').skip(1);
        let fields = lines.filter_map(|line| std::str::from_utf8(line).ok()?.split_once(':'));
        let mut found = fields.filter(|(field, _)| field.trim().eq_ignore_ascii_case(name));
        found.next().map(|(_, value)| value.trim())
    }

    /// Whether a record of this head may be a document.
    fn may_be_text(self) -> bool {
        let kind = self.get("WARC-Type").unwrap_or_default();
        ["conversion", "resource", "response"].iter().any(|text| kind.eq_ignore_ascii_case(text))
    }
}

/// Where a head ends, and where what follows its blank line begins.
fn head_end(bytes: &[u8]) -> Option<(usize, usize)> {
    // Lines may end in `\n` alone, and some heads have both.
    let blank = |blank: &[u8]| memmem::find(bytes, blank).map(|at| (at, at + blank.len()));
    let (end, start) = [blank(b"\n\r\n"), blank(b"\n\n")].into_iter().flatten().min()?;
    let end = if bytes[..end].ends_with(b"\r") { end - 1 } else { end };
    Some((end, start))
}

/// Cuts a stream into records, in blocks.
pub(super) struct WarcBlocks<R> {
    source: StreamReader<R>,
    /// The bytes after the last block.
    rest: Vec<u8>,
    /// How many bytes are passed over before the next record.
    skip: u64,
    /// The number of the record that was begun last.
    number: u64,
    ended: bool,
    /// An error to report after the records before it.
    failed: Option<io::Error>,
    /// The most bytes of the body of a record.
    most: usize,
    size: BlockSize,
}

/// What stands at a place of the stream.
enum Frame {
    /// A record of this head and body.
    Whole(Range<usize>, Range<usize>),
    /// The beginning of one.
    Begun,
    /// One whose body is too long, and where it begins.
    TooLong(Range<usize>, u64),
    /// Only line ends.
    Nothing,
}

impl<R: Read> WarcBlocks<R> {
    pub(super) fn new(stream: R, read_already: Vec<u8>, most: usize) -> Self {
        let source = StreamReader::new(stream);
        Self {
            source,
            rest: read_already,
            skip: 0,
            number: 0,
            ended: false,
            failed: None,
            most,
            size: BlockSize::growing(),
        }
    }

    /// Reads the next records that may be documents; `None` at the end of the stream. The records
    /// before an error come before it.
    pub(super) fn next(&mut self) -> io::Result<Option<WarcBlock>> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let mut block = WarcBlock { bytes: std::mem::take(&mut self.rest), ..WarcBlock::default() };
        match self.fill(&mut block) {
            Err(error) if block.places.is_empty() => Err(error),
            Err(error) => {
                self.failed = Some(error);
                Ok(Some(block))
            }
            Ok(()) => Ok((!block.places.is_empty() || block.cut.is_some()).then_some(block)),
        }
    }

    /// Takes records into a block, whose bytes are those that were read already.
    fn fill(&mut self, block: &mut WarcBlock) -> io::Result<()> {
        let mut at = 0;
        let mut more_at_hand = true;
        let size = self.size.next();
        loop {
            at += self.pass_over(block.bytes.len() - at);
            match self.frame(&block.bytes, at)? {
                Frame::Whole(head, body) => {
                    at = body.end;
                    self.number += 1;
                    if Head(&block.bytes[head.clone()]).may_be_text() {
                        block.places.push((self.number, head, body));
                    }
                    if block.places.len() < BLOCK_LINES {
                        continue;
                    }
                    break;
                }
                Frame::TooLong(head, length) => {
                    let is_text = Head(&block.bytes[head.clone()]).may_be_text();
                    if is_text && !block.places.is_empty() {
                        break;
                    }
                    self.number += 1;
                    at = head.end;
                    self.skip = length;
                    if is_text {
                        at += self.pass_over(block.bytes.len() - at);
                        block.cut = Some(self.number);
                        break;
                    }
                    continue;
                }
                Frame::Begun if self.ended => return Err(self.cut_short(self.number + 1)),
                Frame::Begun => {}
                // Line ends are not kept, however many there are.
                Frame::Nothing => at = block.bytes.len(),
            }
            if self.ended {
                break;
            }
            let enough = !more_at_hand || block.bytes.len() >= size;
            if !block.places.is_empty() && enough {
                break;
            }
            if block.places.is_empty() {
                block.bytes.drain(..at);
                at = 0;
            }
            let read = self.source.read_some(READ_BYTES, &mut block.bytes)?;
            (self.ended, more_at_hand) = (read == 0, read == READ_BYTES);
            if self.ended && self.skip > 0 {
                return Err(self.cut_short(self.number));
            }
        }
        self.rest = block.bytes.split_off(at);
        Ok(())
    }

    fn cut_short(&self, number: u64) -> io::Error {
        let cause = format!("cut short: record {number} is incomplete");
        io::Error::new(io::ErrorKind::UnexpectedEof, cause)
    }

    /// Takes as many of these bytes as are still to be passed over.
    fn pass_over(&mut self, bytes: usize) -> usize {
        let passed = self.skip.min(bytes as u64);
        self.skip -= passed;
        passed as usize
    }

    /// What stands at a place, after line ends.
    fn frame(&self, bytes: &[u8], at: usize) -> io::Result<Frame> {
        let bad = |cause: String| Err(io::Error::new(io::ErrorKind::InvalidData, cause));
        let number = self.number + 1;
        let ends = bytes[at..].iter().take_while(|byte| b"\r\n".contains(byte)).count();
        let start = at + ends;
        let rest = &bytes[start..];
        if rest.is_empty() || self.skip > 0 {
            return Ok(Frame::Nothing);
        }
        let magic = &b"WARC/"[..rest.len().min(5)];
        if !rest.starts_with(magic) {
            return bad(format!("is damaged WARC: record {number} does not begin with WARC/"));
        }
        let Some((head, body)) = head_end(&rest[..rest.len().min(LONGEST_HEAD)]) else {
            if rest.len() < LONGEST_HEAD {
                return Ok(Frame::Begun);
            }
            return bad(format!("is damaged WARC: the head of record {number} has no end"));
        };
        let length = Head(&rest[..head]).get("Content-Length").map(str::parse::<u64>);
        let Some(Ok(length)) = length else {
            return bad(format!("is damaged WARC: record {number} has no Content-Length"));
        };
        let head = start..start + head;
        let body = start + body;
        if length > self.most as u64 {
            return Ok(Frame::TooLong(head.start..body, length));
        }
        let end = body + length as usize;
        Ok(if end <= bytes.len() { Frame::Whole(head, body..end) } else { Frame::Begun })
    }
}

/// How the records of one stream become documents.
#[derive(Clone, Debug)]
pub struct WarcParser {
    /// The name of the stream in messages.
    pub path: String,
    /// The field that names a record; `None` for its own id.
    pub id_field: Option<String>,
    /// How records without it are named.
    pub naming: Naming,
    /// The most bytes of a record.
    pub most: usize,
}

impl WarcParser {
    /// The error for the record that was left out of a block, if any.
    pub(super) fn left_out(&self, block: &WarcBlock) -> Option<BadRecord> {
        let bad = |number| BadRecord { place: self.place(number), cause: too_long(self.most) };
        block.cut.map(bad)
    }

    fn place(&self, number: u64) -> String {
        format!("{}:{number}", self.path)
    }

    /// The document of a record; `None` if it holds no text, such as an image.
    pub(super) fn record<'b>(&self, record: RawWarc<'b>) -> Result<Option<Record<'b>>, BadRecord> {
        let RawWarc { number, head, body, raw } = record;
        let place = self.place(number);
        let bad = |cause: String| BadRecord { place: place.clone(), cause };
        let mut content_type = head.get("Content-Type").unwrap_or("text/plain");
        let mut body = body;
        if essence(content_type).eq_ignore_ascii_case("application/http") {
            let Some((end, start)) = head_end(body) else {
                return Err(bad("its HTTP response has no end of the head".to_owned()));
            };
            let response = Head(&body[..end]);
            body = &body[start..];
            content_type = response.get("Content-Type").unwrap_or("text/html");
            for coding in ["Transfer-Encoding", "Content-Encoding"] {
                let value = response.get(coding).filter(|value| !is_plain(value));
                if let Some(value) = value.filter(|_| is_text(content_type)) {
                    return Err(bad(format!(
                        "its body is stored as it was sent ({coding}: {value}); decode the archive \
                         first, or take its WET"
                    )));
                }
            }
        }
        if !is_text(content_type) {
            return Ok(None);
        }
        let text = decoded(body, charset(content_type)).map_err(bad)?;
        let id = head.get(self.id_field.as_deref().unwrap_or(RECORD_ID));
        let name = match id {
            Some(id) => Some(RecordName::Id(unbracketed(id).to_owned())),
            None => self.naming.name(number),
        };
        let name = name.ok_or_else(|| {
            let field = self.id_field.as_deref().unwrap_or(RECORD_ID);
            bad(format!("has no field `{field}`; name another with --id-field"))
        })?;
        let body = Body::Text(text);
        let raw = RawRecord::Warc(raw.into());
        Ok(Some(Record { name, body, place, raw, form: TextForm::Fixed }))
    }
}

/// Whether a coding changes nothing.
fn is_plain(coding: &str) -> bool {
    coding.is_empty() || coding.eq_ignore_ascii_case("identity")
}

/// A URI without the brackets around it.
fn unbracketed(id: &str) -> &str {
    id.strip_prefix('<').and_then(|id| id.strip_suffix('>')).unwrap_or(id)
}

/// A media type without its parameters.
fn essence(content_type: &str) -> &str {
    content_type.split(';').next().unwrap_or_default().trim()
}

fn is_text(content_type: &str) -> bool {
    let essence = essence(content_type).to_ascii_lowercase();
    essence.starts_with("text/") || essence == "application/xhtml+xml"
}

/// The encoding that a media type names.
fn charset(content_type: &str) -> Option<&str> {
    let mut parameters = content_type.split(';').skip(1).filter_map(|one| one.split_once('='));
    let found = parameters.find(|(name, _)| name.trim().eq_ignore_ascii_case("charset"));
    found.map(|(_, value)| value.trim().trim_matches('"'))
}

#[cfg(test)]
#[path = "warc_tests.rs"]
mod tests;
