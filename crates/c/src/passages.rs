//! Passages: the documents that share a stretch of text with a query, and where.

use crate::border::{call, free, needed, place, text};
use crate::document::Given;
use crate::error::{ErrorHandle, Failure};
use crate::query::{count, excluded};
use crate::settings::number;
use crate::snapshot::SnapshotHandle;
use crate::status::Status;
use crate::structs::{self, Growing};
use crate::view::{View, nul_terminated};
use std::ffi::c_char;
use std::mem::MaybeUninit;
use std::ptr;
use twindex::{PassageMatch, PassageMatches, PassageQuery, SharedPassage, Snapshot, Span};

/// Which documents to report that share a passage with a text. Set all bytes to zero, then `size`;
/// a field that is zero has its default.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct PassageQueryStruct {
    /// sizeof(twindex_passage_query).
    pub size: usize,
    /// The least share of the text that a document must share, from 0 to 1. Default: any.
    pub threshold: f64,
    /// Reports at most so many documents, those that share most and, of those that share as much,
    /// those that were inserted first. Default: all.
    pub limit: u64,
    /// The id of a document to leave out.
    pub excluded: *const c_char,
    /// The length of that id in bytes; 0 or TWINDEX_NUL if it ends in a NUL.
    pub excluded_length: usize,
    /// Compares at most so many documents: those that have the most fingerprints of the text.
    /// twindex_passages_limited tells whether others may have been left out. Default: all.
    pub max_candidates: u64,
}

// SAFETY: the size is first, and every field fills a word.
unsafe impl Growing for PassageQueryStruct {
    const NAME: &'static str = "twindex_passage_query";
    const FIRST: usize = 40;
    const ZERO: Self = Self {
        size: size_of::<Self>(),
        threshold: 0.0,
        limit: 0,
        excluded: ptr::null(),
        excluded_length: 0,
        max_candidates: 0,
    };
}

/// A document that shares a passage with the text. Later versions may add fields at the end, so use
/// it through the pointer that the library gives.
#[repr(C)]
pub struct PassageMatchStruct {
    /// The id of the document.
    pub id: View,
    /// The share of the text that lies in shared passages, from 0 to 1. Without stored texts, at
    /// least so much.
    pub share: f64,
    /// The most that can lie in shared passages. Equals `share` if the index stores texts.
    pub most: f64,
    /// The number of shared passages.
    pub passages: usize,
}

/// A passage that the text and a document share. Places are in bytes. Later versions may add fields
/// at the end, so use it through the pointer that the library gives.
#[repr(C)]
pub struct PassageStruct {
    /// Where it begins in the text.
    pub start: usize,
    /// Where it ends in the text.
    pub end: usize,
    /// Where it begins in the document; SIZE_MAX if the index stores no texts.
    pub document_start: usize,
    /// Where it ends in the document; SIZE_MAX if the index stores no texts.
    pub document_end: usize,
    /// The number of its units: characters after normalisation, words, lines or tokens. Without
    /// stored texts, at least so many.
    pub units: usize,
    /// The most units that it can have. Equals `units` if the index stores texts.
    pub most_units: usize,
}

impl From<&SharedPassage> for PassageStruct {
    fn from(shared: &SharedPassage) -> Self {
        let place = |of: fn(Span) -> usize| shared.document.map_or(usize::MAX, of);
        Self {
            start: shared.query.start,
            end: shared.query.end,
            document_start: place(|span| span.start),
            document_end: place(|span| span.end),
            units: shared.units,
            most_units: shared.most,
        }
    }
}

/// A document with the bytes of its id and its passages.
struct Found {
    fields: PassageMatchStruct,
    passages: Vec<PassageStruct>,
    _id: Vec<u8>,
}

impl Found {
    fn new(all: &PassageMatches, found: &PassageMatch) -> Self {
        let id = nul_terminated(found.id.clone().into_bytes());
        let (share, most) = all.share(found);
        let passages: Vec<_> = found.passages.iter().map(PassageStruct::from).collect();
        let fields = PassageMatchStruct {
            id: View::of_terminated(&id),
            share,
            most,
            passages: passages.len(),
        };
        Self { fields, passages, _id: id }
    }
}

