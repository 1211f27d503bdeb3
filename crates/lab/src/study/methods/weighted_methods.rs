//! The methods for weighted sets, and for texts as counts of their shingles.

use super::method_row::{Measure, MethodRow, RunOutcome, SetKind, certain, exactly, repeated};
use super::text_methods::MethodSettings;
use crate::estimate::probability_jaccard;
use crate::sketch::{ProbabilityHasher, SimHasher};
use crate::study::StudyContext;
use twindex::MAX_LANES;
use twindex::Result;
use twindex::Sketcher;
use twindex::{Estimate, weighted_jaccard};
use twindex::{Normalization, Shingle, Shingler};

/// A method for two weighted sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WeightedMethod {
    Exact,
    Weighted,
    Probability,
    SimHash,
}

/// The similarity of an empty set to every other set.
const NOTHING: Estimate = certain(0.0);

/// The rows of a method for two weighted sets, which are in ascending order of hashes.
pub(crate) fn weighted_rows(
    method: WeightedMethod,
    of: SetKind,
    sets: [&[(u64, f64)]; 2],
    settings: &MethodSettings,
    context: &StudyContext<'_>,
) -> Result<Vec<MethodRow>> {
    let [a, b] = sets;
    let runs = settings.runs;
    match method {
        WeightedMethod::Exact => exactly("exact", of, context, || {
            let values = [
                (Measure::Jaccard, weighted_jaccard(a, b)),
                (Measure::Cosine, cosine(a, b)),
                (Measure::Probability, probability_jaccard(a, b)),
            ];
            let values = values.map(|(measure, value)| (measure, certain(value)));
            RunOutcome::new(16 * (a.len() + b.len()) as u64, values.to_vec())
        }),
        WeightedMethod::Weighted => repeated("weighted", of, runs, context, |seed| {
            let lanes = lanes(settings.hashes);
            let tokens = Shingler::new(Shingle::Tokens, Normalization::NONE, false, seed)?;
            let sketcher = Sketcher::weighted(tokens, lanes, seed)?;
            let (a, b) = (sketcher.signature_of_weights(a)?, sketcher.signature_of_weights(b)?);
            let estimate = a.similarity_at(&b, settings.confidence)?;
            let values = vec![(Measure::Jaccard, estimate.unwrap_or(NOTHING))];
            Ok(RunOutcome::new(2 * lanes as u64, values))
        }),
        WeightedMethod::Probability => repeated("p-minhash", of, runs, context, |seed| {
            let hasher = ProbabilityHasher::new(settings.hashes, seed)?;
            let (a, b) = (hasher.of_weights(a), hasher.of_weights(b));
            let bytes = 8 * (a.tokens().len() + b.tokens().len()) as u64;
            let estimate = a.similarity_at(&b, settings.confidence)?;
            Ok(RunOutcome::new(bytes, vec![(Measure::Probability, estimate.unwrap_or(NOTHING))]))
        }),
        WeightedMethod::SimHash => repeated("simhash", of, runs, context, |seed| {
            let hasher = SimHasher::new(simhash_bits(settings.hashes), seed)?;
            let sure = are_many([a, b].map(worth));
            let (a, b) = (hasher.of_weights(a), hasher.of_weights(b));
            let estimate = a.cosine_at(&b, settings.confidence)?;
            let values = vec![(Measure::Cosine, estimate.unwrap_or(NOTHING))];
            Ok(RunOutcome { sure, ..RunOutcome::new(hasher.bits() as u64 / 4, values) })
        }),
    }
}

/// The least effective number of elements for which SimHash's interval is valid. Sums of signs are
/// nearly normal only for many elements.
const MANY: f64 = 32.0;

/// Whether SimHash's interval is valid for sets with these effective numbers of elements. The
/// similarity to an empty set is exactly 0.
pub(super) fn are_many(worth: [f64; 2]) -> bool {
    worth.contains(&0.0) || worth.iter().all(|worth| *worth >= MANY)
}

