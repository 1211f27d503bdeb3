//! Walks directories for documents, by the rules of ripgrep.

use super::record::BadRecord;
use ignore::overrides::{Override, OverrideBuilder};
use ignore::{Error, Walk, WalkBuilder};
use std::path::{Path, PathBuf};

/// Which files of a directory are read.
#[derive(Clone, Debug, Default)]
pub struct WalkOptions {
    /// Whether hidden files and folders are read.
    pub hidden: bool,
    /// Whether symbolic links are followed.
    pub follow: bool,
    /// Only files that match one of these globs are read, and none that match a glob after `!`.
    pub globs: Vec<String>,
}

impl WalkOptions {
    /// Walks a directory in order of names. Fails if a glob is invalid.
    pub(super) fn walk(&self, root: &Path) -> Result<Walk, Error> {
        let mut walk = WalkBuilder::new(root);
        walk.sort_by_file_name(Ord::cmp).require_git(false);
        walk.hidden(!self.hidden).follow_links(self.follow).overrides(overrides(&self.globs)?);
        Ok(walk.build())
    }
}

/// Returns an error if a glob is invalid.
pub fn check_glob(glob: &str) -> Result<(), String> {
    overrides(&[glob.to_owned()]).map(|_| ()).map_err(|error| error.to_string())
}

/// Globs are relative to the current directory, as in ripgrep.
fn overrides(globs: &[String]) -> Result<Override, Error> {
    let mut overrides = OverrideBuilder::new(std::env::current_dir().unwrap_or_default());
    for glob in globs {
        overrides.add(glob)?;
    }
    overrides.build()
}

/// The error for an entry that cannot be read.
pub(super) fn bad(root: &Path, error: &Error) -> BadRecord {
    let (path, cause) = explained(error);
    let place = path.unwrap_or_else(|| root.to_owned()).display().to_string();
    BadRecord { place, cause }
}

fn explained(error: &Error) -> (Option<PathBuf>, String) {
    match error {
        Error::WithDepth { err, .. } | Error::WithLineNumber { err, .. } => explained(err),
        Error::WithPath { path, err } => {
            let (deeper, cause) = explained(err);
            (Some(deeper.unwrap_or_else(|| path.clone())), cause)
        }
        Error::Loop { ancestor, child } => {
            let cause = format!("a symbolic link back to {}, not followed", ancestor.display());
            (Some(child.clone()), cause)
        }
        Error::Io(error) => (None, error.to_string()),
        other => (None, other.to_string()),
    }
}
