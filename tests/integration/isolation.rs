//! Isolation: which changes snapshots, transactions and threads see.

use crate::support::{Place, all_ids, assert_clean, text, tiny};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};
use twindex::{Error, Index, Inserted, Outcome, ReadOnlyIndex, Snapshot};

fn fill(index: &Index, ids: std::ops::Range<u64>) {
    let mut txn = index.begin_write().expect("begun");
    for id in ids {
        txn.insert(&format!("{id:05}"), &text(id / 3, id, 20)).expect("inserted");
    }
    txn.commit().expect("committed");
}

/// The answers of a snapshot to all kinds of queries, as text.
fn answers(snapshot: &Snapshot) -> String {
    let pairs: Vec<_> = snapshot.pairs(0.6).expect("valid").map(|p| p.expect("a pair")).collect();
    let mut out = format!("{} {:?} {pairs:?}", snapshot.len(), all_ids(snapshot));
    for family in 0..20 {
        let matches = snapshot.query().threshold(0.5).by_text(&text(family, 1, 20));
        out += &format!("{:?}", matches.expect("an answer"));
    }
    out
}

#[test]
fn a_snapshot_answers_the_same_after_commits_flushes_and_merges() {
    let place = Place::new();
    let index = tiny().create(place.index()).expect("created");
    fill(&index, 0..50);
    let snapshot = index.snapshot().expect("a snapshot");
    let before = answers(&snapshot);
    let runs = snapshot.usage().expect("measured").runs;
    for round in 1..20 {
        fill(&index, round * 50..round * 50 + 50);
        let mut txn = index.begin_write().expect("begun");
        for id in 0..10 {
            txn.remove(&format!("{:05}", id * round)).expect("removed");
        }
        txn.insert("00049", &format!("another text in round {round}")).expect("inserted");
        txn.commit().expect("committed");
        assert_eq!(answers(&snapshot), before, "after round {round}");
    }
    let later = index.snapshot().expect("a snapshot").usage().expect("measured");
    assert_ne!(later.runs, runs, "there were flushes and merges");
    assert_clean(&index.check().run().expect("checked"));
}

#[test]
fn answers_do_not_depend_on_batches_flushes_and_merges() {
    let documents: Vec<(String, String)> =
        (0..300).map(|id| (format!("{id:05}"), text(id / 3, id, 20))).collect();
    let mut seen = Vec::new();
    for (batch, flush) in [(1, 8), (7, 16), (300, 1000), (100, 50)] {
        let place = Place::new();
        let mut index = tiny().flush_documents(flush).create(place.index()).expect("created");
        for batch in documents.chunks(batch) {
            let mut txn = index.begin_write().expect("begun");
            txn.insertion().contents(batch).expect("inserted");
            txn.commit().expect("committed");
        }
        seen.push(answers(&index.snapshot().expect("a snapshot")));
        index.compact().run().expect("compacted");
        seen.push(answers(&index.snapshot().expect("a snapshot")));
    }
    assert!(seen.iter().all(|answer| *answer == seen[0]));
}

#[test]
fn uncommitted_changes_are_seen_by_their_transaction_alone() {
    let place = Place::new();
    let index = Index::create(place.index()).expect("created");
    fill(&index, 0..3);
    let text = text(99, 0, 20);
    let mut txn = index.begin_write().expect("begun");
    assert_eq!(txn.insert("new", &text).expect("inserted"), Inserted::Added);
    assert!(matches!(
        txn.insert_unless_similar("copy", &text).expect("done"),
        Outcome::Duplicate { of, .. } if of.id == "new" && of.similarity == 1.0
    ));
    assert!(index.snapshot().expect("a snapshot").get("new").expect("readable").is_none());
    txn.abort();
    let snapshot = index.snapshot().expect("a snapshot");
    assert_eq!(snapshot.len(), 3);
    assert!(snapshot.query().by_text(&text).expect("an answer").is_empty());
}

#[test]
fn a_second_write_transaction_of_one_thread_is_an_error() {
    let place = Place::new();
    let index = Index::create(place.index()).expect("created");
    let txn = index.begin_write().expect("begun");
    assert!(matches!(index.begin_write().map(|_| ()), Err(Error::WriteInProgress)));
    let hour = Duration::from_secs(3600);
    assert!(matches!(index.begin_write_within(hour).map(|_| ()), Err(Error::WriteInProgress)));
    drop(txn);
    assert!(index.begin_write().is_ok());
}

