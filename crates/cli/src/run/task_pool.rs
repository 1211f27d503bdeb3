//! Runs tasks on a pool of their own. A thread that waits for a result still notices signals.

use crate::run::failure::Failure;
use crate::run::read_ahead::NOTICED_WITHIN;
use crate::terminal::interrupt;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;

/// A pool with as many threads as the one on which other work is shared.
pub struct TaskPool(ThreadPool);

/// The result that a task will have.
pub struct PoolTask<R>(Receiver<thread::Result<R>>);

impl TaskPool {
    /// Starts threads of this name.
    pub fn start(name: &'static str) -> Result<Self, Failure> {
        let builder = ThreadPoolBuilder::new().num_threads(rayon::current_num_threads());
        let pool = builder.thread_name(move |_| name.to_owned()).build();
        Ok(Self(pool.map_err(|error| anyhow::anyhow!("cannot start threads: {error}"))?))
    }

    /// Begins a task, which may share its work with all threads of the pool.
    pub fn run<R: Send + 'static>(&self, task: impl FnOnce() -> R + Send + 'static) -> PoolTask<R> {
        let (sender, receiver) = sync_channel(1);
        self.0.spawn_fifo(move || {
            // If nobody waits any more, nobody wants the result.
            let _ = sender.send(catch_unwind(AssertUnwindSafe(task)));
        });
        PoolTask(receiver)
    }
}

impl<R> PoolTask<R> {
    /// Waits for the result; `None` after a signal. A panic of the task continues here.
    pub fn wait(self) -> Option<R> {
        loop {
            if interrupt::asked() {
                return None;
            }
            match self.0.recv_timeout(NOTICED_WITHIN) {
                Ok(result) => return Some(result.unwrap_or_else(|panic| resume_unwind(panic))),
                Err(RecvTimeoutError::Timeout) => {}
                // The pool runs every task. If it did not, the records must not go missing quietly.
                Err(RecvTimeoutError::Disconnected) => {
                    resume_unwind(Box::new("a task was dropped"))
                }
            }
        }
    }
}
