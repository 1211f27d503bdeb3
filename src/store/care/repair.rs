//! Repairs a damaged index: makes a new file from the readable rows of the old one.

use crate::error::{Error, Result};
use crate::hash::id_hash;
use crate::store::bytes::codec::NO_MEMORY;
use crate::store::bytes::fingerprints::decode_fingerprints;
use crate::store::bytes::record::{Counters, DocumentRecord, decode_signature};
use crate::store::bytes::schema::{
    DICTIONARY_ROW, DocNo, FORMAT_ROW, SETTINGS_ROW, STATE_ROW, Table,
};
use crate::store::bytes::settings_row::StoredSettings;
use crate::store::bytes::texts::{Dictionary, decode_text};
use crate::store::care::old_file::{OldFile, RowsLeft};
use crate::store::care::repair_clusters::restore_clusters;
use crate::store::care::repair_runs::restore_runs;
use crate::store::create::{NewFile, resolve_link};
use crate::store::engine::Engine;
use crate::store::load;
use crate::store::pages::verifier::PageFault;
use crate::store::progress::{Tell, Watch};
use crate::store::read::fixed::Fixed;
use crate::store::runs::segment::TailDocument;
use crate::store::runs::tombstones::Tombstones;
use crate::store::settings::{Settings, SettingsRequest};
use crate::store::storage_error::{damaged, io_error};
use crate::store::tuning::Tuning;
use crate::store::write::encode::MovedDocument;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
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

/// Brings the tracked clusters of an index up to date, if it tracks any.
pub(crate) type BringClusters = fn(&Arc<Engine>, &mut Watch<'_>) -> Result<()>;

/// Checks an index and all its pages. If anything is wrong, makes a new file from the readable
/// rows. `lost` is called with the id of each document that is lost, as far as it is known.
/// `cluster` completes the new file before it replaces the old one: what comes after that could
/// fail, and nobody would learn what was lost.
pub(crate) fn repair(
    path: &Path,
    request: &SettingsRequest,
    tuning: Tuning,
    lost: &mut dyn FnMut(&str),
    cluster: BringClusters,
    tell: &mut Tell<'_>,
) -> Result<Repair> {
    let path = &*resolve_link(path);
    let mut watch = Watch::new(path, ("repairing", "the file is as it was"), tell);
    // The pages are verified beneath redb first: redb may panic on a damaged page, and writes to
    // the file when it opens it.
    let fault = OldFile::open(path)?.verify(&mut watch)?;
    let cause = match fault {
        Some(fault) => fault.to_string(),
        None => match find_violation(path, request, tuning, &mut watch) {
            Ok((documents, None)) => {
                return Ok(Repair {
                    cause: None,
                    documents,
                    lost: 0,
                    lost_ids: Vec::new(),
                    kept: None,
                });
            }
            Ok((_, Some(cause))) => cause,
            Err(Error::Damaged { table, key, detail, .. }) => format!("{table} {key}: {detail}"),
            Err(other) => return Err(other),
        },
    };
    salvage(path, (request, tuning), cause, lost, cluster, &mut watch)
}

/// Counts the documents of an index whose pages are whole, and describes what is wrong with its
/// rows, if anything is.
fn find_violation(
    path: &Path,
    request: &SettingsRequest,
    tuning: Tuning,
    watch: &mut Watch<'_>,
) -> Result<(u64, Option<String>)> {
    let engine = Engine::open(path, request, tuning)?;
    let report = crate::store::care::check::check_watching(&engine.read()?, watch)?;
    let Some(violation) = report.violations.first() else { return Ok((report.documents, None)) };
    let more = match report.violation_count {
        1 => String::new(),
        many => format!(", and {} more", many - 1),
    };
    Ok((report.documents, Some(format!("{violation}{more}"))))
}

/// The rows of one document number, as far as they exist.
struct OldRows<'a> {
    record: Option<&'a [u8]>,
    /// Empty if the row does not exist.
    signature: &'a [u8],
    text: Option<Vec<u8>>,
    fingerprints: Option<Vec<u8>>,
}

