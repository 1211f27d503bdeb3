//! What a creation that was killed left beside its index.

use std::fs;
use std::path::Path;
use std::time::Duration;

/// A new index is written as `.twindex-*.new` beside the name it will have.
pub(crate) const PREFIX: &str = ".twindex-";
pub(crate) const SUFFIX: &str = ".new";

/// A creation takes milliseconds, and a repair writes all the time, so that what has not changed for so
/// long is of one that was killed. Should it only have been stopped, it fails with an error once it
/// goes on, and nothing is lost: all that such a file holds is in the index as well.
const STALE: Duration = Duration::from_secs(24 * 3600);

/// Removes from a folder the files that killed creations left there.
pub(crate) fn remove_stale(folder: &Path) {
    let is_stale = |entry: &fs::DirEntry| {
        let name = entry.file_name();
        let name = name.to_str().unwrap_or_default();
        let is_ours = name.starts_with(PREFIX) && name.ends_with(SUFFIX);
        let found = if is_ours { entry.metadata().ok() } else { None };
        let changed = found.filter(fs::Metadata::is_file).and_then(|file| file.modified().ok());
        changed.and_then(|at| at.elapsed().ok()).is_some_and(|age| age >= STALE)
    };
    // It is a courtesy: a folder that cannot be read, or written to, is no reason to fail.
    for entry in fs::read_dir(folder).into_iter().flatten().flatten().filter(is_stale) {
        let _ = fs::remove_file(entry.path());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::SystemTime;

    #[test]
    fn only_what_a_creation_left_long_ago_is_removed() {
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
