//! An open file, shared by the objects of Python that use it.

use crate::error::{named, raise};
use crate::process::{Own, detached};
use crate::waiting::wait_for;
use pyo3::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError, RwLock, TryLockError};
use std::thread::{self, ThreadId};
use std::time::Duration;
use twindex::{Index, ReadOnlyIndex, Settings, Sketcher, Snapshot, WriteTxn};

/// An open index, for writing or for reading.
pub(crate) enum Open {
    Writable(Index),
    ReadOnly(ReadOnlyIndex),
}

impl Open {
    pub(crate) fn settings(&self) -> &Settings {
        match self {
            Self::Writable(index) => index.settings(),
            Self::ReadOnly(index) => index.settings(),
        }
    }

    pub(crate) fn sketcher(&self) -> &Sketcher {
        match self {
            Self::Writable(index) => index.sketcher(),
            Self::ReadOnly(index) => index.sketcher(),
        }
    }

    pub(crate) fn snapshot(&self) -> twindex::Result<Snapshot> {
        match self {
            Self::Writable(index) => index.snapshot(),
            Self::ReadOnly(index) => index.snapshot(),
        }
    }
}

/// One state of an index.
pub(crate) type Shared = Arc<Own<Snapshot>>;

pub(crate) fn share(snapshot: Snapshot) -> Shared {
    Arc::new(Own::new(snapshot))
}

/// The open file, until it is closed.
pub(crate) struct Handle {
    path: PathBuf,
    open: RwLock<Option<Own<Open>>>,
    turn: Arc<Turn>,
}

impl Handle {
    pub(crate) fn new(open: Open) -> Self {
        let path = match &open {
            Open::Writable(index) => index.path(),
            Open::ReadOnly(index) => index.path(),
        };
        let path = path.to_owned();
        Self { path, open: RwLock::new(Some(Own::new(open))), turn: Arc::new(Turn::default()) }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Does something with the open index. Waits for nobody.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&Open) -> PyResult<T>) -> PyResult<T> {
        let open = match self.open.try_read() {
            Ok(open) => open,
            Err(TryLockError::Poisoned(open)) => open.into_inner(),
            Err(TryLockError::WouldBlock) => return Err(self.taken()),
        };
        work(open.as_ref().ok_or_else(|| self.closed())?.get()?)
    }

    /// Does something with the index that is open for writing.
    pub(crate) fn writing<T>(&self, work: impl FnOnce(&Index) -> PyResult<T>) -> PyResult<T> {
        self.with(|open| match open {
            Open::Writable(index) => work(index),
            Open::ReadOnly(_) => Err(self.read_only()),
        })
    }

    /// Does something that needs the index for itself.
    pub(crate) fn alone<T>(&self, work: impl FnOnce(&mut Index) -> PyResult<T>) -> PyResult<T> {
        let mut open = match self.open.try_write() {
            Ok(open) => open,
            Err(TryLockError::Poisoned(open)) => open.into_inner(),
            Err(TryLockError::WouldBlock) => return Err(self.taken()),
        };
        match open.as_mut().ok_or_else(|| self.closed())?.get_mut()? {
            Open::Writable(index) => work(index),
            Open::ReadOnly(_) => Err(self.read_only()),
        }
    }

    /// Closes the file. Does nothing if it is closed.
    pub(crate) fn close(&self, py: Python<'_>) -> PyResult<()> {
        let taken = match self.open.try_write() {
            Ok(mut open) => open.take(),
            Err(TryLockError::Poisoned(open)) => open.into_inner().take(),
            Err(TryLockError::WouldBlock) => return Err(self.taken()),
        };
        let Some(open) = taken else { return Ok(()) };
        match open.take()? {
            Open::Writable(index) => detached(py, || index.close()).map_err(raise),
            Open::ReadOnly(index) => {
                detached(py, || drop(index));
                Ok(())
            }
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        match self.open.try_read() {
            Ok(open) => open.is_none(),
            Err(TryLockError::Poisoned(open)) => open.into_inner().is_none(),
            Err(TryLockError::WouldBlock) => false,
        }
    }

    /// Begins a write transaction, when the one before has ended.
    pub(crate) fn begin_write(&self, py: Python<'_>) -> PyResult<(WriteTxn, Held)> {
        let held = self.wait_for_turn(py)?;
        let begun = self.writing(|index| detached(py, || index.begin_write()).map_err(raise));
        Ok((begun?, held))
    }

    /// Waits until no transaction of this object writes.
    pub(crate) fn wait_for_turn(&self, py: Python<'_>) -> PyResult<Held> {
        if self.turn.is_mine() {
            return Err(named(
                "BusyError",
                "this thread has a write transaction of this index: commit or abort it first",
            ));
        }
        let turn = &self.turn;
        wait_for(py, |tick| Turn::take(turn, tick))
    }

    fn closed(&self) -> PyErr {
        named("ClosedError", format!("{}: the index is closed", self.path.display()))
    }

    fn taken(&self) -> PyErr {
        let path = self.path.display();
        named("BusyError", format!("{path}: in use by another call, which needs it alone"))
    }

    fn read_only(&self) -> PyErr {
        let path = self.path.display();
        named("MismatchError", format!("{path}: open for reading only: open it with mode='c'"))
    }
}

/// Whose turn to write it is.
#[derive(Default)]
pub(crate) struct Turn {
    writer: Mutex<Option<ThreadId>>,
    ended: Condvar,
}

impl Turn {
    fn is_mine(&self) -> bool {
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        *writer == Some(thread::current().id())
    }

    fn take(turn: &Arc<Self>, patience: Duration) -> Option<Held> {
        let writer = turn.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = turn.ended.wait_timeout_while(writer, patience, |writer| writer.is_some());
        let (mut writer, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if writer.is_some() {
            return None;
        }
        *writer = Some(thread::current().id());
        Some(Held { turn: Arc::clone(turn) })
    }
}

/// The turn to write. It ends when this is dropped.
pub(crate) struct Held {
    turn: Arc<Turn>,
}

impl Drop for Held {
    fn drop(&mut self) {
        *self.turn.writer.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.turn.ended.notify_one();
    }
}
