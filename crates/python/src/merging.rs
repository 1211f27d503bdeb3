//! Documents of another index on their way into one.

use crate::arrow::Table;
use crate::error::raise;
use crate::handle::Handle;
use crate::inserting::{Manner, conflict};
use crate::opened::{Shared, share};
use crate::process::{Own, detached};
use crate::reader::Reader;
use crate::results::{Deduplicated, Inserted};
use crate::waiting::watch;
use pyo3::prelude::*;
use std::path::PathBuf;
use twindex::{Merged, ReadOnlyIndex};

/// The documents of an index that is open, or of a file.
fn source(py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Shared> {
    match other.cast::<Reader>() {
        Ok(reader) => reader.get().shared(py),
        Err(_) => {
            let path: PathBuf = other.extract()?;
            let opened = detached(py, || ReadOnlyIndex::open(path)?.snapshot());
            Ok(share(opened.map_err(raise)?))
        }
    }
}

/// Inserts all documents of another index in one transaction.
pub(crate) fn merge(
    py: Python<'_>,
    handle: &Handle,
    other: &Bound<'_, PyAny>,
    on_conflict: &str,
    attach: bool,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Inserted> {
    let on_conflict = conflict(on_conflict)?;
    let shared = source(py, other)?;
    let source = shared.get()?;
    let (txn, _held) = handle.begin_write(py, None)?;
    let mut own = Own::new(txn);
    let txn = own.get_mut()?;
    let work =
        if attach { txn.attach(source, on_conflict) } else { txn.merge(source, on_conflict) };
    let Merged { added, replaced, unchanged, skipped, .. } = watch(py, progress, work)?;
    let txn = own.take()?;
    detached(py, || txn.commit()).map_err(raise)?;
    Ok(Inserted { added, replaced, unchanged, skipped })
}

/// Inserts the documents of another index in one transaction, and leaves out near duplicates.
pub(crate) fn deduplicated(
    py: Python<'_>,
    handle: &Handle,
    other: &Bound<'_, PyAny>,
    manner: &Manner,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Table> {
    let shared = source(py, other)?;
    let source = shared.get()?;
    let (txn, _held) = handle.begin_write(py, None)?;
    let mut own = Own::new(txn);
    let txn = own.get_mut()?;
    let mut done = Deduplicated::default();
    let against = manner.against();
    let insertion = manner.of(txn.insertion(), &against);
    let tell = |id: &str, outcome| done.add(id.to_owned(), outcome);
    watch(py, progress, insertion.merge(source, tell))?;
    let table = done.table()?;
    let txn = own.take()?;
    detached(py, || txn.commit()).map_err(raise)?;
    Ok(table)
}
