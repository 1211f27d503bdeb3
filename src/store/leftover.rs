//! Temporary files of creations that were killed: their names, and their removal.

use crate::store::pages::header::{HEADER_BYTES, Header};
use redb::StorageBackend;
use redb::backends::FileBackend;
use std::fs;
use std::ops::Bound;
use std::path::Path;
use std::time::Duration;

/// A new index is written to `.twindex-*.new` in its folder, where `*` is six random letters and
/// digits.
pub(crate) const PREFIX: &str = ".twindex-";
pub(crate) const SUFFIX: &str = ".new";
pub(crate) const RANDOM: usize = 6;

/// The age from which a temporary file counts as abandoned.
///
/// A creation takes milliseconds and a repair writes all the time, so a process that has not
/// written for this long was killed. If it was only suspended, it fails with an error when it
/// continues. Nothing is lost: all contents of a temporary file are also in the index.
const STALE: Duration = Duration::from_secs(24 * 3600);

/// Removes abandoned temporary files from a folder.
pub(crate) fn remove_stale(folder: &Path) {
    let is_stale = |entry: &fs::DirEntry| {
        let is_ours = entry.file_name().to_str().is_some_and(is_ours);
        let metadata = if is_ours { entry.metadata().ok() } else { None };
        let modified = metadata.filter(fs::Metadata::is_file).and_then(|file| file.modified().ok());
        modified.and_then(|at| at.elapsed().ok()).is_some_and(|age| age >= STALE)
    };
    // Errors are ignored: creating an index does not depend on this.
    for entry in fs::read_dir(folder).into_iter().flatten().flatten().filter(is_stale) {
        remove_abandoned(&entry.path());
    }
}

fn is_ours(name: &str) -> bool {
    let random = name.strip_prefix(PREFIX).and_then(|name| name.strip_suffix(SUFFIX));
    random.is_some_and(|random| {
        random.len() == RANDOM && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// Removes a file unless a process has it open, or it is an index that was closed. A creation that
/// is killed leaves a file that was not closed, except in the moment before it gets its name.
fn remove_abandoned(path: &Path) -> Option<()> {
    let file = fs::OpenOptions::new().read(true).write(true).open(path).ok()?;
    let length = file.metadata().ok()?.len();
    // Closing the file would unlock it, so it stays open until it is removed.
    let file = FileBackend::new(file).ok()?;
    if matches!(file.try_lock_range(Bound::Unbounded, Bound::Unbounded), Ok(true)) {
        let mut bytes = [0; HEADER_BYTES];
        let has_header = length >= HEADER_BYTES as u64 && file.read(0, &mut bytes).is_ok();
        let header = if has_header { Header::read(&bytes) } else { None };
        if header.is_none_or(|header| header.needs_recovery()) {
            let _ = fs::remove_file(path);
        }
    }
    file.close().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Engine, SettingsRequest, Tuning};
    use std::time::SystemTime;

    fn age(path: &Path, days: u32) {
        let file = fs::OpenOptions::new().write(true).open(path).expect("opened");
        file.set_modified(SystemTime::now() - days * STALE).expect("set");
    }

    #[test]
    fn only_old_temporary_files_are_removed() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let files = [
            (".twindex-Ab12cD.new", 2, false),
            (".twindex-Ef34gH.new", 0, true),
            (".twindex-Ab12cD.old", 2, true),
            ("my.twindex-Ab12cD.new", 2, true),
            (".twindex-my-new-index.new", 2, true),
            (".twindex-pages.new", 2, true),
            (".twindex-.new", 2, true),
            ("index.twx", 2, true),
        ];
        for (name, days, _) in files {
            let path = folder.path().join(name);
            fs::File::create(&path).expect("created");
            age(&path, days);
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

    #[test]
    fn an_index_that_is_named_like_a_temporary_file_stays_while_it_is_open_and_once_it_is_closed() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join(".twindex-Ab12cD.new");
        let request = SettingsRequest::default();
        Engine::create(&path, &request.resolve().expect("valid")).expect("created");
        let engine = Engine::open(&path, &request, Tuning::default()).expect("opened");
        age(&path, 2);
        remove_stale(folder.path());
        assert!(path.exists(), "a process has it open");
        let half_written = fs::read(&path).expect("readable");
        drop(engine);
        age(&path, 2);
        remove_stale(folder.path());
        assert!(path.exists(), "it was closed, so it is complete");
        fs::write(&path, half_written).expect("written");
        age(&path, 2);
        remove_stale(folder.path());
        assert!(!path.exists(), "nobody has closed it");
    }
}
