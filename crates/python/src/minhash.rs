//! The arithmetic of datasketch's MinHash: SHA-1 of each value, permutations, minima.

use pyo3::prelude::*;

/// Adds the functions of this file to the module.
pub(crate) fn register(_module: &Bound<'_, PyModule>) -> PyResult<()> {
    Ok(())
}
