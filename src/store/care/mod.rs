//! Checks, repairs, rebuilds and copies whole files.

pub(crate) mod backup;
pub(crate) mod check;
pub(crate) mod check_fingerprints;
pub(crate) mod check_texts;
pub(crate) mod old_file;
pub(crate) mod rebuild;
pub(crate) mod repair;
pub(crate) mod space;
