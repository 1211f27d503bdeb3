//! The values of `compare --method`, and the options that each method reads.

use clap::ValueEnum;

/// A value of `--method`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum MethodName {
    /// Exact comparison of sets, in memory
    Exact,
    /// Exact comparison of multisets, in memory
    Multiset,
    /// Exact comparison of texts larger than memory
    File,
    /// Random samples of the shingles
    Sample,
    /// RU: affine maps of the rows of both sets
    Ru,
    /// RUM: affine maps of stacked rows
    Rum,
    /// MinHash signatures by the functions of --family
    Minhash,
    /// The smallest hashes of one function
    BottomK,
    /// Weighted MinHash, with the number of occurrences as weight
    Weighted,
    /// P-MinHash, for which only the proportions of weights count
    PMinhash,
    /// SimHash, which estimates the cosine, and for sets the Jaccard similarity
    Simhash,
    /// All methods, one after the other
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

    /// The names of the methods that satisfy `holds`, separated by commas.
    pub(super) fn names(holds: impl Fn(Self) -> bool) -> String {
        let methods = Self::value_variants().iter().copied().filter(|method| holds(*method));
        methods.map(Self::name).collect::<Vec<_>>().join(", ")
    }

    /// Whether the method compares weighted sets.
    pub(super) const fn takes_weights(self) -> bool {
        matches!(self, Self::Exact | Self::Weighted | Self::PMinhash | Self::Simhash | Self::All)
    }

    /// The options that the method reads, for weighted sets or for texts.
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
