//! Times of repeated work, robust against other processes on the machine.

use super::{Cell, Point};
use std::time::Instant;

/// Times in seconds of work in parts: for each part its times in all runs, ascending. Quartiles are
/// taken for each part and then added, because another process rarely interrupts all parts.
pub(super) struct PartTimes(Vec<Vec<f64>>);

impl PartTimes {
    pub(super) fn of(mut parts: Vec<Vec<f64>>) -> Self {
        parts.iter_mut().for_each(|part| part.sort_unstable_by(f64::total_cmp));
        Self(parts)
    }

    /// The quartile with this number: 1, 2 or 3.
    fn quartile(&self, quarters: usize) -> f64 {
        self.0.iter().map(|part| quartile(part, quarters)).sum()
    }

    pub(super) fn median(&self) -> f64 {
        self.quartile(2)
    }

    pub(super) fn point(&self, x: f64, factor: f64) -> Point {
        let [low, middle, high] = [1, 2, 3].map(|quarters| self.quartile(quarters) * factor);
        Point::spread(x, middle, low, high)
    }

    pub(super) fn cells(&self, factor: f64) -> [Cell; 3] {
        [2, 1, 3].map(|quarters| (self.quartile(quarters) * factor).into())
    }
}

/// The quartile with this number, from 0 to 4, of ascending numbers. If it lies between two of
/// them, as the median of an even number does, it is in their middle.
pub(super) fn quartile(ascending: &[f64], quarters: usize) -> f64 {
    let Some(last) = ascending.len().checked_sub(1) else { return f64::NAN };
    let from_below = (ascending.len() * quarters / 4).min(last);
    let from_above = last - (ascending.len() * (4 - quarters) / 4).min(last);
    f64::midpoint(ascending[from_below], ascending[from_above])
}

pub(super) fn seconds(work: impl FnOnce()) -> f64 {
    let begun = Instant::now();
    work();
    begun.elapsed().as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_are_as_far_from_the_least_as_from_the_greatest() {
        for count in 1..=21 {
            let numbers: Vec<f64> = (1..=count).map(f64::from).collect();
            let [low, middle, high] = [1, 2, 3].map(|quarters| quartile(&numbers, quarters));
            assert_eq!(middle, f64::from(count + 1) / 2.0, "{count}");
            assert_eq!(low + high, f64::from(count + 1), "{count}");
            assert!(low <= middle && middle <= high, "{count}");
        }
        assert_eq!(
            [1, 2, 3].map(|quarters| quartile(&[1.0, 2.0, 3.0, 9.0], quarters)),
            [1.5, 2.5, 6.0]
        );
        assert!(quartile(&[], 2).is_nan());
    }
}
