//! Merges that stop half-way and are resumed by another process.

use crate::store::sim::testing::{filled, insert, open};
use crate::store::{Engine, check};
use std::sync::Arc;

fn assert_whole(engine: &Arc<Engine>, documents: u64) {
    let reader = engine.read().expect("a reader");
    assert_eq!(reader.len(), documents);
    let report = check(&reader).expect("checked");
    assert!(report.is_clean(), "{:#?}", report.violations);
    for number in 0..documents {
        let found = reader.view().find(&number.to_string()).expect("readable");
        assert_eq!(found.is_some(), number % 5 != 0, "document {number}");
    }
}

/// Finishes all merges and returns the number of steps.
fn finish(engine: &Arc<Engine>) -> usize {
    for steps in 1..1000 {
        let mut writer = engine.write().expect("begun");
        let more = writer.merge_some().expect("merged");
        writer.commit().expect("committed");
        if more.is_none() {
            return steps;
        }
    }
    panic!("the merges do not end");
}

#[test]
fn a_compaction_stopped_anywhere_resumes_after_reopening() {
    // One run, then several. With one run, the target covers the same documents as its source.
    for documents in [50, 400] {
        for stop_after in [0, 1, 3, 7, 20, 60] {
            let folder = tempfile::tempdir().expect("a temporary folder");
            let engine = filled(&folder, documents);
            finish(&engine);
            let mut writer = engine.write().expect("begun");
            writer.begin_compaction().expect("begun");
            writer.commit().expect("committed");
            for _ in 0..stop_after {
                let mut writer = engine.write().expect("begun");
                writer.merge_step(37).expect("merged");
                writer.commit().expect("committed");
            }
            let live = u64::from(documents) * 4 / 5;
            assert_whole(&engine, live);
            drop(engine);
            let engine = open(&folder);
            assert_whole(&engine, live);
            let mut writer = engine.write().expect("begun");
            writer.merge_step(91).expect("merged");
            writer.commit().expect("committed");
            drop(engine);
            let engine = open(&folder);
            finish(&engine);
            assert_whole(&engine, live);
            let left = engine.read().expect("a reader");
            assert_eq!(check(&left).expect("checked").unlisted_chunks, 0);
        }
    }
}

#[test]
fn a_finished_compaction_leaves_one_run_and_no_tombstones() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let engine = filled(&folder, 400);
    finish(&engine);
    let mut writer = engine.write().expect("begun");
    writer.begin_compaction().expect("begun");
    writer.commit().expect("committed");
    finish(&engine);
    let usage = engine.read().expect("a reader").usage().expect("measured");
    assert_eq!((usage.runs, usage.dead, usage.tail, usage.documents), (1, 0, 0, 320));
    assert_whole(&engine, 320);
}

#[test]
fn a_merge_deletes_the_tombstones_of_the_entries_that_it_drops() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let engine = filled(&folder, 100);
    let tombstones = || engine.read().expect("a reader").usage().expect("measured").dead;
    assert_eq!(tombstones(), 20);
    // The third run starts a merge, after the removals.
    insert(&engine, 101..151);
    finish(&engine);
    assert_eq!(tombstones(), 0);
    let report = check(&engine.read().expect("a reader")).expect("checked");
    assert!(report.is_clean(), "{:#?}", report.violations);
}
