//! The methods for two texts, as sets and as multisets: exact ones, samples, rows of a matrix, and
//! sketches.

use super::method_row::{Measure, MethodRow, RunOutcome, SetKind, certain, exactly, repeated};
use super::text_pair::TextPair;
use super::weighted_methods::{WeightedMethod, are_many, cosine, simhash_bits, weighted_rows};
use crate::estimate::{RowMatrix, Sampling, probability_jaccard, random_sample};
use crate::sketch::{AffineMaps, Family, MinHash, SimHasher};
use crate::study::StudyContext;
use crate::study::ranked_occurrences::ranked;
use twindex::BottomK;
use twindex::Result;
use twindex::internals::{SplitMix, fmix64};
use twindex::{Estimate, Overlap, normal_quantile, wilson};

/// A method for two texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextMethod {
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

/// The settings of all methods.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MethodSettings {
    /// The number of hash functions, maps, or smallest values, k.
    pub(crate) hashes: usize,
    /// The runs of random methods.
    pub(crate) runs: u32,
    /// The elements that a sample takes from each text.
    pub(crate) sample: usize,
    pub(crate) confidence: f64,
}

/// The similarity of a text without shingles to every other text.
const NOTHING: Estimate = certain(0.0);

impl TextMethod {
    /// The rows of this method for the texts, as sets or as multisets.
    ///
    /// # Errors
    ///
    /// Those of the method for its settings, and those of the context.
    pub(crate) fn rows(
        self,
        of: SetKind,
        pair: &TextPair,
        settings: &MethodSettings,
        context: &StudyContext<'_>,
    ) -> Result<Vec<MethodRow>> {
        let (k, runs, at) = (settings.hashes, settings.runs, settings.confidence);
        let elements = if of == SetKind::Sets { &pair.sets } else { &pair.ranked };
        let [a, b] = elements.each_ref().map(Vec::as_slice);
        let held = 8 * (a.len() + b.len()) as u64;
        match self {
            Self::Exact => exact(of, pair, context),
            Self::Sample => samples(of, pair, settings, context),
            Self::Ru => repeated("ru", of, runs, context, |seed| {
                let matrix = RowMatrix::of_sets(a, b);
                let maps = AffineMaps::units(k, matrix.union_rows(), seed)?;
                let bytes = held + matrix.stacked_rows() + 16 * k as u64;
                let estimate = matrix.ru(&maps, at)?.jaccard;
                Ok(RunOutcome::new(bytes, vec![(Measure::Jaccard, estimate)]))
            }),
            Self::Rum => repeated("rum", of, runs, context, |seed| stacked(a, b, seed, settings)),
            // Samples of all elements would repeat the rows of RUM.
            Self::RumOnSamples if settings.sample >= a.len().max(b.len()) => Ok(Vec::new()),
            Self::RumOnSamples => repeated("rum-on-samples", of, runs, context, |seed| {
                let [a, b] = drawn(of, pair, settings.sample, seed);
                let outcome = stacked(&a, &b, seed, settings)?;
                // The interval is that of the samples' similarity, not that of the texts.
                Ok(RunOutcome { sure: false, ..outcome })
            }),
            Self::MinHash(family) => {
                let name = format!("minhash:{family}");
                repeated(&name, of, runs, context, |seed| {
                    let functions = MinHash::new(family, k, seed)?;
                    let both = functions.signature(a).zip(functions.signature(b));
                    let estimate = both.map(|(a, b)| equal_components(&a, &b, at)).transpose()?;
                    let estimate = estimate.unwrap_or(NOTHING);
                    Ok(RunOutcome::new(16 * k as u64, vec![(Measure::Jaccard, estimate)]))
                })
            }
            Self::BottomK => repeated("bottom-k", of, runs, context, |seed| {
                let key = SplitMix::new(seed).next();
                let sketch = |set: &[u64]| {
                    BottomK::from_hashes(k, set.iter().map(|hash| fmix64(hash ^ key)))
                };
                let (a, b) = (sketch(a)?, sketch(b)?);
                let bytes = 8 * (a.hashes().len() + b.hashes().len()) as u64;
                Ok(RunOutcome::new(bytes, vec![(Measure::Jaccard, a.similarity_at(&b, at)?)]))
            }),
            Self::SimHash if of == SetKind::Sets => {
                repeated("simhash", of, runs, context, |seed| {
                    let hasher = SimHasher::new(simhash_bits(k), seed)?;
                    let sizes = (a.len() as u64, b.len() as u64);
                    let (a, b) = (hasher.of_hashes(a), hasher.of_hashes(b));
                    let jaccard = a.similarity_at(&b, sizes, at)?.unwrap_or(NOTHING);
                    let cosine = a.cosine_at(&b, at)?.unwrap_or(NOTHING);
                    let values = vec![(Measure::Jaccard, jaccard), (Measure::Cosine, cosine)];
                    // Both numbers of elements are stored too.
                    let bytes = hasher.bits() as u64 / 4 + 16;
                    let sure = are_many([sizes.0 as f64, sizes.1 as f64]);
                    Ok(RunOutcome { sure, ..RunOutcome::new(bytes, values) })
                })
            }
            Self::Weighted | Self::Probability | Self::SimHash => {
                let counts = pair.counts();
                let [a, b] = counts.each_ref().map(Vec::as_slice);
                let method = match self {
                    Self::Weighted => WeightedMethod::Weighted,
                    Self::Probability => WeightedMethod::Probability,
                    _ => WeightedMethod::SimHash,
                };
                weighted_rows(method, SetKind::Multisets, [a, b], settings, context)
            }
        }
    }
}

