//! Documents leave an index by their age.

use crate::support::{Place, all_ids, assert_clean, text, tiny};
use std::ops::ControlFlow;
use std::time::{SystemTime, UNIX_EPOCH};
use twindex::{Index, OnConflict};

/// Documents `0`, `1`, ... that were inserted at the times `0`, `10`, ...
fn aged(place: &Place, count: u64) -> Index {
    let index = tiny().create(place.index()).expect("created");
    let mut txn = index.begin_write().expect("begun");
    let documents = (0..count).map(|n| {
        let document = index.prepare(n.to_string(), &text(n, 0, 12)).expect("a valid id");
        document.inserted_at(10 * n as i64)
    });
    txn.insert_documents(documents.collect(), OnConflict::Replace).expect("inserted");
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
    assert_eq!(index.remove_inserted_before(-5).expect("removed"), 0);
    assert_eq!(index.remove_inserted_before(100).expect("removed"), 10);
    assert_eq!(ids(&index), (10..30).map(|n| n.to_string()).collect::<Vec<_>>());
    assert_eq!(index.remove_inserted_before(101).expect("removed"), 1);
    assert_eq!(index.remove_inserted_before(i64::MAX).expect("removed"), 19);
    assert_eq!(ids(&index), [""; 0]);
    assert_clean(&index.check().expect("checked"));
}

#[test]
fn renewed_documents_stay() {
    let place = Place::new();
    let index = aged(&place, 30);
    let mut txn = index.begin_write().expect("begun");
    assert_eq!(txn.renew_batch(&["7", "3", "unknown"]).expect("renewed"), 2);
    txn.commit().expect("committed");
    index.remove_inserted_before(290).expect("removed");
    assert_eq!(ids(&index), ["3", "7", "29"]);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs() as i64;
    let snapshot = index.snapshot().expect("a snapshot");
    let inserted = snapshot.get("3").expect("readable").expect("there").inserted;
    assert!((now - 60..=now).contains(&inserted), "{inserted}");
    assert_clean(&index.check().expect("checked"));
}

#[test]
fn a_removal_by_age_can_be_stopped_before_a_batch() {
    let place = Place::new();
    let index = aged(&place, 30);
    let removed = index
        .remove_inserted_before_watched(100, |removed| {
            assert_eq!(removed, 0);
            ControlFlow::Break(())
        })
        .expect("stopping is no error");
    assert_eq!(removed, 0);
    assert_eq!(ids(&index).len(), 30);
}
