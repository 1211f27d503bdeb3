//! Tests what a repair counts as lost, and what it takes from damaged counters and doubtful rows.

use super::*;
use crate::store::bytes::codec::{seal, unseal};
use crate::store::bytes::schema::FINGERPRINTS;
use crate::store::document::Document;
use crate::store::settings::PassageRequest;
use crate::store::sim::testing::{insert, insert_into, leaves_of};
use redb::TableDefinition;

fn change_counters(txn: &WriteTransaction, change: impl FnOnce(&mut Counters)) {
    let mut meta = txn.open_table(META).expect("a table");
    let row = meta.get(STATE_ROW).expect("readable").expect("there").value().to_vec();
    let mut counters = Counters::decode(&row).expect("whole");
    change(&mut counters);
    meta.insert(STATE_ROW, &counters.encode()[..]).expect("written");
}

fn damage_counters(txn: &WriteTransaction) {
    let mut meta = txn.open_table(META).expect("a table");
    meta.insert(STATE_ROW, &b"nothing"[..]).expect("written");
}

/// Removes what follows from other rows, so that there is something to repair.
fn remove_fences(txn: &WriteTransaction) {
    let mut fences = txn.open_table(FENCES).expect("a table");
    fences.retain(|_, _| false).expect("deleted");
}

fn damage_row(txn: &WriteTransaction, table: TableDefinition<'_, u32, &'static [u8]>, doc: u32) {
    let mut table = txn.open_table(table).expect("a table");
    table.insert(doc, &b"no row"[..]).expect("written");
}

/// Repairs a file of 200 documents, 40 of them removed, after this damage.
fn repaired(damage: impl FnOnce(&WriteTransaction)) -> (TempDir, Repair) {
    let folder = tampered(damage);
    let repair = repair_file(&path(&folder)).expect("repaired");
    assert!(repair.cause.is_some());
    assert_clean(&folder);
    (folder, repair)
}

#[test]
fn a_lost_document_is_counted_even_if_the_counter_is_too_small() {
    let (_folder, repair) = repaired(|txn| {
        damage_row(txn, SIGNATURES, 7);
        change_counters(txn, |counters| counters.documents -= 1);
    });
    assert_eq!((repair.documents, repair.lost), (159, 1));
}

#[test]
fn without_the_counters_the_unreadable_rows_are_counted() {
    let (_folder, repair) = repaired(|txn| {
        damage_counters(txn);
        damage_row(txn, SIGNATURES, 7);
        damage_row(txn, DOCUMENTS, 8);
    });
    assert_eq!((repair.documents, repair.lost), (158, 2));
    assert_eq!(repair.lost_ids, ["7"]);
}

#[test]
fn a_document_without_a_signature_row_is_named() {
    let (_folder, repair) = repaired(|txn| {
        txn.open_table(SIGNATURES).expect("a table").remove(7).expect("removed");
    });
    assert_eq!((repair.documents, repair.lost), (159, 1));
    assert_eq!(repair.lost_ids, ["7"]);
}

#[test]
fn the_ids_of_all_lost_documents_are_told_and_the_first_thousand_are_listed() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    drop(filled(&folder, 1500));
    let database = Database::open(path(&folder)).expect("opened");
    let txn = database.begin_write().expect("begun");
    {
        let mut signatures = txn.open_table(SIGNATURES).expect("a table");
        signatures.retain(|number, _| number > 1400).expect("deleted");
    }
    txn.commit().expect("committed");
    drop(database);
    let mut told = Vec::new();
    let mut lost = |id: &str| told.push(id.to_owned());
    let request = SettingsRequest::default();
    let repair = repair(&path(&folder), &request, TUNING, &mut lost, &mut unwatched);
    let repair = repair.expect("repaired");
    assert_eq!((repair.lost, told.len()), (1120, 1120));
    assert_eq!(Some(&repair.lost_ids[..]), told.get(..1000));
}

#[test]
fn rows_of_a_document_with_a_tombstone_are_out_of_date() {
    let (folder, repair) = repaired(|txn| {
        let mut dead = txn.open_table(DEAD).expect("a table");
        let mut tombstones = Tombstones::default();
        let row = dead.get(0).expect("readable").expect("there").value().to_vec();
        tombstones.add_row(0, &row).expect("whole");
        tombstones.insert(DocNo(6));
        for (number, row) in tombstones.changed_rows(&Tombstones::default()) {
            dead.insert(number, &row.expect("a row")[..]).expect("written");
        }
        change_counters(txn, |counters| counters.documents -= 1);
    });
    assert_eq!((repair.documents, repair.lost, repair.kept), (159, 0, None));
    let reader = open(&folder).read().expect("a reader");
    assert!(reader.view().find("6").expect("readable").is_none());
}

#[test]
fn rows_of_numbers_that_were_not_given_are_left_out() {
    let (_folder, repair) = repaired(|txn| {
        for (table, name) in [(DOCUMENTS, Table::Documents), (SIGNATURES, Table::Signatures)] {
            let mut table = txn.open_table(table).expect("a table");
            let row = table.get(7).expect("readable").expect("there").value().to_vec();
            let row = unseal(&row, name, 7).expect("whole").to_vec();
            table.insert(200, &seal(row, name, 200)[..]).expect("written");
        }
    });
    assert_eq!((repair.documents, repair.lost, repair.kept), (160, 0, None));
}

