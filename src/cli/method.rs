//! The methods that `compare --method` names.

use clap::ValueEnum;

/// By what two texts are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Method {
    /// Both sets of shingles, in memory
    Exact,
    /// The same, each shingle as often as it occurs
    Multiset,
    /// Sets and multisets, exactly, of texts larger than memory
    File,
    /// Random samples of the shingles
    Sample,
    /// Minima over the rows of a matrix of both sets
    Ru,
    /// The same over stacked rows
    Rum,
    /// Signatures of several families of hash functions
    Minhash,
    /// The smallest hashes of one function
    BottomK,
    /// Weighted sets, each shingle with its number of occurrences
    Weighted,
    /// The same, of which only the proportions count: exponential clocks
    PMinhash,
    /// Signs of sums of hash bits: the cosine, and of sets the similarity; no interval of fewer than
    /// 32 elements
    Simhash,
    /// All of these, one after the other
    All,
}
