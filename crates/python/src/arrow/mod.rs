//! Arrow data in and out, by the C data interface that Python passes in capsules
//! (`__arrow_c_stream__`, `__arrow_c_array__`). No text is copied.

mod input;
mod output;
mod sequence;
mod table;

pub(crate) use input::{ArrowInput, Batch};
pub(crate) use output::{array_capsules, stream_capsule};
pub(crate) use sequence::{count_of, index_of, item, iterate};
pub(crate) use table::Table;
