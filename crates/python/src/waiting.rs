//! Long work: Python goes on meanwhile, sees the progress, and can interrupt it.
//!
//! The work runs on a thread of its own. The calling thread waits for it, handles signals and calls
//! Python, so that Python is never called from the library's threads.

use crate::calls::Callback;
use crate::error::{during, named, raise};
use crate::process::detached;
use pyo3::prelude::*;
use std::cell::RefCell;
use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;
use twindex::{Error, ErrorKind, Progress, Work, with_threads};

/// The time between two looks at signals and progress.
const TICK: Duration = Duration::from_millis(50);

/// What long work calls with its progress.
pub(crate) type Tell<'t> = &'t mut dyn FnMut(Progress) -> ControlFlow<()>;

/// Does work of the library. `progress` is called with what is done and the total.
pub(crate) fn watch<T: Send>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: Work<'_, T>,
) -> PyResult<T> {
    run(py, progress, move |tell| work.watch(tell))
}

/// Does any work that tells its progress.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(Tell<'_>) -> twindex::Result<T> + Send,
) -> PyResult<T> {
    let own_process = process::id();
    let progress = progress.map(|callable| callable.clone().unbind());
    let stop = Arc::new(AtomicBool::new(false));
    let (latest, last) = (Mutex::new(None), Mutex::new(None));
    let mut tell = |now: Progress| {
        *latest.lock().unwrap_or_else(PoisonError::into_inner) = Some(now);
        *last.lock().unwrap_or_else(PoisonError::into_inner) = Some(now);
        if stop.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let report = || {
        let now = latest.lock().unwrap_or_else(PoisonError::into_inner).take();
        Python::attach(|py| {
            let _callback = Callback::begin();
            py.check_signals()?;
            match (&progress, now) {
                (Some(progress), Some(now)) => {
                    progress.call1(py, (now.done, now.total)).map(|_: Py<PyAny>| ())
                }
                _ => Ok(()),
            }
        })
    };
    // The last report is often one step old. What has succeeded is done to its end.
    let finish = || {
        let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(now) = &mut *last {
            now.done = now.total;
            *latest.lock().unwrap_or_else(PoisonError::into_inner) = Some(*now);
        }
    };
    py.detach(|| {
        thread::scope(|scope| {
            let (done, finished) = channel();
            let (tell, stop_waiting) = (&mut tell, Arc::clone(&stop));
            let worker = thread::Builder::new().spawn_scoped(scope, move || {
                // In a forked child, the work is on another thread than this one.
                let outcome = with_threads(|| {
                    let before = STOP.replace(Some(stop_waiting));
                    let outcome = work(tell);
                    STOP.set(before);
                    outcome
                });
                // Its receiver lives as long as this scope.
                let _ = done.send(());
                outcome
            });
            let worker = worker.map_err(|error| {
                named("StorageError", format!("the system gives no more threads: {error}"))
            })?;
            let mut raised = None;
            while finished.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                if raised.is_none()
                    && !worker.is_finished()
                    && let Err(error) = report()
                {
                    end_child(own_process, Some(&error));
                    stop.store(true, Ordering::Relaxed);
                    raised = Some(error);
                }
                end_child(own_process, None);
                if worker.is_finished() {
                    break;
                }
            }
            let outcome = worker.join().unwrap_or_else(|panic| resume_unwind(panic));
            match (raised, outcome) {
                (Some(error), Err(failed)) if !is_of_stopping(&failed) => {
                    Err(instead(error, failed))
                }
                (Some(error), _) => Err(error),
                (None, Ok(done)) => {
                    finish();
                    report().map(|()| done)
                }
                (None, Err(failed)) => match report() {
                    Ok(()) => Err(raise(failed)),
                    Err(error) => Err(instead(error, failed)),
                },
            }
        })
    })
}

/// Whether an error says that work was stopped, or that it was stopped in a wait.
fn is_of_stopping(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::Busy)
}

/// An exception of Python, raised in the place of an error of the library.
fn instead(raised: PyErr, failed: Error) -> PyErr {
    Python::attach(|py| during(py, raised, Some(raise(failed))))
}

/// Ends a child that was forked by what the progress function called: the thread that works is in
/// the parent only, and the child would wait for it for ever.
fn end_child(own_process: u32, raised: Option<&PyErr>) {
    if own_process == process::id() {
        return;
    }
    Python::attach(|py| {
        if let Some(raised) = raised {
            raised.display(py);
        }
        let exit = py.import("os").and_then(|os| os.call_method1("_exit", (1,)));
        exit.map_or_else(|error| error.display(py), drop);
    });
}

thread_local! {
    /// Whether the work of this thread shall stop.
    static STOP: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };

    /// The exception of a signal that came while the library asked whether to wait on.
    static SIGNALLED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Whether this thread shall stop waiting for other processes. `IndexOptions::give_up_if` takes it.
/// A thread that works for another one is told by that one.
pub(crate) fn stopped() -> bool {
    let told = STOP.with_borrow(|stop| Some(stop.as_ref()?.load(Ordering::Relaxed)));
    told.unwrap_or_else(signalled)
}

/// Whether a signal asks this thread to stop waiting. In a forked child, the wait is on a thread of
/// the library, which must not call Python.
fn signalled() -> bool {
    if twindex::is_forked() {
        return false;
    }
    match Python::attach(|py| py.check_signals()) {
        Ok(()) => false,
        Err(error) => {
            SIGNALLED.set(Some(error));
            true
        }
    }
}

/// What was opened, unless a signal has ended the wait: then its exception, also if the last
/// attempt succeeded.
pub(crate) fn unless_signalled<T: Send>(py: Python<'_>, opened: twindex::Result<T>) -> PyResult<T> {
    match SIGNALLED.take() {
        None => opened.map_err(raise),
        Some(signal) => {
            detached(py, || drop(opened));
            Err(signal)
        }
    }
}

/// Waits until `ready` gives a value, and handles signals meanwhile.
pub(crate) fn wait_for<T: Send>(
    py: Python<'_>,
    mut ready: impl FnMut(Duration) -> Option<T> + Send,
) -> PyResult<T> {
    loop {
        if let Some(value) = py.detach(|| ready(TICK)) {
            return Ok(value);
        }
        py.check_signals()?;
    }
}
