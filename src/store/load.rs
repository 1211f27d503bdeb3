//! Reads the in-memory state of an index when it is opened, and so checks invariants 1 and 2.

use crate::error::{Error, Result};
use crate::hash::id_hash;
use crate::store::bytes::clusters::Tracking;
use crate::store::bytes::codec::DecodeError;
use crate::store::bytes::fingerprints::decode_fingerprints;
use crate::store::bytes::record::{
    Counters, DocumentRecord, RunRow, decode_fences, decode_signature,
};
use crate::store::bytes::schema::{
    BandNo, CLUSTERS_ROW, DEAD, DOCUMENTS, DocNo, FENCES, FINGERPRINTS, FORMAT_ROW, FORMAT_VERSION,
    MAGIC, META, RUNS, RunNo, SETTINGS_ROW, SIGNATURES, STATE_ROW, Table,
};
use crate::store::bytes::settings_row::StoredSettings;
use crate::store::bytes::texts::Dictionary;
use crate::store::read::fixed::Fixed;
use crate::store::runs::merge::MergeTask;
use crate::store::runs::run::{BandRun, Manifest, Run};
use crate::store::runs::segment::{Tail, TailDocument};
use crate::store::runs::tombstones::Tombstones;
use crate::store::settings::Settings;
use crate::store::state::State;
use crate::store::storage_error::{Doing, damaged};
use redb::{ReadTransaction, ReadableTable, TableDefinition, TableError};
use rustc_hash::FxHashMap;
use std::path::Path;
use std::sync::Arc;

/// Checks the format row (invariant 1) and reads the settings.
pub(crate) fn settings(txn: &ReadTransaction, path: &Path) -> Result<(Settings, StoredSettings)> {
    let action = "reading the settings";
    let meta = match txn.open_table(META) {
        Ok(meta) => meta,
        Err(TableError::Storage(error)) => return Err(error).doing(path, action),
        Err(_) => return Err(not_an_index(path)),
    };
    let format = meta.get(FORMAT_ROW).doing(path, action)?;
    let stored = meta.get(SETTINGS_ROW).doing(path, action)?;
    let (format, stored) = (format.as_ref().map(|row| row.value()), stored.as_ref());
    settings_of(format, stored.map(|row| row.value()), path)
}

fn not_an_index(path: &Path) -> Error {
    Error::NotAnIndex { path: path.to_owned(), detail: FOREIGN.to_owned() }
}

/// Checks the format row (invariant 1) and decodes the settings row.
pub(crate) fn settings_of(
    format: Option<&[u8]>,
    stored: Option<&[u8]>,
    path: &Path,
) -> Result<(Settings, StoredSettings)> {
    supported(format.and_then(version_of).ok_or_else(|| not_an_index(path))?, path)?;
    let fault = |detail| damaged(path, Table::Meta, SETTINGS_ROW, detail);
    let row = stored.ok_or_else(|| fault("its row is missing"))?;
    let stored = StoredSettings::decode(row).map_err(fault)?;
    Ok((stored.settings().map_err(fault)?, stored))
}

const FOREIGN: &str = "it is a database of another program";

/// The version in a format row, or `None` if the row has another name or length.
pub(crate) fn version_of(row: &[u8]) -> Option<u32> {
    let version = row.strip_prefix(&MAGIC)?;
    Some(u32::from_le_bytes(version.try_into().ok()?))
}

/// Reads the version of the file's format.
fn format(txn: &ReadTransaction, path: &Path) -> Result<u32> {
    let action = "reading the format";
    let meta = txn.open_table(META).doing(path, action)?;
    let row = meta.get(FORMAT_ROW).doing(path, action)?;
    let version = row.and_then(|row| version_of(row.value()));
    supported(version.ok_or_else(|| not_an_index(path))?, path)
}

/// Refuses the versions that this library cannot read. A process that uses a newer one may have
/// changed the file since it was opened.
fn supported(version: u32, path: &Path) -> Result<u32> {
    match version {
        1..=FORMAT_VERSION => Ok(version),
        0 => Err(damaged(path, Table::Meta, FORMAT_ROW, "there is no format 0")),
        found => {
            let path = path.to_owned();
            Err(Error::NewerFormat { path, found, supported: FORMAT_VERSION })
        }
    }
}

/// Reads the counters of the transaction's commit.
pub(crate) fn counters(txn: &ReadTransaction, path: &Path) -> Result<Counters> {
    let action = "reading the state";
    let fault = |detail| damaged(path, Table::Meta, STATE_ROW, detail);
    let meta = txn.open_table(META).doing(path, action)?;
    let row = meta.get(STATE_ROW).doing(path, action)?;
    let row = row.ok_or_else(|| fault("its row is missing"))?;
    Counters::decode(row.value()).map_err(fault)
}

