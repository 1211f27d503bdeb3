//! Repairs a damaged index: makes a new file from the readable rows of the old one.

use crate::error::{Error, Result};
use crate::hash::id_hash;
use crate::store::bytes::record::{Counters, DocumentRecord, decode_signature};
use crate::store::bytes::schema::{DOCUMENTS, DocNo, SIGNATURES, TEXTS, Table};
use crate::store::bytes::texts::{Dictionary, decode_text};
use crate::store::create::{NewFile, resolve_link};
use crate::store::engine::{Engine, Tuning};
use crate::store::file::File;
use crate::store::load;
use crate::store::progress::{Tell, Watch};
use crate::store::read::view::Fixed;
use crate::store::runs::segment::TailDocument;
use crate::store::runs::tombstones::Tombstones;
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

/// The result of a repair.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repair {
    /// What was wrong. `None` if the file was undamaged; it is unchanged then.
    pub cause: Option<String>,
    /// The number of documents of the index after the repair.
    pub documents: u64,
    /// The number of documents that could not be read. They are no longer in the index.
    pub lost: u64,
    /// The ids of lost documents, as far as they could be read; the first thousand. Insert these
    /// documents again.
    pub lost_ids: Vec<String>,
    /// The path of the damaged file. `None` unless documents were lost, or may have been.
    pub kept: Option<PathBuf>,
}

/// Checks an index and all its pages. If anything is wrong, makes a new file from the readable
/// rows.
pub(crate) fn repair(
    path: &Path,
    request: &SettingsRequest,
    tuning: Tuning,
    tell: &mut Tell<'_>,
) -> Result<Repair> {
    let path = &*resolve_link(path);
    let mut watch = Watch::new(path, ("repairing", "the file is as it was"), tell);
    match find_damage(path, request, tuning, &mut watch) {
        Ok((documents, None)) => {
            Ok(Repair { cause: None, documents, lost: 0, lost_ids: Vec::new(), kept: None })
        }
        Ok((_, Some(cause))) => salvage(path, request, tuning, cause, &mut watch),
        Err(Error::Damaged { table, key, detail, .. }) => {
            salvage(path, request, tuning, format!("{table} {key}: {detail}"), &mut watch)
        }
        Err(other) => Err(other),
    }
}

/// Counts the documents of an index and describes its damage, if there is any.
fn find_damage(
    path: &Path,
    request: &SettingsRequest,
    tuning: Tuning,
    watch: &mut Watch<'_>,
) -> Result<(u64, Option<String>)> {
    let mut engine = Engine::open(path, request, tuning)?;
    // The pages are verified first: if they are damaged, the engine does not close the file, which
    // would write to it.
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

/// The damaged file. It is abandoned rather than closed, because closing would write to it.
struct DamagedFile(Option<File>);

impl Drop for DamagedFile {
    fn drop(&mut self) {
        abandon(self.0.take());
    }
}

/// The rows of one document number, as far as they exist.
struct OldRows<'a> {
    record: Option<&'a [u8]>,
    /// Empty if the row does not exist.
    signature: &'a [u8],
    text: Option<Vec<u8>>,
}

/// The result of decoding the rows of one document number.
enum Decoded {
    Whole(Rows),
    /// The record is readable, but the signature or the text is not. Contains the id.
    LostWithId(String),
    /// The record is not readable.
    LostWithoutId,
}

/// Makes a new file from the readable rows of the old one, and replaces the old file.
fn salvage(
    path: &Path,
    request: &SettingsRequest,
    tuning: Tuning,
    cause: String,
    watch: &mut Watch<'_>,
) -> Result<Repair> {
    // The old file stays open, and so locked, until the new file has its name.
    let held = DamagedFile(Some(guard(path, || File::open_to_write(path, tuning))?));
    let file = held.0.as_ref().unwrap_or(&File::Closed);
    let txn = guard(path, || file.begin_read(path))?;
    let (settings, stored) = guard(path, || load::settings(&txn, path))?;
    request.check(&settings, path)?;
    let fixed = Fixed::new(path, &settings, &stored);
    let old = guard(path, || load::counters(&txn, path)).ok();
    let tombstones = guard(path, || load::tombstones(&txn, path)).unwrap_or_default();
    // Without the dictionary, the texts that need it are lost, and so are their documents.
    let dictionary = guard(path, || Dictionary::load(&txn, path)).ok().flatten();
    let new = NewFile::begin_like(path, &stored, path)?;
    let engine = Engine::open(new.temporary_path(), &SettingsRequest::default(), tuning)?;
    let mut repair =
        Repair { cause: Some(cause), documents: 0, lost: 0, lost_ids: Vec::new(), kept: None };
    let mut salvage = Salvage {
        fixed,
        repair: &mut repair,
        tombstones,
        dictionary,
        auto_ids: 0,
        next_doc: 0,
        has_gaps: old.is_none(),
    };
    salvage.copy(&txn, old, &engine, watch)?;
    let has_gaps = salvage.has_gaps;
    engine.finish_merges(watch)?;
    let report = crate::store::care::check::check_watching(&engine.read()?, watch)?;
    if let Some(violation) = report.violations.first() {
        let detail = format!("the readable rows are inconsistent: {violation}");
        return Err(damaged(path, Table::Documents, "all", detail));
    }
    repair.documents = report.documents;
    // Only the counter tells how many rows a damaged page hides. An outdated page may show removed
    // documents, so the difference may be too small.
    if let Some(old) = old {
        let missing = old.documents.saturating_sub(repair.documents);
        repair.lost = missing.max(repair.lost_ids.len() as u64);
    }
    drop(engine);
    if repair.lost > 0 || has_gaps {
        repair.kept = Some(keep_old_file(path)?);
    }
    drop(txn);
    // Windows cannot replace an open file.
    #[cfg(windows)]
    drop(held);
    new.replace().inspect_err(|_| {
        // The old file stays in place, so its second name is removed.
        repair.kept.as_ref().map(fs::remove_file);
    })?;
    Ok(repair)
}

