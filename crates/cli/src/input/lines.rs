//! Parses a line of a stream as a record.

use super::blocks::Line;
use super::fasta;
use super::format::Format;
use super::json::{self, Fields};
use super::names::no_field;
use super::record::{
    BYTE_ORDER_MARK, BadRecord, Body, Naming, RawRecord, Record, RecordName, not_utf8, too_long,
};
use super::sets;
use super::text_form::TextForm;
use std::borrow::Cow;
use std::str;

/// The format of the lines of a stream.
#[derive(Clone, Debug)]
pub enum LineFormat {
    /// Each line is a text.
    Text,
    /// Each line is a JSON object.
    Json(Fields),
    /// Each line is an id and the elements of a set.
    Tokens,
    /// All lines together are one text.
    Whole,
    /// All lines together are FASTA and one text.
    Fasta,
    /// Several lines are one record of FASTA.
    FastaRecord,
}

/// Parses the lines of one stream.
#[derive(Clone, Debug)]
pub struct LineParser {
    /// The name of the stream in messages.
    pub path: String,
    /// The format of its lines.
    pub format: LineFormat,
    /// How records without an id are named.
    pub naming: Naming,
    /// The most bytes of a record.
    pub most: usize,
}

impl LineParser {
    /// The format of its records, unless all lines are one text.
    pub(super) fn format(&self) -> Option<Format> {
        match &self.format {
            LineFormat::Text => Some(Format::Lines),
            LineFormat::Json(_) => Some(Format::JsonLines),
            LineFormat::Tokens => Some(Format::Tokens),
            LineFormat::FastaRecord => Some(Format::FastaRecords),
            LineFormat::Whole | LineFormat::Fasta => None,
        }
    }

    /// The error for a record at this line that was left out because it is too long.
    pub(super) fn too_long(&self, line: u64) -> BadRecord {
        BadRecord { place: self.place(line), cause: too_long(self.most) }
    }

    fn place(&self, line: u64) -> String {
        match self.naming {
            Naming::Path(_) => self.path.clone(),
            _ => format!("{}:{line}", self.path),
        }
    }

    /// The record of a line; `None` for a blank line between JSON records.
    pub(super) fn record<'a>(&'a self, line: Line<'a>) -> Result<Option<Record<'a>>, BadRecord> {
        let Line { number, text: line, raw } = line;
        let bad = |cause: String| BadRecord { place: self.place(number), cause };
        // The length of a line does not include its line end, but a record has several lines.
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
        let name = match id {
            Some(id) => Some(RecordName::Id(id.into_owned())),
            None => self.naming.name(number),
        };
        let name = match name {
            Some(name) => name,
            None => {
                return Err(bad(match &self.format {
                    LineFormat::Json(fields) => {
                        no_field(fields.id.as_deref().unwrap_or_default(), "--id-field", unmarked())
                    }
                    LineFormat::FastaRecord => "no id behind >".to_owned(),
                    _ => "no id".to_owned(),
                }));
            }
        };
        let form = match (&self.naming, &self.format, &body) {
            (Naming::Path(_), ..) => TextForm::Fixed,
            (_, LineFormat::Text, _) => TextForm::Line,
            (_, LineFormat::Json(_), Body::Text(_)) => TextForm::Json,
            _ => TextForm::Fixed,
        };
        let raw = match &self.naming {
            Naming::Path(path) => RawRecord::File(path),
            _ => RawRecord::Bytes(raw),
        };
        Ok(Some(Record { name, body, place: self.place(number), raw, form }))
    }
}
