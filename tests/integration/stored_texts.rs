//! Stored texts: they are returned unchanged, follow their documents, and are reported if missing.

use crate::support::assert_clean;
use twindex::{Document, Error, Index, IndexOptions, Inserted, OnConflict, Outcome};

fn options() -> IndexOptions {
    Index::options().store_text(true).lanes(64)
}

fn text(number: u32) -> String {
    format!(
        "  Note {number}:\tÜber das Wetter am Tag {} läßt sich wenig sagen. \u{1f}\0\r\n",
        number * 7
    )
}

fn filled(folder: &tempfile::TempDir, count: u32) -> Index {
    let index = options().create(folder.path().join("a.twx")).expect("created");
    let mut txn = index.begin_write().expect("begun");
    let documents: Vec<(String, String)> =
        (0..count).map(|number| (number.to_string(), text(number))).collect();
    txn.insertion().contents(&documents).expect("inserted");
    txn.commit().expect("committed");
    index
}

/// Asserts that the index has exactly the texts with these numbers.
fn has(index: &Index, numbers: impl Iterator<Item = u32>) {
    let snapshot = index.snapshot().expect("a snapshot");
    let mut count = 0;
    for number in numbers {
        let found = snapshot.text(&number.to_string()).expect("readable");
        assert_eq!(found.as_deref(), Some(text(number).as_str()));
        count += 1;
    }
    assert_eq!(snapshot.len(), count);
    assert_clean(&index.check().run().expect("checked"));
}

#[test]
fn texts_are_returned_byte_for_byte_with_and_without_a_dictionary() {
    for count in [20, 2000] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let index = filled(&folder, count);
        has(&index, 0..count);
        drop(index);
        let index = Index::open(folder.path().join("a.twx")).expect("opened again");
        has(&index, 0..count);
    }
}

#[test]
fn a_text_is_removed_with_its_document() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut index = filled(&folder, 1000);
    let mut txn = index.begin_write().expect("begun");
    assert_eq!(txn.insert("3", "another text").expect("inserted"), Inserted::Replaced);
    assert_eq!(txn.insert("4", &text(4)).expect("inserted"), Inserted::Unchanged);
    for number in (0..1000).filter(|number| number % 2 == 1) {
        assert!(txn.remove(&number.to_string()).expect("removed"));
    }
    txn.commit().expect("committed");
    has(&index, (0..1000).step_by(2));
    assert_eq!(index.snapshot().expect("a snapshot").text("3").expect("readable"), None);
    index.compact().run().expect("compacted");
    has(&index, (0..1000).step_by(2));
}

#[test]
fn an_uncommitted_transaction_stores_no_text_and_no_dictionary() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let index = filled(&folder, 3);
    let mut txn = index.begin_write().expect("begun");
    let documents: Vec<(String, String)> =
        (0..2000).map(|number| (number.to_string(), text(number))).collect();
    txn.insertion().contents(&documents).expect("inserted");
    txn.abort();
    has(&index, 0..3);
    let mut txn = index.begin_write().expect("begun");
    txn.insert("3", &text(3)).expect("inserted");
    txn.commit().expect("committed");
    has(&index, 0..4);
}

#[test]
fn backup_and_merge_copy_the_texts() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let index = filled(&folder, 700);
    let copy = folder.path().join("copy.twx");
    index.snapshot().expect("a snapshot").backup(&copy).run().expect("copied");
    has(&Index::open(&copy).expect("opened"), 0..700);

    let merged = options().create(folder.path().join("merged.twx")).expect("created");
    let mut txn = merged.begin_write().expect("begun");
    let source = index.snapshot().expect("a snapshot");
    assert_eq!(txn.merge(&source, OnConflict::Replace).run().expect("merged").added, 700);
    txn.commit().expect("committed");
    has(&merged, 0..700);
}

#[test]
fn a_document_without_its_text_is_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let index = filled(&folder, 1);
    let bare = Document::sketch("bare", "some text", index.sketcher()).expect("a valid id");
    let mut txn = index.begin_write().expect("begun");
    let refused = txn.insertion().document(bare.clone());
    assert!(matches!(refused, Err(Error::MissingText { id }) if id == "bare"));
    let whole = bare.with_content("some text");
    let outcome = txn.insertion().document(whole).expect("taken");
    assert_eq!(outcome, Outcome::Inserted(Inserted::Added));
}

#[test]
fn reading_a_text_from_an_index_without_texts_is_an_error() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("none.twx");
    let index = Index::create(&path).expect("created");
    let asked = index.snapshot().expect("a snapshot").text("a");
    assert!(matches!(asked, Err(Error::NoTexts { .. })));
    drop(index);
    let refused = options().open(&path);
    assert!(matches!(refused, Err(Error::SettingMismatch { setting: "lanes", .. })));
    let refused = Index::options().store_text(true).open(&path);
    assert!(matches!(refused, Err(Error::SettingMismatch { setting: "store_text", .. })));
}
