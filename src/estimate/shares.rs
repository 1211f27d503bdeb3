//! What a number of equal lanes says about the share of a query that a document contains.
//!
//! Let q and x be the sizes of a query and a document. If the document contains the share t of the
//! query, their similarity is J = t / (1 + x/q - t), and each lane is equal with probability C +
//! (1 - C) J (see `chance`). So the number of equal lanes has a known law for each share, and by
//! Bayes' rule each number of equal lanes has a law of shares. This file computes the second on a
//! grid of shares from 0 to the most that the document has room for, min(1, x/q).
//!
//! The prior decides between chance and containment where documents are much larger than the query.
//! If 10,000 documents are compared, the one with the most equal lanes often has them by chance,
//! and an interval that ignores the other 9,999 is wrong about it most of the time. So the shares
//! of all compared documents are the prior for each of them (empirical Bayes; Robbins 1956, Efron
//! 2016, "Empirical Bayes deconvolution estimates").

use super::agreement::Agreement;
use super::chance::{EqualLanes, equal_lane_probability};
use super::containment::Containment;
use crate::error::Result;
use crate::params::{Confidence, Threshold};
use std::sync::LazyLock;

/// The number of cells of the grid. The least standard error of a share in the middle of the range
/// is 0.023, with 512 lanes and equal sizes. There a cell is 0.016 wide.
const CELLS: usize = 96;

/// The points of the grid: both ends, which have no width, and the cells between them.
const POINTS: usize = CELLS + 2;

/// The prior weight of each end of the range. Documents that contain nothing or everything are more
/// frequent than any share between.
const END: f64 = 0.05;

/// The number of documents of unknown share that the prior contains besides the compared ones. They
/// keep three similar documents from deciding about a fourth.
const UNKNOWN: f64 = 3.0;

/// The widest interval that says something, as a part of what there is room for. Where the common
/// phrases of a collection are in every document, wider intervals are mostly of documents that have
/// nothing else of the query.
const WIDEST: f64 = 0.6;

/// The number of steps that fit the prior to the compared documents.
const STEPS: usize = 30;

/// The variance of the estimate from one document, over that of the error which it has in common
/// with the documents beside it. Documents that contain the same part of a query meet it in the
/// same lanes, so no number of them makes that error smaller. It was measured on mails, licences
/// and random verses (`docs/benchmarks.md`, "Containment").
const COMMON: f64 = 4.0;

impl Containment {
    /// Returns the share of a set of `size` elements that is in a set of `other` elements, from the
    /// equal lanes of their signatures, with its interval at the
    /// [default confidence](crate::DEFAULT_CONFIDENCE), 95 %. It is 0 if a set is empty.
    pub fn estimate(agreement: Agreement, size: f64, other: f64) -> Self {
        Self::estimate_with(agreement, size, other, Confidence::DEFAULT)
    }

    /// Like [`estimate`](Self::estimate), with an interval at another confidence, above 0 and below
    /// 1.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`](crate::Error::InvalidSetting) for any other confidence.
    pub fn estimate_at(
        agreement: Agreement,
        size: f64,
        other: f64,
        confidence: f64,
    ) -> Result<Self> {
        Ok(Self::estimate_with(agreement, size, other, Confidence::new(confidence)?))
    }

    /// Like [`estimate_at`](Self::estimate_at), for a validated confidence.
    pub(crate) fn estimate_with(
        agreement: Agreement,
        size: f64,
        other: f64,
        confidence: Confidence,
    ) -> Self {
        if size <= 0.0 || other <= 0.0 {
            return Self { share: 0.0, low: 0.0, high: 0.0 };
        }
        let share = Self::of_similarity(agreement.similarity(), size, other);
        let law = SharePrior::unknown(size, agreement.lanes()).judge(agreement.equal(), other);
        let (low, high) = law.interval(confidence);
        Self { share, low: low.min(share), high: high.max(share) }
    }
}

/// Parts of what a document has room for, each with the range that it stands for. The cells are
/// equally wide on the arcsine scale, which is the scale of the errors of a share near 0 and 1.
struct Grid {
    at: [f64; POINTS],
    low: [f64; POINTS],
    high: [f64; POINTS],
}

