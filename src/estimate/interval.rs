//! Confidence intervals for a probability.

/// An estimated similarity, with its interval at some confidence. All are from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The estimated similarity.
    pub similarity: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

/// Returns the ends of the score interval (Wilson 1927) for a probability, after `successes` out of
/// `trials` trials.
///
/// `z` is the quantile of the normal distribution that the confidence requires
/// ([`normal_quantile`](crate::normal_quantile)): 1.96 for 95 %. Unlike Wald's interval, this one
/// covers the truth near 0 and 1 too, where near duplicates are: at 95 %, mostly 94.7 to 96.2 % of
/// the time.
///
/// ```
/// let (low, high) = twindex::wilson(205, 256, 1.96);
/// assert!((low - 0.7476).abs() < 1e-4 && (high - 0.8451).abs() < 1e-4);
/// ```
///
/// # Panics
///
/// If `trials` is 0, or less than `successes`.
pub fn wilson(successes: u32, trials: u32, z: f64) -> (f64, f64) {
    assert!(trials > 0 && successes <= trials, "{successes} of {trials}");
    let (n, p) = (f64::from(trials), f64::from(successes) / f64::from(trials));
    let z2 = z * z;
    let middle = (p + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let half = z / (1.0 + z2 / n) * (p * (1.0 - p) / n + z2 / (4.0 * n * n)).sqrt();
    let low = if successes == 0 { 0.0 } else { (middle - half).max(0.0) };
    let high = if successes == trials { 1.0 } else { (middle + half).min(1.0) };
    (low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reference values were computed from the closed form with 40 digits.
    #[test]
    fn wilson_agrees_with_reference_values() {
        let z = 1.959_963_984_540_054;
        for (successes, trials, low, high) in [
            (0, 10, 0.0, 0.277_532_799_862_889_2),
            (5, 10, 0.236_593_090_512_564, 0.763_406_909_487_436),
            (205, 256, 0.747_567_225_505_515_8, 0.845_101_860_863_295_9),
            (256, 256, 0.985_216_143_574_128_6, 1.0),
        ] {
            let got = wilson(successes, trials, z);
            assert!((got.0 - low).abs() < 1e-12, "{successes}/{trials}: {got:?}");
            assert!((got.1 - high).abs() < 1e-12, "{successes}/{trials}: {got:?}");
        }
    }

    /// The coverage is summed exactly over the binomial law.
    #[test]
    fn the_coverage_is_near_95_percent() {
        use statrs::distribution::{Binomial, Discrete};
        for trials in [64, 128, 256, 512] {
            for p in [0.2, 0.5, 0.8, 0.9, 0.95] {
                let law = Binomial::new(p, u64::from(trials)).expect("a probability");
                let covered: f64 = (0..=trials)
                    .filter(|&s| {
                        let (low, high) = wilson(s, trials, 1.96);
                        low <= p && p <= high
                    })
                    .map(|s| law.pmf(u64::from(s)))
                    .sum();
                assert!((0.93..=0.985).contains(&covered), "{covered} at {p} of {trials}");
            }
        }
    }
}
