//! What sequences of Python share.

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyList, PySlice};

/// An item or a slice of a sequence.
pub(crate) fn item<'py, T: IntoPyObjectExt<'py>>(
    py: Python<'py>,
    place: &Bound<'py, PyAny>,
    length: usize,
    at: impl Fn(usize) -> Option<T>,
) -> PyResult<Bound<'py, PyAny>> {
    let end = isize::try_from(length)?;
    if let Ok(slice) = place.cast::<PySlice>() {
        let slice = slice.indices(end)?;
        let list = PyList::empty(py);
        let mut place = slice.start;
        for _ in 0..slice.slicelength {
            if let Some(item) = usize::try_from(place).ok().and_then(&at) {
                list.append(item.into_bound_py_any(py)?)?;
            }
            place += slice.step;
        }
        return Ok(list.into_any());
    }
    let Ok(number) = place.cast::<PyInt>() else {
        return Err(PyTypeError::new_err("an index of a sequence is an int or a slice"));
    };
    let number: isize = number.extract()?;
    let number = if number < 0 { number + end } else { number };
    match usize::try_from(number).ok().and_then(&at) {
        Some(item) => item.into_bound_py_any(py),
        None => Err(PyIndexError::new_err(format!("no item {number}: there are {length}"))),
    }
}
