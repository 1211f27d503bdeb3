//! The text output of `dedup` and `screen`: the kept records, each with the bytes it had in the
//! input.

use crate::commands::outputs::choices::Choice;
use crate::commands::outputs::partial_file::{LengthAndHash, OutputWriter};
use crate::input::{RawRecord, RowBatch, TableHead, TextForm};
use crate::run::failure::Failure;
use anyhow::anyhow;
use bytes::Bytes;
use serde_json::Value;
use std::sync::Arc;

/// The mark that some programs write at the start of a UTF-8 file.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// The form in which the output receives a kept record.
#[derive(Clone, Debug)]
pub(crate) enum OutputRecord {
    /// The path of a file, written on its own line.
    Path(String),
    /// The bytes of a record of a stream, with its line end if it has one.
    Bytes(Bytes),
    /// A record of WARC, to which the line ends behind it are added.
    Warc(Bytes),
    /// A row of a table. The output starts with the header of the table.
    Row { header: Arc<[u8]>, bytes: Bytes },
    /// A row of a table by columns.
    Columns { batch: Arc<RowBatch>, row: usize, text: Option<NewText> },
    /// A record that is written later, when the input is read again.
    Chosen(Choice),
}

/// Another text for a column of a row.
#[cfg_attr(not(feature = "tables"), expect(dead_code, reason = "no table is written"))]
#[derive(Clone, Debug)]
pub(crate) struct NewText {
    pub(crate) column: String,
    pub(crate) text: String,
}

impl OutputRecord {
    /// Takes the bytes of a record, its row, or its path if the record is a whole file.
    pub(crate) fn new(raw: RawRecord<'_>) -> Self {
        match raw {
            RawRecord::File(path) => Self::Path(path.to_owned()),
            RawRecord::Bytes(bytes) => Self::Bytes(bytes.kept()),
            RawRecord::Row { header, bytes } => {
                Self::Row { header: Arc::clone(header), bytes: bytes.kept() }
            }
            RawRecord::Warc(bytes) => Self::Warc(bytes.kept()),
            RawRecord::Columns { batch, row } => {
                Self::Columns { batch: Arc::clone(batch), row, text: None }
            }
        }
    }

    /// Whether a list of paths can hold the record on a line of its own.
    pub(crate) fn is_one_line(&self) -> bool {
        !matches!(self, Self::Path(path) if path.contains('\n'))
    }

    /// The record with another field at its end. `None` if it is no object of JSON.
    pub(crate) fn with_field(&self, form: TextForm, name: &str, value: &Value) -> Option<Self> {
        match self {
            Self::Bytes(bytes) => {
                form.with_field(bytes, name, value).map(|bytes| Self::Bytes(bytes.into()))
            }
            _ => None,
        }
    }

    /// The record with another text in its field of this name. `None` if its text cannot be
    /// exchanged.
    pub(crate) fn with_text(&self, form: TextForm, field: &str, text: &str) -> Option<Self> {
        Some(match self {
            Self::Bytes(bytes) => Self::Bytes(form.with_text(bytes, field, text)?.into()),
            Self::Row { header, bytes } => {
                let bytes = form.with_text(bytes, field, text)?.into();
                Self::Row { header: Arc::clone(header), bytes }
            }
            Self::Columns { batch, row, .. } => {
                let text = NewText { column: field.to_owned(), text: text.to_owned() };
                Self::Columns { batch: Arc::clone(batch), row: *row, text: Some(text) }
            }
            Self::Path(_) | Self::Warc(_) | Self::Chosen(_) => return None,
        })
    }
}

/// The format that all records of one output share.
#[derive(Clone, Debug, PartialEq, Eq)]
enum OutputFormat {
    Paths,
    Lines,
    Warc,
    /// Rows of tables with this header.
    Rows(Arc<[u8]>),
    /// Rows by columns, which are not written: the run has no output.
    Columns,
}

