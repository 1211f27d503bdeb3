//! Winnowing: the fingerprints of a text. Two texts that share a passage share a fingerprint.
//!
//! S. Schleimer, D. Wilkerson, A. Aiken, *Winnowing: local algorithms for document fingerprinting*,
//! 2003. `docs/format.md`, section "Fingerprints", defines what is stored.

use super::fingerprints::{Encoder, Fingerprints};
use crate::error::{Error, Result};
use crate::text::Shingle;
use multiversion::multiversion;

/// Which passages an index finds: all that are at least [`length`](Self::length) units long.
///
/// Units are those of the shingle: characters of the normalised text, words, lines or tokens. A
/// *gram* is a run of [`gram`](Self::gram) units. Of every window of `length - gram + 1` grams, the
/// one with the least hash is a *fingerprint* of the text. So a passage of `length` units has a
/// fingerprint of its own, which is the same in every text that contains the passage (Schleimer,
/// Wilkerson, Aiken 2003, section 3). Random text has one fingerprint in
/// `(length - gram + 2) / 2` units.
///
/// ```
/// use twindex::{Shingle, Winnowing};
/// let winnowing = Winnowing::new(100, Shingle::chars(9))?;
/// assert_eq!((winnowing.length(), winnowing.gram()), (100, 25));
/// assert!(Winnowing::new(5, Shingle::chars(9)).is_err()); // shorter than a shingle
/// # Ok::<(), twindex::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Winnowing {
    length: u32,
    gram: u32,
}

impl Winnowing {
    /// The greatest length of a passage that an index can be asked to find.
    pub const MAX_LENGTH: usize = 10_000;

    /// The most units in a gram, unless a shingle has more. Longer grams are rarer by chance, but
    /// leave more fingerprints for the same guarantee.
    const MAX_GRAM: u32 = 32;

    /// Returns the winnowing that finds all passages of at least this many units.
    ///
    /// A gram has a quarter of the units, at most 32, and at least those of a shingle.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`] for a length that is not above that of a shingle, or above
    /// [`MAX_LENGTH`](Self::MAX_LENGTH), and for k-mers, which stand for both strands.
    pub fn new(length: usize, shingle: Shingle) -> Result<Self> {
        let invalid = |expected| Error::InvalidSetting {
            setting: "passages",
            got: format!("{length} with shingle {shingle}"),
            expected,
        };
        let width = match shingle {
            Shingle::Kmers(_) => return Err(invalid("shingle char:N, word:N, line:N or token")),
            other => other.units() as u32,
        };
        match u32::try_from(length) {
            Ok(length) if (width + 1..=Self::MAX_LENGTH as u32).contains(&length) => {
                let gram = length.div_ceil(4).min(Self::MAX_GRAM).max(width);
                Ok(Self { length, gram })
            }
            _ => Err(invalid("more units than a shingle has, and at most 10000")),
        }
    }

    /// Returns a length that suits most texts: 100 characters, 20 words, 20 tokens or 5 lines, and
    /// at least twice the length of a shingle.
    pub fn default_length(shingle: Shingle) -> usize {
        let usual = match shingle {
            Shingle::Chars(_) | Shingle::Kmers(_) => 100,
            Shingle::Words(_) | Shingle::Tokens => 20,
            Shingle::Lines(_) => 5,
        };
        usual.max(2 * shingle.units())
    }

    /// The winnowing that an index stores; `None` if it cannot be one of this shingle.
    pub(crate) fn stored(length: u32, gram: u32, shingle: Shingle) -> Option<Self> {
        Self::new(length as usize, shingle).ok()?;
        (shingle.units() as u32..=length).contains(&gram).then_some(Self { length, gram })
    }

    /// The number of units from which on every shared passage is found.
    pub fn length(self) -> usize {
        self.length as usize
    }

    /// The number of units in a gram.
    pub fn gram(self) -> usize {
        self.gram as usize
    }

    /// The number of grams in a window.
    pub(crate) fn window(self) -> usize {
        (self.length - self.gram + 1) as usize
    }
}

/// Selects the fingerprints of texts, which are given by the hashes of their shingles in order.
#[derive(Clone, Debug)]
pub(crate) struct Winnower {
    pub(crate) winnowing: Winnowing,
    /// The number of units in a shingle.
    width: usize,
}

/// The hash of a gram: the upper half orders the grams of a window, the lower half is the
/// fingerprint.
type GramHash = u64;

/// How far the hash of the gram so far is rotated before the next shingle is added.
const ROTATION: u32 = 25;

impl Winnower {
    pub(crate) fn new(winnowing: Winnowing, shingle: Shingle) -> Self {
        Self { winnowing, width: shingle.units() }
    }

    /// The number of shingles in a gram, less 1.
    fn span(&self) -> usize {
        self.winnowing.gram() - self.width
    }

    /// The number of units of a text with this many shingles, unless it is shorter than one.
    pub(crate) fn units(&self, shingles: u64) -> u64 {
        if shingles == 0 { 0 } else { shingles + self.width as u64 - 1 }
    }

