//! Tests that a backup has all rows of its source, and that one in which rows are missing, or are
//! too many, is refused.

use super::*;
use crate::error::Error;
use crate::store::bytes::clusters::Tracking;
use crate::store::bytes::record::encode_fences;
use crate::store::bytes::schema::{CLUSTERS_ROW, posting_key};
use crate::store::care::check::check;
use crate::store::engine::Engine;
use crate::store::progress::unwatched;
use crate::store::settings::SettingsRequest;
use crate::store::sim::testing::{TUNING, filled_with_passages, open};
use tempfile::TempDir;

/// Two runs of 50 documents with texts and fingerprints, and a tail of 20. One is removed.
fn index() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let engine = filled_with_passages(&folder, 120);
    let mut writer = engine.write().expect("begun");
    assert!(writer.remove("5").expect("removed"));
    writer.commit().expect("committed");
    folder
}

/// Copies the index after a change made directly to its tables.
fn backed_up(folder: &TempDir, change: impl FnOnce(&WriteTransaction)) -> Result<()> {
    let database = Database::open(folder.path().join("x.twx")).expect("opened");
    let txn = database.begin_write().expect("begun");
    change(&txn);
    txn.commit().expect("committed");
    drop(database);
    let reader = open(folder).read()?;
    let copy = folder.path().join("copy.twx");
    backup(&reader, &copy, &mut Watch::new(&copy, ("copying", ""), &mut unwatched))
}

#[track_caller]
fn assert_refused(expected: &str, change: impl FnOnce(&WriteTransaction)) {
    let folder = index();
    let refused = backed_up(&folder, change).expect_err(expected);
    assert!(matches!(refused, Error::Damaged { .. }), "{refused}");
    let message = refused.to_string();
    assert!(message.contains(expected), "{expected} is not in {message}");
    let files = std::fs::read_dir(folder.path()).expect("readable").count();
    assert_eq!(files, 1, "nothing is left of the copy");
}

#[test]
fn a_copy_has_all_rows_but_those_of_an_unfinished_merge() {
    let folder = index();
    backed_up(&folder, |txn| {
        let mut postings = txn.open_table(POSTINGS).expect("a table");
        let key = posting_key(RunNo(99), BandNo(3), 0);
        postings.insert(key, &b"no longer needed"[..]).expect("written");
    })
    .expect("copied");
    let of = |name: &str| {
        let path = folder.path().join(name);
        let engine = Engine::open_read_only(&path, &SettingsRequest::default(), TUNING);
        let reader = engine.expect("opened").read().expect("a reader");
        let report = check(&reader).expect("checked");
        assert!(report.is_clean(), "{name}: {:#?}", report.violations);
        let content = reader.state.content(reader.view().fixed.layout);
        (report.documents, report.entries, report.unlisted_chunks, content)
    };
    let ((documents, entries, unlisted, content), copy) = (of("x.twx"), of("copy.twx"));
    assert_eq!((documents, unlisted), (119, 1));
    assert_eq!(copy, (documents, entries, 0, content));
}

#[test]
fn a_missing_chunk_is_noticed() {
    assert_refused("damaged: runs all: the tables have", |txn| {
        let mut postings = txn.open_table(POSTINGS).expect("a table");
        postings.pop_first().expect("popped").expect("a chunk");
    });
}

#[test]
fn the_fences_of_a_run_that_is_not_there_are_noticed() {
    assert_refused("damaged: runs all: the tables have", |txn| {
        let row = encode_fences(&[1], RunNo(99), BandNo(0));
        let mut fences = txn.open_table(FENCES).expect("a table");
        fences.insert((99, 0), &row[..]).expect("written");
    });
}

#[test]
fn a_missing_row_of_a_document_is_noticed() {
    for table in [DOCUMENTS, SIGNATURES, TEXTS, FINGERPRINTS] {
        assert_refused("it has 118 rows instead of 119", |txn| {
            txn.open_table(table).expect("a table").remove(7).expect("removed");
        });
    }
}

#[test]
fn a_damaged_row_is_not_copied() {
    let tables = [
        (DOCUMENTS, "documents 7"),
        (SIGNATURES, "signatures 7"),
        (TEXTS, "texts 7"),
        (FINGERPRINTS, "fingerprints 7"),
    ];
    for (table, place) in tables {
        assert_refused(&format!("damaged: {place}: its checksum does not match"), |txn| {
            let mut table = txn.open_table(table).expect("a table");
            table.insert(7, &b"not a row"[..]).expect("written");
        });
    }
    let key = posting_key(RunNo(0), BandNo(3), 0);
    let place = format!("damaged: postings {key:#018x}: its checksum does not match");
    assert_refused(&place, |txn| {
        let mut postings = txn.open_table(POSTINGS).expect("a table");
        postings.insert(key, &b"not a row"[..]).expect("written");
    });
}

#[test]
fn a_damaged_row_of_tracked_clusters_or_of_a_run_is_not_copied() {
    let damage = &b"not a row"[..];
    assert_refused("damaged: meta dedup 0000000000000007: its checksum does not match", |txn| {
        let mut meta = txn.open_table(META).expect("a table");
        meta.insert("dedup 0000000000000007", damage).expect("written");
    });
    let tracked = |txn: &WriteTransaction| {
        let row = Tracking::begin(1).encode();
        let mut meta = txn.open_table(META).expect("a table");
        meta.insert(CLUSTERS_ROW, &row[..]).expect("written");
        txn.open_table(CLUSTERS).expect("a table");
        txn.open_table(MEMBERS).expect("a table");
    };
    assert_refused("damaged: cluster changes 1 5: its checksum does not match", |txn| {
        tracked(txn);
        let mut changes = txn.open_table(CLUSTER_CHANGES).expect("a table");
        changes.insert((1, 5), damage).expect("written");
    });
}
