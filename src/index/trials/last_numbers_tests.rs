//! Tests an index that has used nearly all document numbers: the last ones are like any others, and
//! then it is full.

use crate::error::Error;
use crate::index::group::clusters::Linkage;
use crate::index::group::order::Keep;
use crate::index::handle::Index;
use crate::index::options::IndexOptions;
use crate::index::write::outcome::OnConflict;
use crate::store::sim::testing::set_next_number;
use crate::text::Shingle;
use tempfile::TempDir;

const NAME: &str = "i.twx";

fn options() -> IndexOptions {
    Index::options().shingle(Shingle::words(1)).passages(4).store_text(true).flush_documents(3)
}

/// An index without documents whose next one gets this number.
fn index_with_next(folder: &TempDir, number: u64) -> Index {
    let path = folder.path().join(NAME);
    drop(options().create(&path).expect("created"));
    set_next_number(&path, number);
    options().open(path).expect("opened")
}

/// Inserts copies of one text until no number is left. Returns their ids.
fn fill(index: &Index) -> Vec<String> {
    let mut ids = Vec::new();
    for number in 0..20 {
        let mut txn = index.begin_write().expect("begun");
        let id = format!("copy {number:02}");
        match txn.insert(&id, "one and the same text under all of the last numbers") {
            Ok(_) => txn.commit().expect("committed"),
            Err(Error::Full { .. }) => return ids,
            Err(error) => panic!("{error}"),
        }
        ids.push(id);
    }
    panic!("the index is never full");
}

fn assert_clean(index: &Index) {
    let report = index.check().run().expect("checked");
    assert!(report.is_clean(), "{:#?}", report.violations);
}

#[test]
fn the_documents_with_the_last_numbers_are_found_in_every_way() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut index = index_with_next(&folder, (1 << 32) - 6);
    index.track_clusters().run().expect("tracked");
    let ids = fill(&index);
    assert!(ids.len() >= 5, "{ids:?}");
    for round in 0..2 {
        let snapshot = index.snapshot().expect("a snapshot");
        let found: Vec<String> = snapshot.ids().collect::<Result<_, _>>().expect("read");
        assert_eq!(found, ids);
        let text = "one and the same text under all of the last numbers";
        for query in [snapshot.query(), snapshot.query().scan(true)] {
            assert_eq!(query.by_text(text).expect("answered").len(), ids.len(), "round {round}");
        }
        assert_eq!(snapshot.pairs(0.8).expect("pairs").count(), ids.len() * (ids.len() - 1) / 2);
        let last = ids.last().expect("an id");
        for linkage in [Linkage::Representative, Linkage::Connected] {
            let clustering = snapshot.clusters(0.8).expect("a threshold").linkage(linkage);
            let preferred = clustering.clone().prefer([last]).expect("read");
            for (kept, first) in [(clustering.keep(Keep::Longest), &ids[0]), (preferred, last)] {
                let clusters = kept.find().run().expect("found");
                let cluster = clusters.get(0).expect("a cluster");
                assert_eq!((clusters.len(), cluster.len()), (1, ids.len()), "{linkage:?}");
                assert_eq!(cluster.representative().expect("read"), *first, "{linkage:?}");
            }
        }
        let repeats = snapshot.repeats().expect("passages").next().expect("one").expect("read");
        assert_eq!(repeats.passages[0].documents, ids.len() as u64);
        let tracked = snapshot.tracked_clusters().expect("tracked");
        assert_eq!(tracked.members(1).expect("read"), ids);
        drop(tracked);
        drop(snapshot);
        assert_clean(&index);
        index.compact().run().expect("compacted");
    }
}

#[test]
fn an_index_of_few_documents_and_many_numbers_begins_to_track_its_clusters() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    // A place for each number would take 16 GiB and minutes.
    let index = index_with_next(&folder, (1 << 32) - 90);
    let mut txn = index.begin_write().expect("begun");
    for number in 0..60 {
        let family = number % 20;
        let text = format!("{family} words {family} of {family} a {family} family {family}");
        txn.insert(&number.to_string(), &text).expect("inserted");
    }
    for number in (0..60).step_by(7) {
        assert!(txn.remove(&number.to_string()).expect("removed"));
    }
    txn.commit().expect("committed");
    let count = index.track_clusters().run().expect("tracked");
    assert_eq!(count, 20);
    let snapshot = index.snapshot().expect("a snapshot");
    let clusters = snapshot.clusters(0.8).expect("a threshold").linkage(Linkage::Connected);
    let clusters = clusters.find().run().expect("found");
    let tracked = snapshot.tracked_clusters().expect("tracked");
    for cluster in &clusters {
        let members: Vec<String> = cluster.members().collect::<Result<_, _>>().expect("read");
        let id = tracked.cluster_of(&members[0]).expect("read").expect("a cluster");
        assert_eq!(tracked.members(id).expect("read"), members);
    }
    assert_eq!(clusters.len(), 20);
    assert_clean(&index);
}

#[test]
fn a_full_index_takes_no_more_documents_and_keeps_those_that_it_has() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let index = index_with_next(&folder, (1 << 32) - 4);
    let ids = fill(&index);
    let mut txn = index.begin_write().expect("begun");
    assert!(matches!(txn.insert(&ids[0], "another text"), Err(Error::Full { .. })));
    assert!(txn.commit().is_err());
    let other = options().create(folder.path().join("other.twx")).expect("created");
    let mut txn = other.begin_write().expect("begun");
    txn.insert("other", "a text of its own").expect("inserted");
    txn.commit().expect("committed");
    let source = other.snapshot().expect("a snapshot");
    let mut txn = index.begin_write().expect("begun");
    let attached = txn.attach(&source, OnConflict::Skip).run();
    assert!(matches!(attached, Err(Error::Full { .. })), "{attached:?}");
    drop(txn);
    let mut txn = index.begin_write().expect("begun");
    assert!(txn.remove(&ids[1]).expect("removed"));
    txn.commit().expect("committed");
    index.close().expect("closed");
    let index = options().open(folder.path().join(NAME)).expect("opened");
    assert_eq!(index.snapshot().expect("a snapshot").len(), ids.len() as u64 - 1);
    assert_clean(&index);
}
