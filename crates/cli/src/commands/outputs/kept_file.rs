//! A file of kept records: text, or rows by columns, by its name.

use crate::commands::outputs::kept_output::{KeptOutput, OutputRecord, wants_columns};
use crate::commands::outputs::kept_rows::KeptRows;
use crate::commands::outputs::partial_file::{LengthAndHash, OutputWriter, PartialFile};
use crate::commands::outputs::rows_spool::forget_spool;
use crate::input::{Format, RowSchema, TableHead};
use crate::run::column_format::ColumnFormat;
use crate::run::columns_file;
use crate::run::failure::Failure;
use crate::run::output_names::NamedFormat;
use crate::run::records::Source;
use anyhow::anyhow;
use std::path::Path;

/// A file of kept records, or a stream, or nothing.
pub(crate) enum KeptFile {
    Text(Box<KeptOutput>),
    Rows(Box<KeptRows>),
}

impl KeptFile {
    /// Starts a file.
    pub(crate) fn create(file: &Path) -> Result<Self, Failure> {
        Ok(match ColumnFormat::of(file) {
            Some(format) => Self::Rows(Box::new(KeptRows::create(file, format)?)),
            None => Self::text(OutputWriter::File(Box::new(PartialFile::create(file)?))),
        })
    }

    /// Continues the file that an interrupted run has written; `None` if it has changed.
    pub(crate) fn resume(file: &Path, content: LengthAndHash) -> Result<Option<Self>, Failure> {
        Ok(match ColumnFormat::of(file) {
            Some(format) => {
                let rows = KeptRows::resume(file, format, content)?;
                rows.map(|rows| Self::Rows(Box::new(rows)))
            }
            None => {
                let file = PartialFile::resume(file, content)?;
                file.map(|file| Self::text(OutputWriter::File(Box::new(file))))
            }
        })
    }

    /// Says what a file is that receives what is kept of one input.
    pub(crate) fn follow(&mut self, source: &Source) {
        if let Self::Rows(rows) = self {
            rows.follow(source.is_stream);
        }
    }

    /// Starts an output of text, which may be no file.
    pub(crate) fn text(writer: OutputWriter) -> Self {
        Self::Text(Box::new(KeptOutput::new(writer)))
    }

    /// Checks that a record can be written beside those before it.
    pub(crate) fn admit(&mut self, written: &OutputRecord, place: &str) -> Result<(), Failure> {
        match (self, written) {
            (Self::Text(text), _) => text.admit(written, place),
            (Self::Rows(rows), OutputRecord::Columns { batch, .. }) => {
                if rows.admits(batch.schema_ref()) {
                    return Ok(());
                }
                Err(anyhow!(
                    "{place}: tables with other columns cannot be written to one file; write to a \
                     folder, for instance -o kept/, or give them one after the other"
                )
                .into())
            }
            (Self::Rows(_), _) => Err(wants_text(place)),
        }
    }

    /// Starts the output as a table with this head. Later tables change nothing.
    pub(crate) fn begin_table(&mut self, head: &TableHead) -> Result<(), Failure> {
        match (self, head) {
            (Self::Text(text), head) => text.begin_table(head),
            (Self::Rows(rows), TableHead::Columns(schema)) => rows.begin_table(schema),
            (Self::Rows(_), TableHead::Text(_)) => Ok(()),
        }
    }

    /// Writes a record that [`Self::admit`] has accepted.
    pub(crate) fn write(&mut self, written: &OutputRecord) -> Result<(), Failure> {
        match (self, written) {
            (Self::Text(text), _) => text.write(written),
            (Self::Rows(rows), OutputRecord::Columns { batch, row, text }) => {
                rows.write(batch, *row, text.as_ref())
            }
            (Self::Rows(_), _) => Ok(()),
        }
    }

