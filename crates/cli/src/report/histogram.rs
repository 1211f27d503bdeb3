//! Histograms of similarities.

/// The number of bars from 0 to 1. Similarities of 1 have a bar of their own.
pub(super) const BARS: usize = 100;

/// The most bars of one line on a terminal, besides that of similarity 1.
const MOST_DRAWN: usize = 50;

/// How many similarities fall into each hundredth.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Histogram {
    bars: [u64; BARS + 1],
}

impl Histogram {
    /// Counts nothing yet.
    pub(crate) fn new() -> Self {
        Self { bars: [0; BARS + 1] }
    }

    /// Counts a similarity.
    pub(crate) fn add(&mut self, similarity: f64) {
        self.bars[bar(similarity)] += 1;
    }

    /// The counts from the bar of a similarity on, some bars together if there are many, and the
    /// count of similarity 1.
    pub(crate) fn above(&self, similarity: f64) -> Vec<u64> {
        let first = bar(similarity).min(BARS);
        let together = (BARS - first).div_ceil(MOST_DRAWN).max(1);
        let groups = self.bars[first..BARS].chunks(together);
        groups.map(|bars| bars.iter().sum()).chain([self.bars[BARS]]).collect()
    }

    /// The similarities that were counted in a bar.
    pub(super) fn bar(&self, number: usize) -> u64 {
        self.bars[number]
    }
}

/// The bar of a similarity. What printing rounds to a hundredth belongs to the bar above it.
pub(super) fn bar(similarity: f64) -> usize {
    ((similarity * BARS as f64 + 1e-6).floor().max(0.0) as usize).min(BARS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_similarity_is_in_the_bar_that_begins_at_or_below_it() {
        for hundredth in 0..=100 {
            let similarity = f64::from(hundredth) / 100.0;
            assert_eq!(bar(similarity), hundredth as usize);
        }
        assert_eq!((bar(0.8099), bar(0.9999), bar(1.0)), (80, 99, 100));
        let mut histogram = Histogram::new();
        [0.8, 0.81, 0.95, 1.0, 1.0].into_iter().for_each(|at| histogram.add(at));
        let counts = [80, 81, 90, 95, 100].map(|number| histogram.bar(number));
        assert_eq!(counts, [1, 1, 0, 1, 2]);
        assert_eq!((histogram.above(0.8).len(), histogram.above(1.0)), (21, vec![2]));
        assert_eq!((histogram.above(0.2).len(), histogram.above(0.2).iter().sum::<u64>()), (41, 5));
    }
}
