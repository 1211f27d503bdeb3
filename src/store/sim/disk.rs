//! A disk in memory, for tests. It records every write, can lose unsynced writes in a simulated
//! crash, and fails on request.

use crate::store::lock::lock;
use crate::store::sim::locks::{Locks, Opening, range};
use redb::{BackendError, StorageBackend};
use std::fmt;
use std::io;
use std::ops::Bound;
use std::sync::{Arc, Mutex};

/// The bytes that a disk writes atomically.
const SECTOR: usize = 512;

/// An event in the life of a disk.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    Write {
        at: u64,
        bytes: Vec<u8>,
    },
    Resize(u64),
    Sync,
    /// The number of steps of the workload that have returned.
    Done(usize),
}

/// The kind of a call from redb to its disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    Read,
    Write,
    Resize,
    Sync,
}

/// A failure to inject: which call fails.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DiskFailure {
    /// The kind of the call.
    pub(crate) call: Call,
    /// The number of calls of this kind that succeed before.
    pub(crate) after: u64,
    /// Whether all later calls of this kind fail too.
    pub(crate) lasting: bool,
}

#[derive(Debug, Default)]
struct DiskState {
    bytes: Vec<u8>,
    /// The recorded events; `None` unless recording is on.
    events: Option<Vec<Event>>,
    failure: Option<DiskFailure>,
    /// The number of calls that have failed.
    failures: u64,
    /// What a sync that fails may lose; `None` unless one is to fail.
    unsynced: Option<Pending>,
    locks: Locks,
}

/// What was written since the last sync.
#[derive(Debug)]
struct Pending {
    /// The contents of the disk at that sync.
    synced: Vec<u8>,
    /// Writes and changes of length since then.
    events: Vec<Event>,
}

/// A disk. Clones share it and its locks, as the handles of one opening share a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Disk {
    state: Arc<Mutex<DiskState>>,
    opening: Opening,
    before_call: BeforeCall,
}

impl Disk {
    /// The path of the disk in messages.
    pub(crate) const NAME: &str = "disk.twx";

    /// A disk that holds these bytes.
    pub(crate) fn with(bytes: Vec<u8>) -> Self {
        let state = DiskState { bytes, ..DiskState::default() };
        Self { state: Arc::new(Mutex::new(state)), ..Self::default() }
    }

    /// The same disk as another process opens it.
    pub(crate) fn peer(&self) -> Self {
        let opening = lock(&self.state).locks.new_opening();
        Self { state: Arc::clone(&self.state), opening, before_call: BeforeCall::default() }
    }

    /// Calls a function before each call of this opening. The function may use the disk: its own
    /// calls do not call it again.
    pub(crate) fn before_each_call(&self, function: impl FnMut() + Send + 'static) {
        *lock(&self.before_call.0) = Some(Box::new(function));
    }

    /// Calls no function any more.
    pub(crate) fn stop_calling(&self) {
        lock(&self.before_call.0).take();
    }

    fn begin_call(&self) {
        let function = lock(&self.before_call.0).take();
        if let Some(mut function) = function {
            function();
            lock(&self.before_call.0).get_or_insert(function);
        }
    }

    /// Whether another opening could not lock the header now.
    pub(crate) fn has_locked_header(&self) -> bool {
        lock(&self.state).locks.are_taken(0..320)
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        lock(&self.state).bytes.clone()
    }

    /// Records all events from now on.
    pub(crate) fn record(&self) {
        lock(&self.state).events = Some(Vec::new());
    }

    /// Takes the recorded events and ends the recording.
    pub(crate) fn events(&self) -> Vec<Event> {
        lock(&self.state).events.take().unwrap_or_default()
    }

    /// Records the number of steps that have returned.
    pub(crate) fn done(&self, steps: usize) {
        lock(&self.state).record(Event::Done(steps));
    }

    /// Injects a failure from now on, or none. What was written before counts as synced.
    pub(crate) fn set_failure(&self, failure: Option<DiskFailure>) {
        let mut state = lock(&self.state);
        state.failure = failure;
        state.failures = 0;
        let fails_to_sync = failure.is_some_and(|failure| failure.call == Call::Sync);
        let synced = fails_to_sync.then(|| state.bytes.clone());
        state.unsynced = synced.map(|synced| Pending { synced, events: Vec::new() });
    }

