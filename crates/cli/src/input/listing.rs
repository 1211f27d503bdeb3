//! Opens inputs whose lines are no documents: lists of ids, exports of an index.

use super::blocks::Blocks;
use super::compression::{self, Decompressed};
use super::foreign;
use super::input_file::InputFile;
use super::inputs::STANDARD_INPUT;
use memchr::memchr;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;

type Stream = Box<dyn Read + Send>;

/// Opens a file or standard input as blocks of lines of at most `most` bytes, and decompresses it
/// if needed.
pub fn open_lines(path: &Path, most: usize) -> io::Result<Blocks<Stream>> {
    let Decompressed { mut start, mut rest } =
        compression::open(open(path)?, compression::is_named(path))?;
    foreign::refuse_for_lines(&mut rest, &mut start)?;
    Ok(Blocks::new(Box::new(rest), start, most))
}

fn open(path: &Path) -> io::Result<Stream> {
    Ok(if path.as_os_str() == STANDARD_INPUT {
        Box::new(io::stdin())
    } else {
        InputFile::open(path)?.stream()?
    })
}

/// A list of texts that each end with a NUL. The last one may end with the list.
pub struct NulList {
    stream: BufReader<Stream>,
    /// The most bytes of a text.
    most: usize,
}

/// An entry of a list.
pub enum Listed {
    Text(Vec<u8>),
    /// A text that is longer than the limit. It was passed over.
    TooLong,
}

impl NulList {
    /// Opens a file or standard input, and decompresses it if needed.
    pub fn open(path: &Path, most: usize) -> io::Result<Self> {
        let Decompressed { start, rest } =
            compression::open(open(path)?, compression::is_named(path))?;
        Ok(Self { stream: BufReader::new(Box::new(Cursor::new(start).chain(rest))), most })
    }

    /// Reads the next text, without its NUL. Returns `None` at the end of the list.
    pub fn read(&mut self) -> io::Result<Option<Listed>> {
        let (mut text, mut is_too_long) = (Vec::new(), false);
        loop {
            let bytes = match self.stream.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                bytes => bytes?,
            };
            let end = memchr(0, bytes);
            let piece = &bytes[..end.unwrap_or(bytes.len())];
            is_too_long |= text.len() + piece.len() > self.most;
            if is_too_long {
                text.clear();
            } else {
                text.extend_from_slice(piece);
            }
            let (is_ended, count) = (bytes.is_empty(), end.map_or(bytes.len(), |end| end + 1));
            self.stream.consume(count);
            if is_ended && text.is_empty() && !is_too_long {
                return Ok(None);
            }
            if is_ended || end.is_some() {
                return Ok(Some(if is_too_long { Listed::TooLong } else { Listed::Text(text) }));
            }
        }
    }
}
