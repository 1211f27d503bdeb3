//! The arithmetic of datasketch's MinHash: SHA-1 of each value, permutations, minima.
//!
//! `values` takes values from Python and hashes them, `permute` has the three schemes of
//! permutations, and `minima` brings both together; `threads` shares out much of it.
//! `optimal` chooses bands and rows, and `functions` is what Python calls.

mod functions;
mod minima;
mod optimal;
mod permute;
mod threads;
mod values;

pub(crate) use functions::register;
