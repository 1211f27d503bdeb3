//! The arithmetic of datasketch's MinHash: SHA-1 of each value, permutations, minima.
//!
//! `values` takes values from Python and pads them for SHA-1, `permute` has the three schemes of
//! permutations, `minima` brings both together, on several threads if `threads` allows it,
//! `optimal` chooses bands and rows, and `functions` is what Python calls.

mod functions;
mod minima;
mod optimal;
mod permute;
mod threads;
mod values;

pub(crate) use functions::register;
