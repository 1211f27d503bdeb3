//! Fingerprints one by one, and the places of those of a query by their hash.

use crate::index::ask::cache::Cached;
use crate::sketch::{Fingerprints, PrintRun};

/// The fingerprints of a document, one by one.
pub(crate) struct Prints {
    /// The place and the hash of each, in order; of a run only the first, if they are too many.
    all: Vec<(u32, u32)>,
    shingles: u64,
    /// Their number, however they are kept.
    count: u64,
    /// Whether they repeat themselves so much that they are not kept one by one.
    is_repetitive: bool,
}

impl Prints {
    pub(crate) fn new(fingerprints: &Fingerprints) -> Self {
        /// The most fingerprints that are kept one by one: the first number, and the second for
        /// each one that is stored without repetition.
        const REPEATED: u64 = 1 << 16;
        const REPEATED_EACH: u64 = 16;
        let (mut stored, mut count, mut last) = (0_u64, 0_u64, 0_u64);
        for run in fingerprints.runs() {
            stored += 1;
            count = count.saturating_add(run.count);
            last = run.first.saturating_add(run.gap.saturating_mul(run.count - 1));
        }
        let is_repetitive = count > REPEATED + REPEATED_EACH * stored || last > u32::MAX.into();
        let mut all = Vec::with_capacity(if is_repetitive { stored } else { count } as usize);
        for PrintRun { first, gap, count, hash } in fingerprints.runs() {
            let count = if is_repetitive { 1 } else { count };
            all.extend((0..count).map(|n| ((first + n * gap) as u32, hash)));
        }
        Self { all, shingles: fingerprints.shingles(), count, is_repetitive }
    }

    /// The place and the hash of each, in order; of repetitive ones only some.
    pub(super) fn all(&self) -> &[(u32, u32)] {
        &self.all
    }

    /// The number of shingles of the text.
    pub(super) fn shingles(&self) -> u64 {
        self.shingles
    }

    /// Their number.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Whether only the first fingerprint of a run is kept.
    pub(super) fn is_repetitive(&self) -> bool {
        self.is_repetitive
    }
}

impl Cached for Prints {
    fn bytes(&self) -> usize {
        size_of_val(&self.all[..])
    }
}

/// The fingerprints of a query by their hash.
pub(super) struct PrintPlaces {
    /// By hash, then by place.
    runs: Vec<PrintRun>,
    /// A bit for each hash, by its lower bits: most hashes of other texts have none.
    bits: Vec<u64>,
}

impl PrintPlaces {
    pub(super) fn new(fingerprints: &Fingerprints) -> Self {
        /// The bits for each hash.
        const BITS_EACH: usize = 16;
        let mut runs: Vec<PrintRun> = fingerprints.runs().collect();
        runs.sort_unstable_by_key(|run| (run.hash, run.first));
        let bits = (runs.len() * BITS_EACH).next_power_of_two().max(64);
        let mut places = Self { runs, bits: vec![0; bits / 64] };
        for run in &places.runs {
            let bit = run.hash as usize & (bits - 1);
            if let Some(word) = places.bits.get_mut(bit / 64) {
                *word |= 1 << (bit % 64);
            }
        }
        places
    }

    /// The runs with a hash.
    pub(super) fn of(&self, hash: u32) -> &[PrintRun] {
        let bit = hash as usize & (self.bits.len() * 64 - 1);
        if self.bits.get(bit / 64).is_none_or(|word| word >> (bit % 64) & 1 == 0) {
            return &[];
        }
        let first = self.runs.partition_point(|run| run.hash < hash);
        let rest = self.runs.get(first..).unwrap_or_default();
        let count = rest.iter().take_while(|run| run.hash == hash).count();
        rest.get(..count).unwrap_or_default()
    }

    /// The runs of each hash.
    pub(super) fn each(&self) -> impl Iterator<Item = &[PrintRun]> {
        self.runs.chunk_by(|one, other| one.hash == other.hash)
    }
}
