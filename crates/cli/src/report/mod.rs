//! Reports: one HTML file that shows what was removed, or would be, and why.
//!
//! [`gather`] turns a list of removed records into [`Findings`], and [`page`] draws them. Nothing
//! in a report comes from the run itself: the list is read again from the audit, and texts from the
//! index or the input. So a run that was killed and resumed gets the same report as any other.

mod circumstances;
mod cluster_sizes;
mod findings;
mod histogram;
mod nearest;
mod page;
mod reading;
mod removed;
mod sample;
mod sources;
mod stricter;
mod target;
mod texts;

pub(crate) use circumstances::circumstances;
pub(crate) use findings::{Findings, Gathering, gather};
pub(crate) use histogram::Histogram;
pub(crate) use page::{Facts, Kind, percent, write};
pub(crate) use reading::{InputReading, beginning};
pub(crate) use removed::{AuditLines, ReadLines, RemovedRecords};
pub(crate) use target::{check_page_name, check_target, interrupted, is_page};

/// The hash of an id. A report remembers ids by their hashes, which take 8 bytes each.
fn id_hash(id: &str) -> u64 {
    xxhash_rust::xxh3::xxh3_64(id.as_bytes())
}
