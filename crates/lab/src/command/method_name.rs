//! The methods that `compare --method` names, and which options each reads.

use clap::ValueEnum;

/// By what two texts are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum MethodName {
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
    /// Signatures by hash functions of a --family
    Minhash,
    /// The smallest hashes of one function
    BottomK,
    /// Weighted sets, each shingle with its number of occurrences
    Weighted,
    /// The same, of which only the proportions count: exponential clocks
    PMinhash,
    /// Signs of sums of hash bits: the cosine, and of sets the similarity; no interval of fewer
    /// than 32 elements
    Simhash,
    /// All of these, one after the other
    All,
}

/// An option that only some methods read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MethodOption {
    Hashes,
    Runs,
    Sample,
    Family,
    Memory,
    Universe,
}

impl MethodOption {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Hashes => "--hashes",
            Self::Runs => "--runs",
            Self::Sample => "--sample",
            Self::Family => "--family",
            Self::Memory => "--memory",
            Self::Universe => "--universe",
        }
    }
}

impl MethodName {
    pub(super) fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// The names of the methods of which this holds, separated by commas.
    pub(super) fn names(holds: impl Fn(Self) -> bool) -> String {
        let methods = Self::value_variants().iter().copied().filter(|method| holds(*method));
        methods.map(Self::name).collect::<Vec<_>>().join(", ")
    }

    /// Whether it compares weighted sets.
    pub(super) const fn takes_weights(self) -> bool {
        matches!(self, Self::Exact | Self::Weighted | Self::PMinhash | Self::Simhash | Self::All)
    }

    /// The options that change what it does, of weighted sets or of texts.
    pub(super) const fn reads(self, weighted: bool) -> &'static [MethodOption] {
        use MethodOption::{Family, Hashes, Memory, Runs, Sample, Universe};
        match self {
            _ if weighted && !self.takes_weights() => &[],
            Self::Exact | Self::Multiset => &[],
            Self::File => &[Memory],
            Self::Sample => &[Sample, Runs],
            Self::Rum => &[Hashes, Sample, Runs],
            Self::Minhash => &[Hashes, Family, Runs],
            Self::Ru | Self::BottomK | Self::Weighted | Self::PMinhash | Self::Simhash => {
                &[Hashes, Runs]
            }
            Self::All if weighted => &[Hashes, Runs],
            Self::All => &[Hashes, Sample, Family, Runs, Memory, Universe],
        }
    }
}
