//! Texts that the library returns.

use std::ffi::c_char;

/// A length that means: up to the first NUL.
pub const TWINDEX_NUL: usize = usize::MAX;

/// A text that the library returns: UTF-8, and a NUL after its last byte. Paths are the bytes that
/// the operating system knows.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct View {
    /// The bytes. Never null.
    pub data: *const c_char,
    /// The number of bytes before the NUL at the end. A text may hold other NULs.
    pub length: usize,
}

impl View {
    pub(crate) const EMPTY: View = View { data: c"".as_ptr(), length: 0 };

    /// A view of bytes whose last one is the NUL at the end.
    pub(crate) fn of_terminated(bytes: &[u8]) -> Self {
        match bytes.split_last() {
            Some((0, text)) => Self { data: bytes.as_ptr().cast(), length: text.len() },
            _ => Self::EMPTY,
        }
    }
}

/// Puts the NUL at the end.
pub(crate) fn nul_terminated(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.push(0);
    bytes
}
