//! The batches of Arrow IPC. In a file, a list at its end tells where they are; in a stream, one
//! follows the other.

use super::seekable::Seekable;
use super::table::{Selection, unread_type};
use crate::input::wanted::Wanted;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_buffer::Buffer;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{read_dictionary, read_footer_length, read_record_batch};
use arrow_ipc::{Block, Message, MessageHeader, root_as_footer, root_as_message};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use parquet::file::reader::Length;
use std::collections::{HashMap, VecDeque};
use std::io::{BufReader, Cursor, Read};
use std::sync::Arc;

/// The first bytes of a file. A stream has none.
pub(super) const MAGIC: &[u8] = b"ARROW1";

/// The bytes that are read at once.
const BUFFER: usize = 256 << 10;

/// The most bytes of the head of a message.
const LONGEST_HEAD: u32 = 64 << 20;

/// The most bytes of a body for which memory is taken before they are read.
const TRUSTED_BODY: u64 = 16 << 20;

/// How many times its bytes a compressed body may become, and what any body may become.
const MOST_GROWTH: u64 = 1000;
const SMALL_BODY: u64 = 64 << 20;

/// The bytes at the end of a file: the length of the list before them, and the magic number.
const END: u64 = 10;

/// The message for an input without its end.
const CUT_SHORT: &str = "is damaged or incomplete Arrow; it is cut short";

/// What stands before a message since version 0.15.
const CONTINUATION: u32 = u32::MAX;

/// The batches of a file or a stream, in order.
pub(super) struct ArrowBatches {
    messages: Messages,
    schema: SchemaRef,
    /// The columns that are decoded; `None` for all.
    columns: Option<Vec<usize>>,
    dictionaries: HashMap<i64, ArrayRef>,
}

/// The bytes of a message.
type HeadAndBody = (Vec<u8>, Vec<u8>);

/// Where messages come from.
enum Messages {
    Stream(BufReader<Box<dyn Read + Send>>),
    /// A file, and the places of its dictionaries and then its batches.
    File(Seekable, VecDeque<Block>),
}

impl ArrowBatches {
    /// Begins to read, and finds the columns that are wanted. `whole` is the input as a file that
    /// can be read at any place, if it is one.
    pub(super) fn open(
        start: Vec<u8>,
        rest: Box<dyn Read + Send>,
        whole: Option<Seekable>,
        wanted: &Wanted,
    ) -> Result<(Self, SchemaRef, Selection), String> {
        let is_file = start.starts_with(MAGIC);
        let (messages, schema) = match (is_file, whole) {
            (true, Some(file)) => open_file(file)?,
            (true, None) => {
                open_file(Seekable::spooled(&start, rest).map_err(|error| error.to_string())?)?
            }
            (false, _) => {
                let stream: Box<dyn Read + Send> = Box::new(Cursor::new(start).chain(rest));
                open_stream(BufReader::with_capacity(BUFFER, stream))?
            }
        };
        let schema = Arc::new(schema);
        let names = schema.fields().iter().map(|field| field.name().as_str());
        let selection = Selection::of(&names.collect::<Vec<_>>(), wanted)?;
        let columns = (!wanted.whole_rows).then(|| selection.read());
        let dictionaries = HashMap::new();
        let batches = Self { messages, schema: Arc::clone(&schema), columns, dictionaries };
        Ok((batches, schema, selection))
    }

    fn advance(&mut self) -> Result<Option<RecordBatch>, String> {
        while let Some((head, body)) = self.messages.next()? {
            let message = message_of(&head)?;
            let (body, version) = (Buffer::from_vec(body), message.version());
            let of_batch = match message.header_type() {
                MessageHeader::RecordBatch => message.header_as_record_batch(),
                MessageHeader::DictionaryBatch => {
                    message.header_as_dictionary_batch().and_then(|batch| batch.data())
                }
                // A block of zeros is a message of no kind.
                _ => return Err(damaged("a message holds no rows")),
            };
            let batch = of_batch.ok_or_else(|| damaged("a message is not what it says"))?;
            check_growth(batch, &body)?;
            if let Some(dictionary) = message.header_as_dictionary_batch() {
                let known = &mut self.dictionaries;
                read_dictionary(&body, dictionary, &self.schema, known, &version)
                    .map_err(|error| explained(&error))?;
                continue;
            }
            let (schema, known) = (Arc::clone(&self.schema), &self.dictionaries);
            let columns = self.columns.as_deref();
            let rows = read_record_batch(&body, batch, schema, known, columns, &version);
            return rows.map(Some).map_err(|error| explained(&error));
        }
        Ok(None)
    }
}

fn open_stream(mut stream: BufReader<Box<dyn Read + Send>>) -> Result<(Messages, Schema), String> {
    let head = read_head(&mut stream)?.ok_or_else(|| damaged("it has no schema"))?;
    let message = message_of(&head)?;
    let schema = message.header_as_schema().ok_or_else(|| damaged("it has no schema"))?;
    let schema = try_fb_to_schema(schema).map_err(|error| explained(&error))?;
    read_bytes(&mut stream, body_length(&message)?)?;
    Ok((Messages::Stream(stream), schema))
}