    /// The number of calls that have failed since the last `set_failure`.
    pub(crate) fn failures(&self) -> u64 {
        lock(&self.state).failures
    }
}

/// What a test does before each call of an opening.
#[derive(Clone, Default)]
struct BeforeCall(Arc<Mutex<Option<Act>>>);

type Act = Box<dyn FnMut() + Send>;

impl fmt::Debug for BeforeCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BeforeCall")
    }
}

impl DiskState {
    /// Adds an event if recording is on, or a sync is to fail.
    fn record(&mut self, event: Event) {
        if let Some(pending) = &mut self.unsynced {
            pending.events.push(event.clone());
        }
        if let Some(events) = &mut self.events {
            events.push(event);
        }
    }

    /// Syncs the disk. If that fails, only some of what was written since the last sync is on the
    /// disk, and no later sync tries again: so does Linux with pages that it could not write.
    fn sync(&mut self) -> io::Result<()> {
        let outcome = self.call(Call::Sync);
        if let Some(Pending { synced, events }) = &mut self.unsynced {
            if outcome.is_err() {
                let mut random = fastrand::Rng::with_seed(events.len() as u64);
                let mut replay = CrashReplay::new(std::mem::take(synced));
                events.iter().for_each(|event| replay.pass(event));
                let length = self.bytes.len();
                self.bytes = replay.image(Unsynced::Shuffled, &mut random);
                self.bytes.resize(length, 0);
            }
            synced.clone_from(&self.bytes);
            events.clear();
        }
        outcome
    }

    /// Counts a call, and fails if the injected failure is due.
    fn call(&mut self, call: Call) -> io::Result<()> {
        let Some(failure) = self.failure.as_mut().filter(|failure| failure.call == call) else {
            return Ok(());
        };
        match failure.after.checked_sub(1) {
            Some(left) => {
                failure.after = left;
                Ok(())
            }
            None => {
                if !failure.lasting {
                    self.failure = None;
                }
                self.failures += 1;
                Err(io::Error::other("the disk fails"))
            }
        }
    }

    fn write(&mut self, at: u64, bytes: &[u8]) {
        let place = self.bytes.get_mut(at as usize..).and_then(|rest| rest.get_mut(..bytes.len()));
        place.expect("within the file").copy_from_slice(bytes);
        if self.events.is_some() || self.unsynced.is_some() {
            self.record(Event::Write { at, bytes: bytes.to_vec() });
        }
    }
}

impl StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        self.begin_call();
        Ok(lock(&self.state).bytes.len() as u64)
    }

    fn read(&self, at: u64, out: &mut [u8]) -> io::Result<()> {
        self.begin_call();
        let mut state = lock(&self.state);
        state.call(Call::Read)?;
        let stored = state.bytes.get(at as usize..).and_then(|rest| rest.get(..out.len()));
        out.copy_from_slice(stored.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.begin_call();
        let mut state = lock(&self.state);
        state.call(Call::Resize)?;
        state.bytes.resize(length as usize, 0);
        state.record(Event::Resize(length));
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        self.begin_call();
        let mut state = lock(&self.state);
        state.sync()?;
        state.record(Event::Sync);
        Ok(())
    }

    fn write(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.begin_call();
        let mut state = lock(&self.state);
        let outcome = state.call(Call::Write);
        // A failed write has changed half of the bytes.
        let written = if outcome.is_ok() { bytes.len() } else { bytes.len() / 2 };
        state.write(at, bytes.split_at(written).0);
        outcome
    }

    fn close(&self) -> io::Result<()> {
        lock(&self.state).locks.release(self.opening);
        Ok(())
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.begin_call();
        Ok(lock(&self.state).locks.take(self.opening, range(start, end), true))
    }

    fn try_lock_shared_range(
        &self,
        start: Bound<u64>,
        end: Bound<u64>,
    ) -> Result<bool, BackendError> {
        self.begin_call();
        Ok(lock(&self.state).locks.take(self.opening, range(start, end), false))
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        while !self.try_lock_range(start, end)? {
            std::thread::yield_now();
        }
        Ok(())
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        while !self.try_lock_shared_range(start, end)? {
            std::thread::yield_now();
        }
        Ok(())
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.begin_call();
        lock(&self.state).locks.unlock(self.opening, &range(start, end));
        Ok(())
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.begin_call();
        Ok(lock(&self.state).locks.are_taken_by_others(self.opening, &range(start, end)))
    }
}

