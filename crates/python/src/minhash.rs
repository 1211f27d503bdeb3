//! The arithmetic of datasketch's MinHash: SHA-1 of each value, permutations, minima.
//!
//! `values` takes values from Python and hashes them, `permute` has the three schemes of
//! permutations, and `minima` brings both together, on several threads if there are many values.
//! `optimal` chooses bands and rows, and `functions` is what Python calls.

mod functions;
mod minima;
mod optimal;
mod permute;
mod values;

pub(crate) use functions::register;
