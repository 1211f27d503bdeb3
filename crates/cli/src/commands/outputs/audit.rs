//! The audit of `dedup` and `screen`: one line for each record that is removed or changed, and why.

use crate::commands::outputs::partial_file::{LengthAndHash, OutputWriter, PartialFile};
use crate::commands::outputs::targets::{Target, Targets};
use crate::report::ReadLines;
use crate::run::compressor::decompressed;
use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::terminal::output::{Results, json_line, likeness};
use anyhow::Context;
use serde_json::{Map, Value, json};
use std::fs::File;
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::Path;
use tempfile::SpooledTempFile;
use twindex::{KnownPassage, KnownPassages};

/// The names of the columns of an audit.
pub(crate) type Columns = &'static [&'static str];

/// The most bytes of a copy of an audit that are held in memory.
const MAX_COPY_BYTES: usize = 8 << 20;

/// The audit of one run.
pub(crate) struct Audit {
    /// A file of JSON lines. The user requested it, or an interrupted run needs it to resume.
    spool: Option<PartialFile>,
    /// Whether the user requested the spool file.
    spool_is_requested: bool,
    /// The lines of a run without a spool file, if this run reads them again.
    copy: Option<SpooledTempFile>,
    printer: AuditPrinter,
    columns: Vec<&'static str>,
}

/// Where each line is printed as soon as it is known.
enum AuditPrinter {
    /// Standard output, in the format of the command's results.
    Results(Results),
    /// The stream that the user named with `--removed`.
    Stream(OutputWriter),
    Nowhere,
}

impl Audit {
    /// Starts an audit, or resumes the one in the given file. `is_read` says that this run will
    /// [read](Self::read) its lines.
    pub(crate) fn begin(
        global: &GlobalOptions,
        targets: &Targets,
        columns: Vec<&'static str>,
        resumed: Option<PartialFile>,
        is_read: bool,
    ) -> Result<Self, Failure> {
        let printer = match &targets.audit {
            Some(Target::Stream(path)) => AuditPrinter::Stream(OutputWriter::stream(path)?),
            None if targets.printed => AuditPrinter::Results(Results::new(global)),
            _ => AuditPrinter::Nowhere,
        };
        let spool_is_requested = targets.audit_is_file();
        let mut audit = Self { spool: resumed, spool_is_requested, copy: None, printer, columns };
        match (&audit.spool, targets.spool()) {
            (Some(_), _) => audit.repeat()?,
            (None, Some(path)) => audit.spool = Some(PartialFile::create(&path)?),
            (None, None) => {
                audit.copy = is_read.then(|| tempfile::spooled_tempfile(MAX_COPY_BYTES));
            }
        }
        Ok(audit)
    }

    /// Prints the lines that an interrupted run has already written to the spool file.
    fn repeat(&mut self) -> Result<(), Failure> {
        let Self { spool: Some(spool), printer, columns, .. } = self else { return Ok(()) };
        if matches!(printer, AuditPrinter::Nowhere) {
            return Ok(());
        }
        spool.read_back(|written| {
            for line in written.lines() {
                let line = line.context("the audit of the interrupted run")?;
                let fields: Map<String, Value> =
                    serde_json::from_str(&line).context("the audit of the interrupted run")?;
                let value =
                    |name: &&'static str| (*name, fields.get(*name).cloned().unwrap_or_default());
                printer.print(&columns.iter().map(value).collect::<Vec<_>>(), true)?;
            }
            Ok(())
        })
    }

    /// Writes the line of one record, with a value for each column.
    pub(crate) fn line(&mut self, values: impl IntoIterator<Item = Value>) -> Result<(), Failure> {
        let fields: Vec<_> = self.columns.iter().copied().zip(values).collect();
        if let Some(spool) = &mut self.spool {
            spool.write(json_line(&fields)?.as_bytes())?;
        }
        if let Some(copy) = &mut self.copy {
            copy.write_all(json_line(&fields)?.as_bytes()).context("a temporary file")?;
        }
        let is_held = self.is_held();
        self.printer.print(&fields, is_held)
    }

    /// Whether the lines are somewhere besides where they are printed.
    fn is_held(&self) -> bool {
        self.spool.is_some() || self.copy.is_some()
    }

