//! Cases at a bound: each of them is answered otherwise if one comparison, or one limit, is
//! changed.

use crate::support::{Place, all_ids, assert_clean};
use std::fmt::Write as _;
use twindex::{ClusterPlace, Error, Index, Inserted, OnConflict, Outcome, Shingle};

const TEXT: &str = "It was the best of times, it was the worst of times, it was the age of wisdom";

fn insert(index: &Index, rows: &[(&str, &str)]) {
    let mut txn = index.begin_write().expect("begun");
    for (id, text) in rows {
        txn.insert(id, *text).expect("inserted");
    }
    txn.commit().expect("committed");
}

#[test]
fn a_source_that_gives_a_new_document_twice_still_loses_what_it_no_longer_has() {
    let place = Place::new();
    let index = Index::create(place.index()).expect("created");
    let mut txn = index.begin_write().expect("begun");
    txn.insert("a", "a text").expect("inserted");
    txn.insert("b", "another text").expect("inserted");
    let mut sync = txn.sync();
    sync.contents(&[("a", "a text"), ("c", "a third text")]).expect("taken");
    sync.contents(&[("c", "a third text")]).expect("taken");
    assert_eq!(sync.finish().expect("finished").removed, 1);
    txn.commit().expect("committed");
    assert_eq!(all_ids(&index.snapshot().expect("a snapshot")), ["a", "c"]);
}

#[test]
fn an_id_that_comes_several_times_among_many_counts_once() {
    let place = Place::new();
    let index = Index::create(place.index()).expect("created");
    let ids: Vec<String> = (0..1000).map(|number| number.to_string()).collect();
    // More than are looked up together, and no border between two ids.
    let thrice = [&ids[..], &ids, &ids].concat();
    let rows: Vec<(&str, &str)> = thrice.iter().map(|id| (id.as_str(), "")).collect();
    let mut txn = index.begin_write().expect("begun");
    txn.insertion().contents(&rows).expect("inserted");
    assert_eq!(txn.len(), 1000);
    assert_eq!(txn.remove_batch(&thrice).expect("removed"), 1000);
    txn.commit().expect("committed");
    assert_clean(&index.check().run().expect("checked"));
}

#[test]
fn a_scan_keeps_its_recall_after_a_search_of_buckets() {
    let place = Place::new();
    let index = Index::options().store_text(true).create(place.index()).expect("created");
    let mut txn = index.begin_write().expect("begun");
    txn.insert("a", "some text of a document").expect("inserted");
    txn.commit().expect("committed");
    let recall = |scans: &[bool]| {
        let snapshot = index.snapshot().expect("a snapshot");
        let ask = |scan| snapshot.query().threshold(0.5).scan(scan).by_text("some text");
        scans.iter().map(|scan| ask(*scan).expect("answered").recall).collect::<Vec<f64>>()
    };
    let (bucket, scan) = (recall(&[false])[0], recall(&[true])[0]);
    assert!(bucket < scan, "{bucket} {scan}");
    assert_eq!(recall(&[false, true, false]), [bucket, scan, bucket]);
}

