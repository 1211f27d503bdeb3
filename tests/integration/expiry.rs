//! Removing old documents and renewing insertion times.

use crate::support::{Place, all_ids, assert_clean, text, tiny};
use std::ops::ControlFlow;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use twindex::{Error, Index};

/// The time `seconds` after 1970.
fn at(seconds: i64) -> SystemTime {
    let distance = Duration::from_secs(seconds.unsigned_abs());
    if seconds < 0 { UNIX_EPOCH - distance } else { UNIX_EPOCH + distance }
}

/// Inserts documents `0`, `1`, ... with the insertion times 0, 10, ... seconds.
fn aged(place: &Place, count: u64) -> Index {
    let index = tiny().create(place.index()).expect("created");
    let mut txn = index.begin_write().expect("begun");
    let documents = (0..count).map(|n| {
        let document = index.prepare(n.to_string(), &text(n, 0, 12)).expect("a valid id");
        document.inserted_at(at(10 * n as i64))
    });
    txn.insertion().documents(documents.collect()).expect("inserted");
    txn.commit().expect("committed");
    index
}

fn ids(index: &Index) -> Vec<String> {
    all_ids(&index.snapshot().expect("a snapshot"))
}

#[test]
fn documents_inserted_before_a_time_are_removed_and_later_ones_stay() {
    let place = Place::new();
    let index = aged(&place, 30);
    assert_eq!(index.remove_inserted_before(at(-5)).run().expect("removed"), 0);
    assert_eq!(index.remove_inserted_before(at(100)).run().expect("removed"), 10);
    assert_eq!(ids(&index), (10..30).map(|n| n.to_string()).collect::<Vec<_>>());
    assert_eq!(index.remove_inserted_before(at(101)).run().expect("removed"), 1);
    assert_eq!(index.remove_inserted_before(at(i64::MAX)).run().expect("removed"), 19);
    assert_eq!(ids(&index), [""; 0]);
    assert_clean(&index.check().run().expect("checked"));
}

#[test]
fn times_are_compared_in_whole_seconds_before_1970_too() {
    let place = Place::new();
    let index = tiny().create(place.index()).expect("created");
    let half = Duration::from_millis(500);
    let times = [at(-10) - half, at(-10), at(-10) + half, at(7) + half, at(8)];
    let mut txn = index.begin_write().expect("begun");
    for (n, time) in times.iter().enumerate() {
        let document = index.prepare(n.to_string(), &text(n as u64, 0, 12)).expect("a valid id");
        txn.insertion().document(document.inserted_at(*time)).expect("inserted");
    }
    txn.commit().expect("committed");
    let snapshot = index.snapshot().expect("a snapshot");
    let stored = snapshot.documents().map(|document| document.expect("readable").inserted());
    let seconds = [-11, -10, -10, 7, 8].map(|seconds| Some(at(seconds)));
    assert_eq!(stored.collect::<Vec<_>>(), seconds);
    assert_eq!(index.remove_inserted_before(at(-10) + half).run().expect("removed"), 1);
    assert_eq!(index.remove_inserted_before(at(-9)).run().expect("removed"), 2);
    assert_eq!(index.remove_inserted_before(at(7) + half).run().expect("removed"), 0);
    assert_eq!(index.remove_inserted_before(at(8)).run().expect("removed"), 1);
    assert_eq!(ids(&index), ["4"]);
}

#[test]
fn renewed_documents_stay() {
    let place = Place::new();
    let index = aged(&place, 30);
    let mut txn = index.begin_write().expect("begun");
    assert_eq!(txn.renew_batch(&["7", "3", "unknown"]).expect("renewed"), 2);
    txn.commit().expect("committed");
    index.remove_inserted_before(at(290)).run().expect("removed");
    assert_eq!(ids(&index), ["3", "7", "29"]);
    let now = SystemTime::now();
    let snapshot = index.snapshot().expect("a snapshot");
    let inserted = snapshot.get("3").expect("readable").expect("there").inserted;
    assert!((now - Duration::from_secs(60)..=now).contains(&inserted), "{inserted:?}");
    assert_clean(&index.check().run().expect("checked"));
}

#[test]
fn a_removal_by_age_can_be_stopped_before_a_batch() {
    let place = Place::new();
    let index = aged(&place, 30);
    let mut told = Vec::new();
    let stopped = index.remove_inserted_before(at(100)).watch(|progress| {
        told.push((progress.done, progress.total));
        ControlFlow::Break(())
    });
    assert!(matches!(stopped, Err(Error::Interrupted { .. })), "{stopped:?}");
    assert_eq!(told, [(0, 30)]);
    assert_eq!(ids(&index).len(), 30);
}
