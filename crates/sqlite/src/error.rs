//! Errors of the library as errors of SQL.
#![expect(unsafe_code, reason = "work of a connection may move to another thread")]

use rusqlite::{Error, Result, ffi};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::sync::atomic::{AtomicBool, Ordering};

/// An error with a message. It crosses as a C string, so a NUL is written as `\0`.
pub(crate) fn failure(message: impl Into<String>) -> Error {
    let message = message.into().replace('\0', "\\0");
    Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_ERROR), Some(message))
}

/// An error of the library, with its causes.
pub(crate) fn of_library(error: twindex::Error) -> Error {
    failure(error.with_causes())
}

/// An error of a query that the extension runs. Where it has a code that programs look at, such as
/// that of a database that is locked, it keeps the code and gets the usual message: SQLite takes
/// one or the other from a function.
pub(crate) fn of_query(error: Error) -> Error {
    match error {
        Error::SqliteFailure(code, Some(_)) if code.extended_code != ffi::SQLITE_ERROR => {
            Error::SqliteFailure(code, None)
        }
        error => error,
    }
}

/// Keeps panics from writing to standard error. The extension has a standard library of its own, so
/// the hook is not the program's.
pub(crate) fn silence_panics() {
    // No `Once`: a forked child waits for ever if a thread of its parent was in the middle of it.
    static DONE: AtomicBool = AtomicBool::new(false);
    if !DONE.swap(true, Ordering::Relaxed) {
        set_hook(Box::new(|_| {}));
    }
}

/// Does work on threads of this process, also if it was forked.
fn on_threads<T>(work: impl FnOnce() -> T) -> T {
    struct Moved<T>(T);
    // SAFETY: the thread of the caller waits until the work is done, so it is done by one thread at
    // a time, which is all that SQLite wants of a connection.
    unsafe impl<T> Send for Moved<T> {}
    impl<T> Moved<T> {
        // A method takes the whole value into the closure, not its field.
        fn get(self) -> T {
            self.0
        }
    }
    let work = Moved(work);
    twindex::with_threads(move || Moved(work.get()())).get()
}

/// Does work whose panics become errors: they must not reach SQLite. In a forked process, the work
/// is done by another thread, so it must not ask SQLite for the connection: the thread of the
/// caller has locked it.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    on_threads(|| guarded_here(work))
}

/// The same for work on the thread of the caller.
pub(crate) fn guarded_here<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        let text = text.unwrap_or("no reason given");
        Err(failure(format!("twindex failed by a defect of its own: {text}")))
    })
}
