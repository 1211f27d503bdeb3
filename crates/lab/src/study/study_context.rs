//! The context of a run: its seed, and the function that receives its progress.

use rayon::prelude::*;
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

    /// The seed of one of several runs. Two seeds have a run in common only if their hashes agree
    /// in the upper 32 bits.
    pub(crate) fn seed_of(&self, run: u32) -> u64 {
        fmix64(fmix64(self.seed) ^ u64::from(run))
    }

    /// Reports that `done` of `total` is done.
    ///
    /// # Errors
    ///
    /// [`Error::Interrupted`](twindex::Error::Interrupted) if the run must end.
    pub(crate) fn at(&self, done: u64, total: u64) -> Result<()> {
        (self.tell)(done, total)
    }

    /// The results of a function for all numbers below `count`, in their order, computed on all
    /// threads. One of them takes some `steps` steps. Every [`BATCH`] steps, or as soon as each
    /// thread has computed one, the context is told that work is going on, so that a run of any
    /// size can be ended.
    ///
    /// # Errors
    ///
    /// Those of the function, and [`Error::Interrupted`](twindex::Error::Interrupted) if the run
    /// must end.
    pub(crate) fn repeat<T: Send>(
        &self,
        (done, total): (u64, u64),
        count: u32,
        steps: u64,
        one: impl Fn(u64) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        let batch = (BATCH / steps.max(1)).max(rayon::current_num_threads() as u64);
        let mut all = Vec::new();
        for from in (0..u64::from(count)).step_by(batch as usize) {
            self.at(done, total)?;
            let numbers = from..(from + batch).min(count.into());
            let some: Result<Vec<T>> = numbers.into_par_iter().map(&one).collect();
            all.extend(some?);
        }
        Ok(all)
    }
}

/// The steps, of some nanoseconds each, between two reports.
const BATCH: u64 = 1 << 24;

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use twindex::Error;

    #[test]
    fn repeated_results_are_in_order_whatever_the_batches() {
        let context = StudyContext::unwatched(0);
        for steps in [0, 1, BATCH / 7, BATCH, u64::MAX] {
            let all = context.repeat((0, 1), 20, steps, |number| Ok(number * number));
            assert_eq!(all.expect("none fails"), (0..20).map(|n| n * n).collect::<Vec<u64>>());
        }
    }

    #[test]
    fn repeated_work_ends_between_batches() {
        let (told, refused) = (Cell::new(0), || Error::Interrupted {
            path: "study".into(),
            action: "the study",
            outcome: "nothing was written",
        });
        let tell = |_, _| {
            told.set(told.get() + 1);
            if told.get() < 3 { Ok(()) } else { Err(refused()) }
        };
        let context = StudyContext::new(0, &tell);
        assert!(context.repeat((0, 1), u32::MAX, BATCH, Ok).is_err());
        assert_eq!(told.get(), 3);
    }
}
