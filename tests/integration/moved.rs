//! Write transactions that move between threads: which thread waits, and which gets an error.

use crate::support::{Place, all_ids};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;
use twindex::{Error, Index, WriteTxn};

fn is_in_progress<T>(result: &Result<T, Error>) -> bool {
    matches!(result, Err(Error::WriteInProgress))
}

fn insert(txn: &mut WriteTxn, id: &str) {
    txn.insert(id, &format!("the text of the document {id}")).expect("inserted");
}

fn ids(index: &Index) -> Vec<String> {
    all_ids(&index.snapshot().expect("a snapshot"))
}

#[test]
fn a_transaction_is_owned_and_can_be_sent() {
    fn check<T: Send + 'static>() {}
    check::<WriteTxn>();
}

#[test]
fn the_thread_that_gave_a_transaction_away_waits_for_its_commit() {
    let place = Place::new();
    let index = Index::create(place.index()).expect("created");
    let mut txn = index.begin_write().expect("begun");
    insert(&mut txn, "here");
    thread::scope(|scope| {
        let (send, used) = mpsc::channel();
        scope.spawn(move || {
            insert(&mut txn, "there");
            send.send(()).expect("somebody listens");
            // Long enough to make the other thread wait. The result must not depend on the time.
            thread::sleep(Duration::from_millis(50));
            txn.commit().expect("committed");
        });
        used.recv().expect("used elsewhere");
        let txn = index.begin_write().expect("it was waited for");
        assert_eq!(txn.len(), 2, "begun after the commit");
    });
    assert_eq!(ids(&index), ["here", "there"]);
}

#[test]
fn the_thread_that_got_a_transaction_does_not_wait_for_itself() {
    let place = Place::new();
    let index = Index::create(place.index()).expect("created");
    let txn = index.begin_write().expect("begun");
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut txn = txn;
            insert(&mut txn, "there");
            assert!(is_in_progress(&index.begin_write()));
            txn.commit().expect("committed");
            assert!(index.begin_write().is_ok());
        });
    });
    assert_eq!(ids(&index), ["there"]);
}

#[test]
fn any_use_makes_the_thread_the_holder() {
    let place = Place::new();
    let index = Index::create(place.index()).expect("created");
    type Use = fn(&mut WriteTxn);
    let uses: [Use; 4] = [
        |txn| assert!(txn.is_empty()),
        |txn| assert!(!txn.contains("none").expect("readable")),
        |txn| assert!(!txn.remove("none").expect("removed")),
        |txn| drop(txn.insertion().contents::<&str, &str>(&[]).expect("inserted")),
    ];
    for used in uses {
        let mut txn = index.begin_write().expect("begun");
        let index = &index;
        thread::scope(|scope| {
            scope.spawn(move || {
                used(&mut txn);
                assert!(is_in_progress(&index.begin_write()));
            });
        });
    }
}

#[test]
fn the_thread_that_got_its_transaction_back_is_the_holder_again() {
    let place = Place::new();
    let index = Index::create(place.index()).expect("created");
    let mut txn = index.begin_write().expect("begun");
    let there = thread::spawn(move || {
        insert(&mut txn, "there");
        txn
    });
    let txn = there.join().expect("no panic");
    assert_eq!(txn.len(), 1);
    assert!(is_in_progress(&index.begin_write()));
}

#[test]
fn an_unused_transaction_still_belongs_to_the_thread_that_began_it() {
    let place = Place::new();
    let index = Index::create(place.index()).expect("created");
    let txn = index.begin_write().expect("begun");
    let (give_back, wait) = mpsc::channel::<()>();
    let holder = thread::spawn(move || {
        wait.recv().expect("told");
        drop(txn);
    });
    assert!(is_in_progress(&index.begin_write()));
    give_back.send(()).expect("somebody listens");
    holder.join().expect("no panic");
    assert!(index.begin_write().is_ok());
}

#[test]
fn dropping_a_transaction_on_another_thread_undoes_and_ends_it() {
    let place = Place::new();
    let index = Index::create(place.index()).expect("created");
    let mut txn = index.begin_write().expect("begun");
    insert(&mut txn, "here");
    thread::spawn(move || drop(txn)).join().expect("no panic");
    let mut txn = index.begin_write().expect("begun");
    assert!(txn.is_empty());
    insert(&mut txn, "again");
    txn.commit().expect("committed");
    assert_eq!(ids(&index), ["again"]);
}

#[test]
fn trying_to_begin_never_waits() {
    let place = Place::new();
    let index = Index::create(place.index()).expect("created");
    let try_here = || index.try_begin_write().expect("no damage");
    let try_there = || thread::scope(|scope| scope.spawn(try_here).join().expect("no panic"));

    let mut txn = try_here().expect("nobody writes");
    assert!(try_here().is_none(), "this thread writes");
    assert!(try_there().is_none(), "another thread writes");
    insert(&mut txn, "here");
    txn.commit().expect("committed");

    let txn = try_there().expect("nobody writes");
    assert!(try_here().is_none(), "the transaction came here from another thread");
    assert_eq!(txn.len(), 1);
    drop(txn);
    assert!(try_here().is_some(), "it was dropped");
}

#[test]
fn a_transaction_outlives_its_index() {
    let place = Place::new();
    let index = Index::create(place.index()).expect("created");
    let mut txn = index.begin_write().expect("begun");
    drop(index);
    assert!(matches!(Index::open(place.index()), Err(Error::Locked { .. })), "still open");
    insert(&mut txn, "late");
    txn.commit().expect("committed");
    let index = Index::open(place.index()).expect("closed by the commit");
    assert_eq!(ids(&index), ["late"]);
}

#[test]
fn compacting_refuses_while_there_is_a_transaction() {
    let place = Place::new();
    let mut index = Index::create(place.index()).expect("created");
    let txn = index.begin_write().expect("begun");
    assert!(is_in_progress(&index.compact().run()));
    thread::scope(|scope| {
        let there = scope.spawn(|| is_in_progress(&index.compact().run()));
        assert!(there.join().expect("no panic"), "on another thread");
    });
    drop(txn);
    index.compact().run().expect("compacted");
}
