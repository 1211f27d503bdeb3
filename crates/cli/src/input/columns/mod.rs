//! Tables by columns: Parquet and Arrow. Only the columns that are asked for are decoded.

mod arrow;
mod cell;
mod parquet;
mod seekable;
mod table;

pub use arrow_array::RecordBatch as RowBatch;
pub use arrow_schema::SchemaRef as RowSchema;
pub use cell::cell;
pub use seekable::Seekable;
pub use table::{ColumnTable, Columns, Piece, unless_panicked};
