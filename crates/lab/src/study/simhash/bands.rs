//! The probability that two sketches meet in a band, for bits of SimHash and for lanes of MinHash.
//!
//! Two bits of SimHash are equal with probability 1 - angle/π, as two lanes of MinHash are with
//! about J. So a SimHash of n bits can be cut into n/r bands of r bits, and two sketches meet in a
//! band with probability 1 - (1 - p^r)^(n/r), where p is that of one bit.

use super::sketch_kinds::SketchKind;
use crate::study::{Axis, Panel, Point, Series, SeriesKind};
use std::f64::consts::PI;
use twindex::DEFAULT_RECALL;

/// The probability that a lane of one byte is equal by chance.
const BYTE_BY_CHANCE: f64 = 1.0 / 256.0;

/// A way to cut a sketch into bands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bands {
    kept: SketchKind,
    /// The number of bits or lanes in a band.
    pub(super) depth: usize,
    /// The number of bands.
    pub(super) bands: usize,
}

impl SketchKind {
    /// The number of bits or lanes in a sketch of this size.
    fn parts(self, bytes: usize) -> usize {
        match self {
            Self::SimHash | Self::Bits => 8 * bytes,
            Self::Bytes => bytes,
        }
    }

    /// The probability that one bit or lane of two sets of equal size is equal.
    pub(super) fn equal(self, similarity: f64) -> f64 {
        match self {
            Self::SimHash => 1.0 - (2.0 * similarity / (1.0 + similarity)).min(1.0).acos() / PI,
            Self::Bytes => BYTE_BY_CHANCE + (1.0 - BYTE_BY_CHANCE) * similarity,
            Self::Bits => f64::midpoint(1.0, similarity),
        }
    }
}

impl Bands {
    /// The deepest bands in which sketches of sets at the threshold meet with the default recall of
    /// an index, or bands of depth 1.
    pub(super) fn of(kept: SketchKind, bytes: usize, threshold: f64) -> Self {
        let parts = kept.parts(bytes);
        let of_depth = |depth: usize| Self { kept, depth, bands: parts / depth };
        let reaches = |bands: &Self| bands.meet(threshold) >= DEFAULT_RECALL;
        (1..=parts).rev().map(of_depth).find(reaches).unwrap_or(of_depth(1))
    }

    /// The probability that the sketches of two sets of this similarity meet.
    pub(super) fn meet(&self, similarity: f64) -> f64 {
        let band = self.kept.equal(similarity).powi(self.depth as i32);
        1.0 - (1.0 - band).powi(self.bands as i32)
    }
}

/// The curves of all kinds.
pub(super) fn panel(kinds: &[SketchKind], bytes: usize, threshold: f64) -> Panel {
    let curve = |kept: &SketchKind| {
        let bands = Bands::of(*kept, bytes, threshold);
        let points = (0..=100).map(|step| f64::from(step) / 100.0);
        let points = points.map(|similarity| Point::new(similarity, bands.meet(similarity)));
        let name = format!("{}: {} bands of {}", kept.name(bytes), bands.bands, bands.depth);
        Series::new(name, SeriesKind::Line, points)
    };
    Panel {
        title: format!("Meeting in a band, {DEFAULT_RECALL} at {threshold} (theory)"),
        x: Axis::linear("Jaccard similarity of sets of equal size").within(0.0, 1.0),
        y: Axis::linear("probability").within(0.0, 1.0),
        series: kinds.iter().map(curve).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketch::SimHasher;
    use twindex::internals::fmix64;

    #[test]
    fn bands_of_simhash_meet_as_often_as_the_angle_says() {
        // 2,000 elements in each set, of which 1,800 are common: J = 1800/2200.
        let sets = [0..2000_u64, 200..2200].map(|set| set.map(fmix64).collect::<Vec<_>>());
        let similarity = 1800.0 / 2200.0;
        let bands = Bands { kept: SketchKind::SimHash, depth: 16, bands: 32 };
        let expected = bands.meet(similarity);
        let runs = 300;
        let met = (0..runs).filter(|seed| {
            let hasher = SimHasher::new(512, *seed).expect("valid");
            let [a, b] = [&sets[0], &sets[1]].map(|set| hasher.of_hashes(set));
            let halves = |word: &u64| (0..4).map(|at| (word >> (16 * at)) as u16).collect();
            let a: Vec<u16> = a.words().iter().flat_map::<Vec<u16>, _>(halves).collect();
            let b: Vec<u16> = b.words().iter().flat_map::<Vec<u16>, _>(halves).collect();
            a.iter().zip(&b).any(|(x, y)| x == y)
        });
        let seen = met.count() as f64 / runs as f64;
        let error = (expected * (1.0 - expected) / runs as f64).sqrt();
        assert!((seen - expected).abs() < 4.0 * error, "{seen}, not {expected} +- {error}");
    }

    #[test]
    fn the_deepest_bands_that_reach_the_recall_are_taken() {
        for kept in SketchKind::all(64) {
            let bands = Bands::of(kept, 64, 0.8);
            assert!(bands.meet(0.8) >= DEFAULT_RECALL && bands.depth > 1, "{bands:?}");
            assert!(bands.meet(1.0) == 1.0 && bands.meet(0.2) < 0.2, "{bands:?}");
        }
        let simhash = Bands::of(SketchKind::SimHash, 64, 0.8);
        assert_eq!((simhash.depth, simhash.bands), (13, 39));
        // Bits of unrelated sets are equal half of the time.
        assert!((SketchKind::SimHash.equal(0.0) - 0.5).abs() < 1e-12);
    }
}
