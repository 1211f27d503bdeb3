//! Threads that share out work, also in a process that was forked.

use rayon::{ThreadPool, ThreadPoolBuilder};
use std::cell::Cell;
use std::process;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

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
    // A thread that works for such a call has threads.
    if !is_forked() || rayon::current_thread_index().is_some() {
        return call();
    }
    let caller = this_thread();
    match PoolOfChild::take() {
        Some(pool) => pool.threads.install(|| on_behalf_of(caller, call)),
        None => call(),
    }
}

/// The threads for one call at a time in a forked process, kept for the next one. Each call has
/// some of its own: one that waits for another call must not take that one's threads.
struct PoolOfChild {
    threads: Arc<ThreadPool>,
}

/// The pools that no call uses, and the process that has made them.
struct IdlePools {
    owner: u32,
    idle: Vec<Arc<ThreadPool>>,
    made: usize,
}

static IDLE: Mutex<Option<IdlePools>> = Mutex::new(None);

impl PoolOfChild {
    /// The threads of a call in the first pool are as many as there are cores; calls beside it have
    /// fewer.
    const BESIDE: usize = 2;

    /// Takes a pool, or makes one; `None` if the system gives no threads.
    fn take() -> Option<Self> {
        let builder = match Self::take_idle() {
            Ok(threads) => return Some(Self { threads }),
            Err(0) => ThreadPoolBuilder::new(),
            Err(_) => ThreadPoolBuilder::new().num_threads(Self::BESIDE),
        };
        // Threads take long to start. A fork meanwhile must not find the pools locked.
        match builder.build() {
            Ok(made) => Some(Self { threads: Arc::new(made) }),
            Err(_) => {
                let mut pools = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
                pools.iter_mut().for_each(|pools| pools.made -= 1);
                None
            }
        }
    }

    /// Takes a pool that no call uses. Otherwise counts one that is to be made, and returns how
    /// many were before it.
    fn take_idle() -> Result<Arc<ThreadPool>, usize> {
        let me = process::id();
        let mut pools = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
        if pools.as_ref().is_some_and(|pools| pools.owner != me) {
            // Their threads do not exist here, so nobody would answer when they are told to end.
            std::mem::forget(pools.take());
        }
        let none = || IdlePools { owner: me, idle: Vec::new(), made: 0 };
        let pools = pools.get_or_insert_with(none);
        pools.idle.pop().ok_or_else(|| {
            pools.made += 1;
            pools.made - 1
        })
    }
}

impl Drop for PoolOfChild {
    fn drop(&mut self) {
        let mut pools = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pools) = pools.as_mut().filter(|pools| pools.owner == process::id()) {
            pools.idle.push(Arc::clone(&self.threads));
        }
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

/// Whether this process was forked from one that had called [`with_threads`] or this function.
pub fn is_forked() -> bool {
    static FIRST: AtomicU32 = AtomicU32::new(0);
    let me = process::id();
    let first = FIRST.compare_exchange(0, me, Ordering::SeqCst, Ordering::SeqCst);
    first.is_err() && first != Err(me)
}
