//! The context of a run: its seed, and the function that receives its progress.

use twindex::Result;

use twindex::internals::fmix64;
/// Receives the amounts of work done and in total, and may end the run with an error.
type Tell<'w> = dyn Fn(u64, u64) -> Result<()> + 'w;

/// The seed of a run, and the function that receives its progress.
pub(crate) struct StudyContext<'w> {
    pub(crate) seed: u64,
    tell: &'w Tell<'w>,
}

impl<'w> StudyContext<'w> {
    pub(crate) fn new(seed: u64, tell: &'w Tell<'w>) -> Self {
        Self { seed, tell }
    }

    /// A context that ignores progress.
    #[cfg(test)]
    pub(crate) fn unwatched(seed: u64) -> StudyContext<'static> {
        StudyContext { seed, tell: &|_, _| Ok(()) }
    }

    /// Reports that `done` of `total` is done.
    /// The seed of one of several runs. Seeds that differ in any bit have no run in common.
    pub(crate) fn seed_of(&self, run: u32) -> u64 {
        fmix64(fmix64(self.seed) ^ u64::from(run))
    }

    ///
    /// # Errors
    ///
    /// [`Error::Interrupted`](twindex::Error::Interrupted) if the run must end.
    pub(crate) fn at(&self, done: u64, total: u64) -> Result<()> {
        (self.tell)(done, total)
    }
}
