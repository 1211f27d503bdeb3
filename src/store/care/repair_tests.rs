//! Tests what a repair restores, what it loses, and what it leaves unchanged.

use super::*;
use crate::store::bytes::schema::{
    DEAD, DOCUMENTS, FENCES, META, POSTINGS, RUNS, SIGNATURES, STATE_ROW, TEXTS,
};
use crate::store::progress::unwatched;
use crate::store::sim::testing::{TUNING, documents, filled, filled_with_texts, open};
use crate::store::write::dedup_row::{DedupRow, DedupStage};
use redb::{Database, ReadableDatabase, ReadableTable, ReadableTableMetadata, WriteTransaction};
use tempfile::TempDir;

fn path(folder: &TempDir) -> PathBuf {
    folder.path().join("x.twx")
}

/// Leaves the clusters as they are.
fn as_they_are(_: &Arc<Engine>, _: &mut Watch<'_>) -> Result<()> {
    Ok(())
}

fn repair_file(path: &Path) -> Result<Repair> {
    repair(path, &SettingsRequest::default(), TUNING, &mut |_| {}, as_they_are, &mut unwatched)
}

/// An index of 200 documents, a fifth of them removed, with a change made directly to its tables.
fn tampered(change: impl FnOnce(&WriteTransaction)) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    drop(filled(&folder, 200));
    let database = Database::open(path(&folder)).expect("opened");
    let txn = database.begin_write().expect("begun");
    change(&txn);
    txn.commit().expect("committed");
    folder
}

/// The rows of `documents` and `signatures`, byte for byte.
fn rows(folder: &TempDir) -> Vec<(u32, Vec<u8>, Vec<u8>)> {
    let database = Database::open(path(folder)).expect("opened");
    let txn = database.begin_read().expect("begun");
    let signatures = txn.open_table(SIGNATURES).expect("a table");
    let documents = txn.open_table(DOCUMENTS).expect("a table");
    let rows = documents.iter().expect("readable").map(|row| {
        let (number, record) = row.expect("readable");
        let signature = signatures.get(number.value()).expect("readable").expect("both");
        (number.value(), record.value().to_vec(), signature.value().to_vec())
    });
    rows.collect()
}

/// The length of the file, and the number of its records.
fn length_and_records(folder: &TempDir) -> (u64, u64) {
    let length = path(folder).metadata().expect("a file").len();
    let database = Database::open(path(folder)).expect("opened");
    let txn = database.begin_read().expect("begun");
    (length, txn.open_table(DOCUMENTS).expect("a table").len().expect("counted"))
}

fn assert_clean(folder: &TempDir) {
    let report = crate::store::care::check::check(&open(folder).read().expect("a reader"));
    let report = report.expect("readable");
    assert!(report.is_clean(), "{:#?}", report.violations);
}

#[test]
fn an_undamaged_file_is_left_unchanged() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    drop(filled(&folder, 200));
    let before = rows(&folder);
    let repair = repair_file(&path(&folder)).expect("checked");
    assert_eq!((repair.cause, repair.documents, repair.lost), (None, 160, 0));
    assert_eq!(rows(&folder), before);
}

