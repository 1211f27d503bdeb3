//! How often SimHashes of sets meet in a band, by simulation, beside the law of a random angle.

use crate::sketch::SimHasher;
use crate::study::{Finding, Point, Series, SeriesKind};
use std::f64::consts::PI;
use twindex::Result;
use twindex::internals::{SplitMix, fmix64};

/// The bits of a SimHash, and the bits of a band.
const BITS: usize = 512;
const DEPTH: usize = 12;

/// The elements of the union of two sets.
const UNION: u64 = 990;

/// The pairs that are drawn at each similarity.
const PAIRS: usize = 400;

/// The similarity at which the recall is looked at.
const THRESHOLD: f64 = 0.8;

/// The probability that two bits of SimHash are equal, for sets of similarity J of which the
/// smaller has `ratio` times the elements of the larger: 1 - θ/π with
///
/// cos θ = |A ∩ B| / √(|A| |B|) = J/(1 + J) (1 + ratio)/√ratio,
///
/// since |A ∩ B| = J/(1 + J) (|A| + |B|). The ratio is J at least, when one set holds the other.
/// The fraction is least for equal sizes, so these meet the least often.
fn equal_bits(similarity: f64, ratio: f64) -> f64 {
    let cosine = similarity / (1.0 + similarity) * (1.0 + ratio) / ratio.sqrt();
    1.0 - cosine.min(1.0).acos() / PI
}

/// The probability that two such SimHashes share a band.
fn meet(similarity: f64, ratio: f64) -> f64 {
    let band = equal_bits(similarity, ratio).powi(DEPTH as i32);
    1.0 - (1.0 - band).powi((BITS / DEPTH) as i32)
}

/// The share of pairs that shared a band and the mean number of bands that they shared, for two
/// sets of hashes under hash functions drawn for each pair.
fn drawn(shared: u64, own: [u64; 2], random: &mut SplitMix) -> Result<(f64, f64)> {
    let (mut met, mut bands) = (0, 0);
    for _ in 0..PAIRS {
        let hasher = SimHasher::new(BITS, random.next())?;
        let key = random.next();
        let set = |from: u64, count: u64| -> Vec<u64> {
            let elements = (0..shared).chain(from..from + count);
            elements.map(|element| fmix64(element ^ key)).collect()
        };
        let (a, b) = (set(shared, own[0]), set(shared + own[0], own[1]));
        let (a, b) = (hasher.of_hashes(&a), hasher.of_hashes(&b));
        let same = equal_bands(a.words(), b.words());
        met += usize::from(same > 0);
        bands += same;
    }
    Ok((met as f64 / PAIRS as f64, bands as f64 / PAIRS as f64))
}

/// The number of bands in which two SimHashes are equal.
fn equal_bands(a: &[u64], b: &[u64]) -> usize {
    let differs = |at: usize| (a[at / 64] ^ b[at / 64]) >> (at % 64) & 1 == 1;
    (0..BITS / DEPTH).filter(|band| !(band * DEPTH..(band + 1) * DEPTH).any(differs)).count()
}

/// The curve, the dots on it, and the findings.
pub(super) fn run(seed: u64) -> Result<(Vec<Series>, Vec<Finding>)> {
    let mut random = SplitMix::new(fmix64(seed));
    let name = format!("SimHash, {BITS} bits: {} bands of {DEPTH}; dots: drawn", BITS / DEPTH);
    let curve = (0..=100).map(|step| f64::from(step) / 100.0);
    let curve = curve.map(|similarity| Point::new(similarity, meet(similarity, 1.0)));
    let (mut dots, mut most) = (Vec::new(), 0.0_f64);
    for tenth in 0..10_u64 {
        let shared = UNION * tenth / 10;
        let own = (UNION - shared) / 2;
        let similarity = shared as f64 / (shared + 2 * own) as f64;
        let (met, _) = drawn(shared, [own, own], &mut random)?;
        let law = meet(similarity, 1.0);
        let error = (law * (1.0 - law) / PAIRS as f64).sqrt();
        most = most.max(((met - law).abs() - 0.5 / PAIRS as f64).max(0.0) / error);
        dots.push(Point::new(similarity, met));
    }
    let series = vec![
        Series::new(&name, SeriesKind::Line, curve),
        Series::new(&name, SeriesKind::Dots, dots),
    ];
    Ok((series, vec![agreement(most), recall(&mut random)?, unequal(&mut random)?]))
}

