//! Files of rows by columns in a build without the feature `tables`: none.

use crate::input::{NO_TABLES, RowSchema};
use crate::run::column_format::ColumnFormat;

/// Fails: the build writes no tables.
pub fn check(_format: ColumnFormat, _schema: &RowSchema) -> Result<(), String> {
    Err(NO_TABLES.to_owned())
}
