//! A copy of an index that `dedup --dry-run` works on.

use crate::commands::dedup::options::Dedup;
use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::run::opening;
use anyhow::Context;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// A copy of an index to try on.
pub(crate) struct Trial {
    pub(crate) index: PathBuf,
    /// Removes the folder when this is dropped.
    _folder: TempDir,
}

impl Trial {
    pub(crate) fn of(global: &GlobalOptions, args: &Dedup) -> Result<Self, Failure> {
        let folder = tempfile::Builder::new().prefix("twindex-").tempdir();
        let folder = folder.context("a temporary folder")?;
        let index = folder.path().join("trial.twx");
        if args.index.symlink_metadata().is_ok() {
            let options = args.settings.options_but_threshold();
            let open =
                opening::open(global, options, |options| options.open_read_only(&args.index))?;
            // While it is open nobody can write to it.
            let place = || index.display().to_string();
            fs::copy(&args.index, &index).with_context(place)?;
            drop(open);
            // What is only read may be a file that must not be written to.
            let mut permissions = fs::metadata(&index).with_context(place)?.permissions();
            #[expect(clippy::permissions_set_readonly_false, reason = "in a folder of one's own")]
            permissions.set_readonly(false);
            fs::set_permissions(&index, permissions).with_context(place)?;
        }
        Ok(Self { index, _folder: folder })
    }
}