fn agreement(most: f64) -> Finding {
    Finding::new(
        "SimHashes of equal sets of all similarities share a band as often as their angle says",
        most < 4.0,
        format!("at most {most:.1} standard errors off, {PAIRS} pairs at each of 10 similarities"),
    )
}

fn recall(random: &mut SplitMix) -> Result<Finding> {
    let law = meet(THRESHOLD, 1.0);
    let (met, _) = drawn(800, [100, 100], random)?;
    let error = (law * (1.0 - law) / PAIRS as f64).sqrt();
    let chance = meet(0.0, 1.0);
    Ok(Finding::new(
        format!(
            "{} bands of {DEPTH} of {BITS} bits find at least .998 of pairs with J = {THRESHOLD}, \
             of equal sizes",
            BITS / DEPTH
        ),
        law >= 0.998 && met >= law - 4.0 * error,
        format!(
            "{law:.5} in theory, {met:.4} of {PAIRS} drawn pairs; of unrelated pairs {chance:.4}"
        ),
    ))
}

/// The number of shared bands tells more than whether there is one, which is nearly always.
fn unequal(random: &mut SplitMix) -> Result<Finding> {
    let bands = (BITS / DEPTH) as f64;
    let expected = |ratio| bands * equal_bits(THRESHOLD, ratio).powi(DEPTH as i32);
    let (_, equal) = drawn(800, [100, 100], random)?;
    let (_, inside) = drawn(800, [0, 200], random)?;
    let (few, many) = (expected(1.0), expected(THRESHOLD));
    // A shared band is nearly binomial, with a variance below its mean.
    let near = |seen: f64, law: f64| (seen - law).abs() < 4.0 * (law / PAIRS as f64).sqrt();
    Ok(Finding::new(
        format!("sets of unequal sizes with J = {THRESHOLD} share more bands than equal ones"),
        many > few && near(equal, few) && near(inside, many),
        format!(
            "{equal:.2} bands (theory {few:.2}) for equal sizes, {inside:.2} ({many:.2}) if one \
             set holds the other: found with {:.5}",
            meet(THRESHOLD, THRESHOLD)
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::sketch_kinds::SketchKind;
    use super::*;

    #[test]
    fn the_cosine_is_that_of_the_sets() {
        for (shared, a, b) in [(800.0, 100.0, 100.0), (800.0, 0.0, 200.0), (50.0, 10.0, 70.0)] {
            let (large, small) = (f64::max(a, b) + shared, f64::min(a, b) + shared);
            let cosine: f64 = shared / (large * small).sqrt();
            let got = equal_bits(shared / (shared + a + b), small / large);
            assert!((got - (1.0 - cosine.acos() / PI)).abs() < 1e-12, "{shared} {a} {b}");
        }
    }

    #[test]
    fn equal_sizes_are_the_worst_case() {
        for similarity in [0.1, 0.5, 0.8, 0.95] {
            let ratios =
                (0..=100).map(|step| similarity + (1.0 - similarity) * f64::from(step) / 100.0);
            let met: Vec<f64> = ratios.map(|ratio| meet(similarity, ratio)).collect();
            assert!(met.is_sorted_by(|x, y| x >= y), "{similarity}: {met:?}");
        }
        let bits = SketchKind::SimHash.equal(0.8);
        assert!((equal_bits(0.8, 1.0) - bits).abs() < 1e-12);
        assert!((meet(0.8, 1.0) - 0.998).abs() < 5e-4 && (meet(0.0, 1.0) - 0.0102).abs() < 5e-5);
    }

    #[test]
    fn bands_are_compared_bit_by_bit() {
        let mut words = [0_u64; 8];
        assert_eq!(equal_bands(&words, &[0; 8]), 42);
        words[0] = 1 << 11 | 1 << 12;
        words[7] = u64::MAX;
        // Bits 11 and 12 are in the first two bands. Bits 448 to 503 are in bands 37 to 41.
        assert_eq!(equal_bands(&words, &[0; 8]), 42 - 2 - 5);
    }
}
