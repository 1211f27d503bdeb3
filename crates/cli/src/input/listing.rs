//! Opens inputs whose lines are no documents: lists of ids, exports of an index.

use super::blocks::Blocks;
use super::compression::{self, Decompressed};
use super::foreign;
use super::source::STANDARD_INPUT;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Opens a file or standard input as blocks of lines of at most `most` bytes, and decompresses it
/// if needed.
pub fn open_lines(path: &Path, most: usize) -> io::Result<Blocks<Box<dyn Read + Send>>> {
    let stream: Box<dyn Read + Send> = match path.as_os_str() == STANDARD_INPUT {
        true => Box::new(io::stdin()),
        false => Box::new(File::open(path)?),
    };
    let Decompressed { mut start, mut rest } =
        compression::open(stream, compression::is_named(path))?;
    foreign::refuse(&mut rest, &mut start)?;
    Ok(Blocks::new(Box::new(rest), start, most))
}
