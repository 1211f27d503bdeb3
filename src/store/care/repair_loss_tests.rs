//! Tests what a repair counts as lost, and what it takes from damaged counters and doubtful rows.

use super::*;
use crate::hash::TextHash;
use crate::store::bytes::codec::{seal, unseal};
use crate::store::bytes::schema::{CLUSTERS, CLUSTERS_ROW, FINGERPRINTS};
use crate::store::document::Document;
use crate::store::sim::testing::{change_counters, filled_with_passages, insert_into, leaves_of};
use redb::TableDefinition;

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

/// Makes a change to the tables of a file, and repairs the file.
fn repaired_after(folder: &TempDir, damage: impl FnOnce(&WriteTransaction)) -> Repair {
    let database = Database::open(path(folder)).expect("opened");
    let txn = database.begin_write().expect("begun");
    damage(&txn);
    txn.commit().expect("committed");
    drop(database);
    let repair = repair_file(&path(folder)).expect("repaired");
    assert!(repair.cause.is_some());
    assert_clean(folder);
    repair
}

/// Repairs a file of 200 documents, 40 of them removed, after this damage.
fn repaired(damage: impl FnOnce(&WriteTransaction)) -> (TempDir, Repair) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    drop(filled(&folder, 200));
    let repair = repaired_after(&folder, damage);
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
    let repair = repair(&path(&folder), &request, TUNING, &mut lost, as_they_are, &mut unwatched);
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
    let repair = repaired_after(&folder, damage_counters);
    assert_eq!((repair.documents, repair.lost), (163, 0));
    let counters = open(&folder).read().expect("a reader").state.counters;
    assert_eq!((counters.auto_ids, counters.next_doc), (41, 203));
}

#[test]
fn an_index_without_documents_is_repaired() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    drop(filled(&folder, 0));
    let repair = repaired_after(&folder, |txn| {
        txn.open_table(DEAD).expect("a table").insert(0, &b"none"[..]).expect("written");
    });
    assert_eq!((repair.documents, repair.lost, repair.kept), (0, 0, None));
}

#[test]
fn a_damaged_file_is_kept_beside_those_of_earlier_repairs() {
    let folder = tampered(|txn| damage_row(txn, SIGNATURES, 7));
    let first = repair_file(&path(&folder)).expect("repaired").kept.expect("kept");
    let second = repaired_after(&folder, |txn| damage_row(txn, SIGNATURES, 8)).kept;
    let second = second.expect("kept");
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
        drop(filled_with_passages(&folder, 60));
        let repair = repaired_after(&folder, damage);
        assert_eq!((repair.documents, repair.lost), (59, 1), "damage {number}");
        assert_eq!(repair.lost_ids, ["7"], "damage {number}");
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
    let refused =
        repair(&path(&folder), &request, TUNING, &mut |_| {}, as_they_are, &mut unwatched);
    let refused = refused.expect_err("the index has 64 lanes");
    assert!(matches!(refused, Error::SettingMismatch { setting: "lanes", .. }), "{refused}");
    assert_eq!(fs::read(path(&folder)).expect("readable"), bytes);
    assert_eq!(fs::read_dir(folder.path()).expect("readable").count(), 1);
    let repair = repair_file(&path(&folder)).expect("repaired");
    assert!(repair.lost > 0, "{repair:?}");
}

#[test]
fn texts_that_need_the_dictionary_are_kept() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let engine = filled_with_texts(&folder, 0);
    let text_of = |id: &str| {
        let number: u32 = id.parse().expect("a number");
        let (item, day) = (number % 7, number * number);
        format!("Note {id}: the matter of item {item} was put off until day {day}.")
    };
    let with_long_text = |document: Document| {
        let text = text_of(&document.id);
        let (text_hash, text_length) = (TextHash::of(text.as_bytes()), text.len() as u64);
        Document { text_hash, text_length, text: Some(text.into()), ..document }
    };
    let texts: Vec<String> = (0..600).map(|number| text_of(&number.to_string())).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let dictionary = Dictionary::train(&texts).expect("something in common");
    let mut writer = engine.write().expect("begun");
    writer.take_dictionary(Arc::new(dictionary)).expect("written");
    for document in documents(&engine, 0..200) {
        insert_into(&mut writer, with_long_text(document));
    }
    writer.commit().expect("committed");
    drop(engine);
    let repair = repaired_after(&folder, remove_fences);
    assert_eq!((repair.documents, repair.lost), (200, 0));
    let reader = open(&folder).read().expect("a reader");
    assert_eq!(reader.view().text(DocNo(123)).expect("readable"), text_of("123"));
}

