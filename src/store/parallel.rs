//! Distributes work over threads if there is enough of it: distribution costs some 20 us.

use crate::error::{Error, Result};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// The fewest documents whose work is worth distributing.
pub(crate) const MIN_DOCUMENTS: usize = 256;

/// Applies a function to every item, on all threads if `shared`. Results have the order of items. A
/// panic of the function goes on in the calling thread.
///
/// The calling thread works too. If it slept until the pool is done, two threads of the pool would
/// often share the core of the one that woke them, while the core of this one is idle.
pub(crate) fn map<T: Send, R: Send>(
    items: Vec<T>,
    shared: bool,
    apply: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    /// Enough pieces that all threads end at about the same time.
    const PIECES_PER_THREAD: usize = 16;
    let count = items.len();
    if !shared || count <= 1 {
        return items.into_iter().map(apply).collect();
    }
    let piece = count.div_ceil(rayon::current_num_threads() * PIECES_PER_THREAD);
    // The pieces that nobody works on, and the results of those that are done.
    let waiting = Mutex::new((items.into_iter(), 0));
    let done = Mutex::new(Vec::new());
    locked(&done).resize_with(count.div_ceil(piece), Vec::new);
    on_all_threads(&|| {
        loop {
            let (place, next) = {
                let (items, place) = &mut *locked(&waiting);
                *place += 1;
                (*place - 1, items.take(piece).collect::<Vec<T>>())
            };
            if next.is_empty() {
                return;
            }
            let results = next.into_iter().map(&apply).collect();
            if let Some(slot) = locked(&done).get_mut(place) {
                *slot = results;
            }
        }
    });
    let mut all = Vec::with_capacity(count);
    for mut results in done.into_inner().unwrap_or_else(PoisonError::into_inner) {
        all.append(&mut results);
    }
    all
}

/// Applies a function that may fail to every item, on all threads. Returns the results in the order
/// of items, or the error of the first item that has one.
pub(crate) fn try_map<T: Send, R: Send>(
    items: Vec<T>,
    apply: impl Fn(T) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    map(items, true, apply).into_iter().collect()
}

/// Runs a function on this thread and on as many of the pool as it has others. What it takes is
/// `dyn`, so that all this is compiled once.
fn on_all_threads(work: &(dyn Fn() + Sync)) {
    rayon::in_place_scope(|scope| {
        (1..rayon::current_num_threads()).for_each(|_| scope.spawn(|_| work()));
        work();
    });
}

/// Work that may fail.
pub(crate) type Work<'w> = Box<dyn FnOnce() -> Result<()> + Send + 'w>;

/// Does all work, on several threads if `shared`. If several parts fail, this returns the error of
/// a read or a write, if there is one: after it, the storage refuses what others do.
pub(crate) fn all(work: Vec<Work<'_>>, shared: bool) -> Result<()> {
    let mut results = map(work, shared, |part| part());
    results.sort_by_key(|result| !matches!(result, Err(Error::Io { .. } | Error::Damaged { .. })));
    results.into_iter().collect()
}

/// Calls two functions at once: the first here, the second on a thread of the pool if it has
/// several.
pub(crate) fn both<R>(here: impl FnOnce() -> R, there: impl FnOnce() + Send) -> R {
    if rayon::current_num_threads() < 2 {
        there();
        return here();
    }
    rayon::in_place_scope(|scope| {
        scope.spawn(|_| there());
        here()
    })
}

/// The most documents that wait to be freed.
const MOST_WAITING: usize = 1 << 15;

/// Frees documents, or parts of them. A thread of the pool does it if they are many: each consists
/// of several pieces of memory, and the thread that writes has other work. This thread does it if
/// the pool has not come to those before, so that memory is bounded.
pub(crate) fn free<T: Send + 'static>(items: Vec<T>) {
    static WAITING: AtomicUsize = AtomicUsize::new(0);
    let count = items.len();
    if count < MIN_DOCUMENTS || WAITING.load(Ordering::Relaxed) + count > MOST_WAITING {
        return drop(items);
    }
    WAITING.fetch_add(count, Ordering::Relaxed);
    rayon::spawn(move || {
        drop(items);
        WAITING.fetch_sub(count, Ordering::Relaxed);
    });
}

