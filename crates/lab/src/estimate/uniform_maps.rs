//! The exact laws of maps whose values are independent and uniform, under which rows may collide.
//!
//! Dembele, Lo 2017, "The exact probability law for the approximated similarity from the minhashing
//! method", section 3.IV, points C and D: what happens where the rows of the matrix are not all
//! disjoint.

use twindex::{Error, Result};

/// The rows of two sets: those of the first set alone, of both sets, and of the second set alone
/// (I1, I2 and I3 of Dembele, Lo 2017).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowCounts {
    /// I1.
    pub first: u32,
    /// I2.
    pub both: u32,
    /// I3.
    pub second: u32,
}

impl RowCounts {
    /// The rows of the union.
    pub fn union(self) -> u64 {
        u64::from(self.first) + u64::from(self.both) + u64::from(self.second)
    }

    /// J; 0 if there are no rows.
    pub fn similarity(self) -> f64 {
        if self.both == 0 { 0.0 } else { f64::from(self.both) / self.union() as f64 }
    }
}

/// Maps that give each row one of `values` values, all equally likely, each row independently.
///
/// ```
/// use twindex_lab::methods::{RowCounts, UniformMaps};
/// let rows = RowCounts { first: 1, both: 1, second: 0 };
/// // Of the four maps to two values the two rows collide under two; a third has the common row
/// // first.
/// let maps = UniformMaps::new(2)?;
/// assert_eq!((maps.agreement(rows), maps.common_first(rows)), (0.75, 0.25));
/// assert_eq!(maps.distinct(2), 0.5);
/// # Ok::<(), twindex::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UniformMaps {
    values: u64,
}

impl UniformMaps {
    /// The most values. The laws take a sum over all of them.
    pub const MOST_VALUES: u64 = 1 << 24;

    /// Maps to this number of values.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`] unless it is from 1 to [`MOST_VALUES`](Self::MOST_VALUES).
    pub fn new(values: u64) -> Result<Self> {
        if (1..=Self::MOST_VALUES).contains(&values) {
            return Ok(Self { values });
        }
        Err(Error::InvalidSetting {
            setting: "number of values",
            got: values.to_string(),
            expected: "a whole number from 1 to 16777216",
        })
    }

    /// The probability that no two of so many rows share a value: the product of 1 - i/N. The k-th
    /// power of it is P(D_n) of Dembele, Lo 2017, where D_n says that rows of k independent values
    /// are disjoint.
    pub fn distinct(self, rows: u64) -> f64 {
        if rows > self.values {
            return 0.0;
        }
        (0..rows).map(|row| 1.0 - row as f64 / self.values as f64).product()
    }

    /// Formula 19 of Dembele, Lo 2017 for one of `maps` maps, with every pair of rows in every
    /// class: 1 - C(n, 2) (1 - (1 - p)^k), where p = 1/N is the probability that two rows share a
    /// value. It is a lower bound of P(D_n), and may be below 0.
    pub fn formula_19(self, rows: u64, maps: u32) -> f64 {
        if maps == 0 {
            return 1.0;
        }
        let pairs = rows as f64 * (rows.saturating_sub(1)) as f64 / 2.0;
        let collide = -(f64::from(maps) * (-1.0 / self.values as f64).ln_1p()).exp_m1();
        1.0 - pairs * collide
    }

    /// The probability that both sets have the same least value, whether or not rows collide.
    ///
    /// The least value is v for both with the probability that all values are v or more, less that
    /// of the first set having more, less that of the second, plus that of both.
    pub fn agreement(self, rows: RowCounts) -> f64 {
        if rows.both == 0 && (rows.first == 0 || rows.second == 0) {
            return 0.0;
        }
        self.sum(|from, after| {
            let at = |least: f64, count: u32| power(least, count.into());
            let (a, c, b) = (rows.first, rows.both, rows.second);
            at(from, a) * at(from, c) * at(from, b)
                - at(after, a) * at(after, c) * at(from, b)
                - at(from, a) * at(after, c) * at(after, b)
                + at(after, a) * at(after, c) * at(after, b)
        })
    }

    /// The probability of the event of formula 18: the least value of the common rows is below
    /// those of all others.
    pub fn common_first(self, rows: RowCounts) -> f64 {
        let (others, both) = (rows.union() - u64::from(rows.both), u64::from(rows.both));
        self.sum(|from, after| (power(from, both) - power(after, both)) * power(after, others))
    }

