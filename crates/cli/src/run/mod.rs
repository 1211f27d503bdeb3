//! What all commands share: options, inputs, opening an index, failures, output files.

pub(crate) mod bad_records;
pub(crate) mod column_format;
#[cfg(feature = "tables")]
pub(crate) mod columns_file;
#[cfg(not(feature = "tables"))]
#[path = "columns_file_absent.rs"]
pub(crate) mod columns_file;
pub(crate) mod compressor;
pub mod conflict;
pub mod ending;
pub mod failure;
pub(crate) mod file_size_limit;
pub mod global_options;
pub mod index_settings;
pub mod input_options;
pub mod opening;
pub(crate) mod output_names;
pub(crate) mod over_input;
pub(crate) mod preference;
pub mod program;
pub mod ranges;
pub mod read_ahead;
pub mod records;
#[cfg(feature = "tables")]
mod results_columns;
#[cfg(not(feature = "tables"))]
#[path = "results_columns_absent.rs"]
mod results_columns;
pub mod results_file;
mod results_lines;
pub mod results_table;
pub mod resume_key;
pub(crate) mod seconds;
pub mod short_texts;
pub mod spilled_sort;
pub(crate) mod task_pool;
pub mod two_texts;
pub mod whole_file;
