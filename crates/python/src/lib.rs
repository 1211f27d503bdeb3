//! The Python package `twindex`: the library as Python objects, and the command.
//!
//! The crate is a client of the library [`twindex`] and of the command's crate, and uses only their
//! public API. What Python sees is `python/twindex/`; the names that begin there with an underscore
//! come from here.

mod minhash;

use pyo3::prelude::*;

/// The compiled part of the package.
#[pymodule]
#[pyo3(name = "_twindex", gil_used = true)]
fn module(module: &Bound<'_, PyModule>) -> PyResult<()> {
    minhash::register(module)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))
}
