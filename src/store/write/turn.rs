//! Whose turn it is to write: one transaction at a time, and the thread that has it.

use crate::store::engine::lock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// The number of no thread.
const NOBODY: u64 = 0;

/// The number of this thread, which no other thread of the process ever has.
fn this_thread() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(NOBODY + 1);
    thread_local! {
        static NUMBER: u64 = NEXT.fetch_add(1, Ordering::Relaxed);
    }
    NUMBER.with(|number| *number)
}

/// The turns of those who write to one index.
#[derive(Default)]
pub(crate) struct Turns {
    taken: Mutex<bool>,
    ended: Condvar,
    /// The thread that used the transaction last. A transaction that is moved to another thread
    /// takes its turn with it when it is used there.
    holder: AtomicU64,
}

impl Turns {
    /// Waits for the turn. `None` where this thread has it, so that waiting would never end.
    pub(crate) fn wait(self: &Arc<Self>) -> Option<Turn> {
        let mut taken = lock(&self.taken);
        while *taken {
            if self.holder.load(Ordering::Relaxed) == this_thread() {
                return None;
            }
            taken = self.ended.wait(taken).unwrap_or_else(PoisonError::into_inner);
        }
        *taken = true;
        Some(Turn::new(self))
    }

    /// Takes the turn if nobody has it.
    pub(crate) fn take(self: &Arc<Self>) -> Option<Turn> {
        let mut taken = lock(&self.taken);
        let free = !std::mem::replace(&mut *taken, true);
        free.then(|| Turn::new(self))
    }

    /// Whether anybody has the turn.
    pub(crate) fn is_taken(&self) -> bool {
        *lock(&self.taken)
    }
}

/// The right to write. It ends when it is dropped.
pub(crate) struct Turn(Arc<Turns>);

impl Turn {
    /// Notes that this thread has it. The lock is held.
    fn new(turns: &Arc<Turns>) -> Self {
        let turn = Self(Arc::clone(turns));
        turn.used();
        turn
    }

    /// Notes that this thread has it.
    pub(crate) fn used(&self) {
        let this = this_thread();
        if self.0.holder.load(Ordering::Relaxed) != this {
            self.0.holder.store(this, Ordering::Relaxed);
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut taken = lock(&self.0.taken);
        self.0.holder.store(NOBODY, Ordering::Relaxed);
        *taken = false;
        drop(taken);
        // All look again: one that finds the index broken does not pass it on.
        self.0.ended.notify_all();
    }
}
