//! The hash functions on which stored bytes depend: of shingles, ids and texts, and checksums.
//!
//! All of them are part of the file format (`docs/format.md`, section "Hashes"), and golden vectors
//! pin them. Nothing here depends on the platform.

mod distinct;
mod mixing;
mod text_hash;

pub(crate) use distinct::distinct;
pub use mixing::{GOLDEN, ShingleHasher, SplitMix, fmix64, xxh3};
pub(crate) use mixing::{ID_BITS, checksum, id_hash, random_key};
pub use text_hash::TextHash;
pub(crate) use text_hash::TextKey;