fn open_file(file: Seekable) -> Result<(Messages, Schema), String> {
    let at_end = |length: u64| {
        let place = file.len().checked_sub(length).ok_or(CUT_SHORT)?;
        read_bytes(&mut file.from(place), length)
    };
    let end = at_end(END)?;
    let end = end.first_chunk().ok_or(CUT_SHORT)?;
    let length = read_footer_length(*end).map_err(|_| CUT_SHORT)?;
    let footer = at_end(END + length as u64)?;
    let footer = footer.get(..length).unwrap_or_default();
    let footer = root_as_footer(footer).map_err(|error| damaged(&error.to_string()))?;
    let schema = footer.schema().ok_or_else(|| damaged("it has no schema"))?;
    let schema = try_fb_to_schema(schema).map_err(|error| explained(&error))?;
    let blocks = footer.dictionaries().into_iter().chain(footer.recordBatches());
    let blocks = blocks.flat_map(|blocks| blocks.iter().copied()).collect();
    Ok((Messages::File(file, blocks), schema))
}

impl Messages {
    /// The head and the body of the next message; `None` at the end.
    fn next(&mut self) -> Result<Option<HeadAndBody>, String> {
        match self {
            Self::Stream(stream) => {
                let Some(head) = read_head(stream)? else {
                    let more = stream.take(1).read_to_end(&mut Vec::new());
                    return match more.map_err(|error| error.to_string())? {
                        0 => Ok(None),
                        _ => Err(damaged("it has more bytes behind its end")),
                    };
                };
                let length = body_length(&message_of(&head)?)?;
                Ok(Some((head, read_bytes(stream, length)?)))
            }
            Self::File(file, blocks) => {
                let Some(block) = blocks.pop_front() else { return Ok(None) };
                let number = |number: i64| {
                    u64::try_from(number).map_err(|_| damaged("a place in it is negative"))
                };
                let mut stream = file.from(number(block.offset())?);
                let mut head = read_bytes(&mut stream, number(block.metaDataLength().into())?)?;
                // Before version 0.15 there was no mark before the length.
                let before = if head.starts_with(&CONTINUATION.to_le_bytes()) { 8 } else { 4 };
                head.drain(..before.min(head.len()));
                Ok(Some((head, read_bytes(&mut stream, number(block.bodyLength())?)?)))
            }
        }
    }
}

/// Yields the next batch of rows, or why the rest cannot be read.
impl Iterator for ArrowBatches {
    type Item = Result<RecordBatch, String>;

    fn next(&mut self) -> Option<Self::Item> {
        self.advance().transpose()
    }
}

/// The head of the next message; `None` at the end mark.
fn read_head(stream: &mut impl Read) -> Result<Option<Vec<u8>>, String> {
    let mut number = || {
        let bytes = read_bytes(stream, 4)?;
        Ok::<_, String>(bytes.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes)))
    };
    let length = match number()? {
        CONTINUATION => number()?,
        _ => return Err(damaged("a message does not begin with its mark")),
    };
    match length {
        0 => Ok(None),
        1..=LONGEST_HEAD => read_bytes(stream, length.into()).map(Some),
        _ => Err(damaged("the head of a message is too long")),
    }
}

fn message_of(head: &[u8]) -> Result<Message<'_>, String> {
    root_as_message(head).map_err(|error| damaged(&error.to_string()))
}

fn body_length(message: &Message<'_>) -> Result<u64, String> {
    u64::try_from(message.bodyLength()).map_err(|_| damaged("a message has a negative length"))
}

/// Reads so many bytes. Memory is taken as they come, because the length may be wrong.
fn read_bytes(stream: &mut impl Read, length: u64) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(length.min(TRUSTED_BODY) as usize);
    let read = stream.take(length).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if (read as u64) < length {
        return Err(CUT_SHORT.to_owned());
    }
    Ok(bytes)
}

/// Checks how large compressed buffers say that they become, before memory is taken for them.
fn check_growth(batch: arrow_ipc::RecordBatch<'_>, body: &Buffer) -> Result<(), String> {
    let buffers = batch.buffers().filter(|_| batch.compression().is_some());
    let most = SMALL_BODY.max(MOST_GROWTH.saturating_mul(body.len() as u64));
    let mut all = 0_u64;
    for buffer in buffers.iter().flatten() {
        let place = usize::try_from(buffer.offset()).unwrap_or(usize::MAX);
        let length = body.get(place..).and_then(<[u8]>::first_chunk);
        // No bytes are not compressed, and -1 says that others are not.
        let length =
            length.filter(|_| buffer.length() > 0).map_or(0, |length| i64::from_le_bytes(*length));
        all = all.saturating_add(u64::try_from(length.max(0)).unwrap_or(u64::MAX));
    }
    if all > most { Err(damaged("a batch says that it becomes too large")) } else { Ok(()) }
}

fn damaged(cause: &str) -> String {
    format!("is damaged or incomplete Arrow; {cause}")
}

fn explained(error: &ArrowError) -> String {
    unread_type(&error.to_string()).unwrap_or_else(|| damaged(&format!("its reader says: {error}")))
}
