//! K-mers: the words of k letters of a DNA sequence. A word and its reverse complement are the same
//! k-mer.

use super::kind::Shingle;
use crate::hash::ShingleHasher;
use multiversion::multiversion;

/// The code of a byte that is no letter of the alphabet. No k-mer holds it.
const BREAK: u8 = 4;

/// The code of a space, tab or form feed, which is skipped. No other code has this bit, so the
/// bitwise or of a line's codes shows whether any has to be skipped.
const SKIP: u8 = 8;

/// The code of each byte. The codes of a letter and its complement add up to 3.
const CODES: [u8; 256] = {
    let mut codes = [BREAK; 256];
    let letters = [(b'A', 0), (b'C', 1), (b'G', 2), (b'T', 3), (b'U', 3)];
    let mut at = 0;
    while at < letters.len() {
        let (letter, code) = letters[at];
        codes[letter as usize] = code;
        codes[letter.to_ascii_lowercase() as usize] = code;
        at += 1;
    }
    let white = *b"\t\x0C ";
    at = 0;
    while at < white.len() {
        codes[white[at] as usize] = SKIP;
        at += 1;
    }
    codes
};

/// Reads a text as FASTA or as a bare sequence. Writes the codes of its letters to `out`, with a
/// break for each record and for each byte that is neither a letter nor a space, tab or form feed.
pub(super) fn letters(text: &str, out: &mut Vec<u8>) {
    out.clear();
    out.reserve(text.len());
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    // The standard library searches for a single character by machine words, but for one of two
    // characters byte by byte.
    for line in text.split('\n').flat_map(|line| line.split('\r')) {
        letters_of_line(line.as_bytes(), out);
    }
}

fn letters_of_line(line: &[u8], out: &mut Vec<u8>) {
    match line.first() {
        Some(b'>') => out.push(BREAK),
        Some(b';') | None => {}
        Some(_) => letters_of_sequence(line, out),
    }
}

fn letters_of_sequence(line: &[u8], out: &mut Vec<u8>) {
    let (start, mut all) = (out.len(), 0);
    out.extend(line.iter().map(|byte| {
        let code = CODES[usize::from(*byte)];
        all |= code;
        code
    }));
    if all & SKIP != 0 {
        drop_skipped(out, start);
    }
}

/// Reads the letters of a text that arrives in chunks.
#[derive(Default)]
pub(super) struct Letters {
    begun: bool,
    /// The state of the line in which the last chunk ended.
    line: Line,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Line {
    /// The line has no byte yet.
    #[default]
    New,
    /// The line is a header or a comment.
    Skipped,
    Sequence,
}

impl Letters {
    /// Appends the letters of the next chunk. A chunk may end anywhere between two characters.
    pub(super) fn take(&mut self, chunk: &str, out: &mut Vec<u8>) {
        let without_mark = if self.begun { None } else { chunk.strip_prefix('\u{FEFF}') };
        self.begun |= !chunk.is_empty();
        for (number, line) in without_mark.unwrap_or(chunk).split(['\n', '\r']).enumerate() {
            let line = line.as_bytes();
            let before = if number == 0 { self.line } else { Line::New };
            self.line = match (before, line.first()) {
                (before, None) => before,
                (Line::New, Some(b'>' | b';')) | (Line::Skipped, _) => Line::Skipped,
                _ => Line::Sequence,
            };
            match before {
                Line::New => letters_of_line(line, out),
                Line::Skipped => {}
                Line::Sequence => letters_of_sequence(line, out),
            }
        }
    }
}

fn drop_skipped(codes: &mut Vec<u8>, start: usize) {
    let mut kept = start;
    for at in start..codes.len() {
        codes[kept] = codes[at];
        kept += usize::from(codes[at] != SKIP);
    }
    codes.truncate(kept);
}

/// The runs of letters that are long enough to hold a k-mer.
pub(super) fn runs(codes: &[u8], width: usize) -> impl Iterator<Item = &[u8]> {
    codes.split(|code| *code == BREAK).filter(move |run| run.len() >= width)
}

/// The last k letters of a run and their reverse complement, with two bits a letter.
pub(super) struct Window {
    forward: u64,
    reverse: u64,
    mask: u64,
    /// The bit position of the first letter.
    first: u32,
}

impl Window {
    /// An empty window for `width` letters, from 1 to 32.
    pub(super) const fn new(width: u32) -> Self {
        let first = 2 * (width - 1);
        Self { forward: 0, reverse: 0, mask: u64::MAX >> (62 - first), first }
    }

    /// Moves on by a letter and returns the code of the k-mer: the smaller of the two strands'
    /// codes.
    #[inline(always)]
    pub(super) fn push(&mut self, letter: u8) -> u64 {
        let letter = u64::from(letter);
        self.forward = (self.forward << 2 | letter) & self.mask;
        self.reverse = self.reverse >> 2 | (3 - letter) << self.first;
        self.forward.min(self.reverse)
    }
}

/// Hashes the k-mer that ends with each of these letters.
#[multiversion(targets("x86_64+avx2+bmi1+bmi2"))]
pub(super) fn hash(hasher: &ShingleHasher, window: &mut Window, letters: &[u8], out: &mut [u64]) {
    for (hash, letter) in out.iter_mut().zip(letters) {
        *hash = window.push(*letter);
    }
    // A loop of its own can be vectorised. In the loop above, each step depends on the last.
    for hash in out {
        *hash = hasher.short(*hash, 8);
    }
}

const _: () = assert!(Shingle::MAX_KMER == 32, "a code has 64 bits");

#[cfg(test)]
#[path = "kmer_tests.rs"]
mod tests;
