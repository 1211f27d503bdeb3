//! Which books is a quotation from? Containment instead of similarity.
//!
//! A short quotation and a long book are hardly similar, because most of the book is not in the
//! quotation. Containment asks how much of the quotation is in the book. The index stores the
//! texts, so that the answers are exact.
//!
//! `cargo run --example containment`

#![expect(clippy::print_stdout, reason = "an example prints what it found")]

use std::path::Path;
use twindex::{Index, Result, Shingle};

const BOOKS: [(&str, &str); 3] = [
    (
        "Moby-Dick",
        "Call me Ishmael. Some years ago - never mind how long precisely - having little or no \
         money in my purse, and nothing particular to interest me on shore, I thought I would sail \
         about a little and see the watery part of the world.",
    ),
    (
        "Pride and Prejudice",
        "It is a truth universally acknowledged, that a single man in possession of a good \
         fortune, must be in want of a wife. However little known the feelings or views of such a \
         man may be on his first entering a neighbourhood, this truth is so well fixed.",
    ),
    (
        "An essay",
        "Every book begins somewhere. It is a truth universally acknowledged, that a single man in \
         possession of a good fortune, must be in want of a wife: so begins the best known.",
    ),
];

const QUOTATION: &str = "a truth universally acknowledged, that a single man in possession of a \
                         good fortune, must be in want of a wife";

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    for (book, share) in run(&folder.path().join("books.twx"))? {
        println!("{book}: {:.0} % of the quotation", 100.0 * share);
    }
    Ok(())
}

/// The books that contain at least half of the quotation, with the share that they contain.
pub fn run(path: &Path) -> Result<Vec<(String, f64)>> {
    let index =
        Index::options().shingle(Shingle::words(3)).threshold(0.5).store_text(true).create(path)?;
    let mut txn = index.begin_write()?;
    txn.insertion().contents(&BOOKS)?;
    txn.commit()?;
    let snapshot = index.snapshot()?;
    let matches = snapshot.query().containment(true).by_text(QUOTATION)?;
    let shares = matches.iter().filter_map(|m| Some((m.id.clone(), m.containment?.share)));
    Ok(shares.collect())
}
