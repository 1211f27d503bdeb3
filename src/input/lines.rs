//! Batches of raw records, and parsing them on all threads.

use super::blocks::{Block, Line};
use super::json::{Fields, parse};
use rayon::prelude::*;
use std::borrow::Cow;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::str::{self, Utf8Error};

/// What some programs put before UTF-8; it is no part of a JSON text.
pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// How a record is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Name {
    /// It has an id.
    Id(String),
    /// It comes from standard input and has none: the index gives it one.
    Automatic,
}

/// A record, its text borrowed from the batch.
pub(crate) struct Record<'a> {
    pub(crate) name: Name,
    pub(crate) text: Cow<'a, str>,
    /// Where it was read: path and line.
    pub(crate) place: String,
    pub(crate) raw: Raw<'a>,
}

/// What a record was read from, to be written again as it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Raw<'a> {
    /// A whole file, which its path stands for.
    File,
    /// Bytes of a stream, with the line end if there is one.
    Bytes(&'a [u8]),
}

/// A record that cannot be read, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BadRecord {
    pub(crate) place: String,
    pub(crate) cause: String,
}

impl fmt::Display for BadRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.cause)
    }
}

/// How records without an id of their own are named.
#[derive(Clone, Debug)]
pub(crate) enum Naming {
    /// By this prefix and their line.
    Prefix(String),
    /// They are not: each must have an id of its own.
    Required,
    /// By the index.
    Automatic,
}

/// What the lines of a stream are.
#[derive(Clone, Debug)]
pub(crate) enum LineFormat {
    /// Each is a text.
    Text,
    /// Each is a JSON object.
    Json(Fields),
    /// All together are one text.
    Whole,
}

/// The stream that lines come from.
#[derive(Clone, Debug)]
pub(crate) struct Stream {
    /// As messages name it.
    pub(crate) path: String,
    pub(crate) format: LineFormat,
    pub(crate) naming: Naming,
    /// The most bytes of a record.
    pub(crate) most: usize,
}

/// Some raw records, in order.
pub(crate) enum Batch {
    /// Lines of a stream.
    Lines(Stream, Block),
    /// Whole files, each a text, with their sizes when they were found, and the most bytes that are
    /// taken.
    Files(Vec<(PathBuf, u64)>, usize),
    /// Something that cannot be read at all.
    Bad(BadRecord),
}

impl Batch {
    /// How many bytes of input it is.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Lines(_, block) => block.len(),
            Self::Files(files, _) => files.iter().map(|(_, size)| *size as usize).sum(),
            Self::Bad(_) => 0,
        }
    }

    /// Parses every record on all threads, hands each to `take`, and returns what that made of
    /// them, in order. Blank lines between JSON records are none.
    pub(crate) fn parse<T: Send>(
        &self,
        take: impl Fn(Record<'_>) -> Result<T, BadRecord> + Sync,
    ) -> Vec<Result<T, BadRecord>> {
        match self {
            Self::Bad(bad) => vec![Err(bad.clone())],
            Self::Files(files, most) => {
                let read = |(path, _): &(PathBuf, u64)| {
                    read_file(path, *most).and_then(|file| file.give(&take))
                };
                groups(files, *most as u64)
                    .flat_map(|group| group.par_iter().map(read).collect::<Vec<_>>())
                    .collect()
            }
            Self::Lines(stream, block) => {
                if let Some(number) = block.cut {
                    let cause = too_long(stream.most);
                    return vec![Err(BadRecord { place: stream.place(number), cause })];
                }
                let records = block
                    .lines()
                    .into_par_iter()
                    .filter_map(|line| stream.record(line).transpose());
                records.map(|record| record.and_then(&take)).collect()
            }
        }
    }
}

impl Stream {
    fn place(&self, line: u64) -> String {
        format!("{}:{line}", self.path)
    }

    fn record<'a>(&self, line: Line<'a>) -> Result<Option<Record<'a>>, BadRecord> {
        let Line { number, text: line, raw } = line;
        let bad = |cause: String| BadRecord { place: self.place(number), cause };
        if line.len() > self.most {
            return Err(bad(too_long(self.most)));
        }
        let (id, text) = match &self.format {
            LineFormat::Text | LineFormat::Whole => {
                let text = str::from_utf8(line).map_err(|error| bad(not_utf8(error)))?;
                (None, Cow::Borrowed(text))
            }
            LineFormat::Json(fields) => {
                let marked = line.strip_prefix(BYTE_ORDER_MARK).filter(|_| number == 1);
                let json = marked.unwrap_or(line);
                if json.trim_ascii().is_empty() {
                    return Ok(None);
                }
                parse(json, fields).map_err(bad)?
            }
        };
        let name = match (id, &self.naming) {
            (Some(id), _) => Name::Id(id.into_owned()),
            (None, Naming::Prefix(prefix)) => Name::Id(format!("{prefix}:{number}")),
            (None, Naming::Automatic) => Name::Automatic,
            (None, Naming::Required) => {
                let field = match &self.format {
                    LineFormat::Json(fields) => fields.id.as_str(),
                    LineFormat::Text | LineFormat::Whole => "id",
                };
                return Err(bad(format!("no field `{field}`")));
            }
        };
        Ok(Some(Record { name, text, place: self.place(number), raw: Raw::Bytes(raw) }))
    }
}