/// Gives `write` all blocks that `read` passes on, in order. Another thread reads, at most two
/// blocks ahead. Reading ends when it is told to break, because `write` has failed.
pub(crate) fn read_ahead<T: Send>(
    read: impl FnOnce(&mut dyn FnMut(T) -> ControlFlow<()>) -> Result<()> + Send,
    mut write: impl FnMut(T) -> Result<()>,
) -> Result<()> {
    thread::scope(|scope| {
        let (sender, blocks) = sync_channel(2);
        scope.spawn(move || {
            let mut pass_on = |block| match sender.send(Ok(block)) {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            };
            if let Err(error) = read(&mut pass_on) {
                // Nobody is left to tell if the other thread has failed before.
                let _ = sender.send(Err(error));
            }
        });
        for block in blocks {
            write(block?)?;
        }
        Ok(())
    })
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Barrier;

    #[test]
    fn results_have_the_order_of_items_inside_and_outside_of_the_pool() {
        for count in [0, 1, 2, 3, 31, 1000] {
            let expected: Vec<usize> = (0..count).map(|item| item * 7).collect();
            let mapped = |shared| map((0..count).collect(), shared, |item| item * 7);
            assert_eq!(mapped(false), expected);
            assert_eq!(mapped(true), expected);
            let (inside, nested) = rayon::join(|| mapped(true), || mapped(true));
            assert_eq!((&inside, &nested), (&expected, &expected));
            let outer = map(vec![(), ()], true, |()| mapped(true));
            assert_eq!(outer, [inside, nested]);
        }
    }

    #[test]
    fn the_calling_thread_is_one_of_those_that_work() {
        let threads = rayon::current_num_threads();
        // Every thread waits with one item until the others have one too.
        let all_work = Barrier::new(threads);
        let meet = |_| {
            all_work.wait();
            thread::current().id()
        };
        let workers = map((0..threads).collect(), true, meet);
        assert!(workers.contains(&thread::current().id()));
    }

    #[test]
    fn of_several_errors_the_cause_is_returned() {
        let refused = || Err(Error::Full { path: "x".into() });
        let failed = || {
            let source = std::io::Error::other("no space");
            Err(Error::Io { path: "x".into(), action: "writing", source })
        };
        for shared in [false, true] {
            let work: Vec<Work<'_>> = vec![Box::new(refused), Box::new(failed), Box::new(refused)];
            let error = all(work, shared).expect_err("an error");
            assert!(matches!(error, Error::Io { .. }), "{error}");
            assert!(all(vec![Box::new(refused), Box::new(|| Ok(()))], shared).is_err());
            assert!(all(vec![Box::new(|| Ok(()))], shared).is_ok());
        }
    }

    #[test]
    fn two_functions_run_at_once_if_there_are_two_threads() {
        for threads in [1, 2] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let both_run = Barrier::new(threads);
            let mut there = false;
            let here = pool.expect("a pool").install(|| {
                let meet = || {
                    both_run.wait();
                };
                both(
                    || {
                        meet();
                        7
                    },
                    || {
                        meet();
                        there = true;
                    },
                )
            });
            assert_eq!((here, there), (7, true));
        }
    }

    #[test]
    fn few_and_many_items_are_freed() {
        let item = std::sync::Arc::new(());
        let items = |count| vec![item.clone(); count];
        free(items(3));
        assert_eq!(std::sync::Arc::strong_count(&item), 1);
        free(items(MIN_DOCUMENTS));
        let begun = std::time::Instant::now();
        while std::sync::Arc::strong_count(&item) > 1 {
            assert!(begun.elapsed().as_secs() < 60, "they are never freed");
            thread::yield_now();
        }
    }

    #[test]
    fn what_a_busy_pool_has_not_freed_is_bounded() {
        let item = std::sync::Arc::new(());
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
        // The only thread of the pool is this one.
        pool.install(|| {
            (0..1000).for_each(|_| free(vec![item.clone(); MIN_DOCUMENTS]));
            assert!(std::sync::Arc::strong_count(&item) <= MOST_WAITING + 1);
        });
    }

    #[test]
    fn what_is_read_ahead_comes_in_order_until_one_of_both_fails() {
        let failure = || Error::NotFound { path: "x".into() };
        let pass_on = |count, take: &mut dyn FnMut(u32) -> ControlFlow<()>| {
            (0..count).find(|block| take(*block).is_break())
        };
        let mut written = Vec::new();
        let mut read = |limit: u32| {
            written.clear();
            let result = read_ahead(
                |take| pass_on(10, take).map_or_else(|| Err(failure()), |_| Ok(())),
                |block| {
                    written.push(block);
                    let full = || Error::Full { path: "y".into() };
                    (block < limit).then_some(()).ok_or_else(full)
                },
            );
            (written.clone(), result)
        };
        let (all, failed) = read(10);
        assert_eq!(all, (0..10).collect::<Vec<_>>());
        assert!(matches!(failed, Err(Error::NotFound { .. })), "{failed:?}");
        let (some, failed) = read(4);
        assert_eq!(some, [0, 1, 2, 3, 4]);
        assert!(matches!(failed, Err(Error::Full { .. })), "{failed:?}");
        let nothing = read_ahead(|_| Ok(()), |_: u32| Ok(()));
        assert!(nothing.is_ok());
    }

    #[test]
    fn a_panic_reaches_the_caller_after_all_threads_are_done() {
        let fails = |item: usize| {
            assert!(item != 50, "no item 50");
            item
        };
        let failed = catch_unwind(AssertUnwindSafe(|| map((0..100).collect(), true, fails)));
        assert!(failed.is_err());
        assert_eq!(map((0..50).collect(), true, fails).len(), 50);
    }
}
