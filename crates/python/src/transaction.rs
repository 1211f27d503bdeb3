//! Write transactions.

use crate::arrow::Table;
use crate::content::{Given, id_of};
use crate::error::{invalid, named, raise};
use crate::handle::{Abort, Handle, InUseByACall};
use crate::inserting::{Making, Manner, insert_rows};
use crate::numbers::maybe_number;
use crate::process::{Own, detached};
use crate::reader::Reader;
use crate::results::{Deduplicated, Inserted, Match, word};
use crate::row::{Kind, Names};
use crate::rows::{Rows, signature_of};
use crate::turn::Held;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString, PyTuple};
use std::sync::{Arc, Mutex, TryLockError, Weak};
use std::time::Duration;
use twindex::{Document, Outcome, Settings, Sketcher, WriteTxn};

/// A write transaction. `with index.write() as txn:` commits it at the end, and aborts it when an
/// exception leaves the block.
#[pyclass(frozen, module = "twindex")]
pub(crate) struct Transaction {
    begun: Arc<Mutex<Option<Begun>>>,
    sketcher: Sketcher,
    settings: Settings,
    handle: Arc<Handle>,
}

struct Begun {
    txn: Own<WriteTxn>,
    /// The next writer's turn comes when the transaction has ended.
    held: Held,
}

impl Abort for Mutex<Option<Begun>> {
    fn abort(&self) -> Result<Option<Held>, InUseByACall> {
        let begun = match self.try_lock() {
            Ok(mut begun) => begun.take(),
            Err(TryLockError::Poisoned(begun)) => begun.into_inner().take(),
            Err(TryLockError::WouldBlock) => return Err(InUseByACall),
        };
        Ok(begun.map(|Begun { txn, held }| {
            drop(txn);
            held
        }))
    }
}

impl Transaction {
    /// Begins a transaction, after at most this time if there is another one.
    pub(crate) fn begin(
        py: Python<'_>,
        handle: &Arc<Handle>,
        wait: Option<Duration>,
    ) -> PyResult<Self> {
        let (txn, held) = handle.begin_write(py, wait)?;
        let (sketcher, settings) = {
            let open = handle.open(py)?;
            let index = open.get()?;
            (index.sketcher().clone(), *index.settings())
        };
        let begun = Arc::new(Mutex::new(Some(Begun { txn: Own::new(txn), held })));
        let weak: Weak<Mutex<Option<Begun>>> = Arc::downgrade(&begun);
        handle.has_begun(weak);
        Ok(Self { begun, sketcher, settings, handle: Arc::clone(handle) })
    }

    /// Does something with the transaction. Waits for nobody.
    fn with<T>(&self, work: impl FnOnce(&mut WriteTxn) -> PyResult<T>) -> PyResult<T> {
        let mut begun = match self.begun.try_lock() {
            Ok(begun) => begun,
            Err(TryLockError::Poisoned(begun)) => begun.into_inner(),
            Err(TryLockError::WouldBlock) => return Err(in_use()),
        };
        let Begun { txn, held } = begun.as_mut().ok_or_else(ended)?;
        let txn = txn.get_mut()?;
        held.note_use();
        work(txn)
    }

    fn take(&self) -> PyResult<Option<Begun>> {
        match self.begun.try_lock() {
            Ok(mut begun) => Ok(begun.take()),
            Err(TryLockError::Poisoned(begun)) => Ok(begun.into_inner().take()),
            Err(TryLockError::WouldBlock) => Err(in_use()),
        }
    }

    fn making(&self, kind: Kind) -> Making<'_> {
        let kind = kind.under(&self.settings);
        Making { kind, sketcher: &self.sketcher, settings: &self.settings, numbered: false }
    }

    fn document(&self, id: &str, given: &Given) -> twindex::Result<Document> {
        Document::prepare(id, given.content(), &self.sketcher, &self.settings)
    }

    /// Inserts one document.
    fn one(
        &self,
        py: Python<'_>,
        manner: &Manner,
        make: impl FnOnce() -> twindex::Result<Document> + Send,
    ) -> PyResult<Outcome> {
        self.with(|txn| {
            let outcomes = detached(py, || manner.insert(txn, vec![make()?]));
            let mut outcomes = outcomes.map_err(raise)?;
            outcomes.pop().ok_or_else(|| named("Error", "the insertion had no outcome"))
        })
    }
}

fn in_use() -> PyErr {
    named("BusyError", "the transaction is in use: by another thread, or by what feeds it")
}

fn ended() -> PyErr {
    named("ClosedError", "the transaction has ended: begin another one")
}

