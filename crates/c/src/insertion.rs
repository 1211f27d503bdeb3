//! Insertions: how documents are inserted, and what becomes of them.

use crate::error::Failure;
use crate::matches::MatchStruct;
use crate::settings::{choice, name, number};
use crate::snapshot::SnapshotHandle;
use crate::structs::{self, Growing};
use std::ffi::c_char;
use std::ptr;
use std::slice;
use twindex::{Document, Inserted, Insertion, Merged, OnConflict, Outcome, Snapshot, WriteTxn};

/// The id was new, and the document was added.
pub const TWINDEX_ADDED: u32 = 1;
/// The document replaced one with the same id and another text.
pub const TWINDEX_REPLACED: u32 = 2;
/// The index has the document with the same id and text. Nothing was written.
pub const TWINDEX_UNCHANGED: u32 = 3;
/// The index has the id with another text and keeps that document.
pub const TWINDEX_SKIPPED: u32 = 4;
/// A similar document is known, and this one was not inserted.
pub const TWINDEX_DUPLICATE: u32 = 5;

/// A document replaces one with the same id and another text.
pub const TWINDEX_ON_CONFLICT_REPLACE: u32 = 1;
/// A document is left out if its id is there with another text.
pub const TWINDEX_ON_CONFLICT_SKIP: u32 = 2;

/// How documents are inserted. Set all bytes to zero, then `size`; a field that is zero has its
/// default.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct InsertionStruct {
    /// sizeof(twindex_insertion).
    pub size: usize,
    /// Leaves out documents that are at least so similar to a known one: above 0, at most 1.
    /// Default: that of the index for twindex_txn_insert_unless_similar, and for other calls every
    /// document is inserted.
    pub unless_similar: f64,
    /// Other indexes whose documents count as known too: an array of pointers to snapshots.
    pub against: *const *const SnapshotHandle,
    /// How many snapshots there are.
    pub against_count: usize,
    /// Compares a document with at most so many candidates of each index. Default 4,096.
    pub max_candidates: u64,
    /// TWINDEX_ON_CONFLICT_REPLACE, the default, or TWINDEX_ON_CONFLICT_SKIP.
    pub on_conflict: u32,
    /// TWINDEX_YES: uses estimates even if the index stores texts.
    pub estimate: u32,
    /// The column of ids of an Arrow stream: strings or whole numbers. Default "id", if there is
    /// such a column. NUL-terminated.
    pub id_column: *const c_char,
    /// The column of texts, of lists of tokens, or of maps of tokens to weights. Default "text".
    /// NUL-terminated.
    pub text_column: *const c_char,
    /// The column of signatures, of binary of any type, which are inserted instead of
    /// texts. Default: none; texts are inserted. NUL-terminated.
    pub signature_column: *const c_char,
}

// SAFETY: the size is first, and the two fields of 4 bytes fill a word.
unsafe impl Growing for InsertionStruct {
    const NAME: &'static str = "twindex_insertion";
    const FIRST: usize = 72;
    const ZERO: Self = Self {
        size: size_of::<Self>(),
        unless_similar: 0.0,
        against: ptr::null(),
        against_count: 0,
        max_candidates: 0,
        on_conflict: 0,
        estimate: 0,
        id_column: ptr::null(),
        text_column: ptr::null(),
        signature_column: ptr::null(),
    };
}

/// What became of a document. Later versions may add fields at the end, so use it through the
/// pointer that the library gives.
#[repr(C)]
pub struct OutcomeStruct {
    /// TWINDEX_ADDED, TWINDEX_REPLACED, TWINDEX_UNCHANGED, TWINDEX_SKIPPED or TWINDEX_DUPLICATE.
    pub what: u32,
    /// For a duplicate, the place of the index in `against` that has the similar document, from 0;
    /// -1 for the index itself.
    pub against: i32,
    /// For a duplicate, the most similar document; else null.
    pub similar: *const MatchStruct,
}

/// How many documents a call inserted or left out. Later versions may add fields at the end, so use
/// it through the pointer that the library gives.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct CountsStruct {
    /// The number of documents whose ids were new.
    pub added: u64,
    /// The number of documents that replaced one with the same id and another text.
    pub replaced: u64,
    /// The number of documents that were there, with the same id and text.
    pub unchanged: u64,
    /// The number of documents left out because the index has their id with another text.
    pub skipped: u64,
    /// The number of documents left out as duplicates.
    pub duplicates: u64,
}