/// The result of decoding the rows of one document number.
enum Decoded {
    Whole(MovedDocument),
    /// The record is readable, but the signature or the text is not. Contains the id.
    LostWithId(String),
    /// The record is not readable.
    LostWithoutId,
}

/// A commit of the old file from which rows can be read.
struct Readable {
    left: RowsLeft,
    settings: Settings,
    stored: StoredSettings,
    /// Whether it is the last commit.
    is_last: bool,
}

/// Finds the last commit whose settings can be read.
fn readable(old: &OldFile<'_>, path: &Path, watch: &mut Watch<'_>) -> Result<Readable> {
    let mut first = None;
    for (is_last, slot) in old.commits() {
        let left = old.rows_left(&slot, watch)?;
        match load::settings_of(left.lasting(FORMAT_ROW), left.lasting(SETTINGS_ROW), path) {
            Ok((settings, stored)) => return Ok(Readable { left, settings, stored, is_last }),
            // What is wrong with the page says more than that its rows are missing.
            Err(error) => {
                first.get_or_insert(left.fault.map_or(error, |fault| old.error(fault)));
            }
        }
    }
    let headless = || old.error(PageFault::of_file("both commits in its header are damaged"));
    Err(first.unwrap_or_else(headless))
}

impl Readable {
    fn counters(&self) -> Option<Counters> {
        self.left.changing(STATE_ROW).and_then(|row| Counters::decode(row).ok())
    }

    /// The tombstones that can be read. Without one, rows that a removal has left are taken for a
    /// document.
    fn tombstones(&self) -> Tombstones {
        let mut tombstones = Tombstones::default();
        for (number, row) in &self.left.dead {
            let _ = tombstones.add_row(*number, row);
        }
        tombstones
    }

    /// The dictionary of the texts. Without it, the texts that need it are lost, and so are their
    /// documents.
    fn dictionary(&self) -> Option<Arc<Dictionary>> {
        self.left.lasting(DICTIONARY_ROW).and_then(|row| Dictionary::decode(row).ok())
    }

    /// The cause of the repair, and whether another commit than the last is used.
    fn with_commit(&self, cause: String) -> String {
        if self.is_last {
            cause
        } else {
            format!("{cause}; the last commit cannot be read, so the one before it is used")
        }
    }
}

/// Makes a new file from the readable rows of the old one, and replaces the old file.
fn salvage(
    path: &Path,
    (request, tuning): (&SettingsRequest, Tuning),
    cause: String,
    lost: &mut dyn FnMut(&str),
    cluster: BringClusters,
    watch: &mut Watch<'_>,
) -> Result<Repair> {
    // The old file stays open, and so locked, until the new file has its name.
    let old = OldFile::open(path)?;
    let readable = readable(&old, path, watch)?;
    request.check(&readable.settings, path)?;
    let fixed = Fixed::new(path, (&readable.settings, &readable.stored), &tuning);
    let new = NewFile::begin_like(path, &readable.stored, path)?;
    let engine = Engine::open_new(new.temporary_path(), path, tuning)?;
    let mut repair = Repair {
        cause: Some(readable.with_commit(cause)),
        documents: 0,
        lost: 0,
        lost_ids: Vec::new(),
        kept: None,
    };
    let counters = readable.counters();
    let mut salvage = Salvage::new(fixed, &old, &readable, &mut repair, lost);
    salvage.copy(counters, &engine, watch)?;
    let named = salvage.named;
    restore_clusters(&old, &readable.left, &engine)?;
    repair.documents = merge_and_check(path, &engine, watch)?;
    repair.count_lost(counters, named);
    refuse_empty(&repair, &old, &readable.left)?;
    let may_have_lost = repair.lost > 0 || counters.is_none();
    restore_runs(&readable.left, &engine, may_have_lost)?;
    cluster(&engine, watch)?;
    drop(engine);
    if may_have_lost || readable.left.has_misplaced || !readable.is_last {
        repair.kept = Some(keep_old_file(path)?);
    }
    let named = old.named().clone();
    // Windows cannot replace an open file.
    #[cfg(windows)]
    drop(old);
    new.replace(Some(&named)).inspect_err(|_| {
        // The old file stays in place, so its second name is removed.
        repair.kept.as_ref().map(fs::remove_file);
    })?;
    Ok(repair)
}