    /// Makes the written lines durable. Returns the length and hash of the spool file, or `None`
    /// without a spool file.
    pub(crate) fn sync(&mut self) -> Result<Option<LengthAndHash>, Failure> {
        let is_held = self.is_held();
        self.printer.flush(is_held)?;
        self.spool.as_mut().map(PartialFile::sync).transpose()
    }

    /// Reads all lines that were written and synced, those of an interrupted run included.
    pub(crate) fn read(&mut self, read: &mut ReadLines<'_>) -> Result<(), Failure> {
        if let Some(spool) = &mut self.spool {
            return spool.read_back(read);
        }
        let Some(copy) = &mut self.copy else { return Ok(()) };
        copy.seek(SeekFrom::Start(0)).context("a temporary file")?;
        read(&mut BufReader::new(&mut *copy))?;
        copy.seek(SeekFrom::End(0)).context("a temporary file")?;
        Ok(())
    }

    /// Reads the lines of an audit that is complete, or will be called `named`.
    pub(crate) fn read_file(
        path: &Path,
        named: &Path,
        read: &mut ReadLines<'_>,
    ) -> Result<(), Failure> {
        let place = || path.display().to_string();
        let file = File::open(path).with_context(place)?;
        read(&mut decompressed(named, file).with_context(place)?)
    }

    /// Deletes the spool file, which no later run needs.
    pub(crate) fn discard(self) -> Result<(), Failure> {
        self.spool.map_or(Ok(()), PartialFile::discard)
    }

    /// Gives a requested spool file its final name. Returns any other spool file: the caller
    /// discards it once no later run can need it.
    pub(crate) fn finish(mut self) -> Result<Option<PartialFile>, Failure> {
        self.sync()?;
        match (self.spool, self.spool_is_requested) {
            (Some(spool), true) => spool.finish().map(|()| None),
            (spool, _) => Ok(spool),
        }
    }
}

impl AuditPrinter {
    /// Prints one line. A broken pipe is an error only if nothing else holds the lines.
    fn print(&mut self, fields: &[(&str, Value)], is_held: bool) -> Result<(), Failure> {
        let printed = match self {
            Self::Nowhere => Ok(()),
            Self::Stream(stream) => {
                let line = json_line(fields).map_err(Failure::from);
                line.and_then(|line| stream.write(line.as_bytes()))
            }
            Self::Results(results) => results.line(fields).map_err(Failure::from),
        };
        self.tolerate_broken_pipe(printed, is_held)
    }

    fn flush(&mut self, is_held: bool) -> Result<(), Failure> {
        let flushed = match self {
            Self::Nowhere => Ok(()),
            Self::Stream(stream) => stream.sync().map(|_| ()),
            Self::Results(results) => results.flush().map_err(Failure::from),
        };
        self.tolerate_broken_pipe(flushed, is_held)
    }

    /// Ignores a broken pipe if a spool file keeps the audit, and prints nothing from then on.
    ///
    /// The reader of the printed audit may stop early; the run must still complete the output.
    fn tolerate_broken_pipe(
        &mut self,
        printed: Result<(), Failure>,
        is_held: bool,
    ) -> Result<(), Failure> {
        match printed {
            Err(Failure::BrokenPipe) if is_held => {
                *self = Self::Nowhere;
                Ok(())
            }
            printed => printed,
        }
    }
}

/// The columns of an audit of known passages.
pub(crate) const KNOWN_COLUMNS: Columns = &["id", "kept", "known", "passages"];

/// The values of these columns: for a record of which this share is known.
pub(crate) fn known_values(id: &str, share: f64, passages: Value, kept: bool) -> [Value; 4] {
    [id.into(), kept.into(), likeness(share, true), passages]
}

/// Known passages: their ranges of bytes, and where they came first.
pub(crate) fn passages_of(known: &KnownPassages) -> Value {
    let passage = |found: &KnownPassage| {
        json!({
            "start": found.place.start,
            "end": found.place.end,
            "of": found.of,
            "of_start": found.at.start,
            "of_end": found.at.end,
        })
    };
    known.passages().iter().map(passage).collect()
}
