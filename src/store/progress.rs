//! Long work: how it reports its progress, and how a caller stops it.

use crate::error::{Error, Result};
use crate::store::storage_error::CallerPanic;
use std::fmt;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;

/// A caller's function that receives the progress of work and decides whether it continues.
pub(crate) type Tell<'t> = dyn FnMut(Progress) -> ControlFlow<()> + 't;

type Job<'w, T> = dyn FnOnce(&mut Tell<'_>) -> Result<T> + Send + 'w;

/// Long work that has not begun. [`run`](Self::run) does it. [`watch`](Self::watch) does it,
/// reports its progress, and can stop it.
///
/// Methods whose time grows with the index return it. Nothing happens before one of the two calls.
/// Each method documents what its work leaves when it is interrupted.
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
    job: Box<Job<'w, T>>,
}

impl<'w, T> Work<'w, T> {
    pub(crate) fn new(job: impl FnOnce(&mut Tell<'_>) -> Result<T> + Send + 'w) -> Self {
        Self { job: Box::new(job) }
    }

    /// Does the work.
    ///
    /// # Errors
    ///
    /// Those of the method that returned the work.
    pub fn run(self) -> Result<T> {
        passing_on_panics(self.job, &mut unwatched)
    }

    /// Does the work and reports its progress to `tell`, at least at the beginning of each part.
    /// The work stops at the next safe place when `tell` returns [`ControlFlow::Break`].
    ///
    /// `tell` is called in this thread, between steps of a fraction of a second, unless the method
    /// that returned the work says otherwise.
    ///
    /// # Errors
    ///
    /// Those of [`run`](Self::run). [`Error::Interrupted`] if `tell` stopped the work.
    pub fn watch(self, mut tell: impl FnMut(Progress) -> ControlFlow<()>) -> Result<T> {
        passing_on_panics(self.job, &mut tell)
    }
}

/// Does the job. A panic of `tell` reaches the caller as it was, through all that catches panics of
/// the storage library.
fn passing_on_panics<T>(job: Box<Job<'_, T>>, tell: &mut Tell<'_>) -> Result<T> {
    let mut tell = |progress| {
        catch_unwind(AssertUnwindSafe(|| tell(progress)))
            .unwrap_or_else(|panic| resume_unwind(Box::new(CallerPanic(panic))))
    };
    match catch_unwind(AssertUnwindSafe(|| job(&mut tell))) {
        Ok(done) => done,
        Err(panic) => match panic.downcast::<CallerPanic>() {
            Ok(of_caller) => resume_unwind(of_caller.0),
            Err(other) => resume_unwind(other),
        },
    }
}

impl<T> fmt::Debug for Work<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Work").finish_non_exhaustive()
    }
}

/// The progress of long work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// What is being done, for people: a few words such as `checking documents`. Empty for work
    /// that does one thing only. It changes from one part of the work to the next.
    pub phase: &'static str,
    /// The amount that is done. The unit depends on the work: documents, rows, entries.
    pub done: u64,
    /// The whole amount, as far as it is known. It may grow.
    pub total: u64,
}

/// Reports the progress of one piece of work, and turns a stop into [`Error::Interrupted`].
pub(crate) struct Watch<'w> {
    path: &'w Path,
    action: &'static str,
    outcome: &'static str,
    tell: &'w mut Tell<'w>,
    /// The progress as of the last report.
    progress: Progress,
    /// The amount done since then.
    unreported: u64,
}

impl<'w> Watch<'w> {
    /// The amount between two reports. A report for each row would cost noticeable time.
    const STRIDE: u64 = 1 << 10;

    pub(crate) fn new(
        path: &'w Path,
        (action, outcome): (&'static str, &'static str),
        tell: &'w mut Tell<'w>,
    ) -> Self {
        let progress = Progress { phase: "", done: 0, total: 0 };
        Self { path, action, outcome, tell, progress, unreported: 0 }
    }

    /// Begins a part of the work that has a name, and adds `more` to the total.
    pub(crate) fn begin(&mut self, phase: &'static str, more: u64) -> Result<()> {
        self.progress.phase = phase;
        self.expect(more)
    }

    /// Adds `more` to the total.
    pub(crate) fn expect(&mut self, more: u64) -> Result<()> {
        self.progress.total = self.progress.total.saturating_add(more);
        self.report()
    }

    /// Adds to the amount that is done.
    pub(crate) fn advance(&mut self, done: u64) -> Result<()> {
        self.unreported += done;
        if self.unreported >= Self::STRIDE { self.report() } else { Ok(()) }
    }

    /// Adds to the amount that is done, and reports it: for steps that may take long.
    pub(crate) fn advance_now(&mut self, done: u64) -> Result<()> {
        self.unreported += done;
        self.report()
    }

    fn report(&mut self) -> Result<()> {
        let Progress { done, total, .. } = &mut self.progress;
        *done = done.saturating_add(std::mem::take(&mut self.unreported)).min(*total);
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

/// Ignores the progress and never stops the work.
pub(crate) fn unwatched(_: Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}
