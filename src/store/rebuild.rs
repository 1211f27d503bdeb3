//! Repairing a damaged index: a new file from the rows that can be read of the old one.

use super::create::NewFile;
use super::engine::{Engine, Tuning};
use super::fault::{Doing, abandon, guard, io_error};
use super::file::File;
use super::load;
use super::record::{Counters, DocumentRecord, decode_signature};
use super::rows::{Rows, append};
use super::schema::{DOCUMENTS, DocNo, SIGNATURES};
use super::segment::Fresh;
use super::settings::SettingsRequest;
use super::view::Fixed;
use super::writer::Writer;
use crate::error::{Error, Result};
use crate::hash::id_hash;
use redb::{ReadOnlyTable, ReadTransaction};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a repair found and did.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repair {
    /// What was wrong; `None` if nothing was, and then nothing was done.
    pub cause: Option<String>,
    /// Documents of the index after it.
    pub documents: u64,
    /// Documents that could not be read and are in the index no longer.
    pub lost: u64,
    /// The ids of those of them that still had one, the first thousand. Add them again.
    pub lost_ids: Vec<String>,
    /// Where the damaged file is kept; only if documents were lost.
    pub kept: Option<PathBuf>,
}

/// Checks an index and all its pages, and makes a new file from what can be read if anything is
/// wrong.
pub(crate) fn repair(path: &Path, request: &SettingsRequest, tuning: Tuning) -> Result<Repair> {
    match wrong(path, request, tuning) {
        Ok((documents, None)) => {
            Ok(Repair { cause: None, documents, lost: 0, lost_ids: Vec::new(), kept: None })
        }
        Ok((_, Some(cause))) => rebuild(path, tuning, cause),
        Err(damage @ Error::Damaged { .. }) => rebuild(path, tuning, damage.to_string()),
        Err(other) => Err(other),
    }
}

/// The documents of an index, and what is wrong with it, if anything is.
fn wrong(path: &Path, request: &SettingsRequest, tuning: Tuning) -> Result<(u64, Option<String>)> {
    let mut engine = Engine::open(path, request, tuning)?;
    // First, as closing a file that is damaged would write to it.
    if let Some(engine) = Arc::get_mut(&mut engine) {
        engine.verify()?;
    }
    let report = super::check::check(&engine.read()?)?;
    let Some(violation) = report.violations.first() else { return Ok((report.documents, None)) };
    let more = match report.violation_count {
        1 => String::new(),
        many => format!(", and {} more", many - 1),
    };
    Ok((report.documents, Some(format!("{violation}{more}"))))
}

/// The damaged file. It is never closed well, as that would write to it.
struct Damaged(Option<File>);

impl Drop for Damaged {
    fn drop(&mut self) {
        abandon(self.0.take());
    }
}

/// What came of the rows of one number.
enum Found {
    Whole(Rows),
    /// Only the record can be read.
    Named(String),
    /// Only the signature can be read, or there are rows and none can.
    Nameless,
}

fn rebuild(path: &Path, tuning: Tuning, cause: String) -> Result<Repair> {
    // Held until the new file has the name: nobody else has the old one open meanwhile.
    let damaged = Damaged(Some(guard(path, || File::open_to_write(path, tuning))?));
    let file = damaged.0.as_ref().unwrap_or(&File::Closed);
    let txn = guard(path, || file.begin_read(path))?;
    let (settings, stored) = guard(path, || load::settings(&txn, path))?;
    let fixed = Fixed {
        path,
        layout: settings.layout(),
        lanes: settings.lanes.get(),
        id_key: stored.id_key,
    };
    let old = guard(path, || load::counters(&txn, path)).ok();
    let new = NewFile::begin(path, &stored)?;
    let engine = Engine::open(new.place(), &SettingsRequest::default(), tuning)?;
    let mut repair =
        Repair { cause: Some(cause), documents: 0, lost: 0, lost_ids: Vec::new(), kept: None };
    let mut salvage = Salvage { fixed, repair: &mut repair, auto_ids: 0, next_doc: 0 };
    salvage.copy(&txn, old, &engine)?;
    engine.finish_merges()?;
    repair.documents = engine.read()?.len();
    // Rows that a damaged page hides are known by the count alone.
    let missing = old.map_or(0, |old| old.documents.saturating_sub(repair.documents));
    repair.lost = repair.lost.max(missing);
    drop(engine);
    if repair.lost > 0 {
        repair.kept = Some(keep(path)?);
    }
    drop(txn);
    // A file that is open cannot be replaced there.
    #[cfg(windows)]
    drop(damaged);
    new.replace()?;
    Ok(repair)
}

