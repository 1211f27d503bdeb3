//! Tables and columns that other libraries hand over.
#![expect(unsafe_code, reason = "Arrow's C interface passes structures by pointer")]

use crate::error::invalid;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{Array, ArrayRef, StructArray, make_array};
use arrow_buffer::NullBuffer;
use arrow_schema::{ArrowError, DataType};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

/// A stream of batches, of which each is a table or a column.
pub(crate) struct ArrowInput {
    batches: Box<dyn Iterator<Item = Result<ArrayRef, ArrowError>> + Send>,
}

impl ArrowInput {
    /// The input behind an object; `None` if it speaks no Arrow.
    pub(crate) fn new(object: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        if object.hasattr("__arrow_c_stream__")? {
            let capsule = object.call_method0("__arrow_c_stream__")?;
            return Self::of_stream(capsule.cast::<PyCapsule>()?).map(Some);
        }
        if object.hasattr("__arrow_c_array__")? {
            let capsules = object.call_method0("__arrow_c_array__")?;
            let capsules = capsules.cast::<PyTuple>()?;
            let (schema, array) = (capsules.get_item(0)?, capsules.get_item(1)?);
            return Self::of_array(schema.cast()?, array.cast()?).map(Some);
        }
        Ok(None)
    }

    fn of_stream(capsule: &Bound<'_, PyCapsule>) -> PyResult<Self> {
        let pointer = capsule.pointer_checked(Some(c"arrow_array_stream"))?;
        // SAFETY: a capsule of this name holds a stream, and this moves it out.
        let stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr().cast()) };
        let batches = ArrayStreamReader::try_new(stream).map_err(bad)?;
        Ok(Self { batches: Box::new(batches) })
    }

    fn of_array(schema: &Bound<'_, PyCapsule>, array: &Bound<'_, PyCapsule>) -> PyResult<Self> {
        let schema = schema.pointer_checked(Some(c"arrow_schema"))?;
        let array = array.pointer_checked(Some(c"arrow_array"))?;
        // SAFETY: capsules of these names hold these structures, and this moves them out.
        let (schema, array) = unsafe {
            (
                FFI_ArrowSchema::from_raw(schema.as_ptr().cast()),
                FFI_ArrowArray::from_raw(array.as_ptr().cast()),
            )
        };
        if array.is_released() {
            return Err(invalid("the Arrow data were taken over before"));
        }
        // SAFETY: the two come from one producer. As everybody who takes data by this interface,
        // this trusts it that the buffers are as long as the schema and the offsets say. It does
        // not trust it that strings are UTF-8.
        let data = unsafe { from_ffi(array, &schema) };
        let array = make_array(data.map_err(bad)?);
        Ok(Self { batches: Box::new(std::iter::once(Ok(array))) })
    }

    /// The next rows; `None` at the end.
    pub(crate) fn next(&mut self) -> PyResult<Option<Batch>> {
        let next = self.batches.next().transpose().map_err(bad)?;
        Ok(next.map(|array| Batch { array }))
    }
}

/// Some rows of an input: the columns of a table, or a single column.
pub(crate) struct Batch {
    array: ArrayRef,
}

impl Batch {
    pub(crate) fn len(&self) -> usize {
        self.array.len()
    }

    /// How many rows take about so many bytes: at least one.
    pub(crate) fn rows_of(&self, bytes: usize) -> usize {
        let mean = self.array.get_buffer_memory_size() / self.array.len().max(1);
        (bytes / mean.max(1)).max(1)
    }

    /// The rows of a table that are null as a whole.
    pub(crate) fn nulls(&self) -> Option<NullBuffer> {
        let table = self.array.as_any().downcast_ref::<StructArray>()?;
        table.nulls().cloned()
    }

    /// Rows of this batch, without a copy.
    pub(crate) fn slice(&self, from: usize, rows: usize) -> Self {
        Self { array: self.array.slice(from, rows) }
    }

    /// A column of a table by its name. `None` if the batch is a single column.
    pub(crate) fn column(&self, name: &str) -> Option<Option<ArrayRef>> {
        let table = self.array.as_any().downcast_ref::<StructArray>()?;
        Some(table.column_by_name(name).cloned())
    }

    /// Whether several columns of a table have a name.
    pub(crate) fn has_several(&self, name: &str) -> bool {
        let DataType::Struct(fields) = self.array.data_type() else { return false };
        fields.iter().filter(|field| field.name() == name).count() > 1
    }

    /// The batch as a single column.
    pub(crate) fn array(&self) -> &ArrayRef {
        &self.array
    }

    /// The names of the columns of a table.
    pub(crate) fn names(&self) -> String {
        match self.array.data_type() {
            DataType::Struct(fields) => {
                let names: Vec<&str> = fields.iter().map(|field| field.name().as_str()).collect();
                names.join(", ")
            }
            _ => String::new(),
        }
    }
}

fn bad(error: ArrowError) -> PyErr {
    let error = error.to_string();
    // Ctrl-C in the Python code of a producer arrives as the text of an error, which ends with the
    // name of the exception.
    let last = error.trim_end().lines().next_back().unwrap_or_default();
    let of_python = last.starts_with("KeyboardInterrupt:") || last == "KeyboardInterrupt";
    if of_python || last.ends_with(": KeyboardInterrupt") {
        return PyKeyboardInterrupt::new_err(());
    }
    invalid(format!("the Arrow data cannot be read: {error}"))
}
