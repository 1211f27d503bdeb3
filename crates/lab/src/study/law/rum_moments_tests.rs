//! The findings about RUM fail for wrong values, with any number of functions.

use super::*;

/// Results whose moments are exactly those of the laws.
fn as_the_laws_say(k: u32) -> Vec<SimulatedMoments> {
    let of = |exact: LawMoments| (exact.mean, exact.variance);
    let one = |step: u32| {
        let similarity = f64::from(step) / 10.0 + 0.05;
        Ok(SimulatedMoments {
            similarity,
            ru: of(LawMoments::ru(k, similarity)?),
            rum: of(LawMoments::rum(k, similarity)?),
            misapplied: of(LawMoments::misapplied(k, similarity)?),
        })
    };
    (0..STEPS).map(one).collect::<Result<_>>().expect("laws")
}

#[test]
fn deviations_from_the_laws_are_detected() {
    for (functions, runs) in [(1, 400), (4, 400), (63, 1_000), (64, 4_000), (128, 4_000)] {
        let settings = LawSettings { functions, runs, ..LawSettings::default() };
        let held = |all: &[SimulatedMoments]| -> Vec<bool> {
            let findings = findings(all, &settings).expect("findings");
            findings.iter().map(|finding| finding.holds).collect()
        };
        let right = as_the_laws_say(functions);
        assert_eq!(held(&right), [true, true], "{functions}");
        // Swaps the means of stacked rows and hashes of values.
        let mut all = as_the_laws_say(functions);
        all[6].rum.0 = all[6].misapplied.0;
        assert_eq!(held(&all), [false, true], "{functions}");
        let mut all = as_the_laws_say(functions);
        all[6].misapplied.0 = all[6].rum.0;
        assert_eq!(held(&all), [false, true], "{functions}");
        // The variance is 70 % too high, while a standard error is at most a tenth.
        let mut all = as_the_laws_say(functions);
        all[4].rum.1 *= 1.7;
        assert_eq!(held(&all), [true, false], "{functions}");
    }
}

#[test]
fn the_laws_approach_the_formulas_as_functions_grow() {
    for (k, mean, variance) in [(LARGE, NEAR_MEAN, NEAR_VARIANCE), (1_000, 0.0003, 0.002)] {
        for step in 1..50 {
            let j = f64::from(step) / 50.0;
            let (rum, wrong) =
                (LawMoments::rum(k, j).expect("law"), LawMoments::misapplied(k, j).expect("law"));
            let off = (rum.mean - j).abs().max((wrong.mean - j - misapplied(j)).abs());
            assert!(off < mean, "{k} at {j}: {off}");
            // The second term of the delta method.
            let bias = j * (1.0 - j) * (1.0 + j) / (2.0 * f64::from(k));
            assert!((rum.mean - j - bias).abs() < 4.0 / f64::from(k * k), "{k} at {j}");
            let apart = exact_ratio(k, j).expect("laws") / factor(j) - 1.0;
            assert!(apart.abs() < variance, "{k} at {j}: {apart}");
        }
    }
}
