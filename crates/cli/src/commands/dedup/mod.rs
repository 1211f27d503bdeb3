//! `twindex dedup`: keep the records that are similar to nothing known, and remember them.

pub(crate) mod audit;
pub(crate) mod dry_run;
pub(crate) mod judging;
pub(crate) mod kept_file;
pub(crate) mod options;
pub(crate) mod partial_file;
pub(crate) mod targets;
