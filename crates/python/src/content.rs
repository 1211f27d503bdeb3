//! What a document is given as: a text, a list or set of tokens, or a dict of weights; its id and
//! its time, and the names of what a row holds.

use crate::error::{invalid, raise};
use pyo3::exceptions::{PyException, PyOverflowError, PyTypeError, PyUnicodeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyBool, PyDict, PyFrozenSet, PyList, PyMapping, PySet, PyString, PyTuple};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use twindex::{Content, Tokens, Weights};

/// A content that Python gave, without a copy of its text.
pub(crate) enum Given {
    Text(PyBackedStr),
    Tokens(Tokens),
    Weights(Weights),
}

impl Given {
    /// The content as the library takes it.
    pub(crate) fn content(&self) -> Content<'_> {
        match self {
            Self::Text(text) => Content::Text(text),
            Self::Tokens(tokens) => Content::Tokens(tokens),
            Self::Weights(weights) => Content::Weights(weights),
        }
    }

    /// The text, if it is one.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn new(given: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(text) = given.cast::<PyString>() {
            return text_of(text).map(Self::Text);
        }
        if let Ok(weights) = given.cast::<PyDict>() {
            let weights = weights
                .iter()
                .map(|(token, weight)| Ok((token.extract::<String>()?, weight.extract::<f64>()?)));
            let what = "weights: expected a dict of a number for each token, a str";
            let weights = weights.collect::<PyResult<Vec<_>>>();
            let weights = weights.map_err(|error| of_elements(given.py(), error, what))?;
            return Weights::new(weights).map(Self::Weights).map_err(raise);
        }
        let several = given.is_instance_of::<PyList>()
            || given.is_instance_of::<PyTuple>()
            || given.is_instance_of::<PySet>()
            || given.is_instance_of::<PyFrozenSet>();
        if several {
            let tokens = given.try_iter()?.map(|token| token?.extract::<PyBackedStr>());
            let what = "tokens: expected a list, tuple or set of str";
            let tokens = tokens.collect::<PyResult<Vec<_>>>();
            let tokens = tokens.map_err(|error| of_elements(given.py(), error, what))?;
            return Tokens::new(tokens).map(Self::Tokens).map_err(raise);
        }
        let got = given.get_type().name()?;
        Err(PyTypeError::new_err(format!(
            "a document is a str, a list or set of str (tokens), or a dict of weights; got {got}"
        )))
    }
}

/// The error for elements that cannot be taken: `what` was expected.
fn of_elements(py: Python<'_>, error: PyErr, what: &str) -> PyErr {
    if error.is_instance_of::<PyUnicodeError>(py) {
        return invalid("a token holds a lone surrogate, which UTF-8 cannot encode");
    }
    if error.is_instance_of::<PyOverflowError>(py) {
        return invalid("weights: a number is larger than a float can hold");
    }
    if error.is_instance_of::<PyTypeError>(py) {
        PyTypeError::new_err(what.to_owned())
    } else {
        error
    }
}

/// The UTF-8 of a str. A str with lone surrogates has none.
pub(crate) fn text_of(text: &Bound<'_, PyString>) -> PyResult<PyBackedStr> {
    PyBackedStr::try_from(text.clone()).map_err(|_| {
        invalid(
            "the text holds a lone surrogate, which UTF-8 cannot encode: replace it first, \
                 for instance with text.encode('utf-8', 'replace').decode()",
        )
    })
}

/// An id: a str, or a whole number, which becomes its decimal digits.
pub(crate) fn id_of(id: &Bound<'_, PyAny>) -> PyResult<PyBackedStr> {
    if let Ok(id) = id.cast::<PyString>() {
        return PyBackedStr::try_from(id.clone())
            .map_err(|_| invalid("the id holds a lone surrogate, which UTF-8 cannot encode"));
    }
    let wrong = || match id.get_type().name() {
        Ok(got) => PyTypeError::new_err(format!("an id is a str or an int; got {got}")),
        Err(error) => error,
    };
    if id.is_instance_of::<PyBool>() || !id.hasattr("__index__")? {
        return Err(wrong());
    }
    // Whole numbers of numpy and others, too. An array has the method, but may be no number.
    let number = id.call_method0("__index__").map_err(|error| {
        if error.is_instance_of::<PyTypeError>(id.py()) { wrong() } else { error }
    })?;
    let digits = number.str().map_err(|error| {
        let too_long = error.is_instance_of::<PyValueError>(id.py());
        if too_long {
            invalid("an id has at most 4096 bytes: the number is too long")
        } else {
            error
        }
    })?;
    text_of(&digits)
}

/// The time of a datetime with a time zone.
pub(crate) fn time_of(time: &Bound<'_, PyAny>) -> PyResult<SystemTime> {
    let expected =
        || invalid("time: expected a datetime with a time zone, such as datetime.now(UTC)");
    let zone = time.getattr_opt("tzinfo")?.ok_or_else(expected)?;
    if zone.is_none() {
        return Err(expected());
    }
    let seconds: f64 = time.call_method0("timestamp")?.extract()?;
    let since = Duration::try_from_secs_f64(seconds.abs()).map_err(|_| expected())?;
    let time =
        if seconds < 0.0 { UNIX_EPOCH.checked_sub(since) } else { UNIX_EPOCH.checked_add(since) };
    time.ok_or_else(expected)
}

/// Names, unless they are something else than texts.
fn names_of(names: &Bound<'_, PyAny>) -> PyResult<Option<Vec<String>>> {
    let texts = names.extract().map(Some);
    texts.or_else(|error| unless_stopped(names.py(), error).map(|()| None))
}

/// Passes over an error of Python code that is asked for something it may not have. What ends a
/// program, such as Ctrl-C, is raised.
pub(crate) fn unless_stopped(py: Python<'_>, error: PyErr) -> PyResult<()> {
    if error.is_instance_of::<PyException>(py) { Ok(()) } else { Err(error) }
}

/// The names of a row's values, if it is a named tuple, or a row of Spark or of SQLite.
pub(crate) fn fields_of(row: &Bound<'_, PyAny>) -> PyResult<Option<Vec<String>>> {
    if row.is_exact_instance_of::<PyTuple>() || row.is_instance_of::<PyString>() {
        return Ok(None);
    }
    if row.is_instance_of::<PyTuple>() {
        for names in ["_fields", "__fields__"] {
            if let Some(fields) = row.getattr_opt(names)? {
                return names_of(&fields);
            }
        }
        return Ok(None);
    }
    // A row of a structured array of numpy.
    if let Some(kind) = row.getattr_opt("dtype")?
        && let Some(names) = kind.getattr_opt("names")?
        && !names.is_none()
        && !row.hasattr("columns")?
    {
        return names_of(&names);
    }
    match row.cast::<PyMapping>() {
        Ok(_) => Ok(None),
        Err(_) if row.hasattr("keys")? => names_of(&row.call_method0("keys")?),
        Err(_) => Ok(None),
    }
}
