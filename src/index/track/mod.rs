//! Tracked clusters: which cluster is a document in, under an id that stays, and what changed?

pub(crate) mod changes;
pub(crate) mod cluster_ids;
mod comparer;
mod meeting;
pub(crate) mod tracked;
mod tracking;
pub(crate) mod update;
