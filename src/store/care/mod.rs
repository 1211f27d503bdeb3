//! Checks, repairs, rebuilds and copies whole files.

pub(crate) mod backup;
pub(crate) mod check;
mod check_clusters;
pub(crate) mod check_fingerprints;
pub(crate) mod check_report;
pub(crate) mod check_texts;
pub(crate) mod old_file;
pub(crate) mod rebuild;
pub(crate) mod repair;
mod repair_clusters;
mod repair_runs;
pub(crate) mod space;
