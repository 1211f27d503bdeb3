//! The command `twindex`, as the wheel brings it.

use pyo3::prelude::*;
use std::ffi::OsString;

/// Runs the command with these arguments, the first of which is its name. Returns the exit status.
#[pyfunction]
pub(crate) fn run_command(py: Python<'_>, args: Vec<OsString>) -> u8 {
    py.detach(|| twindex_cli::run(args))
}