type OldTable = ReadOnlyTable<u32, &'static [u8]>;

/// Copies readable rows from the old file to the new one.
struct Salvage<'a> {
    fixed: Fixed<'a>,
    repair: &'a mut Repair,
    /// If a document with a tombstone has rows, they come from an outdated page.
    tombstones: Tombstones,
    dictionary: Option<Arc<Dictionary>>,
    /// The greatest automatic id found.
    auto_ids: u64,
    next_doc: u64,
    /// Whether rows could not be read that may have belonged to documents.
    has_gaps: bool,
}

impl Salvage<'_> {
    /// The number of documents that are read together.
    const BLOCK: u64 = 1 << 10;
    /// The same with texts, which may be long.
    const BLOCK_WITH_TEXTS: u64 = 1 << 6;

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
        let block = if texts.is_some() { Self::BLOCK_WITH_TEXTS } else { Self::BLOCK };
        for first in (0..end).step_by(block as usize) {
            let numbers = first..end.min(first + block);
            let mut records = self.read_block(&documents, numbers.clone());
            let mut texts = texts
                .as_ref()
                .map_or_else(BTreeMap::new, |texts| self.read_block(texts, numbers.clone()));
            let mut rows = Vec::new();
            for (number, signature) in self.read_block(&signatures, numbers) {
                let (record, text) = (records.remove(&number), texts.remove(&number));
                let old = OldRows { record: record.as_deref(), signature: &signature, text };
                rows.extend(self.accept(DocNo(number), old));
            }
            for (number, record) in records {
                let old = OldRows { record: Some(&record), signature: &[], text: None };
                rows.extend(self.accept(DocNo(number), old));
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

    /// The number after the last document. Both tables have a row of it, so one that is readable
    /// suffices.
    fn end(&self, one: &OldTable, other: &OldTable) -> Result<u64> {
        let (path, action) = (self.fixed.path, "looking for the last document");
        let end = |table: &OldTable| {
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

    /// Reads the rows with these numbers, as far as possible.
    fn read_block(&mut self, table: &OldTable, numbers: Range<u64>) -> BTreeMap<u32, Vec<u8>> {
        let (path, action) = (self.fixed.path, "reading the rows that are left");
        let keys = numbers.start as u32..=(numbers.end - 1) as u32;
        let read = guard(path, || {
            let mut rows = BTreeMap::new();
            for row in table.range(keys.clone()).doing(path, action)? {
                let (number, row) = row.doing(path, action)?;
                let number = number.value();
                // A misplaced page has other numbers. A cycle of pages would never end.
                if !keys.contains(&number) || rows.contains_key(&number) {
                    return Err(damaged(path, Table::Documents, number, "its page is misplaced"));
                }
                rows.insert(number, row.value().to_vec());
            }
            Ok(rows)
        });
        // If one of several pages is damaged, rows on the others can still be read by number.
        read.unwrap_or_else(|_| {
            let get = |number: u32| {
                let row = guard(path, || {
                    Ok(table.get(number).doing(path, action)?.map(|row| row.value().to_vec()))
                });
                self.has_gaps |= row.is_err();
                Some((number, row.ok().flatten()?))
            };
            keys.clone().filter_map(get).collect()
        })
    }

    /// Returns the rows of a document if they are whole. Otherwise counts the document as lost.
    fn accept(&mut self, doc: DocNo, old: OldRows<'_>) -> Option<Rows> {
        if self.tombstones.contains(doc) {
            return None;
        }
        match self.decode(doc, old) {
            Decoded::Whole(rows) => {
                self.next_doc = self.next_doc.max(u64::from(doc.0) + 1);
                Some(rows)
            }
            Decoded::LostWithId(id) => {
                const MAX_LOST_IDS: usize = 1000;
                self.repair.lost += 1;
                if self.repair.lost_ids.len() < MAX_LOST_IDS {
                    self.repair.lost_ids.push(id);
                }
                None
            }
            Decoded::LostWithoutId => {
                self.repair.lost += 1;
                None
            }
        }
    }

    fn decode(&mut self, doc: DocNo, old: OldRows<'_>) -> Decoded {
        let OldRows { record, signature, text } = old;
        let Some(record) = record else { return Decoded::LostWithoutId };
        let Ok(decoded) = DocumentRecord::decode(record, doc) else {
            return Decoded::LostWithoutId;
        };
        let automatic = decoded.id.strip_prefix('#').and_then(|number| number.parse().ok());
        self.auto_ids = self.auto_ids.max(automatic.unwrap_or(0));
        let Ok((lanes, size)) = decode_signature(signature, doc, self.fixed.lanes) else {
            return Decoded::LostWithId(decoded.id);
        };
        if self.fixed.texts {
            let dictionary = self.dictionary.as_deref();
            let whole = |text: &Vec<u8>| decode_text(text, doc, dictionary).is_ok();
            if !text.as_ref().is_some_and(whole) {
                return Decoded::LostWithId(decoded.id);
            }
        }
        let lanes = (!size.is_empty()).then(|| Box::from(lanes));
        let id_hash = id_hash(&decoded.id, self.fixed.id_key);
        Decoded::Whole(Rows {
            id: decoded.id,
            record: record.to_vec(),
            signature: signature.to_vec(),
            text,
            fresh: TailDocument { doc, id_hash, lanes },
        })
    }
}

/// Keeps the old file under another name in the same folder.
fn keep_old_file(path: &Path) -> Result<PathBuf> {
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
