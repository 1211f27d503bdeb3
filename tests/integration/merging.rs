//! Merged random indexes answer like one index of all documents. A backup taken during writes holds
//! exactly one commit.

use crate::support::{Place, Random, all_ids, assert_clean, text, tiny};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
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

/// Changes a source at random, in four commits.
fn fill(source: &Index, part: u64, random: &mut Random) {
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
                    let text = if family == 0 { String::new() } else { text(family, kind, 20) };
                    let document = source.prepare(id.to_string(), &text).expect("valid");
                    let age = Duration::from_secs(part * 10 + commit);
                    let document = document.inserted_at(UNIX_EPOCH + age);
                    txn.insertion().documents(vec![document]).expect("inserted");
                    last.insert(id, kind);
                }
            }
        }
        txn.commit().expect("committed");
    }
    assert_eq!(source.snapshot().expect("a snapshot").len(), last.len() as u64);
}

/// Checks that an index answers as another one does.
fn assert_equal(index: &Index, expected: &Index, which: &str) {
    let [index, expected] = [index, expected].map(|index| {
        assert_clean(&index.check().run().expect("checked"));
        index.snapshot().expect("a snapshot")
    });
    assert_eq!(all_ids(&index), all_ids(&expected), "{which}");
    assert_eq!(records(&index), records(&expected), "{which}");
    assert_eq!(pairs(&index), pairs(&expected), "{which}");
    for id in all_ids(&expected) {
        let ask = |snapshot: &Snapshot| snapshot.query().threshold(0.6).by_id(&id);
        let [found, wanted] = [&index, &expected]
            .map(|snapshot| ask(snapshot).expect("answered").expect("a known id"))
            .map(|matches| matches.into_iter().collect::<Vec<_>>());
        assert_eq!(found, wanted, "{which}: {id}");
    }
}

#[test]
fn merged_and_attached_indexes_answer_like_one_of_all_documents() {
    for seed in 0..16 {
        let mut random = Random(seed);
        let place = Place::new();
        let options = || tiny().store_text(seed % 4 == 3);
        let create = |name: &str| options().create(place.path(name)).expect("created");
        let [whole, merged, attached] = ["whole.twx", "merged.twx", "attached.twx"].map(create);
        let on_conflict = if seed % 2 == 0 { OnConflict::Replace } else { OnConflict::Skip };
        for part in 0..5 {
            let source = create(&format!("{part}.twx"));
            fill(&source, part, &mut random);
            let snapshot = source.snapshot().expect("a snapshot");
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
            let mut txn = attached.begin_write().expect("begun");
            let same = txn.attach(&snapshot, on_conflict).run().expect("attached");
            txn.commit().expect("committed");
            assert_eq!(same, counts, "seed {seed}");
            assert_equal(&attached, &whole, &format!("seed {seed}, part {part}"));
            // Commits in between flush and merge what was attached.
            for index in [&whole, &merged, &attached] {
                let mut random = Random(1000 * seed + part);
                for _ in 0..random.below(30) {
                    let mut txn = index.begin_write().expect("begun");
                    let id = format!("between {}", random.below(20));
                    let document = index.prepare(id, &text(random.below(12), 1, 20));
                    let document = document.expect("valid").inserted_at(UNIX_EPOCH);
                    txn.insertion().document(document).expect("inserted");
                    txn.remove(&random.below(60).to_string()).expect("removed");
                    txn.commit().expect("committed");
                }
            }
        }
        assert_equal(&merged, &whole, &format!("seed {seed}, merged"));
        assert_equal(&attached, &whole, &format!("seed {seed}, attached"));
        let copy = place.path("copy.twx");
        let snapshot = attached.snapshot().expect("a snapshot");
        snapshot.backup(&copy).run().expect("copied");
        drop(snapshot);
        let copy = options().open(copy).expect("opened");
        assert_equal(&copy, &whole, &format!("seed {seed}, copied"));
        drop(attached);
        let mut attached = options().open(place.path("attached.twx")).expect("opened again");
        attached.compact().run().expect("compacted");
        assert_equal(&attached, &whole, &format!("seed {seed}, compacted"));
    }
}

