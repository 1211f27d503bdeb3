//! An open file, shared by the objects of Python that use it.

use crate::calls::{Counted, InUse, Threads, others_wait, used_here};
use crate::error::{named, raise};
use crate::opened::Open;
use crate::process::{Own, detached, forked};
use crate::turn::{Held, Turn, locked};
use crate::waiting::wait_for;
use pyo3::prelude::*;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};
use twindex::{Index, WriteTxn};

/// The open file, until it is closed.
pub(crate) struct Handle {
    path: PathBuf,
    /// The process that opened it. What other threads of it do is unknown to a forked child, which
    /// would wait for them for ever.
    process: u32,
    access: Mutex<Access>,
    changed: Condvar,
    threads: Arc<Threads>,
    turn: Arc<Turn>,
    /// The transaction that was begun last.
    begun: Mutex<Weak<dyn Abort>>,
}

/// Who may use the index.
enum Access {
    /// Everybody. Calls keep a copy while they use it.
    All(Arc<Own<Open>>),
    /// Those that use it. A call of this thread, which needs the index for itself, waits for them.
    Wanted(ThreadId, Weak<Own<Open>>),
    /// A call of this thread, which has the index for itself.
    One(ThreadId),
    /// Nobody: it is closed.
    Nobody,
}

/// Why a thread does not get an index, or its turn to write.
enum Refusal {
    /// A call of the same thread has it for itself, or another thread waits for one to end.
    Taken,
    Closed,
    /// The time is over.
    InTime,
}

/// How long to wait.
#[derive(Clone, Copy, Default)]
struct Wait {
    /// When it ends, if ever.
    end: Option<Instant>,
}

impl Wait {
    fn new(wait: Option<Duration>) -> Self {
        // What is too far away for a clock is waited for without end.
        Self { end: wait.and_then(|wait| Instant::now().checked_add(wait)) }
    }

    /// The shorter one of this time and what is left.
    fn at_most(self, tick: Duration) -> Duration {
        self.end.map_or(tick, |end| end.saturating_duration_since(Instant::now()).min(tick))
    }

    fn is_over(self) -> bool {
        self.end.is_some_and(|end| end <= Instant::now())
    }
}

/// An index that a call has for itself. It goes back when the call ends, also in a panic.
struct Taken<'h> {
    handle: &'h Handle,
    own: Option<Own<Open>>,
    _in_use: InUse,
}

impl<'h> Taken<'h> {
    fn new(handle: &'h Handle, own: Own<Open>) -> Self {
        handle.set(Access::One(thread::current().id()));
        Self { handle, own: Some(own), _in_use: InUse::new(&handle.threads, None) }
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        let own = self.own.take();
        self.handle.set(own.map_or(Access::Nobody, |own| Access::All(Arc::new(own))));
    }
}

/// A transaction that can be undone from outside.
pub(crate) trait Abort: Send + Sync {
    /// Undoes the transaction and returns its turn, or `None` if it has ended. Fails if it is in
    /// use.
    fn abort(&self) -> Result<Option<Held>, InUseByACall>;
}

/// A call that has not ended uses the transaction.
pub(crate) struct InUseByACall;

