//! Watching long work, and stopping it at the next safe place.

use crate::error::{Error, Result};
use std::fmt;
use std::ops::ControlFlow;
use std::path::Path;

/// Who is told how far a piece of work is, and says whether it goes on.
pub(crate) type Tell<'t> = dyn FnMut(Progress) -> ControlFlow<()> + 't;

/// A long piece of work that has not begun: [`run`](Self::run) does it, and
/// [`watch`](Self::watch) does it, tells how far it is, and can stop it.
///
/// Methods whose time grows with the index return it. Nothing happens before one of the two calls.
/// What an interrupted piece of work has left is documented where it is made.
///
/// ```
/// # fn main() -> twindex::Result<()> {
/// # let folder = tempfile::tempdir().expect("a temporary folder");
/// # let mut index = twindex::Index::create(folder.path().join("c.twx"))?;
/// use std::ops::ControlFlow;
/// use std::time::{Duration, Instant};
/// assert!(index.check().run()?.is_clean());
///
/// let start = Instant::now();
/// let compacted = index.compact().watch(|_| match start.elapsed() {
///     time if time < Duration::from_secs(60) => ControlFlow::Continue(()),
///     _ => ControlFlow::Break(()),
/// });
/// match compacted {
///     Err(twindex::Error::Interrupted { .. }) => println!("the rest another time"),
///     other => other?,
/// }
/// # Ok(())
/// # }
/// ```
#[must_use = "the work begins when `run` or `watch` is called"]
pub struct Work<'w, T> {
    job: Box<dyn FnOnce(&mut Tell<'_>) -> Result<T> + Send + 'w>,
}

impl<'w, T> Work<'w, T> {
    pub(crate) fn new(job: impl FnOnce(&mut Tell<'_>) -> Result<T> + Send + 'w) -> Self {
        Self { job: Box::new(job) }
    }

    /// Does the work.
    ///
    /// # Errors
    ///
    /// Those that are documented where the work is made.
    pub fn run(self) -> Result<T> {
        (self.job)(&mut unwatched)
    }

    /// Does the work and tells how far it is, at least at the beginning of each part of it. It
    /// stops at the next safe place when `tell` returns [`ControlFlow::Break`].
    ///
    /// `tell` is called in this thread, between steps of a fraction of a second, except where the
    /// method that makes the work says otherwise.
    ///
    /// # Errors
    ///
    /// Those of [`run`](Self::run). [`Error::Interrupted`] where `tell` has stopped the work.
    pub fn watch(self, mut tell: impl FnMut(Progress) -> ControlFlow<()>) -> Result<T> {
        (self.job)(&mut tell)
    }
}

impl<T> fmt::Debug for Work<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Work").finish_non_exhaustive()
    }
}

/// How far a long piece of work has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// What is done. The unit is the work's own: documents, rows, entries.
    pub done: u64,
    /// All that is to be done, as far as is known: it may grow.
    pub total: u64,
}

/// Who watches a piece of work, and what it says when it is stopped.
pub(crate) struct Watch<'w> {
    path: &'w Path,
    action: &'static str,
    outcome: &'static str,
    tell: &'w mut Tell<'w>,
    progress: Progress,
    /// What was done since the last time it was told.
    untold: u64,
}

impl<'w> Watch<'w> {
    /// So much is done before it is told again: a call for each row would be felt.
    const STRIDE: u64 = 1 << 10;

    pub(crate) fn new(
        path: &'w Path,
        (action, outcome): (&'static str, &'static str),
        tell: &'w mut Tell<'w>,
    ) -> Self {
        Self { path, action, outcome, tell, progress: Progress { done: 0, total: 0 }, untold: 0 }
    }

    /// Begins a part of the work.
    pub(crate) fn expect(&mut self, more: u64) -> Result<()> {
        self.progress.total = self.progress.total.saturating_add(more);
        self.tell()
    }

    /// Notes that so much more is done.
    pub(crate) fn advance(&mut self, done: u64) -> Result<()> {
        self.untold += done;
        if self.untold >= Self::STRIDE { self.tell() } else { Ok(()) }
    }

    fn tell(&mut self) -> Result<()> {
        let Progress { done, total } = &mut self.progress;
        *done = done.saturating_add(std::mem::take(&mut self.untold)).min(*total);
        match (self.tell)(self.progress) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Interrupted {
                path: self.path.to_owned(),
                action: self.action,
                outcome: self.outcome,
            }),
        }
    }
}

/// What is told by work that nobody watches.
pub(crate) fn unwatched(_: Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}
