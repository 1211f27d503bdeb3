//! `twindex dedup`: keep the records that are similar to no known document, and remember them.

mod active_run;
pub(crate) mod against;
mod audit_lines;
mod circumstances;
pub(crate) mod command;
mod completion;
mod counts;
pub(crate) mod deduplication;
pub(crate) mod dry_run;
mod input_record;
mod intake;
mod kept_before;
mod lifecycle;
pub(crate) mod options;
mod overwriting;
mod preferred;
mod read_again;
mod records_hash;
mod removal;
mod repeated_stream;
mod reporting;
mod request;
mod run_notes;
mod summary;
mod unfinished_outputs;
mod write_chosen;