    /// The sum over all values v of a function of the shares of values that are v or more, and more
    /// than v.
    fn sum(self, of: impl Fn(f64, f64) -> f64) -> f64 {
        let share = |left: u64| left as f64 / self.values as f64;
        (0..self.values).rev().map(|left| of(share(left + 1), share(left))).sum()
    }
}

/// The power of a share of the values. Above 2^31 rows every power of a share below 1 is as good as
/// 0, because there are at most 2^24 values.
fn power(share: f64, rows: u64) -> f64 {
    share.powi(i32::try_from(rows).unwrap_or(i32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts over all N^n maps: equal minima, common rows first, all values different.
    fn counted(values: u32, rows: RowCounts) -> [f64; 3] {
        let (first, both) = (rows.first as usize, rows.both as usize);
        let union = rows.union() as u32;
        let all = values.pow(union);
        let mut count = [0.0; 3];
        for number in 0..all {
            let map: Vec<u32> = (0..union).map(|row| number / values.pow(row) % values).collect();
            let least = |rows: &[u32]| rows.iter().min().copied().unwrap_or(u32::MAX);
            let (a, b) = (least(&map[..first + both]), least(&map[first..]));
            let others = least(&map[..first]).min(least(&map[first + both..]));
            let mut sorted = map.clone();
            sorted.sort_unstable();
            sorted.dedup();
            let common = least(&map[first..first + both]) < others;
            for (count, holds) in
                count.iter_mut().zip([a == b && a < u32::MAX, common, sorted.len() == map.len()])
            {
                *count += f64::from(u8::from(holds)) / f64::from(all);
            }
        }
        count
    }

    #[test]
    fn the_laws_agree_with_counting_over_all_maps() {
        for values in [1, 2, 3, 5] {
            for (first, both, second) in
                [(1, 1, 0), (2, 2, 1), (0, 3, 0), (1, 0, 2), (2, 0, 0), (0, 0, 3), (1, 3, 2)]
            {
                let rows = RowCounts { first, both, second };
                let maps = UniformMaps::new(values.into()).expect("valid");
                let got =
                    [maps.agreement(rows), maps.common_first(rows), maps.distinct(rows.union())];
                for (got, expected) in got.into_iter().zip(counted(values, rows)) {
                    assert!((got - expected).abs() < 1e-12, "{values} {rows:?}: {got} {expected}");
                }
            }
        }
    }

    #[test]
    fn formula_19_is_a_lower_bound() {
        for (values, rows, maps) in [(1_000, 2, 5), (65_536, 30, 20), (65_536, 200, 20)] {
            let uniform = UniformMaps::new(values).expect("valid");
            let exact = uniform.distinct(rows).powi(maps as i32);
            assert!(uniform.formula_19(rows, maps) <= exact + 1e-12, "{values} {rows} {maps}");
        }
        // Of two rows there is one pair, and the bound is exact.
        let two = UniformMaps::new(1_000).expect("valid");
        assert!((two.formula_19(2, 5) - 0.999_f64.powi(5)).abs() < 1e-12);
    }

    #[test]
    fn the_ends_of_all_ranges_are_safe() {
        let many = u32::MAX;
        for values in [1, 2, 4_096] {
            let maps = UniformMaps::new(values).expect("valid");
            // With this many rows of each kind, both sets have the least value in every map.
            let rows = RowCounts { first: many, both: many, second: many };
            assert!((maps.agreement(rows) - 1.0).abs() < 1e-6, "{values}");
            assert!(maps.common_first(rows) < 1e-6, "{values}");
            let none = RowCounts { first: 0, both: 0, second: 0 };
            assert_eq!((maps.agreement(none), maps.common_first(none)), (0.0, 0.0), "{values}");
            for rows in [0, 1, u64::MAX] {
                assert_eq!(maps.formula_19(rows, 0), 1.0, "{values} {rows}");
            }
        }
    }

    #[test]
    fn numbers_out_of_range_are_refused() {
        for values in [0, UniformMaps::MOST_VALUES + 1] {
            assert!(UniformMaps::new(values).is_err(), "{values}");
        }
    }
}
