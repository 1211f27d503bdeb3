//! Affine maps of row numbers, used as cheap substitutes for permutations of the rows of a matrix.
//!
//! Dembele, Lo 2017, "The exact probability law for the approximated similarity from the minhashing
//! method", equation 4, after Rajaraman, Ullman 2011, "Mining of massive datasets", section 3.3.

use twindex::internals::SplitMix;
use twindex::{Error, Result};

/// Affine maps z(i) = x i + y mod n of the rows 1 to n of a matrix, where the remainder 0 stands
/// for n (equation 4 of Dembele, Lo 2017).
///
/// A map is a permutation of the rows exactly if x and n have no common divisor.
/// [`units`](Self::units) draws only such maps, which is the correct form. The paper draws
/// [any](Self::any) integers. Then groups of d = gcd(x, n) rows share a value and count as equal;
/// with x = n all rows do.
///
/// Since y is uniform, every row is equally likely to be mapped to 1. So if every row is in at
/// least one of two sets, maps of units have equal minima with probability exactly J. If there are
/// other rows, the probability depends on which rows the sets have, because there are only about n²
/// maps but n! permutations.
///
/// ```
/// use twindex_lab::methods::AffineMaps;
/// let maps = AffineMaps::units(3, 10, 7)?;
/// let mut column: Vec<u64> = (1..=10).map(|row| maps.value(0, row)).collect();
/// column.sort_unstable();
/// assert_eq!(column, (1..=10).collect::<Vec<u64>>());
///
/// // 2 i + 1 mod 10 of the rows 2 and 7: both 5.
/// let maps = AffineMaps::new(10, vec![(2, 1)])?;
/// assert_eq!(maps.minima([2]), maps.minima([7]));
/// assert_eq!(maps.minima([2, 7]), Some(vec![5]));
/// # Ok::<(), twindex::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AffineMaps {
    rows: u64,
    /// x and y of each map, both below `rows`, or 0 if there are no rows.
    maps: Vec<(u64, u64)>,
}

impl AffineMaps {
    /// The most maps. So many take 16 MiB.
    pub const MOST_MAPS: usize = 1 << 20;

    /// The most rows, so that the sum of two values fits into 64 bits.
    pub const MOST_ROWS: u64 = 1 << 63;

    /// The maps with these pairs of x and y, taken modulo the number of rows.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`] if there is no map, or more than [`MOST_MAPS`](Self::MOST_MAPS),
    /// or more than [`MOST_ROWS`](Self::MOST_ROWS) rows. 0 rows are allowed: such maps are never
    /// evaluated.
    pub fn new(rows: u64, maps: Vec<(u64, u64)>) -> Result<Self> {
        check(maps.len(), rows)?;
        let inside = |value: u64| value.checked_rem(rows).unwrap_or(0);
        let maps = maps.into_iter().map(|(x, y)| (inside(x), inside(y))).collect();
        Ok(Self { rows, maps })
    }

    /// Draws permutations of `rows` rows from a seed: x is uniform among the numbers without a
    /// common divisor with n, y among all numbers.
    ///
    /// # Errors
    ///
    /// Those of [`new`](Self::new).
    pub fn units(maps: usize, rows: u64, seed: u64) -> Result<Self> {
        Self::drawn(maps, rows, seed, |x| greatest_divisor(x, rows) == 1)
    }

    /// Draws maps of `rows` rows from a seed, as printed: x and y are uniform from 1 to n, whether
    /// or not the map is a permutation.
    ///
    /// # Errors
    ///
    /// Those of [`new`](Self::new).
    pub fn any(maps: usize, rows: u64, seed: u64) -> Result<Self> {
        Self::drawn(maps, rows, seed, |_| true)
    }

    fn drawn(maps: usize, rows: u64, seed: u64, fits: impl Fn(u64) -> bool) -> Result<Self> {
        check(maps, rows)?;
        let mut random = SplitMix::new(seed);
        let mut pair = || {
            let mut x = random.below(rows);
            // At least 0.138 of the numbers fit: n has at most 15 different prime divisors.
            while !fits(x) {
                x = random.below(rows);
            }
            (x, random.below(rows))
        };
        let maps = if rows == 0 { vec![(0, 0); maps] } else { (0..maps).map(|_| pair()).collect() };
        Ok(Self { rows, maps })
    }

    /// The number of rows, n.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The number of maps: k.
    #[expect(clippy::len_without_is_empty, reason = "there is always a map")]
    pub fn len(&self) -> usize {
        self.maps.len()
    }

    /// x and y of each map, both below n; n itself is stored as 0.
    pub fn pairs(&self) -> &[(u64, u64)] {
        &self.maps
    }

    /// The value of a row, counted from 1, under a map, counted from 0: a number from 1 to n, or 0
    /// if there are no rows. Row n + i has the value of row i.
    ///
    /// # Panics
    ///
    /// If there is no such map.
    pub fn value(&self, map: usize, row: u64) -> u64 {
        let (x, y) = self.maps[map];
        let n = u128::from(self.rows);
        let sum = u128::from(x) * u128::from(row) + u128::from(y);
        match sum.checked_rem(n) {
            None | Some(0) => self.rows,
            Some(rest) => rest as u64,
        }
    }

