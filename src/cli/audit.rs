//! The audit of `dedup`: which record was removed, because of which document, and how similar it is.

use super::args::Global;
use super::failure::Failure;
use super::output::{Results, json_line};
use super::part::{Part, Sink, is_file};
use crate::input::STANDARD_INPUT;
use anyhow::Context;
use serde_json::{Map, Value};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

/// The columns of a line.
const COLUMNS: [&str; 4] = ["id", "duplicate_of", "similarity", "exact"];

/// Where the lines of the audit go.
pub(super) struct Audit {
    /// JSON lines: for the user, or so that an interrupted run can go on.
    sink: Sink,
    /// Whether the user asked for that.
    asked: bool,
    /// Standard output, if the user asked for nothing else.
    results: Option<Results>,
}

/// What is asked for.
pub(super) struct Asked<'a> {
    /// The file for the audit.
    pub(super) removed: Option<&'a Path>,
    /// The output, if it is a file that can be gone on with.
    pub(super) file: Option<&'a Path>,
    /// Whether standard output is free for the audit.
    pub(super) printed: bool,
}

impl Asked<'_> {
    fn removed(&self) -> Option<&Path> {
        self.removed.filter(|path| path.as_os_str() != STANDARD_INPUT)
    }

    /// The file that an interrupted run would go on with.
    pub(super) fn kept_in(&self) -> Option<PathBuf> {
        match self.removed() {
            Some(path) => is_file(path).then(|| path.to_owned()),
            None => {
                let mut name = self.file?.as_os_str().to_owned();
                name.push(".removed");
                Some(name.into())
            }
        }
    }

    fn results(&self, global: &Global) -> Option<Results> {
        (self.printed && self.removed().is_none()).then(|| Results::new(global))
    }
}

impl Audit {
    /// Begins anew.
    pub(super) fn begin(global: &Global, asked: &Asked<'_>) -> Result<Self, Failure> {
        let sink = match (asked.removed(), asked.kept_in()) {
            (Some(path), _) => Sink::open(path)?,
            (None, Some(path)) => Sink::Part(Part::create(&path)?),
            (None, None) => Sink::Nowhere,
        };
        let results = asked.results(global);
        Ok(Self { sink, asked: asked.removed().is_some(), results })
    }

    /// Goes on with what a run left that was stopped; prints it, if it is printed.
    pub(super) fn resume(
        global: &Global,
        asked: &Asked<'_>,
        length: u64,
    ) -> Result<Option<Self>, Failure> {
        let Some(path) = asked.kept_in() else { return Ok(None) };
        let Some(part) = Part::resume(&path, length)? else { return Ok(None) };
        let mut results = asked.results(global);
        if let Some(results) = &mut results {
            let place = || path.display().to_string();
            for line in BufReader::new(part.reader()?).lines() {
                let line = line.with_context(place)?;
                let fields: Map<String, Value> = serde_json::from_str(&line).with_context(place)?;
                let field = |name| (name, fields.get(name).cloned().unwrap_or_default());
                results.line(&COLUMNS.map(field))?;
            }
        }
        let asked = asked.removed().is_some();
        Ok(Some(Self { sink: Sink::Part(part), asked, results }))
    }

    /// Says that a record was removed.
    pub(super) fn line(&mut self, values: [Value; 4]) -> Result<(), Failure> {
        let mut values = values.into_iter();
        let fields = COLUMNS.map(|name| (name, values.next().unwrap_or_default()));
        self.sink.write(json_line(&fields)?.as_bytes())?;
        match &mut self.results {
            Some(results) => results.line(&fields),
            None => Ok(()),
        }
    }

    /// Makes durable what was written; its length, where that can be gone on from.
    pub(super) fn sync(&mut self) -> Result<Option<u64>, Failure> {
        if let Some(results) = &mut self.results {
            results.flush()?;
        }
        self.sink.sync()
    }

    /// Lets the file appear, if one was asked for.
    pub(super) fn finish(mut self) -> Result<(), Failure> {
        self.sync()?;
        match (self.sink, self.asked) {
            (Sink::Part(part), false) => part.discard(),
            (sink, _) => sink.finish(),
        }
    }
}
