//! Reading the in-memory part of an index from the file when it is opened.

use crate::error::{Error, Result};
use crate::hash::id_hash;
use crate::store::bytes::codec::Fault;
use crate::store::bytes::record::{
    Counters, DocumentRecord, RunRow, decode_fences, decode_signature,
};
use crate::store::bytes::schema::{
    BandNo, DEAD, DOCUMENTS, DocNo, FENCES, FORMAT_ROW, FORMAT_VERSION, MAGIC, META, RUNS, RunNo,
    SETTINGS_ROW, SIGNATURES, STATE_ROW, Table,
};
use crate::store::bytes::texts::Dictionary;
use crate::store::read::view::Fixed;
use crate::store::runs::merge::MergeTask;
use crate::store::runs::run::{BandRun, Manifest, Run};
use crate::store::runs::segment::{Fresh, Tail};
use crate::store::runs::tombstones::DeadSet;
use crate::store::settings::{Settings, StoredSettings};
use crate::store::state::State;
use crate::store::storage_error::{Doing, damaged};
use redb::{ReadTransaction, ReadableTable, TableDefinition};
use std::path::Path;
use std::sync::Arc;

/// Checks format and version, and reads the settings.
pub(crate) fn settings(txn: &ReadTransaction, path: &Path) -> Result<(Settings, StoredSettings)> {
    let not_an_index =
        |detail: &str| Error::NotAnIndex { path: path.to_owned(), detail: detail.to_owned() };
    let Ok(meta) = txn.open_table(META) else {
        return Err(not_an_index("a database of another program"));
    };
    let action = "reading the settings";
    let format = meta.get(FORMAT_ROW).doing(path, action)?;
    let format = format.ok_or_else(|| not_an_index("a database of another program"))?;
    let version = format_version(format.value())
        .ok_or_else(|| not_an_index("a database of another program"))?;
    match version {
        FORMAT_VERSION => {}
        0 => return Err(damaged(path, Table::Meta, FORMAT_ROW, "there is no format 0")),
        found => {
            return Err(Error::NewerFormat {
                path: path.to_owned(),
                found,
                supported: FORMAT_VERSION,
            });
        }
    }
    let fault = |detail| damaged(path, Table::Meta, SETTINGS_ROW, detail);
    let row = meta.get(SETTINGS_ROW).doing(path, action)?;
    let row = row.ok_or_else(|| fault("its row is missing"))?;
    let stored = StoredSettings::decode(row.value()).map_err(fault)?;
    Ok((stored.settings().map_err(fault)?, stored))
}

/// The version that a format row names; `None` where it is no format row.
pub(crate) fn format_version(row: &[u8]) -> Option<u32> {
    let version = row.strip_prefix(&MAGIC)?;
    Some(u32::from_le_bytes(version.try_into().ok()?))
}

/// The counters of the commit that the transaction sees.
pub(crate) fn counters(txn: &ReadTransaction, path: &Path) -> Result<Counters> {
    let action = "reading the state";
    let fault = |detail| damaged(path, Table::Meta, STATE_ROW, detail);
    let meta = txn.open_table(META).doing(path, action)?;
    let row = meta.get(STATE_ROW).doing(path, action)?;
    let row = row.ok_or_else(|| fault("its row is missing"))?;
    Counters::decode(row.value()).map_err(fault)
}

/// Everything that is kept in memory.
pub(crate) fn state(txn: &ReadTransaction, fixed: Fixed<'_>) -> Result<State> {
    let counters = counters(txn, fixed.path)?;
    let manifest = manifest(txn, fixed)?;
    let dead = dead(txn, fixed.path)?;
    let merges = manifest
        .runs()
        .iter()
        .filter(|run| !run.is_complete() && !manifest.sources_of(run).is_empty())
        .map(|run| MergeTask::resume(run, &manifest, &dead))
        .collect();
    Ok(State {
        counters,
        manifest,
        tail: tail(txn, fixed, &counters, &dead)?,
        dead,
        dictionary: if fixed.texts { Dictionary::load(txn, fixed.path)? } else { None },
        merges,
        merge_credit: 0,
        merge_pace: 0,
    })
}

