//! Shingling: cuts a text into a set of hashed shingles.

use super::ascii::ascii_prefix;
use super::kind::Shingle;
use super::kmer;
use super::normalize::{Normalization, Whitespace};
use super::ranks::Ranks;
use super::units::{ELEMENT_END, Units};
use crate::error::Result;
use crate::hash::{ShingleHasher, distinct};
use multiversion::multiversion;

/// Cuts texts into hashed shingles under fixed settings.
///
/// ```
/// use twindex::{Normalization, Shingle, Shingler};
/// let shingler = Shingler::new(Shingle::chars(3), Normalization::default(), false, 0)?;
/// assert_eq!(shingler.hashes("ab CD").len(), 3); // "ab ", "b c", " cd"
/// assert_eq!(shingler.hashes("ab").len(), 1); // shorter than a shingle: one shingle
/// assert_eq!(shingler.hashes("  ").len(), 0); // nothing but white space: none
/// # Ok::<(), twindex::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Shingler {
    pub(super) shingle: Shingle,
    pub(super) normalization: Normalization,
    pub(super) multiset: bool,
    pub(super) hasher: ShingleHasher,
}

/// The number of hashes in a block: 8 KiB, which leaves room in the first-level cache for the lanes
/// and the counter.
const BLOCK: usize = 1024;

/// The least number of windows in an ASCII stretch for which the word-wise path pays.
const LEAST_STRETCH: usize = 32;

/// Bytes after a normalised text, so that eight bytes can be loaded from any position of it.
pub(super) const PADDING: &str = "\0\0\0\0\0\0\0\0";

/// Buffers that are reused from text to text.
pub(crate) struct Scratch {
    /// The normalised text, followed by `PADDING` for shingles of characters.
    pub(super) text: String,
    pub(super) units: Units,
    /// The letters of a sequence, for k-mers.
    pub(super) letters: Vec<u8>,
    block: Box<[u64; BLOCK]>,
    ranks: Ranks,
    /// Whether `ranks` holds all hashes of the text, so that it need not be cut again.
    sorted: bool,
}

impl Default for Scratch {
    fn default() -> Self {
        Self {
            text: String::new(),
            units: Units::default(),
            letters: Vec::new(),
            block: Box::new([0; BLOCK]),
            ranks: Ranks::default(),
            sorted: false,
        }
    }
}

impl Scratch {
    /// Frees buffers that a very long text made larger than 4 MiB.
    pub(crate) fn shrink(&mut self) {
        const KEPT: usize = 4 << 20;
        if self.text.capacity() > KEPT {
            self.text = String::new();
        }
        if self.letters.capacity() > KEPT {
            self.letters = Vec::new();
        }
        self.ranks.shrink(KEPT);
        self.units.shrink(KEPT);
    }
}

impl Shingler {
    /// Whether white space at the ends of a text is part of shingles.
    pub(crate) fn has_ends(&self) -> bool {
        let keeps = self.normalization.whitespace == Whitespace::Keep;
        keeps && matches!(self.shingle, Shingle::Chars(_))
    }

    /// Returns a shingler with these settings.
    ///
    /// With `multiset`, each occurrence of a shingle is an element of its own. The Jaccard
    /// similarity is then the sum of the lesser counts over the sum of the greater counts. `seed`
    /// selects the hash functions: hashes compare only under equal seeds.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`](crate::Error::InvalidSetting) if the width of the shingle is 0 or
    /// above [`Shingle::MAX_WIDTH`] (for k-mers [`Shingle::MAX_KMER`]), and for k-mers with any
    /// normalisation but [`Normalization::NONE`].
    pub fn new(
        shingle: Shingle,
        normalization: Normalization,
        multiset: bool,
        seed: u64,
    ) -> Result<Self> {
        Ok(Self {
            shingle: shingle.validate_with(&normalization)?,
            normalization,
            multiset,
            hasher: ShingleHasher::new(seed),
        })
    }

    /// Returns the hashes of the shingles of a text.
    ///
    /// The hashes are in order of appearance and include repetitions. With `multiset`, all hashes
    /// are distinct, and their order is deterministic but has no meaning. Takes 8 bytes a shingle,
    /// 16 with `multiset`.
    pub fn hashes(&self, text: &str) -> Vec<u64> {
        let mut scratch = Scratch::default();
        let mut out = Vec::new();
        self.prepare(text, &mut scratch);
        self.visit(&mut scratch, |block| out.extend_from_slice(block));
        out
    }

    /// The hashes of the shingles of a text in order of appearance, without the ranks of a
    /// multiset.
    pub(crate) fn unranked_hashes(&self, text: &str) -> Vec<u64> {
        let mut scratch = Scratch::default();
        let mut out = Vec::new();
        self.prepare_plain(text, &mut scratch);
        self.visit_unranked(&mut scratch, |block| out.extend_from_slice(block));
        out
    }