/// The way of the rows from the old file to the new one.
struct Salvage<'a> {
    fixed: Fixed<'a>,
    repair: &'a mut Repair,
    auto_ids: u64,
    next_doc: u64,
}

impl Salvage<'_> {
    /// Numbers that are read together.
    const BLOCK: u64 = 1 << 10;

    fn copy(&mut self, txn: &ReadTransaction, old: Option<Counters>, new: &Engine) -> Result<()> {
        let path = self.fixed.path;
        let tables = guard(path, || {
            let action = "opening the tables";
            let signatures = txn.open_table(SIGNATURES).doing(path, action)?;
            Ok((signatures, txn.open_table(DOCUMENTS).doing(path, action)?))
        });
        let (signatures, documents) = tables?;
        let end = match old {
            Some(old) => old.next_doc,
            None => self.end(&signatures).max(self.end(&documents)),
        };
        for first in (0..end).step_by(Self::BLOCK as usize) {
            let numbers = first..end.min(first + Self::BLOCK);
            let mut records = self.block(&documents, numbers.clone());
            let mut rows = Vec::new();
            for (number, signature) in self.block(&signatures, numbers) {
                let record = records.remove(&number);
                rows.extend(self.judge(DocNo(number), record.as_deref(), &signature));
            }
            for (number, record) in records {
                rows.extend(self.judge(DocNo(number), Some(&record), &[]));
            }
            rows.sort_unstable_by_key(|row| row.fresh.doc);
            let mut writer = new.write()?;
            writer.restore(&rows)?;
            writer.commit()?;
        }
        let mut writer = new.write()?;
        writer.restore_counters(Counters {
            auto_ids: old.map_or(self.auto_ids, |old| old.auto_ids.max(self.auto_ids)),
            next_doc: end.max(self.next_doc),
            commit: old.map_or(0, |old| old.commit),
            ..Counters::default()
        })?;
        writer.commit()
    }

    /// The number after the last row that can be found.
    fn end(&self, table: &ReadOnlyTable<u32, &'static [u8]>) -> u64 {
        let last = guard(self.fixed.path, || {
            let mut last = table.range::<u32>(..).doing(self.fixed.path, "looking for the end")?;
            let last = last.next_back().transpose().doing(self.fixed.path, "reading the last row");
            Ok(last?.map_or(0, |(number, _)| u64::from(number.value()) + 1))
        });
        // Without counters and without a last row every number may be one.
        last.unwrap_or(1 << 32)
    }

    /// The rows of these numbers, as far as they can be read.
    fn block(
        &self,
        table: &ReadOnlyTable<u32, &'static [u8]>,
        numbers: Range<u64>,
    ) -> BTreeMap<u32, Vec<u8>> {
        let (path, action) = (self.fixed.path, "reading what is left");
        let keys = (numbers.start as u32, (numbers.end - 1) as u32);
        let read = guard(path, || {
            let rows = table.range(keys.0..=keys.1).doing(path, action)?;
            rows.map(|row| {
                let (number, row) = row.doing(path, action)?;
                Ok((number.value(), row.value().to_vec()))
            })
            // Damaged keys could go round for ever.
            .take(Self::BLOCK as usize)
            .collect::<Result<BTreeMap<_, _>>>()
        });
        // A page between may be damaged; others can be reached by their numbers.
        read.unwrap_or_else(|_| {
            let get = |number: u32| {
                let row = guard(path, || table.get(number).doing(path, action));
                row.ok().flatten().and_then(|row| {
                    let row = guard(path, || Ok(row.value().to_vec())).ok()?;
                    Some((number, row))
                })
            };
            (keys.0..=keys.1).filter_map(get).collect()
        })
    }

    /// The row of a document that is whole; counts one that is not.
    fn judge(&mut self, doc: DocNo, record: Option<&[u8]>, signature: &[u8]) -> Option<Rows> {
        match self.found(doc, record, signature) {
            Found::Whole(row) => {
                self.next_doc = self.next_doc.max(u64::from(doc.0) + 1);
                Some(row)
            }
            Found::Named(id) => {
                const NAMED: usize = 1000;
                self.repair.lost += 1;
                if self.repair.lost_ids.len() < NAMED {
                    self.repair.lost_ids.push(id);
                }
                None
            }
            Found::Nameless => {
                self.repair.lost += 1;
                None
            }
        }
    }

    fn found(&mut self, doc: DocNo, record: Option<&[u8]>, signature: &[u8]) -> Found {
        let Some(record) = record else { return Found::Nameless };
        let Ok(decoded) = DocumentRecord::decode(record, doc) else { return Found::Nameless };
        let automatic = decoded.id.strip_prefix('#').and_then(|number| number.parse().ok());
        self.auto_ids = self.auto_ids.max(automatic.unwrap_or(0));
        let Ok((lanes, size)) = decode_signature(signature, doc, self.fixed.lanes) else {
            return Found::Named(decoded.id);
        };
        let lanes = (!size.is_empty()).then(|| Box::from(lanes));
        let id_hash = id_hash(&decoded.id, self.fixed.id_key);
        Found::Whole(Rows {
            id: decoded.id,
            record: record.to_vec(),
            signature: signature.to_vec(),
            fresh: Fresh { doc, id_hash, lanes },
        })
    }
}

