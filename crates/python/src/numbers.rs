//! Numbers that Python gives as arguments. One that is out of range is an `InvalidInputError`, as
//! other wrong arguments are, and not the `OverflowError` of a conversion.

use crate::error::invalid;
use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;

/// A type of numbers that arguments have.
pub(crate) trait Number: for<'a, 'py> FromPyObject<'a, 'py, Error = PyErr> {
    /// The numbers that can be given, in words.
    const RANGE: &str;
}

impl Number for usize {
    const RANGE: &str = "0 to 2**64 - 1";
}

impl Number for u64 {
    const RANGE: &str = "0 to 2**64 - 1";
}

impl Number for u32 {
    const RANGE: &str = "0 to 2**32 - 1";
}

impl Number for f64 {
    const RANGE: &str = "a number that a float can hold";
}

/// A number.
pub(crate) fn number<T: Number>(given: &Bound<'_, PyAny>) -> PyResult<T> {
    given.extract::<T>().map_err(|error| {
        if error.is_instance_of::<PyOverflowError>(given.py()) {
            invalid(format!("{given} is out of range: expected {}", T::RANGE))
        } else {
            error
        }
    })
}

/// A number, or `None`.
pub(crate) fn maybe_number<T: Number>(given: &Bound<'_, PyAny>) -> PyResult<Option<T>> {
    if given.is_none() { Ok(None) } else { number(given).map(Some) }
}
