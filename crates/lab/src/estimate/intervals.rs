//! Two intervals to compare with [`wilson`](twindex::wilson): Wald's and the exact one.

use super::estimate_law::EstimateLaw;
use twindex::{Error, Result};

/// Wald's interval, p ± z √(p (1 - p)/n), where p is the share of successes. Most textbooks have
/// it; Brown, Cai, DasGupta 2001, "Interval estimation for a binomial proportion", show how it
/// fails. Its ends may be below 0 or above 1.
///
/// It serves for comparison only. Near 0 and 1 it covers far less than it claims: 72 % instead of
/// 95 % with 128 trials at p = 0.99, because the interval is a single point if all trials succeed.
/// [`wilson`](twindex::wilson) costs the same.
///
/// ```
/// use twindex::wilson;
/// use twindex_lab::methods::wald;
/// let (low, high) = wald(64, 128, 1.96);
/// assert!((low - 0.4134).abs() < 1e-4 && (high - 0.5866).abs() < 1e-4);
/// // If all trials succeed, it is a single point, as if there were no doubt.
/// assert_eq!(wald(128, 128, 1.96), (1.0, 1.0));
/// assert!(wilson(128, 128, 1.96).0 < 0.98);
/// ```
///
/// # Panics
///
/// If `trials` is 0 or less than `successes`.
pub fn wald(successes: u32, trials: u32, z: f64) -> (f64, f64) {
    assert!(trials > 0 && successes <= trials, "{successes} of {trials}");
    let (n, p) = (f64::from(trials), f64::from(successes) / f64::from(trials));
    let half = z * (p * (1.0 - p) / n).sqrt();
    (p - half, p + half)
}

/// The exact interval of a probability after `successes` out of `trials` (Clopper, Pearson 1934,
/// "The use of confidence or fiducial limits illustrated in the case of the binomial"). It holds
/// every probability under which neither tail, of at least or at most so many successes, is rarer
/// than half of 1 - confidence.
///
/// It never covers the truth less often than it claims, mostly more often, and is wider than
/// [`wilson`](twindex::wilson)'s interval. The ends are within 1e-12 of the true ones. The cost is
/// 120 sums of binomial tails, each over the terms of a few standard deviations.
///
/// ```
/// use twindex_lab::methods::clopper_pearson;
/// let (low, high) = clopper_pearson(0, 10, 0.95)?;
/// assert_eq!(low, 0.0);
/// assert!((high - (1.0 - 0.025_f64.powf(0.1))).abs() < 1e-12);
/// # Ok::<(), twindex::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::InvalidSetting`] for a confidence that is not above 0 and below 1.
///
/// # Panics
///
/// If `trials` is 0 or less than `successes`.
pub fn clopper_pearson(successes: u32, trials: u32, confidence: f64) -> Result<(f64, f64)> {
    if !(confidence > 0.0 && confidence < 1.0) {
        return Err(Error::InvalidSetting {
            setting: "confidence",
            got: confidence.to_string(),
            expected: "a number above 0 and below 1",
        });
    }
    assert!(trials > 0 && successes <= trials, "{successes} of {trials}");
    let left_out = (1.0 - confidence) / 2.0;
    let share = f64::from(successes) / f64::from(trials);
    let tail = |p: f64, of: fn(EstimateLaw, u32) -> f64| {
        EstimateLaw::new(trials, p).map_or(1.0, |law| of(law, successes))
    };
    // The upper tail grows with p, from 0 at p = 0; the lower tail falls to 0 at p = 1. Both are at
    // least a quarter at p = share.
    let low = bisect(0.0, share, |p| tail(p, EstimateLaw::at_least) < left_out);
    let high = bisect(share, 1.0, |p| tail(p, EstimateLaw::at_most) >= left_out);
    let low = if successes == 0 { 0.0 } else { low };
    Ok((low, if successes == trials { 1.0 } else { high }))
}

/// The number between `low` and `high` up to which the condition holds.
fn bisect(mut low: f64, mut high: f64, holds: impl Fn(f64) -> bool) -> f64 {
    // After 60 halvings no number is left between them, except next to 0.
    for _ in 0..60 {
        let middle = low + (high - low) / 2.0;
        if holds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low + (high - low) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use twindex::{normal_quantile, wilson};

    #[test]
    fn clopper_pearson_agrees_with_quantiles_of_the_beta_law() {
        use statrs::distribution::{Beta, ContinuousCDF};
        for (successes, trials) in
            [(1, 1), (1, 2), (3, 10), (9, 10), (102, 128), (127, 128), (5, 3_000)]
        {
            for confidence in [0.5, 0.95, 0.999] {
                let (low, high) = clopper_pearson(successes, trials, confidence).expect("valid");
                let left_out = (1.0 - confidence) / 2.0;
                let beta = |a: u32, b: u32| Beta::new(a.into(), b.into()).expect("a law");
                let what = format!("{successes}/{trials}: {low}, {high}");
                let below = beta(successes, trials - successes + 1).cdf(low);
                assert!((below - left_out).abs() < 1e-9, "{what}: {below}");
                if successes < trials {
                    let above = beta(successes + 1, trials - successes).sf(high);
                    assert!((above - left_out).abs() < 1e-9, "{what}: {above}");
                } else {
                    assert_eq!(high, 1.0);
                }
            }
        }
    }

    /// The usual table of 95 % limits for 10 trials.
    #[test]
    fn clopper_pearson_agrees_with_the_table() {
        for (successes, low, high) in [
            (0, 0.0, 0.308),
            (1, 0.003, 0.445),
            (2, 0.025, 0.556),
            (3, 0.067, 0.652),
            (5, 0.187, 0.813),
        ] {
            for (successes, low, high) in
                [(successes, low, high), (10 - successes, 1.0 - high, 1.0 - low)]
            {
                let got = clopper_pearson(successes, 10, 0.95).expect("valid");
                assert!((got.0 - low).abs() < 5.1e-4, "{successes}/10: {got:?}");
                assert!((got.1 - high).abs() < 5.1e-4, "{successes}/10: {got:?}");
            }
        }
    }

    #[test]
    fn wald_is_a_point_where_all_or_none_succeed() {
        assert_eq!((wald(0, 7, 1.96), wald(7, 7, 1.96)), ((0.0, 0.0), (1.0, 1.0)));
        let (low, high) = wald(64, 128, 1.96);
        assert!(
            (high - 0.5 - 1.96 * 0.5 / 128_f64.sqrt()).abs() < 1e-15
                && (low + high - 1.0).abs() < 1e-15
        );
    }

    #[test]
    fn intervals_are_safe_at_the_ends() {
        for trials in [1, 2, 1_000] {
            for successes in [0, 1, trials] {
                for confidence in [1e-9, 0.95, 1.0 - 1e-12] {
                    let z = normal_quantile(confidence).expect("valid");
                    let share = f64::from(successes) / f64::from(trials);
                    for (low, high) in [
                        wilson(successes, trials, z),
                        wald(successes, trials, z),
                        clopper_pearson(successes, trials, confidence).expect("valid"),
                    ] {
                        assert!(
                            low <= share + 1e-9 && share <= high + 1e-9,
                            "{low} {share} {high}"
                        );
                    }
                }
            }
        }
    }
}