static GRID: LazyLock<Grid> = LazyLock::new(|| {
    let edge = |cell: usize| {
        let angle = std::f64::consts::FRAC_PI_2 * cell as f64 / CELLS as f64;
        if cell == CELLS { 1.0 } else { angle.sin().powi(2) }
    };
    let mut grid = Grid { at: [1.0; POINTS], low: [1.0; POINTS], high: [1.0; POINTS] };
    (grid.at[0], grid.low[0], grid.high[0]) = (0.0, 0.0, 0.0);
    for cell in 0..CELLS {
        let (low, high) = (edge(cell), edge(cell + 1));
        (grid.low[cell + 1], grid.high[cell + 1]) = (low, high);
        grid.at[cell + 1] = f64::midpoint(low, high);
    }
    grid
});

/// The logarithms of the probabilities that a lane is equal, and that it is not, at each point.
struct LaneLogs {
    equal: [f64; POINTS],
    unequal: [f64; POINTS],
}

impl LaneLogs {
    /// The logarithms for a query of `size` elements and a document of `other`.
    fn new(size: f64, other: f64) -> Self {
        let room = room(size, other);
        let mut logs = Self { equal: [0.0; POINTS], unequal: [0.0; POINTS] };
        for (point, at) in GRID.at.iter().enumerate() {
            let similarity = Containment::to_similarity(at * room, size, other);
            // At similarity 1, no lane differs. The logarithm must stay finite.
            let equal = equal_lane_probability(similarity).min(1.0 - f64::EPSILON);
            logs.equal[point] = equal.ln();
            logs.unequal[point] = (1.0 - equal).ln();
        }
        logs
    }

    /// The likelihood of each point, up to a factor that all points share.
    fn likelihood(&self, equal: usize, lanes: usize) -> [f64; POINTS] {
        self.power(equal as f64, (lanes - equal) as f64)
    }

    /// The probability of so many equal and unequal lanes, which need not be whole numbers, up to a
    /// factor.
    fn power(&self, equal: f64, unequal: f64) -> [f64; POINTS] {
        let mut all = [0.0; POINTS];
        for (point, likelihood) in all.iter_mut().enumerate() {
            *likelihood = equal * self.equal[point] + unequal * self.unequal[point];
        }
        let most = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        all.map(|log| (log - most).exp())
    }
}

/// The greatest share of a query of `size` elements for which `other` elements have room.
fn room(size: f64, other: f64) -> f64 {
    (other / size).min(1.0)
}

/// Scales the numbers so that their sum is 1.
fn normalized(mut all: [f64; POINTS]) -> [f64; POINTS] {
    let sum: f64 = all.iter().sum();
    all.iter_mut().for_each(|one| *one /= sum);
    all
}

/// The documents of about one size that were compared with a query.
#[derive(Clone, Debug, Default)]
pub(crate) struct SizeCount {
    documents: u64,
    /// The sum of their sizes, in elements.
    elements: f64,
    /// The number of documents with each number of equal lanes.
    by_equal: Vec<u64>,
}

impl SizeCount {
    /// Counts a document of `size` elements.
    pub(crate) fn add(&mut self, size: f64, equal: usize) {
        if equal >= self.by_equal.len() {
            self.by_equal.resize(equal + 1, 0);
        }
        self.by_equal[equal] += 1;
        self.documents += 1;
        self.elements += size;
    }

    /// The number of documents.
    pub(crate) fn documents(&self) -> u64 {
        self.documents
    }

    /// The mean size; 0 without documents.
    pub(crate) fn mean_size(&self) -> f64 {
        if self.documents == 0 { 0.0 } else { self.elements / self.documents as f64 }
    }
}

/// The law of shares before a document's lanes are looked at.
#[derive(Clone, Debug)]
pub(crate) struct SharePrior {
    /// The number of elements of the query.
    size: f64,
    lanes: usize,
    /// The weight of each point if nothing is known.
    base: [f64; POINTS],
    /// The weight of each point. With compared documents, the sum is their number plus [`UNKNOWN`].
    weights: [f64; POINTS],
    /// The prior that judged the compared documents in the last step.
    fitted: Option<[f64; POINTS]>,
}

impl SharePrior {
    /// The prior if nothing is known: all shares for which there is room are equally probable.
    pub(crate) fn unknown(size: f64, lanes: usize) -> Self {
        let mut weights = [0.0; POINTS];
        for (point, weight) in weights.iter_mut().enumerate() {
            *weight = GRID.high[point] - GRID.low[point];
        }
        Self { size, lanes, base: weights, weights, fitted: None }
    }

