//! What a study is done with: a seed, and who is told how far it is.

use twindex::Result;

/// What is told how much of all work is done, and may refuse to go on.
type Tell<'w> = dyn Fn(u64, u64) -> Result<()> + 'w;

/// The seed of a study, and who watches it.
pub(crate) struct StudyContext<'w> {
    pub(crate) seed: u64,
    tell: &'w Tell<'w>,
}

impl<'w> StudyContext<'w> {
    pub(crate) fn new(seed: u64, tell: &'w Tell<'w>) -> Self {
        Self { seed, tell }
    }

    /// Work that nobody watches.
    #[cfg(test)]
    pub(crate) fn unwatched(seed: u64) -> StudyContext<'static> {
        StudyContext { seed, tell: &|_, _| Ok(()) }
    }

    /// Tells that so much of all is done.
    ///
    /// # Errors
    ///
    /// [`Error::Interrupted`](twindex::Error::Interrupted) where the work is to end.
    pub(crate) fn at(&self, done: u64, total: u64) -> Result<()> {
        (self.tell)(done, total)
    }
}