    /// Returns the hashes of the distinct shingles of a text in ascending order, as
    /// [`Overlap::of_sets`](crate::Overlap::of_sets) takes them. With `multiset`, each occurrence
    /// is an element of its own.
    ///
    /// ```
    /// # fn main() -> twindex::Result<()> {
    /// use twindex::{Normalization, Overlap, Shingle, Shingler};
    /// let words = Shingler::new(Shingle::words(1), Normalization::default(), false, 0)?;
    /// let (a, b) = (words.set("one two two three"), words.set("Two three four"));
    /// assert_eq!(Overlap::of_sets(&a, &b).similarity(), 0.5);
    /// # Ok(())
    /// # }
    /// ```
    pub fn set(&self, text: &str) -> Vec<u64> {
        // The hashes of a multiset are distinct already.
        distinct(self.hashes(text))
    }

    /// Normalises and cuts a text. Afterwards [`visit`](Self::visit) can be called any number of
    /// times. Returns an upper bound of the number of shingles.
    pub(crate) fn prepare(&self, text: &str, scratch: &mut Scratch) -> usize {
        let most = self.cut(text, scratch);
        scratch.ranks.clear();
        scratch.sorted = self.multiset && Ranks::are_sorted(most);
        if scratch.sorted {
            let mut ranks = std::mem::take(&mut scratch.ranks);
            self.walk(scratch, None, &mut |block| ranks.gather(block));
            ranks.sort(&self.hasher);
            scratch.ranks = ranks;
        }
        most
    }

    /// Normalises and cuts a text into units, without ranks.
    pub(super) fn prepare_plain(&self, text: &str, scratch: &mut Scratch) {
        self.cut(text, scratch);
    }

    /// Normalises one token.
    pub(super) fn normalize(&self, token: &str, out: &mut String) {
        self.normalization.apply_into(token, out);
    }

    /// The hash of one shingle.
    pub(super) fn hash(&self, shingle: &[u8]) -> u64 {
        self.hasher.hash(shingle)
    }

    pub(crate) const fn shingle(&self) -> Shingle {
        self.shingle
    }

    pub(crate) const fn normalization(&self) -> Normalization {
        self.normalization
    }

    /// The seed of the hash functions.
    pub(crate) const fn seed(&self) -> u64 {
        self.hasher.seed()
    }

    pub(crate) const fn is_multiset(&self) -> bool {
        self.multiset
    }

    fn cut(&self, text: &str, scratch: &mut Scratch) -> usize {
        let Scratch { text: normalised, units, letters, .. } = scratch;
        match self.shingle {
            Shingle::Kmers(_) => {
                kmer::letters(text, letters);
                return letters.len();
            }
            Shingle::Lines(_) => return units.lines(text, &self.normalization),
            Shingle::Tokens if text.contains(ELEMENT_END) => {
                return units.elements(text, &self.normalization);
            }
            _ => {}
        }
        self.normalization.apply_into(text, normalised);
        match self.shingle {
            Shingle::Words(_) => units.words(normalised),
            Shingle::Tokens => units.tokens(normalised),
            _ => {
                let length = normalised.len();
                normalised.push_str(PADDING);
                length
            }
        }
    }

    /// Passes the hashes of the prepared text to `sink`, in blocks.
    pub(crate) fn visit(&self, scratch: &mut Scratch, mut sink: impl FnMut(&[u64])) {
        if scratch.sorted {
            return scratch.ranks.sorted().chunks(BLOCK).for_each(sink);
        }
        let mut ranks = std::mem::take(&mut scratch.ranks);
        ranks.clear();
        self.walk(scratch, self.multiset.then_some(&mut ranks), &mut sink);
        scratch.ranks = ranks;
    }

    /// Passes the hashes of the prepared text to `sink` in order of appearance, in blocks, without
    /// the ranks of a multiset.
    pub(crate) fn visit_unranked(&self, scratch: &mut Scratch, mut sink: impl FnMut(&[u64])) {
        self.walk(scratch, None, &mut sink);
    }

    /// Passes the hashes of a cut text to `sink` in order of appearance, ranked if `ranks` is
    /// given.
    fn walk(&self, scratch: &mut Scratch, ranks: Option<&mut Ranks>, sink: &mut dyn FnMut(&[u64])) {
        let Scratch { text, units, letters, block, .. } = scratch;
        let mut out = Blocks { block, length: 0, ranks, hasher: &self.hasher, sink };
        match self.shingle {
            Shingle::Chars(width) => self.chars(text.as_bytes(), usize::from(width), &mut out),
            Shingle::Words(width) | Shingle::Lines(width) => {
                units.windows(usize::from(width), |window| out.push(self.hasher.hash(window)));
            }
            Shingle::Tokens => units.windows(1, |window| out.push(self.hasher.hash(window))),
            Shingle::Kmers(width) => self.kmers(letters, width, &mut out),
        }
        out.flush();
    }

    fn kmers(&self, letters: &[u8], width: u16, out: &mut Blocks<'_>) {
        for run in kmer::runs(letters, width.into()) {
            let mut window = kmer::Window::new(width.into());
            let (before, ends) = run.split_at(usize::from(width) - 1);
            for letter in before {
                window.push(*letter);
            }
            for ends in ends.chunks(BLOCK) {
                out.fill(ends.len(), |hashes| {
                    kmer::hash(&self.hasher, &mut window, ends, hashes);
                });
            }
        }
    }

