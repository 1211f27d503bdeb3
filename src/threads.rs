//! Threads that share out work, also in a process that was forked.

use rayon::{ThreadPool, ThreadPoolBuilder};
use std::cell::Cell;
use std::process;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Runs a call of this library, which may share its work out between threads, in a process that may
/// have been forked.
///
/// Those threads belong to the process that first called the library by this function. A child that
/// was forked from it does not have them, and a call that needs them waits for ever. Here, such a
/// child gets threads of its own: the call runs on one of them, while this thread waits. In the
/// first process, and in one that another program was started in, the call runs in this thread, and
/// costs nothing more.
///
/// A program that forks after it has used the library wraps all calls in this function, from the
/// first one on: the bindings for Python, C and SQLite do. What was opened before a fork must not
/// be used in the child, in any way.
///
/// ```
/// # fn main() -> twindex::Result<()> {
/// # let folder = tempfile::tempdir().expect("a temporary folder");
/// # let path = folder.path().join("t.twx");
/// let index = twindex::with_threads(|| twindex::Index::options().create(path))?;
/// assert_eq!(index.settings().threshold(), 0.8);
/// # Ok(())
/// # }
/// ```
pub fn with_threads<T: Send>(call: impl FnOnce() -> T + Send) -> T {
    static OF_CHILD: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);
    if !is_forked() {
        return call();
    }
    let me = process::id();
    let mut kept = OF_CHILD.lock().unwrap_or_else(PoisonError::into_inner);
    let pool = match kept.as_ref() {
        Some((owner, pool)) if *owner == me => Some(Arc::clone(pool)),
        _ => {
            let made = ThreadPoolBuilder::new().build().ok().map(Arc::new);
            let foreign = std::mem::replace(&mut *kept, made.clone().map(|pool| (me, pool)));
            // Its threads do not exist here, so nobody would answer when it is told to end.
            std::mem::forget(foreign);
            made
        }
    };
    drop(kept);
    let caller = this_thread();
    match pool {
        Some(pool) => pool.install(|| on_behalf_of(caller, call)),
        None => call(),
    }
}

/// Stands for "no thread".
pub(crate) const NO_THREAD: u64 = 0;

thread_local! {
    static NUMBER: Cell<u64> = const { Cell::new(NO_THREAD) };
}

/// The number of this thread, or of the one on whose behalf it works. No other thread of the
/// process ever gets the same number.
pub(crate) fn this_thread() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(NO_THREAD + 1);
    NUMBER.with(|number| {
        if number.get() == NO_THREAD {
            number.set(NEXT.fetch_add(1, Ordering::Relaxed));
        }
        number.get()
    })
}

/// Makes a call as if another thread made it.
fn on_behalf_of<T>(thread: u64, call: impl FnOnce() -> T) -> T {
    struct Restored(u64);
    impl Drop for Restored {
        fn drop(&mut self) {
            NUMBER.with(|number| number.set(self.0));
        }
    }
    let _restored = Restored(NUMBER.with(|number| number.replace(thread)));
    call()
}

/// Waits a moment for another thread. A thread of a pool helps the others of its pool meanwhile:
/// what is waited for may need them.
///
/// Each task that it helps with may wait in the same way, in the frames above. So many of them may;
/// a thread with more of them only waits.
pub(crate) fn wait_a_moment() {
    const MOST_ABOVE: u32 = 16;
    const MOMENT: Duration = Duration::from_millis(1);
    thread_local! {
        static HELPING: Cell<u32> = const { Cell::new(0) };
    }
    let above = HELPING.with(Cell::get);
    if above < MOST_ABOVE {
        HELPING.with(|helping| helping.set(above + 1));
        let helped = rayon::yield_now();
        HELPING.with(|helping| helping.set(above));
        if helped == Some(rayon::Yield::Executed) {
            return;
        }
    }
    std::thread::sleep(MOMENT);
}

/// Whether this process was forked from one that had called [`with_threads`] or this function.
pub fn is_forked() -> bool {
    static FIRST: AtomicU32 = AtomicU32::new(0);
    let me = process::id();
    let first = FIRST.compare_exchange(0, me, Ordering::SeqCst, Ordering::SeqCst);
    first.is_err() && first != Err(me)
}
