//! Waiting for other processes that have the file of an index open.

use crate::error::{Error, Result};
use crate::store::Place;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The longest pause between two attempts to open a file that another process has locked: short
/// compared with the life of a process that adds a document, and long compared with the 20 us of an
/// attempt.
const LONGEST_PAUSE: Duration = Duration::from_millis(4);

/// How long to wait for other processes, and what ends the wait.
#[derive(Clone, Debug, Default)]
pub(crate) struct Patience {
    pub(crate) wait: Duration,
    pub(crate) give_up: Option<GiveUp>,
}

/// A question that ends a wait when its answer is `true`.
#[derive(Clone)]
pub(crate) struct GiveUp(pub(crate) Arc<dyn Fn() -> bool + Send + Sync>);

impl fmt::Debug for GiveUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GiveUp")
    }
}

impl Patience {
    /// Retries while another process has the file locked and time is left. This polls, because
    /// operating systems offer no wait for a file lock with a timeout.
    pub(crate) fn open<T>(&self, open: impl FnMut() -> Result<T>) -> Result<T> {
        self.open_in_turn(open, || true)
    }

    /// Like [`open`](Self::open), for those who write to the file: they take turns.
    pub(crate) fn open_to_write<T>(&self, path: &Path, open: impl Fn() -> Result<T>) -> Result<T> {
        if self.wait.is_zero() {
            return open();
        }
        // The first attempt goes by those who wait only if there are none.
        let place = RefCell::new(None);
        let is_joining = Cell::new(true);
        self.open_in_turn(open, || {
            let mut place = place.borrow_mut();
            let Some(joined) = place.get_or_insert_with(|| Place::join(path)) else {
                // There is no file to wait for, or it cannot be written: opening says so.
                place.take();
                return true;
            };
            if is_joining.take() && joined.is_alone() { true } else { joined.move_up() }
        })
    }

    /// Opens the file when it is this process's turn and the file is free.
    fn open_in_turn<T>(
        &self,
        mut open: impl FnMut() -> Result<T>,
        is_turn: impl Fn() -> bool,
    ) -> Result<T> {
        let start = Instant::now();
        let mut pause = Duration::from_millis(1);
        loop {
            let left = self.wait.saturating_sub(start.elapsed());
            let is_last = left.is_zero() || self.give_up.as_ref().is_some_and(|asked| asked.0());
            if is_last || is_turn() {
                match open() {
                    Err(Error::Locked { .. }) if !is_last => {}
                    opened => return opened,
                }
            }
            sleep(pause.min(left));
            pause = (2 * pause).min(LONGEST_PAUSE);
        }
    }
}