    /// The prior from the compared documents, counted by classes of similar sizes, and one document
    /// of unknown share.
    ///
    /// Each step replaces the prior by the mean of what it says about all documents (the
    /// expectation-maximization algorithm).
    pub(crate) fn among(size: f64, lanes: usize, compared: &[SizeCount]) -> Self {
        let mut base = Self::unknown(size, lanes).weights.map(|width| width * (1.0 - 2.0 * END));
        (base[0], base[POINTS - 1]) = (END, END);
        let mut cells = Vec::new();
        for class in compared.iter().filter(|class| class.documents > 0) {
            let logs = LaneLogs::new(size, class.mean_size());
            let numbers = class.by_equal.iter().enumerate().filter(|(_, number)| **number > 0);
            cells.extend(numbers.map(|(equal, n)| (logs.likelihood(equal, lanes), *n as f64)));
        }
        let base = base.map(|weight| weight * UNKNOWN);
        let (mut fitted, mut weights) = (base, base);
        for _ in 0..STEPS {
            fitted = normalized(weights);
            weights = base;
            for (likelihood, documents) in &cells {
                let judged = times(likelihood, &fitted);
                for (weight, judged) in weights.iter_mut().zip(judged) {
                    *weight += documents * judged;
                }
            }
        }
        Self { size, lanes, base, weights, fitted: Some(fitted) }
    }

    /// The law of the share of a document of `other` elements with this number of equal lanes, if
    /// the errors of all compared documents are independent.
    ///
    /// If the prior comes from compared documents, this one must be among them: its own part is
    /// taken out first, so that it does not speak for itself.
    pub(crate) fn judge(&self, equal: usize, other: f64) -> ShareLaw {
        self.judge_with(&LaneLogs::new(self.size, other), None, equal, other)
    }

    /// The same law with the error that documents have in common. `errors` is that of documents of
    /// about this size.
    pub(crate) fn judge_among(&self, errors: &CommonErrors, equal: usize, other: f64) -> ShareLaw {
        self.judge_with(&LaneLogs::new(self.size, other), Some(errors), equal, other)
    }

    /// The errors that documents of `other` elements have in common.
    pub(crate) fn common_errors(&self, other: f64) -> CommonErrors {
        let (logs, lanes) = (LaneLogs::new(self.size, other), self.lanes as f64);
        let law = |point: usize| {
            let equal = logs.equal[point].exp() * lanes;
            let likelihood = logs.power(COMMON * equal, COMMON * (lanes - equal));
            times(&likelihood, &self.base)
        };
        CommonErrors((0..POINTS).map(law).collect())
    }

    /// Whether documents of `other` elements can be told to contain a share of the query.
    pub(crate) fn reach(&self, share: Threshold, other: f64, errors: &CommonErrors) -> Reach {
        let logs = LaneLogs::new(self.size, other);
        let tells = |equal| {
            self.judge_with(&logs, None, equal, other).tells(share)
                && self.judge_with(&logs, Some(errors), equal, other).tells(share)
        };
        let (mut least, mut above) = (0, self.lanes + 1);
        while least < above {
            let middle = usize::midpoint(least, above);
            if middle > self.lanes || tells(middle) {
                above = middle;
            } else {
                least = middle + 1;
            }
        }
        let most = Containment::to_similarity(room(self.size, other), self.size, other);
        Reach { least, full: at_least(least, self.lanes, equal_lane_probability(most)) }
    }

    fn judge_with(
        &self,
        logs: &LaneLogs,
        errors: Option<&CommonErrors>,
        equal: usize,
        other: f64,
    ) -> ShareLaw {
        let likelihood = logs.likelihood(equal, self.lanes);
        let mut points = self.base;
        if let Some(fitted) = &self.fitted {
            let own = times(&likelihood, fitted);
            let mut others = [0.0; POINTS];
            for (point, others) in others.iter_mut().enumerate() {
                let of_others = (self.weights[point] - own[point] - self.base[point]).max(0.0);
                *others = of_others * likelihood[point];
                points[point] *= likelihood[point];
            }
            let others = errors.map_or(others, |errors| errors.spread(&others));
            points.iter_mut().zip(others).for_each(|(point, others)| *point += others);
        } else {
            points.iter_mut().zip(likelihood).for_each(|(point, likelihood)| *point *= likelihood);
        }
        ShareLaw { points: normalized(points), room: room(self.size, other) }
    }
}

/// For each share at which documents seem to be, the law of the share that they have.
#[derive(Debug)]
pub(crate) struct CommonErrors(Vec<[f64; POINTS]>);

