//! Reads the texts that a user gives to a study.

use std::io::{self, Read};
use std::path::Path;
use twindex::{Error, Result};
use twindex_cli::input::open_text;

/// The text of a file or of standard input, compressed or not. `action` says what it is read for.
///
/// # Errors
///
/// [`Error::Io`] with the path if the file cannot be read or is not UTF-8.
pub(super) fn text_of(path: &Path, action: &'static str) -> Result<String> {
    let read = || {
        let mut text = String::new();
        open_text(path).map_err(|bad| io::Error::other(bad.cause))?.read_to_string(&mut text)?;
        Ok(text)
    };
    read().map_err(|source| Error::Io { path: path.to_owned(), action, source })
}
