//! A record of an input: its name, its body, and the bytes it was read from.

use super::columns::{RowBatch, RowSchema};
use super::part::Part;
use super::text_form::TextForm;
use std::borrow::Cow;
use std::fmt;
use std::str::Utf8Error;
use std::sync::Arc;
use twindex::{Content, Form, Tokens, Weights};

/// The byte order mark that some programs write before UTF-8. It is no part of JSON or of a table.
pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// The text without a byte order mark at its beginning. The mark says how a file is encoded, and is
/// no character of the text.
pub fn unmarked(text: &str) -> &str {
    text.strip_prefix('\u{FEFF}').unwrap_or(text)
}

/// The name of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordName {
    /// It has an id.
    Id(String),
    /// It has no id; it is named by its file, or the prefix of standard input, and its number.
    Numbered(String),
    /// It has no id; it comes from standard input. The index gives it an id.
    Automatic,
}

impl RecordName {
    /// The id, unless the index gives it one.
    pub fn id(&self) -> Option<&str> {
        match self {
            Self::Id(id) | Self::Numbered(id) => Some(id),
            Self::Automatic => None,
        }
    }

    /// The id, unless the index gives it one.
    pub fn into_id(self) -> Option<String> {
        match self {
            Self::Id(id) | Self::Numbered(id) => Some(id),
            Self::Automatic => None,
        }
    }
}

/// A record. Its text is borrowed from the batch if possible.
pub struct Record<'a> {
    /// Its id, or that the index gives it one.
    pub name: RecordName,
    /// The text or set that is indexed.
    pub body: Body<'a>,
    /// Where it was read: the path, and the line if it is not a whole file.
    pub place: String,
    /// The bytes it was read from.
    pub raw: RawRecord<'a>,
    /// How they hold its text.
    pub form: TextForm,
}

/// The text or set of a record.
#[derive(Clone, Debug, PartialEq)]
pub enum Body<'a> {
    /// A text, which the index cuts into shingles.
    Text(Cow<'a, str>),
    /// A ready set. Its index must have the shingle `token`.
    Set(Tokens),
    /// A weighted set. Its index must be one of weights.
    Weights(Weights),
}

impl Body<'_> {
    #[cfg(any(test, fuzzing))]
    pub(super) fn into_owned(self) -> Body<'static> {
        match self {
            Self::Text(text) => Body::Text(Cow::Owned(text.into_owned())),
            Self::Set(tokens) => Body::Set(tokens),
            Self::Weights(weights) => Body::Weights(weights),
        }
    }

    /// The body as an index takes it: a text is without its byte order mark.
    pub fn content(&self) -> Content<'_> {
        match self {
            Self::Text(text) => Content::Text(unmarked(text)),
            Self::Set(tokens) => Content::Tokens(tokens),
            Self::Weights(weights) => Content::Weights(weights),
        }
    }

    /// Whether the body has more than `most` bytes in this form. Of weights, one token is
    /// normalised at a time.
    pub fn exceeds(&self, form: Form, most: usize) -> bool {
        let may = |bytes: usize| bytes > most / form.most_growth();
        match self {
            Self::Text(text) => may(text.len()) && form.length_within(text, most).is_none(),
            Self::Set(tokens) => {
                let left = |left: usize, token| Some(left - form.length_within(token, left)?);
                may(tokens.iter().map(str::len).sum())
                    && tokens.iter().try_fold(most, left).is_none()
            }
            Self::Weights(_) => false,
        }
    }

    /// The text without its byte order mark; `None` if the body is a set.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(unmarked(text)),
            Self::Set(_) | Self::Weights(_) => None,
        }
    }
}

/// The message for any other record that comes to an index of weighted sets.
pub const WANTS_WEIGHTS: &str = "the index compares weights; give JSON Lines, each with \
                                 `weights`, an object with a number for each token";

