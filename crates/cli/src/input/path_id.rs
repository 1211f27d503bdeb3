//! The id of a document that is a file: its path, spelled in one way.

use crate::remote::address;
use std::ffi::OsStr;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// The id of a file of records below a directory: its path below it, behind the directory's own
/// name, however that is spelled. So `docs`, `./docs` and `/home/me/docs` give `docs/a.jsonl`.
pub(super) fn id_below(root: &Path, path: &Path) -> String {
    let inside = path.strip_prefix(root).unwrap_or(path);
    let spelled = id_of(root);
    let own = match Path::new(&spelled).file_name() {
        Some(own) => Some(own.to_owned()),
        // The current directory, or one above it.
        None => fs::canonicalize(root).ok().and_then(|root| root.file_name().map(OsStr::to_owned)),
    };
    let own = own.map(PathBuf::from);
    id_of(&own.map_or_else(|| inside.to_owned(), |own| own.join(inside)))
}

/// The path without `.`, without doubled separators, and without `..` behind a folder. So `a`,
/// `./a` and `folder/../a` are one document.
///
/// A `..` behind a symbolic link stays: it leads to the parent of the folder that the link leads
/// to. An absolute path below the current directory becomes relative to it. A path that begins with
/// `-` begins with `./-`, so that no program takes it for an option or for standard input. An
/// address stays as it is.
pub(super) fn id_of(path: &Path) -> String {
    if let Some(address) = address(path) {
        return address.to_owned();
    }
    let mut id = PathBuf::new();
    let below = path.is_absolute().then(std::env::current_dir).and_then(Result::ok);
    let below = below.and_then(|folder| path.strip_prefix(folder).ok());
    for component in below.unwrap_or(path).components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if is_folder_of_its_own(&id) => {
                id.pop();
            }
            other => id.push(other),
        }
    }
    if id.as_os_str().is_empty() {
        return ".".to_owned();
    }
    let id = id.display().to_string();
    if id.starts_with('-') { format!("./{id}") } else { id }
}

/// Whether the path names a folder without `..` at its end and is no symbolic link.
fn is_folder_of_its_own(path: &Path) -> bool {
    matches!(path.components().next_back(), Some(Component::Normal(_)))
        && fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_path_give_one_id() {
        for (path, id) in [
            ("a", "a"),
            ("./a", "a"),
            (".//./a", "a"),
            ("no-such-folder//a/", "no-such-folder/a"),
            ("/tmp/./a", "/tmp/a"),
            ("../a", "../a"),
            ("./../a", "../a"),
            ("../../a", "../../a"),
            ("no-such-folder/../a", "no-such-folder/../a"),
            ("src/../a", "a"),
            ("src/input/../../a", "a"),
            ("src/../../a", "../a"),
            ("-", "./-"),
            ("./-x", "./-x"),
            (".", "."),
            ("src/..", "."),
        ] {
            assert_eq!(id_of(Path::new(path)), id, "{path}");
        }
    }

    #[test]
    fn a_path_below_the_current_directory_is_relative_to_it() {
        let here = std::env::current_dir().expect("a folder");
        for name in ["a", "b/c", "."] {
            assert_eq!(id_of(&here.join(name)), id_of(Path::new(name)), "{name}");
        }
    }

    #[test]
    fn spellings_of_one_root_give_one_id() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().join("docs");
        fs::create_dir_all(root.join("deep")).expect("a folder");
        for root in [root.clone(), root.join("."), root.join("deep/..")] {
            assert_eq!(id_below(&root, &root.join("deep/a.jsonl")), "docs/deep/a.jsonl");
        }
        assert_eq!(id_below(Path::new("/"), Path::new("/no/a.jsonl")), "no/a.jsonl");
    }

    #[test]
    fn a_parent_behind_a_link_is_that_of_the_folder_it_leads_to() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        fs::create_dir_all(root.join("elsewhere/deep")).expect("a folder");
        std::os::unix::fs::symlink("elsewhere/deep", root.join("link")).expect("a link");
        let id = |path: &str| id_of(&root.join(path));
        assert!(id("link/../a").ends_with("link/../a"));
        assert_eq!(id("elsewhere/deep/../a"), root.join("elsewhere/a").display().to_string());
    }
}
