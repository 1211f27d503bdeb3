//! Watching long work, and stopping it at the next safe place.

use crate::error::{Error, Result};
use std::ops::ControlFlow;
use std::path::Path;

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
    tell: &'w mut dyn FnMut(Progress) -> ControlFlow<()>,
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
        tell: &'w mut dyn FnMut(Progress) -> ControlFlow<()>,
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