/// The effective number of elements of a weighted set: the sum of its squared weights, scaled so
/// that the greatest is 1. The more there are, the closer sums of signs are to a normal variable
/// (Berry, Esseen: within about one over the root of this number).
fn worth(set: &[(u64, f64)]) -> f64 {
    let most = greatest(set);
    if most == 0.0 { 0.0 } else { squares(set, most) }
}

fn greatest(set: &[(u64, f64)]) -> f64 {
    set.iter().fold(0.0, |most: f64, x| most.max(x.1))
}

/// The sum of the squares of all weights, relative to `most`.
fn squares(set: &[(u64, f64)], most: f64) -> f64 {
    set.iter().map(|x| (x.1 / most) * (x.1 / most)).sum()
}

/// The least valid number of lanes of at least `hashes`, or the most lanes.
pub(super) fn lanes(hashes: usize) -> usize {
    [64, 128, 256].into_iter().find(|lanes| *lanes >= hashes).unwrap_or(MAX_LANES)
}

/// The bits of a SimHash with a byte for each of `hashes` functions, the size of their lanes in an
/// index.
pub(super) fn simhash_bits(hashes: usize) -> usize {
    let bits = hashes.saturating_mul(8).min(SimHasher::MAX_BITS);
    bits.next_multiple_of(64).max(64)
}

/// The cosine of the angle between two weighted sets; 0 if a set is empty.
pub(super) fn cosine(a: &[(u64, f64)], b: &[(u64, f64)]) -> f64 {
    let (most_a, most_b) = (greatest(a), greatest(b));
    if most_a == 0.0 || most_b == 0.0 {
        return 0.0;
    }
    let product = |(token, x): &(u64, f64)| {
        let at = b.binary_search_by_key(token, |y| y.0).ok()?;
        Some((x / most_a) * (b.get(at)?.1 / most_b))
    };
    // The sum of no numbers is -0.
    let products = a.iter().filter_map(product).sum::<f64>() + 0.0;
    (products / (squares(a, most_a).sqrt() * squares(b, most_b).sqrt())).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cosine_is_that_of_the_formula() {
        let (a, b) = ([(1, 3.0), (2, 4.0)], [(1, 4.0), (2, 3.0), (9, 0.0)]);
        assert!((cosine(&a, &b) - 24.0 / 25.0).abs() < 1e-15);
        for scale in [1e-300, 1e300] {
            let other = b.map(|(token, weight)| (token, weight * scale));
            assert!((cosine(&a, &other) - 24.0 / 25.0).abs() < 1e-15, "{scale}");
        }
        assert_eq!((cosine(&a, &[]), cosine(&[], &[]), cosine(&[(1, 0.0)], &a)), (0.0, 0.0, 0.0));
    }

    #[test]
    fn the_cosine_of_disjoint_sets_is_0_without_a_sign() {
        let cosine = cosine(&[(1, 3.0)], &[(2, 4.0)]);
        assert!(cosine == 0.0 && cosine.is_sign_positive(), "{cosine:?}");
    }

    #[test]
    fn the_effective_number_of_elements_falls_if_one_outweighs_the_others() {
        assert_eq!((worth(&[]), worth(&[(1, 0.0)]), worth(&[(1, 7.0)])), (0.0, 0.0, 1.0));
        assert_eq!(worth(&[(1, 2.0), (2, 1.0), (3, 1.0)]), 1.5);
        assert_eq!(worth(&[(1, 1e300), (2, 1e300)]), 2.0);
    }

    #[test]
    fn sketches_take_about_a_byte_for_each_function() {
        for (hashes, bits, of_lanes) in
            [(1, 64, 64), (64, 512, 64), (65, 576, 128), (128, 1024, 128), (1000, 1024, 512)]
        {
            assert_eq!(simhash_bits(hashes), bits, "{hashes}");
            assert_eq!(lanes(hashes), of_lanes, "{hashes}");
        }
    }
}
