//! Where do documents come from? Files, directories and streams become records, in order, parsed on
//! all threads.

mod batch;
mod blocks;
mod compression;
mod fasta;
mod files;
mod format;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
mod json;
mod lines;
mod listing;
mod record;
mod rows;
mod sets;
mod source;
mod stream;
mod table;
mod walk;

pub use blocks::{Block, Blocks, Line};
pub use fasta::no_sequence;
pub use format::Format;
pub use json::{Fields, weights};
pub use listing::open_lines;
pub use record::{BadRecord, Body, Name, Raw, Record, WANTS_WEIGHTS};
pub use source::{Inputs, Reading, STANDARD_INPUT, whole_text};
pub use stream::{open_sequence, open_text};
pub use walk::{Walking, check_glob};