#[test]
fn a_wait_for_a_write_transaction_ends_with_its_time_or_the_transaction() {
    let place = Place::new();
    let index = Index::create(place.index()).expect("created");
    let (short, long) = (Duration::from_millis(20), Duration::from_secs(600));
    thread::scope(|scope| {
        let index = &index;
        let ((began, has_begun), (end, ends)) = (channel(), channel());
        scope.spawn(move || {
            let txn = index.begin_write().expect("begun");
            began.send(()).expect("a receiver");
            ends.recv().expect("a sender");
            thread::sleep(short);
            drop(txn);
        });
        has_begun.recv().expect("a sender");
        let start = Instant::now();
        assert!(index.begin_write_within(Duration::ZERO).expect("no error").is_none());
        assert!(index.begin_write_within(short).expect("no error").is_none());
        assert!(start.elapsed() >= short);
        end.send(()).expect("a receiver");
        assert!(index.begin_write_within(long).expect("no error").is_some());
    });
    // No clock can tell when this time is over.
    assert!(index.begin_write_within(Duration::MAX).expect("no error").is_some());
}

#[test]
fn a_write_transaction_waits_for_one_of_another_thread() {
    let place = Place::new();
    let index = Index::create(place.index()).expect("created");
    let mut txn = index.begin_write().expect("begun");
    txn.insert("first", "one text").expect("inserted");
    thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let mut txn = index.begin_write().expect("begun");
            let before = txn.len();
            txn.insert("second", "another text").expect("inserted");
            txn.commit().expect("committed");
            before
        });
        thread::sleep(Duration::from_millis(50));
        assert!(!waiting.is_finished());
        txn.commit().expect("committed");
        assert_eq!(waiting.join().expect("no panic"), 1, "it sees what was committed");
    });
    assert_eq!(index.snapshot().expect("a snapshot").len(), 2);
}

#[test]
fn readers_on_other_threads_always_see_whole_commits() {
    let place = Place::new();
    let index = tiny().create(place.index()).expect("created");
    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for round in 0..60 {
                fill(&index, round * 10..round * 10 + 10);
            }
        });
        while !writer.is_finished() {
            let snapshot = index.snapshot().expect("a snapshot");
            assert_eq!(snapshot.len() % 10, 0);
            assert_eq!(all_ids(&snapshot).len() as u64, snapshot.len());
            snapshot.query().by_text(&text(1, 1, 20)).expect("an answer");
        }
    });
    assert_eq!(index.snapshot().expect("a snapshot").len(), 600);
}

#[test]
fn compacting_refuses_while_snapshots_live() {
    let place = Place::new();
    let mut index = Index::create(place.index()).expect("created");
    let snapshot = index.snapshot().expect("a snapshot");
    assert!(matches!(index.compact().run(), Err(Error::SnapshotsLive { count: 1 })));
    drop(snapshot);
    index.compact().run().expect("compacted");
}

#[test]
fn removed_documents_stay_removed_and_compacting_returns_their_space() {
    let place = Place::new();
    let mut index = tiny().create(place.index()).expect("created");
    fill(&index, 0..3000);
    index.compact().run().expect("compacted");
    let full = index.snapshot().expect("a snapshot").usage().expect("measured").file_bytes;
    let mut txn = index.begin_write().expect("begun");
    for id in 30..3000 {
        assert!(txn.remove(&format!("{id:05}")).expect("removed"));
    }
    txn.commit().expect("committed");
    let gone = text(500, 1501, 20);
    let absent = |index: &Index| {
        let snapshot = index.snapshot().expect("a snapshot");
        assert!(snapshot.query().by_text(&gone).expect("an answer").is_empty());
        assert!(snapshot.query().scan(true).by_text(&gone).expect("an answer").is_empty());
        assert!(snapshot.get("01501").expect("readable").is_none());
        assert_eq!(snapshot.len(), 30);
    };
    absent(&index);
    index.compact().run().expect("compacted");
    absent(&index);
    let usage = index.snapshot().expect("a snapshot").usage().expect("measured");
    assert_eq!(usage.dead, 0);
    assert!(usage.file_bytes < full / 2, "{} of {full} bytes", usage.file_bytes);
    drop(index);
    let index = Index::open(place.index()).expect("opened");
    absent(&index);
    assert_clean(&index.check().run().expect("checked"));
}

#[test]
fn inserting_the_same_text_again_writes_nothing() {
    let place = Place::new();
    let index = Index::create(place.index()).expect("created");
    fill(&index, 0..10);
    let commits =
        |index: &Index| index.snapshot().expect("a snapshot").usage().expect("measured").commits;
    let before = commits(&index);
    fill(&index, 0..10);
    assert_eq!(commits(&index), before);
    drop(index);
    let index = Index::open(place.index()).expect("opened");
    let mut txn = index.begin_write().expect("begun");
    assert_eq!(txn.insert("00003", &text(1, 3, 20)).expect("done"), Inserted::Unchanged);
    txn.commit().expect("committed");
    drop(index);
    let index = ReadOnlyIndex::open(place.index()).expect("opened");
    let usage = index.snapshot().expect("a snapshot").usage().expect("measured");
    assert_eq!((usage.documents, usage.commits), (10, before));
}

