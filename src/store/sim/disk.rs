//! A disk in memory, for tests: it remembers every write, forgets what was not synced, and fails
//! when it is told to.

use crate::store::engine::lock;
use redb::StorageBackend;
use std::io;
use std::sync::{Arc, Mutex};

/// What one write leaves whole or not at all.
const SECTOR: usize = 512;

/// What was done to a disk.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    Write {
        at: u64,
        bytes: Vec<u8>,
    },
    Resize(u64),
    Sync,
    /// So many steps of the workload have returned.
    Done(usize),
}

/// A call of the storage to its disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    Read,
    Write,
    Resize,
    Sync,
}

/// Which call fails.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trouble {
    /// The kind of the call.
    pub(crate) call: Call,
    /// How many of them go well before.
    pub(crate) after: u64,
    /// Whether all later ones fail too.
    pub(crate) lasting: bool,
}

#[derive(Debug, Default)]
struct Content {
    bytes: Vec<u8>,
    /// What was done, if it is recorded.
    events: Option<Vec<Event>>,
    trouble: Option<Trouble>,
    /// The calls that have failed.
    failures: u64,
}

/// A disk; clones are the same one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Disk(Arc<Mutex<Content>>);

impl Disk {
    /// What messages call it.
    pub(crate) const NAME: &str = "disk.twx";

    /// A disk that holds these bytes.
    pub(crate) fn with(bytes: Vec<u8>) -> Self {
        Self(Arc::new(Mutex::new(Content { bytes, ..Content::default() })))
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        lock(&self.0).bytes.clone()
    }

    /// Records all events from now on.
    pub(crate) fn record(&self) {
        lock(&self.0).events = Some(Vec::new());
    }

    /// What was recorded.
    pub(crate) fn events(&self) -> Vec<Event> {
        lock(&self.0).events.take().unwrap_or_default()
    }

    /// Notes that so many steps have returned.
    pub(crate) fn done(&self, steps: usize) {
        lock(&self.0).note(Event::Done(steps));
    }

    /// Fails from now on as it says, or no longer.
    pub(crate) fn set_trouble(&self, trouble: Option<Trouble>) {
        let mut content = lock(&self.0);
        content.trouble = trouble;
        content.failures = 0;
    }

    /// How many calls have failed since trouble was set.
    pub(crate) fn failures(&self) -> u64 {
        lock(&self.0).failures
    }
}

impl Content {
    fn note(&mut self, event: Event) {
        if let Some(events) = &mut self.events {
            events.push(event);
        }
    }

    /// Counts a call down to the one that fails.
    fn call(&mut self, call: Call) -> io::Result<()> {
        let Some(trouble) = self.trouble.as_mut().filter(|trouble| trouble.call == call) else {
            return Ok(());
        };
        match trouble.after.checked_sub(1) {
            Some(left) => {
                trouble.after = left;
                Ok(())
            }
            None => {
                if !trouble.lasting {
                    self.trouble = None;
                }
                self.failures += 1;
                Err(io::Error::other("the disk fails"))
            }
        }
    }

    fn write(&mut self, at: u64, bytes: &[u8]) {
        let place = self.bytes.get_mut(at as usize..).and_then(|rest| rest.get_mut(..bytes.len()));
        place.expect("within the file").copy_from_slice(bytes);
        if self.events.is_some() {
            self.note(Event::Write { at, bytes: bytes.to_vec() });
        }
    }
}

impl StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        Ok(lock(&self.0).bytes.len() as u64)
    }

    fn read(&self, at: u64, out: &mut [u8]) -> io::Result<()> {
        let mut content = lock(&self.0);
        content.call(Call::Read)?;
        let stored = content.bytes.get(at as usize..).and_then(|rest| rest.get(..out.len()));
        out.copy_from_slice(stored.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        let mut content = lock(&self.0);
        content.call(Call::Resize)?;
        content.bytes.resize(length as usize, 0);
        content.note(Event::Resize(length));
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut content = lock(&self.0);
        content.call(Call::Sync)?;
        content.note(Event::Sync);
        Ok(())
    }

    fn write(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let mut content = lock(&self.0);
        let failed = content.call(Call::Write);
        // A write that fails has happened in part.
        let written = if failed.is_ok() { bytes.len() } else { bytes.len() / 2 };
        content.write(at, bytes.split_at(written).0);
        failed
    }
}

/// How much of what was not synced is on the disk after a crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Nothing.
    Lost,
    /// Everything.
    Kept,
    /// Any of it, in any order, each write whole.
    Shuffled,
    /// Any sectors of it, in any order.
    Torn,
}

/// A disk on the way through its events.
#[derive(Clone, Debug)]
pub(crate) struct Crash<'e> {
    synced: Vec<u8>,
    /// Writes and changes of length since the last sync.
    pending: Vec<&'e Event>,
    done: usize,
}

impl<'e> Crash<'e> {
    /// Before the first event.
    pub(crate) fn new(start: Vec<u8>) -> Self {
        Self { synced: start, pending: Vec::new(), done: 0 }
    }

    /// Steps of the workload that have returned.
    pub(crate) fn done(&self) -> usize {
        self.done
    }

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

    /// What is on the disk if it crashes here.
    ///
    /// Changes of length are kept in order, up to one of them, as file systems do; a write is
    /// lost where the file does not reach.
    pub(crate) fn image(&self, fate: Fate, random: &mut fastrand::Rng) -> Vec<u8> {
        let lengths: Vec<(usize, u64)> = self
            .pending
            .iter()
            .enumerate()
            .filter_map(|(at, event)| match event {
                Event::Resize(length) => Some((at, *length)),
                _ => None,
            })
            .collect();
        let kept = match fate {
            Fate::Lost => 0,
            Fate::Kept => lengths.len(),
            Fate::Shuffled | Fate::Torn => random.usize(..=lengths.len()),
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
            // What a later change of length cut off does not come back.
            let cut = lengths.iter().filter(|(when, _)| *when > number).map(|(_, length)| *length);
            let end = cut.min().map_or(usize::MAX, |length| length as usize);
            let bytes = bytes.split_at(bytes.len().min(end.saturating_sub(at))).0;
            match fate {
                Fate::Lost => {}
                Fate::Kept => writes.push((at, bytes)),
                Fate::Shuffled => writes.extend(random.bool().then_some((at, bytes))),
                Fate::Torn => {
                    let sectors = bytes.chunks(SECTOR).enumerate();
                    let sectors = sectors.map(|(sector, bytes)| (at + sector * SECTOR, bytes));
                    writes.extend(sectors.filter(|_| random.bool()));
                }
            }
        }
        if fate != Fate::Kept {
            random.shuffle(&mut writes);
        }
        writes.into_iter().for_each(|(at, bytes)| put(&mut image, at, bytes));
        image
    }
}

/// Writes the bytes as far as the file reaches.
fn put(file: &mut [u8], at: usize, bytes: &[u8]) {
    if let Some(place) = file.get_mut(at..) {
        let length = bytes.len().min(place.len());
        place.split_at_mut(length).0.copy_from_slice(bytes.split_at(length).0);
    }
}