impl From<Merged> for CountsStruct {
    fn from(merged: Merged) -> Self {
        let Merged { added, replaced, unchanged, skipped, duplicates, .. } = merged;
        Self { added, replaced, unchanged, skipped, duplicates }
    }
}

impl CountsStruct {
    pub(crate) fn count(&mut self, outcome: &Outcome) {
        *match outcome.inserted() {
            Some(Inserted::Added) => &mut self.added,
            Some(Inserted::Replaced) => &mut self.replaced,
            Some(Inserted::Unchanged) => &mut self.unchanged,
            Some(Inserted::Skipped) => &mut self.skipped,
            None => &mut self.duplicates,
        } += 1;
    }
}

/// How documents are inserted, as the library has it.
pub(crate) struct Manner<'a> {
    pub(crate) unless_similar: Option<f64>,
    against: Vec<&'a Snapshot>,
    max_candidates: Option<usize>,
    on_conflict: OnConflict,
    estimate: bool,
    /// `None`: "id", if there is such a column.
    pub(crate) id_column: Option<&'a str>,
    pub(crate) text_column: &'a str,
    pub(crate) signature_column: Option<&'a str>,
}

impl<'a> Manner<'a> {
    /// # Safety
    ///
    /// That of [`structs::read`]; its names end in a NUL, and its snapshots are there.
    pub(crate) unsafe fn new(given: *const InsertionStruct) -> Result<Self, Failure> {
        // SAFETY: the caller promises the same.
        let given = unsafe { structs::read(given) }?;
        let against = match (given.against_count, given.against.is_null()) {
            (0, _) => &[][..],
            (_, true) => return Err(Failure::null("against")),
            (count, _) if count > isize::MAX as usize / size_of::<*const SnapshotHandle>() => {
                let what = format_args!("against_count: {count} is no possible number");
                return Err(Failure::misuse(what));
            }
            // SAFETY: the caller promises so many pointers.
            (count, false) => unsafe { slice::from_raw_parts(given.against, count) },
        };
        let snapshot = |snapshot: &*const SnapshotHandle| {
            // SAFETY: the caller promises snapshots.
            let snapshot = unsafe { snapshot.as_ref() };
            snapshot.map(SnapshotHandle::get).ok_or_else(|| Failure::null("a snapshot of against"))
        };
        // SAFETY: the caller promises NULs.
        let (id, text, signature) = unsafe {
            (
                name("id_column", given.id_column)?,
                name("text_column", given.text_column)?,
                name("signature_column", given.signature_column)?,
            )
        };
        let most = number(given.max_candidates);
        Ok(Self {
            unless_similar: number(given.unless_similar),
            against: against.iter().map(snapshot).collect::<Result<_, _>>()?,
            max_candidates: most.map(|most| usize::try_from(most).unwrap_or(usize::MAX)),
            on_conflict: on_conflict(given.on_conflict)?,
            estimate: choice("estimate", given.estimate)? == Some(true),
            id_column: id,
            text_column: text.unwrap_or("text"),
            signature_column: signature,
        })
    }

    /// Inserts documents.
    pub(crate) fn insert(
        &self,
        txn: &mut WriteTxn,
        documents: Vec<Document>,
    ) -> twindex::Result<Vec<Outcome>> {
        self.of(txn).documents(documents)
    }

    /// An insertion in this manner.
    pub(crate) fn of<'t>(&'t self, txn: &'t mut WriteTxn) -> Insertion<'t> {
        let mut insertion = txn
            .insertion()
            .on_conflict(self.on_conflict)
            .against(&self.against)
            .estimate(self.estimate);
        if let Some(threshold) = self.unless_similar {
            insertion = insertion.unless_similar(threshold);
        }
        if let Some(most) = self.max_candidates {
            insertion = insertion.max_candidates(most);
        }
        insertion
    }
}

pub(crate) fn on_conflict(value: u32) -> Result<OnConflict, Failure> {
    match value {
        0 | TWINDEX_ON_CONFLICT_REPLACE => Ok(OnConflict::Replace),
        TWINDEX_ON_CONFLICT_SKIP => Ok(OnConflict::Skip),
        other => Err(Failure::invalid(format_args!(
            "on_conflict {other}: expected 0 or one of TWINDEX_ON_CONFLICT_..."
        ))),
    }
}
