//! The sketcher: computes the signatures of documents under fixed settings, on any thread.

use super::count::DistinctCounter;
use super::darts::DartHasher;
use super::fingerprints::Fingerprints;
use super::lanes::{LaneHasher, LaneTable, Sketch, truncate_all};
use super::signature::{SetSize, Signature};
use super::winnow::{Selection, Winnower, Winnowing};
use crate::error::{Error, Result};
use crate::params::Lanes;
use crate::text::{Content, Normalization, Scratch, Shingle, Shingler, add_equal};
use std::cell::RefCell;
use std::collections::BTreeSet;

/// Computes signatures of documents, or of sets that are given by hashes.
///
/// Threads can share a sketcher. Each thread keeps buffers of its own: about 130 KiB, and the
/// length of the longest text while it is sketched.
///
/// ```
/// use twindex::{Normalization, Shingle, Shingler, Sketcher};
/// let shingler = Shingler::new(Shingle::chars(5), Normalization::default(), false, 0)?;
/// let sketcher = Sketcher::new(shingler, 256, 0)?;
/// let a = sketcher.signature("The quick brown fox jumps over the lazy dog.")?;
/// let b = sketcher.signature("The quick brown fox jumps over the lazy dogs.")?;
/// let estimate = a.similarity(&b).expect("neither is empty");
/// assert!(estimate.low <= 39.0 / 42.0 && 39.0 / 42.0 <= estimate.high);
/// # Ok::<(), twindex::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sketcher {
    shingler: Shingler,
    hasher: LaneHasher,
    /// The darts, if this is a sketcher of weighted sets.
    darts: Option<DartHasher>,
    /// The rule of fingerprints, if the sketcher makes them too.
    winnower: Option<Winnower>,
}

/// What a signature depends on, beside the content and the number of lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SketchSettings {
    pub(crate) shingle: Shingle,
    pub(crate) normalization: Normalization,
    pub(crate) multiset: bool,
    /// The seeds of the hashes of shingles, and of those of lanes.
    pub(crate) seeds: (u64, u64),
}

/// What an index remembers of a document's content.
pub(crate) struct Sketched {
    pub(crate) signature: Signature,
    /// `None` if the sketcher makes no fingerprints.
    pub(crate) fingerprints: Option<Fingerprints>,
}

struct Buffers {
    scratch: Scratch,
    lanes: LaneTable,
    counter: DistinctCounter,
    selection: Selection,
    /// All hashes of a text that has at most [`MOST_KEPT`].
    kept: Vec<u64>,
}

/// The most hashes of a text that are kept for further rounds. A text with more shingles seldom
/// leaves a lane empty, so that its shingles need not be hashed again.
const MOST_KEPT: usize = 1 << 12;

thread_local! {
    static BUFFERS: RefCell<Buffers> = RefCell::new(Buffers {
        scratch: Scratch::default(),
        lanes: LaneTable::new(),
        counter: DistinctCounter::new(0),
        selection: Selection::default(),
        kept: Vec::new(),
    });
}

impl Sketcher {
    /// Returns a sketcher of sets, or of multisets if the shingler is one of multisets.
    ///
    /// `lanes` is 64, 128, 256 or 512. `seed` selects the hash functions of the lanes; an index
    /// uses the same seed for the shingler and the lanes.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`] for any other number of lanes.
    pub fn new(shingler: Shingler, lanes: usize, seed: u64) -> Result<Self> {
        Ok(Self::of(shingler, Lanes::new(lanes)?, seed))
    }

    /// Like [`new`](Self::new), for a validated number of lanes.
    pub(crate) fn of(shingler: Shingler, lanes: Lanes, seed: u64) -> Self {
        Self { shingler, hasher: LaneHasher::of(lanes, seed), darts: None, winnower: None }
    }

