//! Reads stored files of each version of the format and compares their answers.
//!
//! `cargo test --test integration -- --ignored make_the_file_of_this_format` makes the files of the
//! current version. It refuses to replace an existing file, because released files must not change.

use crate::support::{Place, all_ids, assert_clean, text, tiny};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use twindex::{FORMAT_VERSION, Index, Snapshot, TrackedCluster};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// The answers of a snapshot: a line for each document, in order, one for each pair, and one for
/// each tracked cluster.
fn answers(snapshot: &Snapshot) -> String {
    let mut all = String::new();
    for id in all_ids(snapshot) {
        let info = snapshot.get(&id).expect("readable").expect("it is listed");
        let lanes = info.signature.lanes().iter();
        let lanes = lanes.fold(String::new(), |hex, lane| hex + &format!("{lane:02x}"));
        writeln!(all, "document\t{id}\t{}\t{lanes}", info.text_bytes).expect("written");
    }
    for pair in snapshot.pairs(0.7).expect("a threshold") {
        let pair = pair.expect("a pair");
        writeln!(all, "pair\t{}\t{}\t{:.6}", pair.a, pair.b, pair.similarity).expect("written");
    }
    if snapshot.tracks_clusters() {
        for cluster in snapshot.tracked_clusters().expect("tracked").iter() {
            let TrackedCluster { cluster, members, .. } = cluster.expect("a cluster");
            writeln!(all, "cluster\t{cluster}\t{}", members.join("\t")).expect("written");
        }
    }
    all
}

#[test]
fn files_of_every_format_can_be_read_and_written() {
    let mut seen = 0;
    for entry in fs::read_dir(folder()).expect("the folder is there") {
        let file = entry.expect("readable").path();
        if file.extension().is_none_or(|extension| extension != "twx") {
            continue;
        }
        seen += 1;
        let expected = fs::read_to_string(file.with_extension("tsv")).expect("its answers");
        let place = Place::new();
        fs::copy(&file, place.index()).expect("copied");
        {
            let index = Index::options().open_read_only(place.index()).expect("opened");
            let snapshot = index.snapshot().expect("a snapshot");
            assert_eq!(answers(&snapshot), expected, "{file:?}");
            assert!(file.ends_with(format!("format-{}.twx", snapshot.format_version())));
            assert_clean(&index.check().run().expect("checked"));
        }
        let mut index = tiny().open(place.index()).expect("opened to write");
        let mut txn = index.begin_write().expect("begun");
        for id in 0..30 {
            txn.insert(&format!("new {id}"), &text(500 + id, id, 30)).expect("inserted");
        }
        txn.commit().expect("committed");
        index.compact().run().expect("compacted");
        let mut txn = index.begin_write().expect("begun");
        for id in 0..30 {
            assert!(txn.remove(&format!("new {id}")).expect("removed"));
        }
        txn.commit().expect("committed");
        index.compact().run().expect("compacted");
        let mut pairs: Vec<String> =
            answers(&index.snapshot().expect("a snapshot")).lines().map(str::to_owned).collect();
        let mut expected: Vec<String> = expected.lines().map(str::to_owned).collect();
        let snapshot = index.snapshot().expect("a snapshot");
        let version = snapshot.format_version();
        assert_eq!(version, FORMAT_VERSION, "{file:?} after writing");
        // Documents and pairs keep their order.
        pairs.sort();
        expected.sort();
        assert_eq!(pairs, expected, "{file:?} after writing");
        assert_clean(&index.check().run().expect("checked"));
    }
    assert_eq!(seen, FORMAT_VERSION, "a file of each format");
}

#[test]
#[ignore = "makes a file that is kept"]
fn make_the_file_of_this_format() {
    let place = Place::new();
    let options = tiny().lanes(64).threshold(0.7).passages(24);
    let index = options.create(place.index()).expect("created");
    index.track_clusters().run().expect("tracked");
    let version = index.snapshot().expect("a snapshot").format_version();
    let file = folder().join(format!("format-{version}.twx"));
    assert!(!file.exists(), "{} is there", file.display());
    for batch in 0..11 {
        let mut txn = index.begin_write().expect("begun");
        for number in batch * 9..batch * 9 + 9 {
            txn.insert(&format!("id {number}"), &text(number / 4, number, 30)).expect("inserted");
        }
        // A replaced, a removed and an empty document.
        txn.insert(&format!("id {}", batch * 3), &text(90 + batch, 1, 30)).expect("inserted");
        txn.remove(&format!("id {}", batch * 5)).expect("removed");
        txn.insert(&format!("empty {batch}"), " ").expect("inserted");
        txn.insert(&format!("Überschrift {batch}"), "漢字 und ein kurzer Text").expect("inserted");
        txn.commit().expect("committed");
    }
    let expected = answers(&index.snapshot().expect("a snapshot"));
    let usage = index.snapshot().expect("a snapshot").usage().expect("measured");
    assert!(usage.tail > 0 && usage.runs > 1 && usage.dead > 0, "{usage:?}");
    drop(index);
    fs::create_dir_all(folder()).expect("a folder");
    fs::copy(place.index(), &file).expect("copied");
    fs::write(file.with_extension("tsv"), expected).expect("written");
}
