//! Tests power failures at every point of a run: committed data survives, and nothing else does.

use crate::index::handle::Index;
use crate::index::trials::workload::{
    Expected, TUNING, create_on, number_from, open_on, steps, unbroken,
};
use crate::store::{CrashReplay, Disk, Event, Tuning, Unsynced};
use std::sync::Arc;

/// The number of crashes. Long runs:
/// `TWINDEX_CRASH_POINTS=10000 cargo test --release --lib -- crash --nocapture`.
fn points() -> u64 {
    number_from("TWINDEX_CRASH_POINTS", 260)
}

/// The seed of the first run: `TWINDEX_CRASH_SEED=17` repeats a failed one.
fn first_seed() -> u64 {
    number_from("TWINDEX_CRASH_SEED", 1)
}

/// Opens the disk after a crash. The index must pass `check` and be in one of the allowed states.
fn recovered(disk: &Disk, allowed: &[Arc<Expected>], tuning: Tuning, place: &str) -> Index {
    let index = open_on(disk, tuning).unwrap_or_else(|error| panic!("{place}: {error}"));
    let snapshot = index.snapshot().unwrap_or_else(|error| panic!("{place}: {error}"));
    let differences: Vec<_> =
        allowed.iter().map(|expected| expected.difference(&snapshot).expect("readable")).collect();
    assert!(differences.iter().any(Option::is_none), "{place}: {differences:#?}");
    drop(snapshot);
    let report = index.check().run().expect("readable");
    assert!(report.is_clean(), "{place}: {:#?}", report.violations);
    index
}

/// Writes to a recovered index and opens it once more.
fn go_on(index: Index, disk: &Disk, tuning: Tuning, place: &str) {
    let mut txn = index.begin_write().expect("begun");
    txn.insert("after the crash", "what comes after the crash").expect("inserted");
    txn.commit().expect("committed");
    drop(index);
    let index = open_on(disk, tuning).expect("opened again");
    let found = index.snapshot().expect("a snapshot").get("after the crash").expect("readable");
    assert!(found.is_some(), "{place}");
    assert!(index.check().run().expect("readable").is_clean(), "{place}");
}

/// Crashes a run at every sync and at some writes in between. Returns the number of crashes.
fn crash(seed: u64, tuning: Tuning) -> u64 {
    let disk = Disk::default();
    create_on(&disk).expect("created");
    let start = disk.bytes();
    disk.record();
    let expected = unbroken(&steps(seed, 40), &disk, tuning);
    let events = disk.events();
    let mut random = fastrand::Rng::with_seed(seed);
    let mut crash = CrashReplay::new(start);
    let mut points = 0;
    for (number, event) in events.iter().enumerate() {
        let cases: &[Unsynced] = match (event, random.u32(..20)) {
            (Event::Sync, 0..=9) => &[Unsynced::Torn, Unsynced::Lost],
            (Event::Sync, _) => &[Unsynced::Shuffled, Unsynced::Kept],
            (Event::Write { .. }, 0) => &[Unsynced::Torn],
            _ => &[],
        };
        for unsynced in cases {
            let place = format!("seed {seed}, event {number} of {}, {unsynced:?}", events.len());
            let allowed = &expected[crash.done()..expected.len().min(crash.done() + 2)];
            let image = crash.image(*unsynced, &mut random);
            let disk = Disk::with(image.clone());
            disk.record();
            let index = recovered(&disk, allowed, tuning, &place);
            let recovery = disk.events();
            go_on(index, &disk, tuning, &place);
            points += 1;
            // A second power failure during the recovery.
            if random.u32(..4) == 0 {
                let mut second = CrashReplay::new(image);
                let end = random.usize(..=recovery.len());
                recovery.iter().take(end).for_each(|event| second.pass(event));
                let place = format!("{place}, then event {end} of {}", recovery.len());
                let disk = Disk::with(second.image(Unsynced::Torn, &mut random));
                recovered(&disk, allowed, tuning, &place);
                points += 1;
            }
        }
        crash.pass(event);
    }
    points
}

#[expect(clippy::print_stdout, reason = "the seeds of a run that fails")]
fn crash_until(points: u64, tuning: Tuning) {
    let (mut seed, mut done) = (first_seed(), 0);
    while done < points {
        done += crash(seed, tuning);
        seed += 1;
    }
    println!("{done} crashes, seeds {} to {}", first_seed(), seed - 1);
}

#[test]
fn a_crash_at_any_point_loses_no_committed_data() {
    crash_until(points(), Tuning { quick_repair_from: u64::MAX, ..TUNING });
}

#[test]
fn a_crash_at_any_point_loses_no_committed_data_with_quick_repair() {
    crash_until(points(), Tuning { quick_repair_from: 0, ..TUNING });
}

#[test]
fn what_a_creation_writes_is_durable_when_it_returns() {
    let disk = Disk::default();
    disk.record();
    create_on(&disk).expect("created");
    let mut crash = CrashReplay::new(Vec::new());
    let events = disk.events();
    events.iter().for_each(|event| crash.pass(event));
    let left = crash.image(Unsynced::Lost, &mut fastrand::Rng::with_seed(1));
    assert_eq!(left.len(), disk.bytes().len());
    let index = open_on(&Disk::with(left), TUNING).expect("opened");
    assert!(index.snapshot().expect("a snapshot").is_empty());
}

#[test]
fn the_crash_test_detects_a_disk_that_does_not_sync() {
    let disk = Disk::default();
    create_on(&disk).expect("created");
    let mut crash = CrashReplay::new(disk.bytes());
    disk.record();
    let expected = unbroken(&steps(1, 10), &disk, TUNING);
    let events = disk.events();
    let lies = events.iter().filter(|event| !matches!(event, Event::Sync));
    lies.for_each(|event| crash.pass(event));
    let left = Disk::with(crash.image(Unsynced::Lost, &mut fastrand::Rng::with_seed(1)));
    let index = open_on(&left, TUNING).expect("opened");
    let last = expected.last().expect("a state");
    let difference = last.difference(&index.snapshot().expect("a snapshot"));
    assert!(difference.expect("readable").is_some());
}
