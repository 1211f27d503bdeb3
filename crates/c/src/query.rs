//! Queries: which documents are similar to this one?

use crate::border::{bytes, call, needed, place, text};
use crate::document::Given;
use crate::error::{ErrorHandle, Failure};
use crate::matches::MatchesHandle;
use crate::settings::{choice, number};
use crate::snapshot::SnapshotHandle;
use crate::status::Status;
use crate::structs::{self, Growing};
use crate::view::TWINDEX_NUL;
use std::ffi::c_char;
use std::mem::MaybeUninit;
use std::ptr;
use twindex::{Query, Signature, Snapshot};

/// What to look for. Set all bytes to zero, then `size`; a field that is zero has its default.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct QueryStruct {
    /// sizeof(twindex_query).
    pub size: usize,
    /// The least similarity to report: above 0, at most 1. Default: that of the index.
    pub threshold: f64,
    /// The least probability of finding a document at the threshold. Default: that of the index.
    pub recall: f64,
    /// The probability that the interval of a similarity holds the true one. Default 0.95.
    pub confidence: f64,
    /// Reports at most so many matches, the most similar ones and, of equally similar ones, those
    /// that were inserted first. Default: all.
    pub limit: u64,
    /// Finds the so many most similar documents, which is cheaper than a limit if the threshold is
    /// low, or if there are very many copies. Default: all at the threshold.
    pub top: u64,
    /// The id of a document to leave out.
    pub excluded: *const c_char,
    /// The length of that id in bytes; 0 or TWINDEX_NUL if it ends in a NUL.
    pub excluded_length: usize,
    /// TWINDEX_YES: the threshold is one of containment, the share of the query that is in a
    /// document.
    pub containment: u32,
    /// TWINDEX_YES: uses estimates even if the index stores texts.
    pub estimate: u32,
    /// TWINDEX_YES: compares with every document, so that none is missed.
    pub scan: u32,
    /// TWINDEX_YES: reports all candidates, whatever their similarity.
    pub all_candidates: u32,
    /// Compares at most so many candidates: those that share the most buckets with what is asked.
    /// This bounds the time if very many documents are nearly similar. twindex_matches_limited
    /// tells whether others may have been left out. Not together with `scan`. Default: all.
    pub max_candidates: u64,
}

// SAFETY: the size is first, and the four fields of 4 bytes fill whole words.
unsafe impl Growing for QueryStruct {
    const NAME: &'static str = "twindex_query";
    const FIRST: usize = 80;
    const ZERO: Self = Self {
        size: size_of::<Self>(),
        threshold: 0.0,
        recall: 0.0,
        confidence: 0.0,
        limit: 0,
        top: 0,
        excluded: ptr::null(),
        excluded_length: 0,
        containment: 0,
        estimate: 0,
        scan: 0,
        all_candidates: 0,
        max_candidates: 0,
    };
}

/// A number of things as the library counts them.
pub(crate) fn count(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}

/// The id of a document to leave out; `None` for a null pointer.
///
/// # Safety
///
/// That of [`text`].
pub(crate) unsafe fn excluded<'a>(
    id: *const c_char,
    length: usize,
) -> Result<Option<&'a str>, Failure> {
    if id.is_null() {
        return Ok(None);
    }
    // No id is empty.
    let length = number(length).unwrap_or(TWINDEX_NUL);
    // SAFETY: the caller promises the id.
    unsafe { text("excluded", id, length) }.map(Some)
}

/// The query of the library.
///
/// # Safety
///
/// That of [`structs::read`], and the id to leave out is there.
unsafe fn query(given: *const QueryStruct, snapshot: &Snapshot) -> Result<Query<'_>, Failure> {
    // SAFETY: the caller promises the same.
    let given = unsafe { structs::read(given) }?;
    let mut query = snapshot.query();
    if let Some(threshold) = number(given.threshold) {
        query = query.threshold(threshold);
    }
    if let Some(recall) = number(given.recall) {
        query = query.recall(recall);
    }
    if let Some(confidence) = number(given.confidence) {
        query = query.confidence(confidence);
    }
    if let Some(limit) = number(given.limit) {
        query = query.limit(count(limit));
    }
    if let Some(top) = number(given.top) {
        query = query.top(count(top));
    }
    if let Some(most) = number(given.max_candidates) {
        query = query.max_candidates(count(most));
    }
    // SAFETY: the caller promises the id.
    if let Some(id) = unsafe { excluded(given.excluded, given.excluded_length) }? {
        query = query.excluding(id);
    }
    let yes = |field, value| choice(field, value).map(|choice| choice == Some(true));
    Ok(query
        .containment(yes("containment", given.containment)?)
        .estimate(yes("estimate", given.estimate)?)
        .scan(yes("scan", given.scan)?)
        .all_candidates(yes("all_candidates", given.all_candidates)?))
}