/// What a record was read from, so that it can be written unchanged: its bytes after decompression,
/// or its row.
#[derive(Clone, Copy, Debug)]
pub enum RawRecord<'a> {
    /// A whole file. This path is written in its place.
    File(&'a str),
    /// Bytes of a stream, with the line end if there is one.
    Bytes(Part<'a>),
    /// A record of a table. The header and all records together are the table byte for byte, except
    /// for blank lines.
    Row {
        /// The first record, which names the columns: with its line end, and the bytes before it.
        header: &'a Arc<[u8]>,
        /// The record with its line end. Only the last record may lack one.
        bytes: Part<'a>,
    },
    /// A record of WARC, without the line ends behind it.
    Warc(Part<'a>),
    /// A row of a table by columns.
    Columns {
        /// The row and some others, with the columns that were asked for.
        batch: &'a Arc<RowBatch>,
        /// The number of the row among them, from 0.
        row: usize,
    },
}

/// What stands before the rows of a table, and is written even if no row is.
#[derive(Clone, Debug)]
pub enum TableHead {
    /// The first record of a table of text.
    Text(Arc<[u8]>),
    /// The columns of a table by columns.
    Columns(RowSchema),
}

/// A record that cannot be read, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadRecord {
    /// Where it was read: the path, and the line if known.
    pub place: String,
    /// Why it cannot be read.
    pub cause: String,
}

impl BadRecord {
    /// What to add for a command with the option `--encoding`, if this is text in an encoding that
    /// the option could name.
    pub fn encoding_advice(&self) -> Option<String> {
        let told = self.cause.strip_prefix("is text in ");
        if let Some((encoding, _)) = told.and_then(|told| told.split_once(" and not in UTF-8")) {
            let is_read = encoding.starts_with("UTF-16");
            return is_read.then(|| format!(", or say --encoding {}", encoding.to_lowercase()));
        }
        let is_invalid =
            self.cause.contains("not valid UTF-8 at byte") && !self.cause.contains("of its body");
        is_invalid.then(|| "; if it is Latin-1, give it alone, with --encoding latin1".to_owned())
    }

    /// The file it was read from: its place without the line.
    pub fn file(&self) -> &str {
        match self.place.rsplit_once(':') {
            Some((file, line)) if line.bytes().all(|byte| byte.is_ascii_digit()) => file,
            _ => &self.place,
        }
    }
}

impl fmt::Display for BadRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.cause)
    }
}

/// How records without an id are named.
#[derive(Clone, Debug)]
pub enum Naming {
    /// By this prefix and the number of their line.
    Prefix(String),
    /// By this path, because the whole input is one text.
    Path(String),
    /// Not at all: each record must have an id.
    Required,
    /// By the index.
    Automatic,
}

impl Naming {
    /// The name of a record without an id; `None` if it must have one.
    pub fn name(&self, number: u64) -> Option<RecordName> {
        match self {
            Self::Prefix(prefix) => Some(RecordName::Numbered(format!("{prefix}:{number}"))),
            Self::Path(id) => Some(RecordName::Id(id.clone())),
            Self::Automatic => Some(RecordName::Automatic),
            Self::Required => None,
        }
    }
}

/// The message for a record that is longer than the limit.
pub fn too_long(most: usize) -> String {
    format!("longer than {}, the most that a record may have; see --max-record", size(most))
}

/// The message for a record that normalisation makes longer than the limit.
pub fn too_long_normalized(most: usize) -> String {
    let size = size(most);
    format!("longer than {size} when normalised, the most that a record may have; see --max-record")
}

pub(super) fn not_utf8(error: Utf8Error) -> String {
    format!("not valid UTF-8 at byte {}", error.valid_up_to() + 1)
}

/// A size in the notation of `--max-record`.
fn size(bytes: usize) -> String {
    let units = [(1 << 30, "G"), (1 << 20, "M"), (1 << 10, "K")];
    let unit = units.into_iter().find(|(unit, _)| bytes > 0 && bytes.is_multiple_of(*unit));
    unit.map_or_else(|| format!("{bytes} bytes"), |(unit, name)| format!("{}{name}", bytes / unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_written_as_the_option_takes_them() {
        for (bytes, text) in
            [(0, "0 bytes"), (1000, "1000 bytes"), (1 << 10, "1K"), (3 << 29, "1536M")]
        {
            assert_eq!(size(bytes), text);
        }
    }
}
