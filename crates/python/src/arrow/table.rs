//! A result with columns, which every library that speaks Arrow can take over.

use super::output::stream_capsule;
use super::sequence::item;
use crate::error::invalid;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, LargeStringArray, RecordBatch,
    RecordBatchIterator, UInt64Array,
};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyIndexError, PyKeyError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyIterator, PyList, PyString};

/// A result with columns. Give it to `pyarrow.table`, `polars.DataFrame`, `pandas` or DuckDB, or
/// read it as it is: `len(table)`, `table["id"]`, `table.to_pylist()`.
#[pyclass(frozen, module = "twindex")]
pub(crate) struct Table {
    batch: RecordBatch,
}

impl Table {
    pub(crate) fn new(columns: Vec<(&str, ArrayRef)>) -> PyResult<Self> {
        let nullable = |(name, array): (_, ArrayRef)| {
            let nullable = array.null_count() > 0 || matches!(name, "duplicate_of" | "similarity");
            (name, array, nullable)
        };
        let batch = RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(nullable));
        Ok(Self { batch: batch.map_err(|error| invalid(error.to_string()))? })
    }
}

#[pymethods]
impl Table {
    /// The names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.batch.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The number of rows.
    #[getter]
    fn num_rows(&self) -> usize {
        self.batch.num_rows()
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    /// The values of a column, by its name, or a row as a dict, by its number.
    fn __getitem__<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match key.cast::<PyString>() {
            Ok(name) => self.column(py, &name.to_cow()?).map(Bound::into_any),
            Err(_) => item(py, key, self.batch.num_rows(), |row| self.row(py, row).ok()),
        }
    }

    /// The rows as dicts.
    fn to_pylist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let rows = PyList::empty(py);
        for row in 0..self.batch.num_rows() {
            rows.append(self.row(py, row)?)?;
        }
        Ok(rows)
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        self.to_pylist(py)?.try_iter()
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface allows to ignore a wish for other types.
        drop(requested_schema);
        let (batch, schema) = (self.batch.clone(), self.batch.schema());
        stream_capsule(py, RecordBatchIterator::new([Ok(batch)], schema))
    }

    fn __repr__(&self) -> String {
        format!(
            "<twindex.Table {} rows: {}>",
            self.batch.num_rows(),
            self.column_names().join(", ")
        )
    }
}

impl Table {
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        let Some(column) = self.batch.column_by_name(name) else {
            let names = self.column_names().join(", ");
            return Err(PyKeyError::new_err(format!("no column {name:?}: there are {names}")));
        };
        let values = (0..column.len()).map(|row| value(py, column, row));
        PyList::new(py, values.collect::<PyResult<Vec<_>>>()?)
    }

    fn row<'py>(&self, py: Python<'py>, row: usize) -> PyResult<Bound<'py, PyDict>> {
        if row >= self.batch.num_rows() {
            return Err(PyIndexError::new_err("no such row"));
        }
        let dict = PyDict::new(py);
        for (field, column) in self.batch.schema().fields().iter().zip(self.batch.columns()) {
            dict.set_item(field.name(), value(py, column, row)?)?;
        }
        Ok(dict)
    }
}

/// A value of one of the types that tables here have.
fn value<'py>(py: Python<'py>, column: &ArrayRef, row: usize) -> PyResult<Bound<'py, PyAny>> {
    if column.is_null(row) {
        return Ok(py.None().into_bound(py));
    }
    let any = column.as_any();
    if let Some(texts) = any.downcast_ref::<LargeStringArray>() {
        return texts.value(row).into_bound_py_any(py);
    }
    if let Some(numbers) = any.downcast_ref::<UInt64Array>() {
        return numbers.value(row).into_bound_py_any(py);
    }
    if let Some(numbers) = any.downcast_ref::<Float64Array>() {
        return numbers.value(row).into_bound_py_any(py);
    }
    let flags = any.downcast_ref::<BooleanArray>();
    flags.map(|flags| flags.value(row)).into_bound_py_any(py)
}
