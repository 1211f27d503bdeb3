//! Values on their way from Python to their hashes.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyByteArray, PyBytes};
use sha1::block_api::compress;
use std::ops::Range;

/// The values that a batch takes before they are hashed, and their bytes.
const MOST_VALUES: usize = 16_384;
const MOST_BYTES: usize = 1 << 20;

/// Values of more bytes than this are hashed where they lie instead of being copied: hashing takes
/// far longer than releasing and taking Python's lock.
const LONGEST_COPY: usize = 32_768;

/// SHA-1's state before the first block (FIPS 180-4, section 5.3.1).
const START: [u32; 5] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];

/// The bytes of the longest value that fits into one block, with a byte of padding and 8 of length.
const LONGEST_IN_BLOCK: usize = 55;

/// For each length of a value that fits into one block: which bits of the block are the value's,
/// and the padding, which is a bit, zeros, and the length in bits (FIPS 180-4, section 5.1.1).
static PADDING: [([u8; 64], [u8; 64]); LONGEST_IN_BLOCK + 1] = {
    let mut padding = [([0; 64], [0; 64]); LONGEST_IN_BLOCK + 1];
    let mut length = 0;
    while length <= LONGEST_IN_BLOCK {
        let (mask, rest) = &mut padding[length];
        let mut i = 0;
        while i < length {
            mask[i] = 0xff;
            i += 1;
        }
        rest[length] = 0x80;
        [rest[62], rest[63]] = (8 * length as u16).to_be_bytes();
        length += 1;
    }
    padding
};

/// How many of the first bits of a SHA-1 are the hash, read as little-endian.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Width {
    Bits32,
    Bits64,
}

impl Width {
    fn of_state(self, [first, second, ..]: [u32; 5]) -> u64 {
        let low = u64::from(first.swap_bytes());
        match self {
            Self::Bits32 => low,
            Self::Bits64 => low | u64::from(second.swap_bytes()) << 32,
        }
    }

    fn of_digest(self, digest: &[u8]) -> Option<u64> {
        match self {
            Self::Bits32 => Some(u32::from_le_bytes(*digest.first_chunk()?).into()),
            Self::Bits64 => Some(u64::from_le_bytes(*digest.first_chunk()?)),
        }
    }
}

/// A range of the values of a batch: of those that wait for their hash, and of those that have it.
#[derive(Clone)]
pub(super) struct Part {
    pub(super) waiting: Range<usize>,
    pub(super) hashed: Range<usize>,
}

/// Values that were taken from Python. Those that wait for their hash lie one after the other in
/// one piece of memory, which needs Python's lock no more.
pub(super) struct Batch {
    width: Width,
    bytes: Vec<u8>,
    /// Where each waiting value ends.
    ends: Vec<usize>,
    hashed: Vec<u64>,
}

impl Batch {
    pub(super) fn new(width: Width) -> Self {
        Self { width, bytes: Vec::new(), ends: Vec::new(), hashed: Vec::new() }
    }

    /// Takes a value, or fails as `hashlib.sha1` does.
    #[inline]
    pub(super) fn push(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let Ok(value) = value.cast_exact::<PyBytes>() else { return self.push_any(value) };
        let bytes = value.as_bytes();
        if bytes.len() <= LONGEST_COPY {
            self.copy(bytes);
        } else {
            let width = self.width;
            self.hashed.push(value.py().detach(|| width.of_state(sha1(bytes))));
        }
        Ok(())
    }

    #[inline]
    fn copy(&mut self, value: &[u8]) {
        self.bytes.extend_from_slice(value);
        self.ends.push(self.bytes.len());
    }

    /// Takes a value that is not `bytes`: anything else that `hashlib.sha1` takes, or its error.
    #[cold]
    fn push_any(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        static SHA1: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        if let Ok(bytes) = value.cast_exact::<PyByteArray>()
            && bytes.len() <= LONGEST_COPY
        {
            self.copy(&bytes.to_vec());
            return Ok(());
        }
        let digest = SHA1.import(value.py(), "hashlib", "sha1")?.call1((value,))?;
        let digest = digest.call_method0("digest")?;
        self.hashed.extend(self.width.of_digest(digest.extract()?));
        Ok(())
    }

    pub(super) fn is_full(&self) -> bool {
        self.ends.len() >= MOST_VALUES
            || self.bytes.len() >= MOST_BYTES
            || self.hashed.len() >= MOST_VALUES
    }

    /// About how many blocks of SHA-1 there are: how much work it is.
    pub(super) fn blocks(&self) -> usize {
        self.bytes.len() / 64 + self.ends.len() + self.hashed.len()
    }

    /// Takes everything out. What is left is empty.
    pub(super) fn take(&mut self) -> Self {
        std::mem::replace(self, Self::new(self.width))
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        self.hashed.clear();
    }

    /// What was taken since the part before, which ended where this begins.
    pub(super) fn part_after(&self, waiting: usize, hashed: usize) -> Part {
        Part { waiting: waiting..self.ends.len(), hashed: hashed..self.hashed.len() }
    }

    pub(super) fn whole(&self) -> Part {
        self.part_after(0, 0)
    }

    /// Gives the hashes of a part, one after the other.
    pub(super) fn hashes(&self, part: &Part) -> impl Iterator<Item = u64> {
        let first = part.waiting.start.checked_sub(1);
        let mut begin = first.and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        let ends = self.ends.get(part.waiting.clone()).unwrap_or_default();
        let waiting = ends.iter().map(move |&end| {
            let rest = self.bytes.get(begin..).unwrap_or_default();
            let length = end - begin;
            begin = end;
            let short = rest.first_chunk().and_then(|window| sha1_of_start(window, length));
            let long = || sha1(rest.get(..length).unwrap_or_default());
            self.width.of_state(short.unwrap_or_else(long))
        });
        let hashed = self.hashed.get(part.hashed.clone()).unwrap_or_default();
        waiting.chain(hashed.iter().copied())
    }
}

/// The SHA-1 of the first bytes of a window, if they fit into one block.
#[inline]
fn sha1_of_start(window: &[u8; 64], length: usize) -> Option<[u32; 5]> {
    let (mask, rest) = PADDING.get(length)?;
    let mut block = [0; 64];
    // Whole vectors and no branch: a copy of `length` bytes would stall their loading.
    for i in 0..64 {
        block[i] = window[i] & mask[i] | rest[i];
    }
    let mut state = START;
    compress(&mut state, &[block]);
    Some(state)
}

/// The SHA-1 of a value (FIPS 180-4, section 5.1.1).
fn sha1(value: &[u8]) -> [u32; 5] {
    let mut state = START;
    let (whole, rest) = value.as_chunks();
    compress(&mut state, whole);
    let mut last = [[0; 64]; 2];
    for (to, &from) in last.as_flattened_mut().iter_mut().zip(rest.iter().chain(&[0x80])) {
        *to = from;
    }
    let blocks = if rest.len() <= LONGEST_IN_BLOCK { 1 } else { 2 };
    last[blocks - 1][56..].copy_from_slice(&(8 * value.len() as u64).to_be_bytes());
    compress(&mut state, &last[..blocks]);
    state
}
