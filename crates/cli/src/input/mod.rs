//! Reads files, directories and streams, and parses their records in order, on all threads.

mod batch;
mod blocks;
mod compression;
mod counted;
mod fasta;
mod file_identity;
mod files;
mod foreign;
mod format;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
mod json;
mod lines;
mod listing;
mod names;
mod path_id;
mod record;
mod rows;
mod sets;
mod source;
mod stream;
mod table;
mod walk;

pub use blocks::{Block, Blocks, Line};
pub use fasta::no_sequence;
pub use file_identity::{FileIdentity, same_file};
pub use format::Format;
pub use json::{Fields, weights};
pub use listing::{Listed, NulList, open_lines};
pub use record::{
    BadRecord, Body, RawRecord, Record, RecordName, WANTS_WEIGHTS, too_long, too_long_normalized,
    unmarked,
};
pub use source::{Inputs, Reading, STANDARD_INPUT, whole_text};
pub use stream::{open_sequence, open_text};
pub use walk::{WalkOptions, check_glob};
