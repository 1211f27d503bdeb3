//! Converts redb's errors and panics, and damage in rows, into errors of this crate.

use crate::error::{Error, Result, panic_text};
use crate::store::bytes::codec::NO_MEMORY;
use crate::store::bytes::schema::Table;
use crate::store::pages::page_file::{HeaderHeld, NotClosed};
use crate::store::pages::verifier::{PageFault, fault_of};
use std::any::Any;
use std::fmt::Display;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};

/// Adds path and action to an error of redb.
pub(crate) trait Doing<T> {
    /// Converts the error. `action` says what was being done, as in "committing".
    fn doing(self, path: &Path, action: &'static str) -> Result<T>;
}

impl<T, E: Into<redb::Error>> Doing<T> for std::result::Result<T, E> {
    fn doing(self, path: &Path, action: &'static str) -> Result<T> {
        self.map_err(|error| storage_error(error.into(), path, action))
    }
}

fn storage_error(error: redb::Error, path: &Path, action: &'static str) -> Error {
    let fault = match &error {
        redb::Error::Io(source) => {
            source.get_ref().and_then(|inner| inner.downcast_ref::<PageFault>()).cloned()
        }
        // redb refuses every call after one that failed.
        redb::Error::PreviousIo => fault_of(path),
        _ => None,
    };
    if let Some(fault) = fault {
        return fault_error(path, fault);
    }
    let path = path.to_owned();
    match error {
        redb::Error::Io(source) if inner_is::<NotClosed>(&source) => Error::NeedsRecovery { path },
        redb::Error::Io(source) if inner_is::<HeaderHeld>(&source) => Error::Locked { path },
        redb::Error::Io(source) if source.kind() == io::ErrorKind::UnexpectedEof => {
            file_damaged(path, CUT_SHORT.to_owned())
        }
        redb::Error::Io(source) => Error::Io { path, action, source },
        // Another process writes, or it holds the file in a way that this version cannot share, or
        // it reads while the file is to shrink.
        redb::Error::DatabaseAlreadyOpen
        | redb::Error::LockProtocolMismatch
        | redb::Error::TransactionInProgress => Error::Locked { path },
        redb::Error::RepairAborted => Error::NeedsRecovery { path },
        redb::Error::Corrupted(detail) if detail.contains("truncated") => {
            file_damaged(path, CUT_SHORT.to_owned())
        }
        redb::Error::Corrupted(detail) => file_damaged(path, detail),
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

/// Whether an error of a system call wraps one of ours.
fn inner_is<E: std::error::Error + 'static>(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<E>())
}

/// The error of a damaged page.
pub(crate) fn fault_error(path: &Path, fault: PageFault) -> Error {
    let PageFault { table, place, detail } = fault;
    Error::Damaged { path: path.to_owned(), table, key: place, detail }
}

/// What is wrong with a file that ends too early.
const CUT_SHORT: &str = "the file is cut short";

/// The error of a file whose pages are damaged.
fn file_damaged(path: PathBuf, detail: String) -> Error {
    Error::Damaged { path, table: "file", key: "structure".into(), detail }
}

/// The error of a failed system call on a path.
pub(crate) fn io_error(path: &Path, action: &'static str, source: io::Error) -> Error {
    Error::Io { path: path.to_owned(), action, source }
}

/// The error of a damaged row. `detail` says what is wrong with it. If memory is missing, the row
/// is not damaged.
pub(crate) fn damaged(path: &Path, table: Table, key: impl Display, detail: impl Display) -> Error {
    let detail = detail.to_string();
    if detail == NO_MEMORY {
        let what = format!("row {key} of {}", table.name());
        return Error::NoMemory { path: path.to_owned(), what };
    }
    Error::Damaged { path: path.to_owned(), table: table.name(), key: key.to_string(), detail }
}

/// A panic of a function that the caller gave. It is passed on to the caller.
pub(crate) struct CallerPanic(pub(crate) Box<dyn Any + Send>);

/// Converts a panic of `work` into an error. Pages and records are verified, so a panic comes from
/// want of threads, or from a defect of twindex or redb. It does not mean that the file is damaged.
///
/// This is unwind safe: readers change nothing, and a write transaction that fails half-way cannot
/// be committed.
pub(crate) fn guard<T>(path: &Path, work: impl FnOnce() -> Result<T>) -> Result<T> {
    guard_with(path, || {}, work)
}

/// Like [`guard`], and calls `on_panic` first if `work` panicked.
pub(crate) fn guard_with<T>(
    path: &Path,
    on_panic: impl FnOnce(),
    work: impl FnOnce() -> Result<T>,
) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        on_panic();
        if panic.is::<CallerPanic>() {
            resume_unwind(panic);
        }
        Err(Error::Panicked { path: path.to_owned(), detail: panic_text(&*panic).to_owned() })
    })
}

/// Drops a value of redb and returns whether the drop succeeded. A panic of the drop is caught: no
/// caller is left to report it to, and committed data are safe.
pub(crate) fn drop_catching_panics<T>(value: T) -> bool {
    catch_unwind(AssertUnwindSafe(|| drop(value))).is_ok()
}

/// Drops a value of redb during a panic, so that redb neither rolls back nor closes the file. redb
/// may have panicked in the middle of a change, or the file may be damaged. The next opening
/// recovers the file.
pub(crate) fn abandon<T>(value: T) {
    if std::thread::panicking() {
        return drop(value);
    }
    let _ = catch_unwind(AssertUnwindSafe(|| {
        let _value = value;
        resume_unwind(Box::new("abandoned"));
    }));
}
