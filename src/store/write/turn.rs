//! The lock that admits one write transaction at a time, and records the thread that holds it.

use crate::error::{Error, Result};
use crate::store::lock::lock;
use crate::threads::{NO_THREAD, this_thread};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Instant;

/// The write lock of one index.
#[derive(Default)]
pub(crate) struct Turns {
    taken: Mutex<bool>,
    ended: Condvar,
    /// The thread that used the transaction last. If a transaction moves to another thread, that
    /// thread becomes the holder on its first use.
    holder: AtomicU64,
}

impl Turns {
    /// Waits for the turn: until the deadline, if there is one. Returns `None` after it. Fails if
    /// this thread holds the turn, because the wait would never end.
    pub(crate) fn wait(self: &Arc<Self>, deadline: Option<Instant>) -> Result<Option<Turn>> {
        let mut taken = lock(&self.taken);
        while *taken {
            if self.holder.load(Ordering::Relaxed) == this_thread() {
                return Err(Error::WriteInProgress);
            }
            taken = if let Some(deadline) = deadline {
                let left = deadline.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    return Ok(None);
                }
                self.ended.wait_timeout(taken, left).unwrap_or_else(PoisonError::into_inner).0
            } else {
                self.ended.wait(taken).unwrap_or_else(PoisonError::into_inner)
            };
        }
        *taken = true;
        Ok(Some(Turn::new(self)))
    }

    /// Takes the turn if it is free.
    pub(crate) fn take(self: &Arc<Self>) -> Option<Turn> {
        let mut taken = lock(&self.taken);
        let free = !std::mem::replace(&mut *taken, true);
        free.then(|| Turn::new(self))
    }

    /// Whether the turn is taken.
    pub(crate) fn is_taken(&self) -> bool {
        *lock(&self.taken)
    }
}

/// The right to write, until it is dropped.
pub(crate) struct Turn(Arc<Turns>);

impl Turn {
    /// Makes the turn and records this thread as its holder. The caller holds the mutex.
    fn new(turns: &Arc<Turns>) -> Self {
        let turn = Self(Arc::clone(turns));
        turn.note_use();
        turn
    }

    /// Records this thread as the holder.
    pub(crate) fn note_use(&self) {
        let this = this_thread();
        if self.0.holder.load(Ordering::Relaxed) != this {
            self.0.holder.store(this, Ordering::Relaxed);
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut taken = lock(&self.0.taken);
        self.0.holder.store(NO_THREAD, Ordering::Relaxed);
        *taken = false;
        drop(taken);
        // Wakes all waiting threads, because a thread that finds the index broken takes no turn and
        // so would wake no other.
        self.0.ended.notify_all();
    }
}
