//! Tests disk errors: each read, write, resize and sync of a run fails, once or for good. Each
//! failure is reported as an error, and committed data is there when the index is opened again.

use crate::error::{Error, Result};
use crate::index::handle::Index;
use crate::index::trials::workload::{
    Change, Expected, Model, Step, TUNING, create_on, number_from, open_on, steps, take, unbroken,
};
use crate::store::{Call, Disk, DiskFailure};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// The step between failing calls, and the seeds of the runs. The normal test lets every `step`-th
/// call of one run fail, whose seed `TWINDEX_TROUBLE_SEED` may set. Every call of ten runs:
/// `TWINDEX_TROUBLE=all cargo test --release --lib -- trouble --nocapture`.
fn extent(step: u64) -> (u64, RangeInclusive<u64>) {
    let seed = number_from("TWINDEX_TROUBLE_SEED", 3);
    if std::env::var("TWINDEX_TROUBLE").is_ok_and(|extent| extent == "all") {
        (1, 1..=10)
    } else {
        (step, seed..=seed)
    }
}

const STEPS: usize = 30;

/// The steps of a run whose calls fail. A run of few small documents may never resize its file, so
/// the one whose resizes fail ends with documents that need more room, and with a compaction.
fn steps_for(call: Call, seed: u64) -> Vec<Step> {
    let mut all = steps(seed, STEPS);
    if call == Call::Resize {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut text = || (0..8 << 10).map(|_| random.alphanumeric()).collect::<String>();
        let large = (0..300).map(|number| Change::Put(format!("large {number}"), text()));
        all.extend([Step::Commit(large.collect()), Step::Compact]);
    }
    all
}

/// The state of a run after a failure.
struct Broken {
    /// The number of steps that succeeded.
    done: usize,
    /// The index after the failed step, if it is still open.
    index: Option<Index>,
    error: Option<Error>,
}

/// Takes steps until one fails.
fn run(disk: &Disk, steps: &[Step]) -> Broken {
    let mut index = match open_on(disk, TUNING) {
        Ok(index) => index,
        Err(error) => return Broken { done: 0, index: None, error: Some(error) },
    };
    let mut model = Model::default();
    for (done, step) in steps.iter().enumerate() {
        let (open, after, taken) = take(index, step, disk, TUNING, &model);
        match (open, taken) {
            (Some(open), Ok(())) => index = open,
            (index, taken) => return Broken { done, index, error: taken.err() },
        }
        model = after;
    }
    Broken { done: steps.len(), index: Some(index), error: None }
}

/// Writes one document.
fn write(index: &Index) -> Result<()> {
    let mut txn = index.begin_write()?;
    txn.insert("after the trouble", "what comes after the trouble")?;
    txn.commit()
}

fn is_one_of(index: &Index, allowed: &[Arc<Expected>], place: &str) {
    let snapshot = index.snapshot().unwrap_or_else(|error| panic!("{place}: {error}"));
    let differences: Vec<_> =
        allowed.iter().map(|expected| expected.difference(&snapshot).expect("readable")).collect();
    assert!(differences.iter().any(Option::is_none), "{place}: {differences:#?}");
}

/// The outcome of one failing call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// The run makes fewer calls, so none failed.
    None,
    /// A step reported the error: that step, or the next one if it was already done.
    Told,
    /// The storage engine retried with success.
    Recovered,
}

