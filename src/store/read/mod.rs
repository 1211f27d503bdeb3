//! Reads one state of the index: by document, by id, by bucket.

pub(crate) mod candidates;
mod ids;
pub(crate) mod reader;
pub(crate) mod view;
