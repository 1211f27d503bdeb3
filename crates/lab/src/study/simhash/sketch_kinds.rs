//! The kinds of sketches of equal size, their estimates, and the theoretical errors.

use super::edited_pairs::EditedPair;
use crate::sketch::SimHasher;
use twindex::MAX_LANES;
use twindex::Result;
use twindex::Sketcher;
use twindex::internals::{SplitMix, fmix64};
use twindex::{Agreement, equal_lanes};
use twindex::{Normalization, Shingle, Shingler};

/// A kind of sketch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SketchKind {
    SimHash,
    /// MinHash with one-byte lanes, as in an index.
    Bytes,
    /// MinHash with one-bit lanes, 8 times as many (Li, König 2010, "b-bit minwise hashing").
    Bits,
}

impl SketchKind {
    /// The kinds that fit this size. There are at most 512 lanes.
    pub(super) fn all(bytes: usize) -> Vec<Self> {
        let mut all = vec![Self::SimHash, Self::Bytes];
        if 8 * bytes <= MAX_LANES {
            all.push(Self::Bits);
        }
        all
    }

    pub(super) fn name(self, bytes: usize) -> String {
        match self {
            Self::SimHash => format!("SimHash, {} bits", 8 * bytes),
            Self::Bytes => format!("MinHash, {bytes} lanes of a byte"),
            Self::Bits => format!("MinHash, {} lanes of a bit", 8 * bytes),
        }
    }

    /// The theoretical standard error for two sets of equal size and similarity J, away from 0 and
    /// 1, where estimates are cut off.
    ///
    /// SimHash: each of n bits differs with probability p = θ/π, where cos θ = c = 2J/(1 + J), so
    /// the angle π d/n has the variance π² p (1 - p)/n. The derivative of J = c/(2 - c) with
    /// respect to θ is -2 sin θ/(2 - c)². For near duplicates, J = 1 - e, θ is about √e and the
    /// variance 4π e^1.5/n. That of MinHash with one-byte lanes is e/k, so with n = 8k the ratio is
    /// π/2 √e: the more similar two texts are, the better SimHash is. At J = 0 the angle is a right
    /// angle, p = 1/2, with the variance π²/16n, while MinHash has almost none.
    ///
    /// One-bit lanes agree by chance half the time, so they are equal with probability p = (1 +
    /// J)/2, and J = 2p - 1 has the variance (1 - J²)/n. For near duplicates that is e/4k, and the
    /// ratio of SimHash's variance to it is 2π √e: SimHash is better from about J = 0.97 on.
    pub(super) fn theory(self, similarity: f64, bytes: usize) -> f64 {
        let bits = 8.0 * bytes as f64;
        let variance = match self {
            Self::SimHash => {
                let cosine = 2.0 * similarity / (1.0 + similarity);
                let angle = cosine.acos();
                let slope = 2.0 * angle.sin() / ((2.0 - cosine) * (2.0 - cosine));
                slope * slope * angle * (std::f64::consts::PI - angle) / bits
            }
            Self::Bytes => Agreement::variance(similarity, bytes),
            Self::Bits => (1.0 - similarity * similarity) / bits,
        };
        variance.sqrt()
    }
}

/// The hash functions of one run.
pub(super) struct SketchMakers {
    bytes: usize,
    /// The key with which hashes are mixed before sketching, which needs well-mixed hashes.
    key: u64,
    simhash: SimHasher,
    few: Sketcher,
    many: Sketcher,
}

impl SketchMakers {
    pub(super) fn new(bytes: usize, seed: u64) -> Result<Self> {
        let sketcher = |lanes: usize| -> Result<Sketcher> {
            let tokens = Shingler::new(Shingle::Tokens, Normalization::NONE, false, 0)?;
            Sketcher::new(tokens, lanes, seed)
        };
        let simhash = SimHasher::new(8 * bytes, seed)?;
        Ok(Self {
            bytes,
            key: SplitMix::new(seed).next(),
            simhash,
            few: sketcher(bytes.max(64))?,
            many: sketcher(MAX_LANES)?,
        })
    }

