//! What must not cross a `fork`: open files, and the threads that share out work.

use crate::error::named;
use pyo3::prelude::*;
use std::process;
use twindex::with_threads;

/// A value that only the process that made it may use.
///
/// A forked child has a copy of an open index, but not its locks and its threads. It gets an error
/// when it uses the copy, and leaves it alone when it ends: closing it would write to the file.
#[derive(Debug)]
pub(crate) struct Own<T> {
    value: Option<T>,
    process: u32,
}

impl<T> Own<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { value: Some(value), process: process::id() }
    }

    /// The value, in the process that made it.
    pub(crate) fn get(&self) -> PyResult<&T> {
        match &self.value {
            Some(value) if self.process == process::id() => Ok(value),
            _ => Err(forked()),
        }
    }

    /// The value, in the process that made it; `None` in a forked child. Calls no Python.
    pub(crate) fn here(&mut self) -> Option<&mut T> {
        self.value.as_mut().filter(|_| self.process == process::id())
    }

    /// The value, in the process that made it.
    pub(crate) fn get_mut(&mut self) -> PyResult<&mut T> {
        self.here().ok_or_else(forked)
    }

    /// The value itself, in the process that made it.
    pub(crate) fn take(mut self) -> PyResult<T> {
        if self.process == process::id() {
            self.value.take().ok_or_else(forked)
        } else {
            Err(forked())
        }
    }
}

impl<T> Drop for Own<T> {
    fn drop(&mut self) {
        if self.process != process::id() {
            std::mem::forget(self.value.take());
        }
    }
}

/// The message of a `ForkError`.
pub(crate) const FORKED: &str = "this was opened before a fork, and a child process cannot use it: \
     open the index again in the child, or start processes with \
     multiprocessing.get_context('spawn')";

pub(crate) fn forked() -> PyErr {
    named("ForkError", FORKED)
}

/// Calls the library, while other threads of Python go on.
pub(crate) fn detached<T: Send>(py: Python<'_>, call: impl FnOnce() -> T + Send) -> T {
    py.detach(|| with_threads(call))
}
