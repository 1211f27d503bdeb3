//! Shingling: a text becomes a set of hashed shingles.

use super::fold::ascii_prefix;
use super::kmer;
use super::normalize::Normalization;
use super::ranks::Ranks;
use super::units::{ELEMENT_END, Units};
use crate::error::{Error, Result};
use crate::hash::ShingleHasher;
use multiversion::multiversion;
use std::fmt;
use std::str::FromStr;

/// What a shingle is. Its text form is that of the command: `char:9`, `word:3`, `line:2`, `token`,
/// `kmer:21`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Shingle {
    /// So many consecutive characters (Unicode scalar values).
    Chars(u16),
    /// So many consecutive words (UAX #29, so that Chinese and Japanese split too), in order.
    Words(u16),
    /// So many consecutive non-empty lines, white space folded within each: for source code.
    Lines(u16),
    /// The text is a set already: its elements are what white space separates. Where a text holds
    /// the character U+001F, its elements are instead what U+001F follows, and may hold white space
    /// or be empty.
    Tokens,
    /// So many consecutive letters of DNA, 1 to 32, counted as one with their reverse complement: the
    /// canonical k-mers of Mash (Ondov et al. 2016, Methods).
    ///
    /// The letters are A, C, G, T, in either case, and U, which is T. The text is a bare sequence, or
    /// FASTA: lines that begin with `>` separate sequences, lines that begin with `;` are skipped, as
    /// are line breaks, spaces, tabs and form feeds. Every other letter (N, gaps) breaks the sequence:
    /// no k-mer holds it. A text without a k-mer has no shingle, however short it is: it is empty.
    Kmers(u16),
}

impl Default for Shingle {
    /// 9 characters.
    fn default() -> Self {
        Self::Chars(9)
    }
}

impl Shingle {
    /// The most units a shingle may have.
    pub const MAX_WIDTH: u16 = 1000;

    /// The most letters a k-mer may have: as many as fit into 64 bits.
    pub const MAX_KMER: u16 = 32;

    /// Shingles of `n` characters.
    pub const fn chars(n: u16) -> Self {
        Self::Chars(n)
    }

    /// Shingles of `n` words.
    pub const fn words(n: u16) -> Self {
        Self::Words(n)
    }

    /// Shingles of `n` lines.
    pub const fn lines(n: u16) -> Self {
        Self::Lines(n)
    }

    /// Canonical k-mers of `k` letters. 21 tells the genomes of bacteria apart (Ondov et al. 2016).
    pub const fn kmers(k: u16) -> Self {
        Self::Kmers(k)
    }

    /// The normalisation that fits this kind of shingle when the user names none: `none` for
    /// tokens, which are exact names, and for k-mers, else `lower,nfc,space`.
    pub fn default_normalization(self) -> Normalization {
        match self {
            Self::Tokens | Self::Kmers(_) => Normalization::NONE,
            _ => Normalization::default(),
        }
    }

    /// The letters of a k-mer; `None` for other shingles.
    pub fn kmer_width(self) -> Option<u16> {
        match self {
            Self::Kmers(k) => Some(k),
            _ => None,
        }
    }

    /// Checks the width, and that k-mers are not to be normalised, which would join lines or drop them.
    pub(crate) fn validate_with(self, normalization: &Normalization) -> Result<Self> {
        let shingle = self.validate()?;
        match shingle {
            Self::Kmers(_) if *normalization != Normalization::NONE => Err(Error::InvalidSetting {
                setting: "normalization",
                got: format!("{normalization} with {shingle}"),
                expected: "none, as k-mers are letters of DNA, which are not normalised",
            }),
            _ => Ok(shingle),
        }
    }

    pub(crate) fn validate(self) -> Result<Self> {
        match self {
            Self::Tokens => Ok(self),
            Self::Chars(n) | Self::Words(n) | Self::Lines(n)
                if (1..=Self::MAX_WIDTH).contains(&n) =>
            {
                Ok(self)
            }
            Self::Kmers(k) if (1..=Self::MAX_KMER).contains(&k) => Ok(self),
            _ => Err(invalid(&self.to_string())),
        }
    }
}

fn invalid(got: &str) -> Error {
    Error::InvalidSetting {
        setting: "shingle",
        got: got.to_owned(),
        expected: "char:N, word:N or line:N with N from 1 to 1000, token, or kmer:N with N from 1 to 32",
    }
}

