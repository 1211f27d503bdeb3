//! Errors of the library as errors of SQL.

use rusqlite::{Error, Result, ffi};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::sync::Once;

/// An error with a message.
pub(crate) fn failure(message: impl Into<String>) -> Error {
    Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_ERROR), Some(message.into()))
}

/// An error of the library, with its causes.
pub(crate) fn of_library(error: twindex::Error) -> Error {
    failure(error.with_causes())
}

/// Keeps panics from writing to standard error. The extension has a standard library of its own, so
/// the hook is not the program's.
pub(crate) fn silence_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| set_hook(Box::new(|_| {})));
}

/// Does work whose panics become errors: they must not reach SQLite.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        let text = text.unwrap_or("no reason given");
        Err(failure(format!("twindex failed by a defect of its own: {text}")))
    })
}
