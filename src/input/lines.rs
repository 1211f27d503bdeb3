//! Batches of raw records, and parsing them on all threads.

use super::blocks::{Block, MOST_LINE_BYTES};
use super::json::{Fields, parse};
use rayon::prelude::*;
use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str;

/// What some programs put before UTF-8; it is no part of a JSON text.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

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
}

/// Some raw records, in order.
pub(crate) enum Batch {
    /// Lines of a stream.
    Lines(Stream, Block),
    /// Whole files, each a text.
    Files(Vec<PathBuf>),
    /// Something that cannot be read at all.
    Bad(BadRecord),
}

impl Batch {
    /// How many bytes were read for it; files are read when they are parsed.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Lines(_, block) => block.len(),
            Self::Files(_) | Self::Bad(_) => 0,
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
            Self::Files(paths) => {
                paths.par_iter().map(|path| read_file(path).and_then(|f| f.give(&take))).collect()
            }
            Self::Lines(stream, block) => {
                let mut lines = block.lines();
                let cut = if block.cut { lines.pop() } else { None };
                let mut results: Vec<_> = lines
                    .into_par_iter()
                    .filter_map(|(number, line)| stream.record(number, line).transpose())
                    .map(|record| record.and_then(&take))
                    .collect();
                if let Some((number, _)) = cut {
                    let what = if block.whole { "text" } else { "line" };
                    results.push(Err(BadRecord {
                        place: stream.place(number),
                        cause: format!("a {what} of more than {MOST_LINE_BYTES} bytes"),
                    }));
                }
                results
            }
        }
    }
}

impl Stream {
    fn place(&self, line: u64) -> String {
        format!("{}:{line}", self.path)
    }

    fn record<'a>(&self, number: u64, line: &'a [u8]) -> Result<Option<Record<'a>>, BadRecord> {
        let bad = |cause: String| BadRecord { place: self.place(number), cause };
        let (id, text) = match &self.format {
            LineFormat::Text | LineFormat::Whole => {
                let text = str::from_utf8(line).map_err(|error| {
                    bad(format!("not valid UTF-8 at byte {}", error.valid_up_to() + 1))
                })?;
                (None, Cow::Borrowed(text))
            }
            LineFormat::Json(fields) if number == 1 && line.starts_with(BYTE_ORDER_MARK) => {
                parse(&line[BYTE_ORDER_MARK.len()..], fields).map_err(bad)?
            }
            LineFormat::Json(_) if line.trim_ascii().is_empty() => return Ok(None),
            LineFormat::Json(fields) => parse(line, fields).map_err(bad)?,
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
        Ok(Some(Record { name, text, place: self.place(number) }))
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
        })
    }
}

fn read_file(path: &Path) -> Result<WholeFile, BadRecord> {
    let bad = |cause: String| BadRecord { place: path.display().to_string(), cause };
    let name = path.to_str().ok_or_else(|| bad("its name is not valid UTF-8".into()))?;
    let bytes = std::fs::read(path).map_err(|error| bad(error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        bad(format!("not valid UTF-8 at byte {}", error.utf8_error().valid_up_to() + 1))
    })?;
    Ok(WholeFile { path: name.to_owned(), text })
}
