//! Columns of signatures.

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, FixedSizeBinaryArray, LargeBinaryArray,
};
use arrow_schema::DataType;
use std::fmt::{self, Display};

/// The type of a column that holds no signatures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoSignature(pub DataType);

impl Display for NoSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "is of type {}: expected fixed-size binary, binary, large_binary or binary_view",
            self.0
        )
    }
}

/// A column of signatures.
pub enum SignatureColumn {
    Fixed(FixedSizeBinaryArray),
    Small(BinaryArray),
    Large(LargeBinaryArray),
    View(BinaryViewArray),
}

impl SignatureColumn {
    pub fn new(array: &ArrayRef) -> Result<Self, NoSignature> {
        Ok(match array.data_type() {
            DataType::FixedSizeBinary(_) => Self::Fixed(array.as_fixed_size_binary().clone()),
            DataType::Binary => Self::Small(array.as_binary::<i32>().clone()),
            DataType::LargeBinary => Self::Large(array.as_binary::<i64>().clone()),
            DataType::BinaryView => Self::View(array.as_binary_view().clone()),
            other => return Err(NoSignature(other.clone())),
        })
    }

    /// The bytes of the signature of a row; `None` if it is null.
    pub fn get(&self, row: usize) -> Option<&[u8]> {
        match self {
            Self::Fixed(array) => array.is_valid(row).then(|| array.value(row)),
            Self::Small(array) => array.is_valid(row).then(|| array.value(row)),
            Self::Large(array) => array.is_valid(row).then(|| array.value(row)),
            Self::View(array) => array.is_valid(row).then(|| array.value(row)),
        }
    }
}