    /// Returns a sketcher of weighted sets ([`Weights`](crate::Weights)). Its signatures estimate
    /// the sum of the lesser weights over the sum of the greater weights.
    ///
    /// ```
    /// use twindex::{Normalization, Shingle, Shingler, Sketcher, Weights};
    /// let shingler = Shingler::new(Shingle::Tokens, Normalization::NONE, false, 0)?;
    /// let sketcher = Sketcher::weighted(shingler, 256, 0)?;
    /// let a = Weights::new([("sea", 3.0), ("ship", 1.0)])?;
    /// let b = Weights::new([("sea", 2.0), ("shore", 1.0)])?;
    /// let (a, b) = (sketcher.signature(&a)?, sketcher.signature(&b)?);
    /// let estimate = a.similarity(&b).expect("neither is empty");
    /// assert!(estimate.low <= 2.0 / 5.0 && 2.0 / 5.0 <= estimate.high);
    /// # Ok::<(), twindex::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`] if the shingle is not [`token`](Shingle::Tokens), if the shingler
    /// is one of multisets, or if there are not 64, 128, 256 or 512 lanes.
    pub fn weighted(shingler: Shingler, lanes: usize, seed: u64) -> Result<Self> {
        let lanes = Lanes::new(lanes)?;
        if shingler.shingle() != Shingle::Tokens || shingler.is_multiset() {
            return Err(Error::InvalidSetting {
                setting: "weighted",
                got: if shingler.is_multiset() {
                    "with multiset".to_owned()
                } else {
                    format!("with shingle {}", shingler.shingle())
                },
                expected: "shingle token, and not multiset",
            });
        }
        let darts = Some(DartHasher::new(lanes, seed));
        Ok(Self { darts, ..Self::of(shingler, lanes, seed) })
    }

    /// Lets the sketcher find the fingerprints of shared passages as well.
    pub(crate) fn winnowing(self, winnowing: Option<Winnowing>) -> Self {
        let shingle = self.shingler.shingle();
        let winnower = winnowing.map(|winnowing| Winnower::new(winnowing, shingle));
        Self { winnower, ..self }
    }

    /// The rule of fingerprints; `None` if the sketcher makes none.
    pub(crate) fn winnower(&self) -> Option<&Winnower> {
        self.winnower.as_ref()
    }

    /// What its signatures depend on.
    pub(crate) fn settings(&self) -> SketchSettings {
        SketchSettings {
            shingle: self.shingler.shingle(),
            normalization: self.shingler.normalization(),
            multiset: self.shingler.is_multiset(),
            seeds: (self.shingler.seed(), self.hasher.seed()),
        }
    }

    /// Returns whether this is a sketcher of weighted sets.
    pub fn is_weighted(&self) -> bool {
        self.darts.is_some()
    }

    /// Returns the number of lanes of the signatures.
    pub fn lanes(&self) -> usize {
        self.width().get()
    }

    /// The number of lanes as a validated number.
    pub(crate) fn width(&self) -> Lanes {
        self.hasher.width()
    }

    /// Returns the shingler that cuts texts.
    pub fn shingler(&self) -> &Shingler {
        &self.shingler
    }