/// The share of equal components of two signatures, with Wilson's interval.
fn equal_components(a: &[u64], b: &[u64], confidence: f64) -> Result<Estimate> {
    let (equal, all) = (a.iter().zip(b).filter(|(x, y)| x == y).count() as u32, a.len() as u32);
    let (low, high) = wilson(equal, all, normal_quantile(confidence)?);
    Ok(Estimate { similarity: f64::from(equal) / f64::from(all), low, high })
}

/// The exact values of all measures that a method estimates.
fn exact(of: SetKind, pair: &TextPair, context: &StudyContext<'_>) -> Result<Vec<MethodRow>> {
    let shares = |overlap: Overlap, held: &[Vec<u64>; 2]| {
        let values = vec![
            (Measure::Jaccard, certain(overlap.similarity())),
            (Measure::Dice, certain(overlap.dice())),
        ];
        RunOutcome::new(8 * (held[0].len() + held[1].len()) as u64, values)
    };
    match of {
        SetKind::Sets => exactly("exact", of, context, || {
            let overlap = pair.overlap();
            let size = (overlap.a as f64).sqrt() * (overlap.b as f64).sqrt();
            let cosine = if size == 0.0 { 0.0 } else { (overlap.shared as f64 / size).min(1.0) };
            let mut outcome = shares(overlap, &pair.sets);
            outcome.values.push((Measure::Cosine, certain(cosine)));
            outcome
        }),
        _ => {
            let overlap = || shares(pair.multiset_overlap(), &pair.occurrences);
            let mut rows = exactly("multiset", of, context, overlap)?;
            // The cosine and the probability similarity use the numbers of occurrences. Ranked
            // occurrences have another cosine.
            rows.extend(exactly("multiset", of, context, || {
                let [a, b] = pair.counts();
                let values = vec![
                    (Measure::Cosine, certain(cosine(&a, &b))),
                    (Measure::Probability, certain(probability_jaccard(&a, &b))),
                ];
                RunOutcome::new(16 * (a.len() + b.len()) as u64, values)
            })?);
            Ok(rows)
        }
    }
}

/// The rows of independent samples, as in the papers, and of coordinated ones.
fn samples(
    of: SetKind,
    pair: &TextPair,
    settings: &MethodSettings,
    context: &StudyContext<'_>,
) -> Result<Vec<MethodRow>> {
    let of_sets = of == SetKind::Sets;
    let [a, b] = if of_sets { &pair.sets } else { &pair.occurrences };
    let (n, z) = (settings.sample, normal_quantile(settings.confidence)?);
    let mut rows = repeated("sample-independent", of, settings.runs, context, |seed| {
        let mean = Sampling::independent(n, n, 1)?.similarity(a, b, seed).mean;
        let bytes = 8 * (n.min(a.len()) + n.min(b.len())) as u64;
        let values = vec![(Measure::Jaccard, certain(mean))];
        // A sample of everything is exact. The similarity of a partial sample does not estimate
        // that of the texts.
        Ok(RunOutcome { sure: n >= a.len().max(b.len()), ..RunOutcome::new(bytes, values) })
    })?;
    // On average, as many elements of the greater text as the independent sample has.
    let greater = a.len().max(b.len()).max(1);
    let share = (n as f64 / greater as f64).min(1.0);
    let overlap = if of_sets { pair.overlap() } else { pair.multiset_overlap() };
    let union = (overlap.a + overlap.b - overlap.shared) as f64;
    rows.extend(repeated("sample-coordinated", of, settings.runs, context, |seed| {
        let similarity = Sampling::coordinated(share, 1)?.similarity(a, b, seed).mean;
        let bytes = (8.0 * share * (a.len() + b.len()) as f64).round() as u64;
        let (low, high) = if share < 1.0 && overlap.a > 0 && overlap.b > 0 {
            of_part(similarity, share, union, z)
        } else {
            (similarity, similarity)
        };
        Ok(RunOutcome::new(bytes, vec![(Measure::Jaccard, Estimate { similarity, low, high })]))
    })?);
    Ok(rows)
}

/// The interval of the similarity of a part of the union, drawn without replacement. Each element
/// of the part is a trial; their number is known on average. The variance is 1 - share times that
/// of the binomial law (`docs/methods.md`, section 6), as if there were more trials.
fn of_part(similarity: f64, share: f64, union: f64, z: f64) -> (f64, f64) {
    let trials = (share * union / (1.0 - share)).round().clamp(1.0, u32::MAX.into());
    wilson((similarity * trials).round() as u32, trials as u32, z)
}

