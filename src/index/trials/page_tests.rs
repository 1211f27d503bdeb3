//! Tests one damage of redb's pages each, with what a user sees of it.

use crate::error::Error;
use crate::index::handle::{Index, ReadOnlyIndex};
use crate::index::options::IndexOptions;
use crate::store::{leaves_of, silence_storage_panics};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use tempfile::TempDir;

const PAGE: usize = 4096;
const DOCUMENTS: u64 = 3000;

/// A closed index in a folder, and the bytes of its file.
fn filled() -> (TempDir, PathBuf, Vec<u8>) {
    silence_storage_panics();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("x.twx");
    let mut index =
        IndexOptions::new().lanes(64).flush_documents(1000).create(&path).expect("created");
    for block in 0..DOCUMENTS / 500 {
        let mut txn = index.begin_write().expect("begun");
        for number in block * 500..(block + 1) * 500 {
            txn.insert(&number.to_string(), &*format!("text {number}")).expect("inserted");
        }
        txn.commit().expect("committed");
    }
    // Documents in the tail would all be read by opening.
    index.compact().run().expect("compacted");
    index.close().expect("closed");
    let bytes = std::fs::read(&path).expect("readable");
    (folder, path, bytes)
}

/// Opens, lists and checks the file, adds to it and compacts it. Returns the first error of each.
fn errors(path: &PathBuf) -> Vec<Option<Error>> {
    let list = || {
        let snapshot = ReadOnlyIndex::open(path)?.snapshot()?;
        let ids = snapshot.ids().collect::<crate::Result<Vec<_>>>()?;
        assert!(ids.len() as u64 <= DOCUMENTS + 1, "an endless list");
        Ok(())
    };
    let check = || {
        let report = ReadOnlyIndex::open(path)?.check().run()?;
        assert!(report.is_clean(), "no page that was read is damaged");
        Ok(())
    };
    let add = || {
        let mut txn = Index::open(path)?.begin_write()?;
        for number in 0..DOCUMENTS {
            txn.insert(&number.to_string(), "replaced")?;
        }
        txn.commit()
    };
    let compact = || Index::open(path)?.compact().run();
    vec![list().err(), check().err(), add().err(), compact().err()]
}

fn assert_all_damaged(path: &PathBuf, table: &str) {
    for (number, error) in errors(path).into_iter().enumerate() {
        match error {
            Some(Error::Damaged { table: found, .. }) => assert_eq!(found, table, "{number}"),
            other => panic!("{number}: {other:?}"),
        }
    }
}

/// Repairs the file. Returns the number of documents that are lost.
fn lost_in_repair(path: &PathBuf) -> u64 {
    let repair = Index::repair(path).run().expect("repaired");
    assert!(repair.cause.is_some());
    assert_eq!(repair.documents + repair.lost, DOCUMENTS);
    assert!(ReadOnlyIndex::open(path).expect("opened").check().run().expect("read").is_clean());
    repair.lost
}

/// The pages of the file whose first byte is that of a branch; some may be free.
fn branches(bytes: &[u8]) -> Vec<usize> {
    let pages = bytes.chunks(PAGE).enumerate().skip(1);
    let found: Vec<usize> = pages.filter(|(_, page)| page[0] == 2).map(|(at, _)| at).collect();
    assert!(!found.is_empty(), "three thousand documents need branches");
    found
}

#[test]
fn a_flipped_bit_in_the_free_pages_is_found_before_documents_are_overwritten() {
    let (_folder, path, bytes) = filled();
    let storage = leaves_of(&bytes, "storage");
    assert!(!storage.is_empty());
    let mut found = 0;
    for page in storage {
        let mut bytes = bytes.clone();
        bytes[page * PAGE + 30] ^= 64;
        std::fs::write(&path, bytes).expect("written");
        let add = Index::open(&path).and_then(|index| {
            let mut txn = index.begin_write()?;
            txn.insert("new", "a new text")?;
            txn.commit()
        });
        match add {
            Err(error) => {
                assert!(matches!(error, Error::Damaged { table: "storage", .. }), "{error}");
                found += 1;
                assert_eq!(lost_in_repair(&path), 0, "page {page}");
            }
            Ok(()) => {
                let index = ReadOnlyIndex::open(&path).expect("opened");
                assert_eq!(index.snapshot().expect("read").ids().count() as u64, DOCUMENTS + 1);
            }
        }
    }
    assert!(found > 0);
}

