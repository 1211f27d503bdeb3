//! Care of a file: repairs, rebuilds, and what they, checks and the space of an index report.

use crate::numbers::{maybe_number, number};
use crate::settings::{Wanted, seconds};
use crate::waiting::{stopped, watch};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::time::SystemTime;

/// The result of a check.
#[pyclass(frozen, module = "twindex", get_all)]
pub(crate) struct CheckReport {
    /// Whether nothing is wrong.
    clean: bool,
    /// The first thousand violations, in words.
    violations: Vec<String>,
    /// The number of all violations.
    violation_count: u64,
    /// The number of documents that were read.
    documents: u64,
    /// The number of band entries that were read.
    entries: u64,
}

impl CheckReport {
    pub(crate) fn new(report: twindex::CheckReport) -> Self {
        Self {
            clean: report.is_clean(),
            violations: report.violations.iter().map(ToString::to_string).collect(),
            violation_count: report.violation_count,
            documents: report.documents,
            entries: report.entries,
        }
    }
}

#[pymethods]
impl CheckReport {
    fn __bool__(&self) -> bool {
        self.clean
    }

    fn __repr__(&self) -> String {
        if self.clean {
            format!("<CheckReport: clean, {} documents>", self.documents)
        } else {
            format!("<CheckReport: {} violations>", self.violation_count)
        }
    }
}

/// The result of a repair.
#[pyclass(frozen, module = "twindex", get_all)]
pub(crate) struct Repair {
    /// What was wrong; `None` if nothing was.
    cause: Option<String>,
    /// The number of documents after the repair.
    documents: u64,
    /// The number of documents that could not be read, and are no longer in the index.
    lost: u64,
    /// The ids of the first thousand of them, as far as they could be read.
    lost_ids: Vec<String>,
    /// Where the damaged file is kept, if documents were or may have been lost.
    kept: Option<PathBuf>,
}

impl Repair {
    pub(crate) fn new(repair: twindex::Repair) -> Self {
        let twindex::Repair { cause, documents, lost, lost_ids, kept, .. } = repair;
        Self { cause, documents, lost, lost_ids, kept }
    }
}

#[pymethods]
impl Repair {
    fn __repr__(&self) -> String {
        match &self.cause {
            None => format!("<Repair: nothing was wrong, {} documents>", self.documents),
            Some(cause) => {
                format!("<Repair: {cause}; {} documents, {} lost>", self.documents, self.lost)
            }
        }
    }
}

/// The space that an index takes, in bytes by table, and the state of its documents.
#[pyclass(frozen, module = "twindex", get_all)]
pub(crate) struct Usage {
    /// The size of the file in bytes.
    file_bytes: u64,
    /// The bytes of pages with signatures.
    signature_bytes: u64,
    /// The bytes of pages with ids, hashes, lengths and times.
    document_bytes: u64,
    /// The bytes of pages with band entries.
    posting_bytes: u64,
    /// The bytes of pages with texts.
    text_bytes: u64,
    /// The number of documents.
    documents: u64,
    /// The number of removed documents whose band entries are not purged yet.
    dead: u64,
    /// The number of documents whose band entries are in no run yet.
    tail: u64,
    /// The number of sorted runs.
    runs: u64,
    /// The number of commits so far.
    commits: u64,
    /// The bytes of pages that only snapshots of earlier commits need.
    held_bytes: u64,
    /// When the oldest of those snapshots was taken.
    held_since: Option<SystemTime>,
}

impl Usage {
    pub(crate) fn new(usage: twindex::Usage) -> Self {
        Self {
            file_bytes: usage.file_bytes,
            signature_bytes: usage.signature_bytes,
            document_bytes: usage.document_bytes,
            posting_bytes: usage.posting_bytes,
            text_bytes: usage.text_bytes,
            documents: usage.documents,
            dead: usage.dead,
            tail: usage.tail,
            runs: usage.runs,
            commits: usage.commits,
            held_bytes: usage.held_bytes,
            held_since: usage.held_since,
        }
    }
}

#[pymethods]
impl Usage {
    fn __repr__(&self) -> String {
        let Self { documents, file_bytes, runs, commits, .. } = self;
        format!(
            "<Usage: {documents} documents, {file_bytes} bytes, {runs} runs, {commits} commits>"
        )
    }
}

/// Checks a file and all its pages. If it is damaged, makes a new one of what can be read.
#[pyfunction]
#[pyo3(signature = (path, *, progress=None))]
pub(crate) fn repair(
    py: Python<'_>,
    path: PathBuf,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Repair> {
    watch(py, progress, twindex::Index::repair(path)).map(Repair::new)
}

/// Makes an index that stores texts anew with other settings. Those that are not given stay.
#[pyfunction]
#[pyo3(signature = (path, *, threshold=None, recall=None, lanes=None, shingle=None, normalize=None,
                    multiset=None, passages=None, seed=None, wait=0.0, progress=None))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub(crate) fn rebuild(
    py: Python<'_>,
    path: PathBuf,
    #[pyo3(from_py_with = maybe_number)] threshold: Option<f64>,
    #[pyo3(from_py_with = maybe_number)] recall: Option<f64>,
    #[pyo3(from_py_with = maybe_number)] lanes: Option<usize>,
    shingle: Option<String>,
    normalize: Option<String>,
    multiset: Option<bool>,
    passages: Option<Bound<'_, PyAny>>,
    seed: Option<Bound<'_, PyAny>>,
    #[pyo3(from_py_with = number)] wait: f64,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<u64> {
    let wanted = Wanted {
        threshold,
        recall,
        lanes,
        shingle,
        normalize,
        multiset,
        passages,
        seed,
        ..Wanted::default()
    };
    let options = wanted.options()?.wait(seconds(wait)?).give_up_if(stopped);
    watch(py, progress, options.rebuild(path)).map(|rebuilt| rebuilt.documents)
}
