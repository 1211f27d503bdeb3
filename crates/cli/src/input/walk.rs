//! Walks directories for documents, by the rules of ripgrep.

use super::record::BadRecord;
use crate::remote::{Looked, RemoteFile, address, look};
use ignore::overrides::{Override, OverrideBuilder};
use ignore::{Error, WalkBuilder};
use std::collections::HashSet;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::vec::IntoIter;

/// Which files of a directory are read.
#[derive(Clone, Debug, Default)]
pub struct WalkOptions {
    /// Whether hidden files and folders are read, and files that tell of their folder.
    pub hidden: bool,
    /// Whether symbolic links are followed.
    pub follow: bool,
    /// Only files that match one of these globs are read, and none that match a glob after `!`.
    pub globs: Vec<String>,
}

/// Walks the files of a directory, or those below an address.
pub(super) struct Walk {
    root: PathBuf,
    files: Files,
}

enum Files {
    Local(Box<ignore::Walk>),
    Remote(IntoIter<(PathBuf, RemoteFile)>),
}

impl Walk {
    /// Begins to walk, in order of names. Fails if a glob is invalid.
    pub(super) fn new(root: &Path, options: &WalkOptions) -> Result<Self, BadRecord> {
        let failed = |error| bad(root, &error);
        let globs = overrides(&options.globs).map_err(failed)?;
        let files = match address(root) {
            Some(address) => {
                let found = match look(address).map_err(|error| failed(Error::Io(error)))? {
                    Looked::Folder(found) => found,
                    Looked::File(file) => vec![(root.to_owned(), file)],
                };
                let paths: HashSet<PathBuf> = found.iter().map(|(path, _)| path.clone()).collect();
                let is_wanted = |(path, _): &(PathBuf, RemoteFile)| {
                    let below = path.strip_prefix(root).unwrap_or(path);
                    let is_mark = is_mark(path, |beside| paths.contains(beside));
                    (options.hidden || !is_mark) && is_selected(below, &globs, options.hidden)
                };
                let found: Vec<_> = found.into_iter().filter(is_wanted).collect();
                Files::Remote(found.into_iter())
            }
            None => {
                let mut walk = WalkBuilder::new(root);
                walk.sort_by_file_name(Ord::cmp).require_git(false);
                walk.hidden(!options.hidden).follow_links(options.follow).overrides(globs);
                if !options.hidden {
                    walk.filter_entry(|entry| {
                        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
                        is_folder || !is_mark(entry.path(), Path::is_file)
                    });
                }
                Files::Local(Box::new(walk.build()))
            }
        };
        Ok(Self { root: root.to_owned(), files })
    }
}

/// Whether a file below an address is read: neither it nor a folder on the way is excluded by a
/// glob, or hidden and named by none.
fn is_selected(file: &Path, globs: &Override, hidden: bool) -> bool {
    let is_named = |path: &&Path| !path.as_os_str().is_empty();
    file.ancestors().filter(is_named).all(|path| {
        let matched = globs.matched(path, path != file);
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        !matched.is_ignore() && (hidden || matched.is_whitelist() || !name.starts_with(b"."))
    })
}

/// Whether a file has no records, but tells of its folder or of the job that wrote it, as those of
/// Spark, Hive, Databricks and Hugging Face do. `exists` tells whether there is a file.
fn is_mark(file: &Path, exists: impl Fn(&Path) -> bool) -> bool {
    let Some(name) = file.file_name().and_then(OsStr::to_str) else { return false };
    // These two are always together; others may have a file of one of these names.
    match name {
        "state.json" => return exists(&file.with_file_name("dataset_info.json")),
        "dataset_info.json" => return exists(&file.with_file_name("state.json")),
        _ => {}
    }
    let number = name.strip_prefix("_committed_").or_else(|| name.strip_prefix("_started_"));
    let number = number.map(|number| number.strip_prefix("vacuum").unwrap_or(number));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let names = ["_SUCCESS", "_common_metadata", "_metadata", "dataset_dict.json"];
    names.contains(&name) || number.is_some_and(is_number)
}

/// Yields the next file; if it lies behind an address, with what is known of it.
impl Iterator for Walk {
    type Item = Result<(PathBuf, Option<Arc<RemoteFile>>), BadRecord>;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.files {
            Files::Local(walk) => loop {
                match walk.next()? {
                    Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_file()) => {
                        return Some(Ok((entry.into_path(), None)));
                    }
                    Ok(_) => {}
                    Err(error) => return Some(Err(bad(&self.root, &error))),
                }
            },
            Files::Remote(files) => {
                let (path, file) = files.next()?;
                Some(Ok((path, Some(Arc::new(file)))))
            }
        }
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

/// An error of the system without the path that the walk adds to it.
fn of_system(error: &io::Error) -> &io::Error {
    let source = error.get_ref().and_then(|error| error.source());
    source.and_then(|source| source.downcast_ref()).unwrap_or(error)
}

/// The error for an entry that cannot be read.
fn bad(root: &Path, error: &Error) -> BadRecord {
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
        Error::Io(error) => (None, of_system(error).to_string()),
        other => (None, other.to_string()),
    }
}