    /// Makes the written records durable. Returns the length and hash of the file that a later run
    /// continues, or `None` if the output is no file. After the last record, the output is complete
    /// but for its name.
    pub(crate) fn sync(&mut self, last: bool) -> Result<Option<LengthAndHash>, Failure> {
        match self {
            Self::Text(text) => text.sync(),
            Self::Rows(rows) if last => rows.seal().map(Some),
            Self::Rows(rows) => rows.sync().map(Some),
        }
    }

    /// Deletes what was written of a file, which no later run needs.
    pub(crate) fn discard(self) -> Result<(), Failure> {
        match self {
            Self::Text(text) => text.discard(),
            Self::Rows(rows) => rows.discard(),
        }
    }

    /// Completes the output: a file gets its final name.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        match self {
            Self::Text(text) => text.finish(),
            Self::Rows(rows) => rows.finish(),
        }
    }
}

/// Completes a file that an interrupted run has sealed: gives it its name, unless it has it
/// already. Returns false if it is not as that run has left it.
pub(crate) fn complete(file: &Path, content: LengthAndHash) -> Result<bool, Failure> {
    let complete = PartialFile::complete(file, content)?;
    if complete {
        forget_rows(file)?;
    }
    Ok(complete)
}

/// Gives a file that was sealed and closed its name.
pub(crate) fn name(file: &Path) -> Result<(), Failure> {
    PartialFile::name(file)?;
    forget_rows(file)
}

/// Deletes what a complete file of rows by columns was made from, if it is there.
pub(crate) fn forget_rows(file: &Path) -> Result<(), Failure> {
    match ColumnFormat::of(file) {
        Some(_) => forget_spool(file),
        None => Ok(()),
    }
}

/// Fails if the records cannot be written to this file. `schema` has their columns, if they are
/// rows by columns. `is_stream` says that a file of Arrow is to be a stream.
pub(crate) fn check(
    file: &Path,
    schema: Option<&RowSchema>,
    is_stream: bool,
) -> Result<(), Failure> {
    let place = file.display().to_string();
    match (schema, ColumnFormat::of(file)) {
        (None, None) => Ok(()),
        (None, Some(_)) => Err(wants_text(&place)),
        (Some(_), None) => Err(wants_columns(&place)),
        (Some(schema), Some(format)) => {
            let format = format.as_input(is_stream);
            columns_file::check(format, schema).map_err(|cause| anyhow!("{place}: {cause}").into())
        }
    }
}

/// Fails if the name of a file says another format than that of the records, which are written as
/// they came. They may always have the extension that they came with.
pub(crate) fn check_format(file: &Path, source: &Source) -> Result<(), Failure> {
    let Some(named) = NamedFormat::of(file).filter(|named| *named != NamedFormat::Columns) else {
        return Ok(());
    };
    if source.file.as_deref().and_then(NamedFormat::of) == Some(named) {
        return Ok(());
    }
    let (what, extension) = match source.format {
        Some(Format::Csv) if named != NamedFormat::Csv => ("CSV", ".csv"),
        Some(Format::Tsv) if named != NamedFormat::Tsv => ("a table with tabs", ".tsv"),
        Some(Format::JsonLines) if named != NamedFormat::JsonLines => ("JSON Lines", ".jsonl"),
        Some(Format::Lines | Format::Tokens) => ("lines of text", ".txt"),
        Some(Format::Text) => ("a list of paths", ".txt"),
        Some(Format::FastaRecords) => ("FASTA", ".fa"),
        Some(Format::Warc) => ("WARC", ".warc"),
        _ => return Ok(()),
    };
    Err(anyhow!(
        "{}: its name says another format; what is kept is {what}, as it came, so end the name in \
         {extension}",
        file.display()
    )
    .into())
}

/// The error for a record of text that is to be written by columns.
fn wants_text(place: &str) -> Failure {
    anyhow!(
        "{place}: only rows of Parquet or Arrow can be written to Parquet or Arrow; give the \
         output the extension of the input"
    )
    .into()
}
