//! Reads one state of the index: by document, by id, by bucket.

pub(crate) mod band_entries;
pub(crate) mod bucket;
pub(crate) mod candidates;
pub(crate) mod clusters;
pub(crate) mod fixed;
pub(crate) mod foretold;
pub(crate) mod found_docs;
pub(crate) mod ids;
mod lookups;
pub(crate) mod reader;
pub(crate) mod recent_lanes;
mod run_search;
mod signatures;
mod sweep;
pub(crate) mod tables;
pub(crate) mod view;
