//! `twindex dedup`: keep the records that are similar to no known document, and remember them.

pub(crate) mod against;
mod begun;
mod chosen;
mod circumstances;
pub(crate) mod command;
mod completion;
mod course;
pub(crate) mod deduplication;
pub(crate) mod dry_run;
mod intake;
mod overwriting;
mod preferred;
mod records_hash;
mod removal;
mod repetition;
mod reporting;
mod summary;
