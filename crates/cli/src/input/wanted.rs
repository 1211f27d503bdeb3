//! What is read of a table by columns.

use super::record::Naming;

/// The columns to read.
#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "tables"), expect(dead_code, reason = "only tables are read so"))]
pub struct Wanted {
    /// The name of the column of texts.
    pub text: String,
    /// The name of the column of ids; `None` if ids are not read.
    pub id: Option<String>,
    /// Whether there must be ids.
    pub id_required: bool,
    /// Whether all columns are decoded, because rows are written again.
    pub whole_rows: bool,
}

/// What is known of a table before it is opened.
#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "tables"), expect(dead_code, reason = "only tables are read so"))]
pub struct Head {
    pub path: String,
    pub wanted: Wanted,
    pub naming: Naming,
    pub most: usize,
}
