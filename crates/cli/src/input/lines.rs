//! A line of a stream becomes a record.

use super::blocks::Line;
use super::fasta;
use super::json::{self, Fields};
use super::record::{
    BYTE_ORDER_MARK, BadRecord, Body, Name, Naming, Raw, Record, not_utf8, too_long,
};
use super::sets;
use std::borrow::Cow;
use std::str;

/// What the lines of a stream are.
#[derive(Clone, Debug)]
pub enum LineFormat {
    /// Each is a text.
    Text,
    /// Each is a JSON object.
    Json(Fields),
    /// Each is an id and the elements of a set.
    Tokens,
    /// All together are one text.
    Whole,
    /// All together are FASTA, and one text.
    Fasta,
    /// So many are one record of FASTA.
    FastaRecord,
}

/// The stream that lines come from.
#[derive(Clone, Debug)]
pub struct Stream {
    /// As messages name it.
    pub path: String,
    pub format: LineFormat,
    pub naming: Naming,
    /// The most bytes of a record.
    pub most: usize,
}

impl Stream {
    /// What is at this line and was left out.
    pub(super) fn too_long(&self, line: u64) -> BadRecord {
        BadRecord { place: self.place(line), cause: too_long(self.most) }
    }

    fn place(&self, line: u64) -> String {
        match self.naming {
            Naming::Path => self.path.clone(),
            _ => format!("{}:{line}", self.path),
        }
    }

    /// The record of a line; `None` for a blank line between JSON records.
    pub(super) fn record<'a>(&self, line: Line<'a>) -> Result<Option<Record<'a>>, BadRecord> {
        let Line { number, text: line, raw } = line;
        let bad = |cause: String| BadRecord { place: self.place(number), cause };
        // What ends a line is no part of it, but of a record of many.
        let length = match self.format {
            LineFormat::FastaRecord => raw.len(),
            _ => line.len(),
        };
        if length > self.most {
            return Err(self.too_long(number));
        }
        let unmarked = || {
            let marked = line.strip_prefix(BYTE_ORDER_MARK).filter(|_| number == 1);
            marked.unwrap_or(line)
        };
        let (id, body) = match &self.format {
            LineFormat::Text | LineFormat::Whole => {
                let text = str::from_utf8(line).map_err(|error| bad(not_utf8(error)))?;
                (None, Body::Text(Cow::Borrowed(text)))
            }
            LineFormat::Fasta => {
                fasta::check(line).map_err(|cause| bad(cause.to_owned()))?;
                let text = str::from_utf8(line).map_err(|error| bad(not_utf8(error)))?;
                (None, Body::Text(Cow::Borrowed(text)))
            }
            LineFormat::FastaRecord => {
                let text = str::from_utf8(line).map_err(|error| bad(not_utf8(error)))?;
                (fasta::id(text).map(Cow::Borrowed), Body::Text(Cow::Borrowed(text)))
            }
            LineFormat::Json(fields) => {
                let line = unmarked();
                if line.trim_ascii().is_empty() {
                    return Ok(None);
                }
                json::parse(line, fields).map_err(bad)?
            }
            LineFormat::Tokens => {
                let (id, tokens) = sets::parse(unmarked()).map_err(bad)?;
                (Some(Cow::Borrowed(id)), Body::Set(tokens))
            }
        };
        let name = match (id, &self.naming) {
            (Some(id), _) => Name::Id(id.into_owned()),
            (None, Naming::Prefix(prefix)) => Name::Id(format!("{prefix}:{number}")),
            (None, Naming::Path) => Name::Id(self.path.clone()),
            (None, Naming::Automatic) => Name::Automatic,
            (None, Naming::Required) => {
                return Err(bad(match &self.format {
                    LineFormat::Json(fields) => format!("no field `{}`", fields.id),
                    LineFormat::FastaRecord => "no id behind >".to_owned(),
                    _ => "no id".to_owned(),
                }));
            }
        };
        let raw = match self.naming {
            Naming::Path => Raw::File,
            _ => Raw::Bytes(raw),
        };
        Ok(Some(Record { name, body, place: self.place(number), raw }))
    }
}