/// Completes the new index and checks it. Returns the number of its documents.
fn merge_and_check(path: &Path, new: &Arc<Engine>, watch: &mut Watch<'_>) -> Result<u64> {
    watch.begin("merging runs", 0)?;
    new.finish_merges(watch)?;
    let report = crate::store::care::check::check_watching(&new.read()?, watch)?;
    if let Some(violation) = report.violations.first() {
        let detail = format!("the readable rows are inconsistent: {violation}");
        return Err(damaged(path, Table::Documents, "all", detail));
    }
    Ok(report.documents)
}

/// Refuses a repair that has lost everything: an empty index would take everything for new.
fn refuse_empty(repair: &Repair, old: &OldFile<'_>, left: &RowsLeft) -> Result<()> {
    if repair.documents > 0 || repair.lost == 0 {
        return Ok(());
    }
    let fault = left.fault.clone();
    let fault = fault.unwrap_or_else(|| PageFault::of_file("no document can be read whole"));
    Err(old.error(fault))
}

impl Repair {
    /// Counts the lost documents, of which `named` have known ids, by the counters of the old file.
    ///
    /// Only they tell how many rows a damaged page hides. An outdated page may show removed
    /// documents, so the difference may be too small.
    fn count_lost(&mut self, counters: Option<Counters>, named: u64) {
        if let Some(counters) = counters {
            let missing = counters.documents.saturating_sub(self.documents);
            self.lost = missing.max(named);
        }
    }
}

/// Copies readable rows from the old file to the new one.
struct Salvage<'a, 't> {
    fixed: Fixed<'a>,
    old: &'a OldFile<'a>,
    left: &'a RowsLeft,
    repair: &'a mut Repair,
    tell_lost: &'t mut dyn FnMut(&str),
    /// If a document with a tombstone has rows, they come from an outdated page.
    tombstones: Tombstones,
    dictionary: Option<Arc<Dictionary>>,
    /// The number of lost documents whose ids are known.
    named: u64,
    /// The greatest automatic id found.
    auto_ids: u64,
}

impl<'a, 't> Salvage<'a, 't> {
    fn new(
        fixed: Fixed<'a>,
        old: &'a OldFile<'a>,
        readable: &'a Readable,
        repair: &'a mut Repair,
        tell_lost: &'t mut dyn FnMut(&str),
    ) -> Self {
        Self {
            fixed,
            old,
            left: &readable.left,
            repair,
            tell_lost,
            tombstones: readable.tombstones(),
            dictionary: readable.dictionary(),
            named: 0,
            auto_ids: 0,
        }
    }
}

impl Salvage<'_, '_> {
    /// The number of documents that are read together.
    const BLOCK: u64 = 1 << 10;
    /// The same with texts, which may be long.
    const BLOCK_WITH_TEXTS: u64 = 1 << 6;

