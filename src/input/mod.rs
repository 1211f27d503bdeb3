//! Where do documents come from? Files, directories and streams become records, in order, parsed on
//! all threads.

mod blocks;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzz;
mod json;
mod lines;
mod source;

pub(crate) use blocks::{Block, Blocks, Line};
pub(crate) use json::Fields;
pub(crate) use lines::{BadRecord, Name, Raw, Record};
pub(crate) use source::{Format, Inputs, Reading, STANDARD_INPUT};
