//! Tables by columns: Parquet and Arrow. Only the columns that are asked for are decoded.

mod arrow;
mod parquet;
mod seekable;
mod table;

pub use seekable::Seekable;
pub use table::{ColumnTable, Columns, Head, Piece, Wanted, unless_panicked};