/// Reads how far clusters are tracked; `None` if they are not.
fn tracking(txn: &ReadTransaction, path: &Path) -> Result<Option<Tracking>> {
    let action = "reading the clusters";
    let meta = txn.open_table(META).doing(path, action)?;
    let row = meta.get(CLUSTERS_ROW).doing(path, action)?;
    let tracking = row.map(|row| Tracking::decode(row.value())).transpose();
    tracking.map_err(|fault| damaged(path, Table::Meta, CLUSTERS_ROW, fault))
}

/// Reads everything that is kept in memory, to write.
pub(crate) fn state(txn: &ReadTransaction, fixed: Fixed<'_>) -> Result<State> {
    let mut state = refresh(txn, fixed, &State::default())?;
    let State { manifest, tombstones, .. } = &state;
    let merges = manifest.runs().iter();
    let merges = merges.filter(|run| !run.is_complete() && !manifest.sources_of(run).is_empty());
    state.merges = merges.map(|run| MergeTask::resume(run, manifest, tombstones)).collect();
    Ok(state)
}

/// Reads everything that is kept in memory, to read. What has not changed since the state of an
/// earlier commit is taken from there.
pub(crate) fn refresh(txn: &ReadTransaction, fixed: Fixed<'_>, before: &State) -> Result<State> {
    let counters = counters(txn, fixed.path)?;
    let tombstones = tombstones(txn, fixed.path)?;
    let dictionary = match &before.dictionary {
        // It is written once.
        Some(dictionary) => Some(Arc::clone(dictionary)),
        None if fixed.texts => Dictionary::load(txn, fixed.path)?,
        None => None,
    };
    Ok(State {
        format: format(txn, fixed.path)?,
        tracking: tracking(txn, fixed.path)?,
        counters,
        manifest: manifest(txn, fixed, &before.manifest)?,
        tail: tail(txn, fixed, &counters, &tombstones, before)?,
        tombstones,
        dictionary,
        ..State::default()
    })
}

/// Reads the runs. A band that is listed never changes, so the fences and the filter of one that
/// was listed before are kept.
fn manifest(txn: &ReadTransaction, fixed: Fixed<'_>, before: &Manifest) -> Result<Manifest> {
    let action = "reading the runs";
    let runs = txn.open_table(RUNS).doing(fixed.path, action)?;
    let fences = txn.open_table(FENCES).doing(fixed.path, action)?;
    let known: FxHashMap<RunNo, &Arc<Run>> =
        before.runs().iter().map(|run| (run.number, run)).collect();
    let mut found: Vec<Run> = Vec::new();
    for item in runs.iter().doing(fixed.path, action)? {
        let (key, row) = item.doing(fixed.path, action)?;
        let (number, band) = (RunNo(key.value().0), BandNo(key.value().1));
        let name = format!("run {} band {}", number.0, band.0);
        let fault = |detail| damaged(fixed.path, Table::Runs, &name, detail);
        let row = RunRow::decode(row.value(), number, band).map_err(fault)?;
        if found.last().is_none_or(|run| run.number != number) {
            found.push(Run::new(number, row.tier, row.first, row.last, fixed.layout.count()));
        }
        let same = known.get(&number).and_then(|run| {
            let same_run = (run.tier, run.first, run.last) == (row.tier, row.first, row.last);
            let band = run.band(band).filter(|_| same_run)?;
            let same_band = (band.entries, band.chunks()) == (row.entries, row.chunks);
            same_band.then(|| Arc::clone(band))
        });
        let content = match (same, row.chunks) {
            (Some(same), _) => same,
            (None, 0) => Arc::default(),
            (None, _) => {
                let fault = |detail| damaged(fixed.path, Table::Fences, &name, detail);
                let stored = fences.get((number.0, band.0)).doing(fixed.path, action)?;
                let stored = stored.ok_or_else(|| fault("its row is missing"))?;
                let fences = decode_fences(stored.value(), number, band).map_err(fault)?;
                if fences.len() != row.chunks as usize {
                    return Err(fault("its number of fences is not the number of chunks"));
                }
                Arc::new(BandRun { entries: row.entries, fences, ..BandRun::default() })
            }
        };
        let run = found.last_mut();
        run.filter(|run| (run.tier, run.first, run.last) == (row.tier, row.first, row.last))
            .and_then(|run| run.set(band, Some(content)))
            .ok_or_else(|| fault("it disagrees with the other bands of its run"))?;
    }
    let mut manifest = Manifest::default();
    found.into_iter().for_each(|run| manifest.add(run));
    Ok(manifest)
}

/// Reads the tombstones.
pub(crate) fn tombstones(txn: &ReadTransaction, path: &Path) -> Result<Tombstones> {
    let action = "reading the tombstones";
    let table = txn.open_table(DEAD).doing(path, action)?;
    let mut tombstones = Tombstones::default();
    for item in table.iter().doing(path, action)? {
        let (number, row) = item.doing(path, action)?;
        tombstones
            .add_row(number.value(), row.value())
            .map_err(|fault| damaged(path, Table::Dead, number.value(), fault))?;
    }
    Ok(tombstones)
}

