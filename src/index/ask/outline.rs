//! What fingerprints alone tell of the passages that a query and a document share.

use crate::estimate::covered;
use crate::index::ask::prints::{PrintPlaces, Prints};
use crate::sketch::{Fingerprints, PrintRun, Winnower};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// The grams of a query: all of them by their place, and the places of its fingerprints.
pub(super) struct QueryGrams {
    /// The hash of the gram that begins at each unit.
    grams: Vec<u32>,
    places: PrintPlaces,
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
        Self {
            grams: winnower.grams(shingles),
            places: PrintPlaces::new(fingerprints),
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
    pub(super) fn outline(&self, prints: &Prints, least: usize) -> Option<Outline> {
        let all = prints.all();
        let own = self.grams.len() as u64 / self.gram as u64;
        let fingerprints = own.saturating_add(prints.count());
        let (mut common, mut pairs): (Vec<(usize, &[PrintRun])>, u64) = (Vec::new(), 0);
        for (at, (_, hash)) in all.iter().enumerate() {
            let runs = self.places.of(*hash);
            if runs.is_empty() {
                continue;
            }
            pairs = pairs.saturating_add(times(runs));
            // Looking up the runs of all fingerprints would cost as much as the pairs.
            if prints.is_repetitive() || is_crowded(pairs, fingerprints) {
                return Some(Outline::Crowded { units: self.units });
            }
            common.push((at, runs));
        }
        if common.is_empty() {
            return None;
        }
        let units = self.winnower.units(prints.shingles()) as usize;
        let mut chains = Vec::new();
        // Up to which fingerprint of the document each distance was looked at.
        let mut seen: FxHashMap<isize, usize> = FxHashMap::default();
        for (at, runs) in common {
            let Some((place, _)) = all.get(at) else { continue };
            for of_query in runs.iter().flat_map(places) {
                let shift = *place as isize - of_query as isize;
                if seen.get(&shift).is_some_and(|seen| at <= *seen) {
                    continue;
                }
                let (chain, last) = self.chain(all, units, at, shift);
                // Most chains are of one fingerprint, at which this distance is not met again.
                if last > at {
                    seen.insert(shift, last);
                }
                if chain.within.len() >= least {
                    chains.push(chain);
                }
            }
        }
        (!chains.is_empty()).then_some(Outline::Chains(chains))
    }

    /// The pairs of places at which a text has the same fingerprint; `None` if they are too many.
    /// `fingerprints` are those of the query itself.
    pub(super) fn pairs_within(&self, fingerprints: &Fingerprints) -> Option<Vec<(usize, usize)>> {
        let pairs: u64 =
            self.places.each().map(|runs| times(runs).saturating_mul(times(runs))).sum();
        if is_crowded(pairs, fingerprints.runs().map(|run| run.count).sum()) {
            return None;
        }
        let mut seeds = Vec::new();
        for runs in self.places.each() {
            let places: Vec<usize> = runs.iter().flat_map(places).collect();
            for (at, place) in places.iter().enumerate() {
                seeds.extend(places[..at].iter().map(|before| (*before, *place)));
            }
        }
        Some(seeds)
    }

    /// Whether the query has the gram of a fingerprint at a distance.
    fn has(&self, (place, hash): (u32, u32), shift: isize) -> bool {
        let place = usize::try_from(place as isize - shift).ok();
        place.and_then(|place| self.grams.get(place)) == Some(&hash)
    }

    /// The neighbouring fingerprints of a document that the query has at a distance, and the last
    /// of them. The document has so many units.
    fn chain(&self, all: &[(u32, u32)], units: usize, at: usize, shift: isize) -> (Chain, usize) {
        let has = |print: &&(u32, u32)| self.has(**print, shift);
        let before = all[..at].iter().rev().take_while(has).count();
        let after = all[at..].iter().take_while(has).count().max(1);
        let (first, last) = (at - before, at + after - 1);
        // A passage cannot contain all of a gram that differs.
        let start = first.checked_sub(1).map_or(0, |differs| all[differs].0 as usize + 1);
        let end = all.get(last + 1);
        let end = end.map_or(units, |(differs, _)| *differs as usize + self.gram - 1);
        let in_query = |place: usize| (place as isize - shift).max(0) as usize;
        let within = in_query(start)..in_query(end).min(self.units);
        let grams = all[first..=last].iter().map(|(place, _)| in_query(*place as usize));
        (Chain { grams: grams.collect(), shift, within }, last)
    }
}

/// How often fingerprints of some runs occur.
fn times(runs: &[PrintRun]) -> u64 {
    runs.iter().map(|run| run.count).sum()
}

/// The places of the fingerprints of a run.
fn places(run: &PrintRun) -> impl Iterator<Item = usize> + use<> {
    let PrintRun { first, gap, count, .. } = *run;
    (0..count).map(move |n| (first + n * gap) as usize)
}

/// Whether a suffix array is cheaper than to look at so many pairs of equal fingerprints, in texts
/// of so many fingerprints.
fn is_crowded(pairs: u64, fingerprints: u64) -> bool {
    /// The pairs of a short text, and those for each fingerprint of a longer one.
    const CROWDED: u64 = 1 << 12;
    const CROWDED_EACH: u64 = 8;
    pairs > CROWDED.max(CROWDED_EACH.saturating_mul(fingerprints))
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