fn manifest(txn: &ReadTransaction, fixed: Fixed<'_>) -> Result<Manifest> {
    let action = "reading the runs";
    let runs = txn.open_table(RUNS).doing(fixed.path, action)?;
    let fences = txn.open_table(FENCES).doing(fixed.path, action)?;
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
        let content = match row.chunks {
            0 => BandRun::default(),
            _ => {
                let fault = |detail| damaged(fixed.path, Table::Fences, &name, detail);
                let stored = fences.get((number.0, band.0)).doing(fixed.path, action)?;
                let stored = stored.ok_or_else(|| fault("its row is missing"))?;
                let fences = decode_fences(stored.value(), number, band).map_err(fault)?;
                if fences.len() != row.chunks as usize {
                    return Err(fault("it has another number of chunks than the run"));
                }
                BandRun { entries: row.entries, fences, ..BandRun::default() }
            }
        };
        let run = found.last_mut();
        run.filter(|run| (run.tier, run.first, run.last) == (row.tier, row.first, row.last))
            .and_then(|run| run.set(band, Some(Arc::new(content))))
            .ok_or_else(|| fault("it does not agree with the other bands of its run"))?;
    }
    let mut manifest = Manifest::default();
    found.into_iter().for_each(|run| manifest.add(run));
    Ok(manifest)
}

pub(crate) fn dead(txn: &ReadTransaction, path: &Path) -> Result<DeadSet> {
    let action = "reading the dead documents";
    let table = txn.open_table(DEAD).doing(path, action)?;
    let mut dead = DeadSet::default();
    for item in table.iter().doing(path, action)? {
        let (number, row) = item.doing(path, action)?;
        dead.add_row(number.value(), row.value())
            .map_err(|fault| damaged(path, Table::Dead, number.value(), fault))?;
    }
    Ok(dead)
}

/// Rebuilds the tail from the signatures that are in no run yet.
fn tail(
    txn: &ReadTransaction,
    fixed: Fixed<'_>,
    counters: &Counters,
    dead: &DeadSet,
) -> Result<Tail> {
    let mut tail = Tail::default();
    // Numbers end at 2^32 - 1: where all are in runs there is no tail.
    let Ok(from) = u32::try_from(counters.flushed_upto) else { return Ok(tail) };
    // The two tables are read side by side.
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
    let rows = (lanes.len(), hashes.len());
    let mut fresh = Vec::with_capacity(rows.0);
    for ((doc, lanes), (number, id_hash)) in lanes.into_iter().zip(&hashes) {
        if doc != *number {
            let missing = doc.min(*number).0;
            let fault = "its row or that of its signature is missing";
            return Err(damaged(fixed.path, Table::Documents, missing, fault));
        }
        fresh.push(Fresh { doc, id_hash: *id_hash, lanes });
    }
    if rows.0 != rows.1 {
        let fault = "rows of documents and of signatures differ in number";
        return Err(damaged(fixed.path, Table::Documents, from, fault));
    }
    // Every number of the tail is a document or dead, so that a row that was lost is missed.
    let removed = dead.iter().filter(|doc| doc.0 >= from).count();
    let numbers = counters.next_doc - counters.flushed_upto;
    if (fresh.len() + removed) as u64 != numbers {
        let detail =
            format!("{} rows and {removed} dead from {from} on, not {numbers}", fresh.len());
        return Err(damaged(fixed.path, Table::Signatures, from, detail));
    }
    if !fresh.is_empty() {
        tail.push(fixed.layout, &fresh);
    }
    Ok(tail)
}

/// What `read` makes of every row of a table from `from` on.
fn tail_rows<T>(
    txn: &ReadTransaction,
    path: &Path,
    (table, name): (TableDefinition<'_, u32, &'static [u8]>, Table),
    from: u32,
    read: impl Fn(DocNo, &[u8]) -> std::result::Result<T, Fault>,
) -> Result<Vec<(DocNo, T)>> {
    let action = "reading the latest documents";
    let table = txn.open_table(table).doing(path, action)?;
    let rows = table.range(from..).doing(path, action)?;
    rows.map(|item| {
        let (number, row) = item.doing(path, action)?;
        let doc = DocNo(number.value());
        let read = read(doc, row.value()).map_err(|fault| damaged(path, name, doc.0, fault))?;
        Ok((doc, read))
    })
    .collect()
}

#[cfg(test)]
#[path = "load_tests.rs"]
mod tests;