/// Rebuilds the tail from the rows of the documents from `flushed_upto` on.
///
/// A flush takes the whole tail, and documents are numbered upwards and never rewritten. So the
/// tail of an earlier commit stays if nothing was flushed since, and only new documents are read.
fn tail(
    txn: &ReadTransaction,
    fixed: Fixed<'_>,
    counters: &Counters,
    tombstones: &Tombstones,
    before: &State,
) -> Result<Tail> {
    let flushed = before.counters.flushed_upto != counters.flushed_upto;
    let (mut tail, from) = if flushed {
        (Tail::default(), counters.flushed_upto)
    } else {
        (before.tail.clone(), before.counters.next_doc)
    };
    // If all 2^32 document numbers are used and flushed, there is no tail.
    let Ok(from) = u32::try_from(from) else { return Ok(tail) };
    let lanes = |doc, row: &[u8]| {
        let (lanes, size) = decode_signature(row, doc, fixed.lanes)?;
        Ok((!size.is_empty()).then(|| Box::from(lanes)))
    };
    let id = |doc, row: &[u8]| {
        DocumentRecord::decode(row, doc).map(|record| id_hash(&record.id, fixed.id_key))
    };
    let (lanes, hashes) = rayon::join(
        || tail_rows(txn, fixed.path, (SIGNATURES, Table::Signatures), from, lanes),
        || tail_rows(txn, fixed.path, (DOCUMENTS, Table::Documents), from, id),
    );
    let (lanes, hashes) = (lanes?, hashes?);
    let words = |doc, row: &[u8]| decode_fingerprints(row, doc).map(|found| found.words());
    let words = if fixed.layout.passages {
        let table = (FINGERPRINTS, Table::Fingerprints);
        tail_rows(txn, fixed.path, table, from, words)?
    } else {
        Vec::new()
    };
    let mut words = words.into_iter().peekable();
    let rows = (lanes.len(), hashes.len());
    let mut documents = Vec::with_capacity(rows.0);
    for ((doc, lanes), (number, id_hash)) in lanes.into_iter().zip(&hashes) {
        if doc != *number {
            let missing = doc.min(*number).0;
            let detail = "its row or its signature row is missing";
            return Err(damaged(fixed.path, Table::Documents, missing, detail));
        }
        let fingerprints = match words.next_if(|(number, _)| *number == doc) {
            Some((_, words)) => words,
            None if fixed.layout.passages => {
                return Err(damaged(fixed.path, Table::Fingerprints, doc.0, "its row is missing"));
            }
            None => Box::default(),
        };
        documents.push(TailDocument { doc, id_hash: *id_hash, lanes, fingerprints });
    }
    if let Some((doc, _)) = words.next() {
        let detail = "it is one too many, or an earlier one is missing";
        return Err(damaged(fixed.path, Table::Fingerprints, doc.0, detail));
    }
    if rows.0 != rows.1 {
        let detail = "documents and signatures differ in their number of rows";
        return Err(damaged(fixed.path, Table::Documents, from, detail));
    }
    // Invariant 2: every number of the tail has its rows or a tombstone. So a lost row is noticed.
    let removed = tombstones.iter().filter(|doc| doc.0 >= from).count();
    let numbers = counters.next_doc.saturating_sub(u64::from(from));
    let rows = documents.len();
    if (rows + removed) as u64 != numbers {
        let detail = format!(
            "from {from} on there are {rows} rows and {removed} tombstones instead of {numbers}"
        );
        return Err(damaged(fixed.path, Table::Signatures, from, detail));
    }
    if !documents.is_empty() {
        tail.push(fixed.layout, &documents);
    }
    Ok(tail)
}

/// Decodes every row of a table from `from` on.
fn tail_rows<T>(
    txn: &ReadTransaction,
    path: &Path,
    (table, name): (TableDefinition<'_, u32, &'static [u8]>, Table),
    from: u32,
    decode: impl Fn(DocNo, &[u8]) -> std::result::Result<T, DecodeError>,
) -> Result<Vec<(DocNo, T)>> {
    let action = "reading the latest documents";
    let table = txn.open_table(table).doing(path, action)?;
    let rows = table.range(from..).doing(path, action)?;
    rows.map(|item| {
        let (number, row) = item.doing(path, action)?;
        let doc = DocNo(number.value());
        let row = decode(doc, row.value()).map_err(|fault| damaged(path, name, doc.0, fault))?;
        Ok((doc, row))
    })
    .collect()
}

#[cfg(test)]
#[path = "load_tests.rs"]
mod tests;