    fn copy(
        &mut self,
        counters: Option<Counters>,
        new: &Arc<Engine>,
        watch: &mut Watch<'_>,
    ) -> Result<()> {
        if let Some(dictionary) = &self.dictionary {
            let mut writer = new.write()?;
            writer.take_dictionary(Arc::clone(dictionary))?;
            writer.commit()?;
        }
        let (old, left) = (self.old, self.left);
        let end = counters.map_or(1 << 32, |counters| counters.next_doc);
        let numbers = counters.map_or(0, |counters| counters.next_doc);
        watch.begin("copying what can be read", numbers)?;
        let has_texts = self.fixed.texts;
        let has_long_rows = has_texts || self.fixed.layout.passages;
        let block = if has_long_rows { Self::BLOCK_WITH_TEXTS } else { Self::BLOCK };
        let next = |from| left.signatures.next(from).into_iter().chain(left.documents.next(from));
        let mut from = 0;
        while let Some(first) = next(from).min().filter(|first| *first < end) {
            let numbers = first..end.min(first + block);
            from = numbers.end;
            let mut records = old.read(&left.documents, numbers.clone())?;
            let mut texts =
                if has_texts { old.read(&left.texts, numbers.clone())? } else { BTreeMap::new() };
            let mut fingerprints = if self.fixed.layout.passages {
                old.read(&left.fingerprints, numbers.clone())?
            } else {
                BTreeMap::new()
            };
            let mut rows = Vec::new();
            for (number, signature) in old.read(&left.signatures, numbers)? {
                let (record, text) = (records.remove(&number), texts.remove(&number));
                let fingerprints = fingerprints.remove(&number);
                let record = record.as_deref();
                let old = OldRows { record, signature: &signature, text, fingerprints };
                rows.extend(self.accept(DocNo(number), old)?);
            }
            for (number, record) in records {
                let record = Some(&record[..]);
                let old = OldRows { record, signature: &[], text: None, fingerprints: None };
                rows.extend(self.accept(DocNo(number), old)?);
            }
            rows.sort_unstable_by_key(|row| row.fresh.doc);
            if !rows.is_empty() {
                let mut writer = new.write()?;
                writer.restore(&rows)?;
                writer.commit()?;
            }
            watch.advance_now(block)?;
        }
        let mut writer = new.write()?;
        writer.restore_counters(Counters {
            auto_ids: counters.map_or(self.auto_ids, |old| old.auto_ids),
            next_doc: counters.map_or(0, |old| old.next_doc),
            commit: counters.map_or(0, |old| old.commit),
            ..Counters::default()
        })?;
        writer.commit()
    }

    /// Returns the rows of a document if they are whole. Otherwise counts the document as lost.
    fn accept(&mut self, doc: DocNo, old: OldRows<'_>) -> Result<Option<MovedDocument>> {
        if self.tombstones.contains(doc) {
            return Ok(None);
        }
        Ok(match self.decode(doc, old)? {
            Decoded::Whole(rows) => Some(rows),
            Decoded::LostWithId(id) => {
                const MAX_LOST_IDS: usize = 1000;
                self.repair.lost += 1;
                self.named += 1;
                (self.tell_lost)(&id);
                if self.repair.lost_ids.len() < MAX_LOST_IDS {
                    self.repair.lost_ids.push(id);
                }
                None
            }
            Decoded::LostWithoutId => {
                self.repair.lost += 1;
                None
            }
        })
    }

    fn decode(&mut self, doc: DocNo, old: OldRows<'_>) -> Result<Decoded> {
        let OldRows { record, signature, text, fingerprints } = old;
        let Some(record) = record else { return Ok(Decoded::LostWithoutId) };
        let Ok(decoded) = DocumentRecord::decode(record, doc) else {
            return Ok(Decoded::LostWithoutId);
        };
        let automatic = decoded.id.strip_prefix('#').and_then(|number| number.parse().ok());
        self.auto_ids = self.auto_ids.max(automatic.unwrap_or(0));
        let Ok((lanes, size)) = decode_signature(signature, doc, self.fixed.lanes) else {
            return Ok(Decoded::LostWithId(decoded.id));
        };
        if self.fixed.texts {
            let dictionary = self.dictionary.as_deref();
            let text = text.as_ref().map(|text| decode_text(text, doc, dictionary));
            match text {
                Some(Ok(_)) => {}
                // A text that does not fit into memory is whole.
                Some(Err(NO_MEMORY)) => {
                    return Err(damaged(self.fixed.path, Table::Texts, doc.0, NO_MEMORY));
                }
                _ => return Ok(Decoded::LostWithId(decoded.id)),
            }
        }
        let words = match (&fingerprints, self.fixed.layout.passages) {
            (_, false) => Box::default(),
            (Some(row), true) => match decode_fingerprints(row, doc) {
                Ok(found) => found.words(),
                Err(_) => return Ok(Decoded::LostWithId(decoded.id)),
            },
            (None, true) => return Ok(Decoded::LostWithId(decoded.id)),
        };
        let lanes = (!size.is_empty()).then(|| Box::from(lanes));
        let id_hash = id_hash(&decoded.id, self.fixed.id_key);
        Ok(Decoded::Whole(MovedDocument {
            record: record.to_vec(),
            signature: signature.to_vec(),
            text,
            fingerprints,
            fresh: TailDocument { doc, id_hash, lanes, fingerprints: words },
        }))
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
