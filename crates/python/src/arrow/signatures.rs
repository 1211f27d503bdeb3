//! Columns of signatures.

use crate::error::invalid;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryArray, FixedSizeBinaryArray, LargeBinaryArray};
use arrow_schema::DataType;
use pyo3::PyResult;

/// A column of signatures.
pub(crate) enum SignatureColumn {
    Fixed(FixedSizeBinaryArray),
    Small(BinaryArray),
    Large(LargeBinaryArray),
}

impl SignatureColumn {
    pub(crate) fn new(name: &str, array: &ArrayRef) -> PyResult<Self> {
        Ok(match array.data_type() {
            DataType::FixedSizeBinary(_) => Self::Fixed(array.as_fixed_size_binary().clone()),
            DataType::Binary => Self::Small(array.as_binary::<i32>().clone()),
            DataType::LargeBinary => Self::Large(array.as_binary::<i64>().clone()),
            other => {
                return Err(invalid(format!(
                    "column {name:?} is of type {other}: expected fixed-size binary or binary"
                )));
            }
        })
    }

    /// The signature of a row; `None` if it is null.
    pub(crate) fn get(&self, row: usize) -> Option<&[u8]> {
        match self {
            Self::Fixed(array) => array.is_valid(row).then(|| array.value(row)),
            Self::Small(array) => array.is_valid(row).then(|| array.value(row)),
            Self::Large(array) => array.is_valid(row).then(|| array.value(row)),
        }
    }
}