/// Runs the steps with one failing call, and checks the index afterwards.
fn fail(
    start: &[u8],
    expected: &[Arc<Expected>],
    (seed, steps): (u64, &[Step]),
    trouble: DiskFailure,
) -> Outcome {
    let place = format!("seed {seed}, {trouble:?}");
    let disk = Disk::with(start.to_vec());
    disk.set_failure(Some(trouble));
    let Broken { done, index, error } = run(&disk, steps);
    let failed = disk.failures() > 0;
    if let Some(Error::Damaged { detail, .. }) = &error {
        panic!("{place}: an error of the disk is called damage: {detail}");
    }
    let allowed = &expected[done..expected.len().min(done + 2)];
    let mut written = false;
    if let Some(index) = index {
        // If the index can still be read, it shows a committed state.
        if let Ok(snapshot) = index.snapshot() {
            let mut answers = allowed.iter().map(|expected| expected.difference(&snapshot));
            assert!(answers.any(|answer| matches!(answer, Ok(None) | Err(_))), "{place}");
        }
        // Writing succeeds or returns an error.
        written = write(&index).is_ok();
    }
    disk.set_failure(None);
    let index = open_on(&disk, TUNING).unwrap_or_else(|error| panic!("{place}: {error}"));
    if index.snapshot().expect("a snapshot").get("after the trouble").expect("readable").is_some() {
        let mut txn = index.begin_write().expect("begun");
        assert!(txn.remove("after the trouble").expect("removed"));
        txn.commit().expect("committed");
    } else {
        assert!(!written, "{place}: a commit after the trouble is lost");
    }
    is_one_of(&index, allowed, &place);
    let report = index.check().run().expect("readable");
    assert!(report.is_clean(), "{place}: {:#?}", report.violations);
    write(&index).unwrap_or_else(|error| panic!("{place}: {error}"));
    match (failed, error) {
        (false, _) => Outcome::None,
        (true, Some(_)) => Outcome::Told,
        (true, None) => Outcome::Recovered,
    }
}

#[expect(clippy::print_stdout, reason = "how much was tried")]
fn fail_each(call: Call, step: u64) {
    let (step, seeds) = extent(step);
    for seed in seeds {
        let disk = Disk::default();
        create_on(&disk).expect("created");
        let start = disk.bytes();
        let steps = steps_for(call, seed);
        let expected = unbroken(&steps, &disk, TUNING);
        for lasting in [false, true] {
            let (mut told, mut recovered) = (0, 0);
            for after in (0..).step_by(step as usize) {
                let trouble = DiskFailure { call, after, lasting };
                match fail(&start, &expected, (seed, &steps), trouble) {
                    Outcome::None => break,
                    Outcome::Told => told += 1,
                    Outcome::Recovered => recovered += 1,
                }
            }
            println!(
                "seed {seed}, {call:?}, lasting {lasting}: {told} told, {recovered} recovered"
            );
            // After a lasting failure, only a file that was being closed recovers: the next opening
            // repairs it.
            assert!(told > 0 && (!lasting || told > 4 * recovered), "{told} of {recovered}");
        }
    }
}

#[test]
fn a_failed_read_is_an_error_and_loses_nothing() {
    fail_each(Call::Read, 7);
}

#[test]
fn a_failed_write_is_an_error_and_loses_nothing() {
    fail_each(Call::Write, 11);
}

#[test]
fn a_failed_resize_is_an_error_and_loses_nothing() {
    fail_each(Call::Resize, 1);
}

#[test]
fn a_failed_sync_is_an_error_and_loses_nothing() {
    fail_each(Call::Sync, 1);
}

#[test]
fn a_failed_creation_is_an_error_or_leaves_an_empty_index() {
    for call in [Call::Read, Call::Write, Call::Resize, Call::Sync] {
        for lasting in [false, true] {
            for after in 0.. {
                let disk = Disk::default();
                disk.set_failure(Some(DiskFailure { call, after, lasting }));
                let created = create_on(&disk);
                if disk.failures() == 0 {
                    created.expect("nothing failed");
                    break;
                }
                // A failure while the file is closed cannot be reported and does no harm.
                if created.is_ok() {
                    disk.set_failure(None);
                    let index = open_on(&disk, TUNING).expect("opened");
                    assert!(index.snapshot().expect("a snapshot").is_empty());
                    assert!(index.check().run().expect("readable").is_clean());
                }
            }
        }
    }
}