/// The documents that share a passage with a text: those that share most first, then by ascending
/// id.
///
/// Threads: any number may read it at once.
pub struct PassagesHandle {
    found: Vec<Found>,
    left_out: u64,
    limited: bool,
}

/// The query of the library.
///
/// # Safety
///
/// That of [`structs::read`], and the id to leave out is there.
unsafe fn query(
    given: *const PassageQueryStruct,
    snapshot: &Snapshot,
) -> Result<PassageQuery<'_>, Failure> {
    // SAFETY: the caller promises the same.
    let given = unsafe { structs::read(given) }?;
    let mut query = snapshot.passages();
    if let Some(threshold) = number(given.threshold) {
        query = query.threshold(threshold);
    }
    if let Some(limit) = number(given.limit) {
        query = query.limit(count(limit));
    }
    if let Some(most) = number(given.max_candidates) {
        query = query.max_candidates(count(most));
    }
    // SAFETY: the caller promises the id.
    if let Some(id) = unsafe { excluded(given.excluded, given.excluded_length) }? {
        query = query.excluding(id);
    }
    Ok(query)
}

/// Finds the documents that share a passage with a text: a stretch of at least as many units as the
/// settings of the index say. None is missed, however little of a document it is. The index must
/// have been created with `passages`. `query` may be null.
///
/// Ownership: the caller frees `*passages` with twindex_passages_free. It is null after an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twindex_passages_find(
    snapshot: Option<&SnapshotHandle>,
    data: *const c_char,
    length: usize,
    query: *const PassageQueryStruct,
    passages: Option<&mut MaybeUninit<Option<Box<PassagesHandle>>>>,
    error: *mut ErrorHandle,
) -> Status {
    call(error, || {
        let place = place(passages, "passages")?;
        let snapshot = needed(snapshot, "snapshot")?.get();
        // SAFETY: the caller promises a text and a query.
        let (text, query) = unsafe { (text("text", data, length)?, self::query(query, snapshot)?) };
        let all = query.by_content(Given::new(text, snapshot.settings())?.content())?;
        let found = all.iter().map(|found| Found::new(&all, found)).collect();
        let (left_out, limited) = (all.left_out, all.limited);
        *place = Some(Box::new(PassagesHandle { found, left_out, limited }));
        Ok(())
    })
}

/// The number of documents; 0 for a null pointer.
#[unsafe(no_mangle)]
pub extern "C" fn twindex_passages_count(passages: Option<&PassagesHandle>) -> usize {
    passages.map_or(0, |passages| passages.found.len())
}

/// The document at a place, counted from 0; null past the last one.
///
/// Ownership: the document belongs to the passages.
#[unsafe(no_mangle)]
pub extern "C" fn twindex_passages_at(
    passages: Option<&PassagesHandle>,
    place: usize,
) -> *const PassageMatchStruct {
    let found = passages.and_then(|passages| passages.found.get(place));
    found.map_or(ptr::null(), |found| ptr::from_ref(&found.fields))
}

/// A passage of the document at a place, in the order of the text, both counted from 0; null past
/// the last one. Passages may overlap in the text.
///
/// Ownership: the passage belongs to the passages.
#[unsafe(no_mangle)]
pub extern "C" fn twindex_passages_passage(
    passages: Option<&PassagesHandle>,
    place: usize,
    passage: usize,
) -> *const PassageStruct {
    let found = passages.and_then(|passages| passages.found.get(place));
    found.and_then(|found| found.passages.get(passage)).map_or(ptr::null(), ptr::from_ref)
}

/// The number of documents that a limit left out; 0 for a null pointer.
#[unsafe(no_mangle)]
pub extern "C" fn twindex_passages_left_out(passages: Option<&PassagesHandle>) -> u64 {
    passages.map_or(0, |passages| passages.left_out)
}

/// 1 if `max_candidates` may have left out documents that have a fingerprint of the text, so that a
/// shared passage may be missing. Otherwise 0, also for a null pointer.
#[unsafe(no_mangle)]
pub extern "C" fn twindex_passages_limited(passages: Option<&PassagesHandle>) -> u32 {
    passages.is_some_and(|passages| passages.limited).into()
}

/// Frees passages. Null is fine.
#[unsafe(no_mangle)]
pub extern "C" fn twindex_passages_free(passages: Option<Box<PassagesHandle>>) {
    free(passages);
}