/// Finds the documents that are similar to a text. `query` may be null: the threshold of the index
/// counts then.
///
/// Ownership: the caller frees `*matches` with twindex_matches_free. It is null after an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twindex_query_text(
    snapshot: Option<&SnapshotHandle>,
    data: *const c_char,
    length: usize,
    query: *const QueryStruct,
    matches: Option<&mut MaybeUninit<Option<Box<MatchesHandle>>>>,
    error: *mut ErrorHandle,
) -> Status {
    call(error, || {
        let matches = place(matches, "matches")?;
        let snapshot = needed(snapshot, "snapshot")?.get();
        // SAFETY: the caller promises a text and a query.
        let (text, query) = unsafe { (text("text", data, length)?, self::query(query, snapshot)?) };
        let found = query.by_content(Given::new(text, snapshot.settings())?.content())?;
        *matches = Some(Box::new(MatchesHandle::new(found)));
        Ok(())
    })
}

/// Finds the documents that are similar to one of the index, which is left out itself. `*matches`
/// is null if there is no document with this id.
///
/// Ownership: the caller frees `*matches` with twindex_matches_free. It is null after an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twindex_query_id(
    snapshot: Option<&SnapshotHandle>,
    id: *const c_char,
    id_length: usize,
    query: *const QueryStruct,
    matches: Option<&mut MaybeUninit<Option<Box<MatchesHandle>>>>,
    error: *mut ErrorHandle,
) -> Status {
    call(error, || {
        let matches = place(matches, "matches")?;
        let snapshot = needed(snapshot, "snapshot")?.get();
        // SAFETY: the caller promises an id and a query.
        let (id, query) = unsafe { (text("id", id, id_length)?, self::query(query, snapshot)?) };
        *matches = query.by_id(id)?.map(|found| Box::new(MatchesHandle::new(found)));
        Ok(())
    })
}

/// Finds the documents that are similar to the one with this signature, by estimate.
///
/// Ownership: the caller frees `*matches` with twindex_matches_free. It is null after an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twindex_query_signature(
    snapshot: Option<&SnapshotHandle>,
    signature: *const u8,
    length: usize,
    query: *const QueryStruct,
    matches: Option<&mut MaybeUninit<Option<Box<MatchesHandle>>>>,
    error: *mut ErrorHandle,
) -> Status {
    call(error, || {
        let matches = place(matches, "matches")?;
        let snapshot = needed(snapshot, "snapshot")?.get();
        // SAFETY: the caller promises a signature and a query.
        let (signature, query) = unsafe {
            (signature_at("signature", signature, length)?, self::query(query, snapshot)?)
        };
        let found = query.by_signature(&signature)?;
        *matches = Some(Box::new(MatchesHandle::new(found)));
        Ok(())
    })
}

/// The signature at a pointer.
///
/// # Safety
///
/// That of [`bytes`].
pub(crate) unsafe fn signature_at(
    argument: &str,
    data: *const u8,
    length: usize,
) -> Result<Signature, Failure> {
    if length == TWINDEX_NUL {
        return Err(Failure::misuse(format_args!("{argument}: a signature needs its length")));
    }
    // SAFETY: the caller promises the same.
    let bytes = unsafe { bytes(argument, data.cast(), length) }?;
    Signature::from_bytes(bytes).ok_or_else(|| {
        Failure::invalid(format_args!(
            "{argument}: {} bytes are no signature, which has a byte for each lane and 4 for the \
             size",
            bytes.len()
        ))
    })
}
