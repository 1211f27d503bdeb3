//! A deduplication index that grows from day to day.
//!
//! Each day brings new pages. The index keeps the pages that are similar to nothing it knows, says
//! of the others what they are copies of, and forgets pages that are older than ninety days.
//!
//! `cargo run --example growing_index`

#![expect(clippy::print_stdout, reason = "an example prints what it found")]

use std::path::Path;
use std::time::{Duration, SystemTime};
use twindex::{Index, Inserted, Outcome, Result};

/// The pages of two days: an id and a text each.
const DAYS: [&[(&str, &str)]; 2] = [
    &[
        ("mon/1", "The harbour was closed on Monday because of the storm from the west."),
        ("mon/2", "A new library opens in the old town hall at the end of the month."),
        ("mon/3", "The harbour was closed on Monday, because of the storm from the west."),
    ],
    &[
        ("tue/1", "A new library opens in the old town hall at the end of this month."),
        ("tue/2", "The ferry to the islands runs again, twice a day, until the autumn."),
    ],
];

const NINETY_DAYS: Duration = Duration::from_secs(90 * 24 * 3600);

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    for line in run(&folder.path().join("pages.twx"))? {
        println!("{line}");
    }
    Ok(())
}

/// Deduplicates day after day. Returns a line for each page, and a summary.
pub fn run(path: &Path) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    for pages in DAYS {
        // A program that runs once a day opens the same file each time. The settings are stored in
        // it. The documents of one day are committed together, or not at all.
        let index = Index::options().threshold(0.7).open_or_create(path)?;
        let mut txn = index.begin_write()?;
        for (id, text) in pages {
            lines.push(match txn.insert_unless_similar(id, *text)? {
                Outcome::Duplicate { of, .. } => format!("{id}: a copy of {}", of.id),
                Outcome::Inserted(Inserted::Unchanged) => format!("{id}: known already"),
                _ => format!("{id}: new"),
            });
        }
        txn.commit()?;
        let old = SystemTime::now() - NINETY_DAYS;
        let removed = index.remove_inserted_before(old).run()?;
        lines.push(format!("{} pages, {removed} removed for their age", index.snapshot()?.len()));
        // Closing writes what is in memory only, so that the next opening is fast.
        index.close()?;
    }
    Ok(lines)
}
