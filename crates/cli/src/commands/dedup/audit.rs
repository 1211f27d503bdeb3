//! The audit of `dedup`: one line for each removed record, with the document it duplicates.

use crate::commands::dedup::partial_file::{LengthAndHash, OutputWriter, PartialFile};
use crate::commands::dedup::targets::{Target, Targets};
use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::terminal::output::{Results, json_line};
use anyhow::Context;
use serde_json::{Map, Value};
use std::io::BufRead;

/// The columns of an audit line.
const COLUMNS: [&str; 4] = ["id", "duplicate_of", "similarity", "exact"];

/// The audit of one run.
pub(crate) struct Audit {
    /// A file of JSON lines. The user requested it, or an interrupted run needs it to resume.
    spool: Option<PartialFile>,
    /// Whether the user requested the spool file.
    spool_is_requested: bool,
    printer: AuditPrinter,
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
    /// Starts an audit, or resumes the one in the given file.
    pub(crate) fn begin(
        global: &GlobalOptions,
        targets: &Targets,
        resumed: Option<PartialFile>,
    ) -> Result<Self, Failure> {
        let printer = match &targets.audit {
            Some(Target::Stream(path)) => AuditPrinter::Stream(OutputWriter::stream(path)?),
            None if targets.printed => AuditPrinter::Results(Results::new(global)),
            _ => AuditPrinter::Nowhere,
        };
        let spool_is_requested = targets.audit_is_file();
        let mut audit = Self { spool: resumed, spool_is_requested, printer };
        match (&audit.spool, targets.spool()) {
            (Some(_), _) => audit.repeat()?,
            (None, Some(path)) => audit.spool = Some(PartialFile::create(&path)?),
            (None, None) => {}
        }
        Ok(audit)
    }

    /// Prints the lines that an interrupted run has already written to the spool file.
    fn repeat(&mut self) -> Result<(), Failure> {
        let Self { spool: Some(spool), printer, .. } = self else { return Ok(()) };
        if matches!(printer, AuditPrinter::Nowhere) {
            return Ok(());
        }
        spool.read_back(|written| {
            for line in written.lines() {
                let line = line.context("the audit of the interrupted run")?;
                let fields: Map<String, Value> =
                    serde_json::from_str(&line).context("the audit of the interrupted run")?;
                let values = COLUMNS.map(|name| fields.get(name).cloned().unwrap_or_default());
                printer.print(values, true)?;
            }
            Ok(())
        })
    }

    /// Writes the line of one removed record, with a value for each column.
    pub(crate) fn line(&mut self, values: [Value; 4]) -> Result<(), Failure> {
        if let Some(spool) = &mut self.spool {
            spool.write(json(&values)?.as_bytes())?;
        }
        self.printer.print(values, self.spool.is_some())
    }

    /// Makes the written lines durable. Returns the length and hash of the spool file, or `None`
    /// without a spool file.
    pub(crate) fn sync(&mut self) -> Result<Option<LengthAndHash>, Failure> {
        self.printer.flush(self.spool.is_some())?;
        self.spool.as_mut().map(PartialFile::sync).transpose()
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
    /// Prints one line. A broken pipe is an error only without a spool file.
    fn print(&mut self, values: [Value; 4], has_spool: bool) -> Result<(), Failure> {
        let printed = match self {
            Self::Nowhere => Ok(()),
            Self::Stream(stream) => json(&values).and_then(|line| stream.write(line.as_bytes())),
            Self::Results(results) => {
                let mut values = values.into_iter();
                let fields = COLUMNS.map(|name| (name, values.next().unwrap_or_default()));
                results.line(&fields).map_err(Failure::from)
            }
        };
        self.tolerate_broken_pipe(printed, has_spool)
    }

    fn flush(&mut self, has_spool: bool) -> Result<(), Failure> {
        let flushed = match self {
            Self::Nowhere => Ok(()),
            Self::Stream(stream) => stream.sync().map(|_| ()),
            Self::Results(results) => results.flush().map_err(Failure::from),
        };
        self.tolerate_broken_pipe(flushed, has_spool)
    }

    /// Ignores a broken pipe if a spool file keeps the audit, and prints nothing from then on.
    ///
    /// The reader of the printed audit may stop early; the run must still complete the output.
    fn tolerate_broken_pipe(
        &mut self,
        printed: Result<(), Failure>,
        has_spool: bool,
    ) -> Result<(), Failure> {
        match printed {
            Err(Failure::BrokenPipe) if has_spool => {
                *self = Self::Nowhere;
                Ok(())
            }
            printed => printed,
        }
    }
}

/// Returns the audit line as JSON.
fn json(values: &[Value; 4]) -> Result<String, Failure> {
    let mut values = values.iter();
    Ok(json_line(&COLUMNS.map(|name| (name, values.next().cloned().unwrap_or_default())))?)
}
