//! What the calls of a thread use, and who waits for them.

use crate::opened::Open;
use crate::process::{Own, detached};
use pyo3::Python;
use std::cell::RefCell;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many threads do what with an index now. These are no locks, which a forked child could find
/// locked.
#[derive(Debug, Default)]
pub(crate) struct Threads {
    /// Those that run Python code inside a call that uses the index.
    pub(crate) calling: AtomicUsize,
    /// Those that want the index for themselves and wait for the calls of others.
    pub(crate) taking: AtomicUsize,
    /// Those that wait for the index, or for their turn to write to it.
    pub(crate) waiting: AtomicUsize,
}

/// A thread that is counted until this is dropped.
pub(crate) struct Counted<'t>(&'t AtomicUsize);

impl<'t> Counted<'t> {
    pub(crate) fn new(count: &'t AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(count)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// An index that a call of this thread uses.
struct Use {
    threads: Arc<Threads>,
    /// The index, if others may use it too; `None` if the call has it for itself.
    open: Option<Arc<Own<Open>>>,
}

impl Use {
    /// Whether another thread waits for the end of the call.
    fn is_in_the_way(&self) -> bool {
        let waiting = match self.open {
            Some(_) => &self.threads.taking,
            None => &self.threads.waiting,
        };
        waiting.load(Ordering::SeqCst) > 0
    }
}

thread_local! {
    /// The indexes that calls of this thread use: one entry a call.
    static IN_USE: RefCell<Vec<Use>> = const { RefCell::new(Vec::new()) };
}

/// Marks an index as used by a call of this thread. Python code that the call runs, such as a
/// progress function or a handler of signals, may use the index too, but cannot have it for itself.
pub(crate) struct InUse {
    threads: Arc<Threads>,
    /// It ends on the thread on which it began.
    of_thread: PhantomData<*const ()>,
}

impl InUse {
    /// Marks an index that others may use too, or one that the call has for itself.
    pub(crate) fn new(threads: &Arc<Threads>, open: Option<Arc<Own<Open>>>) -> Self {
        let threads = Arc::clone(threads);
        IN_USE.with_borrow_mut(|used| used.push(Use { threads: Arc::clone(&threads), open }));
        Self { threads, of_thread: PhantomData }
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        let ended = IN_USE.with_borrow_mut(|used| {
            let at = used.iter().rposition(|used| Arc::ptr_eq(&used.threads, &self.threads));
            at.map(|at| used.remove(at))
        });
        // After a `close` that was interrupted, the last call closes the file, which takes time.
        if let Some(closed) = ended.and_then(|used| Arc::into_inner(used.open?)) {
            Python::attach(|py| detached(py, || drop(closed)));
        }
    }
}

/// The open index, if a call of this thread uses it and others may use it too.
pub(crate) fn used_here(threads: &Arc<Threads>) -> Option<Arc<Own<Open>>> {
    IN_USE.with_borrow(|used| {
        let mut of_this = used.iter().filter(|used| Arc::ptr_eq(&used.threads, threads));
        of_this.find_map(|used| used.open.clone())
    })
}

/// Whether another thread waits for the end of a call of this thread, which then must not wait.
pub(crate) fn others_wait() -> bool {
    IN_USE.with_borrow(|used| used.iter().any(Use::is_in_the_way))
}

/// Python code that the calls of this thread run, until this is dropped.
pub(crate) struct Callback {
    of: Vec<Arc<Threads>>,
}

impl Callback {
    pub(crate) fn begin() -> Self {
        let of = |used: &Vec<Use>| used.iter().map(|used| Arc::clone(&used.threads)).collect();
        let of: Vec<Arc<Threads>> = IN_USE.with_borrow(of);
        for threads in &of {
            threads.calling.fetch_add(1, Ordering::SeqCst);
        }
        Self { of }
    }
}

impl Drop for Callback {
    fn drop(&mut self) {
        for threads in &self.of {
            threads.calling.fetch_sub(1, Ordering::SeqCst);
        }
    }
}
