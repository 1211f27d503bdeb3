//! Images as words: finds altered copies of pictures by the sets of their visual words.
//!
//! A picture has corners; the patch around a corner becomes 256 bits; the nearest entry of a
//! codebook is its word (Sivic, Zisserman 2003). The set of its words stands for a picture, and an
//! index of sets finds its copies, as Chum, Philbin, Zisserman 2008 do by min-Hash.
//!
//! `cargo run --release -p twindex-lab --example visual_words [PICTURES]`

mod features;
mod pictures;
mod words;

use features::Patterns;
use image::GrayImage;
use pictures::{ALTERATIONS, altered, picture};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::io::Write;
use twindex::{Index, Shingle, Snapshot, Tokens};
use words::Codebook;

type Failure = Box<dyn std::error::Error>;

/// The similarity from which on a picture counts as a copy.
const THRESHOLD: f64 = 0.25;

/// The number of words.
const WORDS: usize = 2_000;

/// The sets of words of pictures.
type Sets = Vec<BTreeSet<u32>>;

/// What was found of the copies of one alteration.
#[derive(Debug, Default, PartialEq)]
struct Found {
    /// The sum of the exact similarities of copies and their originals.
    similarity: f64,
    /// The copies whose original is at the threshold or above, by brute force.
    similar: usize,
    /// Those of them that the index found.
    found: usize,
    /// The copies whose original is the most similar picture.
    first: usize,
    /// Other pictures that the index found.
    others: usize,
    /// Answers of the index that brute force does not give.
    wrong: usize,
}

fn main() -> Result<(), Failure> {
    let count = std::env::args().nth(1).map_or(Ok(150), |count| count.parse())?;
    let mut out = std::io::stdout().lock();
    let rows = run(count)?;
    writeln!(out, "{count} pictures, {WORDS} words, threshold {THRESHOLD}")?;
    writeln!(out, "alteration\tsimilarity\tsimilar\tfound\tfirst\tothers\twrong")?;
    for (name, row) in rows {
        let Found { similarity, similar, found, first, others, wrong } = row;
        let mean = similarity / count as f64;
        writeln!(out, "{name}\t{mean:.3}\t{similar}\t{found}\t{first}\t{others}\t{wrong}")?;
    }
    Ok(())
}

/// Makes pictures, indexes them, and looks for the originals of their altered copies.
fn run(count: usize) -> Result<Vec<(String, Found)>, Failure> {
    let pictures: Vec<GrayImage> = (0..count as u64).into_par_iter().map(picture).collect();
    let patterns = Patterns::new(1);
    let described: Vec<_> = pictures.par_iter().map(|it| patterns.describe(it)).collect();
    // The codebook knows only some of the pictures, and none of their copies.
    let known = described.iter().take(count.div_ceil(3)).flatten().copied().collect();
    let codebook = Codebook::of(known, WORDS, 2);
    let sets: Sets = described.par_iter().map(|bits| codebook.words(bits)).collect();

    let folder = tempfile::tempdir()?;
    let options = Index::options().shingle(Shingle::Tokens).lanes(512).threshold(THRESHOLD);
    let index = options.recall(0.95).store_text(true).create(folder.path().join("words.twx"))?;
    let mut txn = index.begin_write()?;
    for (number, set) in sets.iter().enumerate() {
        txn.insert(&number.to_string(), &tokens(set)?)?;
    }
    txn.commit()?;
    let snapshot = index.snapshot()?;
    let mut rows = Vec::new();
    for alteration in ALTERATIONS {
        let copies = pictures.par_iter().map(|it| altered(it, alteration));
        let copies = copies.map(|copy| copy.map(|copy| codebook.words(&patterns.describe(&copy))));
        let copies: Sets = copies.collect::<Result<_, image::ImageError>>()?;
        rows.push((alteration.to_string(), look_up(&snapshot, &sets, &copies)?));
    }
    Ok(rows)
}

fn tokens(set: &BTreeSet<u32>) -> twindex::Result<Tokens> {
    Tokens::new(set.iter().map(|word| format!("w{word}")))
}

/// Asks the index for each copy, and compares its answers with brute force.
fn look_up(snapshot: &Snapshot, originals: &Sets, copies: &Sets) -> Result<Found, Failure> {
    let mut row = Found::default();
    for (number, copy) in copies.iter().enumerate() {
        let exact: Vec<f64> = originals.iter().map(|original| jaccard(copy, original)).collect();
        row.similarity += exact[number];
        let is_first = exact[number] > 0.0 && exact.iter().all(|other| *other <= exact[number]);
        row.first += usize::from(is_first);
        row.similar += usize::from(exact[number] >= THRESHOLD);
        for found in snapshot.query().threshold(THRESHOLD).by_content(&tokens(copy)?)?.iter() {
            let at: usize = found.id.parse()?;
            row.wrong += usize::from((found.similarity - exact[at]).abs() > 1e-9);
            if at == number {
                row.found += 1;
            } else {
                row.others += 1;
            }
        }
    }
    Ok(row)
}

fn jaccard(a: &BTreeSet<u32>, b: &BTreeSet<u32>) -> f64 {
    let common = a.intersection(b).count();
    let all = a.len() + b.len() - common;
    if all == 0 { 0.0 } else { common as f64 / all as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recompressed_and_turned_copies_are_found() {
        let few = run(4).expect("pictures");
        assert_eq!(few, run(4).expect("pictures"), "the same pictures give the same figures");
        let rows = run(12).expect("pictures");
        for (name, row) in &rows {
            assert_eq!(row.wrong, 0, "{name}: similarities are exact");
            assert!(row.found <= row.similar, "{name}: {row:?}");
        }
        let of = |name: &str| {
            let row = rows.iter().find(|(other, _)| other == name);
            row.map(|(_, row)| row).expect("an alteration of this name")
        };
        for name in ["jpeg 90", "turned 180", "cropped 10 %"] {
            assert!(of(name).first >= 11, "{name}: {:?}", of(name));
        }
        assert!(of("jpeg 90").found >= 11, "{:?}", of("jpeg 90"));
    }
}
