//! Refuses to write over what a command reads.

use crate::input::is_among;
use crate::run::failure::Failure;
use anyhow::anyhow;
use std::path::{Path, PathBuf};

/// Fails if an output is one of the inputs, or lies in a folder that is one.
pub(crate) fn check_no_input(output: &Path, inputs: &[PathBuf]) -> Result<(), Failure> {
    if is_among(output, inputs) { Err(input_error(output)) } else { Ok(()) }
}

/// The error for an output that is an input.
pub(crate) fn input_error(output: &Path) -> Failure {
    anyhow!("{}: is an input; write to another file", output.display()).into()
}
