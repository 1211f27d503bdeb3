//! Threads that share out work, also in a process that was forked.

use rayon::{ThreadPool, ThreadPoolBuilder};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
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
    match pool {
        Some(pool) => pool.install(call),
        None => call(),
    }
}

/// Whether this process was forked from one that had called [`with_threads`] or this function.
pub fn is_forked() -> bool {
    static FIRST: AtomicU32 = AtomicU32::new(0);
    let me = process::id();
    let first = FIRST.compare_exchange(0, me, Ordering::SeqCst, Ordering::SeqCst);
    first.is_err() && first != Err(me)
}
