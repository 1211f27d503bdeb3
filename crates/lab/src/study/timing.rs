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

/// The number that is greater than so many quarters of ascending numbers.
pub(super) fn quartile(ascending: &[f64], quarters: usize) -> f64 {
    let at = (ascending.len() * quarters / 4).min(ascending.len().saturating_sub(1));
    ascending.get(at).copied().unwrap_or(f64::NAN)
}

pub(super) fn seconds(work: impl FnOnce()) -> f64 {
    let begun = Instant::now();
    work();
    begun.elapsed().as_secs_f64()
}
