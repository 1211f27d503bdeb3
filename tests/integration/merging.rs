//! Merged random indexes answer like one index of all documents. A backup taken during writes holds
//! exactly one commit.

use crate::support::{Place, Random, all_ids, assert_clean, text, tiny};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use twindex::{Error, Index, OnConflict, Pair, Snapshot, TextHash};

fn pairs(snapshot: &Snapshot) -> Vec<Pair> {
    let pairs = snapshot.pairs(0.6).expect("a valid threshold");
    pairs.collect::<Result<_, _>>().expect("readable")
}

/// The stored facts about each id: hash, number of bytes and time.
fn records(snapshot: &Snapshot) -> BTreeMap<String, (TextHash, u64, Option<SystemTime>)> {
    let record = |document: twindex::Result<twindex::Document>| {
        let document = document.expect("readable");
        let what = (document.text_hash(), document.text_bytes(), document.inserted());
        (document.id().to_owned(), what)
    };
    snapshot.documents().map(record).collect()
}

#[test]
fn merged_indexes_answer_like_one_of_all_documents() {
    for seed in 0..12 {
        let mut random = Random(seed);
        let place = Place::new();
        let whole = tiny().create(place.path("whole.twx")).expect("created");
        let merged = tiny().create(place.path("merged.twx")).expect("created");
        let on_conflict = if seed % 2 == 0 { OnConflict::Replace } else { OnConflict::Skip };
        for part in 0..3 {
            let source = tiny().create(place.path(&format!("{part}.twx"))).expect("created");
            let mut last: BTreeMap<u64, u64> = BTreeMap::new();
            for commit in 0..4 {
                let mut txn = source.begin_write().expect("begun");
                for _ in 0..random.below(25) {
                    let id = random.below(60);
                    match random.below(6) {
                        0 => {
                            txn.remove(&id.to_string()).expect("removed");
                            last.remove(&id);
                        }
                        kind => {
                            let family = random.below(12);
                            let text =
                                if family == 0 { String::new() } else { text(family, kind, 20) };
                            let document = source.prepare(id.to_string(), &text).expect("valid");
                            let age = Duration::from_secs((part * 10 + commit) as u64);
                            let document = document.inserted_at(UNIX_EPOCH + age);
                            let documents = vec![document];
                            txn.insertion().documents(documents).expect("inserted");
                            last.insert(id, kind);
                        }
                    }
                }
                txn.commit().expect("committed");
            }
            let snapshot = source.snapshot().expect("a snapshot");
            assert_eq!(snapshot.len(), last.len() as u64, "seed {seed}");
            let mut txn = whole.begin_write().expect("begun");
            for document in snapshot.documents() {
                let insertion = txn.insertion().on_conflict(on_conflict);
                insertion.document(document.expect("readable")).expect("inserted");
            }
            txn.commit().expect("committed");
            let mut txn = merged.begin_write().expect("begun");
            let counts = txn.merge(&snapshot, on_conflict).run().expect("merged");
            txn.commit().expect("committed");
            let all = counts.added + counts.replaced + counts.unchanged + counts.skipped;
            assert_eq!(all, snapshot.len(), "seed {seed}");
        }
        let [whole, merged] = [whole, merged].map(|index| {
            assert_clean(&index.check().run().expect("checked"));
            index.snapshot().expect("a snapshot")
        });
        assert_eq!(all_ids(&whole), all_ids(&merged), "seed {seed}");
        assert_eq!(records(&whole), records(&merged), "seed {seed}");
        assert_eq!(pairs(&whole), pairs(&merged), "seed {seed}");
        let copy = place.path("copy.twx");
        merged.backup(&copy).run().expect("copied");
        let copy = tiny().open(copy).expect("opened");
        assert_clean(&copy.check().run().expect("checked"));
        let copy = copy.snapshot().expect("a snapshot");
        assert_eq!(records(&copy), records(&merged), "seed {seed}");
        assert_eq!(all_ids(&copy), all_ids(&merged), "seed {seed}");
        assert_eq!(pairs(&copy), pairs(&merged), "seed {seed}");
    }
}

