//! Violates every invariant, with valid checksums, and expects its number in the report.

use super::*;
use crate::hash::TextHash;
use crate::store::bytes::chunk::{Chunk, ChunkBuilder, Entry};
use crate::store::bytes::record::{Counters, DocumentRecord, RunRow};
use crate::store::bytes::schema::{
    DEAD, DOCUMENTS, FENCES, META, POSTINGS, RUNS, RunNo, SIGNATURES, STATE_ROW, TEXTS, posting_key,
};
use crate::store::bytes::texts::encode_text;
use crate::store::engine::Engine;
use crate::store::runs::tombstones::Tombstones;
use crate::store::settings::SettingsRequest;
use crate::store::sim::testing::{TUNING, filled, filled_with_texts};
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

/// The numbers of the violated invariants.
fn violated(folder: &TempDir) -> Vec<u8> {
    let path = folder.path().join("x.twx");
    let engine = Engine::open_read_only(&path, &SettingsRequest::default(), TUNING);
    let reader = engine.expect("opened").read().expect("a reader");
    let report = check(&reader).expect("checked");
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
fn entries(txn: &WriteTransaction) -> Vec<Entry> {
    let key = posting_key(RUN, BAND, 0);
    let postings = txn.open_table(POSTINGS).expect("a table");
    let row = postings.get(key).expect("readable").expect("there");
    Chunk::open(row.value(), key).expect("whole").entries().collect()
}

/// Writes a chunk of these entries, in this order, and a run row with their number.
fn rewrite(txn: &WriteTransaction, entries: &[Entry]) {
    let key = posting_key(RUN, BAND, 0);
    let mut builder = ChunkBuilder::default();
    for (word, doc) in entries {
        assert!(!builder.is_full(*word, *doc), "it fits one chunk");
        builder.push(*word, *doc);
    }
    let chunk = builder.finish().expect("entries").seal(key);
    txn.open_table(POSTINGS).expect("a table").insert(key, &chunk[..]).expect("written");
    change_run(txn, |row| row.entries = entries.len() as u64);
}

fn change_run(txn: &WriteTransaction, change: impl FnOnce(&mut RunRow)) {
    let mut runs = txn.open_table(RUNS).expect("a table");
    let row = runs.get((RUN.0, BAND.0)).expect("readable").expect("there").value().to_vec();
    let mut row = RunRow::decode(&row, RUN, BAND).expect("whole");
    change(&mut row);
    runs.insert((RUN.0, BAND.0), &row.encode(RUN, BAND)[..]).expect("written");
}

fn change_counters(txn: &WriteTransaction, change: impl FnOnce(&mut Counters)) {
    let mut meta = txn.open_table(META).expect("a table");
    let row = meta.get(STATE_ROW).expect("readable").expect("there").value().to_vec();
    let mut counters = Counters::decode(&row).expect("whole");
    change(&mut counters);
    meta.insert(STATE_ROW, &counters.encode()[..]).expect("written");
}

#[test]
fn an_undamaged_index_has_no_violations() {
    assert!(violated(&index()).is_empty());
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
    for table in [DOCUMENTS, SIGNATURES] {
        assert_reported(Invariant::SameRows, |txn| {
            txn.open_table(table).expect("a table").remove(7).expect("removed");
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
        let mut tombstones = Tombstones::default();
        [5, 6].into_iter().for_each(|doc| tombstones.insert(DocNo(doc)));
        for (number, row) in tombstones.changed_rows(&Tombstones::default()) {
            let mut table = txn.open_table(DEAD).expect("a table");
            table.insert(number, &row.expect("a row")[..]).expect("written");
        }
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
fn overlapping_runs_are_reported() {
    assert_reported(Invariant::Ranges, |txn| {
        let mut runs = txn.open_table(RUNS).expect("a table");
        let rows = runs.range((RUN.0, 0)..=(RUN.0, u8::MAX)).expect("readable");
        let rows: Vec<(u8, Vec<u8>)> = rows
            .map(|row| row.expect("readable"))
            .map(|(key, row)| (key.value().1, row.value().to_vec()))
            .collect();
        for (band, row) in rows {
            let mut row = RunRow::decode(&row, RUN, BandNo(band)).expect("whole");
            row.last = DocNo(60);
            let row = row.encode(RUN, BandNo(band));
            runs.insert((RUN.0, band), &row[..]).expect("written");
        }
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
    assert_reported(Invariant::Chunks, |txn| change_run(txn, |row| row.entries += 1));
    assert_reported(Invariant::Chunks, |txn| {
        let mut fences = txn.open_table(FENCES).expect("a table");
        fences.insert((99, 0), &[0; 4][..]).expect("written");
    });
}

#[test]
fn entries_out_of_order_or_range_are_reported() {
    assert_reported(Invariant::Order, |txn| {
        // Entries must ascend strictly.
        let mut all = entries(txn);
        all.insert(0, *all.first().expect("entries"));
        rewrite(txn, &all);
    });
    assert_reported(Invariant::Order, |txn| {
        let mut all = entries(txn);
        all.last_mut().expect("entries").1 = DocNo(77);
        rewrite(txn, &all);
    });
    assert_reported(Invariant::Order, |txn| {
        // Without the first entry, the fence is not that of the first word.
        let all = entries(txn);
        rewrite(txn, all.get(1..).expect("entries"));
    });
}

#[test]
fn missing_and_wrong_entries_are_reported() {
    let live = |entry: &Entry| !entry.1.0.is_multiple_of(5);
    assert_reported(Invariant::Entries, |txn| {
        let mut all = entries(txn);
        let at = all.iter().rposition(live).expect("a live one");
        all.remove(at);
        rewrite(txn, &all);
    });
    assert_reported(Invariant::Entries, |txn| {
        let mut all = entries(txn);
        let last = all.iter_mut().rfind(|entry| live(entry)).expect("a live one");
        last.0 += 1;
        rewrite(txn, &all);
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
