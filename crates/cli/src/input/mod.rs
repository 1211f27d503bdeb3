//! Reads files, directories and streams, and parses their records in order, on all threads.

mod ahead;
mod batch;
mod blocks;
#[cfg(feature = "tables")]
mod columns;
#[cfg(not(feature = "tables"))]
#[path = "columns_absent.rs"]
mod columns;
mod compression;
mod counted;
#[cfg(any(test, fuzzing))]
mod drip;
mod encoding;
mod fasta;
mod field;
mod file_identity;
mod files;
mod finding;
mod foreign;
mod format;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
#[cfg(any(test, fuzzing))]
pub mod fuzz_formats;
mod input_file;
mod inputs;
mod json;
mod json_line;
mod json_string;
mod json_wide;
mod lines;
mod listing;
mod names;
mod open;
mod open_stream;
mod packed_stream;
mod part;
mod path_id;
mod record;
mod rows;
mod sets;
pub(crate) mod share;
mod source;
mod stream;
mod table;
mod text_form;
mod walk;
mod wanted;
mod warc;
mod whole_text;

pub use ahead::{Ahead, Next};
pub use batch::{Batch, Sharing};
pub use blocks::{Block, Blocks, Line};
#[cfg(not(feature = "tables"))]
pub use columns::NO_TABLES;
pub use columns::{RowBatch, RowSchema};
#[cfg(feature = "tables")]
pub use columns::{Seekable, unless_panicked};
pub use encoding::encoding;
pub use fasta::no_sequence;
pub use file_identity::{FileIdentity, is_among, is_index, same_file};
pub use finding::{Finding, Found, Holds};
pub use format::Format;
pub use input_file::is_there;
pub use inputs::{Inputs, STANDARD_INPUT};
pub use json::{Fields, weights};
pub use listing::{Listed, NulList, open_lines};
pub use packed_stream::{RecordCount, RecordLimit};
pub use record::{
    BadRecord, Body, RawRecord, Record, RecordName, TableHead, WANTS_WEIGHTS, too_long,
    too_long_normalized, unmarked,
};
pub use source::Reading;
pub use stream::{open_sequence, open_text};
pub use text_form::{TextForm, quoted};
pub use walk::{WalkOptions, check_glob};
pub use whole_text::whole_text;
