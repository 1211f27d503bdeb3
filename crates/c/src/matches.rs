//! Matches: the documents that a query finds.

use crate::border::free;
use crate::view::{View, nul_terminated};
use std::ptr;

/// A document that is similar to what was asked about. Later versions may add fields at the end, so
/// use it through the pointer that the library gives.
#[repr(C)]
pub struct MatchStruct {
    /// The id of the document.
    pub id: View,
    /// The Jaccard similarity, from 0 to 1.
    pub similarity: f64,
    /// The lower end of the interval of the similarity. Equals it if that is exact.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
    /// The share of the query that the document contains, from 0 to 1; -1 unless the query was for
    /// containment.
    pub containment: f64,
    /// The lower end of the interval of the containment; -1 without one.
    pub containment_low: f64,
    /// The upper end of the interval of the containment; -1 without one.
    pub containment_high: f64,
    /// 1 if the similarity was computed from stored texts, 0 if it is an estimate.
    pub exact: u32,
}

/// A match with the bytes of its id.
pub(crate) struct Match {
    fields: MatchStruct,
    _id: Vec<u8>,
}

impl Match {
    pub(crate) fn new(found: twindex::Match) -> Self {
        let twindex::Match { id, similarity, low, high, exact, containment, .. } = found;
        let id = nul_terminated(id.into_bytes());
        let share = |of: fn(&twindex::Containment) -> f64| containment.as_ref().map_or(-1.0, of);
        let fields = MatchStruct {
            id: View::of_terminated(&id),
            similarity,
            low,
            high,
            containment: share(|containment| containment.share),
            containment_low: share(|containment| containment.low),
            containment_high: share(|containment| containment.high),
            exact: exact.into(),
        };
        Self { fields, _id: id }
    }

    pub(crate) fn fields(&self) -> *const MatchStruct {
        ptr::from_ref(&self.fields)
    }
}

/// The result of a query: matches by descending similarity, then by ascending id. Those of a query
/// for containment come by the lower end of its interval, then by the containment.
///
/// Threads: any number may read it at once.
pub struct MatchesHandle {
    matches: Vec<Match>,
    recall: f64,
    left_out: u64,
    limited: bool,
}

impl MatchesHandle {
    pub(crate) fn new(found: twindex::Matches) -> Self {
        let twindex::Matches { recall, left_out, limited, .. } = found;
        Self { matches: found.into_iter().map(Match::new).collect(), recall, left_out, limited }
    }
}

/// The number of matches; 0 for a null pointer.
#[unsafe(no_mangle)]
pub extern "C" fn twindex_matches_count(matches: Option<&MatchesHandle>) -> usize {
    matches.map_or(0, |matches| matches.matches.len())
}

/// The match at a place, counted from 0; null past the last one.
///
/// Ownership: the match belongs to the matches.
#[unsafe(no_mangle)]
pub extern "C" fn twindex_matches_at(
    matches: Option<&MatchesHandle>,
    place: usize,
) -> *const MatchStruct {
    let found = matches.and_then(|matches| matches.matches.get(place));
    found.map_or(ptr::null(), Match::fields)
}

/// The probability that a document at the threshold was found, at least; 0 for a null pointer.
#[unsafe(no_mangle)]
pub extern "C" fn twindex_matches_recall(matches: Option<&MatchesHandle>) -> f64 {
    matches.map_or(0.0, |matches| matches.recall)
}

/// The number of matches that a limit left out; 0 for a null pointer.
#[unsafe(no_mangle)]
pub extern "C" fn twindex_matches_left_out(matches: Option<&MatchesHandle>) -> u64 {
    matches.map_or(0, |matches| matches.left_out)
}

/// 1 if `max_candidates` may have left out candidates, so that similar documents may be missing.
/// Otherwise 0, also for a null pointer.
#[unsafe(no_mangle)]
pub extern "C" fn twindex_matches_limited(matches: Option<&MatchesHandle>) -> u32 {
    matches.is_some_and(|matches| matches.limited).into()
}

/// Frees matches. Null is fine.
#[unsafe(no_mangle)]
pub extern "C" fn twindex_matches_free(matches: Option<Box<MatchesHandle>>) {
    free(matches);
}