#[test]
fn unequal_settings_are_refused_and_nothing_is_inserted() {
    let place = Place::new();
    let one = Index::options().lanes(128).create(place.path("1.twx")).expect("created");
    let other = Index::options().create(place.path("2.twx")).expect("created");
    let mut txn = one.begin_write().expect("begun");
    let refused = txn.merge(&other.snapshot().expect("a snapshot"), OnConflict::Replace).run();
    let Err(Error::UnequalSettings { setting, found, expected, .. }) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!((setting, found.as_str(), expected.as_str()), ("lanes", "256", "128"));
    txn.commit().expect("still usable");
}

#[test]
fn a_backup_taken_during_writes_holds_exactly_one_commit() {
    let place = Place::new();
    let index = tiny().create(place.index()).expect("created");
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        // Every commit adds five documents, removes two earlier ones, and records its number.
        scope.spawn(|| {
            for commit in 1_u64.. {
                let mut txn = index.begin_write().expect("begun");
                for n in 5 * commit..5 * commit + 5 {
                    txn.insert(&format!("d:{n}"), &text(n / 3, n % 3, 15)).expect("inserted");
                }
                txn.remove(&format!("d:{}", 5 * commit - 3)).expect("removed");
                txn.remove(&format!("d:{}", 5 * commit - 1)).expect("removed");
                txn.insert("note", &format!("this is commit number {commit}")).expect("inserted");
                txn.commit().expect("committed");
                if stop.load(Ordering::Relaxed) {
                    break;
                }
            }
        });
        for round in 0..25 {
            let snapshot = index.snapshot().expect("a snapshot");
            let path = place.path(&format!("{round}.twx"));
            snapshot.backup(&path).run().expect("copied");
            let copy = tiny().open(path).expect("opened");
            assert_clean(&copy.check().run().expect("checked"));
            let copied = copy.snapshot().expect("a snapshot");
            assert_eq!(all_ids(&copied), all_ids(&snapshot), "round {round}");
            assert_eq!(records(&copied), records(&snapshot), "round {round}");
            assert_eq!(pairs(&copied), pairs(&snapshot), "round {round}");
            // Writing to the copy continues from its last commit.
            drop(copied);
            let mut txn = copy.begin_write().expect("begun");
            (0..20).for_each(|n| {
                txn.insert(&format!("later:{n}"), &text(n, 1, 15)).expect("inserted");
            });
            txn.commit().expect("committed");
            copy.close().expect("closed");
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert_clean(&index.check().run().expect("checked"));
}

#[test]
fn watched_work_can_be_stopped_and_leaves_the_index_intact() {
    let place = Place::new();
    let mut index = tiny().create(place.index()).expect("created");
    for commit in 0..10 {
        let mut txn = index.begin_write().expect("begun");
        for n in 0..9 {
            txn.insert(&format!("{commit}:{n}"), &text(n, commit % 3, 15)).expect("inserted");
        }
        txn.commit().expect("committed");
    }
    let before = records(&index.snapshot().expect("a snapshot"));
    let told = |calls: &mut u32, most: u32| {
        *calls += 1;
        if *calls > most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let copy = place.path("copy.twx");
    let mut calls = 0;
    let snapshot = index.snapshot().expect("a snapshot");
    let stopped = snapshot.backup(&copy).watch(|_| told(&mut calls, 0));
    assert!(matches!(stopped, Err(Error::Interrupted { .. })), "{stopped:?}");
    let checked = snapshot.check().watch(|_| told(&mut calls, 0));
    assert!(matches!(checked, Err(Error::Interrupted { .. })), "{checked:?}");
    drop(snapshot);
    assert!(!copy.exists());
    let names = std::fs::read_dir(copy.parent().expect("a folder")).expect("readable").count();
    assert_eq!(names, 1, "nothing but the index");
    let mut finished = false;
    for most in 0..10 {
        let mut calls = 0;
        match index.compact().watch(|_| told(&mut calls, most)) {
            Ok(()) => finished = true,
            Err(error) => assert!(matches!(error, Error::Interrupted { .. }), "{error}"),
        }
        assert_eq!(records(&index.snapshot().expect("a snapshot")), before);
        assert_clean(&index.check().run().expect("checked"));
    }
    assert!(finished);
    drop(index);
    let stopped = tiny().repair(place.index()).watch(|_| ControlFlow::Break(()));
    assert!(matches!(stopped, Err(Error::Interrupted { .. })), "{stopped:?}");
    let index = tiny().open(place.index()).expect("opened");
    assert_eq!(records(&index.snapshot().expect("a snapshot")), before);
}