    pub(super) fn estimate(&self, kept: SketchKind, pair: &EditedPair) -> f64 {
        let lanes = |sketcher: &Sketcher, set: &[u64], most: usize| -> Vec<u8> {
            let mixed: Vec<u64> = set.iter().map(|hash| fmix64(hash ^ self.key)).collect();
            let signature = sketcher.signature_of_hashes(&mixed);
            signature.lanes().iter().take(most).copied().collect()
        };
        match kept {
            SketchKind::SimHash => {
                let sizes = (pair.a.len() as u64, pair.b.len() as u64);
                let (a, b) = (self.simhash.of_hashes(&pair.a), self.simhash.of_hashes(&pair.b));
                a.similarity(&b, sizes).map_or(0.0, |estimate| estimate.similarity)
            }
            SketchKind::Bytes => {
                let of = |set| lanes(&self.few, set, self.bytes);
                Agreement::new(equal_lanes(&of(&pair.a), &of(&pair.b)), self.bytes).similarity()
            }
            SketchKind::Bits => {
                let of = |set| lanes(&self.many, set, 8 * self.bytes);
                let (a, b) = (of(&pair.a), of(&pair.b));
                let equal = a.iter().zip(&b).filter(|(x, y)| (*x ^ *y) & 1 == 0).count();
                (2.0 * equal as f64 / a.len() as f64 - 1.0).max(0.0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the variances with numeric differentiation of the law of a bit.
    #[test]
    fn theory_agrees_with_numeric_differentiation() {
        let cosine = |similarity: f64| 2.0 * similarity / (1.0 + similarity);
        let differ = |similarity: f64| cosine(similarity).acos() / std::f64::consts::PI;
        for similarity in [0.1, 0.5, 0.8, 0.95] {
            let step = 1e-5;
            let slope = (differ(similarity + step) - differ(similarity - step)) / (2.0 * step);
            let share = differ(similarity);
            let expected = (share * (1.0 - share) / 512.0).sqrt() / slope.abs();
            let got = SketchKind::SimHash.theory(similarity, 64);
            assert!((got / expected - 1.0).abs() < 1e-6, "{similarity}: {got}, not {expected}");
        }
        // For near duplicates the ratios of variances are π/2 √e and 2π √e.
        let e: f64 = 1e-6;
        let quotient = |kept: SketchKind| {
            (SketchKind::SimHash.theory(1.0 - e, 64) / kept.theory(1.0 - e, 64)).powi(2) / e.sqrt()
        };
        assert!((quotient(SketchKind::Bytes) / std::f64::consts::FRAC_PI_2 - 1.0).abs() < 0.01);
        assert!((quotient(SketchKind::Bits) / std::f64::consts::TAU - 1.0).abs() < 0.01);
    }

    #[test]
    fn errors_of_estimates_agree_with_theory() {
        let pair = EditedPair {
            a: (0..1900).map(fmix64).collect(),
            b: (100..2000).map(fmix64).collect(),
            similarity: 0.9,
        };
        for (kept, least) in
            [(SketchKind::SimHash, 0.8), (SketchKind::Bytes, 0.8), (SketchKind::Bits, 0.65)]
        {
            let squares = (0..200_u64).map(|seed| {
                let sketches = SketchMakers::new(64, seed).expect("valid settings");
                (sketches.estimate(kept, &pair) - 0.9).powi(2)
            });
            let error = (squares.sum::<f64>() / 200.0).sqrt();
            let ratio = error / kept.theory(0.9, 64);
            // The standard error of the root of the mean of 200 squares is 1/20. Many lanes on a
            // set with only four times as many elements have smaller errors.
            assert!((least..1.2).contains(&ratio), "{kept:?}: {error}, {ratio} times theory");
        }
    }
}
