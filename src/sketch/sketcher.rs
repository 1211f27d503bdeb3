//! From a text to its signature under fixed settings, on any thread.

use super::count::DistinctCounter;
use super::darts::DartHasher;
use super::lanes::{LaneHasher, LaneTable, Sketch, truncate};
use super::signature::{SetSize, Signature};
use crate::error::{Error, Result};
use crate::params::Lanes;
use crate::text::{Scratch, Shingle, Shingler};
use std::cell::RefCell;
use std::collections::BTreeSet;

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
    /// What texts are sketched with where they stand for weighted sets.
    darts: Option<DartHasher>,
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
        Self { shingler, hasher: LaneHasher::new(lanes, seed), darts: None }
    }

    /// A sketcher of weighted sets, each given as its text
    /// ([`Weights::to_text`](crate::Weights::to_text)). The similarity that its signatures estimate is
    /// the sum of the lesser weights over the sum of the greater ones.
    ///
    /// ```
    /// use twindex::{Lanes, Normalization, Shingle, Shingler, Sketcher, Weights};
    /// let shingler = Shingler::new(Shingle::Tokens, Normalization::NONE, false, 0)?;
    /// let sketcher = Sketcher::weighted(shingler, Lanes::DEFAULT, 0)?;
    /// let a = Weights::new([("sea", 3.0), ("ship", 1.0)])?.to_text();
    /// let b = Weights::new([("sea", 2.0), ("shore", 1.0)])?.to_text();
    /// let (a, b) = (sketcher.signature_of_text(&a)?, sketcher.signature_of_text(&b)?);
    /// let estimate = a.similarity(&b).expect("neither is empty");
    /// assert!(estimate.low <= 2.0 / 5.0 && 2.0 / 5.0 <= estimate.high);
    /// # Ok::<(), twindex::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`] where the shingler does not take tokens, or takes multisets.
    pub fn weighted(shingler: Shingler, lanes: Lanes, seed: u64) -> Result<Self> {
        if shingler.shingle() != Shingle::Tokens || shingler.is_multiset() {
            return Err(Error::InvalidSetting {
                setting: "weighted",
                got: match shingler.is_multiset() {
                    true => "with multiset".to_owned(),
                    false => format!("with shingle {}", shingler.shingle()),
                },
                expected: "shingle token, and not multiset",
            });
        }
        let darts = Some(DartHasher::new(lanes, seed));
        Ok(Self { darts, ..Self::new(shingler, lanes, seed) })
    }

    /// Whether it is one of weighted sets.
    pub fn is_weighted(&self) -> bool {
        self.darts.is_some()
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
    ///
    /// Of a sketcher of weighted sets it is the empty signature where the text stands for none: ask
    /// [`signature_of_text`](Self::signature_of_text), which tells them apart.
    pub fn signature(&self, text: &str) -> Signature {
        self.signature_of_text(text).unwrap_or_else(|_| Signature::empty(self.lanes()))
    }

    /// The signature of a text. Takes about 3 ns a character; of a weighted set, some 75 us and 120 ns
    /// a token.
    ///
    /// # Errors
    ///
    /// [`Error::NotWeights`] from a sketcher of weighted sets, where the text stands for none.
    pub fn signature_of_text(&self, text: &str) -> Result<Signature> {
        let signature = self.with_text(text, signature)?;
        Ok(signature.unwrap_or_else(|| Signature::empty(self.lanes())))
    }

    /// The full-width sketch of a text, which can be merged; `None` for an empty text, and from a
    /// sketcher of weighted sets for a text that stands for none.
    pub fn sketch(&self, text: &str) -> Option<Sketch> {
        self.with_text(text, |lanes, _| Sketch::new(lanes)).ok().flatten()
    }

    /// The signature of a set that is given by well-mixed 64-bit hashes of its elements, in any
    /// order, repetitions allowed. A sketcher of weighted sets gives each the weight 1.
    pub fn signature_of_hashes(&self, hashes: &[u64]) -> Signature {
        let Some(sketch) = self.sketch_of_hashes(hashes) else {
            return Signature::empty(self.lanes());
        };
        let mut counter = DistinctCounter::new(hashes.len());
        counter.add(hashes);
        Signature::new(sketch.truncated(), counter.finish())
    }

    /// The signature of a weighted set that is given as [`Shingler::weights`] gives it; `None` for the
    /// empty set, and from a sketcher of other sets.
    pub fn signature_of_weights(&self, weights: &[(u64, f64)]) -> Option<Signature> {
        let darts = self.darts.as_ref()?;
        let (mut lanes, mut counter) = (LaneTable::new(), DistinctCounter::new(0));
        let weights = &mut weights.to_vec();
        self.with_weights(darts, weights, (&mut lanes, &mut counter), signature)
    }

    /// The full-width sketch of a set given by hashes; `None` for the empty set. A sketcher of weighted
    /// sets gives each the weight 1.
    pub fn sketch_of_hashes(&self, hashes: &[u64]) -> Option<Sketch> {
        if hashes.is_empty() {
            return None;
        }
        let mut lanes = LaneTable::new();
        match &self.darts {
            Some(darts) => {
                let distinct: BTreeSet<u64> = hashes.iter().copied().collect();
                let mut weights: Vec<_> = distinct.into_iter().map(|hash| (hash, 1.0)).collect();
                darts.throw(&mut lanes, &mut weights);
            }
            None => {
                lanes.first_round(&self.hasher, hashes);
                lanes.finish(&self.hasher, |sink| sink(hashes));
            }
        }
        Some(Sketch::new(lanes.values(self.lanes())))
    }

    /// Sketches a text in the thread's buffers and hands over its lanes; `None` if it is empty.
    fn with_text<T>(
        &self,
        text: &str,
        take: impl FnOnce(&[u32], SetSize) -> T,
    ) -> Result<Option<T>> {
        BUFFERS.with_borrow_mut(|Buffers { scratch, lanes, counter }| {
            lanes.clear();
            if let Some(darts) = &self.darts {
                let mut weights = self.shingler.weights(text)?;
                return Ok(self.with_weights(darts, &mut weights, (lanes, counter), take));
            }
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
            Ok(any.then(|| take(lanes.values(self.lanes()), counter.finish())))
        })
    }

    /// Sketches a weighted set in these buffers, scaling its weights, and hands over its lanes; `None` if
    /// it is empty.
    fn with_weights<T>(
        &self,
        darts: &DartHasher,
        weights: &mut [(u64, f64)],
        (lanes, counter): (&mut LaneTable, &mut DistinctCounter),
        take: impl FnOnce(&[u32], SetSize) -> T,
    ) -> Option<T> {
        if weights.is_empty() {
            return None;
        }
        counter.reset(weights.len());
        weights.iter().for_each(|(hash, _)| counter.add(&[*hash]));
        darts.throw(lanes, weights);
        Some(take(lanes.values(self.lanes()), counter.finish()))
    }
}

fn signature(lanes: &[u32], size: SetSize) -> Signature {
    Signature::new(lanes.iter().map(|lane| truncate(*lane)).collect(), size)
}

#[cfg(test)]
#[path = "golden_tests.rs"]
mod golden_tests;