#[test]
fn rows_that_follow_from_others_are_restored() {
    type Damage = fn(&WriteTransaction);
    let damages: [(&str, Damage); 6] = [
        ("a chunk", |txn| {
            let mut postings = txn.open_table(POSTINGS).expect("a table");
            let key = postings.first().expect("readable").expect("a chunk").0.value();
            postings.insert(key, &b"no chunk"[..]).expect("written");
        }),
        ("all chunks", |txn| {
            txn.delete_table(POSTINGS).expect("deleted");
            txn.open_table(POSTINGS).expect("a table");
        }),
        ("the fences", |txn| {
            let mut fences = txn.open_table(FENCES).expect("a table");
            fences.retain(|_, _| false).expect("deleted");
        }),
        ("a run", |txn| {
            let mut runs = txn.open_table(RUNS).expect("a table");
            let key = runs.first().expect("readable").expect("a run").0.value();
            runs.insert(key, &b"no run"[..]).expect("written");
        }),
        ("the tombstones", |txn| {
            txn.open_table(DEAD).expect("a table").insert(0, &b"none"[..]).expect("written");
        }),
        ("the counters", |txn| {
            let mut meta = txn.open_table(META).expect("a table");
            meta.insert(STATE_ROW, &b"nothing"[..]).expect("written");
        }),
    ];
    for (name, damage) in damages {
        let folder = tampered(damage);
        let before = rows(&folder);
        let repair = repair_file(&path(&folder)).expect(name);
        assert!(repair.cause.is_some(), "{name}");
        assert_eq!((repair.documents, repair.lost), (160, 0), "{name}");
        // Without the counters, documents may have been lost unnoticed, so the file is kept.
        assert_eq!(repair.kept.is_some(), name == "the counters", "{name}");
        if let Some(kept) = repair.kept {
            fs::remove_file(kept).expect("removed");
        }
        assert_eq!(rows(&folder), before, "{name}: undamaged rows are unchanged");
        assert_clean(&folder);
        let found = open(&folder).read().expect("a reader").view().find("7").expect("readable");
        assert!(found.is_some(), "{name}");
        let files = fs::read_dir(folder.path()).expect("readable").count();
        assert_eq!(files, 1, "{name}: no other file is left");
    }
}

#[test]
fn unreadable_documents_are_listed_and_the_old_file_is_kept() {
    let folder = tampered(|txn| {
        let mut signatures = txn.open_table(SIGNATURES).expect("a table");
        signatures.insert(7, &b"no signature"[..]).expect("written");
        let mut documents = txn.open_table(DOCUMENTS).expect("a table");
        documents.insert(8, &b"no record"[..]).expect("written");
    });
    let repair = repair_file(&path(&folder)).expect("repaired");
    assert_eq!((repair.documents, repair.lost), (158, 2));
    assert_eq!(repair.lost_ids, ["7"]);
    let kept = repair.kept.expect("the damaged file is kept");
    assert!(kept.ends_with("x.twx.damaged") && kept.exists());
    assert_clean(&folder);
    let engine = open(&folder);
    assert!(engine.read().expect("a reader").view().find("9").expect("readable").is_some());
}

#[test]
fn a_document_without_its_text_is_lost_and_others_keep_their_texts() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let engine = filled_with_texts(&folder, 0);
    let mut writer = engine.write().expect("begun");
    let mut batch = writer.batch(documents(&engine, 0..2000)).expect("looked up");
    while let Some(entry) = batch.next().expect("looked up") {
        entry.insert().expect("inserted");
    }
    batch.finish().expect("written");
    writer.commit().expect("committed");
    drop(engine);
    let database = Database::open(path(&folder)).expect("opened");
    let txn = database.begin_write().expect("begun");
    txn.open_table(TEXTS).expect("a table").remove(7).expect("removed");
    txn.commit().expect("committed");
    drop(database);
    let repair = repair_file(&path(&folder)).expect("repaired");
    assert_eq!((repair.documents, repair.lost), (1999, 1));
    assert_eq!(repair.lost_ids, ["7"]);
    assert_clean(&folder);
    let reader = open(&folder).read().expect("a reader");
    let text = reader.view().text(DocNo(1234)).expect("readable");
    assert_eq!(text, "document number 1234");
}