impl Handle {
    pub(crate) fn new(open: Open) -> Self {
        let path = match &open {
            Open::Writable(index) => index.path(),
            Open::ReadOnly(index) => index.path(),
        };
        Self {
            path: path.to_owned(),
            process: process::id(),
            access: Mutex::new(Access::All(Arc::new(Own::new(open)))),
            changed: Condvar::new(),
            threads: Arc::default(),
            turn: Arc::new(Turn::default()),
            begun: Mutex::new(Weak::<Never>::new()),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Marks the index as used by a call of this thread.
    pub(crate) fn in_use(&self, open: &Arc<Own<Open>>) -> InUse {
        InUse::new(&self.threads, Some(Arc::clone(open)))
    }

    /// The open index. Waits while another thread has it for itself.
    pub(crate) fn open(&self, py: Python<'_>) -> PyResult<Arc<Own<Open>>> {
        self.open_within(py, Wait::default())
    }

    /// Likewise, for at most this time.
    fn open_within(&self, py: Python<'_>, wait: Wait) -> PyResult<Arc<Own<Open>>> {
        if self.is_of_parent() {
            return Err(forked());
        }
        let used = used_here(&self.threads).map(|open| Some(Ok(open)));
        match used.unwrap_or_else(|| self.given(&locked(&self.access))) {
            Some(given) => given.map_err(|refusal| self.refused(refusal)),
            None => self.wait(py, wait, |tick| {
                let access = locked(&self.access);
                let waited = self.changed.wait_timeout(access, tick);
                let access = waited.unwrap_or_else(PoisonError::into_inner).0;
                self.given(&access)
            }),
        }
    }

    /// The index for this thread, or why it does not get it; `None` if it has to wait.
    fn given(&self, access: &Access) -> Option<Result<Arc<Own<Open>>, Refusal>> {
        let is_mine = |thread: &ThreadId| *thread == thread::current().id();
        match access {
            Access::All(open) => Some(Ok(Arc::clone(open))),
            Access::Wanted(thread, _) | Access::One(thread) if is_mine(thread) => {
                Some(Err(Refusal::Taken))
            }
            // A call that runs Python code, such as a progress function, may wait for this thread.
            // Whoever wants the index waits for that call in any case.
            Access::Wanted(_, open) if self.threads.calling.load(Ordering::SeqCst) > 0 => {
                open.upgrade().map(Ok)
            }
            Access::Wanted(..) | Access::One(_) => None,
            Access::Nobody => Some(Err(Refusal::Closed)),
        }
    }

    /// Waits until `ready` gives something, or until the time is over. Refuses to wait while
    /// another thread waits for a call of this one, which may be whom this one would wait for.
    fn wait<T: Send>(
        &self,
        py: Python<'_>,
        wait: Wait,
        mut ready: impl FnMut(Duration) -> Option<Result<T, Refusal>> + Send,
    ) -> PyResult<T> {
        let _waiting = Counted::new(&self.threads.waiting);
        let given = wait_for(py, |tick| {
            ready(wait.at_most(tick)).or_else(|| {
                if others_wait() {
                    Some(Err(Refusal::Taken))
                } else {
                    wait.is_over().then_some(Err(Refusal::InTime))
                }
            })
        })?;
        given.map_err(|refusal| self.refused(refusal))
    }

    /// Does something with the index that is open for writing.
    pub(crate) fn writing<T>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Index) -> PyResult<T>,
    ) -> PyResult<T> {
        match self.open(py)?.get()? {
            Open::Writable(index) => work(index),
            Open::ReadOnly(_) => Err(self.read_only()),
        }
    }

