//! Writing to an index: the write transaction, deduplication, merging and rebuilding.

mod batch_buckets;
pub(crate) mod copies;
mod crowds;
pub(crate) mod dedup_run;
mod duplicate_rule;
mod duplicates;
mod expected;
pub(crate) mod insertion;
mod kept;
mod members;
mod nearest;
pub(crate) mod outcome;
pub(crate) mod passages;
pub(crate) mod rebuild;
pub(crate) mod sync;
pub(crate) mod transaction;
