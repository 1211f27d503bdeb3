//! Deduplication without an index of one's own.

use crate::arrow::Table;
use crate::error::{named, raise};
use crate::inserting::{Making, Manner, insert_rows};
use crate::numbers::{maybe_number, number};
use crate::process::{Own, detached};
use crate::reader::Reader;
use crate::results::Deduplicated;
use crate::row::{Kind, Names};
use crate::rows::Rows;
use crate::settings::Wanted;
use pyo3::prelude::*;

// Signatures of Python show literals only.
const _: () = assert!(twindex::DEFAULT_THRESHOLD == 0.8 && twindex::DEFAULT_CONFIDENCE == 0.95);

/// Finds the duplicates among rows, by an index in a temporary file. Returns a table with a row for
/// each: `id`, `keep`, `duplicate_of`, `similarity`. Rows without an id are named by their numbers,
/// counted from 0, with a `#` before a number that is the id of another row. If another column than
/// "id" is named, rows must have it. Every row is a document of its own, also if an id is repeated.
///
/// `rows` is anything that speaks Arrow, or an iterable of (id, text), of dicts or of texts. With
/// `exact=True` texts are kept while it runs, and similarities are exact. `against` are open
/// indexes or snapshots: what is similar to a document of theirs is a duplicate too. `twindex.open`
/// describes the other arguments.
///
/// >>> twindex.dedup(["a text about ferries", "another one", "A text about  ferries"])["keep"]
/// [True, True, False]
#[pyfunction]
#[pyo3(signature = (rows, *, threshold=0.8, id="id", text="text",
                    against=None, exact=false, recall=None, lanes=None, shingle=None,
                    normalize=None, multiset=None, weighted=None, max_candidates=None,
                    progress=None))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub(crate) fn dedup(
    py: Python<'_>,
    rows: &Bound<'_, PyAny>,
    #[pyo3(from_py_with = number)] threshold: f64,
    id: Option<&str>,
    text: &str,
    against: Option<Vec<Bound<'_, Reader>>>,
    exact: bool,
    #[pyo3(from_py_with = maybe_number)] recall: Option<f64>,
    #[pyo3(from_py_with = maybe_number)] lanes: Option<usize>,
    shingle: Option<String>,
    normalize: Option<String>,
    multiset: Option<bool>,
    weighted: Option<bool>,
    #[pyo3(from_py_with = maybe_number)] max_candidates: Option<usize>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Table> {
    let wanted = Wanted {
        threshold: Some(threshold),
        recall,
        lanes,
        shingle,
        normalize,
        multiset,
        weighted,
        store_text: Some(exact),
        passages: None,
        seed: None,
    };
    let options = wanted.options()?;
    let manner = Manner::deduplicating(py, threshold, against, "skip", false, max_candidates)?;
    let names = match id {
        Some("id") => Names::new(id, text).if_any(),
        _ => Names::new(id, text),
    };
    let rows = Rows::new(rows, names)?;
    let folder = tempfile::Builder::new().prefix("twindex").tempdir().map_err(|error| {
        named("StorageError", format!("cannot make a temporary folder: {error}"))
    })?;
    let path = folder.path().join("dedup.twx");
    let begun = detached(py, || {
        let index = options.create(path)?;
        let txn = index.begin_write()?;
        Ok((index, txn))
    });
    let (index, txn) = begun.map_err(raise)?;
    // A forked child must neither end the transaction nor delete the folder.
    let mut own = Own::new((txn, index, folder));
    let (txn, index, _) = own.get_mut()?;
    let making = Making {
        kind: Kind::Contents.under(index.settings()),
        sketcher: index.sketcher(),
        settings: index.settings(),
        numbered: true,
    };
    let mut done = Deduplicated::default();
    insert_rows(py, rows, &making, &manner, txn, progress, |number, id, outcome| {
        done.push_numbered(number, id, outcome);
    })?;
    detached(py, || drop(own));
    done.table()
}