    /// Returns the signature of a document.
    ///
    /// Takes about 3 ns a character for a text, and about 75 us plus 120 ns a token for a weighted
    /// set.
    ///
    /// # Errors
    ///
    /// [`Error::NotWeights`], [`Error::UnexpectedWeights`] or [`Error::UnexpectedTokens`] for
    /// content of a kind that the sketcher does not take; see [`Content`].
    pub fn signature<'c>(&self, content: impl Into<Content<'c>>) -> Result<Signature> {
        let signature = self.with_content(content.into(), signature)?;
        Ok(signature.unwrap_or_else(|| Signature::of_nothing(self.width())))
    }

    /// The signature of a document, and its fingerprints if the sketcher makes them.
    ///
    /// # Errors
    ///
    /// Those of [`signature`](Self::signature).
    pub(crate) fn sketched(&self, content: Content<'_>) -> Result<Sketched> {
        self.check_content(content)?;
        match (content, &self.darts) {
            (Content::Weights(weights), Some(darts)) => {
                Ok(self.sketched_weights(darts, self.shingler.weights(weights)))
            }
            (content, _) => Ok(self.sketched_text(&content.stored())),
        }
    }

    /// Does the same for a document that is given by its stored text.
    ///
    /// # Errors
    ///
    /// [`Error::NotWeights`] if this is a sketcher of weighted sets and the text is not that of
    /// one.
    pub(crate) fn sketched_stored(&self, text: &str) -> Result<Sketched> {
        match &self.darts {
            Some(darts) => Ok(self.sketched_weights(darts, self.shingler.stored_weights(text)?)),
            None => Ok(self.sketched_text(text)),
        }
    }

    fn sketched_weights(&self, darts: &DartHasher, mut weights: Vec<(u64, f64)>) -> Sketched {
        let signature = with_weights(darts, self.width(), &mut weights, signature);
        let signature = signature.unwrap_or_else(|| Signature::of_nothing(self.width()));
        Sketched { signature, fingerprints: None }
    }

    fn sketched_text(&self, text: &str) -> Sketched {
        let (signature, fingerprints) = self.with_text(text, self.winnower(), signature);
        let signature = signature.unwrap_or_else(|| Signature::of_nothing(self.width()));
        Sketched { signature, fingerprints }
    }

    /// Returns the full-width sketch of a document, which can be merged; `None` if the document has
    /// no shingle or token.
    ///
    /// # Errors
    ///
    /// Those of [`signature`](Self::signature).
    pub fn sketch<'c>(&self, content: impl Into<Content<'c>>) -> Result<Option<Sketch>> {
        self.with_content(content.into(), |lanes, _| Sketch::new(lanes))
    }

    /// Checks that the content is of a kind that the sketcher takes.
    ///
    /// # Errors
    ///
    /// Those of [`signature`](Self::signature).
    pub(crate) fn check_content(&self, content: Content<'_>) -> Result<()> {
        match (content, self.is_weighted()) {
            (Content::Weights(_), true) => Ok(()),
            (Content::Weights(_), false) => Err(Error::UnexpectedWeights),
            (Content::Text(_) | Content::Tokens(_), true) => Err(Error::NotWeights),
            (Content::Tokens(_), false) if self.shingler.shingle() != Shingle::Tokens => {
                Err(Error::UnexpectedTokens { shingle: self.shingler.shingle().to_string() })
            }
            (Content::Text(_) | Content::Tokens(_), false) => Ok(()),
        }
    }

    /// Returns the signature of a set that is given by well-mixed 64-bit hashes of its elements.
    /// The hashes may be in any order and repeat. A sketcher of weighted sets gives each element
    /// the weight 1.
    pub fn signature_of_hashes(&self, hashes: &[u64]) -> Signature {
        let Some(sketch) = self.sketch_of_hashes(hashes) else {
            return Signature::of_nothing(self.width());
        };
        let mut counter = DistinctCounter::new(hashes.len());
        counter.add(hashes);
        Signature::new(sketch.truncated(), counter.finish())
    }

    /// Returns the signature of a weighted set that is given by well-mixed 64-bit hashes of its
    /// tokens with their weights, as [`Shingler::weights`] returns them. Weights of equal hashes
    /// are added, and a token of weight 0 is left out.
    ///
    /// # Errors
    ///
    /// [`Error::UnexpectedWeights`] if this is no sketcher of weighted sets;
    /// [`Error::InvalidWeight`] for a weight that is negative, infinite or NaN.
    pub fn signature_of_weights(&self, weights: &[(u64, f64)]) -> Result<Signature> {
        let darts = self.darts.as_ref().ok_or(Error::UnexpectedWeights)?;
        if let Some((hash, weight)) = weights.iter().find(|(_, w)| !w.is_finite() || *w < 0.0) {
            return Err(Error::InvalidWeight {
                token: format!("{hash:016x}"),
                got: weight.to_string(),
                expected: "a finite number from 0 on",
            });
        }
        let mut weights = weights.to_vec();
        weights.retain(|(_, weight)| *weight > 0.0);
        add_equal(&mut weights);
        let signature = with_weights(darts, self.width(), &mut weights, signature);
        Ok(signature.unwrap_or_else(|| Signature::of_nothing(self.width())))
    }

    /// Returns the full-width sketch of a set that is given by well-mixed 64-bit hashes of its
    /// elements; `None` for the empty set. A sketcher of weighted sets gives each element the
    /// weight 1.
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

    /// Sketches content and passes its lanes and size to `take`; `None` if it has no shingle or
    /// token.
    fn with_content<T>(
        &self,
        content: Content<'_>,
        take: impl FnOnce(&[u32], SetSize) -> T,
    ) -> Result<Option<T>> {
        self.check_content(content)?;
        Ok(match (content, &self.darts) {
            (Content::Weights(weights), Some(darts)) => {
                let mut weights = self.shingler.weights(weights);
                with_weights(darts, self.width(), &mut weights, take)
            }
            (content, _) => self.with_text(&content.stored(), None, take).0,
        })
    }

    /// Sketches a text in the thread's buffers and passes its lanes and size to `take`, unless it
    /// is empty. Also finds its fingerprints, if a winnower is given.
    fn with_text<T>(
        &self,
        text: &str,
        winnower: Option<&Winnower>,
        take: impl FnOnce(&[u32], SetSize) -> T,
    ) -> (Option<T>, Option<Fingerprints>) {
        BUFFERS.with_borrow_mut(|Buffers { scratch, lanes, counter, selection, kept }| {
            lanes.clear();
            selection.clear();
            kept.clear();
            let most = self.shingler.prepare(text, scratch);
            counter.reset(most);
            let in_order = winnower.filter(|_| !self.shingler.is_multiset());
            let mut any = false;
            self.shingler.visit(scratch, |hashes| {
                any = true;
                lanes.first_round(&self.hasher, hashes);
                counter.add(hashes);
                if most <= MOST_KEPT {
                    kept.extend_from_slice(hashes);
                }
                if let Some(winnower) = in_order {
                    selection.push(winnower, hashes);
                }
            });
            if any {
                lanes.finish(&self.hasher, |sink| {
                    if most <= MOST_KEPT { sink(kept) } else { self.shingler.visit(scratch, sink) }
                });
            }
            if let (Some(winnower), None) = (winnower, in_order) {
                // The hashes of a multiset are ranked, and in no order.
                let select = |hashes: &[u64]| selection.push(winnower, hashes);
                self.shingler.visit_unranked(scratch, select);
            }
            scratch.shrink();
            let fingerprints = winnower.map(|_| selection.finish());
            (any.then(|| take(lanes.values(self.lanes()), counter.finish())), fingerprints)
        })
    }
}

/// Sketches a weighted set in the thread's buffers and passes its lanes and size to `take`; `None`
/// if it is empty. The weights are scaled in place.
fn with_weights<T>(
    darts: &DartHasher,
    width: Lanes,
    weights: &mut [(u64, f64)],
    take: impl FnOnce(&[u32], SetSize) -> T,
) -> Option<T> {
    if weights.is_empty() {
        return None;
    }
    BUFFERS.with_borrow_mut(|Buffers { lanes, counter, .. }| {
        lanes.clear();
        counter.reset(weights.len());
        weights.iter().for_each(|(hash, _)| counter.add(&[*hash]));
        darts.throw(lanes, weights);
        Some(take(lanes.values(width.get()), counter.finish()))
    })
}

fn signature(lanes: &[u32], size: SetSize) -> Signature {
    Signature::new(truncate_all(lanes), size)
}

#[cfg(test)]
#[path = "golden_tests.rs"]
mod golden_tests;
