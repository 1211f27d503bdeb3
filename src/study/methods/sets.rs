//! The methods for two texts: exact ones, samples, rows of a matrix, and sketches, of sets and of multisets.

use super::pair::Pair;
use super::row::{Measure, Of, Outcome, Row, certain, exactly, repeated};
use super::weights::{WeightedMethod, simhash_bits, weighted_rows};
use crate::error::Result;
use crate::estimate::{
    Estimate, Overlap, RowMatrix, Sampling, probability_jaccard, random_sample, wilson,
};
use crate::hash::{SplitMix, fmix64};
use crate::params::Confidence;
use crate::sketch::{AffineMaps, BottomK, Family, MinHash, SimHasher};
use crate::study::Work;
use crate::study::ranked::ranked;

/// A method for two texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    Exact,
    Sample,
    Ru,
    Rum,
    /// RUM on samples, as in Dembele, Lo 2015, section 6.3.3.
    RumOnSamples,
    MinHash(Family),
    BottomK,
    Weighted,
    Probability,
    SimHash,
}

/// How methods are run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// Hash functions, maps, or smallest values: k.
    pub(crate) hashes: usize,
    /// Runs of what is random.
    pub(crate) runs: u32,
    /// Elements that a sample takes of each text.
    pub(crate) sample: usize,
    pub(crate) confidence: Confidence,
}

/// What a text without shingles is to every other.
const NOTHING: Estimate = certain(0.0);

impl Method {
    /// The rows of this method, for the texts as sets or as multisets.
    ///
    /// # Errors
    ///
    /// Those of the method for its settings, and of work that is to end.
    pub(crate) fn rows(
        self,
        of: Of,
        pair: &Pair,
        settings: &Settings,
        work: &Work<'_>,
    ) -> Result<Vec<Row>> {
        let (k, runs, at) = (settings.hashes, settings.runs, settings.confidence);
        let elements = if of == Of::Sets { &pair.sets } else { &pair.ranked };
        let [a, b] = elements.each_ref().map(Vec::as_slice);
        let held = 8 * (a.len() + b.len()) as u64;
        match self {
            Self::Exact => exact(of, pair, work),
            Self::Sample => samples(of, pair, settings, work),
            Self::Ru => repeated("ru", of, runs, work, |seed| {
                let matrix = RowMatrix::of_sets(a, b);
                let maps = AffineMaps::units(k, matrix.union_rows(), seed)?;
                let bytes = held + matrix.stacked_rows() + 16 * k as u64;
                let estimate = matrix.ru(&maps, at)?.jaccard;
                Ok(Outcome::new(bytes, vec![(Measure::Jaccard, estimate)]))
            }),
            Self::Rum => repeated("rum", of, runs, work, |seed| stacked(a, b, seed, settings)),
            // Samples that have all elements would give the rows of RUM again.
            Self::RumOnSamples if settings.sample >= a.len().max(b.len()) => Ok(Vec::new()),
            Self::RumOnSamples => repeated("rum-on-samples", of, runs, work, |seed| {
                let [a, b] = drawn(of, pair, settings.sample, seed);
                let outcome = stacked(&a, &b, seed, settings)?;
                // The interval is one of the samples' similarity.
                Ok(Outcome { sure: false, ..outcome })
            }),
            Self::MinHash(family) => {
                let name = format!("minhash:{family}");
                repeated(&name, of, runs, work, |seed| {
                    let functions = MinHash::new(family, k, seed)?;
                    let both = functions.signature(a).zip(functions.signature(b));
                    let estimate = both.map_or(NOTHING, |(a, b)| equal_components(&a, &b, at));
                    Ok(Outcome::new(16 * k as u64, vec![(Measure::Jaccard, estimate)]))
                })
            }
            Self::BottomK => repeated("bottom-k", of, runs, work, |seed| {
                let key = SplitMix::new(seed).next();
                let sketch = |set: &[u64]| {
                    BottomK::from_hashes(k, set.iter().map(|hash| fmix64(hash ^ key)))
                };
                let (a, b) = (sketch(a)?, sketch(b)?);
                let bytes = 8 * (a.hashes().len() + b.hashes().len()) as u64;
                Ok(Outcome::new(bytes, vec![(Measure::Jaccard, a.similarity_at(&b, at))]))
            }),
            Self::SimHash => repeated("simhash", of, runs, work, |seed| {
                let hasher = SimHasher::new(simhash_bits(k), seed)?;
                let sizes = (a.len() as u64, b.len() as u64);
                let (a, b) = (hasher.of_hashes(a), hasher.of_hashes(b));
                let jaccard = a.similarity_at(&b, sizes, at).unwrap_or(NOTHING);
                let cosine = a.cosine_at(&b, at).unwrap_or(NOTHING);
                let values = vec![(Measure::Jaccard, jaccard), (Measure::Cosine, cosine)];
                // Both numbers of elements are known besides.
                Ok(Outcome::new(hasher.bits() as u64 / 4 + 16, values))
            }),
            Self::Weighted | Self::Probability => {
                let counts = pair.counts();
                let [a, b] = counts.each_ref().map(Vec::as_slice);
                let method = match self {
                    Self::Weighted => WeightedMethod::Weighted,
                    _ => WeightedMethod::Probability,
                };
                weighted_rows(method, Of::Multisets, [a, b], settings, work)
            }
        }
    }
}