impl OutputFormat {
    /// Whether one output can hold records of both formats. Tables match if their headers are equal
    /// apart from the byte order mark, the line end, and quotes that a name does not need.
    fn is_like(&self, other: &Self) -> bool {
        fn unquoted(part: &[u8]) -> &[u8] {
            let inner = part.strip_prefix(b"\"").and_then(|part| part.strip_suffix(b"\""));
            inner.filter(|inner| !inner.contains(&b'"')).unwrap_or(part)
        }
        fn part(part: &[u8]) -> (&[u8], Option<u8>) {
            match part.split_last() {
                Some((end @ (b',' | b'\t'), name)) => (unquoted(name), Some(*end)),
                _ => (unquoted(part), None),
            }
        }
        fn columns(header: &[u8]) -> Vec<(&[u8], Option<u8>)> {
            let header = header.strip_prefix(BYTE_ORDER_MARK).unwrap_or(header);
            let end = header.iter().rposition(|byte| !b"\r\n".contains(byte));
            let header = header.get(..end.map_or(0, |last| last + 1)).unwrap_or_default();
            // A name with a delimiter is in several parts, of which none has quotes at both ends.
            let parts = header.split_inclusive(|byte| b",\t".contains(byte));
            parts.map(part).collect()
        }
        match (self, other) {
            (Self::Rows(one), Self::Rows(other)) => columns(one) == columns(other),
            (one, other) => one == other,
        }
    }
}

/// The output that receives the kept records.
pub(crate) struct KeptOutput {
    writer: OutputWriter,
    /// `None` until the first record or table.
    format: Option<OutputFormat>,
    /// The last byte of the output, which an interrupted run may have written.
    last: Option<u8>,
}

impl KeptOutput {
    /// Starts an output, or continues the one that an interrupted run has written.
    pub(crate) fn new(writer: OutputWriter) -> Self {
        let last = match &writer {
            OutputWriter::File(file) => file.last(),
            OutputWriter::Stream(..) | OutputWriter::Nowhere => None,
        };
        Self { writer, format: None, last }
    }

    /// Checks that a record has the format of the records before it. The first record sets the
    /// format.
    pub(crate) fn admit(&mut self, written: &OutputRecord, place: &str) -> Result<(), Failure> {
        let format = match written {
            OutputRecord::Path(_) => OutputFormat::Paths,
            OutputRecord::Bytes(_) => OutputFormat::Lines,
            OutputRecord::Warc(_) => OutputFormat::Warc,
            OutputRecord::Row { header, .. } => OutputFormat::Rows(Arc::clone(header)),
            OutputRecord::Columns { .. } if !self.writer.is_nowhere() => {
                return Err(wants_columns(place));
            }
            OutputRecord::Columns { .. } => OutputFormat::Columns,
            OutputRecord::Chosen(_) => return Ok(()),
        };
        let Some(before) = &self.format else {
            self.format = Some(format);
            return Ok(());
        };
        if before.is_like(&format) {
            return Ok(());
        }
        if [before, &format].contains(&&OutputFormat::Paths) {
            return Err(anyhow!(
                "{place}: the paths of whole files and records cannot be written to one file; \
                 choose one kind of input with --glob, or give them one after the other"
            )
            .into());
        }
        let why = match (before, &format) {
            (OutputFormat::Rows(_), OutputFormat::Rows(_)) => "tables with other columns",
            (OutputFormat::Rows(_), _) | (_, OutputFormat::Rows(_)) => "tables and others",
            (OutputFormat::Warc, _) | (_, OutputFormat::Warc) => "WARC and others",
            (OutputFormat::Columns, _) | (_, OutputFormat::Columns) => "rows by columns and others",
            _ => "files and lines",
        };
        Err(anyhow!(
            "{place}: {why} cannot be written to one file; write to a folder, for instance -o \
             kept/, or give them one after the other"
        )
        .into())
    }

    /// Starts the output as a table and writes its header. Does nothing if the output has a format
    /// already, and writes no header to a resumed output that is not empty.
    pub(crate) fn begin_table(&mut self, head: &TableHead) -> Result<(), Failure> {
        let TableHead::Text(header) = head else { return Ok(()) };
        if self.format.is_some() {
            return Ok(());
        }
        self.format = Some(OutputFormat::Rows(Arc::clone(header)));
        if self.last.is_some() { Ok(()) } else { self.put(header) }
    }

