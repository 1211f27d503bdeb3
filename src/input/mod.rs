//! Where do documents come from? Files, directories and streams become records, in order, parsed on
//! all threads.

mod batch;
mod blocks;
mod compression;
mod fasta;
mod files;
mod format;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzz;
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

pub(crate) use blocks::{Block, Blocks, Line};
pub(crate) use fasta::no_sequence;
pub(crate) use format::Format;
pub(crate) use json::{Fields, weights};
pub(crate) use listing::open_lines;
pub(crate) use record::{BadRecord, Body, Name, Raw, Record, WANTS_WEIGHTS};
pub(crate) use source::{Inputs, Reading, STANDARD_INPUT, whole_text};
pub(crate) use stream::{open_sequence, open_text};
pub(crate) use walk::{Walking, check_glob};
