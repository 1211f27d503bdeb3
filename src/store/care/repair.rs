//! Repairing a damaged index: a new file from the rows that can be read of the old one.

use crate::error::{Error, Result};
use crate::hash::id_hash;
use crate::store::bytes::record::{Counters, DocumentRecord, decode_signature};
use crate::store::bytes::schema::{DOCUMENTS, DocNo, SIGNATURES, TEXTS, Table};
use crate::store::bytes::texts::{Dictionary, decode_text};
use crate::store::create::{NewFile, behind_link};
use crate::store::engine::{Engine, Tuning};
use crate::store::file::File;
use crate::store::load;
use crate::store::progress::{Tell, Watch};
use crate::store::read::view::Fixed;
use crate::store::runs::segment::Fresh;
use crate::store::runs::tombstones::DeadSet;
use crate::store::settings::SettingsRequest;
use crate::store::storage_error::{Doing, abandon, damaged, guard, io_error};
use crate::store::write::encode::Rows;
use redb::{ReadOnlyTable, ReadTransaction, ReadableTable};
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
    /// Where the damaged file is kept; only if documents were lost, or may have been.
    pub kept: Option<PathBuf>,
}

/// Checks an index and all its pages, and makes a new file from what can be read if anything is
/// wrong.
pub(crate) fn repair(
    path: &Path,
    request: &SettingsRequest,
    tuning: Tuning,
    tell: &mut Tell<'_>,
) -> Result<Repair> {
    let path = &*behind_link(path);
    let mut watch = Watch::new(path, ("repairing", "the file is as it was"), tell);
    match wrong(path, request, tuning, &mut watch) {
        Ok((documents, None)) => {
            Ok(Repair { cause: None, documents, lost: 0, lost_ids: Vec::new(), kept: None })
        }
        Ok((_, Some(cause))) => make_again(path, request, tuning, cause, &mut watch),
        Err(Error::Damaged { table, key, detail, .. }) => {
            make_again(path, request, tuning, format!("{table} {key}: {detail}"), &mut watch)
        }
        Err(other) => Err(other),
    }
}

/// The documents of an index, and what is wrong with it, if anything is.
fn wrong(
    path: &Path,
    request: &SettingsRequest,
    tuning: Tuning,
    watch: &mut Watch<'_>,
) -> Result<(u64, Option<String>)> {
    let mut engine = Engine::open(path, request, tuning)?;
    // First, as closing a file that is damaged would write to it.
    if let Some(engine) = Arc::get_mut(&mut engine) {
        engine.verify()?;
    }
    let report = crate::store::care::check::check_watching(&engine.read()?, watch)?;
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

/// The rows of one number, as far as they are there.
struct ReadableRows<'a> {
    record: Option<&'a [u8]>,
    signature: &'a [u8],
    text: Option<Vec<u8>>,
}

/// What could be recovered of one number.
enum Recovered {
    Whole(Rows),
    /// Only the record can be read, or the text cannot.
    Named(String),
    /// Only the signature can be read, or there are rows and none can.
    Nameless,
}

