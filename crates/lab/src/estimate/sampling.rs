//! The similarity of random samples of two sets: independent samples, as in the papers, and
//! coordinated ones.
//!
//! Dembele, Lo 2017, "The exact probability law for the approximated similarity from the minhashing
//! method", section III; Dembele, Lo 2015, "Probabilistic, statistical and algorithmic aspects of
//! the similarity of texts", section 5.1.

use twindex::Overlap;
use twindex::internals::{GOLDEN, SplitMix, fmix64};
use twindex::{Error, Result};

/// A way of sampling two sets or multisets a number of times and averaging the similarity of the
/// samples (Dembele, Lo 2017, section III; Dembele, Lo 2015, section 5.1).
///
/// [Coordinated](Self::coordinated) samples estimate the similarity of the whole sets. Independent
/// samples, which the papers draw, **do not**: a common element counts as common only if both draws
/// hold it. They are here because the papers measure them; [`limit`](Self::limit) is the value to
/// which they converge.
///
/// Elements are hashes in ascending order. In a set they are distinct; a multiset repeats each
/// element as often as it occurs.
///
/// ```
/// use twindex_lab::methods::Sampling;
/// let (a, b): (Vec<u64>, Vec<u64>) = ((0..9000).collect(), (1000..10_000).collect());
/// let coordinated = Sampling::coordinated(0.1, 50)?.similarity(&a, &b, 1);
/// assert!((coordinated.mean - 0.8).abs() < 0.02);
///
/// // A tenth of each: of the 8000 common elements a hundredth is in both samples.
/// let independent = Sampling::independent(900, 900, 50)?;
/// assert!((independent.limit(&a, &b) - 80.0 / (1800.0 - 80.0)).abs() < 1e-9);
/// assert!((independent.similarity(&a, &b, 1).mean - 0.0465).abs() < 0.005);
/// # Ok::<(), twindex::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    draw: SamplingMethod,
    runs: u32,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum SamplingMethod {
    /// Draws these numbers of elements from the first and the second set.
    Independent(usize, usize),
    /// Keeps the elements whose hash is below this share of all hashes.
    Coordinated(f64),
}

/// The similarities of the samples, summarised over the runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampled {
    /// The mean.
    pub mean: f64,
    /// The standard deviation, with [`runs`](Self::runs) - 1 as the divisor; `None` for one run.
    pub spread: Option<f64>,
    /// The least similarity.
    pub least: f64,
    /// The greatest similarity.
    pub greatest: f64,
    /// The number of runs, at least 1.
    pub runs: u32,
}

impl Sampling {
    /// Draws `a` elements of the first set and `b` of the second without replacement,
    /// independently, `runs` times, as both papers do. A set with fewer elements is taken whole.
    ///
    /// Each occurrence in a multiset is drawn separately. Equal occurrences match whichever of them
    /// are drawn, so the bias is mild if a few shingles occur often, such as three-letter shingles
    /// in a long text.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`] if a number is 0.
    pub fn independent(a: usize, b: usize, runs: u32) -> Result<Self> {
        if a == 0 || b == 0 {
            return Err(Error::InvalidSetting {
                setting: "sample size",
                got: "0".to_owned(),
                expected: "a whole number from 1 on",
            });
        }
        Self { draw: SamplingMethod::Independent(a, b), runs }.checked()
    }

