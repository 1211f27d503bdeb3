//! `twindex dedup`: keep the records that are similar to no known document, and remember them.

pub(crate) mod against;
mod audit;
mod begun;
pub(crate) mod command;
mod completion;
pub(crate) mod deduplication;
mod delivery;
pub(crate) mod dry_run;
mod exclusive_file;
mod folder_state;
pub(crate) mod kept;
pub(crate) mod kept_file;
pub(crate) mod kept_folder;
pub(crate) mod kept_output;
#[cfg(feature = "tables")]
pub(crate) mod kept_rows;
#[cfg(not(feature = "tables"))]
#[path = "kept_rows_absent.rs"]
pub(crate) mod kept_rows;
pub(crate) mod partial_file;
mod repetition;
#[cfg(feature = "tables")]
mod rows_segments;
mod rows_spool;
pub(crate) mod shards;
pub(crate) mod targets;
mod write_behind;