/// What a crash does to unsynced writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unsynced {
    /// All are lost.
    Lost,
    /// All reach the disk.
    Kept,
    /// Some reach the disk, in any order, each of them whole.
    Shuffled,
    /// Some of their sectors reach the disk, in any order.
    Torn,
}

/// Replays the events of a disk up to a crash.
#[derive(Clone, Debug)]
pub(crate) struct CrashReplay<'e> {
    synced: Vec<u8>,
    /// Writes and changes of length since the last sync.
    pending: Vec<&'e Event>,
    done: usize,
}

impl<'e> CrashReplay<'e> {
    /// A replay before the first event.
    pub(crate) fn new(start: Vec<u8>) -> Self {
        Self { synced: start, pending: Vec::new(), done: 0 }
    }

    /// The number of steps of the workload that have returned.
    pub(crate) fn done(&self) -> usize {
        self.done
    }

    /// Replays the next event.
    pub(crate) fn pass(&mut self, event: &'e Event) {
        match event {
            Event::Write { .. } | Event::Resize(_) => self.pending.push(event),
            Event::Done(steps) => self.done = *steps,
            Event::Sync => {
                for event in self.pending.drain(..) {
                    match event {
                        Event::Resize(length) => self.synced.resize(*length as usize, 0),
                        Event::Write { at, bytes } => put(&mut self.synced, *at as usize, bytes),
                        Event::Sync | Event::Done(_) => {}
                    }
                }
            }
        }
    }

    /// The contents of the disk after a crash at this point.
    ///
    /// Changes of length survive in order, up to one of them, as in file systems. Bytes written
    /// beyond the end of the file are lost.
    pub(crate) fn image(&self, unsynced: Unsynced, random: &mut fastrand::Rng) -> Vec<u8> {
        let lengths: Vec<(usize, u64)> = self
            .pending
            .iter()
            .enumerate()
            .filter_map(|(at, event)| match event {
                Event::Resize(length) => Some((at, *length)),
                _ => None,
            })
            .collect();
        let kept = match unsynced {
            Unsynced::Lost => 0,
            Unsynced::Kept => lengths.len(),
            Unsynced::Shuffled | Unsynced::Torn => random.usize(..=lengths.len()),
        };
        let lengths = lengths.split_at(kept).0;
        let mut image = self.synced.clone();
        for (_, length) in lengths {
            image.resize(*length as usize, 0);
        }
        let mut writes: Vec<(usize, &[u8])> = Vec::new();
        for (number, event) in self.pending.iter().enumerate() {
            let Event::Write { at, bytes } = event else { continue };
            let at = *at as usize;
            // Bytes that a later change of length cut off do not reappear.
            let cut = lengths.iter().filter(|(when, _)| *when > number).map(|(_, length)| *length);
            let end = cut.min().map_or(usize::MAX, |length| length as usize);
            let bytes = bytes.split_at(bytes.len().min(end.saturating_sub(at))).0;
            match unsynced {
                Unsynced::Lost => {}
                Unsynced::Kept => writes.push((at, bytes)),
                Unsynced::Shuffled => writes.extend(random.bool().then_some((at, bytes))),
                Unsynced::Torn => {
                    let sectors = bytes.chunks(SECTOR).enumerate();
                    let sectors = sectors.map(|(sector, bytes)| (at + sector * SECTOR, bytes));
                    writes.extend(sectors.filter(|_| random.bool()));
                }
            }
        }
        if unsynced != Unsynced::Kept {
            random.shuffle(&mut writes);
        }
        writes.into_iter().for_each(|(at, bytes)| put(&mut image, at, bytes));
        image
    }
}

/// Writes the bytes that lie within the file.
fn put(file: &mut [u8], at: usize, bytes: &[u8]) {
    if let Some(place) = file.get_mut(at..) {
        let length = bytes.len().min(place.len());
        place.split_at_mut(length).0.copy_from_slice(bytes.split_at(length).0);
    }
}
