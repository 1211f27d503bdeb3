//! Whose turn it is to write.

use std::process;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration;

/// Locks a mutex. Nothing that is locked by this is kept locked while Python or the library is
/// called. An exception is an object of Python: to make one waits for the interpreter, which
/// another thread may hold while it waits for the lock.
pub(crate) fn locked<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whose turn to write it is.
#[derive(Default)]
pub(crate) struct Turn {
    writer: Mutex<Option<ThreadId>>,
    ended: Condvar,
}

impl Turn {
    pub(crate) fn is_mine(&self) -> bool {
        *locked(&self.writer) == Some(thread::current().id())
    }

    pub(crate) fn take(turn: &Arc<Self>, patience: Duration) -> Option<Held> {
        let writer = locked(&turn.writer);
        let waited = turn.ended.wait_timeout_while(writer, patience, |writer| writer.is_some());
        let (mut writer, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if writer.is_some() {
            return None;
        }
        *writer = Some(thread::current().id());
        Some(Held { turn: Arc::clone(turn), process: process::id() })
    }
}

/// The turn to write. It ends when this is dropped.
pub(crate) struct Held {
    turn: Arc<Turn>,
    process: u32,
}

impl Held {
    /// Records that this thread uses the transaction, so that it is told before it would wait for
    /// itself.
    pub(crate) fn note_use(&self) {
        *locked(&self.turn.writer) = Some(thread::current().id());
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // A forked child may have a copy that another thread had locked.
        if self.process == process::id() {
            *locked(&self.turn.writer) = None;
            self.turn.ended.notify_one();
        }
    }
}
