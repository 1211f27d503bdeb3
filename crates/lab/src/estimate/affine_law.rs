//! The exact probability that a random affine map has equal minima over two sets.
//!
//! Dembele, Lo 2017, "The exact probability law for the approximated similarity from the minhashing
//! method", theorem 3, equation 15, sums over all n! orders of the rows and all n² maps. This
//! module replaces most of these sums by counting.

use crate::sketch::greatest_divisor;
use twindex::{Error, Result};

/// A family of affine maps x i + y mod n, all drawn with the same probability (Dembele, Lo 2017,
/// theorem 3).
///
/// ```
/// use twindex_lab::methods::AffineFamily;
/// // The rows 1 to 6 and 3 to 8 of 16: a similarity of 1/2, which runs of rows turn into 0.453.
/// let (a, b) = ([1, 2, 3, 4, 5, 6], [3, 4, 5, 6, 7, 8]);
/// let runs = AffineFamily::Units.agreement(16, &a, &b)?;
/// assert!((runs - 0.453125).abs() < 1e-12);
/// // Over all orders of the rows, units make no error. Maps as in print do, since rows collide.
/// let mean = |family: AffineFamily| family.mean_agreement(16, 6, 6, 4);
/// assert!((mean(AffineFamily::Units)? - 0.5).abs() < 1e-12);
/// assert!(mean(AffineFamily::Any)? > 0.57);
/// # Ok::<(), twindex::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AffineFamily {
    /// x and n have no common divisor, so every map is a permutation. See
    /// [`AffineMaps::units`](crate::methods::AffineMaps::units).
    Units,
    /// Any x from 1 to n, as printed. See [`AffineMaps::any`](crate::methods::AffineMaps::any).
    Any,
}

impl AffineFamily {
    /// The most rows. [`agreement`](Self::agreement) takes time proportional to the square of the
    /// number of rows.
    pub const MOST_ROWS: u64 = 1 << 16;

    /// The probability that a random map has the same minimum over both sets of rows, which are
    /// numbered from 1 to `rows`; 0 if a set is empty.
    ///
    /// For units it is exactly J if every row is in at least one set, because for each x exactly
    /// one y of n maps a given row to 1. Otherwise it depends on which rows are common: the row
    /// with the least value is the first row after a random position on the circle of values, so a
    /// row after a wide gap is the least more often.
    ///
    /// Takes n² steps: for each x, the gaps between the values account for all y.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`] if there are more than [`MOST_ROWS`](Self::MOST_ROWS) rows, or a
    /// row number is out of range.
    pub fn agreement(self, rows: u64, a: &[u64], b: &[u64]) -> Result<f64> {
        check_rows(rows)?;
        if let Some(wrong) = a.iter().chain(b).find(|row| !(1..=rows).contains(row)) {
            return Err(Error::InvalidSetting {
                setting: "row",
                got: wrong.to_string(),
                expected: "a number from 1 to the number of rows",
            });
        }
        if a.is_empty() || b.is_empty() {
            return Ok(0.0);
        }
        let mut values = vec![0_u8; rows as usize];
        let (mut agreeing, mut maps) = (0, 0);
        for x in (1..=rows).filter(|x| self.draws(*x, rows)) {
            values.fill(0);
            a.iter().for_each(|row| values[(x * row % rows) as usize] |= 1);
            b.iter().for_each(|row| values[(x * row % rows) as usize] |= 2);
            agreeing += shifts_that_agree(&values);
            maps += rows;
        }
        Ok(agreeing as f64 / maps as f64)
    }