#[test]
fn a_page_of_an_earlier_commit_is_damage_to_every_command() {
    let (_folder, path, bytes) = filled();
    let reused = (0..10).find_map(|round| {
        let index = Index::open(&path).expect("opened");
        let mut txn = index.begin_write().expect("begun");
        for number in 0..DOCUMENTS {
            let text = format!("another text {number} of round {round}");
            txn.insert(&number.to_string(), &*text).expect("inserted");
        }
        txn.commit().expect("committed");
        index.close().expect("closed");
        let after = std::fs::read(&path).expect("readable");
        let place = leaves_of(&after, "documents").into_iter().map(|p| p * PAGE..(p + 1) * PAGE);
        let old = |place: &std::ops::Range<usize>| bytes.get(place.clone());
        let mut place = place.filter(|place| old(place).is_some_and(|it| it[0] == 1));
        place.next().map(|place| (after, place))
    });
    let (mut after, place) = reused.expect("a page that was reused");
    after[place.clone()].copy_from_slice(&bytes[place]);
    std::fs::write(&path, after).expect("written");
    assert_all_damaged(&path, "documents");
}

#[test]
fn a_tree_that_has_become_a_cycle_ends_in_an_error() {
    let (_folder, path, bytes) = filled();
    let leaf = leaves_of(&bytes, "documents")[0];
    for branch in branches(&bytes) {
        let mut bytes = bytes.clone();
        // The branch lies where one of its leaves was, if it is that of the documents.
        bytes.copy_within(branch * PAGE..(branch + 1) * PAGE, leaf * PAGE);
        std::fs::write(&path, bytes).expect("written");
        assert_all_damaged(&path, "documents");
    }
    assert!(lost_in_repair(&path) < DOCUMENTS, "only the rows of that leaf are lost");
}

#[test]
fn a_page_number_with_a_wrong_order_asks_for_no_memory_and_its_page_is_found_again() {
    let (_folder, path, bytes) = filled();
    let mut found = 0;
    for branch in branches(&bytes) {
        let mut bytes = bytes.clone();
        let keys =
            usize::from(u16::from_le_bytes([bytes[branch * PAGE + 2], bytes[branch * PAGE + 3]]));
        // The highest byte of the first page number, after the checksums.
        bytes[branch * PAGE + 8 + 16 * (keys + 1) + 7] ^= 0xA0;
        std::fs::write(&path, bytes).expect("written");
        let broken = errors(&path).into_iter().flatten().count();
        if broken > 0 {
            found += 1;
            assert_eq!(lost_in_repair(&path), 0, "branch {branch}");
        }
    }
    assert!(found > 0);
}

#[test]
fn exchanged_pages_are_found_again_by_a_repair() {
    let (_folder, path, bytes) = filled();
    let leaves = leaves_of(&bytes, "documents");
    let (one, other) = (leaves[2].min(leaves[9]) * PAGE, leaves[2].max(leaves[9]) * PAGE);
    let mut bytes = bytes;
    let (head, tail) = bytes.split_at_mut(other);
    head[one..one + PAGE].swap_with_slice(&mut tail[..PAGE]);
    std::fs::write(&path, bytes).expect("written");
    assert_all_damaged(&path, "documents");
    assert_eq!(lost_in_repair(&path), 0);
}

#[test]
fn an_error_of_damage_stays_one_on_the_same_handle() {
    let (_folder, path, bytes) = filled();
    // Opening reads the roots of the tables and few leaves.
    let index = leaves_of(&bytes, "signatures").into_iter().find_map(|leaf| {
        let mut bytes = bytes.clone();
        bytes[leaf * PAGE + 100] ^= 1;
        std::fs::write(&path, bytes).expect("written");
        ReadOnlyIndex::open(&path).ok()
    });
    let index = index.expect("an index that opens although a leaf is damaged");
    for _ in 0..3 {
        let error = index.check().run().expect_err("damaged");
        assert!(matches!(error, Error::Damaged { table: "signatures", .. }), "{error}");
    }
}

#[test]
fn a_panic_of_the_callers_function_reaches_the_caller() {
    let (_folder, path, _) = filled();
    let index = ReadOnlyIndex::open(&path).expect("opened");
    let panic = catch_unwind(AssertUnwindSafe(|| {
        index.check().watch(|_| std::panic::resume_unwind(Box::new("mine")))
    }));
    let panic = panic.expect_err("a panic");
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"mine"));
    assert!(index.check().run().expect("read").is_clean());
}
