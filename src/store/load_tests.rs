//! Opens files that must be refused, and checks the reasons.

use super::*;
use crate::store::engine::Engine;
use crate::store::settings::SettingsRequest;
use crate::store::sim::testing::{TUNING, filled, insert, open};
use redb::{Database, WriteTransaction};
use std::ops::Range;
use tempfile::TempDir;

fn tamper(folder: &TempDir, change: impl FnOnce(&WriteTransaction)) {
    let database = Database::open(folder.path().join("x.twx")).expect("opened");
    let txn = database.begin_write().expect("begun");
    change(&txn);
    txn.commit().expect("committed");
}

/// The errors of opening for reading and for writing.
fn refusals(folder: &TempDir) -> [Error; 2] {
    let path = folder.path().join("x.twx");
    let any = SettingsRequest::default();
    [
        Engine::open_read_only(&path, &any, TUNING).err().expect("refused"),
        Engine::open(&path, &any, TUNING).err().expect("refused"),
    ]
}

fn with_format(row: &[u8]) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    drop(filled(&folder, 50));
    tamper(&folder, |txn| {
        txn.open_table(META).expect("a table").insert(FORMAT_ROW, row).expect("written");
    });
    folder
}

#[test]
fn a_newer_format_is_refused_and_both_versions_are_named() {
    let folder = with_format(b"twindex\0\x06\0\0\0");
    for error in refusals(&folder) {
        assert!(matches!(error, Error::NewerFormat { found: 6, supported: 5, .. }), "{error}");
    }
}

#[test]
fn a_database_of_another_program_is_refused() {
    for row in [&b"another\0\x01\0\0\0"[..], b"twindex\0\x01", b""] {
        for error in refusals(&with_format(row)) {
            assert!(matches!(error, Error::NotAnIndex { .. }), "{error}");
        }
    }
}

/// An index whose last documents are in the tail.
fn with_tail(numbers: Range<u32>) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    drop(filled(&folder, 50));
    insert(&open(&folder), numbers);
    folder
}

#[test]
fn a_tail_with_missing_rows_is_refused() {
    for lost in [50, 63, 69] {
        let folder = with_tail(100..120);
        drop(open(&folder));
        tamper(&folder, |txn| {
            for table in [SIGNATURES, DOCUMENTS] {
                txn.open_table(table).expect("a table").remove(lost).expect("removed");
            }
        });
        for error in refusals(&folder) {
            assert!(matches!(error, Error::Damaged { table: "signatures", .. }), "{error}");
        }
    }
}

#[test]
fn a_tail_with_removed_documents_is_accepted() {
    let folder = with_tail(100..120);
    let engine = open(&folder);
    let mut writer = engine.write().expect("begun");
    for number in [100, 107, 119] {
        assert!(writer.remove(&number.to_string()).expect("removed"));
    }
    writer.commit().expect("committed");
    drop(engine);
    assert_eq!(open(&folder).read().expect("a reader").len(), 40 + 17);
}
