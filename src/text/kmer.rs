//! K-mers: the words of k letters of a DNA sequence, each counted as one with its reverse complement.

use super::shingle::Shingle;
use crate::hash::ShingleHasher;
use multiversion::multiversion;

/// What is no letter of the alphabet: no k-mer reaches over it.
const BREAK: u8 = 4;

/// Spaces, tabs and form feeds, which are nothing. Its bit is that of no other code, so that those of a line tell
/// together whether there is any.
const NOTHING: u8 = 8;

/// The codes of bytes. A letter and its complement add up to 3.
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
        codes[white[at] as usize] = NOTHING;
        at += 1;
    }
    codes
};

/// Reads a text as FASTA, or as a bare sequence: puts its letters, as codes, into `out`, with a break
/// for each record and for each byte that is neither a letter nor a space, tab or form feed.
pub(super) fn letters(text: &str, out: &mut Vec<u8>) {
    out.clear();
    out.reserve(text.len());
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    // One character at a time is searched for by words, two at once byte by byte.
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
    if all & NOTHING != 0 {
        drop_white_space(out, start);
    }
}

/// The letters of a text that comes in parts.
#[derive(Default)]
pub(super) struct Letters {
    begun: bool,
    /// The line that the last part ends in.
    line: Line,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Line {
    /// Nothing of it has come.
    #[default]
    New,
    /// It is a header or a comment.
    Skipped,
    Sequence,
}

impl Letters {
    /// Appends the letters of the next part, which may end anywhere, but not within its first character.
    pub(super) fn take(&mut self, part: &str, out: &mut Vec<u8>) {
        let mark = if self.begun { None } else { part.strip_prefix('\u{FEFF}') };
        self.begun |= !part.is_empty();
        for (number, line) in mark.unwrap_or(part).split(['\n', '\r']).enumerate() {
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

fn drop_white_space(codes: &mut Vec<u8>, start: usize) {
    let mut kept = start;
    for at in start..codes.len() {
        codes[kept] = codes[at];
        kept += usize::from(codes[at] != NOTHING);
    }
    codes.truncate(kept);
}

/// The stretches of letters that have a k-mer.
pub(super) fn runs(codes: &[u8], width: usize) -> impl Iterator<Item = &[u8]> {
    codes.split(|code| *code == BREAK).filter(move |run| run.len() >= width)
}

/// The last k letters of a run and their reverse complement, two bits a letter.
pub(super) struct Window {
    forward: u64,
    reverse: u64,
    mask: u64,
    /// The place of the first letter.
    first: u32,
}

impl Window {
    /// A window of `width` letters, from 1 to 32, before any letter.
    pub(super) const fn new(width: u32) -> Self {
        let first = 2 * (width - 1);
        Self { forward: 0, reverse: 0, mask: u64::MAX >> (62 - first), first }
    }

    /// Moves on by a letter; returns the k-mer's code: the lesser of both strands.
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
    // Apart from the loop above, in which each step waits for the one before.
    for hash in out {
        *hash = hasher.short(*hash, 8);
    }
}

const _: () = assert!(Shingle::MAX_KMER == 32, "a code has 64 bits");

#[cfg(test)]
#[path = "kmer_tests.rs"]
mod tests;