#[test]
fn a_damaged_page_loses_only_the_documents_on_it() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    drop(filled(&folder, 2000));
    let mut bytes = fs::read(path(&folder)).expect("readable");
    // The 64 lanes of a signature locate its page in the file.
    let lanes = {
        let reader = open(&folder).read().expect("a reader");
        reader.view().with_signature(DocNo(1001), |lanes, _| lanes.to_vec()).expect("there")
    };
    let windows = bytes.windows(64).enumerate();
    // Free pages may contain the lanes too.
    let stored: Vec<usize> = windows.filter(|(_, w)| *w == lanes).map(|(at, _)| at).collect();
    assert!(!stored.is_empty());
    for at in stored {
        *bytes.get_mut(at).expect("within the file") ^= 1;
    }
    fs::write(path(&folder), bytes).expect("written");
    let repair = repair_file(&path(&folder)).expect("repaired");
    assert_eq!((repair.documents, repair.lost), (1599, 1), "{:?}", repair.cause);
    assert_eq!(repair.lost_ids, ["1001"]);
    assert_clean(&folder);
}

#[test]
fn a_repair_that_would_keep_no_document_is_refused() {
    let folder = tampered(|txn| {
        let mut signatures = txn.open_table(SIGNATURES).expect("a table");
        signatures.retain(|_, _| false).expect("written");
    });
    let before = length_and_records(&folder);
    let refused = repair_file(&path(&folder)).expect_err("refused");
    assert!(matches!(refused, Error::Damaged { .. }), "{refused}");
    assert_eq!(length_and_records(&folder), before);
    assert!(!folder.path().join("x.twx.damaged").exists());
}

#[test]
fn a_file_without_settings_is_refused_and_left_unchanged() {
    let folder = tampered(|txn| {
        let mut meta = txn.open_table(META).expect("a table");
        meta.insert("settings", &b"none"[..]).expect("written");
    });
    let before = fs::read(path(&folder)).expect("readable");
    let refused = repair_file(&path(&folder)).expect_err("refused");
    assert!(matches!(refused, Error::Damaged { table: "meta", .. }), "{refused}");
    assert_eq!(fs::read(path(&folder)).expect("readable").len(), before.len());
    let missing = repair_file(&folder.path().join("missing"));
    assert!(matches!(missing, Err(Error::NotFound { .. })));
}

#[test]
fn swapped_pages_lose_some_documents_but_not_all() {
    const PAGE: usize = 4096;
    let folder = tempfile::tempdir().expect("a temporary folder");
    drop(filled(&folder, 3000));
    let whole = fs::read(path(&folder)).expect("readable");
    let mut random = fastrand::Rng::with_seed(1);
    let (mut repaired, mut documents) = (0, 0);
    for _ in 0..40 {
        let mut bytes = whole.clone();
        let mut pages: Vec<usize> = (1..bytes.len() / PAGE).collect();
        random.shuffle(&mut pages);
        let (a, b) = (pages.remove(0) * PAGE, pages.remove(0) * PAGE);
        let page = bytes.get(a..a + PAGE).expect("a page").to_vec();
        bytes.copy_within(b..b + PAGE, a);
        bytes.get_mut(b..b + PAGE).expect("a page").copy_from_slice(&page);
        fs::write(path(&folder), bytes).expect("written");
        match repair_file(&path(&folder)) {
            Ok(repair) => {
                assert_eq!(repair.documents + repair.lost, 2400, "{repair:?}");
                assert_clean(&folder);
                repaired += u64::from(repair.cause.is_some());
                documents += if repair.cause.is_some() { repair.documents } else { 0 };
                if let Some(kept) = repair.kept {
                    fs::remove_file(kept).expect("removed");
                }
            }
            Err(error) => assert!(matches!(error, Error::Damaged { .. }), "{error}"),
        }
    }
    assert!(repaired > 5, "{repaired} of 40");
    assert!(documents > repaired * 2400 / 2, "{documents} documents of {repaired} files");
}

#[cfg(unix)]
#[test]
fn a_repair_keeps_the_permissions_of_the_file_and_the_link_to_it() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = tampered(|txn| {
        txn.open_table(DEAD).expect("a table").insert(0, &b"none"[..]).expect("written");
    });
    fs::set_permissions(path(&folder), fs::Permissions::from_mode(0o600)).expect("set");
    let link = folder.path().join("link.twx");
    symlink("x.twx", &link).expect("linked");
    assert!(repair_file(&link).expect("repaired").cause.is_some());
    let mode = fs::metadata(path(&folder)).expect("there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(link.symlink_metadata().expect("there").is_symlink());
    assert_clean(&folder);
}

