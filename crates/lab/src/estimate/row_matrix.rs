//! RU and RUM: estimates of similarity by affine maps of the rows of a matrix.
//!
//! Dembele, Lo 2017, "The exact probability law for the approximated similarity from the minhashing
//! method", section 2 and equation 13; Dembele, Lo 2015, "Probabilistic, statistical and
//! algorithmic aspects of the similarity of texts", section 5.3.

use crate::sketch::AffineMaps;
use rustc_hash::FxHashSet;
use twindex::{Error, Estimate, Result, normal_quantile, wilson};

/// The bits that mark a row of the first set and a row of the second set.
const FIRST: u8 = 1;
const SECOND: u8 = 2;

/// The representation matrix of two sets: each row is an element, marked with the sets that have
/// it.
///
/// RU ([`ru`](Self::ru)) has one row for every element of the union, in the order of first
/// appearance. RUM ([`rum`](Self::rum)) stacks the rows of the second set below those of the first:
/// a common element has two rows, and both rows are in both sets (Dembele, Lo 2017, section 2 and
/// equation 13; Dembele, Lo 2015, section 5.3).
///
/// **Neither saves any work.** Whoever fills in the matrix knows which rows are common, and so the
/// similarity itself. Stacking does not avoid this, because each row of one set must still be
/// looked up in the other. Both methods are here because the papers measure them. To estimate
/// without looking at the other set, hash the values of the elements, as
/// [`Signature`](twindex::Signature) and [`BottomK`](twindex::BottomK) do. There all copies of an
/// element have the same hash, and the lanes estimate J, stacked or not. So **never** apply RUM's
/// correction to them: it would turn J into J/(2 - J), which is 0.13 too low at 0.8.
///
/// ```
/// use twindex_lab::methods::{AffineMaps, RowMatrix};
/// let (a, b): (Vec<u64>, Vec<u64>) = ((0..900).collect(), (100..1000).collect());
/// let matrix = RowMatrix::of_sets(&a, &b);
/// assert_eq!((matrix.union_rows(), matrix.stacked_rows()), (1000, 1800));
///
/// let maps = AffineMaps::units(500, matrix.union_rows(), 1)?;
/// let ru = matrix.ru(&maps, 0.95)?;
/// assert!((ru.jaccard.similarity - 0.8).abs() < 0.05);
///
/// let maps = AffineMaps::units(500, matrix.stacked_rows(), 1)?;
/// let rum = matrix.rum(&maps, 0.95)?;
/// assert!((rum.dice.similarity - 1600.0 / 1800.0).abs() < 0.04);
/// assert!((rum.jaccard.similarity - 0.8).abs() < 0.06);
/// # Ok::<(), twindex::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct RowMatrix {
    /// The rows of the first set, then those of the second; each has the bits of its sets.
    rows: Vec<u8>,
    /// The number of rows of the first set.
    first: usize,
    shared: usize,
}

/// The estimate of RU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowEstimate {
    /// The number of maps with equal minima.
    pub equal: u32,
    /// The number of maps, k.
    pub maps: u32,
    /// The Jaccard similarity: the share of equal minima, with Wilson's interval.
    pub jaccard: Estimate,
}

/// The estimates of RUM.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StackedEstimate {
    /// The number of maps with equal minima.
    pub equal: u32,
    /// The number of maps, k.
    pub maps: u32,
    /// Dice's coefficient, 2c/(n₁ + n₂) with c common elements: the share of equal minima, with
    /// Wilson's interval. The papers call it simM.
    pub dice: Estimate,
    /// The Jaccard similarity, simM/(2 - simM), with the ends of the interval converted in the same
    /// way. The papers call it sim.
    pub jaccard: Estimate,
}

impl RowMatrix {
    /// Builds the matrix of two sets from their elements. Rows have the order of the elements;
    /// repetitions are ignored. Give a multiset by [ranked hashes](twindex::Shingler), which make
    /// each occurrence a separate element.
    ///
    /// Takes two hash tables of the elements, and one byte for each row.
    pub fn of_sets(a: &[u64], b: &[u64]) -> Self {
        let in_a: FxHashSet<u64> = a.iter().copied().collect();
        let in_b: FxHashSet<u64> = b.iter().copied().collect();
        let mut rows = rows(a, (FIRST, SECOND), &in_b, in_a.len());
        let first = rows.len();
        rows.extend(self::rows(b, (SECOND, FIRST), &in_a, in_b.len()));
        let shared = rows[..first].iter().filter(|row| **row == FIRST | SECOND).count();
        Self { rows, first, shared }
    }

    /// The number of rows of RU: the elements of the union.
    pub fn union_rows(&self) -> u64 {
        (self.rows.len() - self.shared) as u64
    }

    /// The number of rows of RUM: the elements of both sets, where common ones count twice.
    pub fn stacked_rows(&self) -> u64 {
        self.rows.len() as u64
    }

    /// Estimates by RU: the share of maps with equal minima over the rows of both sets (equation 13
    /// of Dembele, Lo 2017). It estimates J without bias, with the law Binomial(k, J)/k exactly for
    /// [maps of units](AffineMaps::units).
    ///
    /// Only minima of the same map are compared. The paper's equation 5, read as an equation of
    /// sets of values, would also count equal minima of different maps, which say nothing about the
    /// sets.
    ///
    /// If a set is empty, the estimate is 0 and its interval is the point 0. Otherwise the interval
    /// is Wilson's at `confidence`. Takes some 2 ns for each row and map.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`] unless the maps are of [`union_rows`](Self::union_rows), and for a
    /// confidence out of range.
    pub fn ru(&self, maps: &AffineMaps, confidence: f64) -> Result<RowEstimate> {
        let z = normal_quantile(confidence)?;
        let (a, b) = self.rows.split_at(self.first);
        let union = a.iter().chain(b.iter().filter(|row| **row == SECOND)).copied();
        let equal = self.equal(maps, self.union_rows(), &union)?;
        let count = maps.len() as u32;
        Ok(RowEstimate { equal, maps: count, jaccard: self.estimate(equal, count, z) })
    }

