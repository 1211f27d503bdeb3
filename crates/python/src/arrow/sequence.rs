//! What sequences of Python share.

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyIndexError, PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyIterator, PyList, PySlice};

/// An item or a slice of a sequence.
pub(crate) fn item<'py, T: IntoPyObjectExt<'py>>(
    py: Python<'py>,
    place: &Bound<'py, PyAny>,
    length: usize,
    at: impl Fn(usize) -> Option<T>,
) -> PyResult<Bound<'py, PyAny>> {
    let end = isize::try_from(length)?;
    let none = |number: &dyn std::fmt::Display| {
        PyIndexError::new_err(format!("no item {number}: there are {length}"))
    };
    if let Ok(slice) = place.cast::<PySlice>() {
        let slice = slice.indices(end)?;
        let list = PyList::empty(py);
        let mut place = slice.start;
        for _ in 0..slice.slicelength {
            if let Some(item) = usize::try_from(place).ok().and_then(&at) {
                list.append(item.into_bound_py_any(py)?)?;
            }
            place = place.wrapping_add(slice.step);
        }
        return Ok(list.into_any());
    }
    let number: isize = match place.extract() {
        Ok(number) => number,
        Err(error) if error.is_instance_of::<PyOverflowError>(py) => return Err(none(place)),
        Err(_) => {
            return Err(PyTypeError::new_err("an index of a sequence is an int or a slice"));
        }
    };
    let place = if number < 0 { number + end } else { number };
    match usize::try_from(place).ok().and_then(&at) {
        Some(item) => item.into_bound_py_any(py),
        None => Err(none(&number)),
    }
}

/// The items of a sequence, as a list.
fn items<'py>(sequence: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(sequence.py());
    for place in 0..sequence.len()? {
        list.append(sequence.get_item(place)?)?;
    }
    Ok(list)
}

/// An iterator over the items of a sequence.
pub(crate) fn iterate<'py>(sequence: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyIterator>> {
    items(sequence)?.try_iter()
}

/// The place of the first item that is equal to a value.
pub(crate) fn index_of(sequence: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<usize> {
    items(sequence)?.index(value)
}

/// The number of items that are equal to a value.
pub(crate) fn count_of(sequence: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<usize> {
    items(sequence)?.as_sequence().count(value)
}
