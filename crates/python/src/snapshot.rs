//! One state of an index, which later commits do not change.

use crate::opened::Shared;
use crate::reader::Reader;
use pyo3::prelude::*;

/// One state of an index. `index.snapshot()` returns it.
#[pyclass(frozen, extends = Reader, module = "twindex")]
pub(crate) struct Snapshot {}

impl Snapshot {
    pub(crate) fn create(py: Python<'_>, shared: Shared) -> PyResult<Bound<'_, Self>> {
        Bound::new(py, PyClassInitializer::from(Reader::of_snapshot(shared)).add_subclass(Self {}))
    }
}

#[pymethods]
impl Snapshot {
    /// Gives up the state, and with it the space that it keeps in the file.
    fn close(slf: &Bound<'_, Self>) {
        slf.as_super().get().release();
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(slf: &Bound<'_, Self>, _exception: &Bound<'_, pyo3::types::PyTuple>) {
        Self::close(slf);
    }

    fn __repr__(slf: &Bound<'_, Self>) -> String {
        let shared = slf.as_super().get().shared(slf.py());
        match shared.as_ref().map(|shared| shared.get()) {
            Ok(Ok(snapshot)) => {
                let (path, documents) = (snapshot.path().display(), snapshot.len());
                format!("<twindex.Snapshot {path}: {documents} documents>")
            }
            Ok(Err(_)) => "<twindex.Snapshot: taken before a fork>".to_owned(),
            Err(_) => "<twindex.Snapshot: closed>".to_owned(),
        }
    }
}