/// The share of equal components of two signatures, with Wilson's interval.
fn equal_components(a: &[u64], b: &[u64], confidence: Confidence) -> Estimate {
    let (equal, all) = (a.iter().zip(b).filter(|(x, y)| x == y).count() as u32, a.len() as u32);
    let (low, high) = wilson(equal, all, confidence.z());
    Estimate { similarity: f64::from(equal) / f64::from(all), low, high }
}

/// Every measure that some method estimates, exactly.
fn exact(of: Of, pair: &Pair, work: &Work<'_>) -> Result<Vec<Row>> {
    let all = |overlap: Overlap, held: &[Vec<u64>; 2]| {
        let size = (overlap.a as f64).sqrt() * (overlap.b as f64).sqrt();
        let cosine = if size == 0.0 { 0.0 } else { (overlap.shared as f64 / size).min(1.0) };
        let values = vec![
            (Measure::Jaccard, certain(overlap.similarity())),
            (Measure::Dice, certain(overlap.dice())),
            (Measure::Cosine, certain(cosine)),
        ];
        Outcome::new(8 * (held[0].len() + held[1].len()) as u64, values)
    };
    match of {
        Of::Sets => exactly("exact", of, work, || all(pair.overlap(), &pair.sets)),
        _ => {
            let overlap = || all(pair.multiset_overlap(), &pair.occurrences);
            let mut rows = exactly("multiset", of, work, overlap)?;
            rows.extend(exactly("multiset", of, work, || {
                let [a, b] = pair.counts();
                let bytes = 16 * (a.len() + b.len()) as u64;
                let value = certain(probability_jaccard(&a, &b));
                Outcome::new(bytes, vec![(Measure::Probability, value)])
            })?);
            Ok(rows)
        }
    }
}

/// The independent samples of the papers, and coordinated ones.
fn samples(of: Of, pair: &Pair, settings: &Settings, work: &Work<'_>) -> Result<Vec<Row>> {
    let of_sets = of == Of::Sets;
    let [a, b] = if of_sets { &pair.sets } else { &pair.occurrences };
    let (n, z) = (settings.sample, settings.confidence.z());
    let mut rows = repeated("sample-independent", of, settings.runs, work, |seed| {
        let mean = Sampling::independent(n, n, 1)?.similarity(a, b, seed).mean;
        let bytes = 8 * (n.min(a.len()) + n.min(b.len())) as u64;
        let values = vec![(Measure::Jaccard, certain(mean))];
        // A sample of all is certain; of a part, its similarity tends to another than the texts'.
        Ok(Outcome { sure: n >= a.len().max(b.len()), ..Outcome::new(bytes, values) })
    })?;
    // As many of the greater one as were drawn of it, on average.
    let greater = a.len().max(b.len()).max(1);
    let share = (n as f64 / greater as f64).min(1.0);
    let overlap = if of_sets { pair.overlap() } else { pair.multiset_overlap() };
    let union = (overlap.a + overlap.b - overlap.shared) as f64;
    rows.extend(repeated("sample-coordinated", of, settings.runs, work, |seed| {
        let similarity = Sampling::coordinated(share, 1)?.similarity(a, b, seed).mean;
        let bytes = (8.0 * share * (a.len() + b.len()) as f64).round() as u64;
        // Each element of the union's sample is a trial; how many there are is known on average.
        let trials = (share * union).round().clamp(1.0, u32::MAX.into());
        let (low, high) = match share < 1.0 && overlap.a > 0 && overlap.b > 0 {
            true => wilson((similarity * trials).round() as u32, trials as u32, z),
            false => (similarity, similarity),
        };
        Ok(Outcome::new(bytes, vec![(Measure::Jaccard, Estimate { similarity, low, high })]))
    })?);
    Ok(rows)
}

/// So many elements of each text, drawn from its set or from its occurrences, which are then ranked.
fn drawn(of: Of, pair: &Pair, sample: usize, seed: u64) -> [Vec<u64>; 2] {
    let mut seeds = SplitMix::new(seed);
    match of {
        Of::Sets => pair.sets.each_ref().map(|set| random_sample(set, sample, seeds.next())),
        _ => {
            let draw = |text: &Vec<u64>| ranked(&random_sample(text, sample, seeds.next()));
            pair.occurrences.each_ref().map(draw)
        }
    }
}

/// RUM on two sets.
fn stacked(a: &[u64], b: &[u64], seed: u64, settings: &Settings) -> Result<Outcome> {
    let matrix = RowMatrix::of_sets(a, b);
    let maps = AffineMaps::units(settings.hashes, matrix.stacked_rows(), seed)?;
    let found = matrix.rum(&maps, settings.confidence)?;
    let bytes = 9 * matrix.stacked_rows() + 16 * settings.hashes as u64;
    let values = vec![(Measure::Dice, found.dice), (Measure::Jaccard, found.jaccard)];
    Ok(Outcome::new(bytes, values))
}
