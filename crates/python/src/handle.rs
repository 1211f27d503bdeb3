//! An open file, shared by the objects of Python that use it.

use crate::error::{named, raise};
use crate::process::{Own, detached, forked};
use crate::waiting::wait_for;
use pyo3::prelude::*;
use std::cell::RefCell;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};
use twindex::{Index, ReadOnlyIndex, Settings, Sketcher, Snapshot, WriteTxn};

/// An open index, for writing or for reading.
pub(crate) enum Open {
    Writable(Index),
    ReadOnly(ReadOnlyIndex),
}

impl Open {
    pub(crate) fn settings(&self) -> &Settings {
        match self {
            Self::Writable(index) => index.settings(),
            Self::ReadOnly(index) => index.settings(),
        }
    }

    pub(crate) fn sketcher(&self) -> &Sketcher {
        match self {
            Self::Writable(index) => index.sketcher(),
            Self::ReadOnly(index) => index.sketcher(),
        }
    }

    pub(crate) fn snapshot(&self) -> twindex::Result<Snapshot> {
        match self {
            Self::Writable(index) => index.snapshot(),
            Self::ReadOnly(index) => index.snapshot(),
        }
    }
}

/// One state of an index.
pub(crate) type Shared = Arc<Own<Snapshot>>;

pub(crate) fn share(snapshot: Snapshot) -> Shared {
    Arc::new(Own::new(snapshot))
}

thread_local! {
    /// The indexes that calls of this thread use, with the addresses of their handles: one entry a
    /// call.
    static IN_USE: RefCell<Vec<(usize, Arc<Own<Open>>)>> = const { RefCell::new(Vec::new()) };
}

/// Marks an index as used by a call of this thread. Python code that the call runs, such as a
/// progress function or a handler of signals, may use the index too, but cannot have it for itself.
pub(crate) struct InUse {
    handle: usize,
    /// It ends on the thread on which it began.
    of_thread: PhantomData<*const ()>,
}

impl InUse {
    pub(crate) fn new(handle: &Handle, open: Arc<Own<Open>>) -> Self {
        let handle = handle.address();
        IN_USE.with_borrow_mut(|used| used.push((handle, open)));
        Self { handle, of_thread: PhantomData }
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        let ended = IN_USE.with_borrow_mut(|used| {
            let at = used.iter().rposition(|(handle, _)| *handle == self.handle);
            at.map(|at| used.remove(at))
        });
        drop(ended);
    }
}

/// The open file, until it is closed.
pub(crate) struct Handle {
    path: PathBuf,
    /// The process that opened it. What other threads of it do is unknown to a forked child, which
    /// would wait for them for ever.
    process: u32,
    access: Mutex<Access>,
    changed: Condvar,
    turn: Arc<Turn>,
    /// The transaction that was begun last.
    begun: Mutex<Weak<dyn Abort>>,
}

/// Who may use the index.
enum Access {
    /// Everybody. Calls keep a copy while they use it.
    All(Arc<Own<Open>>),
    /// A call of this thread, which needs the index for itself.
    One(ThreadId),
    /// Nobody: it is closed.
    Nobody,
}

/// Why a thread does not get an index, or its turn to write.
enum Refusal {
    /// A call of the same thread has it for itself, or another thread waits for one.
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

impl Access {
    /// The index for this thread, or why it does not get it; `None` if it has to wait.
    fn of_this_thread(&self) -> Option<Result<Arc<Own<Open>>, Refusal>> {
        match self {
            Self::All(open) => Some(Ok(Arc::clone(open))),
            Self::One(thread) if *thread == thread::current().id() => Some(Err(Refusal::Taken)),
            Self::One(_) => None,
            Self::Nobody => Some(Err(Refusal::Closed)),
        }
    }
}

/// An index that a call has for itself. It goes back when the call ends, also in a panic.
struct Taken<'h> {
    handle: &'h Handle,
    own: Option<Own<Open>>,
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        let own = self.own.take();
        self.handle.set(own.map_or(Access::Nobody, |own| Access::All(Arc::new(own))));
    }
}

