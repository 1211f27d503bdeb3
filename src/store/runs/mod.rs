//! Sorted runs of band entries, and what memory holds beside them: tail, filters, tombstones.

pub(crate) mod background;
pub(crate) mod build;
pub(crate) mod column;
pub(crate) mod cursor;
pub(crate) mod filter;
pub(crate) mod flush;
pub(crate) mod merge;
pub(crate) mod merges;
pub(crate) mod run;
pub(crate) mod segment;
pub(crate) mod spread;
pub(crate) mod tombstones;
