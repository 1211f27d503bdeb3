//! The temporary copy of the index that `dedup --dry-run` writes to.

use crate::commands::dedup::command::Dedup;
use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::run::opening;
use anyhow::Context;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// A temporary copy of the index, so that a dry run leaves the index unchanged.
pub(crate) struct DryRun {
    /// The path of the copy.
    pub(crate) index: PathBuf,
    /// Deletes the folder when it is dropped.
    _folder: TempDir,
}

impl DryRun {
    /// Copies the index of `args` to a temporary folder. Copies nothing if there is no index yet.
    pub(crate) fn of(global: &GlobalOptions, args: &Dedup) -> Result<Self, Failure> {
        let folder = tempfile::Builder::new().prefix("twindex-").tempdir();
        let folder = folder.context("a temporary folder")?;
        let index = folder.path().join("trial.twx");
        if args.index.symlink_metadata().is_ok() {
            let options = args.settings.options_but_threshold();
            let open =
                opening::open(global, options, |options| options.open_read_only(&args.index))?;
            // The open handle keeps writers out during the copy.
            let place = || index.display().to_string();
            fs::copy(&args.index, &index).with_context(place)?;
            drop(open);
            // The copy inherits the permissions of the index, which may be read-only.
            let mut permissions = fs::metadata(&index).with_context(place)?.permissions();
            #[expect(clippy::permissions_set_readonly_false, reason = "the folder is private")]
            permissions.set_readonly(false);
            fs::set_permissions(&index, permissions).with_context(place)?;
        }
        Ok(Self { index, _folder: folder })
    }
}
