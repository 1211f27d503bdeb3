//! From a text to its signature under fixed settings, on any thread.

use super::count::DistinctCounter;
use super::lanes::{LaneHasher, LaneTable, Sketch, truncate};
use super::signature::{SetSize, Signature};
use crate::params::Lanes;
use crate::text::{Scratch, Shingler};
use std::cell::RefCell;

/// Makes signatures of texts or of ready hashes. Shared freely between threads; its buffers, some
/// 100 KiB and as much again as the longest text, are kept per thread.
///
/// ```
/// use twindex::{Lanes, Normalization, Shingle, Shingler, Sketcher};
/// let shingler = Shingler::new(Shingle::chars(5), Normalization::default(), false, 0)?;
/// let sketcher = Sketcher::new(shingler, Lanes::DEFAULT, 0);
/// let a = sketcher.signature("The quick brown fox jumps over the lazy dog.");
/// let b = sketcher.signature("The quick brown fox jumps over the lazy dogs.");
/// let estimate = a.similarity(&b).expect("neither is empty");
/// assert!(estimate.low <= 39.0 / 42.0 && 39.0 / 42.0 <= estimate.high);
/// # Ok::<(), twindex::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sketcher {
    shingler: Shingler,
    hasher: LaneHasher,
}

struct Buffers {
    scratch: Scratch,
    lanes: LaneTable,
    counter: DistinctCounter,
}

thread_local! {
    static BUFFERS: RefCell<Buffers> = RefCell::new(Buffers {
        scratch: Scratch::default(),
        lanes: LaneTable::new(),
        counter: DistinctCounter::new(0),
    });
}

impl Sketcher {
    /// A sketcher for what the shingler cuts. The seed is that of the lanes; indexes use the
    /// shingler's own.
    pub fn new(shingler: Shingler, lanes: Lanes, seed: u64) -> Self {
        Self { shingler, hasher: LaneHasher::new(lanes, seed) }
    }

    /// The number of lanes of its signatures.
    pub fn lanes(&self) -> Lanes {
        self.hasher.lanes()
    }

    /// What it cuts texts with.
    pub fn shingler(&self) -> &Shingler {
        &self.shingler
    }

    /// The signature of a text. Takes about 3 ns a character.
    pub fn signature(&self, text: &str) -> Signature {
        self.with_text(text, |lanes, size| {
            Signature::new(lanes.iter().map(|lane| truncate(*lane)).collect(), size)
        })
        .unwrap_or_else(|| Signature::empty(self.lanes()))
    }

    /// The full-width sketch of a text, which can be merged; `None` for an empty text.
    pub fn sketch(&self, text: &str) -> Option<Sketch> {
        self.with_text(text, |lanes, _| Sketch::new(lanes))
    }

    /// The signature of a set that is given by well-mixed 64-bit hashes of its elements, in any
    /// order, repetitions allowed.
    pub fn signature_of_hashes(&self, hashes: &[u64]) -> Signature {
        let Some(sketch) = self.sketch_of_hashes(hashes) else {
            return Signature::empty(self.lanes());
        };
        let mut counter = DistinctCounter::new(hashes.len());
        counter.add(hashes);
        Signature::new(sketch.truncated(), counter.finish())
    }

    /// The full-width sketch of a set given by hashes; `None` for the empty set.
    pub fn sketch_of_hashes(&self, hashes: &[u64]) -> Option<Sketch> {
        if hashes.is_empty() {
            return None;
        }
        let mut lanes = LaneTable::new();
        lanes.first_round(&self.hasher, hashes);
        lanes.finish(&self.hasher, |sink| sink(hashes));
        Some(Sketch::new(lanes.values(self.lanes())))
    }

    /// Sketches a text in the thread's buffers and hands over its lanes; `None` if it is empty.
    fn with_text<T>(&self, text: &str, take: impl FnOnce(&[u32], SetSize) -> T) -> Option<T> {
        BUFFERS.with_borrow_mut(|Buffers { scratch, lanes, counter }| {
            lanes.clear();
            counter.reset(self.shingler.prepare(text, scratch));
            let mut any = false;
            self.shingler.visit(scratch, |hashes| {
                any = true;
                lanes.first_round(&self.hasher, hashes);
                counter.add(hashes);
            });
            if any {
                lanes.finish(&self.hasher, |sink| self.shingler.visit(scratch, sink));
            }
            scratch.shrink();
            any.then(|| take(lanes.values(self.lanes()), counter.finish()))
        })
    }
}

#[cfg(test)]
#[path = "golden_tests.rs"]
mod golden_tests;
