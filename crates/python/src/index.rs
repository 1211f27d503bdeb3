//! An open index.

use crate::arrow::Table;
use crate::content::time_of;
use crate::error::{during, invalid, raise};
use crate::handle::Handle;
use crate::inserting::{Committing, Making, Manner, insert_rows};
use crate::merging;
use crate::numbers::{maybe_number, number};
use crate::opened::{Open, share};
use crate::process::detached;
use crate::reader::Reader;
use crate::results::{Inserted, Match};
use crate::row::{Kind, Names};
use crate::rows::Rows;
use crate::settings::{Wanted, seconds};
use crate::sketcher::Sketcher;
use crate::snapshot::Snapshot;
use crate::transaction::Transaction;
use crate::waiting::{stopped, unless_signalled, watch};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::path::PathBuf;
use std::process;
use std::sync::Arc;

/// An open index. `twindex.open` returns it.
#[pyclass(frozen, extends = Reader, module = "twindex")]
pub(crate) struct Index {
    handle: Arc<Handle>,
}

/// Opens an index. `mode` is `c` to create it if there is none, `x` to create it and fail if there
/// is one, `w` to open one that is there, or `r` to open one for reading only.
///
/// The settings are chosen when an index is created. They may be left out later; if they are given,
/// they must be those of the file.
///
/// * threshold: the Jaccard similarity from which on documents count as similar, above 0 and at
///   most 1. Default 0.8. A query may ask for another one.
/// * recall: the probability that a pair at the threshold is compared, at least. Default 0.99.
/// * lanes: the bytes of a signature, 64, 128, 256 or 512. Default 256. More make estimates better.
/// * shingle: what documents are cut into: `char:9` (the default), `word:3`, `line:1`, `token`, or
///   `kmer:21` for DNA.
/// * normalize: what is made equal before that: `none`, or a list of `lower`, `nfc` or `nfkc`,
///   `space` or `nospace`, `minword=N`. Default `lower,nfc,space`.
/// * multiset: whether repeated shingles count. weighted: whether documents are dicts of weights.
/// * store_text: whether texts are stored, compressed, so that answers are exact.
/// * passages: finds every passage of so many characters (words, lines, tokens) that texts share;
///   True: 100 characters, 20 words or tokens, 5 lines. Default 0: none.
/// * seed: of the hash functions, from 0, or `random` where documents may come from an enemy.
/// * wait: how many seconds to wait for another process that writes. Default 0.
/// * cache_bytes: the memory for pages of the file. Default 64 MiB. Filters may take as much
///   again, or 256 MiB if that is more.
///
/// Raises NotFoundError, ExistsError, MismatchError, BusyError, DamagedError, UnsupportedError.
#[pyfunction]
#[pyo3(signature = (path, mode="c", *, threshold=None, recall=None, lanes=None, shingle=None,
                    normalize=None, multiset=None, weighted=None, store_text=None,
                    passages=None, seed=None, wait=0.0, cache_bytes=None))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub(crate) fn open<'py>(
    py: Python<'py>,
    path: PathBuf,
    mode: &str,
    #[pyo3(from_py_with = maybe_number)] threshold: Option<f64>,
    #[pyo3(from_py_with = maybe_number)] recall: Option<f64>,
    #[pyo3(from_py_with = maybe_number)] lanes: Option<usize>,
    shingle: Option<String>,
    normalize: Option<String>,
    multiset: Option<bool>,
    weighted: Option<bool>,
    store_text: Option<bool>,
    passages: Option<Bound<'py, PyAny>>,
    seed: Option<Bound<'py, PyAny>>,
    #[pyo3(from_py_with = number)] wait: f64,
    #[pyo3(from_py_with = maybe_number)] cache_bytes: Option<usize>,
) -> PyResult<Bound<'py, Index>> {
    let wanted = Wanted {
        threshold,
        recall,
        lanes,
        shingle,
        normalize,
        multiset,
        weighted,
        store_text,
        passages,
        seed,
    };
    let mut options = wanted.options()?.wait(seconds(wait)?).give_up_if(stopped);
    if let Some(bytes) = cache_bytes {
        options = options.cache_bytes(bytes);
    }
    let opened = match mode {
        "c" => detached(py, || options.open_or_create(&path).map(Open::Writable)),
        "x" => detached(py, || options.create(&path).map(Open::Writable)),
        "w" => detached(py, || options.open(&path).map(Open::Writable)),
        "r" => detached(py, || options.open_read_only(&path).map(Open::ReadOnly)),
        _ => return Err(invalid(format!("mode={mode:?}: expected 'c', 'x', 'w' or 'r'"))),
    };
    let handle = Arc::new(Handle::new(unless_signalled(py, opened)?));
    let reader = Reader::of_index(Arc::clone(&handle));
    Bound::new(py, PyClassInitializer::from(reader).add_subclass(Index { handle }))
}