    /// Writes a record that [`Self::admit`] has accepted.
    pub(crate) fn write(&mut self, written: &OutputRecord) -> Result<(), Failure> {
        // A row of a table may end in `\r` alone.
        let in_table = matches!(self.format, Some(OutputFormat::Rows(_)));
        let ended = match self.last {
            None | Some(b'\n') => true,
            Some(b'\r') => in_table,
            Some(_) => false,
        };
        if !ended {
            self.put(b"\n")?;
        }
        match written {
            OutputRecord::Path(path) => {
                self.put(path.as_bytes())?;
                self.put(b"\n")
            }
            // A byte order mark belongs only at the start of a file.
            OutputRecord::Bytes(bytes) if self.last.is_some() => {
                self.put(bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes))
            }
            OutputRecord::Bytes(bytes) | OutputRecord::Row { bytes, .. } => self.put(bytes),
            OutputRecord::Warc(bytes) => {
                self.put(bytes)?;
                self.put(b"\r\n\r\n")?;
                // Readers of compressed WARC jump to records.
                self.writer.end_member()
            }
            OutputRecord::Columns { .. } | OutputRecord::Chosen(_) => Ok(()),
        }
    }

    /// Writes bytes and remembers the last one.
    fn put(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.last = bytes.last().copied().or(self.last);
        self.writer.write(bytes)
    }

    /// Makes the written records durable. Returns the length and hash of the file, or `None` if the
    /// output is no file.
    pub(crate) fn sync(&mut self) -> Result<Option<LengthAndHash>, Failure> {
        self.writer.sync()
    }

    /// Deletes what was written of a file, which no later run needs.
    pub(crate) fn discard(self) -> Result<(), Failure> {
        self.writer.discard()
    }

    /// Completes the output: a file gets its final name.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        self.writer.finish()
    }
}

/// The error for a row by columns that is to be written as text.
pub(crate) fn wants_columns(place: &str) -> Failure {
    anyhow!(
        "{place}: rows of Parquet and Arrow keep their columns; end the name of the output in \
         .parquet or .arrow"
    )
    .into()
}

/// The error for a record whose text cannot be changed.
pub(crate) fn fixed_text(place: &str) -> Failure {
    anyhow!(
        "{place}: only the texts of JSON Lines, tables (no dictionaries) and lines can be written \
         without their passages; whole records of any format can be removed"
    )
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::outputs::partial_file::PartialFile;

    fn bytes(text: &str) -> OutputRecord {
        OutputRecord::Bytes(text.to_owned().into())
    }

    #[test]
    fn a_missing_line_end_is_written_before_the_next_line() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("out");
        let file = PartialFile::create(&path).ok().expect("created");
        let mut kept = KeptOutput::new(OutputWriter::File(file.into()));
        for text in ["\u{feff}a\r\n", "\u{feff}b"] {
            assert!(kept.write(&bytes(text)).is_ok());
        }
        let begun = kept.sync().ok().flatten().expect("a file");
        drop(kept);
        let file = PartialFile::resume(&path, begun).ok().flatten().expect("it is there");
        let mut kept = KeptOutput::new(OutputWriter::File(file.into()));
        assert!(kept.write(&bytes("c")).is_ok());
        assert!(kept.finish().is_ok());
        assert_eq!(std::fs::read_to_string(&path).expect("a file"), "\u{feff}a\r\nb\nc");
    }

    #[test]
    fn rows_may_end_in_a_carriage_return_alone() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("out");
        for (header, expected) in
            [("id,text\r", "id,text\ra,x\rb,y\nc,z\r"), ("id,text", "id,text\na,x\rb,y\nc,z\r")]
        {
            let file = PartialFile::create(&path).ok().expect("created");
            let mut kept = KeptOutput::new(OutputWriter::File(file.into()));
            assert!(kept.begin_table(&TableHead::Text(header.as_bytes().into())).is_ok());
            for row in ["a,x\r", "b,y", "c,z\r"] {
                let header = header.as_bytes().into();
                assert!(kept.write(&OutputRecord::Row { header, bytes: row.into() }).is_ok());
            }
            assert!(kept.finish().is_ok());
            assert_eq!(std::fs::read_to_string(&path).expect("a file"), expected);
        }
    }
}
