//! Small indexes for the tests of this layer. They flush and merge early.

use crate::hash::TextHash;
#[cfg(test)]
use crate::store::bytes::record::Counters;
#[cfg(test)]
use crate::store::bytes::schema::{META, STATE_ROW};
use crate::store::document::{Document, Kind};
use crate::store::engine::Engine;
#[cfg(test)]
use crate::store::settings::PassageRequest;
use crate::store::settings::SettingsRequest;
use crate::store::tuning::Tuning;
use crate::store::write::writer::Writer;
use crate::text::Content;
#[cfg(test)]
use redb::{ReadableTable, WriteTransaction};
use std::ops::Range;
#[cfg(test)]
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

pub(crate) const TUNING: Tuning = Tuning {
    cache_bytes: 1 << 20,
    flush_documents: 50,
    merge_runs: 3,
    merge_step: 50,
    quick_repair_from: 64,
};

pub(crate) fn open(folder: &TempDir) -> Arc<Engine> {
    Engine::open(&folder.path().join("x.twx"), &SettingsRequest::default(), TUNING).expect("opened")
}

/// An index of `count` documents, of which every fifth is removed. Each 50 of them are a run, and
/// the rest is the tail.
pub(crate) fn filled(folder: &TempDir, count: u32) -> Arc<Engine> {
    let engine = filled_with(folder, count, &small());
    let mut writer = engine.write().expect("begun");
    for number in (0..count).step_by(5) {
        assert!(writer.remove(&number.to_string()).expect("removed"));
    }
    writer.commit().expect("committed");
    engine
}

/// An index of `count` documents with their texts.
#[cfg(test)]
pub(crate) fn filled_with_texts(folder: &TempDir, count: u32) -> Arc<Engine> {
    filled_with(folder, count, &SettingsRequest { store_text: Some(true), ..small() })
}

/// An index of `count` documents with their texts and fingerprints.
#[cfg(test)]
pub(crate) fn filled_with_passages(folder: &TempDir, count: u32) -> Arc<Engine> {
    let passages = Some(PassageRequest::Usual);
    let settings = SettingsRequest { store_text: Some(true), passages, ..small() };
    filled_with(folder, count, &settings)
}

/// Few lanes, so that the tests are quick.
fn small() -> SettingsRequest {
    SettingsRequest { lanes: Some(64), ..SettingsRequest::default() }
}

/// An index of `count` documents with these settings.
fn filled_with(folder: &TempDir, count: u32, settings: &SettingsRequest) -> Arc<Engine> {
    let settings = settings.resolve().expect("valid settings");
    Engine::create(&folder.path().join("x.twx"), &settings).expect("created");
    let engine = open(folder);
    insert(&engine, 0..count);
    engine
}

/// Changes the counters of a file.
#[cfg(test)]
pub(crate) fn change_counters(txn: &WriteTransaction, change: impl FnOnce(&mut Counters)) {
    let mut meta = txn.open_table(META).expect("a table");
    let row = meta.get(STATE_ROW).expect("readable").expect("there").value().to_vec();
    let mut counters = Counters::decode(&row).expect("whole");
    change(&mut counters);
    meta.insert(STATE_ROW, &counters.encode()[..]).expect("written");
}

/// Lets the next document of a file without documents get this number.
#[cfg(test)]
pub(crate) fn set_next_number(path: &Path, number: u64) {
    let database = redb::Database::open(path).expect("opened");
    let txn = database.begin_write().expect("begun");
    change_counters(&txn, |counters| {
        (counters.next_doc, counters.flushed_upto) = (number, number);
    });
    txn.commit().expect("committed");
}

/// Inserts documents in commits of 50, each of which becomes a run.
pub(crate) fn insert(engine: &Arc<Engine>, numbers: Range<u32>) {
    for first in numbers.clone().step_by(50) {
        let mut writer = engine.write().expect("begun");
        for document in documents(engine, first..numbers.end.min(first + 50)) {
            insert_into(&mut writer, document);
        }
        writer.commit().expect("committed");
    }
}

/// Inserts a document. It replaces the one that has its id, if there is one.
pub(crate) fn insert_into(writer: &mut Writer, document: Document) {
    let mut batch = writer.batch(vec![document]).expect("looked up");
    if let Some(entry) = batch.next().expect("looked up") {
        entry.insert().expect("inserted");
    }
    batch.finish().expect("written");
}

/// Documents with their numbers as ids.
pub(crate) fn documents(engine: &Engine, numbers: Range<u32>) -> Vec<Document> {
    let sketcher = engine.settings().sketcher().expect("a sketcher");
    let document = |number: u32| {
        let text = format!("document number {number}");
        let sketched = sketcher.sketched(Content::Text(&text)).expect("a text");
        Document {
            kind: Kind::Text,
            id: number.to_string(),
            signature: sketched.signature,
            sketched_by: None,
            fingerprints: sketched.fingerprints,
            winnowing: None,
            text_hash: TextHash::of(text.as_bytes()),
            text_length: text.len() as u64,
            text: Some(text.into()),
            inserted: None,
        }
    };
    numbers.map(document).collect()
}

/// Suppresses the messages of panics in redb, which this crate catches.
#[cfg(test)]
pub(crate) fn silence_storage_panics() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !info.location().is_some_and(|at| at.file().contains("redb")) {
            before(info);
        }
    }));
}

/// The pages of 4,096 bytes on which the leaves of a table of this file begin; `storage` for what
/// redb keeps for itself.
#[cfg(test)]
pub(crate) fn leaves_of(bytes: &[u8], table: &str) -> Vec<usize> {
    use crate::store::pages::header::{HEADER_BYTES, Header};
    use crate::store::pages::walk::{Met, Tree, walk};
    use crate::store::sim::disk::Disk;
    let header = bytes.get(..HEADER_BYTES).and_then(Header::read).expect("a header");
    let (_, slot) = header.commits().next().expect("a commit");
    let mut pages = Vec::new();
    let walked = walk(&Disk::with(bytes.to_vec()), Tree::of(&slot), false, &mut |met| {
        match met {
            Met::Leaf(leaf) if leaf.table == table => {
                pages.extend(leaf.number.bytes().map(|place| (place.start / 4096) as usize));
            }
            _ => {}
        }
        Ok(())
    });
    walked.expect("visited").expect("read");
    pages
}
