//! The bands of an index: their number and depth follow from threshold and recall.
//!
//! A band is 8 consecutive stored lanes. Two documents of similarity J agree in the first r lanes
//! of a given band with probability J^r. The probability that they agree in at least one of b bands
//! is 1 - (1 - J^r)^b (Broder 1997; Leskovec, Rajaraman, Ullman, "Mining of Massive Datasets",
//! section 3.4).

use crate::error::{Error, Result};
use crate::params::{Lanes, Recall, Threshold};

/// The number of lanes from the start of one band to the start of the next.
const BAND_LANES: usize = 8;

/// The depths that an index may have. In measurements, deeper bands saved nothing even at threshold
/// 0.9. At depth 1, every bucket would hold a 256th of all documents.
pub(crate) const DEPTHS: std::ops::RangeInclusive<u32> = 2..=6;

/// Returns the probability that two documents become candidates: 1 - (1 - J^r)^b for similarity
/// J = `similarity` from 0 to 1, depth r = `depth` and b = `bands` bands.
///
/// Lanes that are equal by chance are not counted. The result is the same to the last bit on every
/// platform.
///
/// ```
/// let p = twindex::candidate_probability(0.8, 6, 16);
/// assert!(p > 0.99 && p < 0.993);
/// ```
pub fn candidate_probability(similarity: f64, depth: u32, bands: usize) -> f64 {
    1.0 - misses(similarity, depth).take(bands + 1).last().unwrap_or(1.0)
}

/// The probabilities that two documents agree in none of 0, 1, 2, ... bands.
///
/// They are computed by multiplication alone, which IEEE 754 rounds the same on every platform: the
/// choice of bands must not depend on a mathematical library.
fn misses(similarity: f64, depth: u32) -> impl Iterator<Item = f64> {
    let meet = (0..depth).fold(1.0, |product, _| product * similarity);
    std::iter::successors(Some(1.0), move |miss| Some(miss * (1.0 - meet)))
}

/// Returns the least number of bands, at least 1, with which pairs at the threshold become
/// candidates with the recall at this depth; `most + 1` if more than `most` bands are needed.
pub fn needed_bands(threshold: f64, recall: f64, depth: u32, most: usize) -> usize {
    let tolerated = 1.0 - recall;
    misses(threshold, depth)
        .take(most + 1)
        .position(|miss| miss <= tolerated)
        .map_or(most + 1, |bands| bands.max(1))
}

/// The bands that an index stores: their number and depth.
///
/// ```
/// let plan = twindex::BandPlan::new(0.8, 0.99, 256)?;
/// assert_eq!((plan.bands(), plan.depth()), (16, 6));
/// # Ok::<(), twindex::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BandPlan {
    bands: u8,
    depth: u8,
}

impl BandPlan {
    /// Returns the deepest bands that reach the recall at the threshold with `lanes` lanes. The
    /// depth is from 2 to 6.
    ///
    /// # Errors
    ///
    /// [`Error::UnreachableRecall`] if not even depth 2 reaches the recall;
    /// [`Error::InvalidSetting`] for a number out of range.
    pub fn new(threshold: f64, recall: f64, lanes: usize) -> Result<Self> {
        Self::of(Threshold::new(threshold)?, Recall::new(recall)?, Lanes::new(lanes)?)
    }

    /// Like [`new`](Self::new), for validated numbers.
    pub(crate) fn of(threshold: Threshold, recall: Recall, lanes: Lanes) -> Result<Self> {
        let (most, threshold, recall) = (lanes.get() / BAND_LANES, threshold.get(), recall.get());
        for depth in DEPTHS.rev() {
            let bands = needed_bands(threshold, recall, depth, most);
            if bands <= most {
                return Ok(Self { bands: bands as u8, depth: depth as u8 });
            }
        }
        Err(Error::UnreachableRecall {
            threshold,
            recall,
            lanes: lanes.get(),
            needed: needed_bands(threshold, recall, *DEPTHS.start(), 1_000_000),
            available: most,
        })
    }

    /// A plan read from a file; `None` if it is not valid.
    pub(crate) fn stored(bands: u8, depth: u8, lanes: Lanes) -> Option<Self> {
        let fits = (1..=lanes.get() / BAND_LANES).contains(&usize::from(bands));
        (fits && DEPTHS.contains(&u32::from(depth))).then_some(Self { bands, depth })
    }

    /// Returns the number of bands.
    pub const fn bands(self) -> usize {
        self.bands as usize
    }

    /// Returns the number of lanes in each band's word.
    pub const fn depth(self) -> u32 {
        self.depth as u32
    }
}

/// Returns the word of a band: its first `depth` lanes as a big-endian number. Words with a common
/// prefix are therefore neighbours in order.
///
/// The lanes must include the band, and `depth` must be from 1 to 8.
pub fn word(lanes: &[u8], band: usize, depth: u32) -> u64 {
    let lanes = lanes.get(band * BAND_LANES..).and_then(|rest| rest.first_chunk::<BAND_LANES>());
    lanes.map_or(0, |lanes| u64::from_be_bytes(*lanes) >> (64 - 8 * depth))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(threshold: f64, recall: f64, lanes: usize) -> Result<(usize, u32)> {
        let plan =
            BandPlan::of(Threshold::new(threshold)?, Recall::new(recall)?, Lanes::new(lanes)?)?;
        Ok((plan.bands(), plan.depth()))
    }

    #[test]
    fn bands_and_depth_are_those_of_the_closed_form() {
        for (threshold, recall, expected) in [
            (0.8, 0.95, (10, 6)),
            (0.8, 0.99, (16, 6)),
            (0.7, 0.99, (26, 5)),
            (0.5, 0.99, (17, 2)),
            (1.0, 0.99, (1, 6)),
        ] {
            assert_eq!(plan(threshold, recall, 256).ok(), Some(expected), "{threshold} {recall}");
        }
        for depth in DEPTHS {
            for t in [0.3_f64, 0.5, 0.65, 0.8, 0.9, 0.95] {
                for p in [0.5, 0.9, 0.99, 0.999] {
                    let closed = ((1.0_f64 - p).ln() / (1.0 - t.powi(depth as i32)).ln()).ceil();
                    assert_eq!(needed_bands(t, p, depth, 1_000_000) as f64, closed.max(1.0));
                }
            }
        }
    }

    #[test]
    fn an_unreachable_recall_is_an_error_that_names_the_bands_needed() {
        let error = plan(0.2, 0.99, 256).expect_err("113 bands do not fit");
        assert!(matches!(error, Error::UnreachableRecall { needed: 113, available: 32, .. }));
    }

    #[test]
    fn words_are_ordered_by_their_first_lanes() {
        let lanes: Vec<u8> = (0..64).collect();
        assert_eq!(word(&lanes, 0, 6), 0x0001_0203_0405);
        assert_eq!(word(&lanes, 2, 3), 0x10_1112);
    }
}
