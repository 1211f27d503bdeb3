//! The methods for two texts: exact ones, samples, rows of a matrix, and sketches, of sets and of multisets.

use super::pair::Pair;
use super::row::{Measure, Of, Outcome, Row, certain, exactly, repeated};
use super::weights::{WeightedMethod, are_many, cosine, simhash_bits, weighted_rows};
use crate::estimate::{RowMatrix, Sampling, probability_jaccard, random_sample};
use crate::sketch::{AffineMaps, Family, MinHash, SimHasher};
use crate::study::Work;
use crate::study::ranked::ranked;
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

/// How methods are run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// Hash functions, maps, or smallest values: k.
    pub(crate) hashes: usize,
    /// Runs of what is random.
    pub(crate) runs: u32,
    /// Elements that a sample takes of each text.
    pub(crate) sample: usize,
    pub(crate) confidence: f64,
}

/// What a text without shingles is to every other.
const NOTHING: Estimate = certain(0.0);

impl TextMethod {
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
                    let estimate = both.map(|(a, b)| equal_components(&a, &b, at)).transpose()?;
                    let estimate = estimate.unwrap_or(NOTHING);
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
                Ok(Outcome::new(bytes, vec![(Measure::Jaccard, a.similarity_at(&b, at)?)]))
            }),
            Self::SimHash if of == Of::Sets => repeated("simhash", of, runs, work, |seed| {
                let hasher = SimHasher::new(simhash_bits(k), seed)?;
                let sizes = (a.len() as u64, b.len() as u64);
                let (a, b) = (hasher.of_hashes(a), hasher.of_hashes(b));
                let jaccard = a.similarity_at(&b, sizes, at)?.unwrap_or(NOTHING);
                let cosine = a.cosine_at(&b, at)?.unwrap_or(NOTHING);
                let values = vec![(Measure::Jaccard, jaccard), (Measure::Cosine, cosine)];
                // Both numbers of elements are known besides.
                let bytes = hasher.bits() as u64 / 4 + 16;
                let sure = are_many([sizes.0 as f64, sizes.1 as f64]);
                Ok(Outcome { sure, ..Outcome::new(bytes, values) })
            }),
            Self::Weighted | Self::Probability | Self::SimHash => {
                let counts = pair.counts();
                let [a, b] = counts.each_ref().map(Vec::as_slice);
                let method = match self {
                    Self::Weighted => WeightedMethod::Weighted,
                    Self::Probability => WeightedMethod::Probability,
                    _ => WeightedMethod::SimHash,
                };
                weighted_rows(method, Of::Multisets, [a, b], settings, work)
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

/// Every measure that some method estimates, exactly.
fn exact(of: Of, pair: &Pair, work: &Work<'_>) -> Result<Vec<Row>> {
    let shares = |overlap: Overlap, held: &[Vec<u64>; 2]| {
        let values = vec![
            (Measure::Jaccard, certain(overlap.similarity())),
            (Measure::Dice, certain(overlap.dice())),
        ];
        Outcome::new(8 * (held[0].len() + held[1].len()) as u64, values)
    };
    match of {
        Of::Sets => exactly("exact", of, work, || {
            let overlap = pair.overlap();
            let size = (overlap.a as f64).sqrt() * (overlap.b as f64).sqrt();
            let cosine = if size == 0.0 { 0.0 } else { (overlap.shared as f64 / size).min(1.0) };
            let mut outcome = shares(overlap, &pair.sets);
            outcome.values.push((Measure::Cosine, certain(cosine)));
            outcome
        }),
        _ => {
            let overlap = || shares(pair.multiset_overlap(), &pair.occurrences);
            let mut rows = exactly("multiset", of, work, overlap)?;
            // Cosine and probability are of the numbers of occurrences: ranked occurrences have another cosine.
            rows.extend(exactly("multiset", of, work, || {
                let [a, b] = pair.counts();
                let values = vec![
                    (Measure::Cosine, certain(cosine(&a, &b))),
                    (Measure::Probability, certain(probability_jaccard(&a, &b))),
                ];
                Outcome::new(16 * (a.len() + b.len()) as u64, values)
            })?);
            Ok(rows)
        }
    }
}

/// The independent samples of the papers, and coordinated ones.
fn samples(of: Of, pair: &Pair, settings: &Settings, work: &Work<'_>) -> Result<Vec<Row>> {
    let of_sets = of == Of::Sets;
    let [a, b] = if of_sets { &pair.sets } else { &pair.occurrences };
    let (n, z) = (settings.sample, normal_quantile(settings.confidence)?);
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
        let (low, high) = match share < 1.0 && overlap.a > 0 && overlap.b > 0 {
            true => of_part(similarity, share, union, z),
            false => (similarity, similarity),
        };
        Ok(Outcome::new(bytes, vec![(Measure::Jaccard, Estimate { similarity, low, high })]))
    })?);
    Ok(rows)
}