    /// The column of the signature matrix for a set of rows: the least value of each map over the
    /// rows (Dembele, Lo 2017, section 3 IV, criterion C). `None` if there are no rows. Takes one
    /// division for each row and map.
    pub fn minima(&self, rows: impl IntoIterator<Item = u64>) -> Option<Vec<u64>> {
        let mut least = None;
        for row in rows {
            let least = least.get_or_insert_with(|| vec![u64::MAX; self.len()]);
            for (map, least) in least.iter_mut().enumerate() {
                *least = self.value(map, row).min(*least);
            }
        }
        least
    }
}

fn check(maps: usize, rows: u64) -> Result<()> {
    if !(1..=AffineMaps::MOST_MAPS).contains(&maps) {
        return Err(Error::InvalidSetting {
            setting: "number of maps",
            got: maps.to_string(),
            expected: "a whole number from 1 to 1048576",
        });
    }
    if rows > AffineMaps::MOST_ROWS {
        return Err(Error::InvalidSetting {
            setting: "number of rows",
            got: rows.to_string(),
            expected: "a whole number up to 2^63",
        });
    }
    Ok(())
}

/// The greatest common divisor (Euclid); that of 0 and n is n.
pub(crate) fn greatest_divisor(mut a: u64, mut b: u64) -> u64 {
    while a > 0 {
        (a, b) = (b % a, a);
    }
    b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_of_units_are_permutations() {
        for n in [1, 2, 3, 4, 6, 12, 30, 97, 210] {
            let maps = AffineMaps::units(50, n, n).expect("maps");
            for map in 0..50 {
                let mut values: Vec<u64> = (1..=n).map(|row| maps.value(map, row)).collect();
                values.sort_unstable();
                assert_eq!(values, (1..=n).collect::<Vec<u64>>(), "{:?} of {n}", maps.pairs()[map]);
            }
        }
    }

    #[test]
    fn as_many_rows_collide_as_divide_both_numbers() {
        let n = 12;
        for x in 1..=n {
            let maps = AffineMaps::new(n, vec![(x, 5)]).expect("maps");
            let mut values: Vec<u64> = (1..=n).map(|row| maps.value(0, row)).collect();
            values.sort_unstable();
            values.dedup();
            assert_eq!(values.len() as u64, n / greatest_divisor(x, n), "{x}");
        }
    }

    #[test]
    fn every_unit_and_every_shift_is_drawn_equally_often() {
        // 4 units of 12, with 12 shifts; 48 classes, chi-square beyond 90 once in 10,000.
        let maps = AffineMaps::units(48_000, 12, 1).expect("maps");
        let mut seen = [[0.0; 12]; 12];
        maps.pairs().iter().for_each(|(x, y)| seen[*x as usize][*y as usize] += 1.0);
        let classes = [1, 5, 7, 11].into_iter().flat_map(|x| seen[x]);
        let chi_square: f64 = classes.map(|count: f64| (count - 1000.0).powi(2) / 1000.0).sum();
        assert!(chi_square < 90.0, "{chi_square}");
        let maps = AffineMaps::any(12_000, 12, 1).expect("maps");
        let with = |x: u64| maps.pairs().iter().filter(|pair| pair.0 == x).count() as f64;
        let chi_square: f64 = (0..12).map(|x| (with(x) - 1000.0).powi(2) / 1000.0).sum();
        assert!(chi_square < 38.0, "{chi_square}");
    }

    #[test]
    fn minima_are_those_of_the_formula() {
        let n = 30;
        let maps = AffineMaps::any(40, n, 3).expect("maps");
        let rows = [4, 9, 10, 22, 30];
        let plain = |(x, y): &(u64, u64)| rows.iter().map(|i| (x * i + y + n - 1) % n + 1).min();
        let expected: Option<Vec<u64>> = maps.pairs().iter().map(plain).collect();
        assert_eq!(maps.minima(rows), expected);
        assert_eq!(maps.minima([]), None);
    }

    #[test]
    fn the_ends_of_all_ranges_are_safe() {
        for n in [0, 1, 2, AffineMaps::MOST_ROWS] {
            for maps in [AffineMaps::units(1, n, 0), AffineMaps::any(1, n, 0)] {
                let maps = maps.expect("maps");
                for row in [0, 1, n, u64::MAX] {
                    let value = maps.value(0, row);
                    assert!((1.min(n)..=n).contains(&value), "{value} of row {row}, {n}");
                }
            }
        }
        assert!(AffineMaps::units(0, 5, 0).is_err());
        assert!(AffineMaps::units(AffineMaps::MOST_MAPS + 1, 5, 0).is_err());
        assert!(AffineMaps::any(1, AffineMaps::MOST_ROWS + 1, 0).is_err());
    }

    #[test]
    fn a_seed_gives_the_same_maps_everywhere() {
        // The words of SplitMix64 under seed 7, drawn apart in Python, as 128-bit products with 10.
        let maps = AffineMaps::any(3, 10, 7).expect("maps");
        assert_eq!(maps.pairs(), &[(0, 4), (7, 2), (9, 2)]);
    }
}
