//! Times of work that is done again and again, on a machine that may do something else meanwhile.

use super::{Cell, Point};
use std::time::Instant;

/// Times of work in parts, in seconds: those of each part in all runs, ascending. Quartiles are
/// taken part by part and added, as another process interrupts one part and not all.
pub(super) struct PartTimes(Vec<Vec<f64>>);

impl PartTimes {
    pub(super) fn of(mut parts: Vec<Vec<f64>>) -> Self {
        parts.iter_mut().for_each(|part| part.sort_unstable_by(f64::total_cmp));
        Self(parts)
    }

    /// The time below which so many quarters of all are.
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

/// Of ascending numbers, the one that so many quarters are below.
pub(super) fn quartile(ascending: &[f64], quarters: usize) -> f64 {
    let at = (ascending.len() * quarters / 4).min(ascending.len().saturating_sub(1));
    ascending.get(at).copied().unwrap_or(f64::NAN)
}

pub(super) fn seconds(work: impl FnOnce()) -> f64 {
    let begun = Instant::now();
    work();
    begun.elapsed().as_secs_f64()
}