#[test]
fn a_passage_that_repeats_right_behind_itself_is_cut() {
    let place = Place::new();
    let options = Index::options().shingle(Shingle::words(1)).passages(8).store_text(true);
    let index = options.create(place.index()).expect("created");
    let once = "one two three four five six seven eight";
    let text = format!("{once} {once}");
    let mut txn = index.begin_write().expect("begun");
    let outcomes = txn.insertion().without_passages().contents(&[("a", &*text)]).expect("inserted");
    match &outcomes[..] {
        [Outcome::Cut { inserted: Inserted::Added, known, text }] => {
            assert_eq!((known.known, text.trim()), (8, once));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn long_documents_fill_the_tail_with_fingerprints() {
    let place = Place::new();
    let options = Index::options().shingle(Shingle::words(1)).passages(8).flush_documents(16);
    let index = options.create(place.index()).expect("created");
    let mut text = String::new();
    (0..8000).for_each(|word| write!(text, "word{word} ").expect("written"));
    let mut txn = index.begin_write().expect("begun");
    txn.insert("a", &*text).expect("inserted");
    txn.commit().expect("committed");
    let usage = index.snapshot().expect("a snapshot").usage().expect("measured");
    assert_eq!((usage.runs, usage.tail), (1, 0));
}

#[test]
fn only_removals_before_a_commit_are_forgotten() {
    let place = Place::new();
    let index = Index::create(place.index()).expect("created");
    insert(&index, &[("a", "some text"), ("b", "some text"), ("c", "some text")]);
    index.track_clusters().run().expect("tracked");
    let remove = |id| {
        let mut txn = index.begin_write().expect("begun");
        assert!(txn.remove(id).expect("removed"));
        txn.commit().expect("committed");
        index.snapshot().expect("a snapshot").commit_number()
    };
    let (first, second) = (remove("a"), remove("b"));
    let removed = |since: u64| {
        let snapshot = index.snapshot().expect("a snapshot");
        let tracked = snapshot.tracked_clusters().expect("tracked");
        let changes = tracked.changes(since)?.map(|change| change.expect("readable"));
        let removed = changes.filter(|change| change.place == ClusterPlace::Removed);
        Ok::<_, Error>(removed.map(|change| change.id).collect::<Vec<String>>())
    };
    assert_eq!(removed(first - 1).expect("known"), ["a", "b"]);
    assert_eq!(index.forget_cluster_changes(second).expect("forgotten"), 1);
    assert_eq!(removed(second - 1).expect("known"), ["b"]);
    let error = removed(first - 1).expect_err("forgotten");
    assert!(matches!(error, Error::ChangesForgotten { .. }), "{error}");
    assert_eq!(index.forget_cluster_changes(u64::MAX / 2).expect("forgotten"), 1);
    let last = index.snapshot().expect("a snapshot").commit_number();
    assert!(removed(last).expect("known").is_empty());
}

#[test]
fn what_a_batch_replaces_hides_no_other_match_beyond_the_limit() {
    let place = Place::new();
    let index = Index::create(place.index()).expect("created");
    insert(&index, &[("x", TEXT), ("y", TEXT)]);
    let mut txn = index.begin_write().expect("begun");
    let insertion = txn.insertion().on_conflict(OnConflict::Replace).unless_similar(0.8);
    let rows = [("x", "something else altogether"), ("q", TEXT)];
    let outcomes = insertion.max_candidates(1).contents(&rows).expect("inserted");
    match &outcomes[..] {
        [_, Outcome::Duplicate { of, .. }] => assert_eq!(of.id, "y"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn of_equal_matches_that_of_the_first_index_is_told() {
    let place = Place::new();
    let [a, b, c] = ["a", "b", "c"].map(|name| Index::create(place.path(name)).expect("created"));
    insert(&a, &[("a", TEXT)]);
    insert(&b, &[("b", TEXT)]);
    let others = [a.snapshot().expect("a snapshot"), b.snapshot().expect("a snapshot")];
    let others: Vec<_> = others.iter().collect();
    let mut txn = c.begin_write().expect("begun");
    let outcomes = txn.insertion().unless_similar(0.8).against(&others).contents(&[("q", TEXT)]);
    match &outcomes.expect("inserted")[..] {
        [Outcome::Duplicate { of, against: Some(0) }] => assert_eq!(of.id, "a"),
        other => panic!("{other:?}"),
    };
}

#[test]
fn a_top_list_of_many_copies_tells_that_there_are_more() {
    let place = Place::new();
    let index = Index::create(place.index()).expect("created");
    let ids: Vec<String> = (0..100).map(|number| number.to_string()).collect();
    let rows: Vec<(&str, &str)> = ids.iter().map(|id| (id.as_str(), TEXT)).collect();
    insert(&index, &rows);
    let found =
        index.snapshot().expect("a snapshot").query().top(10).by_text(TEXT).expect("answered");
    assert!(found.len() == 10 && found.left_out > 0, "{} {}", found.len(), found.left_out);
}

#[test]
fn the_recall_is_that_of_the_worst_index() {
    let place = Place::new();
    let a = Index::options().recall(0.7).create(place.path("a")).expect("created");
    let b = Index::options().recall(0.99).create(place.path("b")).expect("created");
    let other = a.snapshot().expect("a snapshot");
    let others = [&other];
    let mut txn = b.begin_write().expect("begun");
    let alone = txn.insertion().unless_similar(0.8).recall().expect("valid");
    let both = txn.insertion().unless_similar(0.8).against(&others).recall().expect("valid");
    assert!(alone >= 0.99 && both < 0.99, "{alone} {both}");
}

#[test]
fn texts_exactly_at_the_threshold_are_similar() {
    let place = Place::new();
    let options = Index::options().shingle(Shingle::Tokens).threshold(0.5).store_text(true);
    let index = options.create(place.index()).expect("created");
    insert(&index, &[("a", "a b c"), ("b", "a b d")]);
    let snapshot = index.snapshot().expect("a snapshot");
    let found = snapshot.query().threshold(0.5).scan(true).by_text("a b e").expect("answered");
    assert_eq!(found.len(), 2);
    drop(snapshot);
    index.track_clusters().run().expect("tracked");
    let snapshot = index.snapshot().expect("a snapshot");
    assert_eq!(snapshot.tracked_clusters().expect("tracked").iter().count(), 1);
}

#[test]
fn a_known_passage_is_that_of_the_first_document() {
    let place = Place::new();
    let options = Index::options().shingle(Shingle::words(1)).passages(8).store_text(true);
    let index = options.create(place.index()).expect("created");
    let passage = "one two three four five six seven eight nine ten";
    let (first, second) = (format!("x {passage} y"), format!("v {passage} w"));
    insert(&index, &[("first", &first), ("second", &second)]);
    let snapshot = index.snapshot().expect("a snapshot");
    let known = snapshot.known_passages(passage).expect("answered");
    assert_eq!(known.passages()[0].of, "first");
}

#[test]
fn a_removed_document_that_was_in_no_run_leaves_no_tombstone() {
    let place = Place::new();
    let index = Index::options().flush_documents(8).create(place.index()).expect("created");
    let ids: Vec<String> = (0..8).map(|number| number.to_string()).collect();
    let mut txn = index.begin_write().expect("begun");
    for id in &ids {
        txn.insert(id, TEXT).expect("inserted");
        if id == "3" {
            assert!(txn.remove(id).expect("removed"));
        }
    }
    txn.commit().expect("committed");
    let usage = index.snapshot().expect("a snapshot").usage().expect("measured");
    assert_eq!((usage.runs, usage.tail, usage.dead), (1, 0, 0));
}

#[test]
fn a_document_of_the_same_transaction_is_removed_once() {
    let place = Place::new();
    let index = Index::create(place.index()).expect("created");
    let mut txn = index.begin_write().expect("begun");
    txn.insert("a", TEXT).expect("inserted");
    assert!(txn.remove("a").expect("removed"));
    assert!(!txn.remove("a").expect("looked up"));
}

#[test]
fn tombstones_of_the_tail_are_not_attached() {
    let place = Place::new();
    let [source, index] =
        ["source", "index"].map(|name| Index::create(place.path(name)).expect("created"));
    insert(&source, &[("a", TEXT), ("b", TEXT)]);
    let mut txn = source.begin_write().expect("begun");
    assert!(txn.remove("a").expect("removed"));
    txn.commit().expect("committed");
    let source = source.snapshot().expect("a snapshot");
    let mut txn = index.begin_write().expect("begun");
    assert_eq!(txn.attach(&source, OnConflict::Skip).run().expect("attached").added, 1);
    txn.commit().expect("committed");
    assert_eq!(index.snapshot().expect("a snapshot").usage().expect("measured").dead, 0);
}