#[test]
fn settings_of_an_index_cannot_be_changed_by_opening_it() {
    let place = Place::new();
    drop(Index::options().threshold(0.7).create(place.index()).expect("created"));
    for (options, named) in [
        (Index::options().threshold(0.8), "threshold"),
        (Index::options().recall(0.9), "recall"),
        (Index::options().lanes(128), "lanes"),
        (Index::options().shingle(twindex::Shingle::words(3)), "shingle"),
        (Index::options().normalization(twindex::Normalization::NONE), "normalization"),
        (Index::options().multiset(true), "multiset"),
        (Index::options().seed(3), "seed"),
    ] {
        match options.open_or_create(place.index()).map(|_| ()) {
            Err(Error::SettingMismatch { setting, .. }) => assert_eq!(setting, named),
            other => panic!("{named}: {other:?}"),
        }
    }
    assert!(Index::options().threshold(0.7).seed(0).open(place.index()).is_ok());
}

#[test]
fn opening_waits_for_the_requested_time() {
    let place = Place::new();
    let index = Index::create(place.index()).expect("created");
    let options = Index::options().wait(Duration::from_millis(200));
    let start = Instant::now();
    assert!(matches!(options.open(place.index()), Err(Error::Locked { .. })));
    assert!(matches!(options.open_or_create(place.index()), Err(Error::Locked { .. })));
    assert!(start.elapsed() >= Duration::from_millis(400));
    thread::scope(|scope| {
        let patient = Index::options().wait(Duration::from_secs(60));
        let waiting = scope.spawn(move || patient.open(place.index()).map(drop));
        thread::sleep(Duration::from_millis(50));
        drop(index);
        waiting.join().expect("it ends").expect("opened");
    });
}

#[test]
fn a_reader_beside_a_writer_sees_its_last_commit_and_a_new_snapshot_its_next_one() {
    let place = Place::new();
    let index = Index::create(place.index()).expect("created");
    let insert = |id: &str| {
        let mut txn = index.begin_write().expect("begun");
        txn.insert(id, &format!("the text of {id}")).expect("inserted");
        txn.commit().expect("committed");
    };
    insert("a");
    let reader = ReadOnlyIndex::open(place.index()).expect("opened");
    let first = reader.snapshot().expect("a snapshot");
    let mut uncommitted = index.begin_write().expect("begun");
    uncommitted.insert("never", "what nobody sees").expect("inserted");
    assert_eq!(reader.snapshot().expect("a snapshot").len(), 1);
    drop(uncommitted);
    insert("b");
    let second = reader.snapshot().expect("a snapshot");
    assert!(!first.contains("b").expect("readable"));
    assert!(second.contains("b").expect("readable"));
    let found = second.query().by_text("the text of b").expect("answered");
    assert_eq!(found.into_iter().next().expect("a match").id, "b");
    assert_eq!(first.commit_number() + 1, second.commit_number());
    assert_eq!(second.commit_number(), index.snapshot().expect("a snapshot").commit_number());
}

#[test]
fn opening_does_not_wait_for_a_missing_index() {
    let place = Place::new();
    let patient = Index::options().wait(Duration::from_secs(600));
    assert!(matches!(patient.open(place.index()), Err(Error::NotFound { .. })));
    assert!(matches!(patient.open_read_only(place.index()), Err(Error::NotFound { .. })));
}

#[test]
fn many_snapshots_of_a_pool_beside_a_writer_do_not_wait_for_each_other() {
    let place = Place::new();
    let index = Index::create(place.index()).expect("created");
    fill(&index, 0..1_000);
    // A reader of another handle follows the commits as one of another process does.
    let reader = ReadOnlyIndex::open(place.index()).expect("opened");
    let (sender, receiver) = channel();
    let asked = thread::spawn(move || {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().expect("a pool");
        for round in 1..20 {
            fill(&index, 1_000 * round..1_000 * (round + 1));
            pool.scope(|scope| {
                for _ in 0..16 {
                    scope.spawn(|_| {
                        let snapshot = reader.snapshot().expect("a snapshot");
                        assert_eq!(snapshot.len(), 1_000 * (round + 1));
                    });
                }
            });
        }
        sender.send(()).expect("the test waits");
    });
    let ended = receiver.recv_timeout(Duration::from_secs(100));
    assert!(ended.is_ok(), "the snapshots wait for each other, or failed");
    asked.join().expect("no panic");
}