impl fmt::Display for Shingle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Chars(n) => write!(f, "char:{n}"),
            Self::Words(n) => write!(f, "word:{n}"),
            Self::Lines(n) => write!(f, "line:{n}"),
            Self::Tokens => f.write_str("token"),
            Self::Kmers(k) => write!(f, "kmer:{k}"),
        }
    }
}

impl FromStr for Shingle {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let bad = || invalid(text);
        if text == "token" {
            return Ok(Self::Tokens);
        }
        let (kind, width) = text.split_once(':').ok_or_else(bad)?;
        let width = width.parse().map_err(|_| bad())?;
        match kind {
            "char" => Self::Chars(width).validate(),
            "word" => Self::Words(width).validate(),
            "line" => Self::Lines(width).validate(),
            "kmer" => Self::Kmers(width).validate(),
            _ => Err(bad()),
        }
    }
}

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

/// How many hashes are handed over at once: 8 KiB, which leaves room in the first-level cache for
/// the lanes and the counter.
const BLOCK: usize = 1024;

/// Windows of an ASCII stretch from which on they are hashed as words.
const LEAST_STRETCH: usize = 32;

/// Bytes after a normalised text that let every window be loaded as whole words.
pub(super) const PADDING: &str = "\0\0\0\0\0\0\0\0";

/// Buffers that are used again from text to text.
pub(crate) struct Scratch {
    /// The normalised text; for shingles of characters with `PADDING` after it.
    pub(super) text: String,
    pub(super) units: Units,
    /// The letters of a sequence, for k-mers.
    pub(super) letters: Vec<u8>,
    block: Box<[u64; BLOCK]>,
    ranks: Ranks,
    /// Whether the ranks hold all hashes of the text, so that it need not be cut again.
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
    /// Gives back what one very long text took.
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
    /// A shingler with these settings. With `multiset`, the i-th occurrence of a shingle is an
    /// element of its own, so that similarity becomes sum of minima over sum of maxima.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`] where the width of the shingle is 0 or above
    /// [`Shingle::MAX_WIDTH`], for k-mers [`Shingle::MAX_KMER`], or where k-mers are to be normalised.
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

    /// The hashes of the shingles of a text, in order of appearance, repetitions included. With
    /// `multiset` there are none, and the order is fixed but says nothing. Takes 8 bytes a shingle,
    /// 16 with `multiset`.
    pub fn hashes(&self, text: &str) -> Vec<u64> {
        let mut scratch = Scratch::default();
        let mut out = Vec::new();
        self.prepare(text, &mut scratch);
        self.visit(&mut scratch, |block| out.extend_from_slice(block));
        out
    }

    /// Normalises and cuts a text, to be visited afterwards, as often as needed. Returns a bound
    /// of the number of its shingles.
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

    /// Hands over the hashes of the prepared text in blocks.
    pub(crate) fn visit(&self, scratch: &mut Scratch, mut sink: impl FnMut(&[u64])) {
        if scratch.sorted {
            return scratch.ranks.sorted().chunks(BLOCK).for_each(sink);
        }
        let mut ranks = std::mem::take(&mut scratch.ranks);
        ranks.clear();
        self.walk(scratch, self.multiset.then_some(&mut ranks), &mut sink);
        scratch.ranks = ranks;
    }

    /// Hands over the hashes of a cut text as they come, ranked if there are ranks.
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
        // The window starts at `start` and ends before the character at `end`.
        let (mut start, mut end) = (0, 0);
        for _ in 0..width {
            if end == length {
                // Shorter than a shingle, or just one.
                break;
            }
            end += char_bytes(text[end]);
        }
        let mut ascii_until = 0;
        loop {
            if start >= ascii_until && text[start].is_ascii() {
                ascii_until = start + ascii_prefix(&text[start..]);
            }
            // Setting out for a few windows costs more than it saves.
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

    /// Hashes `count` windows of `width` ASCII characters, each loaded as one or two words, which
    /// may read up to 8 bytes beyond. Must give the hashes of the general path.
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

// Plain loops: a closure would not be inlined into a function with more instructions than the
// iterator that calls it.

/// Hashes windows of up to 8 bytes, which must be followed by 8 more bytes.
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

/// The bytes of the character that starts with this byte, in valid UTF-8.
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

/// Gathers hashes into blocks, ranking repetitions where asked to.
struct Blocks<'a> {
    block: &'a mut [u64; BLOCK],
    /// How many of the block are hashes that wait.
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

    /// Makes up to a block of hashes in place and hands them over, after those that wait.
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
