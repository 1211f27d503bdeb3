//! Where a command is told to write what it makes of its inputs.

use std::path::{Path, PathBuf};

/// The paths of a command that writes kept records.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutputRequest<'a> {
    /// The inputs, none of which is written to.
    pub(crate) paths: &'a [PathBuf],
    /// The index of the command, beside which it makes what goes to an address.
    pub(crate) index: &'a Path,
    /// Other indexes, which are only read.
    pub(crate) against: &'a [PathBuf],
    /// Where the kept records go.
    pub(crate) output: Option<&'a Path>,
    /// Where the audit goes.
    pub(crate) removed: Option<&'a Path>,
    /// Where a report goes.
    pub(crate) report: Option<&'a Path>,
    /// Whether nothing but a report is written.
    pub(crate) dry_run: bool,
}