struct WholeFile {
    path: String,
    text: String,
}

impl WholeFile {
    fn give<T>(&self, take: impl Fn(Record<'_>) -> Result<T, BadRecord>) -> Result<T, BadRecord> {
        take(Record {
            name: Name::Id(self.path.clone()),
            text: Cow::Borrowed(&self.text),
            place: self.path.clone(),
            raw: Raw::File,
        })
    }
}

/// Files that are read at the same time, which have at most so many bytes together, or are one.
fn groups(files: &[(PathBuf, u64)], most: u64) -> impl Iterator<Item = &[(PathBuf, u64)]> {
    let mut rest = files;
    std::iter::from_fn(move || {
        let mut bytes = 0_u64;
        let fit = rest.iter().take_while(|(_, size)| {
            bytes = bytes.saturating_add(*size);
            bytes <= most
        });
        let (group, later) = rest.split_at(fit.count().max(1).min(rest.len()));
        rest = later;
        (!group.is_empty()).then_some(group)
    })
}

/// What is said of a record that is longer than the limit. It has not been read whole.
fn too_long(most: usize) -> String {
    format!("longer than {}, the most that a record may have; see --max-record", size(most))
}

/// A size as the option takes it.
fn size(bytes: usize) -> String {
    let units = [(1 << 30, "G"), (1 << 20, "M"), (1 << 10, "K")];
    let unit = units.into_iter().find(|(unit, _)| bytes > 0 && bytes.is_multiple_of(*unit));
    unit.map_or_else(|| format!("{bytes} bytes"), |(unit, name)| format!("{}{name}", bytes / unit))
}

fn not_utf8(error: Utf8Error) -> String {
    format!("not valid UTF-8 at byte {}", error.valid_up_to() + 1)
}

fn read_file(path: &Path, most: usize) -> Result<WholeFile, BadRecord> {
    let bad = |cause: String| BadRecord { place: path.display().to_string(), cause };
    let name = path.to_str().ok_or_else(|| bad("its name is not valid UTF-8".into()))?;
    let bytes = read_at_most(path, most).map_err(|error| bad(error.to_string()))?;
    let bytes = bytes.ok_or_else(|| bad(too_long(most)))?;
    let text = String::from_utf8(bytes).map_err(|error| bad(not_utf8(error.utf8_error())))?;
    Ok(WholeFile { path: name.to_owned(), text })
}

/// The content of a file; `None` if it has more bytes, as a device may that never ends.
fn read_at_most(path: &Path, most: usize) -> io::Result<Option<Vec<u8>>> {
    let file = File::open(path)?;
    let size = file.metadata()?.len();
    if size > most as u64 {
        return Ok(None);
    }
    // One byte more than expected, so that the end is found without a larger buffer.
    let mut bytes = Vec::with_capacity(size as usize + 1);
    file.take((most as u64).saturating_add(1)).read_to_end(&mut bytes)?;
    Ok((bytes.len() <= most).then_some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_read_together_fit_into_the_limit() {
        for (sizes, groups_of) in [
            (vec![], vec![]),
            (vec![3, 3, 4, 1], vec![3, 1]),
            (vec![50, 1, 60, 10, 1], vec![1, 1, 1, 1, 1]),
            (vec![0; 5], vec![5]),
            (vec![5, u64::MAX, u64::MAX, 5, 5], vec![1, 1, 1, 2]),
        ] {
            let files: Vec<_> = sizes.iter().map(|size| (PathBuf::new(), *size)).collect();
            let lengths: Vec<usize> = groups(&files, 10).map(<[_]>::len).collect();
            assert_eq!(lengths, groups_of, "{sizes:?}");
        }
    }

    #[test]
    fn sizes_are_written_as_the_option_takes_them() {
        for (bytes, text) in
            [(0, "0 bytes"), (1000, "1000 bytes"), (1 << 10, "1K"), (3 << 29, "1536M")]
        {
            assert_eq!(size(bytes), text);
        }
    }
}
