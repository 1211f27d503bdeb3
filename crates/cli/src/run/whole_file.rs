//! Small files that are written as a whole: a manual page, a picture.

use crate::input::is_index;
use crate::run::results_file::IS_INDEX;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Makes a new name durable: syncs its folder, on Unix.
pub fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if cfg!(unix) { fs::File::open(folder.unwrap_or(Path::new(".")))?.sync_all() } else { Ok(()) }
}

/// The path that a link leads to, whether there is anything or not; `None` if the path is no link.
pub fn linked(path: &Path) -> Option<PathBuf> {
    let link = fs::read_link(path).ok()?;
    Some(path.parent().unwrap_or(Path::new("")).join(link))
}

/// A bound on chained links. Operating systems follow fewer.
pub const MAX_LINKS: usize = 64;

/// Writes a file that gets its name when it is complete. A file or a link that has the name is
/// replaced; what the link leads to stays as it is. A pipe or a device is written to. An index is
/// never replaced.
pub fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    // `/dev/stdout` is a link, but replacing it is not what anybody means.
    let is_system = ["/dev", "/proc"].iter().any(|folder| path.starts_with(folder));
    let is_special = fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir());
    if is_special || is_system && !path.starts_with("/dev/shm") {
        return fs::OpenOptions::new().write(true).open(path)?.write_all(content);
    }
    if fs::symlink_metadata(path).is_ok_and(|found| found.is_dir()) {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if is_index(path) {
        return Err(io::Error::other(IS_INDEX));
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    // The file gets the permissions of any new file, not the stricter ones of a temporary file.
    let open = |path: &Path| fs::File::options().write(true).create_new(true).open(path);
    let mut new =
        tempfile::Builder::new().prefix(".twindex-").suffix(".out").make_in(folder, open)?;
    new.write_all(content)?;
    new.persist(path).map(|_| ()).map_err(|error| error.error)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_link_is_replaced_and_not_followed() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (path, target) = (folder.path().join("page.1"), folder.path().join("target"));
        fs::write(&target, "of somebody else").expect("written");
        for leads_to in ["target", "nowhere"] {
            symlink(leads_to, &path).expect("a link");
            for content in ["a page", "another page"] {
                write(&path, content.as_bytes()).expect("written");
                assert!(fs::symlink_metadata(&path).expect("there").is_file());
                assert_eq!(fs::read_to_string(&path).expect("there"), content);
            }
            fs::remove_file(&path).expect("removed");
        }
        assert_eq!(fs::read_to_string(&target).expect("there"), "of somebody else");
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
        assert!(write(folder.path(), b"x").is_err());
        write(Path::new("/dev/null"), b"x").expect("a device");
    }
}