/// Repairs a file that tracks the clusters 3, of the documents 7 and 8, and 5, of 11 and 12.
/// Returns the next cluster and the members of both; `None` if no clusters are tracked.
fn clusters_after(damage: impl FnOnce(&WriteTransaction)) -> Option<(u64, [Vec<u32>; 2])> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let engine = filled(&folder, 200);
    let mut writer = engine.write().expect("begun");
    let places = [(7, 3), (8, 3), (11, 5), (12, 5)].map(|(doc, cluster)| (DocNo(doc), cluster));
    writer.restore_clusters(&places, 9).expect("written");
    writer.commit().expect("committed");
    drop(engine);
    repaired_after(&folder, |txn| {
        remove_fences(txn);
        damage(txn);
    });
    let reader = open(&folder).read().expect("a reader");
    let clusters = reader.clusters().expect("readable")?;
    let members = [3, 5].map(|cluster| {
        let members = clusters.members(cluster).expect("readable");
        members.into_iter().map(|doc| doc.0).collect()
    });
    Some((clusters.tracking().next_cluster, members))
}

#[test]
fn documents_stay_in_their_clusters_as_far_as_they_are_left() {
    let [all, without_8] = [[vec![7, 8], vec![11, 12]], [vec![7], vec![11, 12]]];
    assert_eq!(clusters_after(|_| ()), Some((9, all.clone())));
    assert_eq!(clusters_after(|txn| damage_row(txn, SIGNATURES, 8)), Some((9, without_8.clone())));
    assert_eq!(clusters_after(|txn| damage_row(txn, CLUSTERS, 8)), Some((9, without_8)));
    // Without the next cluster, it is the one after the greatest.
    let remove_row = |txn: &WriteTransaction| {
        let mut meta = txn.open_table(META).expect("a table");
        meta.remove(CLUSTERS_ROW).expect("removed").expect("there");
    };
    assert_eq!(clusters_after(remove_row), Some((6, all)));
    // Without clusters, they are tracked all the same.
    let remove_rows = |txn: &WriteTransaction| {
        let mut clusters = txn.open_table(CLUSTERS).expect("a table");
        clusters.retain(|_, _| false).expect("deleted");
    };
    assert_eq!(clusters_after(remove_rows), Some((9, [vec![], vec![]])));
    assert_eq!(
        clusters_after(|txn| {
            remove_rows(txn);
            remove_row(txn);
        }),
        None,
        "nothing tells that they were tracked"
    );
}

/// The bytes of a file of 2,000 documents, as a crash right after the last commit leaves them.
fn after_a_crash() -> (TempDir, Vec<u8>) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let engine = filled(&folder, 2000);
    let bytes = fs::read(path(&folder)).expect("readable");
    drop(engine);
    (folder, bytes)
}

#[test]
fn the_commit_before_the_last_is_used_and_the_file_kept_if_the_last_has_no_settings() {
    let (folder, mut bytes) = after_a_crash();
    for page in leaves_of(&bytes, "meta") {
        bytes.get_mut(page * 4096..(page + 1) * 4096).expect("a page").fill(0);
    }
    fs::write(path(&folder), &bytes).expect("written");
    let repair = repair_file(&path(&folder)).expect("repaired");
    let cause = repair.cause.expect("a cause");
    let told = "; the last commit cannot be read, so the one before it is used";
    assert!(cause.ends_with(told), "{cause}");
    // The last commit has removed 400 documents.
    assert_eq!((repair.documents, repair.lost), (2000, 0));
    assert!(repair.kept.is_some_and(|kept| kept.exists()));
    assert_clean(&folder);
}

#[test]
fn exchanged_pages_are_found_and_the_damaged_file_is_kept() {
    let (folder, mut bytes) = after_a_crash();
    let pages = leaves_of(&bytes, "signatures");
    let [a, b] = [1, 2].map(|at| pages.get(at).expect("a page") * 4096);
    let page = bytes.get(a..a + 4096).expect("a page").to_vec();
    bytes.copy_within(b..b + 4096, a);
    bytes.get_mut(b..b + 4096).expect("a page").copy_from_slice(&page);
    fs::write(path(&folder), &bytes).expect("written");
    let repair = repair_file(&path(&folder)).expect("repaired");
    assert_eq!((repair.documents, repair.lost), (1600, 0));
    assert!(repair.kept.is_some_and(|kept| kept.exists()), "its pages may be out of date");
    assert_clean(&folder);
}
