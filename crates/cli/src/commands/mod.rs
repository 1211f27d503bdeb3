//! One file for each command or family of commands, with its arguments, its help and its code.

pub(crate) mod add;
pub(crate) mod backup;
pub(crate) mod changes;
mod cluster_events;
pub(crate) mod clusters;
mod clusters_preference;
mod clusters_report;
mod clusters_tracked;
pub mod compare;
pub mod compare_weighted;
pub(crate) mod dedup;
pub(crate) mod explain;
pub(crate) mod explain_removed;
mod explained_texts;
pub(crate) mod export;
#[cfg(feature = "tables")]
mod export_columns;
#[cfg(not(feature = "tables"))]
#[path = "export_columns_absent.rs"]
mod export_columns;
pub(crate) mod exported;
pub(crate) mod import;
pub(crate) mod info;
pub(crate) mod insert_batches;
pub(crate) mod inspect;
pub(crate) mod maintain;
pub(crate) mod merge;
mod merge_similar;
pub(crate) mod outputs;
pub(crate) mod packaging;
pub(crate) mod pairs;
pub(crate) mod passages;
pub(crate) mod plan;
mod plan_sample;
pub(crate) mod query;
mod query_passages;
mod query_question;
mod query_similar;
pub(crate) mod rebuild;
pub(crate) mod remove;
pub(crate) mod replace_guard;
pub(crate) mod report;
pub(crate) mod screen;
mod shingle_choice;
pub(crate) mod track;
