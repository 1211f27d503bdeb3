//! Temporary files of creations that were killed: their names, and their removal.

use std::fs;
use std::path::Path;
use std::time::Duration;

/// A new index is written to `.twindex-*.new` in its folder.
pub(crate) const PREFIX: &str = ".twindex-";
pub(crate) const SUFFIX: &str = ".new";

/// The age from which a temporary file counts as abandoned.
///
/// A creation takes milliseconds and a repair writes all the time, so a process that has not
/// written for this long was killed. If it was only suspended, it fails with an error when it
/// continues. Nothing is lost: all contents of a temporary file are also in the index.
const STALE: Duration = Duration::from_secs(24 * 3600);

/// Removes abandoned temporary files from a folder.
pub(crate) fn remove_stale(folder: &Path) {
    let is_stale = |entry: &fs::DirEntry| {
        let name = entry.file_name();
        let name = name.to_str().unwrap_or_default();
        let is_ours = name.starts_with(PREFIX) && name.ends_with(SUFFIX);
        let metadata = if is_ours { entry.metadata().ok() } else { None };
        let modified = metadata.filter(fs::Metadata::is_file).and_then(|file| file.modified().ok());
        modified.and_then(|at| at.elapsed().ok()).is_some_and(|age| age >= STALE)
    };
    // Errors are ignored: creating an index does not depend on this.
    for entry in fs::read_dir(folder).into_iter().flatten().flatten().filter(is_stale) {
        let _ = fs::remove_file(entry.path());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::SystemTime;

    #[test]
    fn only_old_temporary_files_are_removed() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let days_ago = |days: u32| SystemTime::now() - days * STALE;
        let files = [
            (".twindex-Ab12cD.new", 2, false),
            (".twindex-Ef34gH.new", 0, true),
            (".twindex-Ab12cD.old", 2, true),
            ("my.twindex-Ab12cD.new", 2, true),
            ("index.twx", 2, true),
        ];
        for (name, days, _) in files {
            let file = fs::File::create(folder.path().join(name)).expect("created");
            file.set_modified(days_ago(days)).expect("set");
        }
        let directory = folder.path().join(".twindex-folder.new");
        fs::create_dir(&directory).expect("created");
        remove_stale(folder.path());
        for (name, _, stays) in files {
            assert_eq!(folder.path().join(name).exists(), stays, "{name}");
        }
        assert!(directory.exists());
        remove_stale(&folder.path().join("missing"));
    }
}
