//! Opens a text that is read as a stream, so that it may have any length.

use super::compression::{self, Decompressed};
use super::fasta::no_sequence;
use super::foreign;
use super::input_file::InputFile;
use super::inputs::STANDARD_INPUT;
use super::record::{BYTE_ORDER_MARK, BadRecord};
use std::io::{self, Cursor, Read};
use std::path::Path;

/// The number of first bytes that are checked for being a sequence.
const LOOKED_AT: u64 = 64 << 10;

/// Opens a file or standard input as one text without its byte order mark, and decompresses it if
/// needed. Errors are worded as for [`whole_text`](super::whole_text).
pub fn open_text(path: &Path) -> Result<Box<dyn Read + Send>, BadRecord> {
    let bad = |cause: String| BadRecord { place: path.display().to_string(), cause };
    let io = |error: io::Error| bad(error.to_string());
    let stream: Box<dyn Read + Send> = match path.as_os_str() == STANDARD_INPUT {
        true => Box::new(io::stdin()),
        false if path.is_dir() => return Err(bad("is a directory; name a file".into())),
        false if path.to_str().is_none() => return Err(bad("its name is not valid UTF-8".into())),
        false => InputFile::open(path).and_then(|file| file.stream()).map_err(io)?,
    };
    let Decompressed { mut start, mut rest } =
        compression::open(stream, compression::is_named(path)).map_err(io)?;
    foreign::refuse(&mut rest, &mut start).map_err(io)?;
    let mut text = Cursor::new(start).chain(rest);
    let mut first = Vec::new();
    text.by_ref().take(BYTE_ORDER_MARK.len() as u64).read_to_end(&mut first).map_err(io)?;
    if first == BYTE_ORDER_MARK {
        first.clear();
    }
    Ok(Box::new(Cursor::new(first).chain(text)))
}

/// Opens a text that will be cut into k-mers. Refuses it if its first bytes are FASTQ.
pub fn open_sequence(path: &Path) -> Result<Box<dyn Read + Send>, BadRecord> {
    let bad = |cause: String| BadRecord { place: path.display().to_string(), cause };
    let mut stream = open_text(path)?;
    let mut start = Vec::new();
    let read = stream.by_ref().take(LOOKED_AT).read_to_end(&mut start);
    read.map_err(|error| bad(error.to_string()))?;
    match no_sequence(&String::from_utf8_lossy(&start)) {
        Some(cause) => Err(bad(cause.to_owned())),
        None => Ok(Box::new(Cursor::new(start).chain(stream))),
    }
}