    /// Does something that needs the index for itself, when the transactions and calls of other
    /// threads have ended.
    pub(crate) fn alone<T>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Index) -> PyResult<T>,
    ) -> PyResult<T> {
        self.check_unused()?;
        let _held = self.wait_for_turn(py)?;
        let me = thread::current().id();
        let open = self.take(py, |open| Access::Wanted(me, open))?;
        let own = self.sole(py, open).map_err(|(open, error)| {
            self.set(Access::All(open));
            error
        })?;
        let mut taken = Taken::new(self, own);
        match taken.own.as_mut().ok_or_else(|| self.closed())?.get_mut()? {
            Open::Writable(index) => work(index),
            Open::ReadOnly(_) => Err(self.read_only()),
        }
    }

    /// Closes the file, when the transactions and calls of other threads have ended. Undoes a
    /// transaction of this thread. Does nothing if the file is closed.
    ///
    /// Until the turn to write has come, the index is open to everybody. From then on it is closed,
    /// also if a signal ends the wait for calls: then the last of these closes the file.
    pub(crate) fn close(&self, py: Python<'_>) -> PyResult<()> {
        if self.is_closed() {
            return Ok(());
        }
        self.check_unused()?;
        self.open(py)?.get()?;
        let _held = match self.undo(py)? {
            Some(held) => held,
            None => self.wait_for_turn(py)?,
        };
        let open = self.take(py, |_| Access::Nobody)?;
        let own = self.sole(py, open).map_err(|(open, error)| {
            detached(py, || drop(open));
            error
        })?;
        match own.take()? {
            Open::Writable(index) => detached(py, || index.close()).map_err(raise),
            Open::ReadOnly(index) => {
                detached(py, || drop(index));
                Ok(())
            }
        }
    }

    /// Undoes the transaction of this thread, if there is one, and returns its turn.
    fn undo(&self, py: Python<'_>) -> PyResult<Option<Held>> {
        if !self.turn.is_mine() {
            return Ok(None);
        }
        let begun = locked(&self.begun).upgrade();
        let Some(begun) = begun else { return Ok(None) };
        detached(py, || begun.abort()).map_err(|InUseByACall| self.taken())
    }

    /// Fails if a call of this thread uses the index, which would wait for itself.
    fn check_unused(&self) -> PyResult<()> {
        match used_here(&self.threads) {
            Some(open) => open.get().and(Err(self.taken())),
            None => Ok(()),
        }
    }

    /// Takes the index from everybody, and leaves this instead. Whoever calls it has the turn to
    /// write, so that nobody else takes the index.
    fn take(
        &self,
        py: Python<'_>,
        left: impl FnOnce(Weak<Own<Open>>) -> Access,
    ) -> PyResult<Arc<Own<Open>>> {
        let open = self.open(py)?;
        self.set(left(Arc::downgrade(&open)));
        Ok(open)
    }

    /// Waits until all calls that use the index have ended. Gives it back if a signal ends the
    /// wait, or if another thread waits for a call of this one.
    fn sole(
        &self,
        py: Python<'_>,
        mut open: Arc<Own<Open>>,
    ) -> Result<Own<Open>, (Arc<Own<Open>>, PyErr)> {
        let _taking = Counted::new(&self.threads.taking);
        loop {
            match Arc::try_unwrap(open) {
                Ok(own) => return Ok(own),
                Err(shared) => open = shared,
            }
            py.detach(|| thread::sleep(Duration::from_millis(1)));
            if let Err(error) = py.check_signals() {
                return Err((open, error));
            }
            if others_wait() {
                return Err((open, self.taken()));
            }
        }
    }

    fn set(&self, access: Access) {
        *locked(&self.access) = access;
        self.changed.notify_all();
    }

    /// Whether this process was forked from the one that opened the file.
    pub(crate) fn is_of_parent(&self) -> bool {
        self.process != process::id()
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.access().is_some_and(|access| matches!(*access, Access::Nobody))
    }

    /// Whether a call has the index for itself.
    pub(crate) fn is_taken(&self) -> bool {
        self.access().is_none_or(|access| matches!(*access, Access::Wanted(..) | Access::One(_)))
    }

    /// Who may use the index. `None` if another thread looks at it in a forked child, for which
    /// that thread would look for ever.
    fn access(&self) -> Option<MutexGuard<'_, Access>> {
        if self.is_of_parent() { self.access.try_lock().ok() } else { Some(locked(&self.access)) }
    }

    /// Begins a write transaction, when the one before has ended: after at most this time.
    pub(crate) fn begin_write(
        &self,
        py: Python<'_>,
        wait: Option<Duration>,
    ) -> PyResult<(WriteTxn, Held)> {
        let held = self.wait_for_turn_within(py, Wait::new(wait))?;
        let begun = self.writing(py, |index| detached(py, || index.begin_write()).map_err(raise));
        Ok((begun?, held))
    }

    /// Remembers a transaction, so that `close` can undo it.
    pub(crate) fn has_begun(&self, transaction: Weak<dyn Abort>) {
        *locked(&self.begun) = transaction;
    }

    /// Waits until no transaction of this object writes.
    pub(crate) fn wait_for_turn(&self, py: Python<'_>) -> PyResult<Held> {
        self.wait_for_turn_within(py, Wait::default())
    }

    /// Likewise, for at most this time.
    fn wait_for_turn_within(&self, py: Python<'_>, wait: Wait) -> PyResult<Held> {
        self.open_within(py, wait)?.get()?;
        if self.turn.is_mine() {
            return Err(named(
                "BusyError",
                "this thread has a write transaction of this index: commit or abort it first",
            ));
        }
        self.wait(py, wait, |tick| Turn::take(&self.turn, tick).map(Ok))
    }

    fn refused(&self, refusal: Refusal) -> PyErr {
        match refusal {
            Refusal::Taken => self.taken(),
            Refusal::Closed => self.closed(),
            Refusal::InTime => {
                let path = self.path.display();
                named("BusyError", format!("{path}: in use, and not free in time"))
            }
        }
    }

    fn closed(&self) -> PyErr {
        named("ClosedError", format!("{}: the index is closed", self.path.display()))
    }

    fn taken(&self) -> PyErr {
        let path = self.path.display();
        named("BusyError", format!("{path}: in use by a call that has not ended"))
    }

    fn read_only(&self) -> PyErr {
        let path = self.path.display();
        named("MismatchError", format!("{path}: open for reading only: open it with mode='w'"))
    }
}

/// What never was a transaction.
struct Never;

impl Abort for Never {
    fn abort(&self) -> Result<Option<Held>, InUseByACall> {
        Ok(None)
    }
}
