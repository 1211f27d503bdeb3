//! The functions that `twindex.datasketch` calls.

use super::minima::{lower_hashes, lower_one, lower_rows};
use super::optimal;
use super::permute::{Affine32, Affine64, Legacy, Scheme};
use super::values::{Batch, Width};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyIterator};
use std::sync::Arc;

/// The most documents that one call of [`minhash_bulk`] takes, so that its rows are a few
/// megabytes.
const MOST_DOCUMENTS: usize = 1024;

/// Adds the functions of this file to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(minhash_update, module)?)?;
    module.add_function(wrap_pyfunction!(minhash_update_hashes, module)?)?;
    module.add_function(wrap_pyfunction!(minhash_bulk, module)?)?;
    module.add_function(wrap_pyfunction!(minhash_optimal, module)?)?;
    module.add_function(wrap_pyfunction!(minhash_optimal_containment, module)?)
}

/// Calls a generic function with the type of a scheme.
macro_rules! with_scheme {
    ($scheme:expr, $function:ident($($argument:expr),*)) => {
        match $scheme {
            "affine32" => $function::<Affine32>($($argument),*),
            "affine64" => $function::<Affine64>($($argument),*),
            "legacy" => $function::<Legacy>($($argument),*),
            _ => Err(PyValueError::new_err("unknown permutation scheme")),
        }
    };
}

fn width(bits: u32) -> Width {
    if bits == 64 { Width::Bits64 } else { Width::Bits32 }
}

/// The permutations of an array of two rows, and the words of an array of hash values. Fails if
/// the arrays do not have the scheme's type or do not belong together.
fn read<S: Scheme>(
    permutations: &Bound<'_, PyAny>,
    hashvalues: &PyBuffer<S::Word>,
) -> PyResult<(Arc<S>, Vec<S::Word>)> {
    let py = permutations.py();
    let parameters = PyBuffer::<S::Word>::get(permutations)?.to_vec(py)?;
    let minima = hashvalues.to_vec(py)?;
    if parameters.len() != 2 * minima.len() {
        let reason = "numbers of hash values and permutations mismatch";
        return Err(PyValueError::new_err(reason));
    }
    Ok((Arc::new(S::new(parameters)), minima))
}

/// Lowers `hashvalues`, in place, by the values of an iterable, and returns how many these are.
#[pyfunction]
fn minhash_update(
    values: &Bound<'_, PyAny>,
    hashvalues: &Bound<'_, PyAny>,
    permutations: &Bound<'_, PyAny>,
    scheme: &str,
    bits: u32,
) -> PyResult<usize> {
    with_scheme!(scheme, update(values, hashvalues, permutations, width(bits)))
}

fn update<S: Scheme>(
    values: &Bound<'_, PyAny>,
    hashvalues: &Bound<'_, PyAny>,
    permutations: &Bound<'_, PyAny>,
    width: Width,
) -> PyResult<usize> {
    let py = values.py();
    let buffer = PyBuffer::<S::Word>::get(hashvalues)?;
    let (scheme, mut minima) = read::<S>(permutations, &buffer)?;
    let mut batch = Batch::new(width);
    let mut count = 0;
    for value in values.try_iter()? {
        batch.push(&value?)?;
        count += 1;
        if batch.is_full() {
            lower_one(py, &scheme, &mut batch, &mut minima);
            py.check_signals()?;
        }
    }
    lower_one(py, &scheme, &mut batch, &mut minima);
    buffer.copy_from_slice(py, &minima)?;
    Ok(count)
}

/// Lowers `hashvalues`, in place, by the hashes of an array.
#[pyfunction]
fn minhash_update_hashes(
    hashes: &Bound<'_, PyAny>,
    hashvalues: &Bound<'_, PyAny>,
    permutations: &Bound<'_, PyAny>,
    scheme: &str,
) -> PyResult<()> {
    with_scheme!(scheme, update_hashes(hashes, hashvalues, permutations))
}

fn update_hashes<S: Scheme>(
    hashes: &Bound<'_, PyAny>,
    hashvalues: &Bound<'_, PyAny>,
    permutations: &Bound<'_, PyAny>,
) -> PyResult<()> {
    let py = hashes.py();
    let buffer = PyBuffer::<S::Word>::get(hashvalues)?;
    let (scheme, mut minima) = read::<S>(permutations, &buffer)?;
    let hashes = PyBuffer::<S::Word>::get(hashes)?.to_vec(py)?;
    py.detach(|| lower_hashes(&*scheme, &hashes, &mut minima));
    buffer.copy_from_slice(py, &minima)
}

/// Takes the next documents of an iterator, each an iterable of values, and returns the words of
/// their hash values, one row a document: no row at the end of the iterator. Every row begins as
/// `hashvalues`.
#[pyfunction]
fn minhash_bulk<'py>(
    documents: &Bound<'py, PyIterator>,
    hashvalues: &Bound<'py, PyAny>,
    permutations: &Bound<'py, PyAny>,
    scheme: &str,
    bits: u32,
) -> PyResult<Bound<'py, PyBytes>> {
    with_scheme!(scheme, bulk(documents, hashvalues, permutations, width(bits)))
}

fn bulk<'py, S: Scheme>(
    documents: &Bound<'py, PyIterator>,
    hashvalues: &Bound<'py, PyAny>,
    permutations: &Bound<'py, PyAny>,
    width: Width,
) -> PyResult<Bound<'py, PyBytes>> {
    let py = documents.py();
    let buffer = PyBuffer::<S::Word>::get(hashvalues)?;
    let (scheme, start) = read::<S>(permutations, &buffer)?;
    let mut rows: Vec<S::Word> = Vec::new();
    let mut batch = Batch::new(width);
    let mut parts = Vec::new();
    let mut full = false;
    for document in documents.clone().take(MOST_DOCUMENTS) {
        rows.extend_from_slice(&start);
        let mut before = batch.whole();
        for value in document?.try_iter()? {
            batch.push(&value?)?;
            if batch.is_full() {
                parts.push(batch.part_after(before.waiting.end, before.hashed.end));
                lower_rows(py, &scheme, &mut batch, &mut parts, &mut rows, start.len());
                py.check_signals()?;
                before = batch.whole();
                full = true;
            }
        }
        parts.push(batch.part_after(before.waiting.end, before.hashed.end));
        if full {
            break;
        }
    }
    lower_rows(py, &scheme, &mut batch, &mut parts, &mut rows, start.len());
    PyBytes::new_with(py, size_of_val(rows.as_slice()), |bytes| {
        S::write(&rows, bytes);
        Ok(())
    })
}

/// The bands and rows of `MinHashLSH` that err least at a threshold.
#[pyfunction]
fn minhash_optimal(
    py: Python<'_>,
    threshold: f64,
    num_perm: u32,
    false_positive_weight: f64,
    false_negative_weight: f64,
) -> (u32, u32) {
    let weights = (false_positive_weight, false_negative_weight);
    py.detach(|| optimal::for_similarity(threshold, num_perm, weights))
}

/// The bands and rows of `MinHashLSHEnsemble` that err least at a threshold of containment, where
/// `ratio` is the size of the set that is found by that of the set that is asked about.
#[pyfunction]
fn minhash_optimal_containment(
    py: Python<'_>,
    threshold: f64,
    num_perm: u32,
    most_rows: u32,
    ratio: f64,
    false_positive_weight: f64,
    false_negative_weight: f64,
) -> (u32, u32) {
    let weights = (false_positive_weight, false_negative_weight);
    py.detach(|| optimal::for_containment(threshold, num_perm, most_rows, ratio, weights))
}
