//! The audit of `dedup`: which record was removed, because of which document, and how similar it is.

use crate::commands::dedup::partial_file::{Content, Part, Sink};
use crate::commands::dedup::targets::Targets;
use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::terminal::output::{Results, json_line};
use anyhow::Context;
use serde_json::{Map, Value};
use std::io::BufRead;

/// The columns of a line.
const COLUMNS: [&str; 4] = ["id", "duplicate_of", "similarity", "exact"];

/// Where the lines of the audit go.
pub(crate) struct Audit {
    /// JSON lines in a file: for the user, or so that an interrupted run can go on.
    spool: Option<Part>,
    /// Whether that file is the user's.
    asked: bool,
    echo: Echo,
}

/// Where the lines go as they come.
enum Echo {
    Results(Results),
    /// What the user named and is no file.
    Stream(Sink),
    Nowhere,
}

impl Audit {
    /// Begins anew, or goes on with this file.
    pub(crate) fn begin(
        global: &GlobalOptions,
        targets: &Targets,
        resumed: Option<Part>,
    ) -> Result<Self, Failure> {
        let echo = match &targets.audit {
            Some(target) if !targets.audit_is_file() => Echo::Stream(Sink::open(target)?),
            None if targets.printed => Echo::Results(Results::new(global)),
            _ => Echo::Nowhere,
        };
        let asked = targets.audit_is_file();
        let mut audit = Self { spool: resumed, asked, echo };
        match (&audit.spool, targets.spool()) {
            (Some(_), _) => audit.repeat()?,
            (None, Some(path)) => audit.spool = Some(Part::create(&path)?),
            (None, None) => {}
        }
        Ok(audit)
    }

    /// Prints what an interrupted run has found.
    fn repeat(&mut self) -> Result<(), Failure> {
        let (Some(spool), false) = (&self.spool, matches!(self.echo, Echo::Nowhere)) else {
            return Ok(());
        };
        for line in spool.reader()?.lines() {
            let line = line.context("the audit of the interrupted run")?;
            let fields: Map<String, Value> =
                serde_json::from_str(&line).context("the audit of the interrupted run")?;
            let values = COLUMNS.map(|name| fields.get(name).cloned().unwrap_or_default());
            self.print(values)?;
        }
        Ok(())
    }

    /// Says that a record was removed.
    pub(crate) fn line(&mut self, values: [Value; 4]) -> Result<(), Failure> {
        if let Some(spool) = &mut self.spool {
            spool.write(json(&values)?.as_bytes())?;
        }
        self.print(values)
    }

    fn print(&mut self, values: [Value; 4]) -> Result<(), Failure> {
        let printed = match &mut self.echo {
            Echo::Nowhere => Ok(()),
            Echo::Stream(sink) => json(&values).and_then(|line| sink.write(line.as_bytes())),
            Echo::Results(results) => {
                let mut values = values.into_iter();
                let fields = COLUMNS.map(|name| (name, values.next().unwrap_or_default()));
                results.line(&fields).map_err(Failure::from)
            }
        };
        self.tolerate(printed)
    }

    /// Who reads the audit may have enough of it: the output is wanted all the same.
    fn tolerate(&mut self, printed: Result<(), Failure>) -> Result<(), Failure> {
        match printed {
            Err(Failure::BrokenPipe) if self.spool.is_some() => {
                self.echo = Echo::Nowhere;
                Ok(())
            }
            printed => printed,
        }
    }

    /// Makes durable what was written; what that is, where it can be gone on from.
    pub(crate) fn sync(&mut self) -> Result<Option<Content>, Failure> {
        let flushed = match &mut self.echo {
            Echo::Nowhere => Ok(()),
            Echo::Stream(sink) => sink.sync().map(|_| ()),
            Echo::Results(results) => results.flush().map_err(Failure::from),
        };
        self.tolerate(flushed)?;
        self.spool.as_mut().map(Part::sync).transpose()
    }

    /// Lets the file appear, if one was asked for; what else was kept is to be discarded when nothing
    /// needs it any more.
    pub(crate) fn finish(mut self) -> Result<Option<Part>, Failure> {
        self.sync()?;
        match (self.spool, self.asked) {
            (Some(spool), true) => spool.finish().map(|()| None),
            (spool, _) => Ok(spool),
        }
    }
}

fn json(values: &[Value; 4]) -> Result<String, Failure> {
    let mut values = values.iter();
    Ok(json_line(&COLUMNS.map(|name| (name, values.next().cloned().unwrap_or_default())))?)
}
