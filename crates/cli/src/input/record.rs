//! A record, as the command gets it: its name, its text, what it was read from.

use std::borrow::Cow;
use std::fmt;
use std::str::Utf8Error;
use std::sync::Arc;
use twindex::{Content, Tokens, Weights};

/// What some programs put before UTF-8; it is no part of a text in JSON or of a table.
pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// How a record is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Name {
    /// It has an id.
    Id(String),
    /// It comes from standard input and has none: the index gives it one.
    Automatic,
}

/// A record, its text borrowed from the batch where it can be.
pub struct Record<'a> {
    pub name: Name,
    pub body: Body<'a>,
    /// Where it was read: path and line.
    pub place: String,
    pub raw: Raw<'a>,
}

/// What a record is about.
#[derive(Clone, Debug, PartialEq)]
pub enum Body<'a> {
    Text(Cow<'a, str>),
    /// A set that is ready, which needs an index whose shingle is `token`.
    Set(Tokens),
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

    /// As an index takes it.
    pub fn content(&self) -> Content<'_> {
        match self {
            Self::Text(text) => Content::Text(text),
            Self::Set(tokens) => Content::Tokens(tokens),
            Self::Weights(weights) => Content::Weights(weights),
        }
    }

    /// The text, unless it is a set.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Set(_) | Self::Weights(_) => None,
        }
    }
}

/// What is said of anything else that comes to an index of weighted sets.
pub const WANTS_WEIGHTS: &str = "the index compares weights; give JSON Lines, each with `weights`, an object with a number for \
     each token";

/// What a record was read from, after decompression, to be written again as it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Raw<'a> {
    /// A whole file, which its path stands for.
    File,
    /// Bytes of a stream, with the line end if there is one.
    Bytes(&'a [u8]),
    /// A record of a table. Header and records written one after the other are the table byte for
    /// byte, but for blank lines, which are no records.
    Row {
        /// The first record, which names the columns, with its line end, and what came before it.
        header: &'a Arc<[u8]>,
        /// With the line end if there is one, which only the last may lack.
        bytes: &'a [u8],
    },
}

/// A record that cannot be read, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadRecord {
    pub place: String,
    pub cause: String,
}

impl fmt::Display for BadRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.cause)
    }
}

/// How records without an id of their own are named.
#[derive(Clone, Debug)]
pub enum Naming {
    /// By this prefix and their line.
    Prefix(String),
    /// By the path alone, as all of it is one text.
    Path,
    /// They are not: each must have an id of its own.
    Required,
    /// By the index.
    Automatic,
}

/// What is said of a record that is longer than the limit. It has not been read whole.
pub(super) fn too_long(most: usize) -> String {
    format!("longer than {}, the most that a record may have; see --max-record", size(most))
}

pub(super) fn not_utf8(error: Utf8Error) -> String {
    format!("not valid UTF-8 at byte {}", error.valid_up_to() + 1)
}

/// A size as the option takes it.
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
