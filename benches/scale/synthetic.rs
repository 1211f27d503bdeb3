//! Documents that nobody wrote, with the law of real ones.

use crate::Outcome;
use std::ops::Range;
use std::time::{Duration, Instant};
use twindex::{Document, Index, Signature};

/// Lanes of every signature made here: the default of an index.
pub const LANES: usize = 256;

/// The set size of every signature made here.
const SHINGLES: u64 = 1000;

/// Where the numbers of documents begin that no `ingest` put in.
pub const UNUSED: u64 = 1 << 50;

/// A generator of pseudo-random numbers (SplitMix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ (x >> 31)
    }
}

/// Lanes with the law of real ones: those of strangers are equal by chance once in 256 times, and
/// those of two documents of similarity J with probability J beside that. A third of the
/// documents are in clusters of up to four around J = 0.7 to 1; one in 200 is in one hot bucket.
fn lanes(number: u64) -> Box<[u8]> {
    let mut own = Random(number ^ 0x5EED);
    let kind = own.next() % 600;
    let base = match kind {
        0..3 => u64::MAX,
        3..200 => (number / 4) | (1 << 40),
        _ => number,
    };
    let mut base = Random(base);
    let similarity = match kind {
        0..3 => 100,
        3..200 => 70 + own.next() % 31,
        _ => 0,
    };
    let mut lanes = vec![0; LANES];
    for chunk in lanes.chunks_mut(8) {
        let word = base.next().to_le_bytes();
        for (lane, byte) in chunk.iter_mut().zip(word) {
            let kept = kind >= 200 || own.next() % 100 < (similarity + 100) / 2;
            *lane = if kept { byte } else { own.next() as u8 };
        }
    }
    lanes.into()
}

/// The signature of a document.
pub fn signature(number: u64) -> Signature {
    Signature::from_lanes(lanes(number), SHINGLES)
}

/// A signature that no document's is like.
pub fn stranger(seed: u64) -> Signature {
    let mut random = Random(seed ^ 0xFFFF_0000_0000);
    let lanes: Box<[u8]> = (0..LANES).map(|_| random.next() as u8).collect();
    Signature::from_lanes(lanes, SHINGLES)
}

/// The id of a document: in random order, and never that of another number.
pub fn id(number: u64) -> String {
    format!("{:016x}", Random(number).next())
}

/// The documents of these numbers.
pub fn documents(numbers: Range<u64>) -> Outcome<Vec<Document>> {
    numbers.map(|number| Ok(Document::from_signature(id(number), signature(number))?)).collect()
}

/// Inserts the documents of these numbers, `batch` of them in each commit. After each commit `each`
/// gets the number of documents in it and how long inserting and committing took, without the time
/// to make them.
pub fn load(
    index: &Index,
    numbers: Range<u64>,
    batch: u64,
    mut each: impl FnMut(u64, Duration),
) -> Outcome {
    let mut next = numbers.start;
    while next < numbers.end {
        let end = numbers.end.min(next + batch);
        let documents = documents(next..end)?;
        let start = Instant::now();
        let mut txn = index.begin_write()?;
        txn.insertion().documents(documents)?;
        txn.commit()?;
        each(end - next, start.elapsed());
        next = end;
    }
    Ok(())
}