#[test]
fn readable_rows_that_contradict_each_other_are_refused() {
    let folder = tampered(|txn| {
        let mut documents = txn.open_table(DOCUMENTS).expect("a table");
        let row = documents.get(8).expect("readable").expect("there").value().to_vec();
        let record = DocumentRecord::decode(&row, DocNo(8)).expect("whole");
        let row = record.encode(DocNo(7)).expect("encoded");
        documents.insert(7, &row[..]).expect("written");
    });
    let before = length_and_records(&folder);
    let refused = repair_file(&path(&folder)).expect_err("two documents have one id").to_string();
    assert!(refused.contains("the readable rows are inconsistent: invariant 7"), "{refused}");
    assert_eq!(length_and_records(&folder), before);
}

#[test]
fn counters_go_on_where_those_of_the_old_file_end() {
    let (folder, _) = repaired(|txn| {
        remove_fences(txn);
        change_counters(txn, |counters| {
            counters.auto_ids = 90;
            counters.next_doc = 300;
            counters.flushed_upto = 300;
            counters.commit = 1000;
        });
    });
    let engine = open(&folder);
    let counters = engine.read().expect("a reader").state.counters;
    assert_eq!((counters.auto_ids, counters.next_doc), (90, 300));
    assert!(counters.commit >= 1000, "{counters:?}");
}

#[test]
fn without_the_counters_automatic_ids_go_on_after_the_greatest_one() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let engine = filled(&folder, 200);
    let mut writer = engine.write().expect("begun");
    for (document, id) in documents(&engine, 200..203).into_iter().zip(["#3", "#41", "#7"]) {
        insert_into(&mut writer, Document { id: id.into(), ..document });
    }
    writer.commit().expect("committed");
    drop(engine);
    let database = Database::open(path(&folder)).expect("opened");
    let txn = database.begin_write().expect("begun");
    damage_counters(&txn);
    txn.commit().expect("committed");
    drop(database);
    let repair = repair_file(&path(&folder)).expect("repaired");
    assert_eq!((repair.documents, repair.lost), (163, 0));
    let counters = open(&folder).read().expect("a reader").state.counters;
    assert_eq!((counters.auto_ids, counters.next_doc), (41, 203));
}

#[test]
fn an_index_without_documents_is_repaired() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    drop(filled(&folder, 0));
    let database = Database::open(path(&folder)).expect("opened");
    let txn = database.begin_write().expect("begun");
    txn.open_table(DEAD).expect("a table").insert(0, &b"none"[..]).expect("written");
    txn.commit().expect("committed");
    drop(database);
    let repair = repair_file(&path(&folder)).expect("repaired");
    assert_eq!((repair.documents, repair.lost, repair.kept), (0, 0, None));
    assert_clean(&folder);
}

#[test]
fn a_damaged_file_is_kept_beside_those_of_earlier_repairs() {
    let folder = tampered(|txn| damage_row(txn, SIGNATURES, 7));
    let first = repair_file(&path(&folder)).expect("repaired").kept.expect("kept");
    let database = Database::open(path(&folder)).expect("opened");
    let txn = database.begin_write().expect("begun");
    damage_row(&txn, SIGNATURES, 8);
    txn.commit().expect("committed");
    drop(database);
    let second = repair_file(&path(&folder)).expect("repaired").kept.expect("kept");
    assert!(first.ends_with("x.twx.damaged") && first.exists());
    assert!(second.ends_with("x.twx.damaged.1") && second.exists());
}

#[test]
fn a_document_with_a_damaged_text_or_without_sound_fingerprints_is_lost() {
    type Damage = fn(&WriteTransaction);
    let damages: [Damage; 4] = [
        |txn| damage_row(txn, TEXTS, 7),
        |txn| drop(txn.open_table(TEXTS).expect("a table").remove(7).expect("removed")),
        |txn| damage_row(txn, FINGERPRINTS, 7),
        |txn| drop(txn.open_table(FINGERPRINTS).expect("a table").remove(7).expect("removed")),
    ];
    for (number, damage) in damages.into_iter().enumerate() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let settings = SettingsRequest {
            lanes: Some(64),
            store_text: Some(true),
            passages: Some(PassageRequest::Usual),
            ..SettingsRequest::default()
        };
        let settings = settings.resolve().expect("valid settings");
        Engine::create(&path(&folder), &settings).expect("created");
        insert(&open(&folder), 0..60);
        let database = Database::open(path(&folder)).expect("opened");
        let txn = database.begin_write().expect("begun");
        damage(&txn);
        txn.commit().expect("committed");
        drop(database);
        let repair = repair_file(&path(&folder)).expect("repaired");
        assert_eq!((repair.documents, repair.lost), (59, 1), "damage {number}");
        assert_eq!(repair.lost_ids, ["7"], "damage {number}");
        assert_clean(&folder);
    }
}

#[test]
fn a_request_for_other_settings_is_refused_also_if_pages_are_damaged() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    drop(filled(&folder, 2000));
    let mut bytes = fs::read(path(&folder)).expect("readable");
    let pages = leaves_of(&bytes, "signatures");
    let page = pages.first().expect("a page") * 4096;
    *bytes.get_mut(page + 100).expect("within the file") ^= 1;
    fs::write(path(&folder), &bytes).expect("written");
    let request = SettingsRequest { lanes: Some(128), ..SettingsRequest::default() };
    let refused = repair(&path(&folder), &request, TUNING, &mut |_| {}, &mut unwatched);
    let refused = refused.expect_err("the index has 64 lanes");
    assert!(matches!(refused, Error::SettingMismatch { setting: "lanes", .. }), "{refused}");
    assert_eq!(fs::read(path(&folder)).expect("readable"), bytes);
    assert_eq!(fs::read_dir(folder.path()).expect("readable").count(), 1);
    let repair = repair_file(&path(&folder)).expect("repaired");
    assert!(repair.lost > 0, "{repair:?}");
}