    /// The mean of [`agreement`](Self::agreement) over all orders of the rows, for two sets of `a`
    /// and `b` rows that share `shared` rows (equation 15 of Dembele, Lo 2017).
    ///
    /// For units it is J. With any maps, groups of d = gcd(x, n) rows share a value. The result is
    /// then the probability that, with rows distributed at random over the values, the least value
    /// of any row belongs to both sets. It is above J, because colliding rows count as common.
    /// Takes at most about n steps for each divisor of n. The error is below 1e-10: the result is a
    /// sum of products, with a rounding at each step.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`] if there are more than [`MOST_ROWS`](Self::MOST_ROWS) rows, fewer
    /// rows than both sets have together, or more shared rows than a set has.
    pub fn mean_agreement(self, rows: u64, a: u64, b: u64, shared: u64) -> Result<f64> {
        check_rows(rows)?;
        if shared > a.min(b) {
            return Err(Error::InvalidSetting {
                setting: "shared rows",
                got: shared.to_string(),
                expected: "at most as many as the smaller set has",
            });
        }
        // The sum of three cannot overflow once each is known to be small.
        if a > rows || b > rows || a + b - shared > rows {
            return Err(Error::InvalidSetting {
                setting: "number of rows",
                got: rows.to_string(),
                expected: "at least as many as both sets have together",
            });
        }
        if a == 0 || b == 0 {
            return Ok(0.0);
        }
        if self == Self::Units {
            return Ok(shared as f64 / (a + b - shared) as f64);
        }
        let mut mean = 0.0;
        for divisor in (1..=rows).filter(|divisor| rows.is_multiple_of(*divisor)) {
            // The number of x with this greatest common divisor is the number of units of n/d.
            let values = rows / divisor;
            let numbers = (1..=values).filter(|x| greatest_divisor(*x, values) == 1).count();
            mean += numbers as f64 * collided(rows, divisor, (a, b), shared);
        }
        Ok(mean / rows as f64)
    }

    fn draws(self, x: u64, rows: u64) -> bool {
        self == Self::Any || greatest_divisor(x, rows) == 1
    }
}

fn check_rows(rows: u64) -> Result<()> {
    if (1..=AffineFamily::MOST_ROWS).contains(&rows) {
        return Ok(());
    }
    Err(Error::InvalidSetting {
        setting: "number of rows",
        got: rows.to_string(),
        expected: "a whole number from 1 to 65536",
    })
}

/// Counts the start positions on the circle of values from which the first occupied value belongs
/// to both sets. At least one value must be occupied.
fn shifts_that_agree(values: &[u8]) -> u64 {
    let Some(last) = values.iter().rposition(|sets| *sets != 0) else { return 0 };
    let (mut before, mut agreeing) = (last as i64 - values.len() as i64, 0);
    for (at, sets) in (0_i64..).zip(values) {
        if *sets != 0 {
            agreeing += if *sets == 3 { (at - before) as u64 } else { 0 };
            before = at;
        }
    }
    agreeing
}

/// The probability that the least occupied value belongs to both sets, if groups of `together` rows
/// share a value.
///
/// The sum runs over the position of that value: all values before it belong to neither set, and
/// its rows, drawn at random from the remaining rows, hit both sets. Inclusion and exclusion gives
/// the probability of the latter.
fn collided(rows: u64, together: u64, (a, b): (u64, u64), shared: u64) -> f64 {
    let (mut sum, mut neither) = (0.0, 1.0);
    for value in 0..rows / together {
        let left = rows - value * together;
        let free = |set: u64| free_of(set, left, together);
        let of_both = free(a + b - shared);
        sum += neither * (1.0 - free(a) - free(b) + of_both);
        neither *= of_both;
        if neither == 0.0 {
            break;
        }
    }
    sum.clamp(0.0, 1.0)
}

