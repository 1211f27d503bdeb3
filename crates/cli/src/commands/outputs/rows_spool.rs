//! The names of spools of rows.

use crate::commands::outputs::partial_file::{partial_path, with_suffix};
use crate::run::failure::Failure;
use anyhow::anyhow;
use std::io;
use std::path::{Path, PathBuf};

/// The final name of the spool of an output. It never gets it.
pub(crate) fn spool_path(out: &Path) -> PathBuf {
    with_suffix(out, ".rows")
}

/// Deletes the spool of an output that is complete, if a killed run has left it.
pub(crate) fn forget_spool(out: &Path) -> Result<(), Failure> {
    let left = partial_path(&spool_path(out));
    match std::fs::remove_file(&left) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(anyhow!("{}: {error}", left.display()).into())
        }
        _ => Ok(()),
    }
}
