//! The file of a report: what it may not be, and how it is not reached.

use crate::input::STANDARD_INPUT;
use crate::remote::is_remote;
use crate::run::compressor::Compressor;
use crate::run::failure::Failure;
use crate::run::output_names::NamedFormat;
use crate::run::results_table::check_compression;
use anyhow::{Context, anyhow};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

/// Checks that a report can be written to a path, before any work is done.
pub(crate) fn check_target(path: &Path) -> Result<(), Failure> {
    let place = path.display();
    if path.as_os_str() == STANDARD_INPUT || is_remote(path) || path.is_dir() {
        return Err(anyhow!("{place}: is no file; name a file for the report").into());
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    fs::metadata(folder.unwrap_or(Path::new("."))).with_context(|| place.to_string())?;
    Ok(())
}

/// Checks that the name of a report does not say that it holds something else.
pub(crate) fn check_page_name(path: &Path) -> Result<(), Failure> {
    let is_html =
        |extension: &OsStr| ["html", "htm"].iter().any(|html| extension.eq_ignore_ascii_case(html));
    let says_else = NamedFormat::of(path).is_some()
        || Compressor::of(path).is_some()
        || check_compression(path).is_err();
    if says_else && !path.extension().is_some_and(is_html) {
        let place = path.display();
        return Err(anyhow!("{place}: a report is a page of HTML; end its name in .html").into());
    }
    Ok(())
}

/// The error for a command that was interrupted while it made a report.
pub(crate) fn interrupted() -> Failure {
    anyhow!("interrupted before the report was written; run the same command again").into()
}

/// Whether a file is the page of a report.
pub(crate) fn is_page(path: &Path) -> bool {
    /// What every page says in its first bytes.
    const MARK: &str = "name=\"generator\" content=\"twindex ";
    const HEAD: u64 = 4 << 10;
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(HEAD).read_to_end(&mut head));
    read.is_ok() && String::from_utf8_lossy(&head).contains(MARK)
}
