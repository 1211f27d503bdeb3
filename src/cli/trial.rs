//! A copy of an index that `dedup --dry-run` works on.

use super::args::Global;
use super::dedup::Dedup;
use super::failure::Failure;
use super::opening;
use anyhow::Context;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// A copy of an index to try on.
pub(super) struct Trial {
    pub(super) index: PathBuf,
    /// Removes the folder when this is dropped.
    _folder: TempDir,
}

impl Trial {
    pub(super) fn of(global: &Global, args: &Dedup) -> Result<Self, Failure> {
        let folder = tempfile::Builder::new().prefix("twindex-").tempdir();
        let folder = folder.context("a temporary folder")?;
        let index = folder.path().join("trial.twx");
        if args.index.symlink_metadata().is_ok() {
            let options = args.settings.options_but_threshold();
            let open =
                opening::open(global, options, |options| options.open_read_only(&args.index))?;
            // While it is open nobody can write to it.
            fs::copy(&args.index, &index).with_context(|| index.display().to_string())?;
            drop(open);
        }
        Ok(Self { index, _folder: folder })
    }
}
