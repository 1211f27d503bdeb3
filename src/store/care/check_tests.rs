//! Violates every invariant, with valid checksums, and expects its number in the report.
//!
//! Where several conditions report one invariant, the tests expect the words of the one they are
//! about.

use super::*;
use crate::hash::TextHash;
use crate::params::MAX_ID_BYTES;
use crate::store::bytes::chunk::{Chunk, ChunkBuilder, Entry};
use crate::store::bytes::codec::{seal, unseal};
use crate::store::bytes::record::{DocumentRecord, RunRow};
use crate::store::bytes::schema::{
    DEAD, DOCUMENTS, FENCES, META, POSTINGS, RUNS, RunNo, SIGNATURES, TEXTS, Table as RowTable,
    posting_key,
};
use crate::store::bytes::texts::encode_text;
use crate::store::engine::Engine;
use crate::store::runs::tombstones::Tombstones;
use crate::store::settings::SettingsRequest;
use crate::store::sim::testing::{TUNING, change_counters, filled, filled_with_texts};
use redb::{Database, Table, WriteTransaction};
use tempfile::TempDir;

/// Two runs of 50 documents. Every fifth is removed and has a tombstone: 0, 5, 10 and so on.
fn index() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    drop(filled(&folder, 100));
    folder
}

fn tamper(folder: &TempDir, change: impl FnOnce(&WriteTransaction)) {
    let database = Database::open(folder.path().join("x.twx")).expect("opened");
    let txn = database.begin_write().expect("begun");
    change(&txn);
    txn.commit().expect("committed");
}

/// Two runs as those of [`index`], and a tail of 20 documents.
fn index_with_tail() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    drop(filled(&folder, 120));
    folder
}

fn report(folder: &TempDir) -> CheckReport {
    let path = folder.path().join("x.twx");
    let engine = Engine::open_read_only(&path, &SettingsRequest::default(), TUNING);
    let reader = engine.expect("opened").read().expect("a reader");
    check(&reader).expect("checked")
}

/// The violations in words.
fn violations(folder: &TempDir) -> Vec<String> {
    report(folder).violations.iter().map(ToString::to_string).collect()
}

