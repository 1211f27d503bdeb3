//! Small indexes for the tests of this layer.

use super::engine::{Engine, Tuning};
use super::settings::SettingsRequest;
use super::writer::NewDocument;
use std::ops::Range;
use std::sync::Arc;
use tempfile::TempDir;

pub(super) const TUNING: Tuning = Tuning {
    cache_bytes: 1 << 20,
    flush_documents: 50,
    merge_runs: 3,
    merge_step: 50,
    quick_repair_from: 64,
};

pub(super) fn open(folder: &TempDir) -> Arc<Engine> {
    Engine::open(&folder.path().join("x.twx"), &SettingsRequest::default(), TUNING).expect("opened")
}

/// An index of `count` documents that have all been flushed, every fifth one removed.
pub(super) fn filled(folder: &TempDir, count: u32) -> Arc<Engine> {
    let settings = SettingsRequest { lanes: Some(64), ..SettingsRequest::default() };
    let settings = settings.resolve().expect("valid settings");
    Engine::create(&folder.path().join("x.twx"), &settings).expect("created");
    let engine = open(folder);
    insert(&engine, 0..count);
    let mut writer = engine.write().expect("begun");
    for number in (0..count).step_by(5) {
        assert!(writer.remove(&number.to_string()).expect("removed"));
    }
    writer.commit().expect("committed");
    engine
}

/// Inserts documents, 50 in a commit, so that each commit makes a run.
pub(super) fn insert(engine: &Engine, numbers: Range<u32>) {
    let sketcher = engine.settings().sketcher().expect("a sketcher");
    for first in numbers.clone().step_by(50) {
        let mut writer = engine.write().expect("begun");
        for number in first..numbers.end.min(first + 50) {
            let document = NewDocument {
                id: number.to_string(),
                signature: sketcher.signature(&format!("document number {number}")),
                text_hash: u64::from(number),
                text_length: 1,
                inserted: None,
            };
            writer.insert(document).expect("inserted");
        }
        writer.commit().expect("committed");
    }
}

/// Keeps the panics of the storage library, which are caught, off the screen.
#[cfg(test)]
pub(crate) fn hush_panics() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !info.location().is_some_and(|at| at.file().contains("redb")) {
            before(info);
        }
    }));
}