#[test]
fn a_merge_without_near_duplicates_judges_documents_like_insertions_one_by_one() {
    let mut left_out = 0;
    for seed in 0..8 {
        let mut random = Random(seed);
        let place = Place::new();
        let options = || tiny().store_text(seed % 2 == 1);
        let create = |name: &str| options().create(place.path(name)).expect("created");
        let (single, merged) = (create("single.twx"), create("merged.twx"));
        let on_conflict = if seed < 4 { OnConflict::Replace } else { OnConflict::Skip };
        for part in 0..5 {
            let source = create(&format!("{part}.twx"));
            fill(&source, part, &mut random);
            let snapshot = source.snapshot().expect("a snapshot");
            let mut txn = single.begin_write().expect("begun");
            let mut expected = Vec::new();
            for document in snapshot.documents() {
                let document = document.expect("readable");
                let id = document.id().to_owned();
                let insertion = txn.insertion().unless_similar(0.6).on_conflict(on_conflict);
                expected.push((id, insertion.document(document).expect("inserted")));
            }
            txn.commit().expect("committed");
            let mut txn = merged.begin_write().expect("begun");
            let mut told = Vec::new();
            let insertion = txn.insertion().unless_similar(0.6).on_conflict(on_conflict);
            let work =
                insertion.merge(&snapshot, |id, outcome| told.push((id.to_owned(), outcome)));
            let counts = work.run().expect("merged");
            txn.commit().expect("committed");
            assert_eq!(told, expected, "seed {seed}, part {part}");
            let all = counts.added + counts.replaced + counts.unchanged + counts.skipped;
            assert_eq!(all + counts.duplicates, snapshot.len(), "seed {seed}");
            left_out += counts.duplicates;
        }
        assert_equal(&merged, &single, &format!("seed {seed}"));
    }
    assert!(left_out > 200, "{left_out} near duplicates");
}

/// The number of runs.
fn runs(index: &Index) -> u64 {
    index.snapshot().expect("a snapshot").usage().expect("measured").runs
}

#[test]
fn a_run_with_many_documents_is_attached_in_pieces_and_merges_go_on() {
    let place = Place::new();
    let create = |name: &str| tiny().create(place.path(name)).expect("created");
    let (mut source, index, whole) = (create("1.twx"), create("2.twx"), create("3.twx"));
    // The ids of a run are sorted in pieces of 64 flushes, which is 512 documents here.
    for first in [0, 700] {
        for index in [&source, &whole] {
            let mut txn = index.begin_write().expect("begun");
            for number in first..first + 700 {
                txn.insert(&number.to_string(), text(number, 1, 20).as_str()).expect("inserted");
            }
            txn.commit().expect("committed");
        }
        source.compact().run().expect("compacted");
    }
    let snapshot = source.snapshot().expect("a snapshot");
    let mut txn = index.begin_write().expect("begun");
    let (mut told, mut done) = (0, 0);
    let attached = txn.attach(&snapshot, OnConflict::Replace).watch(|progress| {
        (told, done) = (told + 1, progress.done);
        ControlFlow::Continue(())
    });
    assert_eq!(attached.expect("attached").added, 1400);
    assert!(told >= 2 && done == 1400, "{told} {done}");
    txn.commit().expect("committed");
    let records_of = |index: &Index| {
        let records = records(&index.snapshot().expect("a snapshot"));
        records.into_iter().map(|(id, (hash, bytes, _))| (id, hash, bytes)).collect::<Vec<_>>()
    };
    assert_clean(&index.check().run().expect("checked"));
    assert_eq!(records_of(&index), records_of(&whole));
    assert_eq!(runs(&index), 1);
    let mut txn = index.begin_write().expect("begun");
    let again = txn.attach(&snapshot, OnConflict::Skip).run().expect("attached");
    assert_eq!((again.added, again.unchanged), (0, 1400));
    txn.commit().expect("committed");
    assert_eq!(runs(&index), 1, "nothing was copied");
    // Enough runs of one tier are merged, although the large one lies before them.
    for number in 0..40 {
        let mut txn = index.begin_write().expect("begun");
        for document in 0..8 {
            txn.insert(&format!("later {number} {document}"), "a short text").expect("inserted");
        }
        txn.commit().expect("committed");
    }
    assert_clean(&index.check().run().expect("checked"));
    assert!(runs(&index) < 12);
}

