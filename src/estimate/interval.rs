//! Confidence intervals of a share of successes.

/// A similarity with its interval at some confidence, all from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The similarity.
    pub similarity: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

/// The score interval of a probability of which `successes` out of `trials` were seen (Wilson
/// 1927), `z` being the quantile of the normal distribution ([`normal_quantile`](crate::normal_quantile)):
/// 1.96 for 95 %.
///
/// Unlike Wald's it covers the truth near 0 and 1, where near duplicates are: mostly 94.7 to 96.2 % of
/// the time at 95 %.
///
/// # Panics
///
/// Where `trials` is 0 or less than `successes`.
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

    /// Reference values from the closed form, computed apart with 40 digits.
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

    /// The chance that the interval covers the truth, by exact summation.
    #[test]
    fn coverage_is_near_its_promise() {
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
