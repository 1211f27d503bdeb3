//! What fingerprints alone tell of the passages that a query and a document share.

use crate::estimate::covered;
use crate::sketch::{Fingerprints, PrintRun, Winnower};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// The grams of a query: all of them by their place, and the places of its fingerprints.
pub(super) struct QueryGrams {
    /// The hash of the gram that begins at each unit.
    grams: Vec<u32>,
    /// The fingerprints of each hash.
    places: FxHashMap<u32, Vec<PrintRun>>,
    gram: usize,
    units: usize,
    winnower: Winnower,
}

/// Grams that a query and a document have in common, at one distance from each other.
#[derive(Clone, Debug)]
pub(crate) struct Chain {
    /// Their places in the query, ascending.
    grams: Vec<usize>,
    /// The place in the document, less the place in the query.
    shift: isize,
    /// The units of the query that a shared passage around them can have at most: the next
    /// fingerprints of the document on both sides differ from the query.
    within: Range<usize>,
}

/// What the fingerprints of a document tell.
#[derive(Clone, Debug)]
pub(crate) enum Outline {
    /// The common grams that may lie in a shared passage.
    Chains(Vec<Chain>),
    /// Both texts repeat the same grams so often that they are not looked at one by one.
    Crowded {
        /// The number of units of the query.
        units: usize,
    },
}

impl QueryGrams {
    pub(super) fn new(
        winnower: &Winnower,
        shingles: &[u64],
        fingerprints: &Fingerprints,
        units: usize,
    ) -> Self {
        let mut places: FxHashMap<u32, Vec<PrintRun>> = FxHashMap::default();
        for run in fingerprints.runs() {
            places.entry(run.hash).or_default().push(run);
        }
        Self {
            grams: winnower.grams(shingles),
            places,
            gram: winnower.winnowing.gram(),
            units,
            winnower: winnower.clone(),
        }
    }

    /// The number of units in a gram.
    pub(super) fn gram(&self) -> usize {
        self.gram
    }

    /// Compares the fingerprints of a document with the query. `None` if no passage of `least`
    /// units can be shared.
    pub(super) fn outline(&self, fingerprints: &Fingerprints, least: usize) -> Option<Outline> {
        /// The pairs of equal fingerprints from which on a suffix array is cheaper, or so many for
        /// each fingerprint of both texts.
        const CROWDED: u64 = 1 << 12;
        const CROWDED_EACH: u64 = 8;
        /// The fingerprints of a document that are looked at one by one: so many, and so many times
        /// as many as were stored without repetition.
        const REPEATED: u64 = 1 << 16;
        const REPEATED_EACH: u64 = 16;
        let (mut pairs, mut all) = (0_u64, self.grams.len() as u64 / self.gram as u64);
        let (mut stored, mut repeated) = (0_u64, 0_u64);
        for run in fingerprints.runs() {
            stored += 1;
            repeated = repeated.saturating_add(run.count);
            all = all.saturating_add(run.count);
            let of_query = self.places.get(&run.hash).into_iter().flatten();
            let times: u64 = of_query.map(|run| run.count).sum();
            pairs = pairs.saturating_add(times.saturating_mul(run.count));
        }
        if pairs == 0 {
            return None;
        }
        let is_repetitive = repeated > REPEATED + REPEATED_EACH * stored;
        if is_repetitive || pairs > CROWDED.max(CROWDED_EACH.saturating_mul(all)) {
            return Some(Outline::Crowded { units: self.units });
        }
        let prints = Prints::new(fingerprints, self.winnower.units(fingerprints.shingles()));
        let mut chains = Vec::new();
        // Up to which fingerprint of the document each distance was looked at.
        let mut seen: FxHashMap<isize, usize> = FxHashMap::default();
        for (at, (place, hash)) in prints.all.iter().enumerate() {
            for run in self.places.get(hash).into_iter().flatten() {
                for of_query in (0..run.count).map(|n| (run.first + n * run.gap) as usize) {
                    let shift = *place as isize - of_query as isize;
                    if seen.get(&shift).is_some_and(|seen| at <= *seen) {
                        continue;
                    }
                    let (chain, last) = self.chain(&prints, at, shift);
                    seen.insert(shift, last);
                    if chain.within.len() >= least {
                        chains.push(chain);
                    }
                }
            }
        }
        (!chains.is_empty()).then_some(Outline::Chains(chains))
    }

