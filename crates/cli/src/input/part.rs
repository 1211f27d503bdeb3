//! The bytes of a record, which can be kept without a copy while the block they came in is there.

use bytes::Bytes;
use std::ops::{Deref, Range};

/// Some bytes of a block.
#[derive(Clone, Copy, Debug)]
pub struct Part<'b> {
    bytes: &'b [u8],
    /// What they are a part of; `None` if they are not shared.
    block: Option<&'b Bytes>,
}

impl<'b> Part<'b> {
    /// The bytes at a place of a block.
    pub(super) fn of(block: &'b Bytes, place: Range<usize>) -> Self {
        Self { bytes: &block[place], block: Some(block) }
    }

    /// The bytes, which keep the memory of the block if they are shared with it.
    pub fn kept(self) -> Bytes {
        match self.block {
            Some(block) => block.slice_ref(self.bytes),
            None => Bytes::copy_from_slice(self.bytes),
        }
    }
}

impl<'b> From<&'b [u8]> for Part<'b> {
    fn from(bytes: &'b [u8]) -> Self {
        Self { bytes, block: None }
    }
}

impl Deref for Part<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_bytes_are_those_of_the_block_and_outlive_it() {
        let block = Bytes::from(b"one line\nanother".to_vec());
        let place = block[4..].as_ptr();
        let kept = Part::of(&block, 4..9).kept();
        drop(block);
        assert_eq!((&kept[..], kept.as_ptr()), (&b"line\n"[..], place));
        assert_eq!(Part::from(&b"x"[..]).kept(), "x");
    }
}