#[cfg(unix)]
#[test]
fn a_repair_never_replaces_an_index_that_took_the_name_meanwhile() {
    use crate::error::ErrorKind;
    use std::ops::ControlFlow;
    let folder = tampered(|txn| {
        // A document is lost, so the damaged file gets a second name, which is removed again.
        txn.open_table(SIGNATURES).expect("a table").remove(7).expect("removed");
    });
    let other = tempfile::tempdir().expect("a temporary folder");
    drop(filled(&other, 50));
    let (path, moved) = (path(&folder), folder.path().join("moved.twx"));
    let is_new = |entry: std::io::Result<fs::DirEntry>| {
        entry.expect("one").file_name().to_string_lossy().starts_with(".twindex-")
    };
    let mut tell = |_| {
        let has_begun = fs::read_dir(folder.path()).expect("a folder").any(is_new);
        if has_begun && !moved.exists() {
            fs::rename(&path, &moved).expect("moved");
            fs::copy(other.path().join("x.twx"), &path).expect("copied");
        }
        ControlFlow::Continue(())
    };
    let repaired =
        repair(&path, &SettingsRequest::default(), TUNING, &mut |_| {}, as_they_are, &mut tell);
    assert_eq!(repaired.expect_err("another file has the name").kind(), ErrorKind::Moved);
    assert!(moved.exists(), "it was moved");
    assert_eq!(fs::read(&path).ok(), fs::read(other.path().join("x.twx")).ok());
    let names = fs::read_dir(folder.path()).expect("a folder").count();
    assert_eq!(names, 2, "neither the new file nor a second name of the old one is left");
}

#[test]
fn a_repair_keeps_what_deduplications_have_stored() {
    let stages = [DedupStage::Judging, DedupStage::Judged, DedupStage::Finished(5)];
    let repaired = |damage: fn(&WriteTransaction)| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let engine = filled(&folder, 200);
        let mut writer = engine.write().expect("a writer");
        for (run, stage) in stages.into_iter().enumerate() {
            let row = DedupRow { stage, documents: 7, input: 9, ..DedupRow::default() };
            writer.set_dedup_row(run as u64, Some(&row)).expect("stored");
        }
        writer.commit().expect("committed");
        drop(engine);
        let database = Database::open(path(&folder)).expect("opened");
        let txn = database.begin_write().expect("begun");
        damage(&txn);
        txn.commit().expect("committed");
        drop(database);
        let repair = repair_file(&path(&folder)).expect("repaired");
        assert!(repair.cause.is_some());
        assert_clean(&folder);
        let rows = open(&folder).write().expect("a writer").dedup_rows().expect("readable");
        assert!(rows.iter().all(|(_, row)| (row.documents, row.input) == (7, 9)), "{rows:?}");
        let mut stages: Vec<_> = rows.into_iter().map(|(run, row)| (run, row.stage)).collect();
        stages.sort_by_key(|(run, _)| *run);
        (repair.lost, stages)
    };
    let without_fences = |txn: &WriteTransaction| {
        let mut fences = txn.open_table(FENCES).expect("a table");
        fences.retain(|_, _| false).expect("deleted");
    };
    let all = vec![(0, stages[0]), (1, stages[1]), (2, stages[2])];
    assert_eq!(repaired(without_fences), (0, all));
    // The output of a run that goes on could have the document that is lost.
    let without_a_record = |txn: &WriteTransaction| {
        let mut records = txn.open_table(DOCUMENTS).expect("a table");
        records.pop_last().expect("popped");
    };
    assert_eq!(repaired(without_a_record), (1, vec![(2, stages[2])]));
}

#[path = "repair_loss_tests.rs"]
mod loss;