    /// The pairs of places at which a text has the same fingerprint; `None` if they are too many.
    /// `fingerprints` are those of the query itself.
    pub(super) fn pairs_within(&self, fingerprints: &Fingerprints) -> Option<Vec<(usize, usize)>> {
        const CROWDED: u64 = 1 << 12;
        let times = |runs: &Vec<PrintRun>| runs.iter().map(|run| run.count).sum::<u64>();
        let pairs: u64 =
            self.places.values().map(|runs| times(runs).saturating_mul(times(runs))).sum();
        let all: u64 = fingerprints.runs().map(|run| run.count).sum();
        if pairs > CROWDED.max(all.saturating_mul(8)) {
            return None;
        }
        let each = |run: &PrintRun| {
            let PrintRun { first, gap, count, .. } = *run;
            (0..count).map(move |n| (first + n * gap) as usize)
        };
        let mut seeds = Vec::new();
        for runs in self.places.values() {
            let places: Vec<usize> = runs.iter().flat_map(each).collect();
            for (at, place) in places.iter().enumerate() {
                seeds.extend(places[..at].iter().map(|before| (*before, *place)));
            }
        }
        Some(seeds)
    }

    /// Whether the query has the gram of a fingerprint at a distance.
    fn has(&self, (place, hash): (usize, u32), shift: isize) -> bool {
        let place = usize::try_from(place as isize - shift).ok();
        place.and_then(|place| self.grams.get(place)) == Some(&hash)
    }

    /// The neighbouring fingerprints of a document that the query has at a distance, and the last
    /// of them.
    fn chain(&self, prints: &Prints, at: usize, shift: isize) -> (Chain, usize) {
        let has = |print: &&(usize, u32)| self.has(**print, shift);
        let before = prints.all[..at].iter().rev().take_while(has).count();
        let after = prints.all[at..].iter().take_while(has).count().max(1);
        let (first, last) = (at - before, at + after - 1);
        // A passage cannot contain all of a gram that differs.
        let start = first.checked_sub(1).map_or(0, |differs| prints.all[differs].0 + 1);
        let end = prints.all.get(last + 1);
        let end = end.map_or(prints.units, |(differs, _)| differs + self.gram - 1);
        let in_query = |place: usize| (place as isize - shift).max(0) as usize;
        let grams = prints.all[first..=last].iter().map(|(place, _)| in_query(*place)).collect();
        let within = in_query(start)..in_query(end).min(self.units);
        (Chain { grams, shift, within }, last)
    }
}

/// The fingerprints of a document, one by one.
struct Prints {
    all: Vec<(usize, u32)>,
    units: usize,
}

impl Prints {
    fn new(fingerprints: &Fingerprints, units: u64) -> Self {
        let each = |run: PrintRun| {
            (0..run.count).map(move |n| ((run.first + n * run.gap) as usize, run.hash))
        };
        Self { all: fingerprints.runs().flat_map(each).collect(), units: units as usize }
    }
}

impl Chain {
    /// The most units that common grams cover in a row.
    fn longest(&self, gram: usize) -> usize {
        let (mut longest, mut start, mut end) = (0, 0, 0);
        for &place in &self.grams {
            if place > end || longest == 0 {
                start = place;
            }
            end = place + gram;
            longest = longest.max(end - start);
        }
        longest
    }
}

impl Outline {
    /// The places of common grams in both texts; `None` if they are too many.
    pub(super) fn seeds(&self) -> Option<Vec<(usize, usize)>> {
        let Self::Chains(chains) = self else { return None };
        let seeds = |chain: &Chain| {
            let shift = chain.shift;
            let seed = move |place: &usize| (*place, (*place as isize + shift) as usize);
            chain.grams.iter().map(seed).collect::<Vec<_>>()
        };
        Some(chains.iter().flat_map(seeds).collect())
    }

    /// The number of units of the query that are shared: at least, and at most.
    pub(super) fn covered(&self, gram: usize) -> (usize, usize) {
        match self {
            Self::Crowded { units } => (gram.min(*units), *units),
            Self::Chains(chains) => {
                let grams = chains.iter().flat_map(|chain| &chain.grams);
                let grams = grams.map(|place| *place..place + gram);
                let most = chains.iter().map(|chain| chain.within.clone());
                (covered(grams.collect()), covered(most.collect()))
            }
        }
    }

    /// For each possible passage: its place in the query, from the first common gram to the last,
    /// and the number of its units, at least and at most.
    pub(super) fn passages(&self, gram: usize) -> Vec<(Range<usize>, usize, usize)> {
        match self {
            Self::Crowded { units } => vec![(0..*units, gram, *units)],
            Self::Chains(chains) => {
                let mut passages: Vec<_> = chains
                    .iter()
                    .filter_map(|chain| {
                        let (first, last) = (*chain.grams.first()?, *chain.grams.last()?);
                        Some((first..last + gram, chain.longest(gram), chain.within.len()))
                    })
                    .collect();
                passages.sort_by_key(|(query, ..)| (query.start, query.end));
                passages.dedup();
                passages
            }
        }
    }
}