impl CommonErrors {
    fn spread(&self, seeming: &[f64; POINTS]) -> [f64; POINTS] {
        let mut spread = [0.0; POINTS];
        for (seeming, law) in seeming.iter().zip(&self.0) {
            spread.iter_mut().zip(law).for_each(|(spread, law)| *spread += seeming * law);
        }
        spread
    }
}

/// What the lanes of documents of one size can tell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reach {
    /// The least number of equal lanes that tells that the document contains the share; more than
    /// all lanes if none does.
    pub(crate) least: usize,
    /// The probability that a document which contains as much as it has room for has so many.
    pub(crate) full: f64,
}

/// The binomial probability that at least this many lanes are equal.
fn at_least(least: usize, lanes: usize, equal: f64) -> f64 {
    EqualLanes::none().and_lanes(lanes, equal).at_least(least)
}

/// The normalized products of two laws.
fn times(a: &[f64; POINTS], b: &[f64; POINTS]) -> [f64; POINTS] {
    let mut product = *a;
    product.iter_mut().zip(b).for_each(|(a, b)| *a *= b);
    normalized(product)
}

/// What is known of the share that a document contains: the probability of each point of the grid.
#[derive(Clone, Debug)]
pub(crate) struct ShareLaw {
    points: [f64; POINTS],
    /// The greatest share for which the document has room.
    room: f64,
}

impl ShareLaw {
    /// The share that is as likely to be exceeded as not.
    pub(crate) fn median(&self) -> f64 {
        self.quantile(0, 0.0, 0.5).map_or(self.room, |(_, at)| at)
    }

    /// The shortest interval with this probability. It reaches an end of the range if the share may
    /// well be there.
    ///
    /// If the upper end alone has most of the probability, the lower bound is that of documents
    /// which do not contain everything: equal lanes cannot tell those that contain nearly
    /// everything from those that contain everything.
    pub(crate) fn interval(&self, confidence: Confidence) -> (f64, f64) {
        let (low, high) = self.shortest(confidence);
        let below = self.points[POINTS - 1] > 0.5;
        let below = below.then(|| self.without_end()).flatten();
        (below.map_or(low, |below| low.min(below.shortest(confidence).0)), high)
    }

    /// The law of the shares below the upper end; `None` if it has all the probability.
    fn without_end(&self) -> Option<Self> {
        let mut points = self.points;
        points[POINTS - 1] = 0.0;
        let is_possible = points.iter().any(|probability| *probability > 0.0);
        is_possible.then(|| Self { points: normalized(points), room: self.room })
    }

    fn shortest(&self, confidence: Confidence) -> (f64, f64) {
        let (mut best, mut before, mut from, mut sum) = ((0.0, self.room), 0.0, 0, 0.0);
        for (point, probability) in self.points.iter().enumerate() {
            let low = GRID.low[point] * self.room;
            // The upper ends rise with the lower ones, so each search goes on where the last ended.
            let Some((at, high)) = self.quantile(from, sum, before + confidence.get()) else {
                break;
            };
            if high - low < best.1 - best.0 - 1e-12 {
                best = (low, high);
            }
            while from < at {
                sum += self.points[from];
                from += 1;
            }
            before += probability;
        }
        best
    }

    /// Whether the lanes tell that the document contains this share: it contains the share with a
    /// probability of at least 1/2, and its 95 % interval says something. It does not begin at 0,
    /// and is at most [`WIDEST`].
    pub(crate) fn tells(&self, share: Threshold) -> bool {
        let (low, high) = self.interval(Confidence::DEFAULT);
        let is_informative = low > 0.0 && high - low <= WIDEST * self.room;
        is_informative && self.median() >= share.get()
    }

    /// The share below which this probability lies, and its point. `from` is a point at or below
    /// it, and `sum` the probability of all points before that one. `None` if rounding leaves the
    /// probability above that of all points.
    fn quantile(&self, from: usize, mut sum: f64, wanted: f64) -> Option<(usize, f64)> {
        for point in from..POINTS {
            let probability = self.points[point];
            if sum + probability >= wanted {
                let part = if probability > 0.0 { (wanted - sum) / probability } else { 0.0 };
                let width = GRID.high[point] - GRID.low[point];
                let at = GRID.low[point] + part.clamp(0.0, 1.0) * width;
                return Some((point, at * self.room));
            }
            sum += probability;
        }
        // The last digits of the sum may be missing.
        (wanted - sum < 1e-9).then_some((POINTS - 1, self.room))
    }
}

#[cfg(test)]
#[path = "shares_tests.rs"]
mod shares_tests;
