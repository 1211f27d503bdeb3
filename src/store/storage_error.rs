//! Turns redb's errors, and damage found in our own records, into errors for people.

use crate::error::{Error, Result, panic_text};
use crate::store::bytes::schema::Table;
use std::fmt::Display;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;

/// Says what was being done, and where, when the storage failed.
pub(crate) trait Doing<T> {
    fn doing(self, path: &Path, action: &'static str) -> Result<T>;
}

impl<T, E: Into<redb::Error>> Doing<T> for std::result::Result<T, E> {
    fn doing(self, path: &Path, action: &'static str) -> Result<T> {
        self.map_err(|error| storage_error(error.into(), path, action))
    }
}

fn storage_error(error: redb::Error, path: &Path, action: &'static str) -> Error {
    let path = path.to_owned();
    match error {
        redb::Error::Io(source) => Error::Io { path, action, source },
        redb::Error::DatabaseAlreadyOpen => Error::Locked { path },
        redb::Error::RepairAborted => Error::NeedsRepair { path },
        redb::Error::Corrupted(detail) => {
            Error::Damaged { path, table: "file", key: "structure".into(), detail }
        }
        redb::Error::UpgradeRequired(version) => {
            Error::NotAnIndex { path, detail: format!("its storage has the old version {version}") }
        }
        redb::Error::TableDoesNotExist(table) => {
            Error::NotAnIndex { path, detail: format!("it has no table `{table}`") }
        }
        redb::Error::TableTypeMismatch { table, .. } => {
            Error::NotAnIndex { path, detail: format!("its table `{table}` is of another kind") }
        }
        other => Error::Storage { path, action, detail: other.to_string() },
    }
}

/// A failed call of the operating system on the path.
pub(crate) fn io_error(path: &Path, action: &'static str, source: io::Error) -> Error {
    Error::Io { path: path.to_owned(), action, source }
}

/// A record that is not what it should be.
pub(crate) fn damaged(path: &Path, table: Table, key: impl Display, detail: impl Display) -> Error {
    Error::Damaged {
        path: path.to_owned(),
        table: table.name(),
        key: key.to_string(),
        detail: detail.to_string(),
    }
}

/// Turns a panic into an error: on some damage the storage panics rather than returning one.
///
/// Nothing that was being changed is used again: readers change nothing, and a write transaction
/// that fails half-way cannot be committed.
pub(crate) fn guard<T>(path: &Path, work: impl FnOnce() -> Result<T>) -> Result<T> {
    guard_noting(path, || {}, work)
}

/// Does the same, and calls `panicked` if it was a panic.
pub(crate) fn guard_noting<T>(
    path: &Path,
    panicked: impl FnOnce(),
    work: impl FnOnce() -> Result<T>,
) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        panicked();
        Err(Error::Damaged {
            path: path.to_owned(),
            table: "file",
            key: "structure".into(),
            detail: panic_text(&*panic).to_owned(),
        })
    })
}

/// Drops a value of the storage's; returns whether it did so without a panic, of which there is
/// nobody to tell and by which nothing is lost that was committed.
pub(crate) fn let_go<T>(value: T) -> bool {
    catch_unwind(AssertUnwindSafe(|| drop(value))).is_ok()
}

/// Drops a value that the storage has panicked over, as if the panic went on. By that redb knows not to
/// roll back what it may have left half done; the next opening repairs the file.
pub(crate) fn abandon<T>(value: T) {
    let _ = catch_unwind(AssertUnwindSafe(|| {
        let _value = value;
        resume_unwind(Box::new("goes on"));
    }));
}
