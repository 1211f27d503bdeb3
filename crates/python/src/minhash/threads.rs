//! Work that threads share out, of which the caller does what no other thread has begun.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// Shares of work, and what came out of those that are done.
struct Shares<W, T> {
    work: W,
    number: usize,
    next: AtomicUsize,
    done: Mutex<Vec<(usize, T)>>,
    more: Condvar,
}

impl<T, W: Fn(usize) -> T> Shares<W, T> {
    /// Does shares that nobody has begun until there are none.
    fn take(&self) {
        loop {
            let share = self.next.fetch_add(1, Ordering::Relaxed);
            if share >= self.number {
                return;
            }
            let result = (self.work)(share);
            self.done.lock().unwrap_or_else(PoisonError::into_inner).push((share, result));
            self.more.notify_one();
        }
    }
}

/// Does a number of shares of work and returns what came out, in no order. Rayon's threads help if
/// they are free. On a busy machine the caller does most of it, and waits for no thread that has
/// not begun.
pub(super) fn share_out<T, W>(number: usize, work: W) -> Vec<(usize, T)>
where
    T: Send + 'static,
    W: Fn(usize) -> T + Send + Sync + 'static,
{
    let (next, done, more) = (AtomicUsize::new(0), Mutex::default(), Condvar::new());
    let shares = Arc::new(Shares { work, number, next, done, more });
    for _ in 1..rayon::current_num_threads().min(number) {
        let helper = Arc::clone(&shares);
        rayon::spawn(move || helper.take());
    }
    shares.take();
    let mut done = shares.done.lock().unwrap_or_else(PoisonError::into_inner);
    while done.len() < number {
        done = shares.more.wait(done).unwrap_or_else(PoisonError::into_inner);
    }
    std::mem::take(&mut *done)
}
