//! Quantiles of the normal distribution.

use crate::error::Result;
use crate::params::Confidence;

/// The quantile of the default confidence. As a constant, it is the same to the last bit on every
/// platform.
const NORMAL_97_5: f64 = 1.959_963_984_540_054;

/// Returns the number z for which a normal variable is within z standard deviations of its mean
/// with probability `confidence`: 1.96 for 0.95, 2.58 for 0.99.
///
/// The relative error is at most 2e-15 (Wichura 1988, "Algorithm AS 241: the percentage points of
/// the normal distribution", PPND16). Takes about 20 ns.
///
/// ```
/// use twindex::{normal_quantile, wilson};
/// let z = normal_quantile(0.99)?;
/// assert!((z - 2.5758).abs() < 1e-4);
/// let (low, high) = wilson(205, 256, z);
/// assert!(low < 205.0 / 256.0 && 205.0 / 256.0 < high);
/// assert!(normal_quantile(95.0).is_err());
/// # Ok::<(), twindex::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::InvalidSetting`](crate::Error::InvalidSetting) unless the confidence is above 0 and
/// below 1.
pub fn normal_quantile(confidence: f64) -> Result<f64> {
    Ok(Confidence::new(confidence)?.z())
}

impl Confidence {
    /// The [`normal_quantile`] of an interval with this confidence.
    pub(crate) fn z(self) -> f64 {
        if self == Self::DEFAULT {
            NORMAL_97_5
        } else {
            upper_quantile(self.get() / 2.0, (1.0 - self.get()) / 2.0)
        }
    }
}

/// The point that a normal variable exceeds with probability `tail`, which is at most 1/2. `middle`
/// is 1/2 - `tail`. The function takes both because the smaller of them cannot be computed from the
/// other without loss of digits.
fn upper_quantile(middle: f64, tail: f64) -> f64 {
    if middle <= 0.425 {
        let r = 0.180_625 - middle * middle;
        return middle * polynomial(&A, r) / polynomial(&B, r);
    }
    let r = (-tail.ln()).sqrt();
    if r <= 5.0 {
        polynomial(&C, r - 1.6) / polynomial(&D, r - 1.6)
    } else {
        polynomial(&E, r - 5.0) / polynomial(&F, r - 5.0)
    }
}

fn polynomial(coefficients: &[f64; 8], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, coefficient| sum * x + coefficient)
}

/// The coefficients of the six polynomials of AS 241, constant term first: A and B are numerator
/// and denominator near the middle, C and D in the tail, E and F in the far tail.
const A: [f64; 8] = [
    3.387_132_872_796_366_5,
    133.141_667_891_784_38,
    1_971.590_950_306_551_3,
    13_731.693_765_509_46,
    45_921.953_931_549_87,
    67_265.770_927_008_7,
    33_430.575_583_588_13,
    2_509.080_928_730_122_7,
];
const B: [f64; 8] = [
    1.0,
    42.313_330_701_600_91,
    687.187_007_492_057_9,
    5_394.196_021_424_751,
    21_213.794_301_586_597,
    39_307.895_800_092_71,
    28_729.085_735_721_943,
    5_226.495_278_852_854,
];
const C: [f64; 8] = [
    1.423_437_110_749_683_5,
    4.630_337_846_156_546,
    5.769_497_221_460_691,
    3.647_848_324_763_204_5,
    1.270_458_252_452_368_4,
    0.241_780_725_177_450_6,
    0.022_723_844_989_269_184,
    7.745_450_142_783_414e-4,
];
const D: [f64; 8] = [
    1.0,
    2.053_191_626_637_759,
    1.676_384_830_183_803_8,
    0.689_767_334_985_1,
    0.148_103_976_427_480_08,
    0.015_198_666_563_616_457,
    5.475_938_084_995_345e-4,
    1.050_750_071_644_416_9e-9,
];
const E: [f64; 8] = [
    6.657_904_643_501_103,
    5.463_784_911_164_114,
    1.784_826_539_917_291_3,
    0.296_560_571_828_504_87,
    0.026_532_189_526_576_124,
    1.242_660_947_388_078_4e-3,
    2.711_555_568_743_487_6e-5,
    2.010_334_399_292_288_1e-7,
];
const F: [f64; 8] = [
    1.0,
    0.599_832_206_555_888,
    0.136_929_880_922_735_8,
    0.014_875_361_290_850_615,
    7.868_691_311_456_133e-4,
    1.846_318_317_510_054_8e-5,
    1.421_511_758_316_446e-7,
    2.044_263_103_389_939_8e-15,
];

#[cfg(test)]
mod tests {
    use super::*;

    /// The reference values were computed with 50 digits as roots of the error function.
    #[test]
    fn quantiles_agree_with_reference_values() {
        for (confidence, z) in [
            (1e-300, 1.253_314_137_315_500_2e-300),
            (1e-9, 1.253_314_137_315_500_4e-09),
            (0.1, 0.125_661_346_855_074_05),
            (0.5, 0.674_489_750_196_081_7),
            (0.68, 0.994_457_883_209_753_3),
            (0.8, 1.281_551_565_544_600_6),
            (0.849_999, 1.439_527_938_762_008_6),
            (0.850_001, 1.439_535_003_132_863),
            (0.9, 1.644_853_626_951_472_9),
            (0.95, 1.959_963_984_540_053_8),
            (0.99, 2.575_829_303_548_900_4),
            (0.999, 3.290_526_731_491_894_5),
            (0.999_999, 4.891_638_475_692_932),
            (0.999_999_999_99, 6.806_502_478_831_548),
            (0.999_999_999_999_9, 7.440_861_085_427_212),
            (0.999_999_999_999_999_9, 8.292_361_075_813_595),
        ] {
            let got = Confidence::new(confidence).expect("valid").z();
            assert!((got / z - 1.0).abs() < 2e-15, "{confidence}: {got}, not {z}");
        }
    }

    #[test]
    fn the_default_quantile_lies_between_its_neighbours() {
        for (near, sign) in [(0.949_999_999_999, -1.0), (0.950_000_000_001, 1.0)] {
            let difference = Confidence::new(near).expect("valid").z() - Confidence::DEFAULT.z();
            assert!((0.0..1e-11).contains(&(sign * difference)), "{near}: {difference}");
        }
    }
}
