//! Queries about one document: which documents are similar to it, and which contain it.

pub(crate) mod answer;
pub(crate) mod bucket_sizes;
pub(crate) mod cache;
pub(crate) mod containment;
pub(crate) mod copies;
pub(crate) mod exact_text;
pub(crate) mod excluded;
pub(crate) mod known;
pub(crate) mod matches;
pub(crate) mod outline;
pub(crate) mod passage_search;
pub(crate) mod passages;
pub(crate) mod prints;
pub(crate) mod query;
pub(crate) mod ranks;
pub(crate) mod score;
pub(crate) mod search;
pub(crate) mod set_sizes;
pub(crate) mod stretch;
pub(crate) mod text_cache;
pub(crate) mod top;
pub(crate) mod verifier;
pub(crate) mod verify;
