//! An index that follows a source has exactly what the source gives, after any changes of either.

use crate::support::{Place, Random, all_ids, assert_clean, text, tiny};
use std::collections::BTreeMap;
use twindex::{Content, Error, Index, Synced};

/// What an index has: the hash of the text of each id.
fn content(index: &Index) -> BTreeMap<String, twindex::TextHash> {
    let snapshot = index.snapshot().expect("a snapshot");
    let documents = snapshot.documents().map(|document| document.expect("readable"));
    documents.map(|document| (document.id().to_owned(), document.text_hash())).collect()
}

/// Changes rows of the source at random.
fn change(source: &mut BTreeMap<String, String>, random: &mut Random) {
    for _ in 0..random.below(30) {
        let id = random.below(80).to_string();
        match random.below(4) {
            0 => {
                source.remove(&id);
            }
            variant => {
                source.insert(id, text(random.below(12), variant, 20));
            }
        }
    }
}

#[test]
fn an_index_has_what_its_source_gives() {
    for seed in 0..30 {
        let place = Place::new();
        let index = tiny().create(place.index()).expect("created");
        let mut random = Random(seed);
        let (mut source, mut had) = (BTreeMap::new(), BTreeMap::new());
        for round in 0..12 {
            change(&mut source, &mut random);
            let mut txn = index.begin_write().expect("begun");
            if random.below(3) == 0 {
                // The index was changed by others, too.
                change(&mut had, &mut random);
                let mut sync = txn.sync();
                let rows: Vec<_> = had.iter().collect();
                sync.contents(&rows).expect("taken");
                sync.finish().expect("finished");
            }
            let mut rows: Vec<_> = source.iter().collect();
            rows.sort_by_cached_key(|_| random.next());
            let mut sync = txn.sync();
            for some in rows.chunks(1 + random.below(9) as usize) {
                sync.contents(some).expect("taken");
            }
            let synced = sync.finish().expect("finished");
            txn.commit().expect("committed");

            let kept = |id: &String| source.contains_key(id);
            let same = source.iter().filter(|(id, text)| had.get(*id) == Some(*text)).count();
            let added = source.keys().filter(|id| !had.contains_key(*id)).count();
            let expected = (added, source.len() - same - added, same);
            let Synced { added, replaced, unchanged, removed, .. } = synced;
            assert_eq!((added as usize, replaced as usize, unchanged as usize), expected);
            assert_eq!(removed as usize, had.keys().filter(|id| !kept(id)).count());

            let hash = |text: &String| Content::from(text).text_hash();
            let expected: BTreeMap<_, _> =
                source.iter().map(|(id, text)| (id.clone(), hash(text))).collect();
            assert_eq!(content(&index), expected, "seed {seed}, round {round}");
            assert_clean(&index.check().run().expect("checked"));
            had = source.clone();
        }
    }
}

#[test]
fn the_last_text_of_a_repeated_id_stays() {
    let place = Place::new();
    let index = tiny().create(place.index()).expect("created");
    for rows in [
        vec![("a", "one text"), ("a", "another text"), ("b", "a third text")],
        vec![("a", "one text"), ("b", "a third text"), ("a", "another text")],
        vec![("a", "another text"), ("a", "one text"), ("a", "another text")],
    ] {
        for size in [1, 2, 3] {
            let mut txn = index.begin_write().expect("begun");
            let mut sync = txn.sync();
            rows.chunks(size).for_each(|rows| sync.contents(rows).expect("taken"));
            sync.finish().expect("finished");
            txn.commit().expect("committed");
            let expected = Content::from("another text").text_hash();
            assert_eq!(content(&index)["a"], expected, "{rows:?} by {size}");
        }
    }
}

#[test]
fn a_run_that_is_not_finished_removes_nothing() {
    let place = Place::new();
    let index = tiny().create(place.index()).expect("created");
    let mut txn = index.begin_write().expect("begun");
    txn.insert("a", "a text").expect("inserted");
    let mut sync = txn.sync();
    sync.contents(&[("b", "another text")]).expect("taken");
    drop(sync);
    txn.commit().expect("committed");
    assert_eq!(all_ids(&index.snapshot().expect("a snapshot")), ["a", "b"]);
}

#[test]
fn a_source_that_gives_nothing_empties_the_index() {
    let place = Place::new();
    let index = tiny().create(place.index()).expect("created");
    let mut txn = index.begin_write().expect("begun");
    txn.insert("a", "a text").expect("inserted");
    let synced = txn.sync().finish().expect("finished");
    assert_eq!((synced.removed, txn.len()), (1, 0));
    txn.commit().expect("committed");
    assert_clean(&index.check().run().expect("checked"));
}

#[test]
fn a_bad_row_leaves_its_whole_call_out() {
    let place = Place::new();
    let index = tiny().create(place.index()).expect("created");
    let mut txn = index.begin_write().expect("begun");
    let mut sync = txn.sync();
    let refused = sync.contents(&[("a", "a text"), ("", "a text without an id")]);
    let Err(Error::RefusedDocument { place: 1, source, .. }) = refused else {
        panic!("{refused:?}");
    };
    assert!(matches!(*source, Error::InvalidId { length: 0, .. }), "{source:?}");
    sync.contents(&[("b", "another text")]).expect("taken");
    assert_eq!(sync.finish().expect("finished").added, 1);
    assert!(!txn.contains("a").expect("readable"));
}
