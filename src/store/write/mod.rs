//! The write transaction, and the maintenance that its commits do.

pub(crate) mod attach;
mod attached_rows;
mod attached_runs;
pub(crate) mod batch;
mod begin;
pub(crate) mod dedup_row;
mod dictionary;
pub(crate) mod encode;
mod expiry;
pub(crate) mod follow;
mod insert;
mod lookup;
mod maintenance;
mod packing;
mod restore;
pub(crate) mod tracking;
pub(crate) mod turn;
pub(crate) mod writer;