/// The numbers of the violated invariants.
fn violated(folder: &TempDir) -> Vec<u8> {
    let report = report(folder);
    let mut numbers: Vec<u8> =
        report.violations.iter().map(|violation| violation.invariant.number()).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

#[track_caller]
fn assert_reported(invariant: Invariant, change: impl FnOnce(&WriteTransaction)) {
    let folder = index();
    tamper(&folder, change);
    let reported = violated(&folder);
    assert!(reported.contains(&invariant.number()), "{invariant:?} is not among {reported:?}");
}

const RUN: RunNo = RunNo(0);
const BAND: BandNo = BandNo(3);

/// The entries of the first chunk of a band.
fn entries(txn: &WriteTransaction, band: BandNo) -> Vec<Entry> {
    let key = posting_key(RUN, band, 0);
    let postings = txn.open_table(POSTINGS).expect("a table");
    let row = postings.get(key).expect("readable").expect("there");
    Chunk::open(row.value(), key).expect("whole").entries().collect()
}

/// Writes a chunk of these entries, in this order, and a run row with their number.
fn rewrite(txn: &WriteTransaction, band: BandNo, entries: &[Entry]) {
    let key = posting_key(RUN, band, 0);
    let mut builder = ChunkBuilder::default();
    for (word, doc) in entries {
        assert!(!builder.is_full(*word, *doc), "it fits one chunk");
        builder.push(*word, *doc);
    }
    let chunk = builder.finish().expect("entries").seal(key);
    txn.open_table(POSTINGS).expect("a table").insert(key, &chunk[..]).expect("written");
    change_band(txn, band, |row| row.entries = entries.len() as u64);
}

fn change_band(txn: &WriteTransaction, band: BandNo, change: impl FnOnce(&mut RunRow)) {
    let mut runs = txn.open_table(RUNS).expect("a table");
    let row = runs.get((RUN.0, band.0)).expect("readable").expect("there").value().to_vec();
    let mut row = RunRow::decode(&row, RUN, band).expect("whole");
    change(&mut row);
    runs.insert((RUN.0, band.0), &row.encode(RUN, band)[..]).expect("written");
}

/// Changes the rows of all bands of a run, which agree on its range.
fn change_run(txn: &WriteTransaction, run: RunNo, change: impl Fn(&mut RunRow)) {
    let mut runs = txn.open_table(RUNS).expect("a table");
    let rows = runs.range((run.0, 0)..=(run.0, u8::MAX)).expect("readable");
    let rows: Vec<(u8, Vec<u8>)> = rows
        .map(|row| row.expect("readable"))
        .map(|(key, row)| (key.value().1, row.value().to_vec()))
        .collect();
    for (band, row) in rows {
        let mut row = RunRow::decode(&row, run, BandNo(band)).expect("whole");
        change(&mut row);
        let row = row.encode(run, BandNo(band));
        runs.insert((run.0, band), &row[..]).expect("written");
    }
}

/// Writes the tombstones that there are, and these.
fn bury(txn: &WriteTransaction, docs: &[u32]) {
    let mut table = txn.open_table(DEAD).expect("a table");
    let mut tombstones = Tombstones::default();
    for item in table.iter().expect("readable") {
        let (number, row) = item.expect("readable");
        tombstones.add_row(number.value(), row.value()).expect("whole");
    }
    docs.iter().for_each(|doc| tombstones.insert(DocNo(*doc)));
    for (number, row) in tombstones.changed_rows(&Tombstones::default()) {
        table.insert(number, &row.expect("a row")[..]).expect("written");
    }
}

/// Takes the two rows of a document out, without their checksums.
fn take_rows(txn: &WriteTransaction, doc: u32) -> [Vec<u8>; 2] {
    [(DOCUMENTS, RowTable::Documents), (SIGNATURES, RowTable::Signatures)].map(|(table, name)| {
        let mut table = txn.open_table(table).expect("a table");
        let row = table.remove(doc).expect("removed").expect("there");
        unseal(row.value(), name, u64::from(doc)).expect("whole").to_vec()
    })
}

#[test]
fn an_undamaged_index_has_no_violations() {
    for folder in [index(), index_with_tail()] {
        assert_eq!(violations(&folder), [""; 0]);
    }
}

#[test]
fn wrong_counters_are_reported() {
    assert_reported(Invariant::Counters, |txn| {
        change_counters(txn, |counters| counters.documents += 1);
    });
    assert_reported(Invariant::Counters, |txn| {
        change_counters(txn, |counters| counters.next_run = 1);
    });
}

#[test]
fn a_document_without_one_of_its_two_rows_is_reported() {
    for (table, doc) in [(DOCUMENTS, 7), (SIGNATURES, 7), (DOCUMENTS, 99), (SIGNATURES, 99)] {
        assert_reported(Invariant::SameRows, |txn| {
            txn.open_table(table).expect("a table").remove(doc).expect("removed");
        });
    }
}

#[test]
fn damaged_records_are_reported() {
    assert_reported(Invariant::Records, |txn| {
        let mut meta = txn.open_table(META).expect("a table");
        meta.insert("dedup 00000000000000ff", &[1, 2, 3][..]).expect("written");
    });
    for table in [DOCUMENTS, SIGNATURES] {
        assert_reported(Invariant::Records, |txn| {
            txn.open_table(table).expect("a table").insert(7, &[1, 2, 3][..]).expect("written");
        });
    }
    assert_reported(Invariant::Records, |txn| {
        let key = posting_key(RUN, BAND, 0);
        let mut postings = txn.open_table(POSTINGS).expect("a table");
        postings.insert(key, &[0; 99][..]).expect("written");
    });
}

#[test]
fn removed_documents_with_rows_are_reported() {
    assert_reported(Invariant::Dead, |txn| {
        bury(txn, &[6]);
    });
}

#[test]
fn an_id_of_two_documents_is_reported() {
    assert_reported(Invariant::Ids, |txn| {
        let text_hash = TextHash::of(b"");
        let record = DocumentRecord { id: "8", text_hash, text_length: 0, inserted: 0 };
        let record = record.encode(DocNo(7)).expect("short");
        txn.open_table(DOCUMENTS).expect("a table").insert(7, &record[..]).expect("written");
    });
}

#[test]
fn an_id_that_is_empty_or_too_long_is_reported() {
    for length in [0, MAX_ID_BYTES + 1] {
        let folder = index();
        tamper(&folder, |txn| {
            let mut documents = txn.open_table(DOCUMENTS).expect("a table");
            let row = documents.get(7).expect("readable").expect("there").value().to_vec();
            let record = DocumentRecord::decode(&row, DocNo(7)).expect("whole");
            let record = DocumentRecord { id: "x".repeat(length), ..record };
            let row = record.encode(DocNo(7)).expect("encoded");
            documents.insert(7, &row[..]).expect("written");
        });
        let violations = violations(&folder);
        let expected = format!("invariant 7: documents 7: its id has {length} bytes");
        assert!(violations.contains(&expected), "{violations:?}");
    }
}

#[test]
fn a_tombstone_of_a_number_that_was_not_given_is_reported() {
    let folder = index_with_tail();
    tamper(&folder, |txn| {
        // The tail has as many rows and tombstones as numbers, or the index would not open.
        take_rows(txn, 111);
        bury(txn, &[120]);
        change_counters(txn, |counters| counters.documents -= 1);
    });
    let expected = "invariant 6: dead 120: its number is not below the next document number";
    assert_eq!(violations(&folder), [expected]);
}

#[test]
fn a_document_of_a_number_that_was_not_given_is_reported() {
    let folder = index_with_tail();
    tamper(&folder, |txn| {
        let [record, signature] = take_rows(txn, 111);
        let rows = [
            (DOCUMENTS, RowTable::Documents, record),
            (SIGNATURES, RowTable::Signatures, signature),
        ];
        for (table, name, row) in rows {
            let row = seal(row, name, 120);
            txn.open_table(table).expect("a table").insert(120, &row[..]).expect("written");
        }
    });
    let expected = "invariant 3: signatures 120: its number is not below the next document number";
    assert_eq!(violations(&folder), [expected]);
}

#[test]
fn a_run_that_reaches_into_the_tail_is_reported() {
    let folder = index_with_tail();
    tamper(&folder, |txn| change_run(txn, RunNo(1), |row| row.last = DocNo(100)));
    let violations = violations(&folder);
    let expected = "invariant 8: run 1 band 0: its range reaches into the tail";
    assert_eq!(violations.first().map(String::as_str), Some(expected));
    assert!(violations.iter().all(|one| one.ends_with("reaches into the tail")), "{violations:?}");
}

#[test]
fn overlapping_runs_are_reported() {
    assert_reported(Invariant::Ranges, |txn| {
        change_run(txn, RUN, |row| row.last = DocNo(60));
    });
}

#[test]
fn missing_and_surplus_chunks_are_reported() {
    assert_reported(Invariant::Chunks, |txn| {
        let mut postings = txn.open_table(POSTINGS).expect("a table");
        postings.remove(posting_key(RUN, BAND, 0)).expect("removed");
    });
    assert_reported(Invariant::Chunks, |txn| {
        let mut postings = txn.open_table(POSTINGS).expect("a table");
        postings.insert(posting_key(RUN, BAND, 1), &[0; 9][..]).expect("written");
    });
    assert_reported(Invariant::Chunks, |txn| change_band(txn, BAND, |row| row.entries += 1));
    assert_reported(Invariant::Chunks, |txn| {
        let mut fences = txn.open_table(FENCES).expect("a table");
        fences.insert((99, 0), &[0; 4][..]).expect("written");
    });
}

#[test]
fn fences_and_chunks_of_a_band_without_chunks_are_reported() {
    let folder = index();
    tamper(&folder, |txn| {
        change_band(txn, BAND, |row| (row.entries, row.chunks) = (0, 0));
    });
    let violations = violations(&folder);
    let key = posting_key(RUN, BAND, 0);
    for expected in [
        "invariant 9: fences run 0 band 3: the run has no chunks in this band".to_owned(),
        format!("invariant 9: postings {key:#018x}: it is beyond the chunks of its run"),
    ] {
        assert!(violations.contains(&expected), "{expected} is not among {violations:?}");
    }
}

#[test]
fn unlisted_chunks_are_counted_and_are_no_violation() {
    let folder = index();
    assert_eq!(report(&folder).unlisted_chunks, 0);
    tamper(&folder, |txn| {
        let mut postings = txn.open_table(POSTINGS).expect("a table");
        for chunk in 0..2 {
            let key = posting_key(RunNo(99), BAND, chunk);
            postings.insert(key, &[0; 9][..]).expect("written");
        }
    });
    let report = report(&folder);
    assert_eq!((report.unlisted_chunks, report.violation_count), (2, 0));
}

#[test]
fn entries_before_and_after_the_range_of_their_run_are_reported() {
    type Change = fn(&mut RunRow);
    let changes: [(Change, u32); 2] =
        [(|row| row.first = DocNo(4), 3), (|row| row.last = DocNo(45), 46)];
    for (change, outside) in changes {
        let folder = index();
        tamper(&folder, |txn| change_run(txn, RUN, change));
        let violations = violations(&folder);
        let expected = format!("document {outside} is outside the run's range");
        let expected = format!("invariant 10: run 0 band 3: {expected}");
        assert!(violations.contains(&expected), "{violations:?}");
    }
}

#[test]
fn entries_out_of_order_or_range_are_reported() {
    assert_reported(Invariant::Order, |txn| {
        // Entries must ascend strictly.
        let mut all = entries(txn, BAND);
        all.insert(0, *all.first().expect("entries"));
        rewrite(txn, BAND, &all);
    });
    assert_reported(Invariant::Order, |txn| {
        let mut all = entries(txn, BAND);
        all.last_mut().expect("entries").1 = DocNo(77);
        rewrite(txn, BAND, &all);
    });
    assert_reported(Invariant::Order, |txn| {
        // Without the first entry, the fence is not that of the first word.
        let all = entries(txn, BAND);
        rewrite(txn, BAND, all.get(1..).expect("entries"));
    });
}

#[test]
fn missing_and_wrong_entries_are_reported() {
    let live = |entry: &Entry| !entry.1.0.is_multiple_of(5);
    assert_reported(Invariant::Entries, |txn| {
        let mut all = entries(txn, BAND);
        let at = all.iter().rposition(live).expect("a live one");
        all.remove(at);
        rewrite(txn, BAND, &all);
    });
    assert_reported(Invariant::Entries, |txn| {
        let mut all = entries(txn, BAND);
        let last = all.iter_mut().rfind(|entry| live(entry)).expect("a live one");
        last.0 += 1;
        rewrite(txn, BAND, &all);
    });
    assert_reported(Invariant::Entries, |txn| {
        // An entry of a document that has neither rows nor a tombstone.
        for table in [DOCUMENTS, SIGNATURES] {
            txn.open_table(table).expect("a table").remove(7).expect("removed");
        }
    });
}

#[test]
fn texts_in_an_index_without_texts_are_reported() {
    assert_reported(Invariant::Texts, |txn| {
        txn.open_table(TEXTS).expect("a table").insert(1, &[0; 4][..]).expect("written");
    });
}

#[test]
fn missing_surplus_wrong_and_damaged_texts_are_reported() {
    type Change = fn(&mut Table<'_, u32, &'static [u8]>);
    let changes: [Change; 5] = [
        |_| {},
        |texts| drop(texts.remove(7).expect("removed")),
        |texts| drop(texts.insert(1000, &encode_text("x", DocNo(1000), None)[..])),
        |texts| drop(texts.insert(7, &encode_text("another text", DocNo(7), None)[..])),
        |texts| drop(texts.insert(7, &encode_text("document number 7", DocNo(8), None)[..])),
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        drop(filled_with_texts(&folder, 20));
        tamper(&folder, |txn| change(&mut txn.open_table(TEXTS).expect("a table")));
        let expected: &[u8] = if number == 0 { &[] } else { &[Invariant::Texts.number()] };
        assert_eq!(violated(&folder), expected, "change {number}");
    }
}

#[path = "check_entries_tests.rs"]
mod entries_of_bands;