    fn chars(&self, padded: &[u8], width: usize, out: &mut Blocks<'_>) {
        let length = padded.len() - PADDING.len();
        let text = &padded[..length];
        if length == 0 {
            return;
        }
        // The window is the bytes from `start` up to, but without, `end`.
        let (mut start, mut end) = (0, 0);
        for _ in 0..width {
            if end == length {
                // The text has at most `width` characters, so it is one shingle.
                break;
            }
            end += char_bytes(text[end]);
        }
        let mut ascii_until = 0;
        loop {
            if start >= ascii_until && text[start].is_ascii() {
                ascii_until = start + ascii_prefix(&text[start..]);
            }
            // For a few windows, the setup of the word-wise path costs more than it saves.
            if ascii_until >= start + width + LEAST_STRETCH {
                let count = ascii_until - start - width + 1;
                self.ascii(&padded[start..], width, count, out);
                if ascii_until == length {
                    return;
                }
                start = ascii_until - width + 1;
                end = ascii_until + char_bytes(text[ascii_until]);
            }
            out.push(self.hasher.hash(&text[start..end]));
            if end >= length {
                return;
            }
            start += char_bytes(text[start]);
            end += char_bytes(text[end]);
        }
    }

    /// Hashes `count` windows of `width` ASCII characters. Each is loaded as one or two words,
    /// which can reach up to 8 bytes beyond the window. The hashes must be those of the general
    /// path.
    fn ascii(&self, padded: &[u8], width: usize, count: usize, out: &mut Blocks<'_>) {
        for first in (0..count).step_by(BLOCK) {
            let count = BLOCK.min(count - first);
            let windows = &padded[first..first + count + width - 1 + PADDING.len()];
            out.fill(count, |hashes| match width {
                1..=8 => hash_short(&self.hasher, windows, width, hashes),
                9..=16 => hash_medium(&self.hasher, windows, width, hashes),
                _ => {
                    let windows = windows.windows(width);
                    for (hash, window) in hashes.iter_mut().zip(windows) {
                        *hash = self.hasher.hash(window);
                    }
                }
            });
        }
    }
}

// The next two functions use plain loops. They are compiled for more CPU features than their
// callees, so a closure passed to an iterator would not be inlined.

/// Hashes windows of up to 8 bytes. At least 8 more bytes must follow the last window.
#[multiversion(targets("x86_64+avx2+bmi1+bmi2"))]
fn hash_short(hasher: &ShingleHasher, text: &[u8], width: usize, out: &mut [u64]) {
    let mask = u64::MAX >> (64 - 8 * width);
    for (hash, window) in out.iter_mut().zip(text.windows(8)) {
        *hash = hasher.short(word(window) & mask, width);
    }
}

/// Hashes windows of 9 to 16 bytes.
#[multiversion(targets("x86_64+avx2+bmi1+bmi2"))]
fn hash_medium(hasher: &ShingleHasher, text: &[u8], width: usize, out: &mut [u64]) {
    let (first, last) = (text.windows(8), text[width - 8..].windows(8));
    for ((hash, first), last) in out.iter_mut().zip(first).zip(last) {
        *hash = hasher.medium(word(first), word(last), width);
    }
}

/// The length in bytes of the character that starts with this byte, in valid UTF-8.
#[inline]
const fn char_bytes(first: u8) -> usize {
    match first {
        0..0x80 => 1,
        0x80..0xE0 => 2,
        0xE0..0xF0 => 3,
        _ => 4,
    }
}

#[inline(always)]
fn word(window: &[u8]) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(window);
    u64::from_le_bytes(word)
}

/// Collects hashes into blocks, and ranks repetitions if `ranks` is given.
struct Blocks<'a> {
    block: &'a mut [u64; BLOCK],
    /// The number of hashes in the block that were not passed on yet.
    length: usize,
    ranks: Option<&'a mut Ranks>,
    hasher: &'a ShingleHasher,
    sink: &'a mut dyn FnMut(&[u64]),
}

impl Blocks<'_> {
    fn push(&mut self, hash: u64) {
        self.block[self.length] = hash;
        self.length += 1;
        if self.length == BLOCK {
            self.flush();
        }
    }

    /// Passes on the collected hashes, then lets `make` write up to a block of hashes and passes
    /// these on.
    #[inline]
    fn fill(&mut self, count: usize, make: impl FnOnce(&mut [u64])) {
        self.flush();
        make(&mut self.block[..count]);
        self.length = count;
        self.flush();
    }

    fn flush(&mut self) {
        let hashes = &mut self.block[..self.length];
        if let Some(ranks) = &mut self.ranks {
            ranks.count(self.hasher, hashes);
        }
        if !hashes.is_empty() {
            (self.sink)(hashes);
        }
        self.length = 0;
    }
}

#[cfg(test)]
#[path = "shingle_tests.rs"]
mod tests;