    /// Keeps the elements whose hash is below a threshold, the same for both sets, which leaves
    /// about `share` of each. Each of the `runs` uses a new hash function. A common element is in
    /// both samples or in neither.
    ///
    /// The i-th occurrence in a multiset is a separate element. For a sample of a fixed size, use
    /// [`BottomK`](twindex::BottomK).
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`] unless the share is above 0 and at most 1, and there is a run.
    pub fn coordinated(share: f64, runs: u32) -> Result<Self> {
        if !(share > 0.0 && share <= 1.0) {
            return Err(Error::InvalidSetting {
                setting: "sampled share",
                got: share.to_string(),
                expected: "a number above 0, at most 1",
            });
        }
        Self { draw: SamplingMethod::Coordinated(share), runs }.checked()
    }

    fn checked(self) -> Result<Self> {
        if self.runs > 0 {
            return Ok(self);
        }
        Err(Error::InvalidSetting {
            setting: "runs",
            got: "0".to_owned(),
            expected: "a whole number from 1 on",
        })
    }

    /// Samples both sets and compares the samples, once for each run. The same seed gives the same
    /// samples on every platform. The similarity is 0 if a set or both samples are empty.
    ///
    /// A run of independent samples takes some nanoseconds for each drawn element and one bit for
    /// each other. A run of coordinated samples takes some nanoseconds for each element of the
    /// union.
    ///
    /// # Panics
    ///
    /// If a set is not in ascending order.
    pub fn similarity(&self, a: &[u64], b: &[u64], seed: u64) -> Sampled {
        assert!(a.is_sorted() && b.is_sorted(), "elements in ascending order");
        let mut random = SplitMix::new(seed);
        Sampled::of((0..self.runs).map(|_| self.run(a, b, &mut random)))
    }

    /// Like [`similarity`](Self::similarity), but `go_on` may end it before each run.
    pub(crate) fn watched(
        &self,
        a: &[u64],
        b: &[u64],
        seed: u64,
        go_on: &dyn Fn() -> Result<()>,
    ) -> Result<Sampled> {
        let mut random = SplitMix::new(seed);
        let run = |_| go_on().map(|()| self.run(a, b, &mut random));
        Ok(Sampled::of((0..self.runs).map(run).collect::<Result<Vec<f64>>>()?))
    }

    /// The similarity of one sample of both sets.
    fn run(&self, a: &[u64], b: &[u64], random: &mut SplitMix) -> f64 {
        match self.draw {
            SamplingMethod::Independent(from_a, from_b) => {
                let (a, b) = (draw(a, from_a, random), draw(b, from_b, random));
                Overlap::of_multisets(&a, &b).similarity()
            }
            SamplingMethod::Coordinated(share) => {
                kept_of_both(a, b, share, random.next()).similarity()
            }
        }
    }

    /// The limit of the mean: the similarity itself for coordinated samples, another number for
    /// independent ones.
    ///
    /// Coordinated samples: every kept element of the union is equally likely to be common, so the
    /// mean is exactly the similarity, except for empty samples.
    ///
    /// Independent samples: an element that occurs c times in one set is drawn X times. X has a
    /// hypergeometric law, whose mean is c times the share drawn; Y is the same for the other set.
    /// The samples share the sum of min(X, Y) over all elements, whose mean is the sum of P(X ≥ t)
    /// P(Y ≥ t) over t ≥ 1. For sets with s common elements that is s f g, where f and g are the
    /// shares drawn. With f = g the limit is f² s / (f (|A| + |B|) - f² s) = f D / (2 - f D), where
    /// D is Dice's coefficient. For a small f that is nearly f D / 2 = f J / (1 + J).
    ///
    /// The mean over finite samples is above the limit by a term of order 1/(number drawn), because
    /// c/(n - c) is convex. Takes some hundred nanoseconds for each distinct element.
    ///
    /// # Panics
    ///
    /// If a set is not in ascending order.
    pub fn limit(&self, a: &[u64], b: &[u64]) -> f64 {
        let overlap = Overlap::of_multisets(a, b);
        let SamplingMethod::Independent(from_a, from_b) = self.draw else {
            return overlap.similarity();
        };
        let (from_a, from_b) = (from_a.min(a.len()), from_b.min(b.len()));
        if from_a + from_b == 0 {
            return 0.0;
        }
        let mut common = 0.0;
        for (of_a, of_b) in counts(a, b).filter(|(of_a, of_b)| *of_a > 0 && *of_b > 0) {
            let x = DrawCountLaw::new(of_a, a.len(), from_a);
            let y = DrawCountLaw::new(of_b, b.len(), from_b);
            let terms = (1..=of_a.min(of_b)).map(|t| x.at_least(t) * y.at_least(t));
            common += terms.take_while(|term| *term > 0.0).sum::<f64>();
        }
        common / ((from_a + from_b) as f64 - common)
    }
}

impl Sampled {
    /// Summarises at least one similarity.
    pub(crate) fn of(similarities: impl IntoIterator<Item = f64>) -> Self {
        let (mut runs, mut mean, mut squares) = (0_u32, 0.0, 0.0);
        let (mut least, mut greatest) = (f64::INFINITY, f64::NEG_INFINITY);
        for similarity in similarities {
            // Welford's update avoids differences of large sums.
            runs += 1;
            let above = similarity - mean;
            mean += above / f64::from(runs);
            squares += above * (similarity - mean);
            (least, greatest) = (least.min(similarity), greatest.max(similarity));
        }
        let spread = (runs > 1).then(|| (squares / f64::from(runs - 1)).sqrt());
        Self { mean, spread, least, greatest, runs }
    }

    /// The standard error of the mean: the spread over the root of the number of runs; `None` for
    /// one run.
    pub fn standard_error(&self) -> Option<f64> {
        Some(self.spread? / f64::from(self.runs).sqrt())
    }
}

/// Draws `number` elements without replacement and keeps their order; all elements if there are no
/// more. Every choice is equally probable (Floyd's method: Bentley, Floyd 1987, "A sample of
/// brilliance").
///
/// Takes some nanoseconds for each drawn element, and one bit for each other.
///
/// ```
/// use twindex_lab::methods::random_sample;
/// let elements: Vec<u64> = (0..1000).collect();
/// let sample = random_sample(&elements, 10, 1);
/// assert_eq!(sample.len(), 10);
/// assert!(sample.is_sorted_by(|x, y| x < y));
/// assert_eq!(random_sample(&elements, 5000, 1), elements);
/// ```
pub fn random_sample(elements: &[u64], number: usize, seed: u64) -> Vec<u64> {
    draw(elements, number, &mut SplitMix::new(seed))
}

/// Chooses places by Floyd's method (Bentley, Floyd 1987, "A sample of brilliance"), with one
/// random number for each drawn element. Places are kept as bits, so they come out in order.
fn draw(elements: &[u64], number: usize, random: &mut SplitMix) -> Vec<u64> {
    if number >= elements.len() {
        return elements.to_vec();
    }
    let mut places = vec![0_u64; elements.len().div_ceil(64)];
    for last in elements.len() - number..elements.len() {
        let place = random.below(last as u64 + 1) as usize;
        let taken = places[place / 64] >> (place % 64) & 1 == 1;
        let place = if taken { last } else { place };
        places[place / 64] |= 1 << (place % 64);
    }
    let mut sample = Vec::with_capacity(number);
    for (mut word, block) in places.into_iter().zip(elements.chunks(64)) {
        while word != 0 {
            sample.push(block[word.trailing_zeros() as usize]);
            word &= word - 1;
        }
    }
    sample
}

/// The overlap of both samples: the elements whose hash under this key is below the share of all
/// hashes.
fn kept_of_both(a: &[u64], b: &[u64], share: f64, key: u64) -> Overlap {
    // For a share of 1 the product is 2^64, which the cast saturates.
    let threshold = (share * 2.0_f64.powi(64)) as u64;
    let mut kept = Overlap { a: 0, b: 0, shared: 0 };
    let (mut rest_a, mut rest_b) = (a, b);
    while let Some(element) = next(rest_a, rest_b) {
        let (of_a, of_b) = (take(&mut rest_a, element), take(&mut rest_b, element));
        let (fewer, more) = (of_a.min(of_b), of_a.max(of_b));
        // The i-th occurrence is hashed to the i-th number of a generator seeded by the element.
        let mut state = fmix64(element ^ key);
        let mut of_both = [0, 0];
        for rank in 0..more {
            state = state.wrapping_add(GOLDEN);
            of_both[usize::from(rank >= fewer)] += u64::from(fmix64(state) <= threshold);
        }
        let [shared, only] = of_both;
        kept.shared += shared;
        kept.a += shared + if of_a > of_b { only } else { 0 };
        kept.b += shared + if of_b > of_a { only } else { 0 };
    }
    kept
}

/// For each element of either set, its numbers of occurrences in the first and the second.
fn counts<'e>(mut a: &'e [u64], mut b: &'e [u64]) -> impl Iterator<Item = (usize, usize)> + 'e {
    std::iter::from_fn(move || {
        let element = next(a, b)?;
        Some((take(&mut a, element), take(&mut b, element)))
    })
}

/// The least remaining element of both.
fn next(a: &[u64], b: &[u64]) -> Option<u64> {
    a.first().into_iter().chain(b.first()).min().copied()
}

/// Removes the leading occurrences of an element and returns their number.
fn take(rest: &mut &[u64], element: u64) -> usize {
    let count = rest.iter().take_while(|x| **x == element).count();
    *rest = &rest[count..];
    count
}

/// The hypergeometric law of how often an element is drawn, without negligible probabilities.
struct DrawCountLaw {
    /// The least number of times with a probability that is not negligible.
    least: usize,
    /// The probabilities of being drawn at least so often, from `least` on.
    tails: Vec<f64>,
}

impl DrawCountLaw {
    /// The law for an element that occurs `count` times among `all`, of which `drawn` are drawn.
    fn new(count: usize, all: usize, drawn: usize) -> Self {
        let (floor, ceiling) = ((count + drawn).saturating_sub(all), count.min(drawn));
        // Start near the most probable number and go outwards, in proportion to its probability, as
        // in `RandomSubsets`. This needs no factorials.
        let mode = (u128::from(count as u64 + 1) * u128::from(drawn as u64 + 1) / (all as u128 + 2))
            as usize;
        let mode = mode.clamp(floor, ceiling);
        // The ratio of the probabilities of x + 1 and x.
        let ratio = |x: usize| {
            let neither = (all - count + x + 1 - drawn) as f64;
            ((count - x) as f64 / (x + 1) as f64) * ((drawn - x) as f64 / neither)
        };
        // Omitted terms are far below the rounding error of the others.
        const LEAST: f64 = 1e-20;
        let mut up = vec![1.0];
        for x in mode..ceiling {
            let weight = up[up.len() - 1] * ratio(x);
            if weight < LEAST {
                break;
            }
            up.push(weight);
        }
        let mut down = Vec::new();
        let mut weight = 1.0;
        for x in (floor..mode).rev() {
            weight /= ratio(x);
            if weight < LEAST {
                break;
            }
            down.push(weight);
        }
        let least = mode - down.len();
        let mut tails: Vec<f64> = down.into_iter().rev().chain(up).collect();
        let mut sum = 0.0;
        for tail in tails.iter_mut().rev() {
            sum += *tail;
            *tail = sum;
        }
        tails.iter_mut().for_each(|tail| *tail /= sum);
        Self { least, tails }
    }

    /// The probability of being drawn at least `times` times.
    fn at_least(&self, times: usize) -> f64 {
        match times.checked_sub(self.least) {
            None => 1.0,
            Some(at) => self.tails.get(at).copied().unwrap_or(0.0),
        }
    }
}

#[cfg(test)]
#[path = "sampling_tests.rs"]
mod tests;