/// A transaction that can be undone from outside.
pub(crate) trait Abort: Send + Sync {
    /// Undoes the transaction; says no if it is in use.
    fn abort(&self) -> bool;
}

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
            turn: Arc::new(Turn::default()),
            begun: Mutex::new(Weak::<Never>::new()),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// The open index, if a call of this thread uses it.
    fn in_use(&self) -> Option<Arc<Own<Open>>> {
        IN_USE.with_borrow(|used| {
            let of_this = used.iter().find(|(handle, _)| *handle == self.address());
            of_this.map(|(_, open)| Arc::clone(open))
        })
    }

    /// The open index. Waits while another thread has it for itself, unless that thread waits for a
    /// call of this one.
    pub(crate) fn open(&self, py: Python<'_>) -> PyResult<Arc<Own<Open>>> {
        self.open_within(py, Wait::default())
    }

    /// Likewise, for at most this time.
    fn open_within(&self, py: Python<'_>, wait: Wait) -> PyResult<Arc<Own<Open>>> {
        if self.process != process::id() {
            return Err(forked());
        }
        let used = self.in_use().map(|open| Some(Ok(open)));
        let at_once = used.unwrap_or_else(|| locked(&self.access).of_this_thread());
        let given = match at_once {
            Some(given) => given,
            None => wait_for(py, |tick| {
                let access = locked(&self.access);
                let waited = self.changed.wait_timeout(access, wait.at_most(tick));
                let access = waited.unwrap_or_else(PoisonError::into_inner).0;
                access.of_this_thread().or_else(|| wait.is_over().then_some(Err(Refusal::InTime)))
            })?,
        };
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
        let own = self.take(py, Access::One(thread::current().id()))?;
        let mut taken = Taken { handle: self, own: Some(own) };
        match taken.own.as_mut().ok_or_else(|| self.closed())?.get_mut()? {
            Open::Writable(index) => work(index),
            Open::ReadOnly(_) => Err(self.read_only()),
        }
    }

    /// Closes the file, when the calls of other threads have ended. Undoes a transaction of this
    /// thread. Does nothing if the file is closed.
    pub(crate) fn close(&self, py: Python<'_>) -> PyResult<()> {
        if self.is_closed() {
            return Ok(());
        }
        self.check_unused()?;
        self.open(py)?.get()?;
        if self.turn.is_mine() {
            let begun = locked(&self.begun).upgrade();
            if begun.is_some_and(|begun| !detached(py, || begun.abort())) {
                return Err(self.taken());
            }
        }
        let _held = self.wait_for_turn(py)?;
        match self.take(py, Access::Nobody)?.take()? {
            Open::Writable(index) => detached(py, || index.close()).map_err(raise),
            Open::ReadOnly(index) => {
                detached(py, || drop(index));
                Ok(())
            }
        }
    }

    /// Fails if a call of this thread uses the index, which would wait for itself.
    fn check_unused(&self) -> PyResult<()> {
        match self.in_use() {
            Some(open) => open.get().and(Err(self.taken())),
            None => Ok(()),
        }
    }

    /// Takes the index from everybody, and leaves this instead.
    fn take(&self, py: Python<'_>, access: Access) -> PyResult<Own<Open>> {
        // Of two threads that want it, one is first.
        let mut open = loop {
            drop(self.open(py)?);
            let mut now = locked(&self.access);
            if let Access::All(open) = &*now {
                let open = Arc::clone(open);
                *now = access;
                break open;
            }
        };
        self.changed.notify_all();
        loop {
            match Arc::try_unwrap(open) {
                Ok(own) => return Ok(own),
                Err(shared) => open = shared,
            }
            py.detach(|| thread::sleep(Duration::from_millis(1)));
            if let Err(error) = py.check_signals() {
                self.set(Access::All(open));
                return Err(error);
            }
        }
    }

    fn set(&self, access: Access) {
        *locked(&self.access) = access;
        self.changed.notify_all();
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.access().is_some_and(|access| matches!(*access, Access::Nobody))
    }

    /// Whether a call has the index for itself.
    pub(crate) fn is_taken(&self) -> bool {
        self.access().is_none_or(|access| matches!(*access, Access::One(_)))
    }

    /// Who may use the index. `None` if another thread looks at it in a forked child, for which
    /// that thread would look for ever.
    fn access(&self) -> Option<MutexGuard<'_, Access>> {
        match self.process == process::id() {
            true => Some(locked(&self.access)),
            false => self.access.try_lock().ok(),
        }
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

    /// Waits until no transaction of this object writes. Fails if another thread wants the index
    /// for itself, and waits for a call of this one.
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
        let in_use = self.in_use().is_some();
        let turn = wait_for(py, |tick| {
            match Turn::take(&self.turn, wait.at_most(tick)) {
                Some(held) => Some(Ok(held)),
                None if wait.is_over() => Some(Err(Refusal::InTime)),
                // Whoever has the turn may wait for the call of this thread.
                None if in_use && !matches!(*locked(&self.access), Access::All(_)) => {
                    Some(Err(Refusal::Taken))
                }
                None => None,
            }
        })?;
        turn.map_err(|refusal| self.refused(refusal))
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
    fn abort(&self) -> bool {
        true
    }
}

/// Nothing that is locked here is kept locked while Python or the library is called. An exception
/// is an object of Python: to make one waits for the interpreter, which another thread may hold
/// while it waits for the lock.
fn locked<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whose turn to write it is.
#[derive(Default)]
pub(crate) struct Turn {
    writer: Mutex<Option<ThreadId>>,
    ended: Condvar,
}

impl Turn {
    fn is_mine(&self) -> bool {
        *locked(&self.writer) == Some(thread::current().id())
    }

    fn take(turn: &Arc<Self>, patience: Duration) -> Option<Held> {
        let writer = locked(&turn.writer);
        let waited = turn.ended.wait_timeout_while(writer, patience, |writer| writer.is_some());
        let (mut writer, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if writer.is_some() {
            return None;
        }
        *writer = Some(thread::current().id());
        Some(Held { turn: Arc::clone(turn), process: process::id() })
    }
}

/// The turn to write. It ends when this is dropped.
pub(crate) struct Held {
    turn: Arc<Turn>,
    process: u32,
}

impl Held {
    /// Records that this thread uses the transaction, so that it is told before it would wait for
    /// itself.
    pub(crate) fn note_use(&self) {
        *locked(&self.turn.writer) = Some(thread::current().id());
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // A forked child may have a copy that another thread had locked.
        if self.process == process::id() {
            *locked(&self.turn.writer) = None;
            self.turn.ended.notify_one();
        }
    }
}