#[test]
fn many_attachments_leave_few_runs() {
    let place = Place::new();
    let path = place.path("all.twx");
    tiny().create(&path).expect("created");
    for part in 0..60 {
        let source = tiny().create(place.path(&format!("{part}.twx"))).expect("created");
        let mut txn = source.begin_write().expect("begun");
        for number in 0..5 {
            txn.insert(&format!("{part} {number}"), "some text").expect("inserted");
        }
        txn.commit().expect("committed");
        let index = tiny().open(&path).expect("opened");
        let mut txn = index.begin_write().expect("begun");
        let source = source.snapshot().expect("a snapshot");
        assert_eq!(txn.attach(&source, OnConflict::Skip).run().expect("attached").added, 5);
        txn.commit().expect("committed");
        // Three runs are merged into one, once there are more than four times as many.
        assert!(runs(&index) <= 13, "{part}: {}", runs(&index));
        index.close().expect("closed");
    }
    let index = tiny().open(&path).expect("opened");
    assert_clean(&index.check().run().expect("checked"));
    assert_eq!(index.snapshot().expect("a snapshot").len(), 300);
}

/// Two indexes, one with the document `a` and one with `b`.
fn indexes_of_one(place: &Place) -> [Index; 2] {
    ["a", "b"].map(|id| {
        let index = tiny().create(place.path(&format!("{id}.twx"))).expect("created");
        let mut txn = index.begin_write().expect("begun");
        txn.insert(id, "some text").expect("inserted");
        txn.commit().expect("committed");
        index
    })
}

#[test]
fn an_attachment_that_is_stopped_cannot_be_committed() {
    let place = Place::new();
    let [source, index] = indexes_of_one(&place);
    let snapshot = source.snapshot().expect("a snapshot");
    for last in [1, 2] {
        let mut txn = index.begin_write().expect("begun");
        let mut calls = 0;
        let stopped = txn.attach(&snapshot, OnConflict::Replace).watch(|_| {
            calls += 1;
            if calls < last { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        assert!(matches!(stopped, Err(Error::Interrupted { .. })), "{stopped:?}");
        assert!(matches!(txn.commit(), Err(Error::Storage { action: "committing", .. })), "{last}");
    }
    assert_eq!(all_ids(&index.snapshot().expect("a snapshot")), ["b"]);
    assert_clean(&index.check().run().expect("checked"));
}

#[test]
fn an_attachment_whose_watcher_panics_cannot_be_committed() {
    let place = Place::new();
    let [source, index] = indexes_of_one(&place);
    let snapshot = source.snapshot().expect("a snapshot");
    let mut txn = index.begin_write().expect("begun");
    let mut calls = 0;
    let attach = || {
        txn.attach(&snapshot, OnConflict::Replace).watch(|_| {
            calls += 1;
            assert!(calls == 1, "the watcher has had enough");
            ControlFlow::Continue(())
        })
    };
    assert!(catch_unwind(AssertUnwindSafe(attach)).is_err());
    assert!(matches!(txn.commit(), Err(Error::Storage { action: "committing", .. })));
    drop(index);
    let index = tiny().open(place.path("b.twx")).expect("opened");
    assert_eq!(all_ids(&index.snapshot().expect("a snapshot")), ["b"]);
    assert_clean(&index.check().run().expect("checked"));
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