/// The interval of the similarity of a part of the union, drawn without replacement. Each element of the part is a trial;
/// how many there are is known on average. The variance is 1 - share of the binomial law's (section 6 of the
/// methods), as if there were so many more trials.
fn of_part(similarity: f64, share: f64, union: f64, z: f64) -> (f64, f64) {
    let trials = (share * union / (1.0 - share)).round().clamp(1.0, u32::MAX.into());
    wilson((similarity * trials).round() as u32, trials as u32, z)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::Sampled;

    fn settings(sample: usize, runs: u32) -> Settings {
        Settings { hashes: 128, runs, sample, confidence: 0.95 }
    }

    fn rows(
        method: TextMethod,
        of: Of,
        texts: [Vec<u64>; 2],
        settings: &Settings,
        seed: u64,
    ) -> Vec<Row> {
        let go_on = |_, _| Ok(());
        method.rows(of, &Pair::new(texts), settings, &Work::new(seed, &go_on)).expect("rows")
    }

    /// Hashes of so many elements from this one on.
    fn run(from: u64, elements: u64) -> Vec<u64> {
        (from..from + elements).map(fmix64).collect()
    }

    #[test]
    fn intervals_of_coordinated_samples_are_as_wide_as_these_spread() {
        for sample in [100, 1500, 2700, 2990] {
            let (mut held, mut widths, mut seen) = (0, 0.0, Vec::new());
            for seed in 0..100 {
                let texts = [run(0, 3000), run(1000, 3000)];
                let all = rows(TextMethod::Sample, Of::Sets, texts, &settings(sample, 1), seed);
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
    fn a_sample_of_all_is_certain() {
        let texts = [run(0, 300), run(100, 300)];
        for row in rows(TextMethod::Sample, Of::Sets, texts, &settings(300, 1), 0) {
            assert_eq!((row.estimate, row.interval), (0.5, Some((0.5, 0.5))), "{}", row.method);
        }
    }

    #[test]
    fn simhash_has_no_interval_of_few_elements() {
        for (elements, sure) in [(31, false), (32, true)] {
            for (a, b) in [(elements, 50), (50, elements)] {
                let texts = [run(0, a), run(5, b)];
                for of in [Of::Sets, Of::Multisets] {
                    for row in rows(TextMethod::SimHash, of, texts.clone(), &settings(1, 1), 0) {
                        assert_eq!(row.interval.is_some(), sure, "{a}, {b}, {}", of.name());
                    }
                }
            }
        }
        // Nothing is similar to an empty text, for certain.
        let none = rows(TextMethod::SimHash, Of::Sets, [run(0, 9), Vec::new()], &settings(1, 1), 0);
        assert!(none.iter().all(|row| row.interval.is_some()));
    }

    #[test]
    fn simhash_of_multisets_estimates_the_cosine_of_their_counts() {
        let times = |by: u64| -> Vec<u64> {
            let of = |x: u64| std::iter::repeat_n(fmix64(x), (x * by % 7) as usize + 1);
            (0..300).flat_map(of).collect()
        };
        let texts = || [times(3), times(5)];
        let exact = rows(TextMethod::Exact, Of::Multisets, texts(), &settings(1, 1), 0);
        let exact = exact.iter().find(|row| row.measure == Measure::Cosine).expect("a row");
        let estimated = rows(TextMethod::SimHash, Of::Multisets, texts(), &settings(1, 40), 0);
        let [row] = estimated.as_slice() else { panic!("one row, not {estimated:?}") };
        let error = row.spread.expect("many runs") / 40.0_f64.sqrt();
        assert_eq!(row.measure, Measure::Cosine);
        // The mean itself is .0006 too low, as cos is not linear.
        assert!((row.mean - exact.estimate).abs() < 4.0 * error + 0.001, "{row:?}, {exact:?}");
    }
}
