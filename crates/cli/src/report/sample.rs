//! A sample of pairs to look at, more of them where judgement is needed: near the threshold.

use super::id_hash;
use super::removed::Removed;
use std::collections::BTreeMap;

/// A range of similarities from which pairs are shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stratum {
    /// The least similarity.
    pub(super) from: f64,
    /// The similarity above all of them; infinity for equal texts.
    pub(super) to: f64,
    /// How many pairs are shown.
    pub(super) most: usize,
    /// Whether its pairs are below the threshold, so that both documents are kept.
    pub(super) kept: bool,
}

/// How far below the threshold pairs are shown that are both kept.
const BELOW: f64 = 0.1;

/// The ranges for a threshold: those at its edge first.
pub(super) fn strata(threshold: f64) -> Vec<Stratum> {
    let above = 1.0 - threshold;
    let at = |share: f64| threshold + share * above;
    let mut strata = Vec::new();
    if above > 0.0 {
        for (from, to, most) in [(0.0, 0.25, 10), (0.25, 0.5, 6), (0.5, 0.75, 5), (0.75, 1.0, 4)] {
            strata.push(Stratum { from: at(from), to: at(to), most, kept: false });
        }
    }
    strata.push(Stratum { from: 1.0, to: f64::INFINITY, most: 3, kept: false });
    let below = Stratum { from: threshold - BELOW, to: threshold, most: 8, kept: true };
    strata.insert(1.min(strata.len() - 1), below);
    strata
}

/// Chooses pairs of each stratum: those whose ids have the least hashes, so that the choice does
/// not depend on the order, and that every pair has the same chance.
pub(super) struct Sample {
    strata: Vec<Stratum>,
    chosen: Vec<BTreeMap<u64, Removed>>,
}

impl Sample {
    /// Begins with no pair.
    pub(super) fn new(strata: Vec<Stratum>) -> Self {
        let chosen = strata.iter().map(|_| BTreeMap::new()).collect();
        Self { strata, chosen }
    }

    /// Offers a pair. One that is removed at less than the threshold, as `--linkage connected` has
    /// them, is with those right above it.
    pub(super) fn offer(&mut self, pair: Removed, kept: bool) {
        let similarity = pair.similarity;
        let place = self.strata.iter().position(|stratum| {
            stratum.kept == kept && similarity < stratum.to && (!kept || similarity >= stratum.from)
        });
        let Some(place) = place else { return };
        let (hash, most) = (id_hash(&pair.id), self.strata[place].most);
        let chosen = &mut self.chosen[place];
        if chosen.len() < most || chosen.last_key_value().is_some_and(|(last, _)| hash < *last) {
            chosen.insert(hash, pair);
            if chosen.len() > most {
                chosen.pop_last();
            }
        }
    }

    /// The strata with the pairs that were chosen, in the order of their similarities.
    pub(super) fn pairs(self) -> impl Iterator<Item = (Stratum, Vec<Removed>)> {
        self.strata.into_iter().zip(self.chosen).map(|(stratum, chosen)| {
            let mut pairs: Vec<Removed> = chosen.into_values().collect();
            pairs.sort_by(|a, b| a.similarity.total_cmp(&b.similarity));
            (stratum, pairs)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(id: usize, similarity: f64) -> Removed {
        let of = "kept".to_owned();
        Removed { id: id.to_string(), of, against: None, similarity, text: None }
    }

    #[test]
    fn strata_cover_everything_and_the_edge_has_most_pairs() {
        for threshold in [0.1, 0.8, 0.95, 1.0] {
            let strata = strata(threshold);
            let removing: Vec<_> = strata.iter().filter(|stratum| !stratum.kept).collect();
            assert_eq!(removing.len() + 1, strata.len());
            assert!(removing.windows(2).all(|two| (two[0].to - two[1].from).abs() < 1e-9));
            assert_eq!(removing[0].from, threshold);
            assert_eq!(strata.last().map(|stratum| stratum.from), Some(1.0));
        }
    }

    #[test]
    fn the_choice_does_not_depend_on_the_order() {
        let pairs: Vec<_> =
            (0..1000).map(|id| pair(id, 0.8 + (id % 200) as f64 / 1000.0)).collect();
        let choose = |pairs: &mut dyn Iterator<Item = &Removed>| {
            let mut sample = Sample::new(strata(0.8));
            pairs.for_each(|pair| sample.offer(pair.clone(), false));
            sample.pairs().map(|(_, pairs)| pairs).collect::<Vec<_>>()
        };
        let forwards = choose(&mut pairs.iter());
        assert_eq!(forwards, choose(&mut pairs.iter().rev()));
        let counts: Vec<usize> = forwards.iter().map(Vec::len).collect();
        assert_eq!(counts, [10, 0, 6, 5, 4, 0]);
    }

    #[test]
    fn kept_pairs_and_equal_texts_have_strata_of_their_own() {
        let mut sample = Sample::new(strata(0.8));
        sample.offer(pair(1, 0.79), true);
        sample.offer(pair(2, 0.3), true);
        sample.offer(pair(3, 1.0), false);
        sample.offer(pair(4, 0.7), false);
        let counts: Vec<usize> = sample.pairs().map(|(_, pairs)| pairs.len()).collect();
        assert_eq!(counts, [1, 1, 0, 0, 0, 1]);
    }
}