/// Draws `sample` elements of each text, from its set or from its occurrences, which are then
/// ranked.
fn drawn(of: SetKind, pair: &TextPair, sample: usize, seed: u64) -> [Vec<u64>; 2] {
    let mut seeds = SplitMix::new(seed);
    match of {
        SetKind::Sets => pair.sets.each_ref().map(|set| random_sample(set, sample, seeds.next())),
        _ => {
            let draw = |text: &Vec<u64>| ranked(&random_sample(text, sample, seeds.next()));
            pair.occurrences.each_ref().map(draw)
        }
    }
}

/// One run of RUM on two sets.
fn stacked(a: &[u64], b: &[u64], seed: u64, settings: &MethodSettings) -> Result<RunOutcome> {
    let matrix = RowMatrix::of_sets(a, b);
    let maps = AffineMaps::units(settings.hashes, matrix.stacked_rows(), seed)?;
    let found = matrix.rum(&maps, settings.confidence)?;
    let bytes = 9 * matrix.stacked_rows() + 16 * settings.hashes as u64;
    let values = vec![(Measure::Dice, found.dice), (Measure::Jaccard, found.jaccard)];
    Ok(RunOutcome::new(bytes, values))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::Sampled;

    fn settings(sample: usize, runs: u32) -> MethodSettings {
        MethodSettings { hashes: 128, runs, sample, confidence: 0.95 }
    }

    fn rows(
        method: TextMethod,
        of: SetKind,
        texts: [Vec<u64>; 2],
        settings: &MethodSettings,
        seed: u64,
    ) -> Vec<MethodRow> {
        let go_on = |_, _| Ok(());
        method
            .rows(of, &TextPair::new(texts), settings, &StudyContext::new(seed, &go_on))
            .expect("rows")
    }

    /// The hashes of `elements` numbers from `from` on.
    fn run(from: u64, elements: u64) -> Vec<u64> {
        (from..from + elements).map(fmix64).collect()
    }

    #[test]
    fn intervals_of_coordinated_samples_fit_their_spread() {
        for sample in [100, 1500, 2700, 2990] {
            let (mut held, mut widths, mut seen) = (0, 0.0, Vec::new());
            for seed in 0..100 {
                let texts = [run(0, 3000), run(1000, 3000)];
                let all =
                    rows(TextMethod::Sample, SetKind::Sets, texts, &settings(sample, 1), seed);
                let row = all.iter().find(|row| row.method == "sample-coordinated").expect("a row");
                let (low, high) = row.interval.expect("an interval");
                held += u32::from(low <= 0.5 && 0.5 <= high);
                widths += (high - low) / 100.0;
                seen.push(row.estimate);
            }
            let spread = Sampled::of(seen).spread.expect("many runs");
            let ratio = widths / (2.0 * 1.96 * spread);
            assert!((0.75..1.3).contains(&ratio), "{sample}: {ratio}");
            assert!(held >= 88, "{sample}: {held} of 100");
        }
    }

    #[test]
    fn a_sample_of_everything_is_exact() {
        let texts = [run(0, 300), run(100, 300)];
        for row in rows(TextMethod::Sample, SetKind::Sets, texts, &settings(300, 1), 0) {
            assert_eq!((row.estimate, row.interval), (0.5, Some((0.5, 0.5))), "{}", row.method);
        }
    }

    #[test]
    fn simhash_has_no_interval_for_few_elements() {
        for (elements, sure) in [(31, false), (32, true)] {
            for (a, b) in [(elements, 50), (50, elements)] {
                let texts = [run(0, a), run(5, b)];
                for of in [SetKind::Sets, SetKind::Multisets] {
                    for row in rows(TextMethod::SimHash, of, texts.clone(), &settings(1, 1), 0) {
                        assert_eq!(row.interval.is_some(), sure, "{a}, {b}, {}", of.name());
                    }
                }
            }
        }
        // The similarity to an empty text is exactly 0.
        let none =
            rows(TextMethod::SimHash, SetKind::Sets, [run(0, 9), Vec::new()], &settings(1, 1), 0);
        assert!(none.iter().all(|row| row.interval.is_some()));
    }

    #[test]
    fn simhash_of_multisets_estimates_the_cosine_of_their_counts() {
        let times = |by: u64| -> Vec<u64> {
            let of = |x: u64| std::iter::repeat_n(fmix64(x), (x * by % 7) as usize + 1);
            (0..300).flat_map(of).collect()
        };
        let texts = || [times(3), times(5)];
        let exact = rows(TextMethod::Exact, SetKind::Multisets, texts(), &settings(1, 1), 0);
        let exact = exact.iter().find(|row| row.measure == Measure::Cosine).expect("a row");
        let estimated = rows(TextMethod::SimHash, SetKind::Multisets, texts(), &settings(1, 40), 0);
        let [row] = estimated.as_slice() else { panic!("one row, not {estimated:?}") };
        let error = row.spread.expect("many runs") / 40.0_f64.sqrt();
        assert_eq!(row.measure, Measure::Cosine);
        // The mean is 0.0006 too low, because cos is not linear.
        assert!((row.mean - exact.estimate).abs() < 4.0 * error + 0.001, "{row:?}, {exact:?}");
    }
}