fn make_again(
    path: &Path,
    request: &SettingsRequest,
    tuning: Tuning,
    cause: String,
    watch: &mut Watch<'_>,
) -> Result<Repair> {
    // Held until the new file has the name: nobody else has the old one open meanwhile.
    let held = Damaged(Some(guard(path, || File::open_to_write(path, tuning))?));
    let file = held.0.as_ref().unwrap_or(&File::Closed);
    let txn = guard(path, || file.begin_read(path))?;
    let (settings, stored) = guard(path, || load::settings(&txn, path))?;
    request.check(&settings, path)?;
    let fixed = Fixed::new(path, &settings, &stored);
    let old = guard(path, || load::counters(&txn, path)).ok();
    let dead = guard(path, || load::dead(&txn, path)).unwrap_or_default();
    // Without it the texts that need it are lost, and their documents.
    let dictionary = guard(path, || Dictionary::load(&txn, path)).ok().flatten();
    let new = NewFile::begin_like(path, &stored, path)?;
    let engine = Engine::open(new.place(), &SettingsRequest::default(), tuning)?;
    let mut repair =
        Repair { cause: Some(cause), documents: 0, lost: 0, lost_ids: Vec::new(), kept: None };
    let mut salvage = Salvage {
        fixed,
        repair: &mut repair,
        dead,
        dictionary,
        auto_ids: 0,
        next_doc: 0,
        unread: old.is_none(),
    };
    salvage.copy(&txn, old, &engine, watch)?;
    let unread = salvage.unread;
    engine.finish_merges(watch)?;
    let report = crate::store::care::check::check_watching(&engine.read()?, watch)?;
    if let Some(violation) = report.violations.first() {
        let detail = format!("what can be read does not fit together: {violation}");
        return Err(damaged(path, Table::Documents, "all", detail));
    }
    repair.documents = report.documents;
    // Rows that a damaged page hides are known by the count alone, and a page that is out of date may
    // show what was removed.
    if let Some(old) = old {
        let missing = old.documents.saturating_sub(repair.documents);
        repair.lost = missing.max(repair.lost_ids.len() as u64);
    }
    drop(engine);
    if repair.lost > 0 || unread {
        repair.kept = Some(keep(path)?);
    }
    drop(txn);
    // A file that is open cannot be replaced there.
    #[cfg(windows)]
    drop(held);
    new.replace().inspect_err(|_| {
        // It would be a second name of the file that stays.
        repair.kept.as_ref().map(fs::remove_file);
    })?;
    Ok(repair)
}

type DocRows = ReadOnlyTable<u32, &'static [u8]>;

/// The way of the rows from the old file to the new one.
struct Salvage<'a> {
    fixed: Fixed<'a>,
    repair: &'a mut Repair,
    /// Numbers whose rows, if there are any, are those of a page that is out of date.
    dead: DeadSet,
    dictionary: Option<Arc<Dictionary>>,
    /// The greatest automatic id that was seen.
    auto_ids: u64,
    next_doc: u64,
    /// Whether something could not be read that may have been documents.
    unread: bool,
}

