//! The states that new readers take: one a commit.

use crate::store::lock::lock;
use crate::store::state::State;
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

/// The states that a new reader may find in the file: the state of the last commit and, while this
/// process commits, the next one.
#[derive(Debug)]
pub(crate) struct Published {
    states: Mutex<States>,
    /// Held while the state is brought up to date with the commits of another process.
    following: Mutex<()>,
}

#[derive(Debug)]
pub(crate) struct States {
    current: Arc<State>,
    next: Option<Arc<State>>,
}

impl States {
    /// The state of a commit, if it is one of these.
    pub(crate) fn of(&self, commit: u64) -> Option<Arc<State>> {
        let mut states = [Some(&self.current), self.next.as_ref()].into_iter().flatten();
        states.find(|state| state.counters.commit == commit).cloned()
    }
}

impl Published {
    pub(crate) fn new(state: State) -> Self {
        let states = States { current: Arc::new(state), next: None };
        Self { states: Mutex::new(states), following: Mutex::new(()) }
    }

    /// The states. No state is published while the caller keeps them.
    pub(crate) fn states(&self) -> MutexGuard<'_, States> {
        lock(&self.states)
    }

    pub(crate) fn current(&self) -> Arc<State> {
        Arc::clone(&self.states().current)
    }

    /// Commits a state: a reader may find it in the file before `commit` returns.
    pub(crate) fn commit<T, E>(
        &self,
        state: &Arc<State>,
        commit: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        self.states().next = Some(Arc::clone(state));
        let committed = commit();
        let mut states = self.states();
        states.next = None;
        let committed = committed?;
        states.current = Arc::clone(state);
        Ok(committed)
    }

    /// Lets one thread at a time bring the state up to date.
    ///
    /// A thread of a pool does not wait: `None` if another one is at it. That one may itself wait
    /// for the pool, or have taken up the caller's work while it does.
    pub(crate) fn follow(&self) -> Option<MutexGuard<'_, ()>> {
        if rayon::current_thread_index().is_none() {
            return Some(lock(&self.following));
        }
        match self.following.try_lock() {
            Ok(following) => Some(following),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Publishes a state that another process has committed, unless a later one is published.
    pub(crate) fn set(&self, state: Arc<State>) {
        let mut states = self.states();
        if states.current.counters.commit < state.counters.commit {
            states.current = state;
        }
    }
}