#[pymethods]
impl Index {
    /// Begins a write transaction. Waits until the one before has ended, and for whatever needs the
    /// index for itself: at most `wait` seconds if that is given, then it raises `BusyError`. With
    /// 0 it does not wait.
    #[pyo3(signature = (*, wait=None))]
    fn write(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = maybe_number)] wait: Option<f64>,
    ) -> PyResult<Transaction> {
        Transaction::begin(py, &self.handle, wait.map(seconds).transpose()?)
    }

    /// The state after the latest commit. Later commits do not change it.
    fn snapshot<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, Snapshot>> {
        let open = self.handle.open(py)?;
        let _in_use = self.handle.in_use(&open);
        let index = open.get()?;
        Snapshot::create(py, share(detached(py, || index.snapshot()).map_err(raise)?))
    }

    /// The sketcher of this index.
    #[getter]
    fn sketcher(&self, py: Python<'_>) -> PyResult<Sketcher> {
        let open = self.handle.open(py)?;
        let index = open.get()?;
        Ok(Sketcher::of_index(index.sketcher(), index.settings()))
    }

    /// Inserts a document in a transaction of its own.
    #[pyo3(signature = (id, content, *, on_conflict="replace"))]
    fn insert(
        &self,
        py: Python<'_>,
        id: &Bound<'_, PyAny>,
        content: &Bound<'_, PyAny>,
        on_conflict: &str,
    ) -> PyResult<&'static str> {
        self.at_once(py, |txn| txn.insert(py, id, content, on_conflict))
    }

    /// Inserts a document unless a similar one is known, in a transaction of its own. Returns that
    /// one, or `None` if the document was inserted.
    #[pyo3(signature = (id, content, *, threshold=None, against=None, on_conflict="replace",
                        estimate=false, max_candidates=None))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn insert_unless_similar(
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
        self.at_once(py, |txn| {
            txn.insert_unless_similar(
                py,
                id,
                content,
                threshold,
                against,
                on_conflict,
                estimate,
                max_candidates,
            )
        })
    }

    /// Inserts many documents and commits after every `commit_every` of them.
    ///
    /// `rows` is anything that speaks Arrow (pyarrow, polars, pandas, DuckDB), or an iterable of
    /// (id, text), of dicts, or of texts. `id` and `text` name its columns or keys; with `id=None`
    /// the index gives ids. A document whose id is known replaces the other, or with
    /// `on_conflict="skip"` is left out. `progress(done, total)` is called after each batch.
    ///
    /// When it ends early, by Ctrl-C or a bad row, the documents before are committed, and the
    /// exception has a note of how many they are. Given the same rows again, it goes on from there.
    #[pyo3(signature = (rows, *, id="id", text="text", on_conflict="replace",
                        commit_every=10_000, progress=None))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn insert_many(
        &self,
        py: Python<'_>,
        rows: &Bound<'_, PyAny>,
        id: Option<&str>,
        text: &str,
        on_conflict: &str,
        #[pyo3(from_py_with = number)] commit_every: usize,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Inserted> {
        let names = Names::new(id, text);
        self.insert_all(py, rows, names, Kind::Contents, on_conflict, commit_every, progress)
    }

    /// Inserts many documents that are given by their signatures.
    #[pyo3(signature = (rows, *, id="id", signature="signature",
                        on_conflict="replace", commit_every=10_000, progress=None))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn insert_signatures(
        &self,
        py: Python<'_>,
        rows: &Bound<'_, PyAny>,
        id: Option<&str>,
        signature: &str,
        on_conflict: &str,
        #[pyo3(from_py_with = number)] commit_every: usize,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Inserted> {
        let names = Names::new(id, signature);
        self.insert_all(py, rows, names, Kind::Signatures, on_conflict, commit_every, progress)
    }

    /// Inserts many documents in one transaction and leaves out those that are similar to one that
    /// is known. Returns a table with a row for each: `id`, `keep`, `duplicate_of`, `similarity`.
    #[pyo3(signature = (rows, *, threshold=None, id="id", text="text",
                        against=None, on_conflict="replace", estimate=false, max_candidates=None,
                        progress=None))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn dedup(
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
        self.at_once(py, |txn| {
            txn.dedup(
                py,
                rows,
                threshold,
                id,
                text,
                against,
                on_conflict,
                estimate,
                max_candidates,
                progress,
            )
        })
    }

    /// Removes a document in a transaction of its own. Returns whether there was one.
    fn remove(&self, py: Python<'_>, id: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.at_once(py, |txn| txn.remove(py, id))
    }

    /// Removes many documents in one transaction. Returns how many there were.
    fn remove_many(&self, py: Python<'_>, ids: &Bound<'_, PyAny>) -> PyResult<u64> {
        self.at_once(py, |txn| txn.remove_many(py, ids))
    }

    /// Removes the documents that were inserted before a time, a `datetime` with a time zone.
    /// Returns how many there were.
    #[pyo3(signature = (time, *, progress=None))]
    fn remove_inserted_before(
        &self,
        py: Python<'_>,
        time: &Bound<'_, PyAny>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<u64> {
        let time = time_of(time)?;
        let _held = self.handle.wait_for_turn(py)?;
        self.handle.writing(py, |index| watch(py, progress, index.remove_inserted_before(time)))
    }

    /// Keeps the clusters of this index under ids that stay, from now on: each commit brings them
    /// up to date. Clusters the documents that are there, and returns the number of clusters.
    #[pyo3(signature = (*, progress=None))]
    fn track_clusters(&self, py: Python<'_>, progress: Option<&Bound<'_, PyAny>>) -> PyResult<u64> {
        let _held = self.handle.wait_for_turn(py)?;
        self.handle.writing(py, |index| watch(py, progress, index.track_clusters()))
    }

    /// Tracks clusters no more, and deletes their ids. Returns whether the index tracked them.
    fn stop_tracking(&self, py: Python<'_>) -> PyResult<bool> {
        let _held = self.handle.wait_for_turn(py)?;
        self.handle.writing(py, |index| detached(py, || index.stop_tracking()).map_err(raise))
    }

    /// Forgets which documents were removed from clusters before a commit. Returns how many.
    fn forget_cluster_changes(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = number)] before: u64,
    ) -> PyResult<u64> {
        let _held = self.handle.wait_for_turn(py)?;
        self.handle.writing(py, |index| {
            detached(py, || index.forget_cluster_changes(before)).map_err(raise)
        })
    }

    /// Inserts all documents of another index of equal settings, in one transaction. With
    /// `attach=True` its sorted runs are copied with them, which is faster for many new documents.
    #[pyo3(signature = (other, *, on_conflict="replace", attach=false, progress=None))]
    fn merge(
        &self,
        py: Python<'_>,
        other: &Bound<'_, PyAny>,
        on_conflict: &str,
        attach: bool,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Inserted> {
        merging::merge(py, &self.handle, other, on_conflict, attach, progress)
    }

    /// Inserts the documents of another index of equal settings in one transaction, as `merge`
    /// does, and leaves out those that are similar to one that is there or that came before. So
    /// parts that were deduplicated apart become one. Returns a table with a row for each document:
    /// `id`, `keep`, `duplicate_of`, `similarity`. The arguments are those of `dedup`.
    #[pyo3(signature = (other, *, threshold=None, against=None, on_conflict="replace",
                        estimate=false, max_candidates=None, progress=None))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn merge_unless_similar(
        &self,
        py: Python<'_>,
        other: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = maybe_number)] threshold: Option<f64>,
        against: Option<Vec<Bound<'_, Reader>>>,
        on_conflict: &str,
        estimate: bool,
        #[pyo3(from_py_with = maybe_number)] max_candidates: Option<usize>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Table> {
        let own = || self.handle.open(py)?.get().map(|index| index.settings().threshold());
        let threshold = threshold.map_or_else(own, Ok)?;
        let manner =
            Manner::deduplicating(py, threshold, against, on_conflict, estimate, max_candidates)?;
        merging::deduplicated(py, &self.handle, other, &manner, progress)
    }

    /// Merges all runs into one, frees the space of removed documents, and shrinks the file. It
    /// waits for the calls of other threads, and calls that begin later wait for it; so its
    /// progress function must not wait for a thread that asks the index. No snapshot may be in use.
    /// If one of another process is, or one of a reader of this process, everything but shrinking
    /// the file is done, and the call ends with a `BusyError`.
    #[pyo3(signature = (*, progress=None))]
    fn compact(&self, py: Python<'_>, progress: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        self.handle.alone(py, |index| watch(py, progress, index.compact()))
    }

    /// Finishes merges and writes what is in memory to the file, so that opening is fast. What is
    /// committed is durable without it.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        let _held = self.handle.wait_for_turn(py)?;
        self.handle.writing(py, |index| detached(py, || index.flush()).map_err(raise))
    }

    /// Closes the file, and undoes a transaction of this thread. Does nothing if it is closed.
    ///
    /// It waits for the transaction of another thread, and the index stays open meanwhile, also if
    /// a signal such as Ctrl-C ends the wait. Then it is closed at once: calls that begin raise
    /// `ClosedError`. It waits for those that began before. If a signal ends this wait, or another
    /// thread that waits for a call of this one (`BusyError`), the last of them closes the file.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.handle.close(py)
    }

    /// Whether the file is closed.
    #[getter]
    fn closed(&self) -> bool {
        self.handle.is_closed()
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.close(py)
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err(
            "an open index cannot be pickled: send its path, and open it there (mode='r' to read)",
        ))
    }

    fn __repr__(slf: &Bound<'_, Self>) -> String {
        let handle = &slf.get().handle;
        let path = handle.path().display();
        if handle.is_closed() {
            return format!("<twindex.Index {path}: closed>");
        }
        if handle.is_of_parent() {
            return format!("<twindex.Index {path}: opened before a fork>");
        }
        // A debugger must not wait until the index has been compacted.
        if handle.is_taken() {
            return format!("<twindex.Index {path}: in use>");
        }
        let shared = slf.as_super().get().shared(slf.py());
        match shared.as_ref().map(|shared| shared.get().map_or(0, |snapshot| snapshot.len())) {
            Ok(documents) => format!("<twindex.Index {path}: {documents} documents>"),
            Err(_) => format!("<twindex.Index {path}: cannot be read>"),
        }
    }
}