impl Salvage<'_> {
    /// Numbers that are read together.
    const BLOCK: u64 = 1 << 10;
    /// The same where texts are read with them, which may be long.
    const BLOCK_OF_TEXTS: u64 = 1 << 6;

    fn copy(
        &mut self,
        txn: &ReadTransaction,
        old: Option<Counters>,
        new: &Arc<Engine>,
        watch: &mut Watch<'_>,
    ) -> Result<()> {
        let path = self.fixed.path;
        let tables = guard(path, || {
            let action = "opening the tables";
            let signatures = txn.open_table(SIGNATURES).doing(path, action)?;
            let texts = match self.fixed.texts {
                true => Some(txn.open_table(TEXTS).doing(path, action)?),
                false => None,
            };
            Ok((signatures, txn.open_table(DOCUMENTS).doing(path, action)?, texts))
        });
        let (signatures, documents, texts) = tables?;
        if let Some(dictionary) = &self.dictionary {
            let mut writer = new.write()?;
            writer.take_dictionary(Arc::clone(dictionary))?;
            writer.commit()?;
        }
        let end = match old {
            Some(old) => old.next_doc,
            None => self.end(&signatures, &documents)?,
        };
        watch.expect(end)?;
        let block = if texts.is_some() { Self::BLOCK_OF_TEXTS } else { Self::BLOCK };
        for first in (0..end).step_by(block as usize) {
            let numbers = first..end.min(first + block);
            let mut records = self.block(&documents, numbers.clone());
            let mut texts = texts
                .as_ref()
                .map_or_else(BTreeMap::new, |texts| self.block(texts, numbers.clone()));
            let mut rows = Vec::new();
            for (number, signature) in self.block(&signatures, numbers) {
                let (record, text) = (records.remove(&number), texts.remove(&number));
                let found = ReadableRows { record: record.as_deref(), signature: &signature, text };
                rows.extend(self.judge(DocNo(number), found));
            }
            for (number, record) in records {
                let found = ReadableRows { record: Some(&record), signature: &[], text: None };
                rows.extend(self.judge(DocNo(number), found));
            }
            rows.sort_unstable_by_key(|row| row.fresh.doc);
            let mut writer = new.write()?;
            writer.restore(&rows)?;
            writer.commit()?;
            watch.advance(block)?;
        }
        let mut writer = new.write()?;
        writer.restore_counters(Counters {
            auto_ids: old.map_or(self.auto_ids, |old| old.auto_ids),
            next_doc: end.max(self.next_doc),
            commit: old.map_or(0, |old| old.commit),
            ..Counters::default()
        })?;
        writer.commit()
    }

    /// The number after the last document that can be found, which has a row in both tables.
    fn end(&self, one: &DocRows, other: &DocRows) -> Result<u64> {
        let (path, action) = (self.fixed.path, "looking for the last document");
        let end = |table: &DocRows| {
            guard(path, || {
                let last = table.last().doing(path, action)?;
                Ok(last.map_or(0, |(number, _)| u64::from(number.value()) + 1))
            })
        };
        match (end(one), end(other)) {
            (Ok(one), Ok(other)) => Ok(one.max(other)),
            (one, other) => one.or(other),
        }
    }

    /// The rows of these numbers, as far as they can be read.
    fn block(&mut self, table: &DocRows, numbers: Range<u64>) -> BTreeMap<u32, Vec<u8>> {
        let (path, action) = (self.fixed.path, "reading what is left");
        let keys = numbers.start as u32..=(numbers.end - 1) as u32;
        let read = guard(path, || {
            let mut rows = BTreeMap::new();
            for row in table.range(keys.clone()).doing(path, action)? {
                let (number, row) = row.doing(path, action)?;
                let number = number.value();
                // A page in the wrong place, which could also go round for ever.
                if !keys.contains(&number) || rows.contains_key(&number) {
                    return Err(damaged(path, Table::Documents, number, "in a wrong place"));
                }
                rows.insert(number, row.value().to_vec());
            }
            Ok(rows)
        });
        // A page between may be damaged; others can be reached by their numbers.
        read.unwrap_or_else(|_| {
            let get = |number: u32| {
                let row = guard(path, || {
                    Ok(table.get(number).doing(path, action)?.map(|row| row.value().to_vec()))
                });
                self.unread |= row.is_err();
                Some((number, row.ok().flatten()?))
            };
            keys.clone().filter_map(get).collect()
        })
    }

    /// The row of a document that is whole; counts one that is not.
    fn judge(&mut self, doc: DocNo, row: ReadableRows<'_>) -> Option<Rows> {
        if self.dead.contains(doc) {
            return None;
        }
        match self.found(doc, row) {
            Recovered::Whole(row) => {
                self.next_doc = self.next_doc.max(u64::from(doc.0) + 1);
                Some(row)
            }
            Recovered::Named(id) => {
                const NAMED: usize = 1000;
                self.repair.lost += 1;
                if self.repair.lost_ids.len() < NAMED {
                    self.repair.lost_ids.push(id);
                }
                None
            }
            Recovered::Nameless => {
                self.repair.lost += 1;
                None
            }
        }
    }

    fn found(&mut self, doc: DocNo, row: ReadableRows<'_>) -> Recovered {
        let ReadableRows { record, signature, text } = row;
        let Some(record) = record else { return Recovered::Nameless };
        let Ok(decoded) = DocumentRecord::decode(record, doc) else { return Recovered::Nameless };
        let automatic = decoded.id.strip_prefix('#').and_then(|number| number.parse().ok());
        self.auto_ids = self.auto_ids.max(automatic.unwrap_or(0));
        let Ok((lanes, size)) = decode_signature(signature, doc, self.fixed.lanes) else {
            return Recovered::Named(decoded.id);
        };
        if self.fixed.texts {
            let dictionary = self.dictionary.as_deref();
            let whole = |text: &Vec<u8>| decode_text(text, doc, dictionary).is_ok();
            if !text.as_ref().is_some_and(whole) {
                return Recovered::Named(decoded.id);
            }
        }
        let lanes = (!size.is_empty()).then(|| Box::from(lanes));
        let id_hash = id_hash(&decoded.id, self.fixed.id_key);
        Recovered::Whole(Rows {
            id: decoded.id,
            record: record.to_vec(),
            signature: signature.to_vec(),
            text,
            fresh: Fresh { doc, id_hash, lanes },
        })
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
#[path = "repair_tests.rs"]
mod tests;
