//! The option for records whose id is taken.

use clap::ValueEnum;
use twindex::OnConflict;

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

impl Conflict {
    /// What the library is told to do. The command itself counts what has failed.
    pub fn policy(self) -> OnConflict {
        match self {
            Self::Replace => OnConflict::Replace,
            Self::Skip | Self::Error => OnConflict::Skip,
        }
    }
}
