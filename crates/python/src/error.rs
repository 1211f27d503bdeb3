//! The library's errors as Python's exceptions (`python/twindex/_errors.py`).

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use twindex::{Error, ErrorKind};

/// The exception for an error of the library.
pub(crate) fn raise(error: Error) -> PyErr {
    let name = match error.kind() {
        ErrorKind::NotFound => "NotFoundError",
        ErrorKind::AlreadyExists => "ExistsError",
        ErrorKind::InvalidInput => "InvalidInputError",
        ErrorKind::Mismatch => "MismatchError",
        ErrorKind::Busy => "BusyError",
        ErrorKind::Moved => "MovedError",
        ErrorKind::Damaged => "DamagedError",
        ErrorKind::Unsupported => "UnsupportedError",
        ErrorKind::Full => "FullError",
        ErrorKind::Io => "StorageError",
        _ => "Error",
    };
    let (path, errno) = match &error {
        Error::NotFound { path } => (Some(path.as_path()), Some(NO_SUCH_FILE)),
        Error::AlreadyExists { path } => (Some(path.as_path()), Some(FILE_EXISTS)),
        Error::Moved { path, .. } => (Some(path.as_path()), None),
        Error::Io { path, source, .. } => (Some(path.as_path()), source.raw_os_error()),
        Error::Unreadable { source } => (None, source.raw_os_error()),
        _ => (None, None),
    };
    Python::attach(|py| {
        exception(py, name, error.with_causes()).and_then(|raised| {
            if let Some(path) = path {
                raised.value(py).setattr("filename", path.as_os_str())?;
            }
            if let Some(errno) = errno {
                raised.value(py).setattr("errno", errno)?;
            }
            Ok(raised)
        })
    })
    .unwrap_or_else(|failed| failed)
}

const NO_SUCH_FILE: i32 = 2;
const FILE_EXISTS: i32 = 17;

/// An exception of this package, by its name.
pub(crate) fn named(name: &str, message: impl Into<String>) -> PyErr {
    let message = message.into();
    Python::attach(|py| exception(py, name, message).unwrap_or_else(|failed| failed))
}

/// An exception that is raised in the place of another one, which becomes its context. So neither
/// of them is lost.
pub(crate) fn during(py: Python<'_>, raised: PyErr, other: Option<PyErr>) -> PyErr {
    match (other, raised.context(py)) {
        (Some(other), None) => raised.set_context(py, Some(other)),
        // A note takes no context away. It can only fail for exceptions of a class of the caller.
        (Some(other), Some(_)) => drop(raised.add_note(py, format!("there was also: {other}"))),
        (None, _) => {}
    }
    raised
}

/// The exception for an argument or a document that is not valid.
pub(crate) fn invalid(message: impl Into<String>) -> PyErr {
    named("InvalidInputError", message)
}

/// The exception for a question about texts where the documents are weighted sets.
pub(crate) fn no_texts() -> PyErr {
    named("MismatchError", "weighted sets have no texts: Index.weights(id) gives their weights")
}

fn exception(py: Python<'_>, name: &str, message: String) -> PyResult<PyErr> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module = MODULE.get_or_try_init(py, || py.import("twindex._errors").map(Bound::unbind))?;
    let raised = module.bind(py).getattr(name)?.call1((message,))?;
    Ok(PyErr::from_value(raised))
}
