//! What every command shares while it runs: global options, inputs, opening, failures, Ctrl-C.

pub mod conflict;
pub mod ending;
pub mod failure;
pub mod global;
pub mod inputs;
pub mod interrupt;
pub mod opening;
pub mod program;
pub mod ranges;
pub mod read_ahead;
pub mod records;
pub mod results_file;
pub(crate) mod seconds;
pub mod settings;
pub mod two_texts;
