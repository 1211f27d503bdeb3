//! Changes entries of one band, and expects the report to name the documents that they are of.

use super::*;
use crate::store::sim::testing::{documents, insert_into, open};

/// What is reported of entries that were changed in the first run: violations of invariant 11.
fn reported(folder: &TempDir, band: BandNo, change: impl FnOnce(&mut Vec<Entry>)) -> Vec<String> {
    tamper(folder, |txn| {
        let mut all = entries(txn, band);
        change(&mut all);
        rewrite(txn, band, &all);
    });
    // The entry may be the first of its chunk, whose fence is wrong then.
    violations(folder).into_iter().filter(|one| one.starts_with("invariant 11: ")).collect()
}

/// The band of ids.
fn ids(folder: &TempDir) -> BandNo {
    open(folder).fixed().layout.ids()
}

fn of_document(doc: u32) -> impl Fn(&Entry) -> bool {
    move |entry| entry.1 == DocNo(doc)
}

#[test]
fn a_document_without_an_entry_is_named() {
    let folder = index_with_tail();
    for band in [BAND, ids(&folder)] {
        let folder = index_with_tail();
        let expected = [
            format!("invariant 11: band {}: 79 entries of live documents instead of 80", band.0),
            format!("invariant 11: band {}: document 7 has no entry", band.0),
        ];
        let reported = reported(&folder, band, |all| all.retain(|one| !of_document(7)(one)));
        assert_eq!(reported, expected);
    }
}

#[test]
fn a_document_with_two_entries_is_named() {
    let folder = index_with_tail();
    for band in [BAND, ids(&folder)] {
        let folder = index_with_tail();
        let expected = [
            format!("invariant 11: band {}: 81 entries of live documents instead of 80", band.0),
            format!("invariant 11: band {}: document 7 has two entries", band.0),
        ];
        let reported = reported(&folder, band, |all| {
            let at = all.iter().position(of_document(7)).expect("an entry");
            all.insert(at, *all.get(at).expect("an entry"));
        });
        assert_eq!(reported, expected);
    }
}

#[test]
fn a_document_with_an_entry_under_a_wrong_word_is_named() {
    let folder = index_with_tail();
    for band in [BAND, ids(&folder)] {
        let folder = index_with_tail();
        let expected = [
            format!("invariant 11: band {}: 80 entries of live documents instead of 80", band.0),
            format!("invariant 11: band {}: document 7 has an entry under a wrong word", band.0),
            format!("invariant 11: band {}: document 7 has no entry", band.0),
        ];
        let reported = reported(&folder, band, |all| {
            all.iter_mut().find(|one| of_document(7)(one)).expect("an entry").0 ^= 1;
            all.sort_unstable();
        });
        assert_eq!(reported, expected);
    }
}

#[test]
fn an_entry_without_a_document_is_named() {
    let folder = index_with_tail();
    tamper(&folder, |txn| drop(take_rows(txn, 7)));
    let expected = "invariant 11: band 3: document 7 has an entry but no row".to_owned();
    let violations = violations(&folder);
    assert!(violations.contains(&expected), "{violations:?}");
}

/// A run of 50 documents, of which number 7 has no shingles.
fn with_an_empty_document() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let engine = filled(&folder, 0);
    let empty = engine.settings().sketcher().expect("a sketcher").signature("");
    let empty = empty.expect("a signature");
    let mut writer = engine.write().expect("begun");
    for mut document in documents(&engine, 0..50) {
        if document.id == "7" {
            document.signature = empty.clone();
        }
        insert_into(&mut writer, document);
    }
    writer.commit().expect("committed");
    folder
}

#[test]
fn a_document_without_shingles_has_an_entry_of_its_id_alone() {
    let folder = with_an_empty_document();
    assert_eq!(violations(&folder), [""; 0]);
    let ids = ids(&folder);
    let expected = format!("invariant 11: band {}: document 7 has no entry", ids.0);
    let without = reported(&folder, ids, |all| all.retain(|one| !of_document(7)(one)));
    assert_eq!(without.get(1..), Some(&[expected][..]));

    let folder = with_an_empty_document();
    let expected = "invariant 11: band 3: document 8 has no entry".to_owned();
    let without = reported(&folder, BAND, |all| all.retain(|one| !of_document(8)(one)));
    assert_eq!(without.get(1..), Some(&[expected][..]), "document 7 lacks none");
}