#[pymethods]
impl Transaction {
    /// Inserts a document, or replaces the one with the same id. Returns `added`, `replaced`,
    /// `unchanged` or `skipped`.
    #[pyo3(signature = (id, content, *, on_conflict="replace"))]
    pub(crate) fn insert(
        &self,
        py: Python<'_>,
        id: &Bound<'_, PyAny>,
        content: &Bound<'_, PyAny>,
        on_conflict: &str,
    ) -> PyResult<&'static str> {
        let (id, given) = (id_of(id)?, Given::new(content)?);
        let outcome = self.one(py, &Manner::new(on_conflict)?, || self.document(&id, &given))?;
        Ok(outcome.inserted().map_or("skipped", word))
    }

    /// Inserts a document unless a similar one is known. Returns that one; `None` if there is none,
    /// so that the document was inserted, or left alone as `on_conflict` says.
    #[pyo3(signature = (id, content, *, threshold=None, against=None, on_conflict="replace",
                        estimate=false, max_candidates=None))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    pub(crate) fn insert_unless_similar(
        &self,
        py: Python<'_>,
        id: &Bound<'_, PyAny>,
        content: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = maybe_number)] threshold: Option<f64>,
        against: Option<Vec<Bound<'_, Reader>>>,
        on_conflict: &str,
        estimate: bool,
        #[pyo3(from_py_with = maybe_number)] max_candidates: Option<usize>,
    ) -> PyResult<Option<Match>> {
        let (id, given) = (id_of(id)?, Given::new(content)?);
        let threshold = threshold.unwrap_or(self.settings.threshold());
        let manner =
            Manner::deduplicating(py, threshold, against, on_conflict, estimate, max_candidates)?;
        match self.one(py, &manner, || self.document(&id, &given))? {
            Outcome::Duplicate { of, .. } => Ok(Some(Match::new(of))),
            _ => Ok(None),
        }
    }

    /// Inserts many documents: a table that speaks Arrow, or an iterable of (id, text), of dicts or
    /// of texts. `Index.insert_many` describes the arguments.
    #[pyo3(signature = (rows, *, id="id", text="text", on_conflict="replace",
                        progress=None))]
    fn insert_many(
        &self,
        py: Python<'_>,
        rows: &Bound<'_, PyAny>,
        id: Option<&str>,
        text: &str,
        on_conflict: &str,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Inserted> {
        let names = Names::new(id, text);
        self.insert_all(py, rows, names, Kind::Contents, on_conflict, progress)
    }

    /// Inserts many documents and leaves out those that are similar to one that is known, in the
    /// index or earlier in the rows. Returns a table with a row for each: `id`, `keep`,
    /// `duplicate_of`, `similarity`.
    ///
    /// `against` are other indexes or snapshots to compare with. `max_candidates` bounds the
    /// comparisons of one document, 4,096 by default. When it ends early, by Ctrl-C or a bad row,
    /// the transaction has the documents before: abort it, or commit them.
    #[pyo3(signature = (rows, *, threshold=None, id="id", text="text",
                        against=None, on_conflict="replace", estimate=false, max_candidates=None,
                        progress=None))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    pub(crate) fn dedup(
        &self,
        py: Python<'_>,
        rows: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = maybe_number)] threshold: Option<f64>,
        id: Option<&str>,
        text: &str,
        against: Option<Vec<Bound<'_, Reader>>>,
        on_conflict: &str,
        estimate: bool,
        #[pyo3(from_py_with = maybe_number)] max_candidates: Option<usize>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Table> {
        let threshold = threshold.unwrap_or(self.settings.threshold());
        let manner =
            Manner::deduplicating(py, threshold, against, on_conflict, estimate, max_candidates)?;
        let names = Names::new(id, text);
        let rows = Rows::new(rows, names)?;
        let mut done = Deduplicated::default();
        self.with(|txn| {
            let making = self.making(Kind::Contents);
            insert_rows(py, rows, &making, &manner, txn, progress, |id, _, outcome| {
                done.push(id, outcome);
            })
        })?;
        done.table()
    }

    /// Inserts a document that is given by its signature.
    #[pyo3(signature = (id, signature, *, on_conflict="replace"))]
    fn insert_signature(
        &self,
        py: Python<'_>,
        id: &Bound<'_, PyAny>,
        signature: &[u8],
        on_conflict: &str,
    ) -> PyResult<&'static str> {
        let id = id_of(id)?;
        let signature = signature_of(signature).map_err(invalid)?;
        let make = || Document::from_signature(&*id, signature);
        let outcome = self.one(py, &Manner::new(on_conflict)?, make)?;
        Ok(outcome.inserted().map_or("skipped", word))
    }

    /// Inserts many documents that are given by their signatures.
    #[pyo3(signature = (rows, *, id="id", signature="signature",
                        on_conflict="replace", progress=None))]
    fn insert_signatures(
        &self,
        py: Python<'_>,
        rows: &Bound<'_, PyAny>,
        id: Option<&str>,
        signature: &str,
        on_conflict: &str,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Inserted> {
        let names = Names::new(id, signature);
        self.insert_all(py, rows, names, Kind::Signatures, on_conflict, progress)
    }

    /// Removes a document. Returns whether there was one.
    pub(crate) fn remove(&self, py: Python<'_>, id: &Bound<'_, PyAny>) -> PyResult<bool> {
        let id = id_of(id)?;
        self.with(|txn| detached(py, || txn.remove(&id)).map_err(raise))
    }

    /// Removes the documents with these ids. Returns how many there were.
    pub(crate) fn remove_many(&self, py: Python<'_>, ids: &Bound<'_, PyAny>) -> PyResult<u64> {
        if ids.is_instance_of::<PyString>() || ids.is_instance_of::<PyBytes>() {
            return Err(PyTypeError::new_err("expected several ids, not one: use remove(id)"));
        }
        let ids = ids.try_iter()?.map(|id| id_of(&id?)).collect::<PyResult<Vec<_>>>()?;
        let ids: Vec<&str> = ids.iter().map(|id| &**id).collect();
        self.with(|txn| detached(py, || txn.remove_batch(&ids)).map_err(raise))
    }

    fn __contains__(&self, py: Python<'_>, id: &Bound<'_, PyAny>) -> PyResult<bool> {
        let id = id_of(id)?;
        self.with(|txn| detached(py, || txn.contains(&id)).map_err(raise))
    }

    fn __len__(&self) -> PyResult<usize> {
        self.with(|txn| Ok(usize::try_from(txn.len())?))
    }

    fn __bool__(&self) -> bool {
        true
    }

    /// Makes all changes durable, and visible to others.
    pub(crate) fn commit(&self, py: Python<'_>) -> PyResult<()> {
        let Begun { txn, held: _held } = self.take()?.ok_or_else(ended)?;
        let txn = txn.take()?;
        detached(py, || txn.commit()).map_err(raise)
    }

    /// Undoes all changes. Does nothing if the transaction has ended.
    pub(crate) fn abort(&self, py: Python<'_>) -> PyResult<()> {
        let begun = self.take()?;
        detached(py, || drop(begun));
        Ok(())
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    #[pyo3(signature = (exception_type=None, *_exception))]
    fn __exit__(
        &self,
        py: Python<'_>,
        exception_type: Option<&Bound<'_, PyAny>>,
        _exception: &Bound<'_, PyTuple>,
    ) -> PyResult<()> {
        let ended = match self.begun.try_lock() {
            Ok(begun) => begun.is_none(),
            Err(TryLockError::Poisoned(begun)) => begun.into_inner().is_none(),
            // Another thread uses it, so that the commit says what is wrong.
            Err(TryLockError::WouldBlock) => false,
        };
        match exception_type {
            None if ended => Ok(()),
            None => self.commit(py),
            Some(_) => self.abort(py),
        }
    }

    fn __repr__(&self) -> String {
        let path = self.handle.path().display();
        // To look at a transaction is not to use it: the thread that does may be a debugger's.
        let documents = |begun: &mut Option<Begun>| {
            begun.as_mut().map(|begun| begun.txn.here().map(|txn| txn.len()))
        };
        let documents = match self.begun.try_lock() {
            Ok(mut begun) => documents(&mut begun),
            Err(TryLockError::Poisoned(begun)) => documents(&mut begun.into_inner()),
            // A forked child may have a copy that another thread had locked.
            Err(TryLockError::WouldBlock) if self.handle.is_of_parent() => Some(None),
            Err(TryLockError::WouldBlock) => {
                return format!("<twindex.Transaction {path}: in use>");
            }
        };
        match documents {
            Some(Some(documents)) => {
                format!("<twindex.Transaction {path}: {documents} documents>")
            }
            Some(None) => format!("<twindex.Transaction {path}: begun before a fork>"),
            None => format!("<twindex.Transaction {path}: ended>"),
        }
    }
}

impl Transaction {
    fn insert_all(
        &self,
        py: Python<'_>,
        rows: &Bound<'_, PyAny>,
        names: Names,
        kind: Kind,
        on_conflict: &str,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Inserted> {
        let manner = Manner::new(on_conflict)?;
        let rows = Rows::new(rows, names)?;
        let mut counts = Inserted::default();
        self.with(|txn| {
            let making = self.making(kind);
            insert_rows(py, rows, &making, &manner, txn, progress, |_, _, outcome| {
                counts.count(outcome.inserted().unwrap_or(twindex::Inserted::Skipped));
            })
        })?;
        Ok(counts)
    }
}
