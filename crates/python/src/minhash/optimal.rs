//! The bands and rows that err least, as datasketch chooses them.
//!
//! The share of wrong answers of bands and rows is an integral over the similarity. datasketch
//! computes it with QUADPACK's QAGS and takes the least sum, the first among equals. Far from the
//! threshold all these sums are nearly zero and their rounding decides, so the integrands and the
//! rule are evaluated here in the same order of operations.

/// Where QUADPACK's 21-point rule evaluates on each side of the middle, and the weights there
/// (Piessens and others 1983, QK21). Every second one is a point of the 10-point Gauss rule.
const POINTS: [(f64, f64); 10] = [
    (0.995_657_163_025_808_1, 0.011_694_638_867_371_874),
    (0.973_906_528_517_171_7, 0.032_558_162_307_964_725),
    (0.930_157_491_355_708_2, 0.054_755_896_574_351_995),
    (0.865_063_366_688_984_5, 0.075_039_674_810_919_96),
    (0.780_817_726_586_416_9, 0.093_125_454_583_697_6),
    (0.679_409_568_299_024_4, 0.109_387_158_802_297_64),
    (0.562_757_134_668_604_7, 0.123_491_976_262_065_84),
    (0.433_395_394_129_247_2, 0.134_709_217_311_473_34),
    (0.294_392_862_701_460_2, 0.142_775_938_577_060_09),
    (0.148_874_338_981_631_22, 0.147_739_104_901_338_49),
];

/// The weight of the middle.
const MIDDLE: f64 = 0.149_445_554_002_916_9;

/// The weights of the 10-point Gauss rule.
const GAUSS: [f64; 5] = [
    0.066_671_344_308_688_14,
    0.149_451_349_150_580_6,
    0.219_086_362_515_982_04,
    0.269_266_719_309_996_35,
    0.295_524_224_714_752_87,
];

/// The absolute and the relative error that SciPy's `quad` asks for.
const TOLERANCE: f64 = 1.49e-8;

/// The most intervals of SciPy's `quad`.
const MOST_INTERVALS: usize = 50;

/// The bands and rows for a threshold of similarity. The weights are of false positives and of
/// false negatives.
pub(super) fn for_similarity(threshold: f64, permutations: u32, weights: (f64, f64)) -> (u32, u32) {
    least(permutations, permutations, weights, |bands, rows| {
        let found = |s: f64| 1.0 - (1.0 - s.powf(rows)).powf(bands);
        let missed = |s: f64| 1.0 - found(s);
        (integral(&found, 0.0, threshold), integral(&missed, threshold, 1.0))
    })
}

/// The bands and rows for a threshold of containment (Zhu, Nargesian, Pu, Miller 2016, section 5).
/// `ratio` is the size of the set that is found by that of the set that is asked about.
pub(super) fn for_containment(
    threshold: f64,
    permutations: u32,
    most_rows: u32,
    ratio: f64,
    weights: (f64, f64),
) -> (u32, u32) {
    least(permutations, most_rows, weights, |bands, rows| {
        let found = |t: f64| 1.0 - (1.0 - (t / (1.0 + ratio - t)).powf(rows)).powf(bands);
        let missed = |t: f64| 1.0 - found(t);
        // No containment is greater than the ratio, and none is greater than 1.
        let positives = integral(&found, 0.0, if ratio >= threshold { threshold } else { ratio });
        let most = if ratio >= 1.0 { 1.0 } else { ratio };
        let negatives = if most >= threshold || ratio >= 1.0 {
            integral(&missed, threshold, most)
        } else {
            0.0
        };
        (positives, negatives)
    })
}

/// The first bands and rows whose weighted errors are least.
fn least(
    permutations: u32,
    most_rows: u32,
    weights: (f64, f64),
    errors: impl Fn(f64, f64) -> (f64, f64),
) -> (u32, u32) {
    let (mut least, mut best) = (f64::INFINITY, (0, 0));
    for bands in 1..=permutations {
        for rows in 1..=(permutations / bands).min(most_rows) {
            let (positives, negatives) = errors(bands.into(), rows.into());
            let error = positives * weights.0 + negatives * weights.1;
            if error < least {
                (least, best) = (error, (bands, rows));
            }
        }
    }
    best
}

/// An interval with its integral.
#[derive(Clone, Copy)]
struct Interval {
    from: f64,
    to: f64,
    integral: f64,
    /// A bound of the integral's error.
    error: f64,
    /// What the error is when it is nothing but rounding.
    rounding: f64,
    /// The integral of the distance from the mean.
    spread: f64,
}

/// The integral of a function that is never negative, by halving the worst interval until the error
/// is small.
fn integral(function: &impl Fn(f64) -> f64, from: f64, to: f64) -> f64 {
    let whole = rule(function, from, to);
    let asked = |sum: f64| f64::max(TOLERANCE, TOLERANCE * sum.abs());
    let hopeless = whole.error <= 100.0 * f64::EPSILON * whole.rounding;
    let done = whole.error <= asked(whole.integral) && whole.error != whole.spread;
    if hopeless || done || whole.error == 0.0 {
        return whole.integral;
    }
    let mut intervals = vec![whole];
    let (mut error, mut area) = (whole.error, whole.integral);
    while intervals.len() < MOST_INTERVALS {
        let order = |(_, one): &(_, &Interval), (_, other): &(_, &Interval)| {
            one.error.total_cmp(&other.error)
        };
        let Some((place, &worst)) = intervals.iter().enumerate().max_by(order) else { break };
        let middle = 0.5 * (worst.from + worst.to);
        let (low, high) = (rule(function, worst.from, middle), rule(function, middle, worst.to));
        area += low.integral + high.integral - worst.integral;
        error += low.error + high.error - worst.error;
        intervals[place] = low;
        intervals.insert(place + 1, high);
        if error <= asked(area) {
            break;
        }
    }
    intervals.iter().map(|interval| interval.integral).sum()
}

/// Gauss's and Kronrod's rule of 10 and 21 points.
fn rule(function: &impl Fn(f64) -> f64, from: f64, to: f64) -> Interval {
    let (center, half) = (0.5 * (from + to), 0.5 * (to - from));
    let middle = function(center);
    let (mut gauss, mut kronrod, mut absolute) = (0.0, MIDDLE * middle, MIDDLE * middle.abs());
    let mut values = [(0.0, 0.0); 10];
    let odd_then_even = (1..10).step_by(2).chain((0..10).step_by(2));
    for i in odd_then_even {
        let (point, weight) = POINTS[i];
        let (low, high) = (function(center - half * point), function(center + half * point));
        if i % 2 == 1 {
            gauss += GAUSS[i / 2] * (low + high);
        }
        kronrod += weight * (low + high);
        absolute += weight * (low.abs() + high.abs());
        values[i] = (low, high);
    }
    let mean = kronrod * 0.5;
    let spread = POINTS.iter().zip(values).fold(
        MIDDLE * (middle - mean).abs(),
        |sum, (&(_, weight), (low, high))| {
            sum + weight * ((low - mean).abs() + (high - mean).abs())
        },
    );
    let (absolute, spread) = (absolute * half.abs(), spread * half.abs());
    let mut error = ((kronrod - gauss) * half).abs();
    if spread != 0.0 && error != 0.0 {
        error = spread * f64::min(1.0, (200.0 * error / spread).powf(1.5));
    }
    if absolute > f64::MIN_POSITIVE / (50.0 * f64::EPSILON) {
        error = error.max(50.0 * f64::EPSILON * absolute);
    }
    Interval { from, to, integral: kronrod * half, error, rounding: absolute, spread }
}