impl Writer<'_> {
    /// Inserts rows as they are, which follow all that are in already. Numbers between them stay
    /// unused.
    fn restore(&mut self, rows: &[Rows]) -> Result<()> {
        let Some(last) = rows.last() else { return Ok(()) };
        let next = u64::from(last.fresh.doc.0) + 1;
        self.change(|writer| append(writer.txn()?, writer.engine.path(), rows))?;
        let fresh = rows.iter().map(|row| row.fresh.clone()).collect();
        self.take_over(fresh, next);
        Ok(())
    }

    /// Writes the tail, and takes over what an index counts beside its documents.
    fn restore_counters(&mut self, old: Counters) -> Result<()> {
        self.flush()?;
        let counters = &mut self.state.counters;
        counters.auto_ids = old.auto_ids;
        counters.next_doc = counters.next_doc.max(old.next_doc);
        counters.flushed_upto = counters.next_doc;
        counters.commit = counters.commit.max(old.commit);
        self.touch();
        Ok(())
    }
}

/// Keeps the old file under another name beside.
fn keep(path: &Path) -> Result<PathBuf> {
    let name = |number: u32| {
        let mut name = OsString::from(path);
        name.push(if number == 0 { ".damaged".into() } else { format!(".damaged.{number}") });
        PathBuf::from(name)
    };
    let kept = (0..).map(name).find(|kept| kept.symlink_metadata().is_err());
    let kept = kept.unwrap_or_else(|| name(u32::MAX));
    fs::hard_link(path, &kept)
        .or_else(|_| fs::copy(path, &kept).map(|_| ()))
        .map_err(|source| io_error(path, "keeping the damaged file", source))?;
    Ok(kept)
}

#[cfg(test)]
#[path = "rebuild_tests.rs"]
mod tests;