    /// Appends the hash of each gram of these shingles.
    fn hash_grams(&self, shingles: &[u64], out: &mut Vec<GramHash>) {
        let Some(count) = shingles.len().checked_sub(self.span()) else { return };
        let first = out.len();
        out.extend_from_slice(&shingles[..count]);
        // Shingles that follow each other without a gap, and the last one, cover the gram.
        let starts = (self.width..self.span()).step_by(self.width);
        for start in starts.chain((self.span() > 0).then_some(self.span())) {
            add_shingles(&mut out[first..], &shingles[start..]);
        }
    }

    /// The hashes of all grams of a text, in order.
    pub(crate) fn grams(&self, shingles: &[u64]) -> Vec<u32> {
        let mut grams = Vec::with_capacity(shingles.len());
        self.hash_grams(shingles, &mut grams);
        grams.into_iter().map(|gram| gram as u32).collect()
    }

    /// The fingerprints of a text.
    pub(crate) fn fingerprints(&self, shingles: &[u64]) -> Fingerprints {
        let mut selection = Selection::default();
        selection.push(self, shingles);
        selection.finish()
    }
}

#[multiversion(targets("x86_64+avx2+bmi1+bmi2"))]
fn add_shingles(grams: &mut [GramHash], shingles: &[u64]) {
    for (gram, shingle) in grams.iter_mut().zip(shingles) {
        *gram = gram.rotate_left(ROTATION).wrapping_add(*shingle);
    }
}

/// The fingerprints of a text in the making. The text comes in blocks of shingles.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    /// The shingles of grams that are not complete yet.
    shingles: Vec<u64>,
    /// The hashes of the last grams: at least a window.
    grams: Vec<GramHash>,
    /// Their upper halves.
    order: Vec<u32>,
    /// The position of the first of them in the text.
    base: usize,
    /// The place of the least of the last window, the last one of several; `None` before the first
    /// window.
    least: Option<usize>,
    count: u64,
    found: Encoder,
}

impl Selection {
    /// Adds the next shingles of a text.
    pub(crate) fn push(&mut self, winnower: &Winnower, block: &[u64]) {
        self.count += block.len() as u64;
        self.shingles.extend_from_slice(block);
        let window = winnower.winnowing.window();
        // The last window stays; what is before it is not needed any more.
        let gone = self.grams.len().saturating_sub(window);
        self.grams.drain(..gone);
        self.order.drain(..gone);
        self.base += gone;
        self.least = self.least.map(|least| least.wrapping_sub(gone));
        let first = self.grams.len();
        winnower.hash_grams(&self.shingles, &mut self.grams);
        self.shingles.drain(..self.grams.len() - first);
        self.order.extend(self.grams[first..].iter().map(|gram| (gram >> 32) as u32));
        self.select(first, window);
    }

    /// Selects among the grams from `first` on.
    fn select(&mut self, first: usize, window: usize) {
        let Self { grams, order, base, found, .. } = self;
        let mut select = |at: usize| found.push((*base + at) as u64, grams[at] as u32);
        let (mut least, mut at) = match self.least {
            Some(least) => (least, first),
            // The first window begins with the text.
            None if order.len() < window => return,
            None => {
                let least = last_least(&order[..window]);
                select(least);
                (least, window)
            }
        };
        loop {
            // Until the least one leaves the window, only one that is no greater follows it.
            let end = order.len().min(least.wrapping_add(window)).max(at);
            match first_up_to(&order[at..end], order[least]) {
                Some(further) => {
                    least = at + further;
                    at = least + 1;
                }
                None if end == order.len() => break,
                None => {
                    let start = end + 1 - window;
                    least = start + last_least(&order[start..=end]);
                    at = end + 1;
                }
            }
            select(least);
        }
        self.least = Some(least);
    }

    /// Begins a text.
    pub(crate) fn clear(&mut self) {
        self.shingles.clear();
        self.grams.clear();
        self.order.clear();
        (self.base, self.least, self.count) = (0, None, 0);
        self.found = Encoder::default();
    }

    /// Ends the text.
    pub(crate) fn finish(&mut self) -> Fingerprints {
        std::mem::take(&mut self.found).finish(self.count)
    }
}

// The next two functions look at all numbers of a stretch without a branch on each of them.

/// The place of the first number that is at most `most`.
#[multiversion(targets("x86_64+avx2+bmi1+bmi2"))]
fn first_up_to(numbers: &[u32], most: u32) -> Option<usize> {
    const STRETCH: usize = 16;
    for (number, stretch) in numbers.chunks(STRETCH).enumerate() {
        let mut any = false;
        for number in stretch {
            any |= *number <= most;
        }
        if any {
            let within = stretch.iter().position(|number| *number <= most)?;
            return Some(number * STRETCH + within);
        }
    }
    None
}

/// The place of the least number, the last one of several.
#[multiversion(targets("x86_64+avx2+bmi1+bmi2"))]
fn last_least(numbers: &[u32]) -> usize {
    let mut least = u32::MAX;
    for number in numbers {
        least = least.min(*number);
    }
    numbers.iter().rposition(|number| *number == least).unwrap_or(0)
}

#[cfg(test)]
#[path = "winnow_tests.rs"]
mod tests;
