//! The option for records whose id is taken.

use clap::ValueEnum;

/// What to do with a record whose id is in the index with another text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Conflict {
    /// The record replaces it
    Replace,
    /// The record is left out
    Skip,
    /// The record is left out and counts as failed
    Error,
}