impl Index {
    /// Does something in a transaction of its own.
    fn at_once<T>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Transaction) -> PyResult<T>,
    ) -> PyResult<T> {
        let txn = Transaction::begin(py, &self.handle, None)?;
        match work(&txn) {
            Ok(done) => txn.commit(py).map(|()| done),
            Err(error) => {
                txn.abort(py)?;
                Err(error)
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "it passes keywords of Python on")]
    fn insert_all(
        &self,
        py: Python<'_>,
        rows: &Bound<'_, PyAny>,
        names: Names,
        kind: Kind,
        on_conflict: &str,
        commit_every: usize,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Inserted> {
        let own_process = process::id();
        let manner = Manner::new(on_conflict)?;
        let rows = Rows::new(rows, names)?.for_commits_of(commit_every);
        let (sketcher, settings) = {
            let open = self.handle.open(py)?;
            let index = open.get()?;
            (index.sketcher().clone(), *index.settings())
        };
        let kind = kind.under(&settings);
        let making = Making { kind, sketcher: &sketcher, settings: &settings, numbered: false };
        let mut target = Committing::new(&self.handle, commit_every)?;
        let mut counts = Inserted::default();
        let done =
            insert_rows(py, rows, &making, &manner, &mut target, progress, |_, _, outcome| {
                counts.count(outcome.inserted().unwrap_or(twindex::Inserted::Skipped));
            });
        let Err(error) = done else { return target.commit(py).map(|()| counts) };
        // In a forked child, nothing is to be committed.
        if own_process != process::id() {
            return Err(error);
        }
        match target.commit(py) {
            Ok(()) => {
                let committed = target.committed();
                error
                    .add_note(py, format!("the documents before it are committed: {committed}"))?;
                Err(error)
            }
            Err(failed) => Err(during(py, failed, Some(error))),
        }
    }
}
