//! Tests readers beside a writer: several openings of one disk, as those of several processes,
//! whose calls meet in every order.

use crate::index::handle::ReadOnlyIndex;
use crate::index::snapshot::Snapshot;
use crate::index::trials::workload::{
    Expected, Model, Step, TUNING, create_on, number_from, open_on, steps, take,
};
use crate::store::{Disk, Engine, Tuning};
use std::sync::{Arc, Mutex};

/// The seed of the first run: `TWINDEX_FOLLOW_SEED=17` repeats a failed one.
fn first_seed() -> u64 {
    number_from("TWINDEX_FOLLOW_SEED", 1)
}

/// The number of runs.
fn runs() -> u64 {
    number_from("TWINDEX_FOLLOW_RUNS", 3)
}

/// A snapshot and the answers that it must give as long as it lives.
struct Held {
    snapshot: Snapshot,
    expected: Arc<Expected>,
}

/// Processes that read one disk while another process writes it.
struct Readers {
    disk: Disk,
    random: fastrand::Rng,
    open: Vec<ReadOnlyIndex>,
    held: Vec<Held>,
    /// The states that a new snapshot may show: those before and after the step under way.
    allowed: Vec<Arc<Expected>>,
    /// The number of snapshots whose answers were compared.
    compared: u64,
    place: String,
}

fn follow(disk: &Disk) -> ReadOnlyIndex {
    let tuning = Tuning { cache_bytes: 16 << 10, ..TUNING };
    ReadOnlyIndex::new(Engine::follow_on(&disk.peer(), tuning).expect("opened to read"))
        .expect("a reader")
}

fn content(snapshot: &Snapshot) -> String {
    let reader = snapshot.reader();
    reader.state.content(reader.engine().fixed().layout)
}

impl Readers {
    /// Does something that a reader does, unless a writer is in the middle of writing the header,
    /// for which a reader would wait.
    fn act(&mut self) {
        if self.disk.has_locked_header() {
            return;
        }
        match self.random.u32(..12) {
            0 => self.open.push(follow(&self.disk)),
            1 if self.open.len() > 1 => {
                // A reader that is killed leaves no more than one that drops everything.
                let gone = self.random.usize(..self.open.len());
                drop(self.open.swap_remove(gone));
            }
            2..=6 => self.take_snapshot(),
            7..=8 => self.compare_held(),
            _ => {
                if !self.held.is_empty() {
                    let gone = self.random.usize(..self.held.len());
                    drop(self.held.swap_remove(gone));
                }
            }
        }
    }

    fn take_snapshot(&mut self) {
        let Some(reader) = self.random.choice(&self.open) else { return };
        let snapshot = reader.snapshot().unwrap_or_else(|error| panic!("{}: {error}", self.place));
        let allowed = self.allowed.iter();
        let differences: Vec<_> = allowed
            .map(|expected| expected.difference(&snapshot))
            .collect::<Result<_, _>>()
            .unwrap_or_else(|error| panic!("{}: {error}", self.place));
        let matching = differences.iter().position(Option::is_none);
        let matching = matching.unwrap_or_else(|| panic!("{}: {differences:#?}", self.place));
        self.compared += 1;
        // What was brought up to date from other states is what a new process loads.
        let new = follow(&self.disk).snapshot().expect("a snapshot");
        assert_eq!(content(&new), content(&snapshot), "{}", self.place);
        if self.held.len() < 6 {
            let expected = Arc::clone(&self.allowed[matching]);
            self.held.push(Held { snapshot, expected });
        }
    }

    fn compare_held(&mut self) {
        let Some(Held { snapshot, expected }) = self.random.choice(&self.held) else { return };
        let difference = expected.difference(snapshot);
        let difference = difference.unwrap_or_else(|error| panic!("{}: {error}", self.place));
        assert_eq!(difference, None, "{}", self.place);
        self.compared += 1;
    }
}

/// Runs a writer, and lets readers act before its calls to the disk. Returns how many snapshots
/// were compared.
fn write_beside_readers(seed: u64) -> u64 {
    let disk = Disk::default();
    create_on(&disk).expect("created");
    let mut random = fastrand::Rng::with_seed(seed);
    let readers = Arc::new(Mutex::new(Readers {
        disk: disk.clone(),
        random: random.fork(),
        open: vec![follow(&disk)],
        held: Vec::new(),
        allowed: Vec::new(),
        compared: 0,
        place: String::new(),
    }));
    let mut index = open_on(&disk, TUNING).expect("opened");
    let sketcher = index.sketcher().clone();
    let mut model = Model::default();
    let mut now = Arc::new(Expected::compute(&model, &sketcher).expect("an index"));
    for (number, step) in steps(seed, 30).iter().enumerate() {
        let next = {
            // What the step will have done is known from a run of it on a copy.
            let copy = Disk::with(disk.bytes());
            let twin = open_on(&copy, TUNING).expect("opened");
            let (_, after, done) = take(twin, step, &copy, TUNING, &model);
            done.expect("nothing is broken");
            after
        };
        let after = if next == model {
            Arc::clone(&now)
        } else {
            Arc::new(Expected::compute(&next, &sketcher).expect("an index"))
        };
        {
            let mut readers = readers.lock().expect("no panic");
            readers.allowed = vec![Arc::clone(&now), Arc::clone(&after)];
            readers.place = format!("seed {seed}, step {number}, {step:?}");
            if matches!(step, Step::Compact) {
                // The file shrinks only while nobody reads.
                readers.held.clear();
            }
        }
        let acting = Arc::clone(&readers);
        let mut calls = fastrand::Rng::with_seed(seed ^ number as u64);
        let often = if matches!(step, Step::Compact) { 0 } else { 4 };
        disk.before_each_call(move || {
            if calls.u32(..60) < often {
                acting.lock().expect("no panic").act();
            }
        });
        let (open, taken, done) = take(index, step, &disk, TUNING, &model);
        disk.stop_calling();
        done.unwrap_or_else(|error| panic!("seed {seed}, step {number}, {step:?}: {error}"));
        assert_eq!(taken, next);
        index = open.expect("open");
        (model, now) = (next, after);
        let mut readers = readers.lock().expect("no panic");
        readers.allowed = vec![Arc::clone(&now)];
        readers.take_snapshot();
        readers.compare_held();
    }
    let report = index.check().run().expect("readable");
    assert!(report.is_clean(), "{:#?}", report.violations);
    let mut readers = readers.lock().expect("no panic");
    readers.held.clear();
    let report = follow(&disk).check().run().expect("readable");
    assert!(report.is_clean(), "{:#?}", report.violations);
    readers.compared
}

#[test]
fn readers_beside_a_writer_see_one_commit_each_however_their_calls_meet() {
    let compared: u64 = (first_seed()..first_seed() + runs()).map(write_beside_readers).sum();
    assert!(compared > 100 * runs(), "{compared} snapshots");
}