/// The probability that `drawn` rows, drawn at random from `left` rows, include none of the `set`
/// rows of a set: C(left - set, drawn) / C(left, drawn). It is symmetric in `set` and `drawn`.
///
/// It is computed as a product of at most `drawn` factors. Logarithms of factorials would lose five
/// of sixteen digits.
fn free_of(set: u64, left: u64, drawn: u64) -> f64 {
    let (more, fewer) = (set.max(drawn), set.min(drawn));
    if more + fewer > left {
        return 0.0;
    }
    (0..fewer).map(|i| (left - more - i) as f64 / (left - i) as f64).product()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketch::AffineMaps;

    /// All maps of a family, one by one.
    fn maps(family: AffineFamily, n: u64) -> AffineMaps {
        let xs = (1..=n).filter(|x| family == AffineFamily::Any || greatest_divisor(*x, n) == 1);
        let pairs = xs.flat_map(|x| (1..=n).map(move |y| (x, y))).collect();
        AffineMaps::new(n, pairs).expect("maps")
    }

    fn counted(maps: &AffineMaps, a: &[u64], b: &[u64]) -> f64 {
        let of = |rows: &[u64]| maps.minima(rows.iter().copied()).unwrap_or_default();
        let equal = of(a).iter().zip(of(b)).filter(|(x, y)| *x == y).count();
        equal as f64 / maps.len() as f64
    }

    fn rows_of(set: u32) -> Vec<u64> {
        (1..=32).filter(|row| set >> (row - 1) & 1 == 1).collect()
    }

    #[test]
    fn the_probability_agrees_with_counting_over_all_maps() {
        for family in [AffineFamily::Units, AffineFamily::Any] {
            for n in [1, 2, 6, 7, 12] {
                let all = maps(family, n);
                for (a, b) in
                    [(1, 1), (3, 6), (0b1111, 0b111100), (0b1010101, 0b101110), (0b1, 0b10)]
                {
                    let inside = |set: u32| -> Vec<u64> {
                        rows_of(set).into_iter().filter(|row| *row <= n).collect()
                    };
                    let (a, b) = (inside(a), inside(b));
                    let got = family.agreement(n, &a, &b).expect("rows that fit");
                    let expected = counted(&all, &a, &b);
                    assert!((got - expected).abs() < 1e-12, "{family:?} {n} {a:?} {b:?}: {got}");
                }
            }
        }
    }

    /// Equation 15 as printed: every order of the rows with every map.
    #[test]
    fn the_mean_is_that_over_all_permutations() {
        for n in 1..=6_u64 {
            let mut orders: Vec<Vec<u64>> = vec![Vec::new()];
            for row in 1..=n {
                let grown = orders.iter().flat_map(|shorter| {
                    (0..=shorter.len()).map(move |at| {
                        let mut longer = shorter.clone();
                        longer.insert(at, row);
                        longer
                    })
                });
                orders = grown.collect();
            }
            for (a, b, shared) in [(1, 1, 0), (1, 1, 1), (2, 3, 1), (3, 3, 2), (4, 2, 2), (5, 3, 2)]
            {
                if a + b - shared > n {
                    continue;
                }
                for family in [AffineFamily::Units, AffineFamily::Any] {
                    let all = maps(family, n);
                    // The first set has rows 1 to a; the second set has the last b rows of the
                    // union.
                    let sum: f64 = orders
                        .iter()
                        .map(|order| {
                            let (from, to) = ((a - shared) as usize, (a + b - shared) as usize);
                            counted(&all, &order[..a as usize], &order[from..to])
                        })
                        .sum();
                    let mean = sum / orders.len() as f64;
                    let got = family.mean_agreement(n, a, b, shared).expect("rows that fit");
                    let what = format!("{family:?}, {n} rows, {a} {b} {shared}");
                    assert!((got - mean).abs() < 1e-10, "{what}: {got}, not {mean}");
                }
            }
        }
    }

    /// The same mean over all pairs of sets of 8 rows with these sizes.
    #[test]
    fn the_mean_is_that_over_all_placements() {
        let n = 8;
        for (a, b, shared) in [(4, 4, 2), (3, 2, 0), (6, 4, 3), (5, 5, 5)] {
            let (mut sum, mut pairs) = (0.0, 0);
            for (x, y) in (0_u32..256).flat_map(|x| (0_u32..256).map(move |y| (x, y))) {
                if (x.count_ones(), y.count_ones(), (x & y).count_ones()) == (a, b, shared) {
                    let (x, y) = (rows_of(x), rows_of(y));
                    sum += AffineFamily::Any.agreement(n, &x, &y).expect("rows that fit");
                    pairs += 1;
                }
            }
            let mean = sum / f64::from(pairs);
            let (a, b, shared) = (a.into(), b.into(), shared.into());
            let got = AffineFamily::Any.mean_agreement(n, a, b, shared).expect("rows that fit");
            assert!((got - mean).abs() < 1e-10, "{a} {b} {shared}: {got}, not {mean}");
            let units = AffineFamily::Units.mean_agreement(n, a, b, shared).expect("they fit");
            assert!(units <= got + 1e-12, "{units} {got}");
        }
    }

    #[test]
    fn units_have_no_error_where_every_row_is_in_a_set() {
        for n in [5, 12, 64, 97] {
            let (a, b): (Vec<u64>, Vec<u64>) = ((1..=n * 3 / 4).collect(), (n / 3..=n).collect());
            let shared = (n * 3 / 4 - n / 3 + 1) as f64;
            let got = AffineFamily::Units.agreement(n, &a, &b).expect("rows that fit");
            assert!((got - shared / n as f64).abs() < 1e-12, "{n}: {got}");
        }
    }

    #[test]
    fn the_ends_of_all_ranges_are_safe() {
        for family in [AffineFamily::Units, AffineFamily::Any] {
            let of = |n: u64, a: &[u64], b: &[u64]| family.agreement(n, a, b);
            assert_eq!(of(1, &[1], &[1]).expect("fits"), 1.0);
            assert_eq!(
                (of(1, &[], &[]).expect("fits"), of(3, &[2], &[]).expect("fits")),
                (0.0, 0.0)
            );
            assert_eq!(of(9, &[3, 3, 1], &[1, 3]).expect("fits"), 1.0);
            assert!(of(0, &[], &[]).is_err() && of(3, &[0], &[1]).is_err());
            assert!(of(3, &[4], &[1]).is_err() && of(1 << 17, &[4], &[1]).is_err());
            let mean = |n: u64, a: u64, b: u64, shared: u64| family.mean_agreement(n, a, b, shared);
            assert_eq!(mean(9, 0, 4, 0).expect("fits"), 0.0);
            assert!((mean(9, 9, 9, 9).expect("fits") - 1.0).abs() < 1e-9);
            assert!((mean(1, 1, 1, 1).expect("fits") - 1.0).abs() < 1e-9);
            assert!(mean(9, 6, 4, 0).is_err() && mean(9, 2, 3, 3).is_err());
            assert!(mean(0, 0, 0, 0).is_err() && mean(9, u64::MAX, u64::MAX, 0).is_err());
        }
        assert_eq!(AffineFamily::Units.agreement(9, &[1], &[2]).expect("fits"), 0.0);
    }

    /// The sets are {1, 2} and {1}. Their minima agree if the two rows collide, and otherwise with
    /// probability 1/2.
    #[test]
    fn small_sets_keep_their_digits_in_many_rows() {
        for n in [16, 1_000, 1_024, 16_384, 65_536_u64] {
            let of_divisor = |d: u64| {
                let values = n / d;
                let units = (1..=values).filter(|x| greatest_divisor(*x, values) == 1).count();
                let together = (d - 1) as f64 / (n - 1) as f64;
                units as f64 / n as f64 * (together + (1.0 - together) / 2.0)
            };
            let expected: f64 = (1..=n).filter(|d| n.is_multiple_of(*d)).map(of_divisor).sum();
            let got = AffineFamily::Any.mean_agreement(n, 2, 1, 1).expect("they fit");
            assert!((got - expected).abs() < 1e-11, "{n}: {got}, not {expected}");
        }
    }

    #[test]
    fn large_numbers_of_rows_keep_their_digits() {
        // If the number of rows n is prime, every x except n is a unit; x = n maps all rows to one
        // value.
        let n = 65_521;
        let got = AffineFamily::Any.mean_agreement(n, 30_000, 40_000, 20_000).expect("they fit");
        let units = 0.4 * (1.0 - 1.0 / n as f64) + 1.0 / n as f64;
        assert!((got - units).abs() < 1e-11, "{got}, not {units}");
    }
}
