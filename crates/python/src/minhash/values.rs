//! Values on their way from Python to their hashes.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyByteArray, PyBytes};
use sha1::block_api::compress;
use std::ops::Range;

/// The blocks that a batch holds before it is hashed: 1 MiB, which stays in the cache.
const MOST_BLOCKS: usize = 16_384;

/// Values of more bytes than this are hashed where they lie instead of being copied: hashing takes
/// far longer than releasing and taking Python's lock.
const LONGEST_COPY: usize = 32_768;

/// SHA-1's state before the first block (FIPS 180-4, section 5.3.1).
const START: [u32; 5] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];

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

/// Values that were taken from Python. Those that wait for their hash lie as padded blocks in one
/// piece of memory, which needs Python's lock no more.
pub(super) struct Batch {
    width: Width,
    blocks: Vec<[u8; 64]>,
    /// Where the blocks of each waiting value end.
    ends: Vec<usize>,
    hashed: Vec<u64>,
}

impl Batch {
    pub(super) fn new(width: Width) -> Self {
        Self { width, blocks: Vec::new(), ends: Vec::new(), hashed: Vec::new() }
    }

    /// Takes a value, or fails as `hashlib.sha1` does.
    #[inline]
    pub(super) fn push(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        match value.cast_exact::<PyBytes>() {
            Ok(bytes) if bytes.as_bytes().len() <= LONGEST_COPY => self.pad(bytes.as_bytes()),
            Ok(bytes) => self.hash_now(bytes),
            Err(_) => self.push_any(value)?,
        }
        Ok(())
    }

    #[inline]
    fn pad(&mut self, value: &[u8]) {
        let (whole, rest) = value.as_chunks::<64>();
        self.blocks.extend_from_slice(whole);
        let mut block = [0; 64];
        let bits = (value.len() as u64).wrapping_mul(8).to_be_bytes();
        if let Some((start, end)) = block.split_at_mut_checked(rest.len()) {
            start.copy_from_slice(rest);
            end.iter_mut().take(1).for_each(|byte| *byte = 0x80);
        }
        if rest.len() > 55 {
            self.blocks.push(block);
            block = [0; 64];
        }
        block[56..].copy_from_slice(&bits);
        self.blocks.push(block);
        self.ends.push(self.blocks.len());
    }

    #[cold]
    fn hash_now(&mut self, value: &Bound<'_, PyBytes>) {
        let (width, bytes) = (self.width, value.as_bytes());
        let hash = value.py().detach(|| {
            let (whole, rest) = bytes.as_chunks::<64>();
            let mut state = START;
            compress(&mut state, whole);
            let mut last = Self::new(width);
            last.pad(rest);
            // The padding tells the length of the whole value.
            if let Some(block) = last.blocks.last_mut() {
                block[56..].copy_from_slice(&(bytes.len() as u64).wrapping_mul(8).to_be_bytes());
            }
            compress(&mut state, &last.blocks);
            width.of_state(state)
        });
        self.hashed.push(hash);
    }

    /// Takes a value that is not `bytes`: anything else that `hashlib.sha1` takes, or its error.
    #[cold]
    fn push_any(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        static SHA1: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        if let Ok(bytes) = value.cast_exact::<PyByteArray>()
            && bytes.len() <= LONGEST_COPY
        {
            self.pad(&bytes.to_vec());
            return Ok(());
        }
        let digest = SHA1.import(value.py(), "hashlib", "sha1")?.call1((value,))?;
        let digest = digest.call_method0("digest")?;
        self.hashed.extend(self.width.of_digest(digest.extract()?));
        Ok(())
    }

    pub(super) fn is_full(&self) -> bool {
        self.blocks.len() >= MOST_BLOCKS || self.hashed.len() >= MOST_BLOCKS
    }

    pub(super) fn clear(&mut self) {
        self.blocks.clear();
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
            let mut state = START;
            compress(&mut state, self.blocks.get(begin..end).unwrap_or_default());
            begin = end;
            self.width.of_state(state)
        });
        let hashed = self.hashed.get(part.hashed.clone()).unwrap_or_default();
        waiting.chain(hashed.iter().copied())
    }
}