    /// Estimates by RUM: the share of maps with equal minima over the stacked rows of both sets. It
    /// estimates Dice's coefficient D = 2J/(1 + J) without bias, and D/(2 - D) is J (equations 6 to
    /// 9 of Dembele, Lo 2017).
    ///
    /// The slope of D/(2 - D) is 2/(2 - D)² = (1 + J)²/2, so the variance of the estimated
    /// similarity is about (1 + J)⁴/4 times D(1 - D)/k, which is (1 + J)²/2 times that of
    /// [`ru`](Self::ru) with as many maps: half of it near J = 0, twice near 1, and more from J =
    /// 0.41 on. Since the function is convex, the mean of the estimate is above J by about J(1 -
    /// J)(1 + J)/2k.
    ///
    /// If a set is empty, the estimates are 0 and their intervals are the point 0. Otherwise the
    /// intervals are Wilson's at `confidence`. Takes some 2 ns for each row and map.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`] unless the maps are of [`stacked_rows`](Self::stacked_rows), and
    /// for a confidence out of range.
    pub fn rum(&self, maps: &AffineMaps, confidence: f64) -> Result<StackedEstimate> {
        let z = normal_quantile(confidence)?;
        let equal = self.equal(maps, self.stacked_rows(), &self.rows.iter().copied())?;
        let count = maps.len() as u32;
        let dice = self.estimate(equal, count, z);
        let jaccard = Estimate {
            similarity: jaccard_of_dice(dice.similarity),
            low: jaccard_of_dice(dice.low),
            high: jaccard_of_dice(dice.high),
        };
        Ok(StackedEstimate { equal, maps: count, dice, jaccard })
    }

    fn is_certain(&self) -> bool {
        self.first == 0 || self.first == self.rows.len()
    }

    fn estimate(&self, equal: u32, maps: u32, z: f64) -> Estimate {
        if self.is_certain() {
            return Estimate { similarity: 0.0, low: 0.0, high: 0.0 };
        }
        let (low, high) = wilson(equal, maps, z);
        Estimate { similarity: f64::from(equal) / f64::from(maps), low, high }
    }

    /// The number of maps with equal minima over both sets; 0 if a set is empty.
    fn equal(
        &self,
        maps: &AffineMaps,
        rows: u64,
        matrix: &(impl Iterator<Item = u8> + Clone),
    ) -> Result<u32> {
        if maps.rows() != rows {
            return Err(Error::InvalidSetting {
                setting: "rows of the maps",
                got: maps.rows().to_string(),
                expected: "as many as the matrix has: union_rows for RU, stacked_rows for RUM",
            });
        }
        if self.is_certain() {
            return Ok(0);
        }
        // Several maps are evaluated in one pass, as independent chains of additions.
        const ABREAST: usize = 4;
        let whole = maps.pairs().chunks_exact(ABREAST);
        let rest = whole.remainder().iter().map(|map| equal_abreast([*map], rows, matrix.clone()));
        let rest: u32 = rest.sum();
        let groups = whole.map(|maps| {
            let mut group = [(0, 0); ABREAST];
            group.copy_from_slice(maps);
            equal_abreast(group, rows, matrix.clone())
        });
        Ok(groups.sum::<u32>() + rest)
    }
}

/// Counts the maps with equal minima over the rows of both sets. From row to row the value of a map
/// grows by x modulo n, so no multiplication is needed.
fn equal_abreast<const MAPS: usize>(
    maps: [(u64, u64); MAPS],
    n: u64,
    rows: impl Iterator<Item = u8>,
) -> u32 {
    let steps = maps.map(|map| map.0);
    // The values less 1, from 0 to n - 1. The remainder 0 stands for n, so row 0 starts at n - 1 if
    // y = 0.
    let mut values = maps.map(|map| if map.1 == 0 { n - 1 } else { map.1 - 1 });
    let (mut least_a, mut least_b) = ([u64::MAX; MAPS], [u64::MAX; MAPS]);
    for row in rows {
        // A set without the row gets all bits, which is never the minimum.
        let not_a = u64::from(row & FIRST).wrapping_sub(1);
        let not_b = u64::from(row / SECOND).wrapping_sub(1);
        for map in 0..MAPS {
            let next = values[map] + steps[map];
            values[map] = next.min(next.wrapping_sub(n));
            least_a[map] = least_a[map].min(values[map] | not_a);
            least_b[map] = least_b[map].min(values[map] | not_b);
        }
    }
    (0..MAPS).map(|map| u32::from(least_a[map] == least_b[map])).sum()
}

fn rows(set: &[u64], own_other: (u8, u8), other: &FxHashSet<u64>, distinct: usize) -> Vec<u8> {
    let bits = |x: &u64| if other.contains(x) { own_other.0 | own_other.1 } else { own_other.0 };
    if distinct == set.len() {
        return set.iter().map(bits).collect();
    }
    let mut met = FxHashSet::default();
    set.iter().filter(|x| met.insert(**x)).map(bits).collect()
}

fn jaccard_of_dice(dice: f64) -> f64 {
    dice / (2.0 - dice)
}

#[cfg(test)]
#[path = "row_matrix_tests.rs"]
mod rows_tests;
